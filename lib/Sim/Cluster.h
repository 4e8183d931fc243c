//===- Cluster.h - The barrier of a cluster ----------------------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIM_CLUSTER_H
#define ATTN_LIB_SIM_CLUSTER_H

#include "Clock.h"

#include <cstdint>
#include <string>

namespace attn::sim {

class Builder;
class Cluster;
class Warp;
struct Inst;

/// barrier.cluster (PTX ISA 9.7.13.4): every thread of the cluster that has not
/// ended arrives, then waits.
class ClusterBarrier {
public:
  void reset();
  void arrive(Warp &warp, const Inst &inst, bool relaxed);
  /// Stops the warp until all have arrived.
  void wait(Warp &warp, const Inst &inst, bool relaxed);
  void warpEnded(Cluster &cluster);
  std::string describe(Cluster &cluster) const;

private:
  void completeIfFull(Cluster &cluster);

  uint32_t phase = 0; ///< that have completed
  Clock arrivals, completed;
};

void decodeClusterBarrier(Builder &builder);

} // namespace attn::sim

#endif // ATTN_LIB_SIM_CLUSTER_H
