// The device ops of one backward; each call enqueues one kernel. None blocks the host.
#pragma once

#include "hip_ext/gpu.h"
#include "hip_ext/params.h"
#include "hip_ext/workspace.h"

namespace hip_ext {

// Device mode: nsplits and offsets, written where the other modes copy them to.
void launch_write_metadata(const WorkspacePlan& plan, const FmhaBwdParams& params, void* workspace,
                           hipStream_t stream);

// softmax_d = sum(dout * out) of every logical row. Does not touch the workspace.
void launch_dot_do_o(const FmhaBwdParams& params, hipStream_t stream);

// dk and dv, and the parts of dq in dq_acc.
void launch_dq_dk_dv(const FmhaBwdParams& params, const WorkspaceView& workspace,
                     hipStream_t stream);

// dq from the splits of dq_acc; NaN everywhere after a failed pack.
void launch_convert_dq(const FmhaBwdParams& params, const WorkspaceView& workspace,
                       hipStream_t stream);

}  // namespace hip_ext
