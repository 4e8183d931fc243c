//===- attn_runtime.h - C interface: launching packages -----------*- C -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libattn_runtime: load a kernel package, ask for its workspace, launch it on
// the caller's device pointers and stream. Plain C, usable through a foreign
// function interface: every type is a fixed-width integer, a double or a
// pointer.
//
// Functions return ATTN_OK or an error code; attn_last_error() then says what
// was refused, with the value and the legal range. The only state outside a
// package is that text, one per thread.
//
// Launching uses the CUDA context that is current on the calling thread (the
// primary context of a device, as the CUDA runtime and the frameworks make it)
// and returns without waiting. A package may be used from several threads and
// contexts; its PTX is loaded once for each context, at the first launch or
// attn_prepare there. Free a package before its contexts are destroyed.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_ATTN_RUNTIME_H
#define ATTN_RUNTIME_ATTN_RUNTIME_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Error codes, the same numbers as attn-run's exit codes. */
enum {
  ATTN_OK = 0,
  ATTN_ERROR_INPUT = 2, /* a bad package or a bad argument */
  ATTN_ERROR_DEVICE = 3 /* no driver, no GPU, out of memory, a fault */
};

typedef struct attn_package attn_package;

/* q, k, v, o: [batch, heads, positions, head_dim] with innermost stride 1;
 * lse: f32 [batch, heads, q_len]. Strides are in elements. The base address
 * and every stride of q, k, v and o are multiples of 16 bytes, those of lse of
 * 4. The stride of an axis with one element is ignored. */
typedef struct attn_view {
  uint64_t data; /* device address; 0: absent */
  int64_t stride_b, stride_h, stride_s;
} attn_view;

/* A value for a param of the spec. */
typedef struct attn_param {
  const char *name;
  int32_t is_float; /* 0: int_value (i32, i64, bool); 1: float_value (f32) */
  int64_t int_value;
  double float_value;
} attn_param;

/* A tensor of the spec: row-major, contiguous device memory. */
typedef struct attn_tensor {
  const char *name;
  uint64_t data; /* device address */
  int64_t elements;
} attn_tensor;

typedef struct attn_launch_args {
  int64_t struct_bytes; /* sizeof(attn_launch_args) where it was filled in */
  int64_t batch, q_len, k_len;
  attn_view q, k, v, o, lse;
  uint64_t q_lens, k_lens; /* i32[batch] for `batch padded`; else 0 */
  uint64_t workspace;
  int64_t workspace_bytes;
  const attn_param *params; /* those that differ from the spec's defaults */
  int64_t param_count;
  const attn_tensor *tensors; /* every tensor of the spec */
  int64_t tensor_count;
  int64_t grid; /* blocks; 0: one per work item. Any grid gives the same bits */
} attn_launch_args;

/* Reads the package in the file `path`. On success *package is to be freed by
 * attn_package_free; on failure it is set to null. Needs no GPU. */
int attn_package_load(const char *path, attn_package **package);
/* The same from `bytes` bytes of text. */
int attn_package_parse(const char *text, int64_t bytes, attn_package **package);
/* Unloads the package's kernels. Null is allowed. No launch of it may be
 * running. */
void attn_package_free(attn_package *package);

/* Bytes of workspace that a launch with these lengths needs on the current
 * device. */
int attn_query_workspace(attn_package *package, const attn_launch_args *args,
                         int64_t *bytes);
/* Checks the arguments and loads the kernel they choose, so that a following
 * attn_launch does neither a look-up nor an allocation (stream capture). */
int attn_prepare(attn_package *package, const attn_launch_args *args);
/* Checks, chooses a kernel and launches it on `stream` (a CUstream or
 * cudaStream_t; null: the default stream). batch or q_len 0 launches nothing
 * and succeeds. */
int attn_launch(attn_package *package, const attn_launch_args *args,
                void *stream);
/* Which kernel these arguments choose, and why: one line, written to `text` (at
 * most `bytes` with the final zero). */
int attn_explain(attn_package *package, const attn_launch_args *args,
                 char *text, int64_t bytes);

/* The message of this thread's last failed call; never null, valid until its
 * next call into the library. */
const char *attn_last_error(void);

#ifdef __cplusplus
}
#endif

#endif /* ATTN_RUNTIME_ATTN_RUNTIME_H */
