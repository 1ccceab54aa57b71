//===- spent_time.c - The time that a search has taken --------------------===//

#include "tuning/tuner_impl.h"

#include "system/clock.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const char SECONDS[] = "seconds";

double hfta_tuner_seconds(const hfta_tuner *self) {
  return self->seconds + hfta_now() - self->begin;
}

/// Writes the time to a file, and doesn't wait until it is on the disk: after a
/// crash of the machine, some of the time may be forgotten.
static bool write_seconds(const char *path, double seconds) {
  FILE *file = fopen(path, "we");
  if (!file)
    return false;
  bool complete = fprintf(file, "%.3f\n", seconds) > 0;
  return fclose(file) == 0 && complete;
}

hfta_status hfta_tuner_save_seconds(hfta_tuner *self) {
  if (!self->folder || !hfta_team_leads(&self->team))
    return HFTA_OK;
  hfta_path path, temporary;
  hfta_status status =
      hfta_path_format(&path, self->error, "%s/%s", self->folder, SECONDS);
  if (status == HFTA_OK)
    status = hfta_path_format(&temporary, self->error, "%s/.%s", self->folder,
                              SECONDS);
  if (status != HFTA_OK)
    return status;
  return write_seconds(temporary.text, hfta_tuner_seconds(self)) &&
                 rename(temporary.text, path.text) == 0
             ? HFTA_OK
             : hfta_fail(self->error, HFTA_CANNOT_WRITE,
                         "cannot write '%s': %s", path.text, strerror(errno));
}

void hfta_tuner_read_seconds(hfta_tuner *self) {
  hfta_path path;
  FILE *file = NULL;
  if (hfta_path_format(&path, NULL, "%s/%s", self->folder, SECONDS) == HFTA_OK)
    file = fopen(path.text, "re");
  if (!file)
    return;
  double seconds;
  if (fscanf(file, "%lf", &seconds) == 1 && seconds > 0)
    self->seconds = seconds;
  fclose(file);
}

void hfta_tuner_forget_seconds(hfta_tuner *self) {
  hfta_path path;
  if (hfta_path_format(&path, NULL, "%s/%s", self->folder, SECONDS) == HFTA_OK)
    unlink(path.text);
}
