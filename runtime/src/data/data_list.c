//===- data_list.c - The arrays of files that hold several ----------------===//

#include "data/npz_name.h"
#include "hfta/data.h"
#include "hfta/safetensors.h"
#include "system/file.h"

#include <stdlib.h>

/// The caller's function, for the members of an archive.
typedef struct listing {
  hfta_array_visitor visit;
  void *argument;
  bool is_out_of_memory;
} listing;

static bool visit_member(const hfta_zip_member *member, void *argument) {
  listing *self = argument;
  size_t length = hfta_npz_name_length(member);
  char *name = malloc(length + 1);
  if (!name) {
    self->is_out_of_memory = true;
    return true;
  }
  memcpy(name, member->name, length);
  name[length] = '\0';
  self->visit(name, self->argument);
  free(name);
  return true;
}

static hfta_status list_npz(const char *path, listing *self,
                            hfta_error *error) {
  hfta_mapping mapping;
  hfta_zip_member member;
  hfta_status status = hfta_mapping_open(path, &mapping, error);
  if (status == HFTA_OK)
    status = hfta_zip_find(mapping.bytes, mapping.size, path, visit_member,
                           self, &member, error);
  hfta_mapping_close(&mapping);
  if (status == HFTA_OK && self->is_out_of_memory)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "out of memory while reading '%s'", path);
  return status;
}

static hfta_status list_safetensors(const char *path, const listing *self,
                                    hfta_error *error) {
  hfta_safetensors *file;
  hfta_status status = hfta_safetensors_open(path, &file, error);
  if (status != HFTA_OK)
    return status;
  for (size_t i = 0; i < hfta_safetensors_count(file); ++i)
    self->visit(hfta_safetensors_at(file, i)->name, self->argument);
  hfta_safetensors_close(file);
  return HFTA_OK;
}

hfta_status hfta_data_list_arrays(const char *path, hfta_data_format format,
                                  hfta_array_visitor visit, void *argument,
                                  hfta_error *error) {
  listing self = {.visit = visit, .argument = argument};
  if (format == HFTA_DATA_NPZ)
    return list_npz(path, &self, error);
  if (format == HFTA_DATA_SAFETENSORS)
    return list_safetensors(path, &self, error);
  return hfta_fail(error, HFTA_UNSUPPORTED, "files of format %s hold one array",
                   hfta_data_format_name(format));
}
