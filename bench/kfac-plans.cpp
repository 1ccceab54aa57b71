//===- kfac-plans.cpp - Simulates published runs of K-FAC -----------------===//
//
// Prints JSON for kfac_plans.py: for each published network
// (PublishedFactors.h) the published times of a step, the times that the cost
// model predicts for the published plans, and those that it predicts for Hfta's
// plans; and how long planning takes for many factors and ranks.
//===----------------------------------------------------------------------===//

#include "Kfac/PublishedFactors.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace mlir::hfta::planning;

/// Plans a network and returns the predicted step: "seconds", "sent" (the
/// number of inverses that are broadcast) and "owners" (1 plus the highest rank
/// that broadcasts one).
static llvm::json::Object getOurs(const PublishedNetwork &network,
                                  bool isOverlapped) {
  KfacModel model = network.getModel();
  KfacCosts costs = getPublishedCosts(isOverlapped);
  KfacPlan plan = planBalanced(model, costs, kPublishedRanks);
  int64_t sent = 0, owners = 0;
  for (int64_t owner : plan.owners) {
    sent += owner != kEveryRank;
    owners = std::max(owners, owner + 1);
  }
  return llvm::json::Object{
      {"seconds", simulateStep(model, costs, plan, KfacStep::inverses).seconds},
      {"sent", sent},
      {"owners", owners}};
}

/// Returns a network's published and predicted times, in seconds.
static llvm::json::Object getRuns(const PublishedNetwork &network) {
  llvm::json::Array published, replayed;
  for (size_t plan = 0; plan < 3; ++plan) {
    published.push_back(network.published[plan]);
    replayed.push_back(replay(network, kPublishedPlans[plan]).seconds);
  }
  return llvm::json::Object{
      {"name", network.name},
      {"factors", 2 * static_cast<int64_t>(network.layers.size())},
      {"published", std::move(published)},
      {"replayed", std::move(replayed)},
      {"goal", network.goal},
      {"ours", getOurs(network, /*isOverlapped=*/false)},
      {"overlapped", getOurs(network, /*isOverlapped=*/true)}};
}

/// Returns how many seconds a call of the function takes.
static double measure(llvm::function_ref<void()> act) {
  auto begin = std::chrono::steady_clock::now();
  act();
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - begin;
  return seconds.count();
}

/// Returns how many seconds planning takes for a large model on 1024 ranks: the
/// plan "balanced" alone, and the choice among all plans.
static llvm::json::Object measureLargeModel() {
  constexpr int64_t kRanks = 1024;
  KfacModel model = makeLargeModel();
  KfacCosts costs = getPublishedCosts(/*isOverlapped=*/true);
  costs.reduceFactors = {9.29e-4, 1.4335e-9};
  costs.reduceGradients = costs.reduceFactors;
  double balanced = measure([&] { planBalanced(model, costs, kRanks); });
  double chosen = measure([&] {
    llvm::cantFail(chooseKfacPlan(model, costs, kRanks, /*memory=*/0));
  });
  return llvm::json::Object{
      {"factors", static_cast<int64_t>(model.factors.size())},
      {"ranks", kRanks},
      {"balanced", balanced},
      {"chosen", chosen}};
}

int main() {
  llvm::json::Array networks;
  for (const PublishedNetwork &network : getPublishedNetworks())
    networks.push_back(getRuns(network));
  llvm::json::Object figures{{"networks", std::move(networks)},
                             {"large", measureLargeModel()}};
  llvm::outs() << llvm::json::Value(std::move(figures)) << "\n";
  return 0;
}
