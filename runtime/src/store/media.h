//===- media.h - Kinds of media ---------------------------------*- C -*-===//

#ifndef HFTA_SRC_STORE_MEDIA_H
#define HFTA_SRC_STORE_MEDIA_H

#include "hfta/store.h"

hfta_status hfta_file_medium_open(const hfta_medium_options *options,
                                  hfta_medium **out, hfta_error *error);
hfta_status hfta_memory_medium_open(const hfta_medium_options *options,
                                    hfta_medium **out, hfta_error *error);

/// Opens a medium around another one, which it then owns; after a failure the
/// caller still owns the inner one. `text` is the parameter that follows the
/// kind's name and "=", up to a comma or the end. HFTA_USAGE if it can't be
/// parsed.
hfta_status hfta_throttled_medium_open(hfta_medium *inner, const char *text,
                                       hfta_medium **out, hfta_error *error);
hfta_status hfta_faulty_medium_open(hfta_medium *inner, const char *text,
                                    hfta_medium **out, hfta_error *error);

/// Fails with the message that errors of reading and writing begin with.
hfta_status hfta_medium_fail(hfta_error *error, bool is_write, uint64_t offset,
                             uint64_t bytes, const char *reason);

#endif // HFTA_SRC_STORE_MEDIA_H
