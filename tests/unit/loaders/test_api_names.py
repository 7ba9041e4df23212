from __future__ import annotations

import pytest

from overlap_lab.loaders.api_names import api_codes, api_of, copy_directions, plain_name
from overlap_lab.schema import Api, CopyKind

NAMES = {
    Api.LAUNCH: """hipLaunchKernel hipExtLaunchKernel hipModuleLaunchKernel hipExtModuleLaunchKernel
        hipHccModuleLaunchKernel hipLaunchCooperativeKernel hipLaunchCooperativeKernelMultiDevice
        hipModuleLaunchCooperativeKernel hipLaunchKernelExC hipDrvLaunchKernelEx hipLaunchByPtr
        hipLaunchKernel_spt hipExtLaunchMultiKernelMultiDevice cudaLaunchKernel cudaLaunchKernel_v7000
        cudaLaunchKernel_ptsz cudaLaunchKernelExC_v11060 cudaLaunchCooperativeKernel_v9000
        cudaLaunch_v3020 cuLaunchKernel cuLaunchKernelEx cuLaunchKernel_ptsz cuLaunchCooperativeKernel
        cuLaunchGridAsync""",
    Api.GRAPH_LAUNCH: """hipGraphLaunch hipGraphLaunch_spt cudaGraphLaunch_v10000 cudaGraphLaunch_ptsz
        cuGraphLaunch""",
    Api.MEMCPY: """hipMemcpy hipMemcpy_spt hipMemcpyWithStream hipMemcpyHtoD hipMemcpyDtoH hipMemcpyDtoD
        hipMemcpy2D hipMemcpy3D hipMemcpyToSymbol hipMemcpyFromSymbol hipMemcpyPeer hipMemcpyParam2D
        hipDrvMemcpy3D hipMemcpyAtoH cudaMemcpy cudaMemcpy_v3020 cudaMemcpy_ptds cudaMemcpy2DToArray
        cudaMemcpyPeer cuMemcpyHtoD_v2 cuMemcpyDtoH_v2 cuMemcpy cuMemcpy3D_v2""",
    Api.MEMCPY_ASYNC: """hipMemcpyAsync hipMemcpyAsync_spt hipMemcpyHtoDAsync hipMemcpyDtoHAsync
        hipMemcpy2DAsync hipMemcpy3DAsync hipMemcpyToSymbolAsync hipMemcpyPeerAsync hipMemcpyParam2DAsync
        hipDrvMemcpy3DAsync cudaMemcpyAsync cudaMemcpyAsync_v3020 cudaMemcpyAsync_ptsz
        cuMemcpyHtoDAsync_v2 cuMemcpyDtoHAsync_v2_ptsz cuMemcpyAsync cudaMemcpyBatchAsync""",
    Api.MEMSET: """hipMemset hipMemset2D hipMemsetD8 hipMemsetD32 hipMemset_spt cudaMemset cuMemsetD8_v2
        cuMemsetD2D16_v2""",
    Api.MEMSET_ASYNC: """hipMemsetAsync hipMemset2DAsync hipMemsetD32Async cudaMemsetAsync_v3020
        cuMemsetD8Async""",
    Api.HOST_FUNC: """hipLaunchHostFunc hipLaunchHostFunc_spt hipStreamAddCallback cudaLaunchHostFunc
        cuLaunchHostFunc""",
    Api.STREAM_SYNC: """hipStreamSynchronize hipStreamSynchronize_spt cudaStreamSynchronize_v3020
        cuStreamSynchronize""",
    Api.DEVICE_SYNC: "hipDeviceSynchronize cudaDeviceSynchronize_v3020 cudaThreadSynchronize",
    Api.EVENT_SYNC: "hipEventSynchronize cudaEventSynchronize cuEventSynchronize",
    Api.CONTEXT_SYNC: "hipCtxSynchronize cuCtxSynchronize",
    Api.QUERY: "hipStreamQuery hipEventQuery cudaStreamQuery cudaEventQuery_v3020 cuStreamQuery cuEventQuery",
    Api.STREAM_WAIT_EVENT: """hipStreamWaitEvent hipStreamWaitEvent_spt cudaStreamWaitEvent_v3020
        cuStreamWaitEvent""",
    Api.EVENT_RECORD: """hipEventRecord hipEventRecord_spt hipEventRecordWithFlags cudaEventRecord
        cuEventRecord""",
    Api.ALLOC: """hipMalloc hipMallocPitch hipMallocManaged hipExtMallocWithFlags cudaMalloc_v3020
        cuMemAlloc_v2""",
    Api.FREE: "hipFree hipFreeArray cudaFree cuMemFree_v2",
    Api.HOST_ALLOC: """hipHostMalloc hipHostAlloc hipMallocHost hipHostRegister cudaHostAlloc_v3020
        cudaMallocHost cuMemHostAlloc""",
    Api.HOST_FREE: "hipHostFree hipFreeHost hipHostUnregister cudaFreeHost cuMemFreeHost",
    Api.ASYNC_ALLOC: "hipMallocAsync hipFreeAsync hipMallocFromPoolAsync cudaMallocAsync cuMemFreeAsync",
    Api.STREAM_DESTROY: "hipStreamDestroy cudaStreamDestroy_v5050 cuStreamDestroy_v2",
    Api.MODULE_LOAD: "hipModuleLoad hipModuleLoadData hipModuleLoadDataEx cuModuleLoadData cuLibraryLoadData",
    Api.CAPTURE_BEGIN: """hipStreamBeginCapture hipStreamBeginCapture_spt cudaStreamBeginCapture_v10000
        cuStreamBeginCapture_v2""",
    Api.CAPTURE_END: "hipStreamEndCapture cudaStreamEndCapture_v10000",
    Api.OTHER: """hipGetDevice hipSetDevice hipGetLastError hipStreamCreate hipStreamGetPriority
        hipEventElapsedTime hipEventCreate __hipRegisterFatBinary __hipPushCallConfiguration
        hipGraphAddMemcpyNode hipMemPrefetchAsync hipStreamIsCapturing hipModuleUnload
        hipModuleGetFunction hipGetDevicePropertiesR0600 hsa_signal_wait_scacquire
        hsa_amd_memory_async_copy cudnnConvolutionForward ncclAllReduce cuMemMap memcpy""",
}


@pytest.mark.parametrize(
    ("name", "api"), [(name, api) for api, names in NAMES.items() for name in names.split()]
)
def test_a_call_is_known_by_its_name(name: str, api: Api) -> None:
    assert api_of(name) is api


def test_version_and_default_stream_suffixes_fall_off() -> None:
    assert plain_name("cuMemcpyDtoHAsync_v2_ptsz") == "cuMemcpyDtoHAsync"


def test_codes_come_in_the_order_of_the_names() -> None:
    assert api_codes(["hipMemcpy", "hipFree"]).tolist() == [Api.MEMCPY, Api.FREE]


def test_a_direction_in_a_name_is_read() -> None:
    found = copy_directions(["hipMemcpyDtoH", "cuMemcpyHtoDAsync_v2", "hipMemcpy"])
    assert found.tolist() == [CopyKind.DEVICE_TO_HOST, CopyKind.HOST_TO_DEVICE, CopyKind.UNKNOWN]
