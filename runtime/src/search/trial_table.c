//===- trial_table.c - The state of a search's trials ---------------------===//

#include "search/trial_table.h"

bool hfta_trial_has_ended(const hfta_trial *trial) {
  switch (trial->state) {
  case HFTA_TRIAL_AHEAD:
  case HFTA_TRIAL_WAITS:
  case HFTA_TRIAL_RUNS:
  case HFTA_TRIAL_HELD:
    return false;
  case HFTA_TRIAL_DROPPED:
  case HFTA_TRIAL_FAILED:
  case HFTA_TRIAL_COMPLETE:
  case HFTA_TRIAL_WITHDRAWN:
    return true;
  }
  return true;
}

bool hfta_trial_apply(hfta_trial *trial, const hfta_decision *decision) {
  if (hfta_trial_has_ended(trial))
    return false;
  switch (decision->verdict) {
  case HFTA_VERDICT_GOES_ON:
  case HFTA_VERDICT_REPLACED:
    trial->state = HFTA_TRIAL_WAITS;
    return true;
  case HFTA_VERDICT_DROPPED:
    trial->state = HFTA_TRIAL_DROPPED;
    return false;
  case HFTA_VERDICT_FAILED:
    trial->state = HFTA_TRIAL_FAILED;
    return false;
  case HFTA_VERDICT_COMPLETE:
    trial->state = HFTA_TRIAL_COMPLETE;
    return false;
  case HFTA_VERDICT_WITHDRAWN:
  case HFTA_VERDICT_COUNT:
    return false;
  }
  return false;
}
