//===- JobMetrics.h - The metrics of a job ----------------------*- C++ -*-===//

#ifndef HFTA_DIALECT_HFTA_JOB_JOBMETRICS_H
#define HFTA_DIALECT_HFTA_JOB_JOBMETRICS_H

#include "mlir/Support/LLVM.h"

#include <cstdint>
#include <string>

namespace mlir::hfta {

/// Returns the words for kinds of metrics, and for averages over their classes.
/// A word's index is its number in the enum hfta_metric_kind or
/// hfta_metric_average.
llvm::ArrayRef<llvm::StringRef> getMetricKindNames();
llvm::ArrayRef<llvm::StringRef> getMetricAverageNames();

/// A metric. Evaluations leave values of each element in variables for the
/// purpose `evaluation_metric`; hfta_metric says what follows from them.
struct JobMetric {
  std::string name;     ///< in logs and tables: "accuracy", "f1_micro"
  uint32_t kind = 0;    ///< an index into getMetricKindNames()
  uint32_t average = 0; ///< an index into getMetricAverageNames()
  /// Whether each class has elements of its own, with labels 0 and 1.
  bool isLabeled = false;
  /// Whether it is a share, which programs print in percent.
  bool isShare = false;
  bool isHigherBetter = false; ///< whether its larger values are better
  int64_t classes = 1;

  /// Returns whether it follows from each sample's sums of values and of
  /// weights.
  bool isMean() const;
  /// Returns whether it is a matrix, by which copies can't be compared.
  bool isMatrix() const;
};

/// The values that an evaluation leaves for a metric.
enum class MetricColumn {
  labels,  ///< in a mean, each sample's sum of values times weights
  guesses, ///< guesses, predictions or scores; a mean has none
  weights  ///< weights of elements; in a mean, each sample's sum of weights
};

/// Returns the name by which the purpose of the column's variable is
/// distinguished from those of others. Weights are the same for all metrics of
/// means, and for all others.
std::string getMetricColumnName(const JobMetric &metric, MetricColumn column);

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_JOB_JOBMETRICS_H
