//===- launch.c - A package launched from C -------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// launch DEVICE PACKAGE, where DEVICE is "gpu" or "sim":
//
//   attn-opt examples/gqa.attn --emit=package --target=sm_80 -o gqa.pkg
//   launch sim gqa.pkg
//
// Made-up inputs, one launch, and a comparison with three nested loops. Every
// buffer lies between guard bands and starts as NaN, so that what the kernel
// did not write, or should not have, shows. It launches any package: one that
// needs neither a workspace nor a plan gets empty ones.
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/attn_runtime.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An odd number of rows and keys: no multiple of any tile. */
enum { BATCH = 2, Q_LEN = 37, K_LEN = 53, GUARD_BYTES = 256 };

static attn_device *device;

static void check(int code, const char *what) {
  if (code == ATTN_OK)
    return;
  fprintf(stderr, "%s: %s\n", what, attn_last_error());
  exit(code);
}

static void fail(const char *what) {
  fprintf(stderr, "%s\n", what);
  exit(1);
}

static void *hostMemory(int64_t bytes) {
  void *memory = malloc((size_t)bytes);
  if (!memory)
    fail("out of memory");
  return memory;
}

/*===- Device memory between guard bands ----------------------------------===*/

typedef struct {
  uint64_t base, data;
  int64_t bytes;
} Buffer;

/* All bits set: NaN as bf16 and as f32. */
static Buffer makeBuffer(int64_t bytes) {
  Buffer buffer = {0, 0, bytes};
  int64_t all = bytes + 2 * GUARD_BYTES;
  void *poison = hostMemory(all);
  memset(poison, 0xFF, (size_t)all);
  check(attn_device_allocate(device, all, &buffer.base), "allocating");
  check(attn_device_write(device, buffer.base, poison, all), "poisoning");
  buffer.data = buffer.base + GUARD_BYTES;
  free(poison);
  return buffer;
}

/* Reads the contents, after the guard bands were found untouched. */
static void readBuffer(Buffer buffer, void *contents) {
  int64_t all = buffer.bytes + 2 * GUARD_BYTES;
  unsigned char *image = hostMemory(all);
  check(attn_device_read(device, image, buffer.base, all), "reading");
  for (int64_t i = 0; i < all; ++i) {
    int isGuard = i < GUARD_BYTES || i >= GUARD_BYTES + buffer.bytes;
    if (isGuard && image[i] != 0xFF)
      fail("FAIL: a guard band was written");
  }
  memcpy(contents, image + GUARD_BYTES, (size_t)buffer.bytes);
  free(image);
}

static void freeBuffer(Buffer buffer) {
  check(attn_device_release(device, buffer.base), "releasing");
}

/*===- What a launch needs besides its operands ---------------------------===*/

/* Zeros, which every launch leaves behind for the next. */
static Buffer makeWorkspace(attn_package *package, attn_launch_args *args) {
  check(attn_query_workspace(package, args, &args->workspace_bytes),
        "asking for the workspace");
  Buffer workspace = makeBuffer(args->workspace_bytes);
  void *zeros = calloc(1, (size_t)args->workspace_bytes + 1);
  if (!zeros)
    fail("out of memory");
  check(attn_device_write(device, workspace.data, zeros, args->workspace_bytes),
        "clearing the workspace");
  free(zeros);
  args->workspace = workspace.data;
  return workspace;
}

/* Once for all launches with these lengths, params and tensors. */
static Buffer buildPlan(attn_package *package, attn_launch_args *args,
                        attn_plan *plan) {
  int64_t bytes;
  check(attn_plan_size(package, args, &bytes), "asking for the plan's size");
  Buffer memory = makeBuffer(bytes);
  check(attn_plan_build(package, args, plan, memory.data, bytes, NULL),
        "building the plan");
  args->plan = plan;
  return memory;
}

/* The buffer was only to be used by kernels: its guard bands are looked at. */
static void releaseScratch(Buffer buffer) {
  void *contents = hostMemory(buffer.bytes + 1);
  readBuffer(buffer, contents);
  free(contents);
  freeBuffer(buffer);
}

/*===- bf16 ---------------------------------------------------------------===*/

static uint16_t toBf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

static float fromBf16(uint16_t value) {
  uint32_t bits = (uint32_t)value << 16;
  float result;
  memcpy(&result, &bits, sizeof(result));
  return result;
}

/* An operand [BATCH, positions, heads, dim] on the host and the device. */
typedef struct {
  int64_t positions, heads, dim;
  uint16_t *host;
  Buffer buffer;
} Operand;

static int64_t elements(const Operand *x) {
  return BATCH * x->positions * x->heads * x->dim;
}

static Operand makeOperand(int64_t positions, int64_t heads, int64_t dim) {
  Operand x = {positions, heads, dim, NULL, {0, 0, 0}};
  x.buffer = makeBuffer(2 * elements(&x));
  x.host = hostMemory(x.buffer.bytes);
  return x;
}

static Operand makeInput(int64_t positions, int64_t heads, int64_t dim) {
  Operand x = makeOperand(positions, heads, dim);
  for (int64_t i = 0; i < elements(&x); ++i)
    x.host[i] = toBf16((float)((double)rand() / RAND_MAX * 4 - 2));
  check(attn_device_write(device, x.buffer.data, x.host, x.buffer.bytes),
        "uploading");
  return x;
}

static double at(const Operand *x, int64_t b, int64_t s, int64_t h, int64_t d) {
  return fromBf16(
      x->host[((b * x->positions + s) * x->heads + h) * x->dim + d]);
}

static attn_view viewOf(const Operand *x) {
  attn_view view = {x->buffer.data, x->positions * x->heads * x->dim, x->dim,
                    x->heads * x->dim};
  return view;
}

static void freeOperand(Operand *x) {
  freeBuffer(x->buffer);
  free(x->host);
}

/*===- The comparison -----------------------------------------------------===*/

/* Row i of a head by the definition; the last query sees all keys. */
static void compareRow(const Operand *q, const Operand *k, const Operand *v,
                       const Operand *o, float lse, int64_t b, int64_t h,
                       int64_t i) {
  double p[K_LEN], maximum = -INFINITY, sum = 0;
  int64_t g = h / (q->heads / k->heads), visible = i + K_LEN - Q_LEN + 1;
  for (int64_t j = 0; j < visible; ++j) {
    p[j] = 0;
    for (int64_t d = 0; d < q->dim; ++d)
      p[j] += at(q, b, i, h, d) * at(k, b, j, g, d);
    p[j] /= sqrt((double)q->dim);
    maximum = fmax(maximum, p[j]);
  }
  for (int64_t j = 0; j < visible; ++j)
    sum += p[j] = exp(p[j] - maximum);
  /* A negated comparison, so that NaN fails too. */
  if (!(fabs(lse - (maximum + log(sum))) < 1e-3))
    fail("FAIL: lse is wrong");
  for (int64_t d = 0; d < v->dim; ++d) {
    double expected = 0;
    for (int64_t j = 0; j < visible; ++j)
      expected += p[j] / sum * at(v, b, j, g, d);
    if (!(fabs(at(o, b, i, h, d) - expected) < 0.02))
      fail("FAIL: o is wrong");
  }
}

int main(int argc, char **argv) {
  if (argc != 3)
    fail("usage: launch gpu|sim PACKAGE");
  attn_package *package;
  check(attn_device_open(argv[1], &device), "opening the device");
  check(attn_package_load(argv[2], &package), "loading the package");
  check(attn_package_use(package, device), "choosing the device");
  attn_problem problem = {.struct_bytes = sizeof(problem)};
  check(attn_query_problem(package, &problem), "reading the problem");
  if (problem.q_type != ATTN_BF16 || problem.kv_type != ATTN_BF16 ||
      problem.o_type != ATTN_BF16 || !problem.has_o || !problem.has_lse)
    fail("this example wants a bf16 package with o and lse");

  Operand q = makeInput(Q_LEN, problem.heads, problem.head_dim_qk);
  Operand k = makeInput(K_LEN, problem.kv_heads, problem.head_dim_qk);
  Operand v = makeInput(K_LEN, problem.kv_heads, problem.head_dim_v);
  Operand o = makeOperand(Q_LEN, problem.heads, problem.head_dim_v);
  Buffer lse = makeBuffer(4 * BATCH * problem.heads * Q_LEN);

  attn_launch_args args = {.struct_bytes = sizeof(args),
                           .batch = BATCH,
                           .q_len = Q_LEN,
                           .k_len = K_LEN,
                           .q = viewOf(&q),
                           .k = viewOf(&k),
                           .v = viewOf(&v),
                           .o = viewOf(&o),
                           .lse = {lse.data, problem.heads * Q_LEN, Q_LEN, 1}};
  Buffer workspace = makeWorkspace(package, &args);
  attn_plan *plan;
  check(attn_plan_create(&plan), "making a plan");
  Buffer planMemory = buildPlan(package, &args, plan);

  char line[512];
  check(attn_explain(package, &args, line, sizeof(line)), "explaining");
  printf("%s: %s\n", problem.name, line);
  check(attn_launch(package, &args, NULL), "launching");
  check(attn_device_synchronize(device), "running");

  readBuffer(o.buffer, o.host);
  float *lseHost = hostMemory(lse.bytes);
  readBuffer(lse, lseHost);
  for (int64_t b = 0; b < BATCH; ++b)
    for (int64_t h = 0; h < q.heads; ++h)
      for (int64_t i = 0; i < Q_LEN; ++i)
        compareRow(&q, &k, &v, &o, lseHost[(b * q.heads + h) * Q_LEN + i], b, h,
                   i);
  free(lseHost);
  freeBuffer(lse);
  releaseScratch(workspace);
  releaseScratch(planMemory);
  freeOperand(&q);
  freeOperand(&k);
  freeOperand(&v);
  freeOperand(&o);
  printf("PASS\n");
  attn_plan_free(plan);
  attn_package_free(package);
  attn_device_close(device);
  return 0;
}
