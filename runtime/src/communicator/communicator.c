//===- communicator.c - Calls through a communicator's table --------------===//

#include "hfta/communicator.h"

#include <stdlib.h>

void hfta_communicator_close(hfta_communicator *communicator) {
  if (communicator)
    communicator->functions->close(communicator);
}

hfta_status hfta_communicator_split(hfta_communicator *communicator, int color,
                                    int key, hfta_communicator **out,
                                    hfta_error *error) {
  *out = NULL;
  return communicator->functions->split(communicator, color, key, out, error);
}

hfta_status hfta_communicator_post(hfta_communicator *communicator,
                                   const hfta_post *post, hfta_posted **out,
                                   hfta_error *error) {
  *out = NULL;
  return communicator->functions->post(communicator, post, out, error);
}

hfta_status hfta_communicator_wait(hfta_communicator *communicator,
                                   hfta_posted *posted, hfta_error *error) {
  return communicator->functions->wait(communicator, posted, error);
}

hfta_status hfta_communicator_complete(hfta_communicator *communicator,
                                       const hfta_post *post,
                                       hfta_error *error) {
  hfta_posted *posted;
  hfta_status status =
      hfta_communicator_post(communicator, post, &posted, error);
  return status == HFTA_OK ? hfta_communicator_wait(communicator, posted, error)
                           : status;
}

bool hfta_communicator_keeps_memory(hfta_communicator *communicator) {
  return communicator->functions->keeps_memory &&
         communicator->functions->keeps_memory(communicator);
}

void hfta_communicator_free(hfta_communicator *communicator, void *memory) {
  if (memory && !hfta_communicator_keeps_memory(communicator))
    free(memory);
}

void hfta_communicator_progress(hfta_communicator *communicator) {
  communicator->functions->progress(communicator);
}

void hfta_communicator_give_up(hfta_communicator *communicator,
                               hfta_status code, const char *message) {
  communicator->functions->give_up(communicator, code, message);
}

void hfta_communicator_fail(hfta_communicator *communicator, hfta_status code,
                            const char *line) {
  communicator->functions->fail(communicator, code, line);
  abort(); // not reached
}
