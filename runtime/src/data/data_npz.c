//===- data_npz.c - Samples from an archive of NumPy arrays ---------------===//

#include "data/data_source.h"
#include "data/npz_name.h"
#include "formats/gzip.h"
#include "formats/npy_convert.h"
#include "formats/zip.h"
#include "text/listing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/// A search for an array, which lists the names that it has seen.
typedef struct search {
  const char *array;
  hfta_listing names;
} search;

static bool visit(const hfta_zip_member *member, void *argument) {
  search *self = argument;
  size_t length = hfta_npz_name_length(member);
  if (length == strlen(self->array) &&
      memcmp(member->name, self->array, length) == 0)
    return false;
  hfta_listing_add(&self->names, "'%.*s'", (int)length, member->name);
  return true;
}

/// Finds the array of the request.
static hfta_status find_array(const hfta_data_request *request,
                              const hfta_mapping *mapping, hfta_zip_member *out,
                              hfta_error *error) {
  search self = {.array = request->array};
  hfta_status status = hfta_zip_find(mapping->bytes, mapping->size,
                                     request->path, visit, &self, out, error);
  if (status != HFTA_OK || out->packed)
    return status;
  return hfta_fail(error, HFTA_INVALID_INPUT, "'%s' has no array '%s'%s%s",
                   request->path, request->array,
                   self.names.used > 0 ? "; its arrays are " : "",
                   self.names.text);
}

/// Decompresses the first `size` bytes of an array to `out`.
static hfta_status unpack_start(const hfta_zip_member *member,
                                const char *label, unsigned char *out,
                                uint64_t size, hfta_error *error) {
  hfta_gzip *stream;
  hfta_status status = hfta_gzip_open(member->packed, member->packed_bytes,
                                      HFTA_PACKED_BARE, label, &stream, error);
  if (status != HFTA_OK)
    return status;
  uint64_t got;
  status = hfta_gzip_read(stream, out, size, &got, error);
  hfta_gzip_close(stream);
  if (status == HFTA_OK && got < size)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "'%s' is truncated: expected %" PRIu64
                     " bytes, got %" PRIu64,
                     label, member->bytes, got);
  return status;
}

/// Decompresses a whole array to memory from malloc.
static hfta_status unpack(const hfta_zip_member *member, const char *label,
                          unsigned char **out, hfta_error *error) {
  if (member->bytes / HFTA_GZIP_MAX_RATIO > member->packed_bytes)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "'%s': %" PRIu64 " compressed bytes can't hold %" PRIu64,
                     label, member->packed_bytes, member->bytes);
  *out = malloc(member->bytes + 1);
  if (!*out)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "'%s': not enough memory for %" PRIu64 " unpacked bytes",
                     label, member->bytes);
  hfta_status status = unpack_start(member, label, *out, member->bytes, error);
  if (status == HFTA_OK && hfta_crc32(0, *out, member->bytes) != member->crc)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "'%s' is damaged: its bytes don't have the checksum that "
                     "they were written with",
                     label);
  return status;
}

/// Parses the array's header, of whose file the first `size` bytes are in
/// memory.
static hfta_status describe(const unsigned char *bytes, uint64_t size,
                            const hfta_zip_member *member, const char *label,
                            hfta_npy_header *header, hfta_data_info *info,
                            hfta_error *error) {
  hfta_status status =
      hfta_npy_parse_start(bytes, size, member->bytes, label, header, error);
  if (status != HFTA_OK)
    return status;
  return hfta_data_split_batch(label, header->type, header->shape, header->rank,
                               info, error);
}

/// Makes the samples of an array available whose npy file has the given bytes,
/// in the mapped archive or in data->owned.
static hfta_status load(const hfta_data_request *request, const char *label,
                        const hfta_zip_member *member,
                        const unsigned char *bytes, hfta_data *data,
                        hfta_error *error) {
  hfta_npy_header header;
  hfta_data_info info;
  hfta_data_request labelled = *request;
  labelled.path = label;
  hfta_status status =
      describe(bytes, member->bytes, member, label, &header, &info, error);
  if (status == HFTA_OK)
    status = hfta_data_check(&labelled, &info, error);
  if (status != HFTA_OK)
    return status;
  data->count = info.count;
  data->samples = bytes + header.data_offset;
  if (hfta_npy_is_plain(&header))
    return HFTA_OK;
  void *packed = data->owned;
  data->owned = NULL;
  status = hfta_npy_unpack(&header, data->samples, label, &data->owned, error);
  free(packed);
  hfta_mapping_close(&data->mapping);
  data->samples = data->owned;
  data->owned_bytes = header.data_bytes;
  return status;
}

hfta_status hfta_data_open_npz(const hfta_data_request *request,
                               hfta_data *data, hfta_error *error) {
  char label[HFTA_DATA_LABEL_BYTES];
  hfta_data_label(request, label);
  hfta_zip_member member;
  hfta_status status = hfta_mapping_open(request->path, &data->mapping, error);
  if (status == HFTA_OK)
    status = find_array(request, &data->mapping, &member, error);
  if (status != HFTA_OK)
    return status;
  if (!member.is_deflated)
    return load(request, label, &member, member.packed, data, error);
  unsigned char *bytes = NULL;
  status = unpack(&member, label, &bytes, error);
  hfta_mapping_close(&data->mapping);
  data->owned = bytes;
  data->owned_bytes = member.bytes;
  return status == HFTA_OK ? load(request, label, &member, bytes, data, error)
                           : status;
}

/// Reads the header of a compressed array, of which only the start is
/// decompressed.
static hfta_status probe_packed(const hfta_zip_member *member,
                                const char *label, hfta_data_info *out,
                                hfta_error *error) {
  uint64_t size =
      member->bytes < HFTA_NPY_MOST_START ? member->bytes : HFTA_NPY_MOST_START;
  unsigned char *start = malloc(size + 1);
  if (!start)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "out of memory while reading '%s'", label);
  hfta_npy_header header;
  hfta_status status = unpack_start(member, label, start, size, error);
  if (status == HFTA_OK)
    status = describe(start, size, member, label, &header, out, error);
  free(start);
  return status;
}

hfta_status hfta_data_probe_npz(const hfta_data_request *request,
                                hfta_data_info *out, hfta_error *error) {
  char label[HFTA_DATA_LABEL_BYTES];
  hfta_data_label(request, label);
  hfta_mapping mapping;
  hfta_zip_member member;
  hfta_npy_header header;
  hfta_status status = hfta_mapping_open(request->path, &mapping, error);
  if (status == HFTA_OK)
    status = find_array(request, &mapping, &member, error);
  if (status == HFTA_OK && member.is_deflated)
    status = probe_packed(&member, label, out, error);
  else if (status == HFTA_OK)
    status = describe(member.packed, member.bytes, &member, label, &header, out,
                      error);
  hfta_mapping_close(&mapping);
  return status;
}
