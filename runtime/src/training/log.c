//===- log.c - The metrics log --------------------------------------------===//

#include "hfta/json.h"
#include "system/lock.h"
#include "training/log_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct hfta_log {
  const hfta_program *program;
  FILE *file; ///< NULL: writes nothing
  char *path;
  hfta_log_span span;
  hfta_log_scan scan;
  bool regular;   ///< a file that can be cut, not a pipe or device
  bool abandoned; ///< the last write failed with EPIPE
};

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

static hfta_status cannot_write(const char *path, int code, hfta_error *error) {
  return hfta_fail(error, HFTA_CANNOT_WRITE, "cannot write log '%s': %s", path,
                   strerror(code));
}

/// The standard stream that `--log /dev/stdout` names must be written to where
/// it stands: what is opened anew would be overwritten by the results.
static int stream_of(const struct stat *info) {
  struct stat stream;
  for (int descriptor = STDOUT_FILENO; descriptor <= STDERR_FILENO;
       ++descriptor)
    if (fstat(descriptor, &stream) == 0 && stream.st_dev == info->st_dev &&
        stream.st_ino == info->st_ino)
      return descriptor;
  return -1;
}

static hfta_status open_file(hfta_log *log, hfta_error *error) {
  struct stat info;
  // A pipe that could be read too would never lose its reader.
  bool readable = log->span.resumed &&
                  (stat(log->path, &info) != 0 || S_ISREG(info.st_mode));
  int descriptor = open(
      log->path,
      (readable ? O_RDWR : O_WRONLY) | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0 || fstat(descriptor, &info) != 0) {
    int code = errno;
    if (descriptor >= 0)
      close(descriptor);
    return cannot_write(log->path, code, error);
  }
  int stream = stream_of(&info);
  log->regular = stream < 0 && S_ISREG(info.st_mode);
  if (stream >= 0) {
    close(descriptor);
    descriptor = fcntl(stream, F_DUPFD_CLOEXEC, 0);
  }
  log->file = descriptor < 0 ? NULL : fdopen(descriptor, "a");
  return log->file ? HFTA_OK : cannot_write(log->path, errno, error);
}

static hfta_status lock_and_scan(hfta_log *log, hfta_error *error) {
  if (hfta_lock_descriptor(fileno(log->file), false) == HFTA_LOCK_BUSY)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "log '%s' is in use by another training", log->path);
  if (!log->span.resumed)
    return HFTA_OK;
  int descriptor = fcntl(fileno(log->file), F_DUPFD_CLOEXEC, 0);
  FILE *reader = descriptor < 0 ? NULL : fdopen(descriptor, "r");
  if (!reader)
    return cannot_write(log->path, errno, error);
  rewind(reader);
  hfta_status status = hfta_log_scan_file(log->program, log->path, &log->span,
                                          reader, &log->scan, error);
  fclose(reader);
  return status;
}

hfta_status hfta_log_open(const hfta_program *program, const char *path,
                          const hfta_log_span *span, hfta_log **out,
                          hfta_error *error) {
  *out = NULL;
  hfta_log *log = calloc(1, sizeof(*log));
  if (!log || (path && !(log->path = strdup(path)))) {
    free(log);
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a log");
  }
  log->program = program;
  log->span = *span;
  hfta_status status = path ? open_file(log, error) : HFTA_OK;
  if (status == HFTA_OK && log->regular)
    status = lock_and_scan(log, error);
  if (status == HFTA_OK)
    *out = log;
  else
    hfta_log_close(log);
  return status;
}

bool hfta_log_lacks_epoch(const hfta_log *log) {
  const hfta_log_span *span = &log->span;
  if (!log->scan.has_lines || span->steps_done == 0)
    return false;
  if (span->steps_done % span->steps_per_epoch != 0 &&
      span->steps_done != span->total_steps)
    return false;
  return log->scan.last_epoch <
         (span->steps_done - 1) / span->steps_per_epoch + 1;
}

bool hfta_log_is_abandoned(const hfta_log *log) { return log->abandoned; }

void hfta_log_close(hfta_log *log) {
  if (!log)
    return;
  if (log->file)
    fclose(log->file);
  free(log->path);
  free(log);
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

static void begin_line(hfta_log *log, hfta_json_writer *writer,
                       const char *event) {
  errno = 0;
  hfta_json_to_file(writer, log->file);
  hfta_json_begin_object(writer);
  hfta_json_put_string(writer, "event", event);
  if (log->span.job)
    hfta_json_put_string(writer, "job", log->span.job);
}

/// One number a copy, with as many digits as `type` needs to be read back.
/// `live`: null stands for the others.
static void write_list(hfta_json_writer *writer, const hfta_log *log,
                       const char *key, const double *values,
                       hfta_element_type type, const bool *live) {
  hfta_json_key(writer, key);
  hfta_json_begin_array(writer);
  for (int64_t copy = 0; copy < log->program->copies; ++copy)
    if (live && !live[copy])
      hfta_json_null(writer);
    else
      hfta_json_number(writer, values[copy], type);
  hfta_json_end_array(writer);
}

/// Results, which have the job's precision.
static void write_numbers(hfta_json_writer *writer, const hfta_log *log,
                          const char *key, const double *values) {
  write_list(writer, log, key, values,
             (hfta_element_type)log->program->precision, log->span.live);
}

/// Ends the line and hands it to the system.
static hfta_status finish_line(hfta_log *log, hfta_json_writer *writer,
                               hfta_error *error) {
  hfta_json_end_object(writer);
  hfta_json_newline(writer);
  bool whole = hfta_json_finish(writer, NULL) == HFTA_OK;
  if (fflush(log->file) == 0 && whole)
    return HFTA_OK;
  log->abandoned = errno == EPIPE;
  return cannot_write(log->path, errno ? errno : EIO, error);
}

/// Lines of other jobs that stand behind those that go take their place. False
/// after a failure; errno says which.
static bool cut_file(hfta_log *log) {
  const hfta_log_scan *scan = &log->scan;
  int descriptor = fileno(log->file);
  bool moved = true;
  if (scan->moved_bytes > 0) {
    // Who appends can't write anywhere else.
    int flags = fcntl(descriptor, F_GETFL);
    moved = flags >= 0 && fcntl(descriptor, F_SETFL, flags & ~O_APPEND) == 0 &&
            hfta_log_move_lines(descriptor, &log->span, scan);
    int code = errno;
    if (flags >= 0)
      (void)fcntl(descriptor, F_SETFL, flags);
    errno = code;
  }
  return moved &&
         ftruncate(descriptor, scan->kept_bytes + scan->moved_bytes) == 0;
}

hfta_status hfta_log_begin(hfta_log *log, hfta_error *error) {
  const hfta_program *program = log->program;
  if (!log->file)
    return HFTA_OK;
  bool stays = log->span.kept && !log->span.resumed;
  if (log->regular && !stays && !cut_file(log))
    return cannot_write(log->path, errno, error);
  hfta_json_writer writer;
  begin_line(log, &writer, "start");
  hfta_json_put_string(&writer, "name", program->name);
  hfta_json_put_integer(&writer, "copies", program->copies);
  hfta_json_put_string(&writer, "identity", program->models[0].identity);
  hfta_json_put_integer(&writer, "batch", program->batch);
  hfta_json_put_integer(&writer, "steps_per_epoch", log->span.steps_per_epoch);
  hfta_json_put_integer(&writer, "total_steps", log->span.total_steps);
  hfta_json_put_integer(&writer, "steps_done", log->span.steps_done);
  hfta_json_key(&writer, "hyper_parameters");
  hfta_json_begin_object(&writer);
  for (uint32_t i = 0; i < program->hyper_parameter_count; ++i)
    write_list(&writer, log, program->hyper_parameters[i].name,
               program->hyper_parameters[i].values, HFTA_F64, NULL);
  hfta_json_end_object(&writer);
  return finish_line(log, &writer, error);
}

/// One member of each copy's numbers.
static void write_curvatures(hfta_json_writer *writer, const hfta_log *log,
                             const char *key, const hfta_curvature *curvatures,
                             size_t offset) {
  const bool *live = log->span.live;
  hfta_json_key(writer, key);
  hfta_json_begin_array(writer);
  for (int64_t copy = 0; copy < log->program->copies; ++copy) {
    const char *member = (const char *)&curvatures[copy] + offset;
    if (live && !live[copy])
      hfta_json_null(writer);
    else
      hfta_json_number(writer, *(const double *)(const void *)member, HFTA_F64);
  }
  hfta_json_end_array(writer);
}

hfta_status hfta_log_step(hfta_log *log, int64_t step, int64_t epoch,
                          const double *losses, const double *rates,
                          const double *dampings,
                          const hfta_curvature *curvatures, hfta_error *error) {
  if (!log->file)
    return HFTA_OK;
  hfta_json_writer writer;
  begin_line(log, &writer, "step");
  hfta_json_put_integer(&writer, "step", step);
  hfta_json_put_integer(&writer, "epoch", epoch);
  write_numbers(&writer, log, "loss", losses);
  write_numbers(&writer, log, "lr", rates);
  if (dampings) {
    write_list(&writer, log, "damping", dampings, HFTA_F64, log->span.live);
    write_curvatures(&writer, log, "kl_scale", curvatures,
                     offsetof(hfta_curvature, kl_scale));
  }
  return finish_line(log, &writer, error);
}

hfta_status hfta_log_curvature(hfta_log *log, int64_t step,
                               const hfta_curvature *curvatures,
                               hfta_error *error) {
  if (!log->file)
    return HFTA_OK;
  hfta_json_writer writer;
  begin_line(log, &writer, "curvature");
  hfta_json_put_integer(&writer, "step", step);
  write_curvatures(&writer, log, "skipped_statistics", curvatures,
                   offsetof(hfta_curvature, skipped));
  write_curvatures(&writer, log, "retried_inverses", curvatures,
                   offsetof(hfta_curvature, retried));
  write_curvatures(&writer, log, "kept_inverses", curvatures,
                   offsetof(hfta_curvature, kept));
  return finish_line(log, &writer, error);
}

hfta_status hfta_log_epoch(hfta_log *log, int64_t epoch,
                           const double *train_losses,
                           const double *eval_losses,
                           const double *eval_metrics, double seconds,
                           hfta_error *error) {
  if (!log->file)
    return HFTA_OK;
  char metric[128];
  snprintf(metric, sizeof(metric), "eval_%s", log->program->metric);
  hfta_json_writer writer;
  begin_line(log, &writer, "epoch");
  hfta_json_put_integer(&writer, "epoch", epoch);
  write_numbers(&writer, log, "train_loss", train_losses);
  if (eval_losses)
    write_numbers(&writer, log, "eval_loss", eval_losses);
  if (eval_metrics)
    write_numbers(&writer, log, metric, eval_metrics);
  hfta_json_key(&writer, "seconds");
  hfta_json_number(&writer, seconds, HFTA_F32);
  return finish_line(log, &writer, error);
}
