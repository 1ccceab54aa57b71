//===- data_tokens.c - Windows of a sequence of numbers -------------------===//

#include "data/data_source.h"

#include <inttypes.h>

hfta_status hfta_data_open_tokens(const hfta_data_request *request,
                                  hfta_data *data, hfta_error *error) {
  hfta_status status = hfta_mapping_open(request->path, &data->mapping, error);
  if (status != HFTA_OK)
    return status;
  uint64_t element = hfta_element_bytes(request->type),
           size = data->mapping.size;
  if (size % element != 0)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "'%s': expected a multiple of %" PRIu64
                     " bytes (a number of type %s), got %" PRIu64,
                     request->path, element, hfta_element_name(request->type),
                     size);
  uint64_t numbers = size / element, length = data->sample_bytes / element;
  uint64_t shift = (uint64_t)request->shift,
           stride = request->stride > 0 ? (uint64_t)request->stride : length;
  // A number follows each window, so that windows that are shifted by one are
  // as many.
  uint64_t after = shift > 0 ? shift : 1;
  if (length == 0 || numbers < length || numbers - length < after)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "'%s' holds %" PRIu64
                     " numbers, less than a window of %" PRIu64 " and %" PRIu64
                     " more",
                     request->path, numbers, length, after);
  data->samples = data->mapping.bytes + shift * element;
  data->stride = stride * element;
  data->count = (int64_t)((numbers - length - after) / stride) + 1;
  return HFTA_OK;
}
