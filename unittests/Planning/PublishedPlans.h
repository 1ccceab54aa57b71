//===- PublishedPlans.h - Published profiles and plans ----------*- C++ -*-===//

#ifndef HFTA_UNITTESTS_PLANNING_PUBLISHEDPLANS_H
#define HFTA_UNITTESTS_PLANNING_PUBLISHEDPLANS_H

#include "Hfta/Planning/StageCosts.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace mlir::hfta::planning {

/// Returns a cluster that published plans are for: A, two machines of eight
/// devices; B, sixteen machines of one device; C, the same with slower
/// networks.
Cluster makePublishedCluster(char configuration);

/// Returns the profile of this name from the folder that the environment
/// variable HFTA_PROFILES names; nothing without it, or if the folder lacks the
/// file. A test then skips itself.
std::optional<LayerModel> loadProfile(llvm::StringRef name, int64_t samples);

/// Returns stages that end with these layers, and a last one after them, on
/// these numbers of devices, in the order of the devices' numbers.
llvm::SmallVector<Stage, 4> makeStages(const LayerModel &model,
                                       const Cluster &cluster,
                                       llvm::ArrayRef<std::string> lastLayers,
                                       llvm::ArrayRef<int64_t> replicas);

/// A plan of a published profile, with figures that an independent program
/// computed. Times are in milliseconds.
struct GoldenRow {
  /// Sums over a stage's layers, for the profile's samples.
  struct StageSums {
    double forward, backward, parameterBytes, crossingBytes;
  };

  const char *profile;
  int64_t profileSamples;
  char configuration;
  int64_t batch, samples; // samples of a batch, of a micro-batch
  std::vector<std::string> lastLayers;
  std::vector<int64_t> replicas;
  std::vector<StageSums> sums; // empty: the profile must be read
  double estimate;
  int64_t pivot;
  double half[3]; // latency by policy
  double full[2];
  double speedup;

  Workload getWorkload() const {
    return {batch, batch / samples, CostRule::published};
  }
};

const std::vector<GoldenRow> &getGoldenRows();

/// Compares estimate, recursion and speedup of a row's stages.
void checkGoldenRow(const GoldenRow &row, const StageCosts &costs,
                    llvm::ArrayRef<Stage> stages);

} // namespace mlir::hfta::planning

#endif // HFTA_UNITTESTS_PLANNING_PUBLISHEDPLANS_H
