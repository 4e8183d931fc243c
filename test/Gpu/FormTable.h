//===- FormTable.h - What comparing the forms gave --------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_GPU_FORMTABLE_H
#define ATTN_TEST_GPU_FORMTABLE_H

#include "MicroForm.h"

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>

namespace attn::simtest {

struct Row {
  std::string name;
  std::string error;    ///< the simulator refused or faulted
  std::string gpuError; ///< the GPU did, or gave no result
  /// The finding that the simulator had to report, and did; on a GPU the form
  /// faulted, or ran, as it had to. Empty: results were compared.
  std::string finding;
  bool faulted = false; ///< the GPU's context is lost
  Comparison result;

  bool differs() const { return !gpuError.empty() || result.outside; }
  bool fails() const { return !error.empty() || differs(); }
  std::string verdict() const;
};

void to_json(nlohmann::json &json, const Row &row);
void from_json(const nlohmann::json &json, Row &row);

/// One line that counts the rows by verdict.
std::string summary(const std::vector<Row> &rows);
unsigned failures(const std::vector<Row> &rows);
/// A Markdown table: all rows, or those that fail or have a finding.
void writeTable(std::ostream &out, const std::vector<Row> &rows, bool all);
/// The rows, the seed and `device` as one JSON object.
void writeJson(std::ostream &out, const std::vector<Row> &rows,
               const std::string &device, unsigned seed);

} // namespace attn::simtest

#endif // ATTN_TEST_GPU_FORMTABLE_H
