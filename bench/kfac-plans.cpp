//===- kfac-plans.cpp - Published runs of K-FAC, replayed -----------------===//
//
// Prints as JSON for kfac_plans.py: the times of published runs of K-FAC, the
// times that the model predicts for them, and the predicted times of our plans;
// and how long it takes to make a plan for many factors and ranks.
//===----------------------------------------------------------------------===//

#include "PublishedFactors.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace mlir::hfta::planning;

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

/// Returns the seconds that a function takes.
static double measure(llvm::function_ref<void()> act) {
  auto begin = std::chrono::steady_clock::now();
  act();
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - begin;
  return seconds.count();
}

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
