//===- FormTable.cpp - What comparing the forms gave ----------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FormTable.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

namespace attn::simtest {

std::string Row::verdict() const {
  if (!error.empty())
    return "FAILED on the simulator: " + error;
  if (differs())
    return "FAILED: " +
           (gpuError.empty() ? result.example : "GPU: " + gpuError);
  if (!finding.empty())
    return finding + (faulted ? "; faults on the GPU" : "");
  return result.mismatches ? "within the stated error" : "equal bits";
}

void to_json(nlohmann::json &json, const Row &row) {
  const Comparison &result = row.result;
  json = {{"form", row.name},
          {"compared", result.compared},
          {"mismatches", result.mismatches},
          {"outside", result.outside},
          {"max_ulps", result.maxUlps},
          {"example", result.example},
          {"finding", row.finding},
          {"faulted", row.faulted},
          {"error", row.error},
          {"gpu_error", row.gpuError},
          {"verdict", row.verdict()}};
}

void from_json(const nlohmann::json &json, Row &row) {
  json.at("form").get_to(row.name);
  json.at("compared").get_to(row.result.compared);
  json.at("mismatches").get_to(row.result.mismatches);
  json.at("outside").get_to(row.result.outside);
  json.at("max_ulps").get_to(row.result.maxUlps);
  json.at("example").get_to(row.result.example);
  json.at("finding").get_to(row.finding);
  json.at("faulted").get_to(row.faulted);
  json.at("error").get_to(row.error);
  json.at("gpu_error").get_to(row.gpuError);
}

unsigned failures(const std::vector<Row> &rows) {
  return unsigned(std::count_if(rows.begin(), rows.end(),
                                [](const Row &row) { return row.fails(); }));
}

std::string summary(const std::vector<Row> &rows) {
  uint64_t values = 0;
  unsigned failed = failures(rows), found = 0, exact = 0;
  for (const Row &row : rows) {
    values += row.result.compared;
    bool finds = !row.finding.empty();
    found += !row.fails() && finds;
    exact += !row.fails() && !finds && !row.result.mismatches;
  }
  return std::to_string(rows.size()) + " forms, " + std::to_string(values) +
         " values: " + std::to_string(exact) + " forms with equal bits, " +
         std::to_string(rows.size() - exact - found - failed) +
         " within the stated error, " + std::to_string(found) +
         " found by the sanitizer, " + std::to_string(failed) + " failed";
}

void writeTable(std::ostream &out, const std::vector<Row> &rows, bool all) {
  out << "| form | values compared | mismatches | max ulp | verdict |\n"
         "| --- | --- | --- | --- | --- |\n";
  for (const Row &row : rows)
    if (all || row.fails() || !row.finding.empty())
      out << "| " << row.name << " | " << row.result.compared << " | "
          << row.result.mismatches << " | " << row.result.maxUlps << " | "
          << row.verdict() << " |\n";
}

void writeJson(std::ostream &out, const std::vector<Row> &rows,
               const std::string &device, unsigned seed) {
  nlohmann::json json = {{"device", device},
                         {"seed", seed},
                         {"summary", summary(rows)},
                         {"rows", rows}};
  out << json.dump(1) << "\n";
}

} // namespace attn::simtest
