"""Each pattern of the table speaks for the names of its library and for nothing else."""

from __future__ import annotations

import re

import pytest

from overlap_lab.metrics.collective_names import COLLECTIVE_NAMES, collective_codes, is_collective

SPOKEN = (
    "ncclDevKernel_Generic(ncclDevComm*, channelMasks, ncclWork*)",
    "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)",
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "_Z22ncclDevKernel_SendRecv24ncclDevKernelArgsStorageILm4096EE",
    "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)",
    "ncclSymkDevKernel_AllReduce_RSxLDMC_AGxSTMC_sum_f32(ncclSymkDevWorkArgs4K)",
    "ncclAllReduceRingLLKernel_sum_f32(ncclColl)",
    "void RcclKernelScalarBroadcast<float, float4>(DeviceControl_t*, void*, int)",
    "mscclKernel_Sum_half_Simple_false(ncclDevComm*, mscclAlgo*, mscclWork*)",
    "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*, vllm::RankSignals)",
    "void sglang::cross_device_reduce_2stage<__half, 8>(sglang::RankData*)",
    "_ZN5aiter33reduce_scatter_cross_device_storeIDF16bLi8EEEvPNS_8RankDataE",
    "void quickreduce::allreduce_prototype_twoshot<AllReduceTwoshot<__half, CodecQ4<__half,4>>, __half>",
    "void tensorrt_llm::kernels::oneShotAllReduceKernel<__nv_bfloat16, 8, true, false>(AllReduceParams)",
    "void tensorrt_llm::kernels::lowPrecisionTwoShotAllReduceKernel<half, 8>(LowPrecisionParams)",
    "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<"
    "(flashinfer::trtllm_allreduce_fusion::AllReduceFusionPattern)1, __nv_bfloat16, 8, false, false>(int)",
    "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)",
    "void (anonymous namespace)::two_shot_all_reduce_kernel_inplace<c10::BFloat16, 16>(c10::BFloat16**)",
    "one_shot_all_reduce_kernel_optimized",
    "void deep_ep::intranode::combine<__nv_bfloat16, (int)8, (int)768, (int)4096>(T1 *, float *)",
    "void deep_ep::internode_ll::dispatch<true, 4096>(void*)",
)
SILENT = (
    "",
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(float)",
    "void cub::DeviceReduceKernel<float>(float)",
    "void pack(ncclDevKernelArgsStorage<4096ul>)",
    "void copy_of<ncclDevKernel_Generic>(int)",
    "void oneRankReduce<FuncPreMulSum<float>>(void*)",
    "void aiter::local_device_load_rmsnorm<bf16, 8>(aiter::RankSignals)",
    "void moe::dispatch<float>(float*)",
    "void combine<float>(float*)",
    "void mine::oneshot(int)",
    "__amd_rocclr_copyBuffer",
    "nccl:all_reduce",
)


@pytest.mark.parametrize("name", SPOKEN)
def test_a_kernel_that_talks_to_other_devices_is_a_collective(name: str) -> None:
    assert is_collective(name)


@pytest.mark.parametrize("name", SILENT)
def test_any_other_kernel_is_none(name: str) -> None:
    assert not is_collective(name)


@pytest.mark.parametrize("one", COLLECTIVE_NAMES, ids=lambda one: one.pattern)
def test_every_pattern_is_needed_by_a_name_and_says_where_it_is_from(one: object) -> None:
    others = [other for other in COLLECTIVE_NAMES if other is not one]
    needed = [
        name
        for name in SPOKEN
        if not any(re.search(rf"(?<![A-Za-z_]){other.pattern}", name) for other in others)
    ]
    assert needed
    assert getattr(one, "source", "")


@pytest.mark.parametrize("word", ["moe1", "1all_reduce_x", "1ncclAllReduce", "1oneShotAllReduce", "ccl"])
def test_a_name_of_ten_megabytes_is_soon_judged(word: str) -> None:
    """Where a repeat in a pattern had no limit, this could take hours."""
    name = "cross_device " + word * (10_000_000 // len(word))
    assert not is_collective(name)
    assert is_collective(f"{SPOKEN[0]} {name}")


def test_no_repeat_in_a_pattern_is_without_a_limit_but_at_its_end() -> None:
    for one in COLLECTIVE_NAMES:
        assert not re.search(r"[*+](?!$)", one.pattern), one.pattern


def test_codes_without_a_name_are_none() -> None:
    assert collective_codes(("kernel", SPOKEN[0]), [-1, 0, 1]) == [1]
    assert collective_codes(("kernel",), [-1, 0]) == []
