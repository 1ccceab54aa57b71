//===- data_classes.c - The classes of a folder of images -----------------===//

#include "data/data_images.h"
#include "data/data_source.h"
#include "text/listing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Joins the names of classes for hfta_data_classes.
static char *join_names(const hfta_image_folder *folder) {
  size_t bytes = 1;
  for (int32_t i = 0; i < folder->class_count; ++i)
    bytes += strlen(folder->classes[i]) + 1;
  char *out = malloc(bytes), *at = out;
  for (int32_t i = 0; i < folder->class_count && out; ++i)
    at += sprintf(at, "%s\n", folder->classes[i]);
  if (out)
    *at = 0;
  return out;
}

/// Notes the numbers of the first classes.
static hfta_status note_classes(const hfta_image_folder *folder,
                                hfta_data_notes *notes, hfta_error *error) {
  hfta_listing classes = {0};
  for (int32_t i = 0; i < folder->class_count; ++i)
    hfta_listing_add(&classes, "%" PRId32 " '%s'", i, folder->classes[i]);
  return hfta_data_note(
      notes, error, "'%s' has %" PRId64 " images of %" PRId32 " classes: %s",
      folder->path, folder->count, folder->class_count, classes.text);
}

/// Copies the numbers of the images' classes.
static hfta_status load(const hfta_image_folder *folder, hfta_data *data,
                        hfta_error *error) {
  int32_t *labels = malloc((size_t)folder->count * sizeof(*labels) + 1);
  data->owned = labels;
  data->classes = join_names(folder);
  if (!labels || !data->classes)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory to read '%s'",
                     folder->path);
  for (int64_t i = 0; i < folder->count; ++i)
    labels[i] = folder->images[i].label;
  data->owned_bytes = (uint64_t)folder->count * sizeof(*labels);
  data->samples = data->owned;
  data->count = folder->count;
  return note_classes(folder, &data->notes, error);
}

hfta_status hfta_data_open_classes(const hfta_data_request *request,
                                   hfta_data *data, hfta_error *error) {
  const hfta_data_info found = {.type = HFTA_I32};
  hfta_status status = hfta_data_check(request, &found, error);
  if (status != HFTA_OK)
    return status;
  if (request->images && request->images->images)
    return load(hfta_images_folder(request->images->images), data, error);
  hfta_image_folder folder;
  status = hfta_image_folder_open(request->path, &folder, error);
  if (status == HFTA_OK)
    status = load(&folder, data, error);
  hfta_image_folder_close(&folder);
  return status;
}

hfta_status hfta_data_probe_classes(const hfta_data_request *request,
                                    hfta_data_info *out, hfta_error *error) {
  hfta_image_folder folder;
  hfta_status status = hfta_image_folder_open(request->path, &folder, error);
  *out = (hfta_data_info){.type = HFTA_I32, .count = folder.count};
  hfta_image_folder_close(&folder);
  return status;
}
