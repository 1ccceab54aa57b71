//===- media.h - Kinds of media ---------------------------------*- C -*-===//

#ifndef HFTA_SRC_STORE_MEDIA_H
#define HFTA_SRC_STORE_MEDIA_H

#include "hfta/store.h"

/// Opens a file, or memory, with room for `options->bytes` bytes. See
/// hfta_medium_open for the errors of a file; HFTA_UNSUPPORTED if memory runs
/// out.
hfta_status hfta_file_medium_open(const hfta_medium_options *options,
                                  hfta_medium **out, hfta_error *error);
hfta_status hfta_memory_medium_open(const hfta_medium_options *options,
                                    hfta_medium **out, hfta_error *error);

/// Opens a layer around the medium `inner`, which the layer owns from then on;
/// after a failure the caller still owns `inner`. `text` has the layer's
/// parameters, which follow "=" in hfta_medium_options and end at a comma or a
/// 0. HFTA_USAGE if they are malformed.
hfta_status hfta_throttled_medium_open(hfta_medium *inner, const char *text,
                                       hfta_medium **out, hfta_error *error);
hfta_status hfta_faulty_medium_open(hfta_medium *inner, const char *text,
                                    hfta_medium **out, hfta_error *error);

/// Returns HFTA_CANNOT_WRITE with the message for a failed read or write of
/// `bytes` bytes at `offset`, because of `reason`.
hfta_status hfta_medium_fail(hfta_error *error, bool is_write, uint64_t offset,
                             uint64_t bytes, const char *reason);

#endif // HFTA_SRC_STORE_MEDIA_H
