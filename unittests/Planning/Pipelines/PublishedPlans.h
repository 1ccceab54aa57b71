//===- PublishedPlans.h - Published profiles and plans ----------*- C++ -*-===//

#ifndef HFTA_UNITTESTS_PLANNING_PIPELINES_PUBLISHEDPLANS_H
#define HFTA_UNITTESTS_PLANNING_PIPELINES_PUBLISHEDPLANS_H

#include "Hfta/Planning/Pipelines/StageCosts.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace mlir::hfta::planning {

/// Returns a cluster for which plans were published. A: two machines with eight
/// devices each; B: sixteen machines with one device each; C: like B with
/// slower networks.
Cluster makePublishedCluster(char configuration);

/// Returns the profile named `name` from the folder in the environment variable
/// HFTA_PROFILES. Returns nothing if the variable isn't set or the file doesn't
/// exist; tests then skip themselves.
std::optional<LayerModel> loadProfile(llvm::StringRef name, int64_t samples);

/// Returns the stages of a plan. `lastLayers` names the last layer of each
/// stage except the last one, and `replicas` has the number of devices of each
/// stage. Devices are taken in the order of their numbers.
llvm::SmallVector<Stage, 4> makeStages(const LayerModel &model,
                                       const Cluster &cluster,
                                       llvm::ArrayRef<std::string> lastLayers,
                                       llvm::ArrayRef<int64_t> replicas);

/// A plan for a published profile, with figures that an independent program
/// computed. Times are in milliseconds.
struct GoldenRow {
  /// Sums over the layers of a stage, for `profileSamples` samples.
  struct StageSums {
    double forward, backward, parameterBytes, crossingBytes;
  };

  const char *profile;
  int64_t profileSamples;
  char configuration;
  int64_t batch, samples; // number of samples in a batch, and in a micro-batch
  std::vector<std::string> lastLayers;
  std::vector<int64_t> replicas;
  std::vector<StageSums> sums; // empty: the profile must be read
  double estimate;
  int64_t pivot;
  double half[3]; // latency by InFlightPolicy, with half-duplex links
  double full[2];
  double speedup;

  Workload getWorkload() const {
    return {batch, batch / samples, CostRule::published};
  }
};

const std::vector<GoldenRow> &getGoldenRows();

/// Compares the estimate, the recursion's latency and the speedup of these
/// stages with the figures of `row`.
void checkGoldenRow(const GoldenRow &row, const StageCosts &costs,
                    llvm::ArrayRef<Stage> stages);

} // namespace mlir::hfta::planning

#endif // HFTA_UNITTESTS_PLANNING_PIPELINES_PUBLISHEDPLANS_H
