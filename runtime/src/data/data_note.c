//===- data_note.c - Messages about data that are used nevertheless -------===//

#include "data/data_source.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hfta_status hfta_data_note(hfta_data_notes *notes, hfta_error *error,
                           const char *format, ...) {
  char text[sizeof(((hfta_error *)0)->message)];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  char *copy = strdup(text);
  char **texts =
      copy ? realloc(notes->texts, (notes->count + 1) * sizeof(*texts)) : NULL;
  if (!texts) {
    free(copy);
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for messages");
  }
  notes->texts = texts;
  texts[notes->count++] = copy;
  return HFTA_OK;
}
