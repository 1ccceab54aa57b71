//===- tags.h - Tags of the runtime's own messages ----------------*- C -*-===//
//
// The tags of the runtime's own posts count down from the last tag. The
// messages of a schedule have the number of their segment as their tag, from 0
// up.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_COMMUNICATOR_TAGS_H
#define HFTA_SRC_COMMUNICATOR_TAGS_H

#include "hfta/communicator.h"

enum {
  HFTA_TAG_STATE = HFTA_MAX_TAG, ///< the first rank's state, which goes to all
  HFTA_TAG_WISH = HFTA_MAX_TAG - 1,
  HFTA_TAG_CLOCK = HFTA_MAX_TAG - 2,
  HFTA_TAG_EVENTS = HFTA_MAX_TAG - 3,
  HFTA_TAG_LINKS = HFTA_MAX_TAG - 4,
  HFTA_TAG_TIMES = HFTA_MAX_TAG - 5,
  HFTA_TAG_RESULTS = HFTA_MAX_TAG - 6, ///< losses, and an evaluation's sums
  HFTA_TAG_FIRST_OWN =
      HFTA_MAX_TAG - 15 ///< no tag of the runtime's own is less
};

#endif // HFTA_SRC_COMMUNICATOR_TAGS_H
