//===- FakeReplicas.h - Hand-written replicas that share work ---*- C++ -*-===//
//
// The chain of FakeStages as one stage of several replicas, of which the first
// weight's gradient is multiplied with an inverse, as preconditioners do: of a
// factor that is a mean of moments. Some replicas do so for others.
//===----------------------------------------------------------------------===//

#ifndef HFTA_UNITTESTS_FAKE_REPLICAS_H
#define HFTA_UNITTESTS_FAKE_REPLICAS_H

#include "FakeStagesSchedules.h"

#include <functional>

enum class Placement {
  all,      ///< every replica does everything
  balanced, ///< one inverts, and gives all the inverse
  grid,     ///< a column holds inverses, and gives rows what it makes of them
  local     ///< one has a group's moments alone, and gives all what it makes
};

struct ReplicasOptions {
  Placement placement = Placement::all;
  int64_t replicas = 4;
  int64_t groups = 6;
  uint32_t owner = 0;    ///< replica, or column of the grid
  uint32_t columns = 2;  ///< of the grid
  uint32_t group = 0;    ///< whose moments are taken
  bool isStaged = false; ///< the chain's halves are stages, of two workers the
                         ///< second one
};

/// Its tables live as long.
class FakeReplicas : public FakeStages {
public:
  explicit FakeReplicas(const ReplicasOptions &given);

  uint32_t moments, receivedMoments, factor, inverse;

private:
  uint32_t getReplicas() const { return static_cast<uint32_t>(given.replicas); }
  /// Those that invert.
  hfta_replicas getOwners() const;
  void addMemory();
  void addWork();
  /// With moments of each micro-batch, and what is made of them.
  std::vector<hfta_command> extend(const std::vector<hfta_command> &list);
  void only(Schedule &to, hfta_replicas replicas,
            const std::function<void()> &body);
  /// Of each copy, from the owners to all, after what was computed.
  void broadcast(Schedule &to, uint32_t segment, uint64_t stride);
  void takeMoments(Schedule &to);
  /// By those that hold it.
  void runWithFactor(Schedule &to);
  void writePreconditioning(Schedule &to);

  ReplicasOptions given;
  uint32_t moment, curvature, invert, precondition, combineMoments;
};

#endif // HFTA_UNITTESTS_FAKE_REPLICAS_H
