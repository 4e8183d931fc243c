//===- attn_runtime.h - C interface: launching packages -----------*- C -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libattn_runtime: load a kernel package, ask for its workspace, launch it on
// the caller's device pointers and stream; where its kernel reads a list that
// depends on masks and lengths alone, build that once, as a plan. Plain C,
// usable through a foreign function interface: every type is a fixed-width
// integer, a double or a pointer.
//
// Errors. Functions return ATTN_OK or an error code; attn_last_error() then
// says in one line what was refused, with the value and what is allowed. A call
// that failed has launched nothing.
//
// Where it runs. In the CUDA context that is current on the calling thread (the
// primary context of a device, as the CUDA runtime and the frameworks make it),
// or on an attn_device that the package was told to use. A package may be used
// in several contexts; its PTX is loaded once for each. Free it before they are
// destroyed.
//
// Threads. Any function may be called from any thread at any time, on the same
// and on different handles; only the call that frees a handle must be the last
// to have it. The one state outside of handles is the text of each thread's
// last error (and the table of the driver's functions, once found). Launches
// that may run at the same time need outputs and a workspace each of their own.
//
// Streams and graphs. A launch is asynchronous, and so is building a plan.
// After attn_prepare with the same arguments neither loads, allocates, copies
// nor waits, and both may be captured into a CUDA graph; a graph replays the
// pointers, lengths, strides and params of the capture.
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
typedef struct attn_device attn_device;
typedef struct attn_plan attn_plan;

/* q: [batch, heads, q_len, head_dim_qk]; k: [batch, kv_heads, k_len,
 * head_dim_qk]; v: [batch, kv_heads, k_len, head_dim_v]; o: [batch, heads,
 * q_len, head_dim_v], all with innermost stride 1; lse: f32 [batch, heads,
 * q_len], natural logarithm. Strides are in elements. The base address and
 * every stride of q, k, v and o are multiples of 16 bytes, those of lse of 4.
 * Strides are not negative; inputs may have stride 0, elements of outputs must
 * not overlap. The stride of an axis with one element is ignored. The memory
 * stays the caller's, and must stay until the launch is done. */
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

/* Read during the call only: the struct, its arrays and its names may go when
 * the call returns. Start from all zeros. */
typedef struct attn_launch_args {
  int64_t struct_bytes; /* sizeof(attn_launch_args) where it was filled in */
  /* batch 0 .. 2^31 - 1, lengths 0 .. 2^30, in positions. Where entries have
   * lengths of their own, q_len and k_len are those of the longest (or more).
   */
  int64_t batch, q_len, k_len;
  attn_view q, k, v, o, lse;
  /* Lengths of the batch entries, i32[batch] in device memory: both for `batch
   * padded`, k_lens also for `batch varlen`; else 0. Rows past them are neither
   * read nor written. */
  uint64_t q_lens, k_lens;
  /* `batch varlen`: sequences are packed. i32[batch + 1] in device memory: the
   * first row of each, and the end of the last; q, o and lse have total_q rows
   * in all, [total_q, heads, head_dim] and [heads, total_q], and their stride_b
   * is not looked at. With cu_seqlens_k so do k and v, of which k_lens may then
   * say how many rows are used; without, k and v have batch entries, and k_lens
   * says how long they are. All of it may change between launches, and between
   * replays of a graph, within the totals, q_len and k_len. */
  uint64_t cu_seqlens_q, cu_seqlens_k;
  int64_t total_q, total_k; /* 0 .. 2^30; 0 where the array is 0 */
  uint64_t workspace;       /* device address, 16-byte aligned; see below */
  int64_t workspace_bytes;
  const attn_param *params; /* those that differ from the spec's defaults */
  int64_t param_count;
  const attn_tensor *tensors; /* every tensor of the spec */
  int64_t tensor_count;
  int64_t grid; /* blocks; 0: the kernel's own. Any grid gives the same bits */
  /* built for these arguments; null where attn_plan_size says 0 */
  const attn_plan *plan;
} attn_launch_args;

enum { /* element types */
       ATTN_BF16 = 0,
       ATTN_F16 = 1,
       ATTN_F32 = 2,
       ATTN_E4M3 = 3,
       ATTN_E5M2 = 4
};

/* What a package computes. */
typedef struct attn_problem {
  int64_t struct_bytes; /* in: sizeof(attn_problem) */
  const char *name;     /* valid as long as the package */
  int64_t heads, kv_heads, head_dim_qk, head_dim_v;
  int32_t q_type, kv_type, o_type; /* ATTN_BF16 ... */
  int32_t has_o, has_lse;          /* 1: the package computes it */
} attn_problem;

/* Reads the package in the file `path`. On success *package is to be freed by
 * attn_package_free; on failure it is set to null. Needs no GPU. */
int attn_package_load(const char *path, attn_package **package);
/* The same from `bytes` bytes of text. */
int attn_package_parse(const char *text, int64_t bytes, attn_package **package);
/* Unloads the package's kernels. Null is allowed. No launch of it may be
 * running. */
void attn_package_free(attn_package *package);
/* From the next call on the package runs on `device`; null: in the context of
 * the calling thread again. */
int attn_package_use(attn_package *package, attn_device *device);
int attn_query_problem(const attn_package *package, attn_problem *problem);

/* Bytes of workspace that a launch with these lengths and strides needs on the
 * device; often 0. The caller allocates it, fills it with zeros once, and may
 * pass it to any launch of this package that needs no more and does not run at
 * the same time as another that was given it. */
int attn_query_workspace(attn_package *package, const attn_launch_args *args,
                         int64_t *bytes);
/* Checks the arguments and loads the kernels they choose, so that a following
 * attn_plan_build or attn_launch with them only launches. A plan may still be
 * missing. May wait for the device; not to be called while a stream is being
 * captured. */
int attn_prepare(attn_package *package, const attn_launch_args *args);
/* Checks, chooses a kernel and launches it on `stream` (a CUstream or
 * cudaStream_t; null: the default stream). batch or q_len 0 launches nothing
 * and succeeds. */
int attn_launch(attn_package *package, const attn_launch_args *args,
                void *stream);
/* Plans. Kernels for masks of which the compiler cannot tell which key tiles
 * they leave empty read a list of them, which another kernel of the package
 * makes. Most packages have none: attn_plan_size gives 0, and `plan` stays
 * null.
 *
 *   int64_t bytes;
 *   attn_plan *plan;
 *   attn_plan_size(package, &args, &bytes);
 *   attn_plan_create(&plan);
 *   attn_plan_build(package, &args, plan, memory, bytes, stream);
 *   args.plan = plan;
 *   attn_launch(package, &args, stream);       any number of times
 *
 * A plan serves every launch of its package on its device or context that has
 * the lengths, params and tensor addresses which its list was made from, on
 * whatever q, k, v, o and lse: one plan for all layers of a model. Another
 * launch is refused, with both values. What the library cannot see is the
 * caller's to tell: after the contents of a tensor that the mask reads have
 * changed, build again, or call attn_plan_invalidate.
 *
 * The memory is the caller's, and so is its order: it must stay until all
 * launches that read it are done, a launch must run behind the build (on the
 * same stream, or behind an event), and building again must run behind the
 * launches before. */

/* Bytes of plan memory that launches with these lengths and strides need. */
int attn_plan_size(attn_package *package, const attn_launch_args *args,
                   int64_t *bytes);
/* An empty plan, to be freed by attn_plan_free; on failure *plan is null. */
int attn_plan_create(attn_plan **plan);
/* Makes the list in `bytes` bytes of device memory, 16-byte aligned, on
 * `stream`, and the plan one of these arguments (whose own `plan` is not looked
 * at). One byte too few is refused, with both sizes. On failure the plan is as
 * after attn_plan_invalidate. */
int attn_plan_build(attn_package *package, const attn_launch_args *args,
                    attn_plan *plan, uint64_t memory, int64_t bytes,
                    void *stream);
/* From now on launches with the plan are refused until it is built again. Those
 * that were started are not touched. */
int attn_plan_invalidate(attn_plan *plan);
/* Null is allowed. Launches that were started may go on; the package may have
 * been freed before. */
void attn_plan_free(attn_plan *plan);

/* Which kernel these arguments choose, and why: one line, written to `text` (at
 * most `bytes` with the final zero). */
int attn_explain(attn_package *package, const attn_launch_args *args,
                 char *text, int64_t bytes);

/* A device without the CUDA runtime, with memory of its own making: "gpu" (the
 * first one), "gpu:N" (the N-th from 0; its primary context, which is not left
 * current on the thread) or "sim", the PTX simulator. On the simulator a
 * launch has run when it returns, `stream` is ignored, and whatever its
 * sanitizer finds is an error. On success *device is to be closed by
 * attn_device_close; on failure it is set to null. */
int attn_device_open(const char *name, attn_device **device);
/* Null is allowed. Packages that use the device may be freed later. */
void attn_device_close(attn_device *device);
/* Memory aligned to 256 bytes, of undefined contents. */
int attn_device_allocate(attn_device *device, int64_t bytes, uint64_t *address);
/* Address 0 is allowed. */
int attn_device_release(attn_device *device, uint64_t address);
/* Copies that wait for what was queued on the default stream. */
int attn_device_write(attn_device *device, uint64_t address, const void *source,
                      int64_t bytes);
int attn_device_read(attn_device *device, void *destination, uint64_t address,
                     int64_t bytes);
/* Waits for all launches; a fault of a kernel is its error. */
int attn_device_synchronize(attn_device *device);

/* The message of this thread's last failed call; never null, valid until its
 * next call into the library. */
const char *attn_last_error(void);

#ifdef __cplusplus
}
#endif

#endif /* ATTN_RUNTIME_ATTN_RUNTIME_H */
