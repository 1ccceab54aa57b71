//===- safetensors.h - Files of named tensors -------------------*- C -*-===//
//
// Format: github.com/huggingface/safetensors, README, "Format": the header's
// length in 8 bytes (little-endian), a JSON header, then the tensors' bytes
// without gaps. Types: BOOL U8 I8 U16 I16 I32 I64 F16 BF16 F32 F64.
//
// The bytes of a written file depend only on its tensors and metadata and on
// their order.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SAFETENSORS_H
#define HFTA_SAFETENSORS_H

#include "hfta/status.h"
#include "hfta/tensor_view.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The longest header in bytes that is read, as in the reference
/// implementation.
#define HFTA_SAFETENSORS_MAX_HEADER 100000000u

/// The metadata key of a file's checksum: XXH64 in 16 hexadecimal digits,
/// computed over all bytes of the file with 16 zeros in the checksum's place.
#define HFTA_SAFETENSORS_CHECKSUM "checksum"

/// An entry of a file's `__metadata__`. Both strings are borrowed. If the key
/// is HFTA_SAFETENSORS_CHECKSUM and `value` is NULL, the writer computes the
/// checksum; the file must then be a regular one.
typedef struct hfta_metadata {
  const char *key;
  const char *value;
} hfta_metadata;

//===----------------------------------------------------------------------===//
// Writing: a writer is used by one thread at a time
//===----------------------------------------------------------------------===//

/// Writes a file completely or not at all: to a temporary file next to `path`,
/// which is synced, then renamed (the folder isn't synced). Tensors are written
/// in the given order; metadata is sorted by key. Names and keys must be unique
/// and UTF-8.
hfta_status hfta_safetensors_write(const char *path,
                                   const hfta_tensor_view *tensors,
                                   size_t tensor_count,
                                   const hfta_metadata *metadata,
                                   size_t metadata_count, hfta_error *error);

/// A writer of a file in pieces, for tensors that aren't in memory all at once.
typedef struct hfta_safetensors_writer hfta_safetensors_writer;

/// Begins a file by writing its header. `data` of the views is ignored;
/// everything else is as in hfta_safetensors_write. `*out` must be passed to
/// _finish or _abandon in the end; it is NULL after a failure.
hfta_status
hfta_safetensors_begin(const char *path, const hfta_tensor_view *tensors,
                       size_t tensor_count, const hfta_metadata *metadata,
                       size_t metadata_count, hfta_safetensors_writer **out,
                       hfta_error *error);

/// Appends the next `size` bytes of the tensors; pieces need not end where
/// tensors end.
hfta_status hfta_safetensors_append(hfta_safetensors_writer *writer,
                                    const void *bytes, size_t size,
                                    hfta_error *error);

/// Completes the file: syncs it and renames it to its final name. Fails, and
/// removes the file, if the bytes of all tensors weren't appended exactly.
/// Frees the writer in any case.
hfta_status hfta_safetensors_finish(hfta_safetensors_writer *writer,
                                    hfta_error *error);

/// Removes the unfinished file and frees the writer. NULL is allowed.
void hfta_safetensors_abandon(hfta_safetensors_writer *writer);

//===----------------------------------------------------------------------===//
// Reading: one thread opens and closes a file, several may read it in between
//===----------------------------------------------------------------------===//

/// A file that is open for reading.
typedef struct hfta_safetensors hfta_safetensors;

/// Opens a file by mapping it into memory, and checks everything except the
/// tensors' values: the header's length, JSON, types, shapes, offsets that
/// cover the file without gap or overlap, unique names. HFTA_INVALID_INPUT if
/// the file is incomplete or of another format; the message names it. `*out`
/// must be closed by hfta_safetensors_close.
hfta_status hfta_safetensors_open(const char *path, hfta_safetensors **out,
                                  hfta_error *error);

/// Verifies the checksum, if the file has one, by reading the whole file.
/// HFTA_INVALID_INPUT if it isn't that of the file's bytes. `path` is for
/// messages.
hfta_status hfta_safetensors_verify(const hfta_safetensors *file,
                                    const char *path, hfta_error *error);

/// Closes a file; NULL is allowed.
void hfta_safetensors_close(hfta_safetensors *file);

/// Returns the number of tensors.
size_t hfta_safetensors_count(const hfta_safetensors *file);

/// Returns the tensor at `index`, which is below the count, in the order of the
/// tensors' bytes in the file. The view is valid until the file is closed; its
/// data may be unaligned.
const hfta_tensor_view *hfta_safetensors_at(const hfta_safetensors *file,
                                            size_t index);

/// Returns the tensor of this name, valid until the file is closed; NULL if
/// there is none.
const hfta_tensor_view *hfta_safetensors_find(const hfta_safetensors *file,
                                              const char *name);

/// Returns the value of a metadata key, valid until the file is closed; NULL if
/// the file lacks the key.
const char *hfta_safetensors_metadata(const hfta_safetensors *file,
                                      const char *key);

#ifdef __cplusplus
}
#endif

#endif // HFTA_SAFETENSORS_H
