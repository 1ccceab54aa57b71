//===- ranges.h - Lists of numbers in messages and tables -------*- C -*-===//

#ifndef HFTA_SRC_TEXT_RANGES_H
#define HFTA_SRC_TEXT_RANGES_H

#include <stdbool.h>
#include <stdint.h>

/// Numbers from 0 on as "0 to 2, 5", in the order in which they are added; at
/// first all zeros. Where there is no room for all it ends with "...".
typedef struct hfta_ranges {
  char text[128];
  int64_t count;       ///< of the numbers that were added
  int64_t first, last; ///< of the last run
  uint32_t length;     ///< of the text without the last run
  bool is_full;
} hfta_ranges;

/// A number that follows itself is one.
void hfta_ranges_add(hfta_ranges *self, int64_t number);

#endif // HFTA_SRC_TEXT_RANGES_H
