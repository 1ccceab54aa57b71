//===- worker_tags.c - Tags that tell pairs of workers apart --------------===//

#include "communicator/worker_tags.h"
#include "communicator/posted.h"

/// The number of the runtime's own tags, including those of internal messages.
enum { OWN_TAGS = HFTA_TAG_SPLIT + 1 - HFTA_TAG_FIRST_OWN };

hfta_status hfta_worker_tags_create(int schedules, int most,
                                    hfta_worker_tags *out, hfta_error *error) {
  *out = (hfta_worker_tags){schedules, most};
  int64_t pairs = (int64_t)most * most;
  int64_t needed = 2 * pairs * ((int64_t)schedules + OWN_TAGS);
  return needed <= HFTA_TAG_FIRST_OWN
             ? HFTA_OK
             : hfta_fail(error, HFTA_UNSUPPORTED,
                         "%d workers on a rank, of a program with %d segments "
                         "of memory, need %lld tags of messages; %d are "
                         "possible: start more ranks",
                         most, schedules, (long long)needed,
                         HFTA_TAG_FIRST_OWN);
}

bool hfta_worker_tags_have(const hfta_worker_tags *tags, int tag) {
  return (tag >= 0 && tag < tags->schedules) ||
         (tag >= HFTA_TAG_FIRST_OWN && tag <= HFTA_TAG_SPLIT);
}

int hfta_worker_tag(const hfta_worker_tags *tags, bool is_stage, int lower,
                    int higher, int tag) {
  int number =
      tag < tags->schedules ? tag : tags->schedules + tag - HFTA_TAG_FIRST_OWN;
  return ((number * 2 + is_stage) * tags->most + lower) * tags->most + higher;
}
