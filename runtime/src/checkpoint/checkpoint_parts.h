//===- checkpoint_parts.h - Which rank has what of a checkpoint -*- C -*-===//
//
// The first rank alone has files; a tensor lies on the ranks whose workers'
// schedules touch it, and which hold it if some do. All ranks go through the
// tensors of a copy's file in its order, cut into chunks: of a file that is
// written each comes from the rank of the first worker of the tensor's stage
// that has it, of one that is read each goes to all that hold it.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_CHECKPOINT_CHECKPOINT_PARTS_H
#define HFTA_SRC_CHECKPOINT_CHECKPOINT_PARTS_H

#include "schedule/instance_impl.h"

enum { HFTA_CHUNK_BYTES = 1 << 20 };

typedef struct hfta_checkpoint_parts {
  hfta_instance *instance;
  hfta_communicator *ranks;
  bool is_spread;    ///< the first rank may lack parts
  bool *holds;       ///< of each rank, one answer a segment
  int *owners;       ///< of each segment: the rank that gives it to a file
  uint32_t *tensors; ///< indices of a file's tensors, in their order
  uint32_t count;
  char *chunk;
} hfta_checkpoint_parts;

hfta_status hfta_checkpoint_parts_create(hfta_checkpoint_parts *self,
                                         hfta_instance *instance,
                                         hfta_error *error);
void hfta_checkpoint_parts_destroy(hfta_checkpoint_parts *self);

/// Begins with a copy's file: all tensors in it; or those to be taken from it,
/// which some rank holds, without what copies share unless it is the first one
/// that the instance has.
void hfta_checkpoint_parts_list(hfta_checkpoint_parts *self, int64_t copy);
void hfta_checkpoint_parts_list_needed(hfta_checkpoint_parts *self,
                                       int64_t copy);

/// Bytes of tensors that follow each other.
typedef struct hfta_chunk {
  uint32_t first;  ///< place of its first tensor in the list
  uint64_t offset; ///< in that tensor
  uint64_t bytes;  ///< at most HFTA_CHUNK_BYTES; 0: there are no more
} hfta_chunk;

/// The chunk after `last`, a first one after zeros, in which all tensors have
/// one owner, and all are held by the same ranks.
hfta_chunk hfta_checkpoint_parts_next(const hfta_checkpoint_parts *self,
                                      const hfta_chunk *last);

/// The rank that gives a chunk to a file; whether one takes it from a file.
int hfta_checkpoint_parts_owner(const hfta_checkpoint_parts *self,
                                const hfta_chunk *chunk);
bool hfta_checkpoint_parts_hold(const hfta_checkpoint_parts *self,
                                const hfta_chunk *chunk, int rank);

/// Does something with each tensor's part of a chunk: its bytes are, or go to,
/// `bytes`.
typedef hfta_status (*hfta_part_function)(void *argument, uint32_t tensor,
                                          uint64_t offset, char *bytes,
                                          uint64_t count);
hfta_status hfta_checkpoint_parts_visit(const hfta_checkpoint_parts *self,
                                        const hfta_chunk *chunk,
                                        hfta_part_function function,
                                        void *argument);

/// Sends the chunk to one rank, or to all others that hold it; receives it.
hfta_status hfta_checkpoint_parts_send(const hfta_checkpoint_parts *self,
                                       const hfta_chunk *chunk, int to,
                                       hfta_error *error);
hfta_status hfta_checkpoint_parts_give(const hfta_checkpoint_parts *self,
                                       const hfta_chunk *chunk,
                                       hfta_error *error);
hfta_status hfta_checkpoint_parts_receive(const hfta_checkpoint_parts *self,
                                          const hfta_chunk *chunk, int from,
                                          hfta_error *error);

/// What all ranks have come to: `status` where it is a failure, else one of
/// another rank's, with a message that says no more.
hfta_status hfta_checkpoint_parts_agree(const hfta_checkpoint_parts *self,
                                        hfta_status status, hfta_error *error);

#endif // HFTA_SRC_CHECKPOINT_CHECKPOINT_PARTS_H
