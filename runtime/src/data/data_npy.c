//===- data_npy.c - Samples from a NumPy array ----------------------------===//

#include "data/data_source.h"
#include "formats/npy_convert.h"

/// Parses a file's header, and divides its shape into samples.
static hfta_status describe(const hfta_mapping *mapping, const char *path,
                            hfta_npy_header *header, hfta_data_info *info,
                            hfta_error *error) {
  hfta_status status =
      hfta_npy_parse(mapping->bytes, mapping->size, path, header, error);
  if (status != HFTA_OK)
    return status;
  return hfta_data_split_batch(path, header->type, header->shape, header->rank,
                               info, error);
}

hfta_status hfta_data_open_npy(const hfta_data_request *request,
                               hfta_data *data, hfta_error *error) {
  hfta_npy_header header;
  hfta_data_info info;
  hfta_status status = hfta_mapping_open(request->path, &data->mapping, error);
  if (status == HFTA_OK)
    status = describe(&data->mapping, request->path, &header, &info, error);
  if (status == HFTA_OK)
    status = hfta_data_check(request, &info, error);
  if (status != HFTA_OK)
    return status;
  const unsigned char *stored = data->mapping.bytes + header.data_offset;
  data->count = info.count;
  data->samples = stored;
  if (hfta_npy_is_plain(&header))
    return HFTA_OK;
  status = hfta_npy_unpack(&header, stored, request->path, &data->owned, error);
  hfta_mapping_close(&data->mapping);
  data->samples = data->owned;
  data->owned_bytes = header.data_bytes;
  return status;
}

hfta_status hfta_data_probe_npy(const hfta_data_request *request,
                                hfta_data_info *out, hfta_error *error) {
  const char *path = request->path;
  hfta_mapping mapping;
  hfta_npy_header header;
  hfta_status status = hfta_mapping_open(path, &mapping, error);
  if (status == HFTA_OK)
    status = describe(&mapping, path, &header, out, error);
  hfta_mapping_close(&mapping);
  return status;
}
