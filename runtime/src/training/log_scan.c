//===- log_scan.c - Scan of an earlier run's log --------------------------===//

#include "training/log_scan.h"

#include "hfta/instance.h"
#include "hfta/json.h"
#include "system/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/// The members of a line that the scan needs; missing numbers are -1, missing
/// texts "".
typedef struct line_facts {
  char event[16];
  char identity[80];
  int64_t step;
  int64_t epoch;
  int64_t steps_done;
  int64_t steps_per_epoch;
  int64_t total_steps;
  bool names_job; ///< whether the line belongs to the requested job; always
                  ///< true if no job is requested
} line_facts;

static void copy_text(char *out, size_t size, const hfta_json_reader *json) {
  if (json->string_length < size)
    memcpy(out, json->string, json->string_length + 1);
}

/// Reads the value of a member whose key was read. Returns false if the line
/// isn't valid JSON.
static bool read_member(hfta_json_reader *json, const char *job,
                        line_facts *facts) {
  const struct {
    const char *name;
    int64_t *value;
  } integers[] = {{"step", &facts->step},
                  {"epoch", &facts->epoch},
                  {"steps_done", &facts->steps_done},
                  {"steps_per_epoch", &facts->steps_per_epoch},
                  {"total_steps", &facts->total_steps}};
  bool is_event = strcmp(json->string, "event") == 0;
  bool is_job = job && strcmp(json->string, "job") == 0;
  bool is_identity = strcmp(json->string, "identity") == 0;
  int64_t *integer = NULL;
  for (size_t i = 0; i < sizeof(integers) / sizeof(*integers); ++i)
    if (strcmp(json->string, integers[i].name) == 0)
      integer = integers[i].value;
  hfta_json_event event = hfta_json_next(json);
  if (event == HFTA_JSON_INTEGER && integer)
    *integer = json->integer;
  else if (event == HFTA_JSON_STRING && is_event)
    copy_text(facts->event, sizeof(facts->event), json);
  else if (event == HFTA_JSON_STRING && is_job)
    facts->names_job = strcmp(json->string, job) == 0;
  else if (event == HFTA_JSON_STRING && is_identity)
    copy_text(facts->identity, sizeof(facts->identity), json);
  else
    return hfta_json_skip(json, event);
  return true;
}

/// Reads a line's facts. If the line isn't an event of a log, they keep their
/// defaults. Reading stops at the first list, since lists are long and come
/// last in a line.
static line_facts read_line(const char *line, size_t length, const char *job) {
  line_facts facts = {.step = -1,
                      .epoch = -1,
                      .steps_done = -1,
                      .steps_per_epoch = -1,
                      .total_steps = -1,
                      .names_job = !job};
  hfta_json_reader json;
  hfta_json_read(&json, line, length);
  bool is_ours = hfta_json_next(&json) == HFTA_JSON_BEGIN_OBJECT;
  while (is_ours && hfta_json_next(&json) == HFTA_JSON_KEY &&
         strcmp(json.string, "loss") != 0 &&
         strcmp(json.string, "skipped_statistics") != 0 &&
         strcmp(json.string, "train_loss") != 0 &&
         strcmp(json.string, "hyper_parameters") != 0)
    is_ours = read_member(&json, job, &facts);
  hfta_json_read_end(&json);
  return facts;
}

/// The number of steps of a training and of each of its epochs.
typedef struct run_length {
  int64_t steps_per_epoch;
  int64_t total_steps;
} run_length;

/// Returns the last step of an epoch of a run. The run's last epoch may end
/// early, at the end of the run.
static int64_t end_of_epoch(int64_t epoch, const run_length *run) {
  if (epoch <= 0)
    return 0;
  return epoch <= run->total_steps / run->steps_per_epoch
             ? epoch * run->steps_per_epoch
             : run->total_steps;
}

/// Sets `*run` to the length that a start event states. If it states none, the
/// run's epochs are assumed to be as long as those of the current training.
static void take_run(const line_facts *facts, const run_length *now,
                     run_length *run) {
  *run = (run_length){facts->steps_per_epoch, facts->total_steps};
  if (run->steps_per_epoch <= 0 || run->total_steps <= 0)
    *run = *now;
}

/// Returns whether the training will write an epoch's event again. It will if
/// it does the epoch's last step again, or if it continues an epoch that had
/// ended early because the earlier run was shorter.
static bool repeats_epoch(int64_t epoch, int64_t steps_done,
                          const run_length *run, const run_length *now) {
  int64_t end = end_of_epoch(epoch, run);
  if (end != steps_done)
    return end > steps_done;
  return run->steps_per_epoch == now->steps_per_epoch &&
         end_of_epoch(epoch, now) > steps_done;
}

/// Returns whether a line is about a step that the training will do again.
/// `run` is the length of the run that has written the line.
static bool is_beyond(const line_facts *facts, int64_t steps_done,
                      const run_length *run, const run_length *now) {
  if (strcmp(facts->event, "step") == 0 ||
      strcmp(facts->event, "curvature") == 0)
    return facts->step > steps_done;
  if (strcmp(facts->event, "start") == 0)
    return facts->steps_done > steps_done;
  return strcmp(facts->event, "epoch") == 0 &&
         repeats_epoch(facts->epoch, steps_done, run, now);
}

static bool is_identity_of(const hfta_program *program, const char *identity) {
  for (int64_t copy = 0; copy < program->copies; ++copy)
    if (strcmp(hfta_program_model(program, copy)->identity, identity) == 0)
      return true;
  return false;
}

hfta_status hfta_log_scan_file(const hfta_program *program, const char *path,
                               const hfta_log_span *span, FILE *file,
                               hfta_log_scan *out, hfta_error *error) {
  *out = (hfta_log_scan){0};
  const run_length now = {span->steps_per_epoch, span->total_steps};
  run_length run = now;
  bool cut = false;
  char *line = NULL;
  size_t capacity = 0;
  ssize_t length;
  hfta_status status = HFTA_OK;
  errno = 0;
  while ((length = getline(&line, &capacity, file)) > 0 &&
         line[length - 1] == '\n') {
    line_facts facts = read_line(line, (size_t)length, span->job);
    out->end += length;
    if (!facts.names_job) {
      *(cut ? &out->moved_bytes : &out->kept_bytes) += length;
      continue;
    }
    if (*facts.identity && !is_identity_of(program, facts.identity)) {
      status = hfta_fail(error, HFTA_INVALID_INPUT,
                         "log '%s' is of another training (identity %s): give "
                         "another file",
                         path, facts.identity);
      break;
    }
    if (strcmp(facts.event, "start") == 0)
      take_run(&facts, &now, &run);
    cut = cut || is_beyond(&facts, span->steps_done, &run, &now);
    if (cut && !span->job)
      break; // the rest of the log is removed
    if (cut)
      continue;
    if (strcmp(facts.event, "epoch") == 0)
      out->last_epoch_end = end_of_epoch(facts.epoch, &run);
    out->has_lines = true;
    out->kept_bytes += length;
  }
  if (status == HFTA_OK && length < 0 && !feof(file))
    status = hfta_fail(error, HFTA_CANNOT_WRITE, "cannot read log '%s': %s",
                       path, strerror(errno ? errno : EIO));
  free(line);
  return status;
}

/// Keeps only the lines of other jobs in `lines`, which has `size` bytes.
/// Returns the number of bytes that are left.
static size_t drop_lines(char *lines, size_t size, const char *job) {
  size_t kept = 0;
  for (size_t at = 0; at < size;) {
    const char *end = memchr(lines + at, '\n', size - at);
    size_t length = end ? (size_t)(end - (lines + at)) + 1 : size - at;
    if (!read_line(lines + at, length, job).names_job) {
      memmove(lines + kept, lines + at, length);
      kept += length;
    }
    at += length;
  }
  return kept;
}

/// Reads exactly `size` bytes at an offset. Returns false and sets errno if
/// that isn't possible.
static bool read_at(int descriptor, char *to, size_t size, off_t offset) {
  for (size_t done = 0; done < size;) {
    ssize_t count =
        pread(descriptor, to + done, size - done, offset + (off_t)done);
    if (count == 0)
      errno = EIO; // another process has truncated the file
    if (count <= 0)
      return false;
    done += (size_t)count;
  }
  return true;
}

hfta_status hfta_log_rewrite(int descriptor, const char *path,
                             const hfta_log_span *span,
                             const hfta_log_scan *scan, hfta_error *error) {
  size_t kept = (size_t)scan->kept_bytes, size = (size_t)scan->end;
  char *lines = malloc(size + 1);
  hfta_output *output = NULL;
  if (!lines)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a log");
  hfta_status status = HFTA_OK;
  if (!read_at(descriptor, lines, size, 0))
    status = hfta_fail(error, HFTA_CANNOT_WRITE, "cannot read log '%s': %s",
                       path, strerror(errno));
  if (status == HFTA_OK)
    status = hfta_output_open(path, &output, error);
  if (status == HFTA_OK) {
    size = kept + drop_lines(lines + kept, size - kept, span->job);
    status = hfta_output_write(output, lines, size, error);
    if (status == HFTA_OK)
      status = hfta_output_commit(output, error);
    else
      hfta_output_discard(output);
  }
  free(lines);
  return status;
}
