//===- ParallelFor.cpp - Independent pieces on several threads --*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ParallelFor.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace attn::detail {

int threadsFor(int64_t pieces, int threads) {
  if (threads <= 0)
    threads = int(std::max(1u, std::thread::hardware_concurrency()));
  return int(std::max<int64_t>(1, std::min<int64_t>(threads, pieces)));
}

void parallelFor(int64_t pieces, int threads,
                 const std::function<void(int64_t, int)> &body) {
  std::atomic<int64_t> next{0};
  std::exception_ptr failure;
  std::mutex failureMutex;
  auto work = [&](int thread) {
    try {
      for (int64_t piece = next++; piece < pieces; piece = next++)
        body(piece, thread);
    } catch (...) {
      next = pieces;
      std::lock_guard<std::mutex> lock(failureMutex);
      if (!failure)
        failure = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threadsFor(pieces, threads); ++thread)
    others.emplace_back(work, thread);
  work(0);
  for (std::thread &other : others)
    other.join();
  if (failure)
    std::rethrow_exception(failure);
}

} // namespace attn::detail
