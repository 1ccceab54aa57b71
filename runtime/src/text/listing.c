//===- listing.c - Lists of names in messages -----------------------------===//

#include "text/listing.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/// Stands for items that are left out, with the bytes that are kept for it.
#define MORE "..."
enum { MORE_BYTES = sizeof(", " MORE) };

void hfta_listing_add(hfta_listing *listing, const char *format, ...) {
  if (listing->is_cut)
    return;
  char item[sizeof(listing->text)];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(item, sizeof(item), format, arguments);
  va_end(arguments);
  const char *comma = listing->used > 0 ? ", " : "";
  size_t left = sizeof(listing->text) - listing->used;
  listing->is_cut =
      length < 0 || strlen(comma) + (size_t)length + MORE_BYTES > left;
  listing->used += (size_t)snprintf(listing->text + listing->used, left, "%s%s",
                                    comma, listing->is_cut ? MORE : item);
}
