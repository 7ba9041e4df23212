#include <cmath>

#include "hip_ext/launcher.h"

namespace hip_ext {

namespace {

void require(bool condition, const std::string& message) {
  if (!condition) throw std::invalid_argument("fmha_bwd: " + message);
}

void require_head_size(const char* name, int32_t size) {
  require(
      size >= 8 && size <= 256 && size % 8 == 0,
      std::string(name) + " must be a multiple of 8 from 8 to 256, got " + std::to_string(size));
}

void validate_sizes(const FmhaBwdParams& p) {
  require(p.dtype == DataType::fp16 || p.dtype == DataType::bf16, "dtype must be fp16 or bf16");
  require(p.batch > 0, "batch must be positive, got " + std::to_string(p.batch));
  require(p.nhead_q > 0 && p.nhead_k > 0, "nhead_q and nhead_k must be positive");
  require(p.nhead_q % p.nhead_k == 0, "nhead_q (" + std::to_string(p.nhead_q) +
                                          ") must be a multiple of nhead_k (" +
                                          std::to_string(p.nhead_k) + ")");
  require_head_size("hdim_q", p.hdim_q);
  require_head_size("hdim_v", p.hdim_v);
  require(p.seqlen_q >= 0 && p.seqlen_k >= 0, "seqlen_q and seqlen_k must not be negative");
  require(std::isfinite(p.scale), "scale must be finite");
}

void validate_pointers(const FmhaBwdParams& p) {
  if (p.seqlen_q > 0) {
    require(p.q && p.out && p.dout && p.lse && p.softmax_d && p.dq,
            "q, out, dout, lse, softmax_d and dq must not be null");
  }
  if (p.seqlen_k > 0) require(p.k && p.v && p.dk && p.dv, "k, v, dk and dv must not be null");
}

void validate_group(const FmhaBwdParams& p) {
  require(p.seqstart_q && p.seqstart_k, "group mode needs seqstart_q and seqstart_k");
  require(!(p.cu_seqlen_q && p.seqlen_q_ptr),
          "give the logical query lengths as cu_seqlen_q or as seqlen_q_ptr, not both");
  require(!(p.cu_seqlen_k && p.seqlen_k_ptr),
          "give the logical key lengths as cu_seqlen_k or as seqlen_k_ptr, not both");
  require(p.max_seqlen_q >= 0 && p.max_seqlen_k >= 0,
          "max_seqlen_q and max_seqlen_k must not be negative");
  require(p.max_seqlen_k_padded == 0 || p.max_seqlen_k_padded >= p.max_seqlen_k,
          "max_seqlen_k_padded must be 0 (unknown) or at least max_seqlen_k");
}

void validate_batch(const FmhaBwdParams& p) {
  require(!p.seqstart_q && !p.seqstart_k && !p.cu_seqlen_q && !p.cu_seqlen_k && !p.seqlen_q_ptr &&
              !p.seqlen_k_ptr,
          "batch mode takes no seqstart, cu_seqlen or seqlen pointers; use group mode for them");
}

}  // namespace

void validate(const FmhaBwdParams& params, const LaunchOptions& options,
              const Allocators& allocators) {
  validate_sizes(params);
  validate_pointers(params);
  if (params.mode == SequenceMode::group) {
    validate_group(params);
  } else {
    validate_batch(params);
  }
  require(bool(allocators.workspace_alloc), "the workspace_alloc callback is missing");
  require(options.workspace != WorkspaceMode::async || allocators.pinned_host_alloc,
          "the async workspace needs the pinned_host_alloc callback, in group and in batch mode");
}

}  // namespace hip_ext
