// HIP's names for the CUDA runtime calls that this project uses; included by gpu.h only.
#pragma once

#define hipDeviceProp_t cudaDeviceProp
#define hipDeviceSynchronize cudaDeviceSynchronize
#define hipErrorInvalidValue cudaErrorInvalidValue
#define hipErrorNotReady cudaErrorNotReady
#define hipError_t cudaError_t
#define hipEventCreate cudaEventCreate
#define hipEventDestroy cudaEventDestroy
#define hipEventElapsedTime cudaEventElapsedTime
#define hipEventRecord cudaEventRecord
#define hipEventSynchronize cudaEventSynchronize
#define hipEvent_t cudaEvent_t
#define hipFree cudaFree
#define hipFuncAttributeMaxDynamicSharedMemorySize cudaFuncAttributeMaxDynamicSharedMemorySize
#define hipFuncSetAttribute cudaFuncSetAttribute
#define hipGetDevice cudaGetDevice
#define hipGetDeviceCount cudaGetDeviceCount
#define hipGetDeviceProperties cudaGetDeviceProperties
#define hipGetErrorName cudaGetErrorName
#define hipGetErrorString cudaGetErrorString
#define hipGetLastError cudaGetLastError
#define hipGraphDestroy cudaGraphDestroy
#define hipGraphExecDestroy cudaGraphExecDestroy
#define hipGraphExec_t cudaGraphExec_t
#define hipGraphInstantiate cudaGraphInstantiate
#define hipGraphLaunch cudaGraphLaunch
#define hipGraph_t cudaGraph_t
#define hipGraphRetainUserObject cudaGraphRetainUserObject
#define hipGraphUserObjectMove cudaGraphUserObjectMove
#define hipHostFree cudaFreeHost
#define hipHostMalloc cudaMallocHost
#define hipHostMallocDefault cudaHostAllocDefault
#define hipLaunchHostFunc cudaLaunchHostFunc
#define hipMalloc cudaMalloc
#define hipMemcpy cudaMemcpy
#define hipMemcpyAsync cudaMemcpyAsync
#define hipMemcpyDeviceToHost cudaMemcpyDeviceToHost
#define hipMemcpyHostToDevice cudaMemcpyHostToDevice
#define hipMemoryTypeUnregistered cudaMemoryTypeUnregistered
#define hipMemset cudaMemset
#define hipMemsetAsync cudaMemsetAsync
#define hipPointerAttribute_t cudaPointerAttributes
#define hipPointerGetAttributes cudaPointerGetAttributes
#define hipSetDevice cudaSetDevice
#define hipStreamBeginCapture cudaStreamBeginCapture
#define hipStreamCaptureModeThreadLocal cudaStreamCaptureModeThreadLocal
#define hipStreamCaptureStatus cudaStreamCaptureStatus
#define hipStreamCaptureStatusActive cudaStreamCaptureStatusActive
#define hipStreamCaptureStatusNone cudaStreamCaptureStatusNone
#define hipStreamCreateWithFlags cudaStreamCreateWithFlags
#define hipStreamDefault cudaStreamDefault
#define hipStreamDestroy cudaStreamDestroy
#define hipStreamEndCapture cudaStreamEndCapture
#define hipStreamGetFlags cudaStreamGetFlags
#define hipStreamIsCapturing cudaStreamIsCapturing
#define hipStreamNonBlocking cudaStreamNonBlocking
#define hipStreamQuery cudaStreamQuery
#define hipStreamSynchronize cudaStreamSynchronize
#define hipStream_t cudaStream_t
#define hipSuccess cudaSuccess
#define hipUserObjectCreate cudaUserObjectCreate
#define hipUserObjectNoDestructorSync cudaUserObjectNoDestructorSync
#define hipUserObject_t cudaUserObject_t

// CUDA 13 gives the edges' data as well, which nobody here asks for.
#if CUDART_VERSION >= 13000
#define hipStreamGetCaptureInfo_v2(stream, status, id, graph, nodes, count) \
  cudaStreamGetCaptureInfo(stream, status, id, graph, nodes, nullptr, count)
#else
#define hipStreamGetCaptureInfo_v2 cudaStreamGetCaptureInfo_v2
#endif
