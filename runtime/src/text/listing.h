//===- listing.h - Lists of names in messages ---------------------*- C -*-===//
//
// Private to the runtime. Messages say which names there are where one is
// missing.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TEXT_LISTING_H
#define HFTA_SRC_TEXT_LISTING_H

#include "hfta/status.h"

#include <stdbool.h>
#include <stddef.h>

/// Items with commas between them: "'a', 'b'". Begins as all zeros. Items that
/// find no room are left out, and those after them; "..." stands for them.
typedef struct hfta_listing {
  char text[256];
  size_t used; ///< bytes of the text, without the final 0
  bool is_cut; ///< whether items are left out
} hfta_listing;

/// Adds an item, which `format` describes as printf's does.
void hfta_listing_add(hfta_listing *listing, const char *format, ...)
    HFTA_PRINTF(2, 3);

#endif // HFTA_SRC_TEXT_LISTING_H
