//===- communicator_open.c - Opens a communicator -------------------------===//

#include "hfta/communicator.h"

#include <stddef.h>

hfta_status hfta_communicator_open(const hfta_rank_options *options,
                                   hfta_communicator **out, hfta_error *error) {
  *out = NULL;
  hfta_rank_options own = {0};
  if (options)
    own = *options;
  if (!(own.timeout > 0.0))
    own.timeout = HFTA_DEFAULT_RANK_TIMEOUT;
  const double longest = 1e9;
  own.timeout = own.timeout < longest ? own.timeout : longest;
  hfta_launcher launcher;
  hfta_launcher_find(&launcher);
  if (own.ranks == HFTA_RANKS_ONE || launcher.size == 1)
    return hfta_communicator_self.open(&own, out, error);
  if (launcher.size > HFTA_MAX_RANKS)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "the launcher has started %d ranks: at most %d are "
                     "possible",
                     launcher.size, HFTA_MAX_RANKS);
  return hfta_communicator_mpi.open(&own, out, error);
}
