//===- BlockListTest.cpp - Lists of key tiles against the mask ------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The lists that a generated kernel writes, on the simulator, against the
// classes of all tiles by the oracle: equal, neither wrong nor pessimistic.
// ATTN_MASK_CASES says for how many random masks, ATTN_MASK_SEED for which.
//
//===----------------------------------------------------------------------===//

#include "../Analysis/MaskValues.h"

#include "attn/Pipelines/Compile.h"
#include "attn/Runtime/Launch.h"

#include <gtest/gtest.h>

#include <cstring>
#include <iostream>

using namespace attn;
using namespace attn::test;

namespace {

constexpr int64_t headDim = 16;

/// First keys in rising order.
struct TileLists {
  std::vector<int32_t> full, partial;
};

bool operator==(const TileLists &lhs, const TileLists &rhs) {
  return lhs.full == rhs.full && lhs.partial == rhs.partial;
}

/// The mask of a problem, compiled, with values for what it reads.
class ListRun {
public:
  ListRun(const Package &package, Values &values, Lengths lengths)
      : package(package), kernel(package.kernels.back()), lengths(lengths),
        device(openSimulator()), loaded(package, *device) {
    arguments.batch = batch;
    arguments.qLen = lengths.q;
    arguments.kLen = lengths.k;
    // Nothing reads or writes these here.
    constexpr DevicePtr nowhere = 4096;
    for (TensorView *view : {&arguments.q, &arguments.k, &arguments.v,
                             &arguments.o, &arguments.lse}) {
      bool isLse = view == &arguments.lse;
      int64_t row = isLse ? 1 : headDim;
      int64_t rows = std::max(lengths.q, lengths.k);
      *view = {nowhere, heads * rows * row, rows * row, row};
    }
    for (const Param &param : package.problem.params)
      arguments.params[param.name] =
          ParamValue::ofInt(values.inputs.params.at(param.name));
    for (const Tensor &tensor : package.problem.tensors)
      bind(tensor.name, values.bindings.tensors.at(tensor.name));
  }

  /// Of each query tile of each list, as the kernel writes them.
  std::vector<TileLists> run(std::optional<int64_t> grid) {
    int64_t bytes = auxiliaryBytes(package, arguments, device->info());
    DevicePtr memory = device->allocate(bytes);
    device->fill32(memory, 0xdeadbeef, bytes);
    AuxiliaryPlan plan =
        planAuxiliaries(package, arguments, device->info(), memory, bytes);
    if (grid)
      for (AuxiliaryLaunch &launch : plan.launches)
        launch.config.grid[0] = *grid;
    loaded.build(plan);
    device->synchronize();
    std::vector<int32_t> words(bytes / sizeof(int32_t));
    device->copyFromDevice(words.data(), memory, bytes);
    return read(words);
  }

  int64_t tilesOf(int64_t length, int64_t size) {
    return (length + size - 1) / size;
  }

private:
  void bind(const std::string &name, const HostTensor &data) {
    int64_t elements = 1;
    for (int64_t dim : data.dims)
      elements *= dim;
    int64_t bytes = elements * byteSize(data.type);
    // An empty tensor has an address all the same.
    DevicePtr address = device->allocate(std::max<int64_t>(bytes, 1));
    device->copyToDevice(address, data.data, bytes);
    arguments.tensors[name] = {address, elements};
  }

  std::vector<TileLists> read(const std::vector<int32_t> &words) {
    constexpr int64_t header = 2;
    int64_t tiles = tilesOf(lengths.k, kernel.tileN);
    std::vector<TileLists> lists;
    int64_t count = 1;
    for (const WorkFactor &factor : kernel.workItems)
      count *= factor.extent == "batch"   ? batch
               : factor.extent == "heads" ? heads
               : factor.extent == "q_len" ? tilesOf(lengths.q, factor.divisor)
                                          : heads / group;
    for (int64_t row = 0; row < count * (header + tiles);
         row += header + tiles) {
      TileLists list;
      int64_t full = words[row], partial = words[row + 1];
      EXPECT_LE(0, std::min(full, partial));
      EXPECT_LE(full + partial, tiles);
      auto first = words.begin() + row + header;
      list.partial.assign(first, first + partial);
      list.full.assign(first + tiles - full, first + tiles);
      // Ranges beside each other are not in the order of their keys.
      std::sort(list.full.begin(), list.full.end());
      std::sort(list.partial.begin(), list.partial.end());
      lists.push_back(list);
    }
    return lists;
  }

  const Package &package;
  const Kernel &kernel;
  Lengths lengths;
  std::unique_ptr<Device> device;
  LoadedPackage loaded;
  LaunchArguments arguments;
};

/// The same by the oracle, for one query tile.
TileLists expectedLists(const Table &table, Lengths lengths, int64_t firstRow,
                        const Kernel &kernel) {
  TileLists lists;
  for (int64_t key = 0; key < lengths.k; key += kernel.tileN) {
    bool all = key + kernel.tileN <= lengths.k, some = false;
    int64_t lastRow = std::min(firstRow + kernel.tileM, lengths.q);
    for (int64_t i = firstRow; i < lastRow; ++i)
      for (int64_t k = key; k < std::min(key + kernel.tileN, lengths.k); ++k) {
        all &= table[i][k] != 0;
        some |= table[i][k] != 0;
      }
    if (some)
      (all ? lists.full : lists.partial).push_back(static_cast<int32_t>(key));
  }
  return lists;
}

bool isListedBy(const Kernel &kernel, const char *extent) {
  for (const WorkFactor &factor : kernel.workItems)
    if (factor.extent == extent)
      return true;
  return false;
}

void expectLists(const Package &package, RandomMask &random, Lengths lengths) {
  const Kernel &kernel = package.kernels.back();
  Values values(random, lengths);
  Rule rule(package.problem.mask, package.problem, values.bindings);
  RuleRunner runner(rule);
  ListRun run(package, values, lengths);
  std::vector<TileLists> lists = run.run(std::nullopt);
  // Any grid writes the same.
  ASSERT_TRUE(run.run(2) == lists);
  int64_t offset =
      package.problem.align == Alignment::TopLeft ? 0 : lengths.k - lengths.q;
  int64_t queryTiles = run.tilesOf(lengths.q, kernel.tileM);
  size_t next = 0;
  for (int64_t b = 0; b < (isListedBy(kernel, "batch") ? batch : 1); ++b)
    for (int64_t h = 0; h < heads; ++h) {
      if (!isListedBy(kernel, "heads") &&
          (h % group != 0 || (h > 0 && !isListedBy(kernel, "kv_heads"))))
        continue;
      Table table = oracleTable(runner, lengths, offset, b, h);
      for (int64_t tile = 0; tile < queryTiles; ++tile) {
        ASSERT_LT(next, lists.size());
        TileLists expected =
            expectedLists(table, lengths, tile * kernel.tileM, kernel);
        ASSERT_EQ(lists[next].full, expected.full) << "query tile " << tile;
        ASSERT_EQ(lists[next].partial, expected.partial)
            << "query tile " << tile;
        ++next;
      }
    }
  EXPECT_EQ(next, lists.size());
}

TEST(BlockList, IsTheMaskTileByTile) {
  constexpr unsigned masks = 60, maxDepth = 4;
  unsigned first = option("ATTN_MASK_SEED", 0);
  unsigned end = first + option("ATTN_MASK_CASES", masks);
  std::cout << "seeds " << first << " .. " << end - 1 << '\n';
  unsigned listed = 0;
  for (unsigned seed = first; seed < end; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomMask random(seed);
    Problem problem = problemWithMask(random.mask(random.below(maxDepth)));
    problem.headDimQK = problem.headDimV = headDim;
    problem.schedule.kind = ScheduleKind::Fa2;
    problem.schedule.tileM = 64;
    problem.schedule.tileN = 16;
    if (random.below(3) == 0)
      problem.align = Alignment::TopLeft;
    std::string diagnostics;
    std::optional<Package> package = compile(problem, {}, diagnostics);
    ASSERT_TRUE(package) << diagnostics;
    if (package->kernels.size() == 1)
      continue; // closed ranges, or nothing to list
    ++listed;
    for (Lengths lengths :
         {Lengths{1, 1}, Lengths{40, 100}, Lengths{70, 33}, Lengths{5, 0}}) {
      SCOPED_TRACE("q_len " + std::to_string(lengths.q) + ", k_len " +
                   std::to_string(lengths.k));
      expectLists(*package, random, lengths);
      if (::testing::Test::HasFatalFailure())
        return;
    }
  }
  // A third of the random masks hold something opaque.
  EXPECT_LE((end - first) / 10, listed);
}

} // namespace
