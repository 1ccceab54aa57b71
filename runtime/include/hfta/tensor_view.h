//===- tensor_view.h - Element types and borrowed tensors -------*- C -*-===//
//
// Declarations that readers and writers of files share: facts about element
// types, sizes that are checked for overflow, and views of tensors that
// somebody else owns.
//===----------------------------------------------------------------------===//

#ifndef HFTA_TENSOR_VIEW_H
#define HFTA_TENSOR_VIEW_H

#include "hfta/program.h"
#include "hfta/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The highest rank of a tensor; files with tensors of a higher rank are
/// refused.
#define HFTA_MAX_RANK 32

/// Size of a buffer for any text of hfta_shape_text.
#define HFTA_SHAPE_TEXT_BYTES 256

/// A named, dense, row-major, little-endian tensor. A view owns nothing:
/// whoever makes it keeps name, shape and data alive while it is in use.
typedef struct hfta_tensor_view {
  const char *name;
  hfta_element_type type;
  uint32_t rank;
  const int64_t *shape;
  const void *data; ///< `bytes` bytes, no alignment needed
  uint64_t bytes;   ///< number of elements times the bytes of one
} hfta_tensor_view;

/// Returns the bytes of one element; 0 if `type` is no element type.
size_t hfta_element_bytes(hfta_element_type type);

/// Returns the type's name in the job language, such as "f32", "u8" or "bool";
/// "?" if `type` is no element type.
const char *hfta_element_name(hfta_element_type type);

/// Sets `*out` to the number of elements, the product of the extents (1 for
/// rank 0). Returns false if an extent is negative or the product exceeds
/// INT64_MAX. Extents of 0 are left out when this is checked.
bool hfta_shape_elements(const int64_t *shape, uint32_t rank, int64_t *out);

/// Sets `*out` to the number of bytes of all elements. Returns false if
/// hfta_shape_elements does, if the result exceeds INT64_MAX, or if `type` is
/// no element type.
bool hfta_shape_bytes(hfta_element_type type, const int64_t *shape,
                      uint32_t rank, uint64_t *out);

/// Writes a shape such as "1x28x28" ("scalar" for rank 0), cut off at
/// HFTA_SHAPE_TEXT_BYTES, and returns `buffer`.
const char *hfta_shape_text(const int64_t *shape, uint32_t rank,
                            char buffer[HFTA_SHAPE_TEXT_BYTES]);

#ifdef __cplusplus
}
#endif

#endif // HFTA_TENSOR_VIEW_H
