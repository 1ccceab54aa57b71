//===- data_check.c - Checks that formats share ---------------------------===//

#include "data/data_source.h"

#include <stdio.h>
#include <string.h>

const char *hfta_data_label(const hfta_data_request *request,
                            char out[HFTA_DATA_LABEL_BYTES]) {
  snprintf(out, HFTA_DATA_LABEL_BYTES, "%s:%s", request->path, request->array);
  return out;
}

/// Copies the extents other than 1 to `out`; returns their number.
static uint32_t without_ones(const int64_t *shape, uint32_t rank,
                             int64_t *out) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < rank; ++i)
    if (shape[i] != 1)
      out[count++] = shape[i];
  return count;
}

static bool same_but_for_ones(const int64_t *left, uint32_t left_rank,
                              const int64_t *right, uint32_t right_rank) {
  int64_t a[HFTA_MAX_RANK], b[HFTA_MAX_RANK];
  uint32_t a_rank = without_ones(left, left_rank, a);
  uint32_t b_rank = without_ones(right, right_rank, b);
  return a_rank == b_rank && memcmp(a, b, a_rank * sizeof(*a)) == 0;
}

hfta_status hfta_data_check(const hfta_data_request *request,
                            const hfta_data_info *found, hfta_error *error) {
  char like[HFTA_DATA_LABEL_BYTES] = "";
  if (request->like)
    snprintf(like, sizeof(like), " as in '%s'", request->like);
  if (found->type != request->type)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "'%s': expected elements of type %s%s, got %s",
                     request->path, hfta_element_name(request->type), like,
                     hfta_element_name(found->type));
  if (same_but_for_ones(request->sample_shape, request->sample_rank,
                        found->sample_shape, found->sample_rank))
    return HFTA_OK;
  char expected[HFTA_SHAPE_TEXT_BYTES], got[HFTA_SHAPE_TEXT_BYTES];
  return hfta_fail(
      error, HFTA_INVALID_INPUT, "'%s': expected samples of shape %s%s, got %s",
      request->path,
      hfta_shape_text(request->sample_shape, request->sample_rank, expected),
      like, hfta_shape_text(found->sample_shape, found->sample_rank, got));
}

hfta_status hfta_data_split_batch(const char *path, hfta_element_type type,
                                  const int64_t *shape, uint32_t rank,
                                  hfta_data_info *out, hfta_error *error) {
  if (rank == 0)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "'%s' holds a scalar; expected a first axis that counts "
                     "samples",
                     path);
  out->type = type;
  out->count = shape[0];
  out->sample_rank = rank - 1;
  memcpy(out->sample_shape, shape + 1, (rank - 1) * sizeof(*shape));
  return HFTA_OK;
}
