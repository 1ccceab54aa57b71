//===- parts.h - Instances that are one together ----------------*- C -*-===//
//
// Instances of one program, each for some of its copies, so that they can step
// at the same time at different seats. Between steps the first one stands for
// all of them: what is asked of a copy is asked of the one that has it, and
// what is of all copies is done to all.
//
// Threads: none of the parts runs while the first one is asked for all.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SCHEDULE_PARTS_H
#define HFTA_SRC_SCHEDULE_PARTS_H

#include "hfta/instance.h"

/// They have all copies, each of them some that follow each other, in order;
/// each is alone, of one rank. The list is borrowed until the first one is
/// destroyed, which has to be the last. Not enough memory is HFTA_UNSUPPORTED.
hfta_status hfta_instance_join_parts(hfta_instance *const *parts,
                                     uint32_t count);

/// The one that has the copy: the instance itself, if it has no parts.
hfta_instance *hfta_instance_part_of(const hfta_instance *instance,
                                     int64_t copy);

/// Whether the copy is of the instance, or of one of its parts.
bool hfta_instance_has_copy(const hfta_instance *instance, int64_t copy);

/// Leaves the message of a part's failure where the whole's is looked for.
hfta_status hfta_instance_note_part(hfta_instance *instance,
                                    const hfta_instance *part,
                                    hfta_status status);

#endif // HFTA_SRC_SCHEDULE_PARTS_H
