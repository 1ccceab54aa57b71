//===- parts.h - Instances that act as one ------------------------*- C -*-===//
//
// Parts are instances of one program, each with some of its copies, so that
// they can run steps at the same time at different seats. Between steps the
// first part acts for all of them: it passes a call for one copy on to the part
// that has the copy, and a call for all copies to all parts.
//
// Threads: none of the parts runs while the first one acts for all.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_INSTANCE_PARTS_H
#define HFTA_SRC_INSTANCE_PARTS_H

#include "hfta/instance.h"

/// Joins `count` parts, so that the first one acts for all. Each has a range of
/// consecutive copies, in the order of the list, and together they have all
/// copies; each runs on one rank alone. The list is borrowed until the first
/// part is destroyed, which must be the last. HFTA_UNSUPPORTED without enough
/// memory.
hfta_status hfta_instance_join_parts(hfta_instance *const *parts,
                                     uint32_t count);

/// Returns the part that has a copy; the instance itself if it has no parts, or
/// no part has the copy.
hfta_instance *hfta_instance_part_of(const hfta_instance *instance,
                                     int64_t copy);

/// Returns whether a copy belongs to the instance or to one of its parts.
bool hfta_instance_has_copy(const hfta_instance *instance, int64_t copy);

/// Copies the message of a part's failure to the instance that acts for it;
/// returns `status`.
hfta_status hfta_instance_note_part(hfta_instance *instance,
                                    const hfta_instance *part,
                                    hfta_status status);

#endif // HFTA_SRC_INSTANCE_PARTS_H
