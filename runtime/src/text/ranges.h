//===- ranges.h - Lists of numbers in messages and tables -------*- C -*-===//

#ifndef HFTA_SRC_TEXT_RANGES_H
#define HFTA_SRC_TEXT_RANGES_H

#include <stdbool.h>
#include <stdint.h>

/// A list of numbers from 0 on as text, "0 to 2, 5", in the order in which they
/// are added. It starts as all zeros. If there is not enough room, the text
/// ends with "...".
typedef struct hfta_ranges {
  char text[128];
  int64_t count;       ///< how many numbers were added
  int64_t first, last; ///< the bounds of the last run
  uint32_t length;     ///< the length of the text without the last run
  bool is_full;
} hfta_ranges;

/// Adds a number. A repetition of the last number is ignored.
void hfta_ranges_add(hfta_ranges *self, int64_t number);

#endif // HFTA_SRC_TEXT_RANGES_H
