//===- Package.h - A compiled attention problem -----------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel package: one JSON file with the checked problem, the PTX of one or
// more kernels and, for each, what a launcher must know. It loads on a machine
// without a compiler. Plain C++.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_PACKAGE_H
#define ATTN_RUNTIME_PACKAGE_H

#include "attn/Reference/Problem.h"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace attn {

/// The package format this library reads and writes ("attn_package").
/// 2: kernels have roles.
constexpr int packageVersion = 2;

/// A file that is not a package, or one that this library cannot use.
class PackageError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Binary form of a kernel parameter. A Bool param travels as I32; a TensorMap
/// is 128 bytes by value, which the device encodes.
enum class ArgumentType { Ptr, I64, I32, F32, TensorMap };

/// What one copy through a tensor map moves: a box of the operand.
struct TensorBox {
  int64_t rows = 0;         ///< positions, 1 to 256
  int64_t columns = 0;      ///< elements of the head dim, 1 to 256
  int64_t swizzleBytes = 0; ///< span that is swizzled: 0 (none), 32, 64, 128
  /// Rows are found by sequence: the dimensions of attn/Layout/RaggedMap.h.
  bool ragged = false;
};

enum class LaunchOperand : uint8_t { Q, K, V, O, Lse };

/// What a launch passes as a parameter: the parameter's name, looked up once.
struct ArgumentSource {
  enum class Kind : uint8_t {
    Unknown, ///< not looked up yet
    Pointer,
    Stride,
    Map, ///< of `operand`; a stride along `axis`
    QLens,
    KLens,
    Workspace,
    WorkCounter,
    Buffer, ///< number `index` of KernelRole
    Batch,
    QLen,
    KLen,
    TotalQ,
    TotalK,
    CuSeqlensQ,
    CuSeqlensK,
    Scale,
    Param,
    Tensor, ///< number `index` of the problem's
  };
  Kind kind = Kind::Unknown;
  LaunchOperand operand = LaunchOperand::Q;
  char axis = 0; ///< 'b', 'h' or 's'
  uint32_t index = 0;
};

/// A kernel parameter. Names (docs/Runtime.md, "Kernel arguments"):
///   Ptr  q k v o lse q_lens k_lens cu_seqlens_q cu_seqlens_k workspace
///        work_counter block_list tensor:NAME
///   I64  {q,k,v,o,lse}_stride_{b,h,s}, in elements
///   I32  batch q_len k_len total_q total_k
///   F32  scale
///   param:NAME in the type of the param
///   TensorMap  {q,k,v,o}_map: dimensions (head dim, position, head, batch),
///        or ragged ones
struct KernelArgument {
  std::string name;
  ArgumentType type = ArgumentType::Ptr;
  TensorBox box = {}; ///< of a TensorMap
  /// Set where a package is read; a launch looks the name up where it is not.
  ArgumentSource source = {};
};

/// ceil(extent / divisor), plus another extent where one is named; extents are
/// batch, heads, kv_heads, q_len, k_len and total_q.
struct WorkFactor {
  std::string extent;
  int64_t divisor = 1;
  std::string plus = {};
};

/// `lhs op rhs`, true or false at launch. A term is a launch value (a name from
/// `guardNames`), optionally its remainder by `modulo`, or a number.
struct GuardTerm {
  std::string name;   ///< empty: the number
  int64_t number = 0; ///< value without a name
  int64_t modulo = 0; ///< 0: none
};
enum class GuardOp { Eq, Ne, Lt, Le, Gt, Ge };
struct Guard {
  GuardTerm lhs;
  GuardOp op = GuardOp::Eq;
  GuardTerm rhs;
};

/// Blocks of a launch that asks for no grid of its own: one for each work item,
/// or as many as the device holds at once, at most one for each item.
enum class GridKind { PerItem, Resident };

/// What a kernel is for. An attention kernel computes o and lse. The others are
/// auxiliary: each fills one buffer, the argument of its role's name, which
/// attention kernels read. Such buffers live in a plan (attn/Runtime/Launch.h)
/// and serve many launches.
enum class KernelRole {
  Attention,
  BlockList, ///< `block_list`: the key tiles of each query tile
};

/// `bytes` times the product of the factors. A buffer has the sum of its terms.
struct BufferTerm {
  int64_t bytes = 0;
  std::vector<WorkFactor> factors;
};

struct Kernel {
  std::string name; ///< entry point in `ptx`
  KernelRole role = KernelRole::Attention;
  std::string target;      ///< "sm_80", "sm_90a", ...
  std::string ptx;         ///< text of the whole module
  int64_t block = 0;       ///< threads per block
  int64_t sharedBytes = 0; ///< dynamic shared memory per block
  std::vector<KernelArgument> arguments;
  /// Their product is the number of work items. A kernel loops over work items,
  /// so every grid from 1 block up gives the same bits.
  std::vector<WorkFactor> workItems;
  GridKind grid = GridKind::PerItem;
  /// Blocks that a multiprocessor holds, for GridKind::Resident.
  int64_t blocksPerMultiprocessor = 1;
  /// Bytes of global workspace per work item.
  int64_t workspaceBytesPerItem = 0;
  int64_t tileM = 0, tileN = 0;
  std::string schedule; ///< for reports
  std::vector<Guard> guards;
  /// Of an attention kernel: the kernels whose buffers it reads, in the order
  /// in which they run; at most one of each role.
  std::vector<std::string> auxiliaries;
  /// Of an auxiliary kernel: the size of the buffer that it fills.
  std::vector<BufferTerm> bufferBytes;
};

struct Package {
  std::string compiler; ///< name and version of what wrote it
  Problem problem;
  std::vector<Kernel> kernels;
  /// Names of attention kernels in order of preference; empty: all of them, in
  /// the order of `kernels`.
  std::vector<std::string> chooser;

  /// The kernel of that name, or null.
  const Kernel *findKernel(const std::string &name) const;
};

/// Launch values a guard may name: batch, q_len, k_len, heads, kv_heads, the
/// strides, and {q,k,v,o}_align (largest power of two, at most 256, that
/// divides the base address in bytes).
bool isGuardName(const std::string &name);
/// Extents a work factor may name.
bool isWorkExtent(const std::string &name);

/// The package as JSON text.
std::string toJson(const Package &package);
/// Reads and checks a package. Throws PackageError with one line that names the
/// field: not a package, another version, a field missing or malformed, an
/// argument name nothing can bind, kernels that do not belong together.
Package packageFromJson(const std::string &text);

/// One guard as a reader writes it: "q_stride_s % 8 == 0".
std::string toString(const Guard &guard);
const char *spelling(ArgumentType type);
/// "attention", "block_list".
const char *spelling(KernelRole role);

} // namespace attn

#endif // ATTN_RUNTIME_PACKAGE_H
