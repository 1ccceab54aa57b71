//===- tags.h - Whose messages are whose ------------------------*- C -*-===//
//
// Tags of posts of the runtime's own, from the last one down: what a schedule
// exchanges has the number of its segment for a tag, from 0 up.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_COMMUNICATOR_TAGS_H
#define HFTA_SRC_COMMUNICATOR_TAGS_H

#include "hfta/communicator.h"

enum {
  HFTA_TAG_STATE = HFTA_MAX_TAG, ///< what the first rank has goes to all
  HFTA_TAG_WISH = HFTA_MAX_TAG - 1,
  HFTA_TAG_CLOCK = HFTA_MAX_TAG - 2,
  HFTA_TAG_EVENTS = HFTA_MAX_TAG - 3,
  HFTA_TAG_LINKS = HFTA_MAX_TAG - 4,
  HFTA_TAG_TIMES = HFTA_MAX_TAG - 5,
  HFTA_TAG_RESULTS = HFTA_MAX_TAG - 6,   ///< losses, and an evaluation's sums
  HFTA_TAG_FIRST_OWN = HFTA_MAX_TAG - 15 ///< none of them is less
};

#endif // HFTA_SRC_COMMUNICATOR_TAGS_H
