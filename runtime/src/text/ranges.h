//===- ranges.h - Lists of numbers in messages and tables -------*- C -*-===//

#ifndef HFTA_SRC_TEXT_RANGES_H
#define HFTA_SRC_TEXT_RANGES_H

#include <stdbool.h>
#include <stdint.h>

/// A list of non-negative numbers as text, for example "0 to 2, 5". Numbers
/// stand in the order in which they were added, and consecutive ones form a
/// run, "FIRST to LAST". An empty list is all zeros. When the text has no room
/// for another run, it ends with "...".
typedef struct hfta_ranges {
  char text[128];
  int64_t count;       ///< the number of numbers added
  int64_t first, last; ///< the first and the last number of the last run
  uint32_t length;     ///< the length of the text before the last run
  bool is_full;
} hfta_ranges;

/// Appends a number; does nothing if it equals the last one.
void hfta_ranges_add(hfta_ranges *self, int64_t number);

#endif // HFTA_SRC_TEXT_RANGES_H
