//===- MetricValuesTest.cpp - Metrics of labels and scores ----------------===//

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

extern "C" {
#include "program/metric_values.h"
}

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Samples {
  std::vector<double> labels, guesses, weights;
};

/// Computes a metric of samples that are added in parts of `part` samples.
double find(hfta_metric metric, const Samples &samples, int64_t part = 1000) {
  hfta_error error = {};
  std::vector<double> sums(hfta_metric_sum_count(&metric) + 1);
  hfta_metric_state state = {};
  state.sums = sums.data();
  hfta_metric_clear(&metric, &state);
  auto count = static_cast<int64_t>(samples.labels.size()) / metric.elements;
  for (int64_t i = 0; i < count; i += part) {
    hfta_metric_columns columns = {
        samples.labels.data() + i * metric.elements,
        samples.guesses.data() + i * hfta_metric_guess_count(&metric),
        samples.weights.data() + i * metric.elements};
    EXPECT_EQ(hfta_metric_add(&metric, &state, &columns,
                              std::min(part, count - i), &error),
              HFTA_OK);
  }
  double value = 0;
  EXPECT_EQ(hfta_metric_value(&metric, &state, &value, &error), HFTA_OK);
  std::free(state.records);
  return value;
}

hfta_metric makeMetric(hfta_metric_kind kind, int64_t classes,
                       bool isLabeled = false,
                       hfta_metric_average average = HFTA_AVERAGE_MACRO) {
  hfta_metric metric = {};
  metric.name = "metric";
  metric.kind = kind;
  metric.average = average;
  metric.is_labeled = isLabeled;
  metric.elements = isLabeled ? classes : 1;
  metric.classes = classes;
  return metric;
}

TEST(MetricValues, NoElementHasNoValue) {
  const Samples none, ignored = {{1, 0}, {1, 0, 0, 0}, {0, 0}};
  for (int kind = HFTA_METRIC_RECALL; kind <= HFTA_METRIC_AVERAGE_PRECISION;
       ++kind)
    for (int average = 0; average <= HFTA_AVERAGE_WEIGHTED; ++average) {
      hfta_metric metric =
          makeMetric(static_cast<hfta_metric_kind>(kind), 2, false,
                     static_cast<hfta_metric_average>(average));
      EXPECT_TRUE(std::isnan(find(metric, none))) << kind;
      EXPECT_TRUE(std::isnan(find(metric, ignored))) << kind;
    }
}

TEST(MetricValues, LabelsThatAreNoClassDontCount) {
  hfta_metric recall = makeMetric(HFTA_METRIC_RECALL, 2);
  EXPECT_EQ(find(recall, {{1, -100, 2, nan}, {1, 0, 0, 0}, {1, 1, 1, 1}}), 1);
  // A guess is none of the classes if its scores are NaN.
  EXPECT_EQ(find(recall, {{1, 1, 0}, {1, 2, 0}, {1, 1, 1}}), 0.75);
  hfta_metric precision = makeMetric(HFTA_METRIC_PRECISION, 2);
  EXPECT_EQ(find(precision, {{1, 1, 0}, {1, 2, 0}, {1, 1, 1}}), 1);
}

TEST(MetricValues, RanksOfOneKindHaveNoArea) {
  hfta_metric area = makeMetric(HFTA_METRIC_AUROC, 2, true);
  // The second class alone has positives and negatives.
  EXPECT_EQ(find(area, {{1, 1, 1, 0}, {5, 4, 3, 4}, {1, 1, 1, 1}}), 0.5);
  EXPECT_TRUE(
      std::isnan(find(area, {{1, 0, 1, 0}, {5, 4, 3, 4}, {1, 1, 1, 1}})));
  hfta_metric precision = makeMetric(HFTA_METRIC_AVERAGE_PRECISION, 1, true);
  EXPECT_EQ(find(precision, {{0, 0}, {1, 2}, {1, 1}}), 0);
}

TEST(MetricValues, ScoresThatArentNumbersHaveNoRank) {
  for (hfta_metric_kind kind :
       {HFTA_METRIC_AUROC, HFTA_METRIC_AVERAGE_PRECISION})
    for (hfta_metric_average average :
         {HFTA_AVERAGE_MACRO, HFTA_AVERAGE_MICRO, HFTA_AVERAGE_WEIGHTED}) {
      EXPECT_TRUE(std::isnan(find(makeMetric(kind, 1, true, average),
                                  {{1, 0, 1}, {1, nan, 0}, {1, 1, 1}})));
      EXPECT_TRUE(std::isnan(find(makeMetric(kind, 2, false, average),
                                  {{1, 0}, {1, 0, 2, nan}, {1, 1}})));
      // An ignored score may be anything.
      EXPECT_EQ(find(makeMetric(kind, 1, true, average),
                     {{1, 0, 0}, {1, nan, 0}, {1, 0, 1}}),
                1);
    }
}

TEST(MetricValues, EqualLabelsHaveNoVariance) {
  hfta_metric r2 = makeMetric(HFTA_METRIC_R2, 1, true);
  EXPECT_EQ(find(r2, {{0.1, 0.1}, {0.1, 0.1}, {1, 1}}), 1);
  EXPECT_EQ(find(r2, {{0.1, 0.1}, {0.1, 0.2}, {1, 1}}), 0);
  EXPECT_TRUE(std::isnan(find(r2, {{0.1, 0.1}, {0.1, nan}, {1, 1}})));
  EXPECT_TRUE(std::isnan(find(r2, {{1}, {1}, {1}})));
  // Sums about the first label keep the digits of a far mean.
  EXPECT_NEAR(
      find(r2, {{1e9, 1e9 + 1, 1e9 + 2}, {1e9, 1e9 + 1, 1e9}, {1, 1, 1}}), -1,
      1e-9);
}

TEST(MetricValues, PartsDontMatter) {
  Samples samples;
  for (int i = 0; i < 101; ++i) {
    samples.labels.push_back(i % 7 == 0 ? 1 : 0);
    samples.guesses.push_back(std::sin(i % 40));
    samples.weights.push_back(i % 5 * 0.1);
  }
  for (hfta_metric_kind kind :
       {HFTA_METRIC_F1, HFTA_METRIC_R2, HFTA_METRIC_AUROC,
        HFTA_METRIC_AVERAGE_PRECISION}) {
    hfta_metric metric = makeMetric(kind, 1, true);
    for (int64_t part : {1, 3, 100})
      EXPECT_EQ(find(metric, samples, part), find(metric, samples));
  }
}

} // namespace
