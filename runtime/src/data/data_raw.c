//===- data_raw.c - Samples without a header ------------------------------===//

#include "data/data_source.h"

#include <inttypes.h>

hfta_status hfta_data_open_raw(const hfta_data_request *request,
                               hfta_data *data, hfta_error *error) {
  hfta_status status = hfta_mapping_open(request->path, &data->mapping, error);
  if (status != HFTA_OK)
    return status;
  uint64_t size = data->mapping.size;
  if (data->sample_bytes == 0 || size % data->sample_bytes != 0) {
    char text[HFTA_SHAPE_TEXT_BYTES];
    return hfta_fail(
        error, HFTA_INVALID_INPUT,
        "'%s': expected a multiple of %" PRIu64 " bytes (a sample of shape %s "
        "of %s), got %" PRIu64,
        request->path, data->sample_bytes,
        hfta_shape_text(request->sample_shape, request->sample_rank, text),
        hfta_element_name(request->type), size);
  }
  data->samples = data->mapping.bytes;
  data->count = (int64_t)(size / data->sample_bytes);
  return HFTA_OK;
}
