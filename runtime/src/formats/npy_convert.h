//===- npy_convert.h - Arrays that aren't stored as they are read -*- C -*-===//

#ifndef HFTA_SRC_FORMATS_NPY_CONVERT_H
#define HFTA_SRC_FORMATS_NPY_CONVERT_H

#include "hfta/npy.h"

/// Converts elements as hfta_npy_convert does, into memory from malloc that the
/// caller frees; after a failure `*out` is NULL.
hfta_status hfta_npy_unpack(const hfta_npy_header *header, const void *stored,
                            const char *path, void **out, hfta_error *error);

#endif // HFTA_SRC_FORMATS_NPY_CONVERT_H
