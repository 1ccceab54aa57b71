//===- data_safetensors.c - Samples from a file of tensors ----------------===//

#include "data/data_source.h"
#include "text/listing.h"

/// Finds the tensor of the request in an open file, and divides its shape into
/// samples.
static hfta_status find_tensor(const hfta_data_request *request,
                               const hfta_safetensors *file,
                               const hfta_tensor_view **out,
                               hfta_data_info *info, hfta_error *error) {
  *out = hfta_safetensors_find(file, request->array);
  if (!*out) {
    hfta_listing names = {0};
    for (size_t i = 0; i < hfta_safetensors_count(file); ++i)
      hfta_listing_add(&names, "'%s'", hfta_safetensors_at(file, i)->name);
    return hfta_fail(error, HFTA_INVALID_INPUT, "'%s' has no tensor '%s'%s%s",
                     request->path, request->array,
                     names.used > 0 ? "; its tensors are " : "", names.text);
  }
  char label[HFTA_DATA_LABEL_BYTES];
  if ((*out)->rank > HFTA_MAX_RANK)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "'%s': more than %d axes are not supported",
                     hfta_data_label(request, label), HFTA_MAX_RANK);
  return hfta_data_split_batch(hfta_data_label(request, label), (*out)->type,
                               (*out)->shape, (*out)->rank, info, error);
}

hfta_status hfta_data_open_safetensors(const hfta_data_request *request,
                                       hfta_data *data, hfta_error *error) {
  char label[HFTA_DATA_LABEL_BYTES];
  hfta_data_request labelled = *request;
  labelled.path = hfta_data_label(request, label);
  hfta_data_info info;
  const hfta_tensor_view *tensor;
  hfta_status status =
      hfta_safetensors_open(request->path, &data->tensors, error);
  if (status == HFTA_OK)
    status = find_tensor(request, data->tensors, &tensor, &info, error);
  if (status == HFTA_OK)
    status = hfta_data_check(&labelled, &info, error);
  if (status != HFTA_OK)
    return status;
  data->count = info.count;
  data->samples = tensor->data;
  return HFTA_OK;
}

hfta_status hfta_data_probe_safetensors(const hfta_data_request *request,
                                        hfta_data_info *out,
                                        hfta_error *error) {
  hfta_safetensors *file;
  const hfta_tensor_view *tensor;
  hfta_status status = hfta_safetensors_open(request->path, &file, error);
  if (status == HFTA_OK)
    status = find_tensor(request, file, &tensor, out, error);
  hfta_safetensors_close(file);
  return status;
}
