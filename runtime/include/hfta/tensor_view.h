//===- tensor_view.h - Element types and borrowed tensors -------*- C -*-===//
//
// Shared by the readers and writers of files: facts about element types,
// checked sizes, and a tensor whose parts are all borrowed.
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

/// Ranks above this are refused wherever a file gives one.
#define HFTA_MAX_RANK 32

/// Long enough for any text of hfta_shape_text.
#define HFTA_SHAPE_TEXT_BYTES 256

/// A named, dense, row-major, little-endian tensor. Everything is borrowed: the
/// maker of a view keeps name, shape and data alive while the view is in use.
typedef struct hfta_tensor_view {
  const char *name;
  hfta_element_type type;
  uint32_t rank;
  const int64_t *shape;
  const void *data; ///< `bytes` bytes, no alignment needed
  uint64_t bytes;   ///< number of elements times bytes of an element
} hfta_tensor_view;

/// Returns the bytes of one element; 0 for a value that is no element type.
size_t hfta_element_bytes(hfta_element_type type);

/// Returns the type's name in the job language: "f32", "u8", "bool"; "?" if it
/// is none.
const char *hfta_element_name(hfta_element_type type);

/// Computes the product of the extents; false if one is negative or the product
/// exceeds INT64_MAX. Rank 0 gives 1.
bool hfta_shape_elements(const int64_t *shape, uint32_t rank, int64_t *out);

/// Computes elements times bytes of an element; false as hfta_shape_elements,
/// or if the product exceeds INT64_MAX, or for an unknown type.
bool hfta_shape_bytes(hfta_element_type type, const int64_t *shape,
                      uint32_t rank, uint64_t *out);

/// Writes "1x28x28" ("scalar" for rank 0), cut at HFTA_SHAPE_TEXT_BYTES, and
/// returns `buffer`.
const char *hfta_shape_text(const int64_t *shape, uint32_t rank,
                            char buffer[HFTA_SHAPE_TEXT_BYTES]);

#ifdef __cplusplus
}
#endif

#endif // HFTA_TENSOR_VIEW_H
