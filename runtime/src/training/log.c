//===- log.c - The metrics log --------------------------------------------===//

#include "training/copies_json.h"
#include "training/log_board.h"
#include "training/log_scan.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct hfta_log {
  const hfta_program *program;
  hfta_log_file *file; ///< NULL: nothing is written
  bool is_own;         ///< whether this log has opened `file` and closes it
  hfta_log_span span;
  hfta_log_scan scan;
  bool abandoned;        ///< whether the last write failed with EPIPE
  hfta_log_board *board; ///< NULL: none
};

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

/// Scans the log of an earlier run, if there is one. The caller holds the
/// mutex, since other jobs may be writing to the file.
static hfta_status scan(hfta_log *log, hfta_error *error) {
  if (!log->file->regular || !log->file->resumed)
    return HFTA_OK;
  FILE *reader = hfta_log_file_read(log->file);
  if (!reader)
    return hfta_log_file_cannot_write(log->file, errno, error);
  hfta_status status = hfta_log_scan_file(
      log->program, log->file->path, &log->span, reader, &log->scan, error);
  fclose(reader);
  return status;
}

hfta_status hfta_log_open(const hfta_program *program, const char *path,
                          const hfta_log_span *span, hfta_log **out,
                          hfta_error *error) {
  *out = NULL;
  hfta_log *log = calloc(1, sizeof(*log));
  if (!log)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a log");
  log->program = program;
  log->span = *span;
  log->file = span->file;
  log->is_own = !span->file;
  hfta_status status = HFTA_OK;
  if (log->is_own && path)
    status = hfta_log_file_open(path, span->resumed, &log->file, error);
  if (status == HFTA_OK && log->file) {
    pthread_mutex_lock(&log->file->mutex);
    status = scan(log, error);
    pthread_mutex_unlock(&log->file->mutex);
  }
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
  return log->scan.last_epoch_end < span->steps_done;
}

bool hfta_log_is_abandoned(const hfta_log *log) { return log->abandoned; }

void hfta_log_close(hfta_log *log) {
  if (!log)
    return;
  if (log->is_own)
    hfta_log_file_close(log->file);
  hfta_log_board_close(log->board);
  free(log);
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

/// Begins a line. Takes the mutex, which finish_line releases, so that other
/// jobs wait until the line ends.
static void begin_line(hfta_log *log, hfta_json_writer *writer,
                       const char *event) {
  pthread_mutex_lock(&log->file->mutex);
  errno = 0;
  hfta_json_to_file(writer, log->file->file);
  hfta_json_begin_object(writer);
  hfta_json_put_string(writer, "event", event);
  if (log->span.job)
    hfta_json_put_string(writer, "job", log->span.job);
}

/// Writes a list of the results of the copies that run.
static void write_numbers(hfta_json_writer *writer, const hfta_log *log,
                          const char *key, const double *values) {
  hfta_put_copies(writer, log->program, key, values,
                  (hfta_element_type)log->program->precision, log->span.live);
}

/// Ends the line, flushes it to the system, and releases the mutex.
static hfta_status finish_line(hfta_log *log, hfta_json_writer *writer,
                               hfta_error *error) {
  hfta_json_end_object(writer);
  hfta_json_newline(writer);
  bool whole = hfta_json_finish(writer, NULL) == HFTA_OK;
  bool written = fflush(log->file->file) == 0 && whole && !log->file->is_lost;
  int code = log->file->is_lost ? ESTALE : errno;
  pthread_mutex_unlock(&log->file->mutex);
  if (written)
    return HFTA_OK;
  log->abandoned = code == EPIPE;
  return hfta_log_file_cannot_write(log->file, code ? code : EIO, error);
}

/// Removes the lines of steps that will be done again. If lines of other jobs
/// follow them, a new file replaces the log atomically, so that a killed
/// process leaves either the old log or the new one. The caller holds the
/// mutex.
static hfta_status cut_file(hfta_log *log, hfta_error *error) {
  hfta_log_file *file = log->file;
  off_t kept = 0;
  if (file->resumed) {
    hfta_status status = scan(log, error);
    if (status == HFTA_OK && log->scan.moved_bytes > 0) {
      status = hfta_log_rewrite(fileno(file->file), file->path, &log->span,
                                &log->scan, error);
      return status == HFTA_OK ? hfta_log_file_reopen(file, error) : status;
    }
    if (status != HFTA_OK)
      return status;
    kept = log->scan.kept_bytes;
  } else if (file->begun) {
    return HFTA_OK;
  }
  return ftruncate(fileno(file->file), kept) == 0
             ? HFTA_OK
             : hfta_log_file_cannot_write(file, errno, error);
}

static hfta_status prepare_file(hfta_log *log, hfta_error *error) {
  hfta_log_file *file = log->file;
  pthread_mutex_lock(&file->mutex);
  hfta_status status = file->regular ? cut_file(log, error) : HFTA_OK;
  file->begun |= status == HFTA_OK;
  pthread_mutex_unlock(&file->mutex);
  return status;
}

hfta_status hfta_log_begin(hfta_log *log, hfta_error *error) {
  const hfta_program *program = log->program;
  hfta_status status = HFTA_OK;
  if (log->span.board)
    status = hfta_log_board_open(log->span.board, program, &log->span,
                                 &log->board, error);
  if (status != HFTA_OK || !log->file)
    return status;
  status = prepare_file(log, error);
  if (status != HFTA_OK)
    return status;
  hfta_json_writer writer;
  begin_line(log, &writer, "start");
  hfta_json_put_string(&writer, "name", program->name);
  hfta_json_put_integer(&writer, "copies", program->copies);
  hfta_json_put_string(&writer, "identity", program->models[0].identity);
  hfta_json_put_integer(&writer, "batch", program->batch);
  hfta_json_put_integer(&writer, "steps_per_epoch", log->span.steps_per_epoch);
  hfta_json_put_integer(&writer, "total_steps", log->span.total_steps);
  hfta_json_put_integer(&writer, "steps_done", log->span.steps_done);
  if (program->optimizers) {
    hfta_json_key(&writer, "optimizers");
    hfta_json_begin_array(&writer);
    for (int64_t copy = 0; copy < program->copies; ++copy)
      hfta_json_string(&writer, program->optimizers[copy]);
    hfta_json_end_array(&writer);
  }
  hfta_json_key(&writer, "hyper_parameters");
  hfta_json_begin_object(&writer);
  for (uint32_t i = 0; i < program->hyper_parameter_count; ++i)
    hfta_put_copies(&writer, program, program->hyper_parameters[i].name,
                    program->hyper_parameters[i].values, HFTA_F64, NULL);
  hfta_json_end_object(&writer);
  return finish_line(log, &writer, error);
}

/// Whether a member of hfta_update_report is a count or a real number.
typedef enum member_kind { COUNT, REAL } member_kind;

/// Writes a list with one member of each copy's report. `offset` is the
/// member's offset; counts are written as integers.
static void write_reports(hfta_json_writer *writer, const hfta_log *log,
                          const char *key, const hfta_update_report *reports,
                          size_t offset, member_kind kind) {
  const bool *live = log->span.live;
  hfta_json_key(writer, key);
  hfta_json_begin_array(writer);
  for (int64_t copy = 0; copy < log->program->copies; ++copy) {
    const char *member = (const char *)&reports[copy] + offset;
    double value = *(const double *)(const void *)member;
    if (live && !live[copy])
      hfta_json_null(writer);
    else if (kind == COUNT && isfinite(value))
      hfta_json_integer(writer, (int64_t)value);
    else
      hfta_json_number(writer, value, HFTA_F64);
  }
  hfta_json_end_array(writer);
}

/// Writes the numbers that follow schedules: the damping beside the rates, all
/// others in an object, since their names may be those of other values.
static void write_scheduled(hfta_json_writer *writer, const hfta_log *log,
                            const double *scheduled) {
  const hfta_program *program = log->program;
  bool is_open = false;
  for (uint32_t row = 0; row < program->scheduled_number_count; ++row) {
    const char *name =
        program
            ->hyper_parameters[program->scheduled_numbers[row].hyper_parameter]
            .name;
    if (!is_open && strcmp(name, "damping") != 0) {
      hfta_json_key(writer, "scheduled");
      hfta_json_begin_object(writer);
      is_open = true;
    }
    hfta_put_copies(writer, program, name, scheduled + row * program->copies,
                    HFTA_F64, log->span.live);
  }
  if (is_open)
    hfta_json_end_object(writer);
}

hfta_status hfta_log_step(hfta_log *log, int64_t step, int64_t epoch,
                          const double *losses, const double *terms,
                          const double *rates, const double *scheduled,
                          const hfta_update_report *reports,
                          hfta_error *error) {
  hfta_status status =
      log->board
          ? hfta_log_board_step(log->board, step, losses, terms, rates, error)
          : HFTA_OK;
  if (status != HFTA_OK || !log->file)
    return status;
  hfta_json_writer writer;
  begin_line(log, &writer, "step");
  hfta_json_put_integer(&writer, "step", step);
  hfta_json_put_integer(&writer, "epoch", epoch);
  write_numbers(&writer, log, "loss", losses);
  hfta_put_terms(&writer, log->program, "", terms, log->span.live);
  write_numbers(&writer, log, "lr", rates);
  write_scheduled(&writer, log, scheduled);
  if (log->program->roles.kl_scale != UINT32_MAX) {
    write_reports(&writer, log, "kl_scale", reports,
                  offsetof(hfta_update_report, kl_scale), REAL);
  }
  if (log->program->roles.loss_scale != UINT32_MAX) {
    write_reports(&writer, log, "loss_scale", reports,
                  offsetof(hfta_update_report, loss_scale), REAL);
    write_reports(&writer, log, "skipped_steps", reports,
                  offsetof(hfta_update_report, skipped_steps), COUNT);
  }
  return finish_line(log, &writer, error);
}

hfta_status hfta_log_curvature(hfta_log *log, int64_t step,
                               const hfta_update_report *reports,
                               hfta_error *error) {
  if (!log->file)
    return HFTA_OK;
  hfta_json_writer writer;
  begin_line(log, &writer, "curvature");
  hfta_json_put_integer(&writer, "step", step);
  write_reports(&writer, log, "skipped_statistics", reports,
                offsetof(hfta_update_report, skipped), COUNT);
  write_reports(&writer, log, "retried_inverses", reports,
                offsetof(hfta_update_report, retried), COUNT);
  write_reports(&writer, log, "kept_inverses", reports,
                offsetof(hfta_update_report, kept), COUNT);
  return finish_line(log, &writer, error);
}

/// Writes a list of steps of some copies.
static void write_steps(hfta_json_writer *writer, const hfta_log *log,
                        const char *key, const int64_t *steps,
                        const bool *live) {
  hfta_json_key(writer, key);
  hfta_json_begin_array(writer);
  for (int64_t copy = 0; copy < log->program->copies; ++copy)
    if (live && !live[copy])
      hfta_json_null(writer);
    else
      hfta_json_integer(writer, steps[copy]);
  hfta_json_end_array(writer);
}

hfta_status hfta_log_epoch(hfta_log *log, const hfta_epoch_results *results,
                           hfta_error *error) {
  hfta_status status =
      log->board ? hfta_log_board_epoch(log->board, results, error) : HFTA_OK;
  if (status != HFTA_OK || !log->file)
    return status;
  hfta_json_writer writer;
  begin_line(log, &writer, "epoch");
  hfta_json_put_integer(&writer, "epoch", results->epoch);
  write_numbers(&writer, log, "train_loss", results->train_losses);
  hfta_put_evaluation(&writer, log->program, "validation",
                      results->validation_losses, results->validation_metrics,
                      log->span.live);
  hfta_put_evaluation(&writer, log->program, "average_validation",
                      results->average_validation_losses,
                      results->average_validation_metrics, log->span.live);
  if (results->best_steps)
    write_steps(&writer, log, "best_step", results->best_steps,
                results->tested ? results->tested : log->span.live);
  hfta_put_evaluation(&writer, log->program, "eval", results->eval_losses,
                      results->eval_metrics,
                      results->tested ? results->tested : log->span.live);
  hfta_put_evaluation(&writer, log->program, "average_eval",
                      results->average_eval_losses,
                      results->average_eval_metrics,
                      results->tested ? results->tested : log->span.live);
  hfta_json_key(&writer, "seconds");
  hfta_json_number(&writer, results->seconds, HFTA_F32);
  return finish_line(log, &writer, error);
}
