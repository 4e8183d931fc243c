//===- ControlFlow.cpp - Where divergent lanes meet again -----------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lanes that part at a branch run one side after the other until the branch's
// immediate post-dominator. Post-dominators by the iterative scheme of Cooper,
// Harvey and Kennedy ("A Simple, Fast Dominance Algorithm") on basic blocks of
// the reversed graph, with one virtual end.
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"

#include <algorithm>

namespace attn::sim {
namespace {

constexpr uint32_t unknown = ~uint32_t(0);

class PostDominators {
public:
  explicit PostDominators(Program &program) : program(program) {}

  void run() {
    findBlocks();
    findEdges();
    orderBlocks();
    iterate();
    for (uint32_t block = 0; block < end; ++block) {
      Inst &last = program.code[starts[block + 1] - 1];
      if (last.flow == Flow::Branch || last.flow == Flow::Table)
        last.join = parent[block] == unknown || parent[block] == end
                        ? noTarget
                        : starts[parent[block]];
    }
  }

private:
  void findBlocks() {
    size_t size = program.code.size();
    std::vector<bool> leader(size + 1, false);
    leader[0] = leader[size] = true;
    for (size_t i = 0; i < size; ++i) {
      const Inst &inst = program.code[i];
      if (inst.flow != Flow::Next)
        leader[i + 1] = true;
      if (inst.flow == Flow::Branch)
        leader[inst.target] = true;
      if (inst.flow == Flow::Table)
        for (uint32_t target : program.branchTables[inst.imm])
          leader[target] = true;
    }
    blockOf.resize(size + 1);
    for (size_t i = 0; i <= size; ++i) {
      if (leader[i])
        starts.push_back(static_cast<uint32_t>(i));
      blockOf[i] = static_cast<uint32_t>(starts.size() - 1);
    }
    end = static_cast<uint32_t>(starts.size() - 1);
  }

  void findEdges() {
    successors.resize(end + 1);
    predecessors.resize(end + 1);
    for (uint32_t block = 0; block < end; ++block) {
      const Inst &last = program.code[starts[block + 1] - 1];
      // A guarded exit only takes lanes away: the others go on together.
      bool falls = last.flow == Flow::Next || last.guarded;
      if (falls)
        connect(block, block + 1);
      else if (last.flow == Flow::Exit)
        connect(block, end);
      if (last.flow == Flow::Branch)
        connect(block, blockOf[last.target]);
      if (last.flow == Flow::Table)
        for (uint32_t target : program.branchTables[last.imm])
          connect(block, blockOf[target]);
    }
  }

  void connect(uint32_t from, uint32_t to) {
    successors[from].push_back(to);
    predecessors[to].push_back(from);
  }

  /// Post-order of the reversed graph from the end.
  void orderBlocks() {
    number.assign(end + 1, unknown);
    std::vector<std::pair<uint32_t, size_t>> stack = {{end, 0}};
    std::vector<bool> seen(end + 1, false);
    seen[end] = true;
    while (!stack.empty()) {
      auto &[block, next] = stack.back();
      if (next < predecessors[block].size()) {
        uint32_t before = predecessors[block][next++];
        if (!seen[before]) {
          seen[before] = true;
          stack.push_back({before, 0});
        }
        continue;
      }
      number[block] = static_cast<uint32_t>(order.size());
      order.push_back(block);
      stack.pop_back();
    }
    std::reverse(order.begin(), order.end());
  }

  uint32_t intersect(uint32_t a, uint32_t b) const {
    while (a != b) {
      while (number[a] < number[b])
        a = parent[a];
      while (number[b] < number[a])
        b = parent[b];
    }
    return a;
  }

  void iterate() {
    parent.assign(end + 1, unknown);
    parent[end] = end;
    for (bool changed = true; changed;) {
      changed = false;
      for (uint32_t block : order) {
        if (block == end)
          continue;
        uint32_t meet = unknown;
        // Blocks that never end (unknown number) have no say.
        for (uint32_t after : successors[block])
          if (number[after] != unknown && parent[after] != unknown)
            meet = meet == unknown ? after : intersect(meet, after);
        if (meet != parent[block]) {
          parent[block] = meet;
          changed = true;
        }
      }
    }
  }

  Program &program;
  std::vector<uint32_t> starts, blockOf, number, order, parent;
  std::vector<std::vector<uint32_t>> successors, predecessors;
  uint32_t end = 0;
};

} // namespace

void setReconvergencePoints(Program &program) { PostDominators(program).run(); }

} // namespace attn::sim
