//===- board.c - Runs in TensorBoard's format -----------------------------===//

#include "interchange/board.h"

#include "interchange/event_records.h"
#include "system/extend.h"
#include "system/path.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// A file of events.
typedef struct events {
  int64_t run, fold; ///< run -1: the file about all runs
  bool has_begun;    ///< whether its first records were added
  char *path;        ///< NULL: it isn't created yet
  hfta_bytes bytes;  ///< events that aren't written yet
} events;

struct hfta_board {
  char *folder;
  char *name; ///< the name of all files
  bool is_search;
  int64_t runs, first_step;
  double begin;
  events *files; ///< first the one about all runs, then one a run, then those
                 ///< of folds
  int64_t count;
};

static hfta_status out_of_memory(hfta_error *error) {
  return hfta_fail(error, HFTA_UNSUPPORTED,
                   "not enough memory for TensorBoard's files");
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// Creates a file's folder, and sets its path.
static hfta_status create_file(const hfta_board *self, events *file,
                               hfta_error *error) {
  hfta_path folder, path;
  hfta_status status;
  if (file->run < 0)
    status = hfta_path_format(&folder, error, "%s", self->folder);
  else if (file->fold == 0)
    status = hfta_path_format(&folder, error, "%s/%s-%04" PRId64, self->folder,
                              self->is_search ? "trial" : "copy", file->run);
  else
    status =
        hfta_path_format(&folder, error, "%s/trial-%04" PRId64 "/fold-%" PRId64,
                         self->folder, file->run, file->fold);
  if (status == HFTA_OK)
    status = hfta_folder_make(folder.text, error);
  if (status == HFTA_OK)
    status = hfta_path_format(&path, error, "%s/%s", folder.text, self->name);
  if (status != HFTA_OK)
    return status;
  file->path = strdup(path.text);
  return file->path ? HFTA_OK : out_of_memory(error);
}

static hfta_status flush_file(const hfta_board *self, events *file,
                              hfta_error *error) {
  if (file->bytes.is_out_of_memory)
    return out_of_memory(error);
  if (file->bytes.used == 0)
    return HFTA_OK;
  if (!file->path) {
    hfta_status status = create_file(self, file, error);
    if (status != HFTA_OK)
      return status;
  }
  errno = 0;
  FILE *stream = fopen(file->path, "ae");
  bool is_whole = stream && fwrite(file->bytes.bytes, 1, file->bytes.used,
                                   stream) == file->bytes.used;
  if (stream && fclose(stream) != 0)
    is_whole = false;
  if (!is_whole)
    return hfta_fail(error, HFTA_CANNOT_WRITE, "cannot write '%s': %s",
                     file->path, strerror(errno ? errno : EIO));
  file->bytes.used = 0;
  return HFTA_OK;
}

hfta_status hfta_board_flush(hfta_board *self, hfta_error *error) {
  hfta_status status = HFTA_OK;
  for (int64_t i = 0; i < self->count && status == HFTA_OK; ++i)
    status = flush_file(self, &self->files[i], error);
  return status;
}

/// Adds a file's first records, unless it has them: steps from `step` on
/// replace those of earlier files. Returns the file.
static events *begin_file(const hfta_board *self, events *file, int64_t step) {
  if (!file->has_begun)
    hfta_put_file_start(&file->bytes, self->begin, step);
  file->has_begun = true;
  return file;
}

/// Returns the file of a run and fold, which is added if it is new; NULL if
/// memory runs out.
static events *find_file(hfta_board *self, int64_t run, int64_t fold,
                         int64_t step) {
  if (fold == 0)
    return begin_file(self, &self->files[1 + run], step);
  for (int64_t i = 1 + self->runs; i < self->count; ++i)
    if (self->files[i].run == run && self->files[i].fold == fold)
      return &self->files[i];
  events *more =
      hfta_extend(self->files, self->count, self->count + 1, sizeof(*more));
  if (!more)
    return NULL;
  self->files = more;
  events *added = &more[self->count++];
  *added = (events){.run = run, .fold = fold};
  return begin_file(self, added, step);
}

//===----------------------------------------------------------------------===//
// Hyper-parameters
//===----------------------------------------------------------------------===//

/// Makes a google.protobuf.Value of a run's setting.
static void put_value(hfta_bytes *out, uint32_t field,
                      const hfta_run_setting *setting, int64_t run) {
  hfta_bytes value = {0};
  if (setting->texts[run])
    hfta_put_text(&value, 3, setting->texts[run]);
  else
    hfta_put_double(&value, 2, setting->numbers[run]);
  hfta_put_message(out, field, &value);
}

static bool has_value(const hfta_run_setting *setting, int64_t run) {
  return setting->texts[run] || !hfta_is_missing(setting->numbers[run]);
}

/// Describes a hyper-parameter: its name, its type and, of texts, its values.
static void put_setting(hfta_bytes *experiment, const hfta_history *described,
                        const hfta_run_setting *setting) {
  hfta_bytes info = {0}, domain = {0};
  bool is_text = false;
  for (int64_t run = 0; run < described->runs; ++run)
    is_text |= setting->texts[run] != NULL;
  hfta_put_text(&info, 1, setting->name);
  hfta_put_varint(&info, 4, is_text ? 1 : 3);
  for (int64_t run = 0; is_text && run < described->runs; ++run) {
    bool is_new = has_value(setting, run);
    for (int64_t other = 0; other < run && is_new; ++other)
      is_new = !setting->texts[run] || !setting->texts[other] ||
               strcmp(setting->texts[run], setting->texts[other]) != 0;
    if (is_new)
      put_value(&domain, 1, setting, run);
  }
  if (is_text)
    hfta_put_message(&info, 5, &domain);
  hfta_put_message(experiment, 4, &info);
}

/// Describes all runs to the plugin.
static void put_experiment(hfta_board *self, const hfta_history *described,
                           const char *const *metrics, int64_t metric_count) {
  hfta_bytes experiment = {0};
  hfta_put_double(&experiment, 3, self->begin);
  for (int64_t i = 0; i < described->setting_count; ++i)
    put_setting(&experiment, described, &described->settings[i]);
  for (int64_t i = 0; i < metric_count; ++i) {
    hfta_bytes info = {0}, name = {0};
    hfta_put_text(&name, 2, metrics[i]);
    hfta_put_message(&info, 1, &name);
    hfta_put_message(&experiment, 5, &info);
  }
  hfta_put_plugin(&begin_file(self, &self->files[0], 0)->bytes, self->begin,
                  "_hparams_/experiment", 2, &experiment);
}

void hfta_board_begin_run(hfta_board *self, const hfta_history *described,
                          int64_t run, double time) {
  hfta_bytes session = {0};
  for (int64_t i = 0; i < described->setting_count; ++i) {
    const hfta_run_setting *setting = &described->settings[i];
    if (!has_value(setting, run))
      continue;
    hfta_bytes entry = {0};
    hfta_put_text(&entry, 1, setting->name);
    put_value(&entry, 2, setting, run);
    hfta_put_message(&session, 1, &entry);
  }
  char group[32];
  snprintf(group, sizeof(group), "%s %" PRId64,
           self->is_search ? "trial" : "copy", run);
  hfta_put_text(&session, 4, group);
  hfta_put_double(&session, 5, time);
  hfta_put_plugin(&find_file(self, run, 0, self->first_step)->bytes, time,
                  "_hparams_/session_start_info", 3, &session);
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

hfta_status hfta_board_open(const char *folder, const hfta_history *described,
                            int64_t runs, const char *const *metrics,
                            int64_t metric_count, int64_t first_step,
                            double time, hfta_board **out, hfta_error *error) {
  *out = NULL;
  hfta_board *self = calloc(1, sizeof(*self));
  if (!self)
    return out_of_memory(error);
  // The names of files of later runs must sort behind those of earlier ones.
  char name[96];
  snprintf(name, sizeof(name),
           "events.out.tfevents.%010" PRId64 ".%06d.hfta.%d", (int64_t)time,
           (int)((time - floor(time)) * 1e6), (int)getpid());
  self->folder = strdup(folder);
  self->name = strdup(name);
  self->is_search = described->is_search;
  self->runs = runs;
  self->first_step = first_step;
  self->begin = time;
  self->count = 1 + self->runs;
  self->files = calloc((size_t)self->count, sizeof(*self->files));
  hfta_status status = HFTA_OK;
  if (!self->folder || !self->name || !self->files) {
    self->count = 0;
    status = out_of_memory(error);
  }
  for (int64_t i = 0; i < self->count; ++i)
    self->files[i].run = i - 1;
  if (status == HFTA_OK) {
    put_experiment(self, described, metrics, metric_count);
    status = hfta_board_flush(self, error);
  }
  if (status == HFTA_OK)
    *out = self;
  else
    hfta_board_close(self);
  return status;
}

void hfta_board_put(hfta_board *self, int64_t run, int64_t fold,
                    const char *tag, int64_t step, double value, double time) {
  events *file = find_file(self, run, fold, step);
  if (file)
    hfta_put_scalar(&file->bytes, time, step, tag, value);
  else
    self->files[0].bytes.is_out_of_memory = true;
}

void hfta_board_end_run(hfta_board *self, int64_t run, hfta_board_end end,
                        double time) {
  hfta_bytes session = {0};
  hfta_put_varint(&session, 1, (uint64_t)end);
  hfta_put_double(&session, 2, time);
  hfta_put_plugin(&find_file(self, run, 0, self->first_step)->bytes, time,
                  "_hparams_/session_end_info", 4, &session);
}

void hfta_board_close(hfta_board *self) {
  if (!self)
    return;
  for (int64_t i = 0; i < self->count; ++i) {
    free(self->files[i].path);
    hfta_bytes_free(&self->files[i].bytes);
  }
  free(self->files);
  free(self->folder);
  free(self->name);
  free(self);
}

//===----------------------------------------------------------------------===//
// Tags
//===----------------------------------------------------------------------===//

const char *hfta_board_tag(const char *series, hfta_rows_kind kind,
                           char out[HFTA_TAG_BYTES]) {
  static const struct {
    const char *prefix, *data;
  } parts[] = {{"average_validation_", "average_validation"},
               {"average_eval_", "average_test"},
               {"validation_", "validation"},
               {"eval_", "test"},
               {"train_", "train_epoch"}};
  if (strcmp(series, "lr") == 0)
    return strcpy(out, "learning_rate");
  for (size_t i = 0;
       kind == HFTA_EPOCH_ROWS && i < sizeof(parts) / sizeof(*parts); ++i) {
    size_t length = strlen(parts[i].prefix);
    if (strncmp(series, parts[i].prefix, length) == 0) {
      snprintf(out, HFTA_TAG_BYTES, "%.250s/%s", series + length,
               parts[i].data);
      return out;
    }
  }
  bool is_loss = kind == HFTA_STEP_ROWS && (strcmp(series, "loss") == 0 ||
                                            strncmp(series, "loss_", 5) == 0);
  snprintf(out, HFTA_TAG_BYTES, is_loss ? "%.250s/train" : "%.250s", series);
  return out;
}

//===----------------------------------------------------------------------===//
// Whole histories
//===----------------------------------------------------------------------===//

/// The time of each epoch's end, counted from the beginning.
typedef struct clock_of_log {
  const hfta_rows *epochs;
  double *ends; ///< one per row of the epochs
} clock_of_log;

/// Returns the time of a step, between the ends of the epochs around it.
static double time_of(const clock_of_log *self, int64_t step) {
  double before = 0;
  int64_t from = 0;
  for (int64_t row = 0; row < self->epochs->count; ++row) {
    int64_t to = self->epochs->steps[row];
    if (step <= to)
      return before + (self->ends[row] - before) * (double)(step - from) /
                          (double)(to > from ? to - from : 1);
    before = self->ends[row];
    from = to;
  }
  return before;
}

static hfta_status put_rows(hfta_board *board, const hfta_history *history,
                            hfta_rows_kind kind, const clock_of_log *clock,
                            double begin, hfta_error *error) {
  const hfta_rows *rows = &history->rows[kind];
  hfta_status status = HFTA_OK;
  for (int64_t row = 0; row < rows->count && status == HFTA_OK; ++row) {
    double time =
        begin + (kind == HFTA_EPOCH_ROWS ? clock->ends[row]
                                         : time_of(clock, rows->steps[row]));
    for (int64_t i = 0; i < rows->series_count; ++i) {
      char tag[HFTA_TAG_BYTES];
      hfta_board_tag(rows->series[i].name, kind, tag);
      for (int64_t run = 0; run < history->runs; ++run) {
        double value = hfta_series_at(history, &rows->series[i], row, run);
        if (!hfta_is_missing(value))
          hfta_board_put(board, run, rows->folds[row], tag, rows->steps[row],
                         value, time);
      }
    }
    // Memory is bounded by what some rows need.
    if (row % 256 == 255)
      status = hfta_board_flush(board, error);
  }
  return status;
}

/// Returns how a run of a history has ended.
static hfta_board_end find_end(const hfta_history *history,
                               const hfta_series *metric, int64_t run) {
  const hfta_rows *epochs = &history->rows[HFTA_EPOCH_ROWS];
  double last = hfta_missing();
  for (int64_t row = 0; metric && row < epochs->count; ++row) {
    double value = hfta_series_at(history, metric, row, run);
    last = hfta_is_missing(value) ? last : value;
  }
  if (!hfta_is_missing(last) && !isfinite(last))
    return HFTA_BOARD_FAILURE;
  bool is_over = epochs->count > 0 &&
                 epochs->steps[epochs->count - 1] >= history->total_steps;
  for (int64_t i = 0; history->is_search && i < history->event_count; ++i)
    if (history->events[i].run == run)
      is_over = strcmp(history->events[i].verdict, "goes on") != 0 &&
                strcmp(history->events[i].verdict, "cloned") != 0;
  return is_over ? HFTA_BOARD_SUCCESS : HFTA_BOARD_RUNNING;
}

hfta_status hfta_board_write(const char *folder, const hfta_history *history,
                             const hfta_series *metric, hfta_error *error) {
  double begin = history->begin;
  const hfta_rows *epochs = &history->rows[HFTA_EPOCH_ROWS];
  char tag[HFTA_TAG_BYTES];
  const char *tags[] = {tag};
  if (metric)
    hfta_board_tag(metric->name, HFTA_EPOCH_ROWS, tag);
  clock_of_log clock = {epochs,
                        calloc((size_t)epochs->count + 1, sizeof(*clock.ends))};
  if (!clock.ends)
    return out_of_memory(error);
  double end = 0;
  for (int64_t row = 0; row < epochs->count; ++row)
    clock.ends[row] = end += epochs->seconds[row];
  hfta_board *board;
  hfta_status status = hfta_board_open(folder, history, history->runs, tags,
                                       metric != NULL, 0, begin, &board, error);
  for (int64_t run = 0; run < history->runs && status == HFTA_OK; ++run)
    hfta_board_begin_run(board, history, run, begin);
  for (int kind = 0; kind < 2 && status == HFTA_OK; ++kind)
    status =
        put_rows(board, history, (hfta_rows_kind)kind, &clock, begin, error);
  for (int64_t run = 0; run < history->runs && status == HFTA_OK; ++run)
    hfta_board_end_run(board, run, find_end(history, metric, run), begin + end);
  if (status == HFTA_OK)
    status = hfta_board_flush(board, error);
  hfta_board_close(board);
  free(clock.ends);
  return status;
}
