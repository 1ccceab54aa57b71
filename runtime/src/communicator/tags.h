//===- tags.h - Tags of the runtime's own messages ----------------*- C -*-===//
//
// The tags of the runtime's own posts count down from HFTA_MAX_TAG. Messages of
// a schedule use their segment's number as tag, counting up from 0.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_COMMUNICATOR_TAGS_H
#define HFTA_SRC_COMMUNICATOR_TAGS_H

#include "hfta/communicator.h"

enum {
  HFTA_TAG_STATE = HFTA_MAX_TAG, ///< the state of the first rank, sent to all
                                 ///< ranks, and parts of checkpoints
  HFTA_TAG_WISH = HFTA_MAX_TAG - 1,    ///< whether a rank wishes to stop the
                                       ///< training
  HFTA_TAG_CLOCK = HFTA_MAX_TAG - 2,   ///< readings of the clock, for traces
  HFTA_TAG_EVENTS = HFTA_MAX_TAG - 3,  ///< recorded events, for traces
  HFTA_TAG_LINKS = HFTA_MAX_TAG - 4,   ///< measurements of the links between
                                       ///< ranks
  HFTA_TAG_TIMES = HFTA_MAX_TAG - 5,   ///< measured times of tasks
  HFTA_TAG_RESULTS = HFTA_MAX_TAG - 6, ///< losses, and the sums of an
                                       ///< evaluation
  /// The lower bound of the runtime's own tags.
  HFTA_TAG_FIRST_OWN = HFTA_MAX_TAG - 15
};

#endif // HFTA_SRC_COMMUNICATOR_TAGS_H
