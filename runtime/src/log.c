//===- log.c - The metrics log --------------------------------------------===//

#include "log.h"

#include "hfta/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct hfta_log {
  const hfta_program *program;
  FILE *file;
  char *path;
};

/// Cuts off what follows the last newline of a regular file.
static bool cut_torn_line(FILE *file) {
  struct stat info;
  if (fstat(fileno(file), &info) != 0 || !S_ISREG(info.st_mode))
    return true;
  off_t end = info.st_size;
  while (end > 0) {
    char last;
    if (pread(fileno(file), &last, 1, end - 1) != 1)
      return false;
    if (last == '\n')
      break;
    --end;
  }
  return end == info.st_size || ftruncate(fileno(file), end) == 0;
}

hfta_status hfta_log_open(const hfta_program *program, const char *path,
                          bool append, hfta_log **out, hfta_error *error) {
  *out = NULL;
  hfta_log *log = calloc(1, sizeof(*log));
  if (!log)
    return hfta_fail(error, HFTA_INTERNAL, "not enough memory for a log");
  log->program = program;
  if (path) {
    log->path = strdup(path);
    log->file = fopen(path, append ? "a+e" : "we");
    if (!log->file || !log->path || (append && !cut_torn_line(log->file))) {
      int code = errno;
      hfta_log_close(log);
      return hfta_fail(error, HFTA_CANNOT_WRITE, "cannot write log '%s': %s",
                       path, strerror(code));
    }
  }
  *out = log;
  return HFTA_OK;
}

void hfta_log_close(hfta_log *log) {
  if (!log)
    return;
  if (log->file)
    fclose(log->file);
  free(log->path);
  free(log);
}

static void write_numbers(hfta_json_writer *writer, const hfta_log *log,
                          const char *key, const double *values) {
  hfta_json_key(writer, key);
  hfta_json_begin_array(writer);
  for (int64_t copy = 0; copy < log->program->copies; ++copy)
    hfta_json_number(writer, values[copy],
                     (hfta_element_type)log->program->precision);
  hfta_json_end_array(writer);
}

/// Ends the line and hands it to the system.
static hfta_status finish_line(hfta_log *log, hfta_json_writer *writer,
                               hfta_error *error) {
  hfta_json_end_object(writer);
  hfta_json_newline(writer);
  hfta_error reason;
  hfta_status status = hfta_json_finish(writer, &reason);
  if (status == HFTA_OK && fflush(log->file) == 0)
    return HFTA_OK;
  return hfta_fail(error, HFTA_CANNOT_WRITE, "cannot write log '%s': %s",
                   log->path,
                   status == HFTA_OK ? strerror(errno) : reason.message);
}

hfta_status hfta_log_step(hfta_log *log, int64_t step, int64_t epoch,
                          const double *losses, const double *rates,
                          hfta_error *error) {
  if (!log->file)
    return HFTA_OK;
  hfta_json_writer writer;
  hfta_json_to_file(&writer, log->file);
  hfta_json_begin_object(&writer);
  hfta_json_key(&writer, "event");
  hfta_json_string(&writer, "step");
  hfta_json_key(&writer, "step");
  hfta_json_integer(&writer, step);
  hfta_json_key(&writer, "epoch");
  hfta_json_integer(&writer, epoch);
  write_numbers(&writer, log, "loss", losses);
  write_numbers(&writer, log, "lr", rates);
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
  hfta_json_to_file(&writer, log->file);
  hfta_json_begin_object(&writer);
  hfta_json_key(&writer, "event");
  hfta_json_string(&writer, "epoch");
  hfta_json_key(&writer, "epoch");
  hfta_json_integer(&writer, epoch);
  write_numbers(&writer, log, "train_loss", train_losses);
  if (eval_losses)
    write_numbers(&writer, log, "eval_loss", eval_losses);
  if (eval_metrics)
    write_numbers(&writer, log, metric, eval_metrics);
  hfta_json_key(&writer, "seconds");
  hfta_json_number(&writer, seconds, HFTA_F32);
  return finish_line(log, &writer, error);
}
