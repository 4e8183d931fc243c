//===- Npy.h - NumPy .npy files ----------------------------------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reading (format versions 1, 2 and 3, as described by numpy.lib.format) and
// writing. Row-major, little-endian only. Every error is a std::runtime_error
// with one line that starts with the path and says what was expected and what
// was found.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_REFERENCE_NPY_H
#define ATTN_REFERENCE_NPY_H

#include "attn/Reference/Problem.h"

#include <cstdint>
#include <string>
#include <vector>

namespace attn {

/// The element types a file may hold. Raw1 and Raw2 are what ml_dtypes' 8-bit
/// floats and bfloat16 are written as ('|V1', '|V2').
enum class NpyType { F16, F32, F64, I8, U8, I32, I64, U16, Bool, Raw1, Raw2 };

struct NpyArray {
  std::string path;
  NpyType type = NpyType::F32;
  std::string descr; ///< the file's own spelling, such as "<f4"
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes; ///< row-major
};

NpyArray readNpy(const std::string &path);

/// What an array becomes when a spec wants `bytes` of some DType.
struct NpyConversion {
  std::vector<uint8_t> bytes;
  std::string
      note; ///< empty, or one line such as "k.npy: rounded from <f4 to bf16"
};

/// The contents of `array` as `want`, whose shape must be `wantShape`
/// (dimension names in `shapeNames`, such as "[batch, k_len]", are only
/// printed; may be empty). Accepted:
///   floats:  the type itself (bf16 as '|V2' or '<u2', 8-bit floats as '|u1' or
///            '|V1'), or '<f2' '<f4' '<f8', rounded with a note;
///   ints, bool: any integer or bool type whose every value fits, with a note
///            when the width changes.
NpyConversion convertNpy(const NpyArray &array, DType want,
                         const std::vector<int64_t> &wantShape,
                         const std::string &shapeNames = "");

/// Writes row-major f32 under a temporary name beside `path`, then renames: a
/// reader never sees half a file.
void writeNpy(const std::string &path, const std::vector<int64_t> &shape,
              const float *values);

/// "(2, 3)" as NumPy prints it.
std::string spellShape(const std::vector<int64_t> &shape);

} // namespace attn

#endif // ATTN_REFERENCE_NPY_H
