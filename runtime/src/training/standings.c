//===- standings.c - How copies stand by their evaluations ----------------===//

#include "training/standings.h"

#include "hfta/safetensors.h"
#include "instance/share_state.h"
#include "search/scores.h"
#include "system/path.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT "hfta-training"
#define VERSION "1"

enum { ARRAYS = 4 };

hfta_status hfta_standings_open(hfta_standings *self, int64_t copies,
                                hfta_error *error) {
  *self = (hfta_standings){.copies = copies};
  self->best_scores = calloc((size_t)copies, sizeof(double));
  self->best_steps = calloc((size_t)copies, sizeof(int64_t));
  self->waited = calloc((size_t)copies, sizeof(int64_t));
  self->stopped_after = calloc((size_t)copies, sizeof(int64_t));
  return self->best_scores && self->best_steps && self->waited &&
                 self->stopped_after
             ? HFTA_OK
             : hfta_fail(error, HFTA_UNSUPPORTED,
                         "not enough memory for the scores of %lld copies",
                         (long long)copies);
}

void hfta_standings_close(hfta_standings *self) {
  free(self->best_scores);
  free(self->best_steps);
  free(self->waited);
  free(self->stopped_after);
  *self = (hfta_standings){0};
}

void hfta_standings_note(hfta_standings *self, const hfta_validation *by,
                         int64_t step, const bool *runs, const double *losses,
                         const double *metrics) {
  if (step <= self->evaluated_step)
    return;
  self->evaluated_step = step;
  for (int64_t copy = 0; copy < self->copies; ++copy) {
    if (!runs[copy] || self->stopped_after[copy] > 0)
      continue;
    hfta_patience own = {{self->best_steps[copy], self->best_scores[copy]},
                         self->waited[copy]};
    double score =
        hfta_validation_score(by, self->copies, copy, losses, metrics);
    if (by->keeps_best && !isfinite(losses[copy]))
      score = NAN;
    bool ends = hfta_patience_note(&own, (hfta_direction)by->direction,
                                   by->patience, by->least, step, score);
    self->best_steps[copy] = own.best.level;
    self->best_scores[copy] = own.best.value;
    self->waited[copy] = own.waited;
    if (by->patience > 0 && ends)
      self->stopped_after[copy] = step;
  }
}

hfta_status hfta_standings_share(hfta_standings *self,
                                 hfta_communicator *communicator,
                                 hfta_error *error) {
  uint64_t bytes = 8 * (uint64_t)self->copies;
  const struct {
    void *memory;
    uint64_t bytes;
  } rows[] = {{&self->evaluated_step, sizeof(self->evaluated_step)},
              {&self->seconds, sizeof(self->seconds)},
              {self->best_scores, bytes},
              {self->best_steps, bytes},
              {self->waited, bytes},
              {self->stopped_after, bytes}};
  hfta_status status = HFTA_OK;
  for (size_t i = 0; i < sizeof(rows) / sizeof(*rows) && status == HFTA_OK; ++i)
    status = hfta_share_bytes(communicator, "scores of copies", rows[i].memory,
                              rows[i].bytes, error);
  return status;
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

/// Describes the file's tensors, in their order.
static void describe(const hfta_standings *self, hfta_tensor_view *out) {
  const struct {
    const char *name;
    hfta_element_type type;
    const void *data;
  } rows[ARRAYS] = {{"best_score", HFTA_F64, self->best_scores},
                    {"best_step", HFTA_I64, self->best_steps},
                    {"waited", HFTA_I64, self->waited},
                    {"stopped_after", HFTA_I64, self->stopped_after}};
  for (int i = 0; i < ARRAYS; ++i)
    out[i] = (hfta_tensor_view){.name = rows[i].name,
                                .type = rows[i].type,
                                .rank = 1,
                                .shape = &self->copies,
                                .data = rows[i].data,
                                .bytes = 8 * (uint64_t)self->copies};
}

static hfta_status find_path(const char *folder, hfta_path *out,
                             hfta_error *error) {
  return hfta_path_format(out, error, "%s/training.safetensors", folder);
}

hfta_status hfta_standings_save(const hfta_standings *self, const char *folder,
                                hfta_error *error) {
  hfta_tensor_view views[ARRAYS];
  describe(self, views);
  char step[32], seconds[32];
  uint64_t bits;
  memcpy(&bits, &self->seconds, sizeof(bits));
  snprintf(step, sizeof(step), "%" PRId64, self->evaluated_step);
  snprintf(seconds, sizeof(seconds), "%016" PRIx64, bits);
  const hfta_metadata metadata[] = {{"format", FORMAT},
                                    {"version", VERSION},
                                    {HFTA_SAFETENSORS_CHECKSUM, NULL},
                                    {"evaluated_step", step},
                                    {"seconds", seconds}};
  hfta_path path;
  hfta_status status = find_path(folder, &path, error);
  return status == HFTA_OK
             ? hfta_safetensors_write(path.text, views, ARRAYS, metadata,
                                      sizeof(metadata) / sizeof(*metadata),
                                      error)
             : status;
}

/// Reads a number of the metadata in base 10 or 16. Returns false if there is
/// none.
static bool read_number(const hfta_safetensors *file, const char *key, int base,
                        uint64_t *out) {
  const char *text = hfta_safetensors_metadata(file, key);
  char *end = NULL;
  errno = 0;
  if (text && *text >= '0')
    *out = strtoull(text, &end, base);
  return end && *end == '\0' && end != text && errno == 0;
}

/// Checks everything in the file before anything changes.
static bool is_valid(const hfta_standings *self, const hfta_safetensors *file,
                     uint64_t *step, double *seconds) {
  const char *format = hfta_safetensors_metadata(file, "format");
  const char *version = hfta_safetensors_metadata(file, "version");
  uint64_t bits;
  if (!format || strcmp(format, FORMAT) != 0 || !version ||
      strcmp(version, VERSION) != 0 ||
      !hfta_safetensors_metadata(file, HFTA_SAFETENSORS_CHECKSUM) ||
      !read_number(file, "evaluated_step", 10, step) || *step > INT64_MAX ||
      !read_number(file, "seconds", 16, &bits))
    return false;
  memcpy(seconds, &bits, sizeof(*seconds));
  hfta_tensor_view views[ARRAYS];
  describe(self, views);
  for (int i = 0; i < ARRAYS; ++i) {
    const hfta_tensor_view *found = hfta_safetensors_find(file, views[i].name);
    if (!found || found->type != views[i].type || found->rank != 1 ||
        found->bytes != views[i].bytes)
      return false;
  }
  return isfinite(*seconds) && *seconds >= 0;
}

static hfta_status read_file(hfta_standings *self, const hfta_safetensors *file,
                             const char *path, hfta_error *error) {
  uint64_t step;
  double seconds;
  hfta_status status = hfta_safetensors_verify(file, path, error);
  if (status != HFTA_OK)
    return status;
  if (!is_valid(self, file, &step, &seconds))
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "'%s' doesn't hold the scores of %lld copies", path,
                     (long long)self->copies);
  void *arrays[ARRAYS] = {self->best_scores, self->best_steps, self->waited,
                          self->stopped_after};
  hfta_tensor_view views[ARRAYS];
  describe(self, views);
  for (int i = 0; i < ARRAYS; ++i)
    memcpy(arrays[i], hfta_safetensors_find(file, views[i].name)->data,
           views[i].bytes);
  self->evaluated_step = (int64_t)step;
  self->seconds = seconds;
  return HFTA_OK;
}

hfta_status hfta_standings_load(hfta_standings *self, const char *folder,
                                hfta_error *error) {
  hfta_path path;
  hfta_safetensors *file = NULL;
  hfta_status status = find_path(folder, &path, error);
  if (status != HFTA_OK || !hfta_path_exists(path.text))
    return status;
  status = hfta_safetensors_open(path.text, &file, error);
  if (status == HFTA_OK)
    status = read_file(self, file, path.text, error);
  hfta_safetensors_close(file);
  return status;
}
