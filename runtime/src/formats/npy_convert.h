//===- npy_convert.h - Arrays that aren't stored as they are read -*- C -*-===//

#ifndef HFTA_SRC_FORMATS_NPY_CONVERT_H
#define HFTA_SRC_FORMATS_NPY_CONVERT_H

#include "hfta/npy.h"

/// Does hfta_npy_convert's work with memory of its own: sets `*out` to
/// header->data_bytes bytes from malloc, which the caller frees. After a
/// failure `*out` is NULL.
hfta_status hfta_npy_unpack(const hfta_npy_header *header, const void *stored,
                            const char *path, void **out, hfta_error *error);

#endif // HFTA_SRC_FORMATS_NPY_CONVERT_H
