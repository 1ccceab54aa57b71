//===- checkpoint_parts.h - Distribution of checkpoints over ranks *- C -*-===//
//
// Only the first rank has files. A tensor lies on the ranks whose workers'
// schedules use it and, if only some replicas hold it, have one of these. All
// ranks visit the tensors of a copy's file in its order, cut into chunks. When
// a file is written, each chunk comes from the rank of the tensor's stage's
// first worker that has it; when a file is read, each chunk goes to all ranks
// that hold it.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_CHECKPOINT_CHECKPOINT_PARTS_H
#define HFTA_SRC_CHECKPOINT_CHECKPOINT_PARTS_H

#include "schedule/instance_impl.h"

enum { HFTA_CHUNK_BYTES = 1 << 20 };

typedef struct hfta_checkpoint_parts {
  hfta_instance *instance;
  hfta_communicator *ranks;
  bool is_spread;    ///< whether the first rank may lack parts
  bool *holds;       ///< for each rank one answer per segment
  int *owners;       ///< for each segment the rank from which a file gets it
  uint32_t *tensors; ///< indices of a file's tensors, in order
  uint32_t count;
  char *chunk;
} hfta_checkpoint_parts;

hfta_status hfta_checkpoint_parts_create(hfta_checkpoint_parts *self,
                                         hfta_instance *instance,
                                         hfta_error *error);
void hfta_checkpoint_parts_destroy(hfta_checkpoint_parts *self);

/// Begin a copy's file: with all its tensors, or with the needed ones, which
/// some rank holds; shared tensors are needed only with the first copy that the
/// instance has.
void hfta_checkpoint_parts_list(hfta_checkpoint_parts *self, int64_t copy);
void hfta_checkpoint_parts_list_needed(hfta_checkpoint_parts *self,
                                       int64_t copy);

/// A range of bytes in consecutive tensors.
typedef struct hfta_chunk {
  uint32_t first;  ///< position of its first tensor in the list
  uint64_t offset; ///< offset in that tensor
  uint64_t bytes;  ///< at most HFTA_CHUNK_BYTES; 0: there are no more
} hfta_chunk;

/// Returns the chunk after `last` (zeros: the first one). All its tensors have
/// one owner, and are held by the same ranks.
hfta_chunk hfta_checkpoint_parts_next(const hfta_checkpoint_parts *self,
                                      const hfta_chunk *last);

/// Return the rank that provides a chunk for a file, and whether a rank takes
/// it from a file.
int hfta_checkpoint_parts_owner(const hfta_checkpoint_parts *self,
                                const hfta_chunk *chunk);
bool hfta_checkpoint_parts_hold(const hfta_checkpoint_parts *self,
                                const hfta_chunk *chunk, int rank);

/// Processes a tensor's part of a chunk, whose bytes are in, or are to be
/// written to, `bytes`.
typedef hfta_status (*hfta_part_function)(void *argument, uint32_t tensor,
                                          uint64_t offset, char *bytes,
                                          uint64_t count);
hfta_status hfta_checkpoint_parts_visit(const hfta_checkpoint_parts *self,
                                        const hfta_chunk *chunk,
                                        hfta_part_function function,
                                        void *argument);

/// Send the chunk to one rank, or to all other ranks that hold it, and receive
/// it.
hfta_status hfta_checkpoint_parts_send(const hfta_checkpoint_parts *self,
                                       const hfta_chunk *chunk, int to,
                                       hfta_error *error);
hfta_status hfta_checkpoint_parts_give(const hfta_checkpoint_parts *self,
                                       const hfta_chunk *chunk,
                                       hfta_error *error);
hfta_status hfta_checkpoint_parts_receive(const hfta_checkpoint_parts *self,
                                          const hfta_chunk *chunk, int from,
                                          hfta_error *error);

/// Returns the common result of all ranks: `status` if it is a failure, else a
/// failure of another rank, with a message that only says so.
hfta_status hfta_checkpoint_parts_agree(const hfta_checkpoint_parts *self,
                                        hfta_status status, hfta_error *error);

#endif // HFTA_SRC_CHECKPOINT_CHECKPOINT_PARTS_H
