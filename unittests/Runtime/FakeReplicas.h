//===- FakeReplicas.h - Hand-written replicas that share work ---*- C++ -*-===//
//
// The chain of FakeStages as one stage of several replicas. As preconditioners
// do, it multiplies the first weight's gradient by an inverse: that of a factor
// that is a mean of moments. Some replicas do so for others.
//===----------------------------------------------------------------------===//

#ifndef HFTA_UNITTESTS_FAKE_REPLICAS_H
#define HFTA_UNITTESTS_FAKE_REPLICAS_H

#include "FakeStagesSchedules.h"

#include <functional>

enum class Placement {
  all,      ///< every replica does everything
  balanced, ///< one replica inverts, and broadcasts the inverse to all
  grid,     ///< a column holds inverses, and broadcasts the preconditioned
            ///< gradients along the rows
  local     ///< one replica keeps a group's moments to itself, and broadcasts
            ///< its results to all
};

struct ReplicasOptions {
  Placement placement = Placement::all;
  int64_t replicas = 4;
  int64_t groups = 6;
  uint32_t owner = 0;    ///< the replica, or the column of the grid, that
                         ///< inverts
  uint32_t columns = 2;  ///< the number of the grid's columns
  uint32_t group = 0;    ///< the group whose moments are taken
  bool isStaged = false; ///< whether each half of the chain is a stage, the
                         ///< second one with two workers
};

/// A program of replicas, which uses this object's tables.
class FakeReplicas : public FakeStages {
public:
  explicit FakeReplicas(const ReplicasOptions &given);

  uint32_t moments, receivedMoments, factor, inverse;

private:
  uint32_t getReplicas() const { return static_cast<uint32_t>(given.replicas); }
  /// Returns the replicas that invert.
  hfta_replicas getOwners() const;
  void addMemory();
  void addWork();
  /// Adds the moments of each micro-batch, and the preconditioning.
  std::vector<hfta_command> extend(const std::vector<hfta_command> &list);
  void only(Schedule &to, hfta_replicas replicas,
            const std::function<void()> &body);
  /// Broadcasts the values of each copy from the owners to all, once they are
  /// computed.
  void broadcast(Schedule &to, uint32_t segment, uint64_t stride);
  void takeMoments(Schedule &to);
  /// Runs the tasks that need the factor, on the replicas that hold it.
  void runWithFactor(Schedule &to);
  void writePreconditioning(Schedule &to);

  ReplicasOptions given;
  uint32_t moment, curvature, invert, precondition, combineMoments;
};

#endif // HFTA_UNITTESTS_FAKE_REPLICAS_H
