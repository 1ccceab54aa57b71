//===- FakeReplicas.h - Hand-written replicas that share work ---*- C++ -*-===//
//
// The chain of FakeStages as one stage of several replicas. As with K-FAC, the
// first weight's gradient is multiplied by the inverse of a factor, which is a
// running mean of moments. Depending on the placement, some replicas do this
// work for others.
//===----------------------------------------------------------------------===//

#ifndef HFTA_UNITTESTS_FAKE_REPLICAS_H
#define HFTA_UNITTESTS_FAKE_REPLICAS_H

#include "FakeStagesSchedules.h"

#include <functional>

enum class Placement {
  all,      ///< every replica does all work
  balanced, ///< one replica computes the inverse, and broadcasts it to all
  grid,     ///< the replicas of one column of a grid hold the inverse, and
            ///< broadcast the preconditioned gradients along their rows
  local     ///< one replica uses one group's moments, and broadcasts the
            ///< preconditioned gradients to all
};

struct ReplicasOptions {
  Placement placement = Placement::all;
  int64_t replicas = 4;
  int64_t groups = 6;
  uint32_t owner = 0;    ///< replica or column of the grid that inverts
  uint32_t columns = 2;  ///< number of columns of the grid
  uint32_t group = 0;    ///< the group whose moments are used (`local`)
  bool isStaged = false; ///< whether each half of the chain is a stage; the
                         ///< second one has two workers
};

/// A program of replicas. Its tables are members of this object, which must
/// outlive them.
class FakeReplicas : public FakeStages {
public:
  explicit FakeReplicas(const ReplicasOptions &given);

  uint32_t moments, receivedMoments, factor, inverse;

private:
  uint32_t getReplicas() const { return static_cast<uint32_t>(given.replicas); }
  /// Returns the replicas that compute the inverse.
  hfta_replicas getOwners() const;
  void addMemory();
  void addWork();
  /// Returns `list` with the commands that add up moments and precondition.
  std::vector<hfta_command> extend(const std::vector<hfta_command> &list);
  void only(Schedule &to, hfta_replicas replicas,
            const std::function<void()> &body);
  /// Broadcasts the values of a segment from the owners to all replicas, after
  /// the tasks that compute them. `stride` is the distance of copies in bytes,
  /// if they are sent one by one; 0: all copies are sent as one piece.
  void broadcast(Schedule &to, uint32_t segment, uint64_t stride);
  void takeMoments(Schedule &to);
  /// Runs the tasks that need the factor on the replicas that hold it.
  void runWithFactor(Schedule &to);
  void writePreconditioning(Schedule &to);

  ReplicasOptions given;
  uint32_t moment, curvature, invert, precondition, combineMoments;
};

#endif // HFTA_UNITTESTS_FAKE_REPLICAS_H
