//===- parts.h - Instances that act as one ------------------------*- C -*-===//
//
// The parts are instances of one program, each for some of its copies, so that
// they can step at the same time at different seats. Between steps the first
// part acts for all of them: a call for one copy goes to the part that has the
// copy, and a call for all copies goes to all parts.
//
// Threads: none of the parts runs while the first one acts for all.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SCHEDULE_PARTS_H
#define HFTA_SRC_SCHEDULE_PARTS_H

#include "hfta/instance.h"

/// Joins parts. Together they have all copies, in order, each part a range of
/// consecutive copies; each runs on one rank alone. The list is borrowed until
/// the first part is destroyed, which must be the last. Too little memory is
/// HFTA_UNSUPPORTED.
hfta_status hfta_instance_join_parts(hfta_instance *const *parts,
                                     uint32_t count);

/// Returns the part that has the copy: the instance itself, if it has no parts.
hfta_instance *hfta_instance_part_of(const hfta_instance *instance,
                                     int64_t copy);

/// Whether the copy belongs to the instance, or to one of its parts.
bool hfta_instance_has_copy(const hfta_instance *instance, int64_t copy);

/// Copies the message of a part's failure to the whole instance.
hfta_status hfta_instance_note_part(hfta_instance *instance,
                                    const hfta_instance *part,
                                    hfta_status status);

#endif // HFTA_SRC_SCHEDULE_PARTS_H
