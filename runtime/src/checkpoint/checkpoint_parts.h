//===- checkpoint_parts.h - Distribution of checkpoints over ranks *- C -*-===//
//
// Only rank 0 reads and writes files, but with several stages, or segments that
// only some replicas hold, tensors lie on different ranks. All ranks go through
// the tensors of a copy's file in their order in the file, in chunks of at most
// HFTA_CHUNK_BYTES. When a file is written, each chunk is sent by its owner:
// beginning with the rank of the first worker of the tensor's stage, the first
// rank that holds it. When a file is read, each chunk is sent to all ranks that
// hold it.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_CHECKPOINT_CHECKPOINT_PARTS_H
#define HFTA_SRC_CHECKPOINT_CHECKPOINT_PARTS_H

#include "instance/instance_impl.h"

/// The most bytes of a chunk.
enum { HFTA_CHUNK_BYTES = 1 << 20 };

/// The distribution of tensors over ranks, the list of a file's tensors, and a
/// buffer for one chunk.
typedef struct hfta_checkpoint_parts {
  hfta_instance *instance;
  hfta_communicator *ranks;
  bool is_spread; ///< whether tensors are distributed, so that rank 0 may lack
                  ///< some
  bool *holds;    ///< for each rank and segment, whether the rank holds it
  int *owners;    ///< the rank that provides a segment's tensors for a file
  uint32_t *tensors; ///< the tensors of the current copy's file, in order
  uint32_t count;    ///< the number of these tensors
  char *chunk;       ///< the buffer, of HFTA_CHUNK_BYTES bytes
} hfta_checkpoint_parts;

/// Finds out which rank holds which segments and allocates the buffer. Must be
/// released by hfta_checkpoint_parts_destroy, also after a failure.
/// HFTA_UNSUPPORTED if memory runs out.
hfta_status hfta_checkpoint_parts_create(hfta_checkpoint_parts *self,
                                         hfta_instance *instance,
                                         hfta_error *error);
void hfta_checkpoint_parts_destroy(hfta_checkpoint_parts *self);

/// Begin a copy's file: list its tensors in order. The second function lists
/// only those that the instance needs from the file: tensors that some rank
/// holds, and shared tensors only with the instance's first copy.
void hfta_checkpoint_parts_list(hfta_checkpoint_parts *self, int64_t copy);
void hfta_checkpoint_parts_list_needed(hfta_checkpoint_parts *self,
                                       int64_t copy);

/// Leaves only those of the listed tensors of a copy that belong to its best
/// weights (best_weights.h).
void hfta_checkpoint_parts_narrow(hfta_checkpoint_parts *self, int64_t copy);

/// A range of bytes in consecutive tensors of the list. It may begin and end
/// within a tensor.
typedef struct hfta_chunk {
  uint32_t first;  ///< the index of its first tensor in the list
  uint64_t offset; ///< its offset in that tensor, in bytes
  uint64_t bytes;  ///< at most HFTA_CHUNK_BYTES; 0 after the last chunk
} hfta_chunk;

/// Returns the chunk that follows `last`; the first one if `last` is all zeros.
/// All tensors of a chunk have the same owner, and the same ranks hold them.
hfta_chunk hfta_checkpoint_parts_next(const hfta_checkpoint_parts *self,
                                      const hfta_chunk *last);

/// Return the rank that provides a chunk when a file is written, and whether a
/// rank holds it, so that it needs the chunk of a file that is read.
int hfta_checkpoint_parts_owner(const hfta_checkpoint_parts *self,
                                const hfta_chunk *chunk);
bool hfta_checkpoint_parts_hold(const hfta_checkpoint_parts *self,
                                const hfta_chunk *chunk, int rank);

/// Processes a tensor's part of a chunk: `count` bytes at `offset` in the
/// tensor. Their place in the buffer is `bytes`, which the function reads or
/// writes.
typedef hfta_status (*hfta_part_function)(void *argument, uint32_t tensor,
                                          uint64_t offset, char *bytes,
                                          uint64_t count);
/// Calls a function for each tensor's part of a chunk, until it fails.
hfta_status hfta_checkpoint_parts_visit(const hfta_checkpoint_parts *self,
                                        const hfta_chunk *chunk,
                                        hfta_part_function function,
                                        void *argument);

/// Send the chunk in the buffer to one rank (send), or to all other ranks that
/// hold it (give), or receive it into the buffer.
hfta_status hfta_checkpoint_parts_send(const hfta_checkpoint_parts *self,
                                       const hfta_chunk *chunk, int to,
                                       hfta_error *error);
hfta_status hfta_checkpoint_parts_give(const hfta_checkpoint_parts *self,
                                       const hfta_chunk *chunk,
                                       hfta_error *error);
hfta_status hfta_checkpoint_parts_receive(const hfta_checkpoint_parts *self,
                                          const hfta_chunk *chunk, int from,
                                          hfta_error *error);

/// Makes all ranks return success only if all of them pass HFTA_OK. Returns
/// `status` if it is a failure, else the failure of another rank with a message
/// that only says so. Collective.
hfta_status hfta_checkpoint_parts_agree(const hfta_checkpoint_parts *self,
                                        hfta_status status, hfta_error *error);

#endif // HFTA_SRC_CHECKPOINT_CHECKPOINT_PARTS_H
