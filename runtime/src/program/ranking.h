//===- ranking.h - How well scores separate positives -----------*- C -*-===//

#ifndef HFTA_SRC_PROGRAM_RANKING_H
#define HFTA_SRC_PROGRAM_RANKING_H

#include <stdbool.h>
#include <stdint.h>

/// An element that is a positive or a negative.
typedef struct hfta_ranked {
  double score, weight;
  int64_t number; ///< its position, by which equal scores are ordered
  bool is_positive;
} hfta_ranked;

/// Sorts the elements by score, equal scores by number. No score is NaN.
void hfta_rank(hfta_ranked *elements, int64_t count);

/// Returns the area under the ROC curve of sorted elements: the share, among
/// all pairs of a positive and a negative, of those in which the positive has
/// the higher score; equal scores count half. NaN without positives or
/// negatives.
double hfta_auroc(const hfta_ranked *elements, int64_t count);

/// Returns the sum, over the different scores, of the precision among the
/// elements that have at least this score, times the recall that the elements
/// of this score add. 0 without positives.
double hfta_average_precision(const hfta_ranked *elements, int64_t count);

#endif // HFTA_SRC_PROGRAM_RANKING_H
