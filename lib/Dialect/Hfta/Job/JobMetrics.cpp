//===- JobMetrics.cpp - The metrics of a job ------------------------------===//

#include "Hfta/Dialect/Hfta/Job/JobMetrics.h"

#include "hfta/program.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;
using namespace mlir::hfta;

ArrayRef<StringRef> hfta::getMetricKindNames() {
  static constexpr StringRef names[] = {
      "mean",      "exp_mean", "recall", "precision",        "f1",
      "confusion", "r2",       "auroc",  "average_precision"};
  static_assert(std::size(names) == HFTA_METRIC_AVERAGE_PRECISION + 1);
  return names;
}

ArrayRef<StringRef> hfta::getMetricAverageNames() {
  static constexpr StringRef names[] = {"macro", "micro", "weighted"};
  static_assert(std::size(names) == HFTA_AVERAGE_WEIGHTED + 1);
  return names;
}

bool JobMetric::isMean() const {
  return kind == HFTA_METRIC_MEAN || kind == HFTA_METRIC_EXP_MEAN;
}

bool JobMetric::isMatrix() const { return kind == HFTA_METRIC_CONFUSION; }

std::string hfta::getMetricColumnName(const JobMetric &metric,
                                      MetricColumn column) {
  switch (column) {
  case MetricColumn::labels:
    return metric.name + (metric.isMean() ? "/sums" : "/labels");
  case MetricColumn::guesses:
    return metric.name + "/guesses";
  case MetricColumn::weights:
    return metric.isMean() ? "weight_sums" : "weights";
  }
  llvm_unreachable("all columns are listed");
}
