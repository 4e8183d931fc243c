//===- Trace.cpp - Prints what a warp does --------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"

#include <algorithm>
#include <cstdio>

namespace attn::sim {
namespace {

/// The first type that an opcode names is that of its result.
Type resultType(const std::string &text) {
  size_t end = text.find(' ', text[0] == '@' ? text.find(' ') + 1 : 0);
  std::string_view opcode = std::string_view(text).substr(0, end);
  for (size_t dot = opcode.find('.'); dot != std::string_view::npos;) {
    size_t after = opcode.find('.', dot + 1);
    if (auto type = parseType(opcode.substr(dot + 1, after - dot - 1)))
      return *type;
    dot = after;
  }
  return Type::None;
}

std::string valueText(const uint32_t *lanes, unsigned words, unsigned lane,
                      Type type) {
  char text[40];
  if (words == 2 && type == Type::F64)
    std::snprintf(text, sizeof(text), "%.10g", getLane<double>(lanes, lane));
  else if (words == 2)
    std::snprintf(
        text, sizeof(text), "%llx",
        static_cast<unsigned long long>(getLane<uint64_t>(lanes, lane)));
  else if (type == Type::F32)
    std::snprintf(text, sizeof(text), "%.6g", getLane<float>(lanes, lane));
  else if (type == Type::S32)
    std::snprintf(text, sizeof(text), "%d", getLane<int32_t>(lanes, lane));
  else
    std::snprintf(text, sizeof(text), "%x", lanes[lane]);
  return text;
}

} // namespace

/// The running lanes' mask, the instruction, and for each register that it
/// wrote the values of lanes 0 to 31, or one value that all of them have.
void Warp::trace(const Inst &inst) {
  const SimTrace &range = block->launch.options.trace;
  if (inst.line < range.firstLine || inst.line > range.lastLine)
    return;
  ++block->launch.traced;
  const std::string &text = program->texts[inst.text];
  std::string out =
      hexText(exec) + " line " + std::to_string(inst.line) + ": " + text + "\n";
  Type type = resultType(text);
  // The results of an asynchronous instruction are not there yet.
  unsigned written = inst.asynchronous ? 0 : inst.destinations;
  for (unsigned i = 0; i < written; ++i) {
    const Operand &to = inst.operands[i];
    out += "    " + program->registerNames[to.reg] + " =";
    if (to.words == 0) {
      out += " lanes " + hexText(predicates[to.offset]) + "\n";
      continue;
    }
    const uint32_t *values = lanes(to);
    bool same = std::equal(values, values + (warpSize - 1) * to.words,
                           values + to.words);
    for (unsigned lane = 0; lane < (same ? 1 : warpSize); ++lane)
      out += " " + valueText(values, to.words, lane, type);
    out += same ? " in all lanes\n" : "\n";
  }
  std::fputs(out.c_str(), stderr);
}

/// A trace that would print nothing is refused.
void Launch::checkTrace() const {
  const SimTrace &trace = options.trace;
  uint64_t count = uint64_t(config.grid[0]) * config.grid[1] * config.grid[2];
  uint64_t threadCount =
      uint64_t(config.block[0]) * config.block[1] * config.block[2];
  uint64_t warps = (threadCount + warpSize - 1) / warpSize;
  auto require = [&](const char *what, uint64_t asked, uint64_t have) {
    if (asked >= have)
      throw ModuleError("simulator: kernel '" + program.name +
                        "' is traced in " + what + " " + std::to_string(asked) +
                        ", but the launch has " + std::to_string(have) +
                        ": expected BLOCK:WARP with a " + what + " of 0 to " +
                        std::to_string(have - 1));
  };
  require("block", trace.block, count);
  require("warp", trace.warp, warps);
  std::fprintf(stderr, "trace: kernel '%s', block %llu, warp %u\n",
               program.name.c_str(),
               static_cast<unsigned long long>(trace.block), trace.warp);
}

void Launch::endTrace() const {
  std::fprintf(stderr, "trace: end of kernel '%s', %llu instructions\n",
               program.name.c_str(), static_cast<unsigned long long>(traced));
}

} // namespace attn::sim
