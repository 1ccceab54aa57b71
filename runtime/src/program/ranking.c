//===- ranking.c - How well scores separate positives ---------------------===//

#include "program/ranking.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *one, const void *other) {
  const hfta_ranked *a = one, *b = other;
  if (a->score != b->score)
    return a->score < b->score ? -1 : 1;
  return (a->number > b->number) - (a->number < b->number);
}

void hfta_rank(hfta_ranked *elements, int64_t count) {
  qsort(elements, (size_t)count, sizeof(*elements), compare);
}

/// The weights of elements that have the same score.
typedef struct tie {
  int64_t begin, end;
  double positive, negative;
} tie;

/// Finds the elements that have the same score as the one at `begin`.
static tie find_tie(const hfta_ranked *elements, int64_t count, int64_t begin) {
  tie found = {begin, begin, 0, 0};
  for (;
       found.end < count && elements[found.end].score == elements[begin].score;
       ++found.end)
    *(elements[found.end].is_positive ? &found.positive : &found.negative) +=
        elements[found.end].weight;
  return found;
}

double hfta_auroc(const hfta_ranked *elements, int64_t count) {
  // With weights of 1, all sums are whole numbers.
  double positive = 0, negative = 0, twice = 0;
  for (int64_t i = 0; i < count;) {
    tie own = find_tie(elements, count, i);
    twice += own.positive * (2 * negative + own.negative);
    positive += own.positive;
    negative += own.negative;
    i = own.end;
  }
  return positive > 0 && negative > 0 ? twice / (2 * positive * negative) : NAN;
}

double hfta_average_precision(const hfta_ranked *elements, int64_t count) {
  double positive = 0, negative = 0, sum = 0;
  for (int64_t end = count; end > 0;) {
    int64_t begin = end - 1;
    while (begin > 0 && elements[begin - 1].score == elements[begin].score)
      --begin;
    tie own = find_tie(elements, end, begin);
    positive += own.positive;
    negative += own.negative;
    if (own.positive > 0)
      sum += own.positive * (positive / (positive + negative));
    end = begin;
  }
  return positive > 0 ? sum / positive : 0;
}
