//===- steer.c - Follows the requests of users ----------------------------===//

#include "tuning/steer.h"

#include "instance/share_state.h"
#include "system/clock.h"
#include "tuning/study_json.h"
#include "tuning/study_lines.h"
#include "tuning/study_requests.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t NO_MORE = UINT64_MAX;

/// A line that a client has sent, on all ranks.
typedef struct sent {
  hfta_control_line line; ///< on rank 0
  uint64_t bytes;         ///< 0: nothing; else the text's with its last 0 byte;
                          ///< NO_MORE: nothing will ever come
  char *text;
} sent;

//===----------------------------------------------------------------------===//
// Lines for clients and the log
//===----------------------------------------------------------------------===//

hfta_status hfta_tuner_publish(hfta_tuner *self) {
  size_t size;
  const char *text = hfta_journal_added(self->journal, &size);
  size_t begin = self->published;
  self->published = size;
  if (!text || size == begin)
    return HFTA_OK;
  if (self->control)
    hfta_control_tell(self->control, text + begin, size - begin);
  if (self->board) {
    hfta_status status = hfta_search_board_add(self->board, text + begin,
                                               size - begin, self->error);
    if (status != HFTA_OK)
      return status;
  }
  if (!self->log)
    return HFTA_OK;
  bool complete =
      fwrite(text + begin, 1, size - begin, self->log->file) == size - begin;
  complete = fflush(self->log->file) == 0 && complete;
  return complete ? HFTA_OK
                  : hfta_fail(self->error, HFTA_CANNOT_WRITE,
                              "cannot write the log '%s'", self->log->path);
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

static void begin_answer(hfta_json_writer *writer, const hfta_request *request,
                         bool is_ok) {
  hfta_json_to_memory(writer);
  hfta_json_begin_object(writer);
  if (request->id) {
    hfta_json_key(writer, "id");
    hfta_json_raw(writer, request->id);
  }
  hfta_json_put_boolean(writer, "ok", is_ok);
}

static void send_answer(hfta_tuner *self, int client,
                        hfta_json_writer *writer) {
  size_t size;
  hfta_json_end_object(writer);
  hfta_json_newline(writer);
  const char *text = hfta_json_text(writer, &size);
  if (text && self->control)
    hfta_control_answer(self->control, client, text, size);
  hfta_json_release(writer);
}

static void refuse(hfta_tuner *self, int client, const hfta_request *request,
                   const char *message) {
  hfta_json_writer writer;
  begin_answer(&writer, request, false);
  hfta_json_put_string(&writer, "error", message);
  send_answer(self, client, &writer);
}

static void put_status(hfta_tuner *self, const hfta_request *request,
                       hfta_json_writer *writer) {
  const hfta_study *study = self->study;
  hfta_json_put_boolean(writer, "over", hfta_study_is_over(study));
  hfta_json_put_integer(writer, "best", hfta_study_best(study));
  hfta_json_put_integer(writer, "slots", self->program->copies);
  hfta_json_key(writer, "seconds");
  hfta_json_number(writer, hfta_tuner_seconds(self), HFTA_F64);
  hfta_json_key(writer, "trials");
  hfta_json_begin_array(writer);
  int64_t count = request->trials ? request->trial_count : study->trial_count;
  for (int64_t i = 0; i < count; ++i)
    hfta_study_put_trial(study, request->trials ? request->trials[i] : i,
                         writer);
  hfta_json_end_array(writer);
}

/// Writes the numbers of new trials.
static void put_added(const hfta_added *added, hfta_json_writer *writer) {
  hfta_json_key(writer, "trials");
  hfta_json_begin_array(writer);
  for (int64_t i = 0; i < added->count; ++i)
    hfta_json_integer(writer, added->trials[i]);
  hfta_json_end_array(writer);
}

/// Writes the settings of trials that have been asked for; null where they
/// depend on scores that aren't there yet.
static void put_asked(const hfta_tuner *self, const hfta_added *added,
                      hfta_json_writer *writer) {
  hfta_json_key(writer, "settings");
  hfta_json_begin_array(writer);
  for (int64_t i = 0; i < added->count; ++i) {
    const double *values = hfta_study_values(self->study, added->trials[i]);
    if (values)
      hfta_study_put_settings(self->study, values, writer);
    else
      hfta_json_null(writer);
  }
  hfta_json_end_array(writer);
}

static void answer(hfta_tuner *self, int client, const hfta_request *request,
                   const hfta_added *added) {
  hfta_json_writer writer;
  begin_answer(&writer, request, true);
  if (request->kind == HFTA_REQUEST_STATUS)
    put_status(self, request, &writer);
  if (request->kind == HFTA_REQUEST_SAVE)
    hfta_json_put_string(&writer, "folder", self->folder);
  if (added->count > 0)
    put_added(added, &writer);
  if (request->kind == HFTA_REQUEST_ASK)
    put_asked(self, added, &writer);
  send_answer(self, client, &writer);
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

/// Writes a request to the journal, and syncs it, before anything follows from
/// it.
static hfta_status note(hfta_tuner *self, const hfta_request *request) {
  hfta_json_writer writer;
  hfta_json_to_memory(&writer);
  hfta_json_begin_object(&writer);
  hfta_request_write(request, &self->study->space, &writer);
  hfta_json_end_object(&writer);
  hfta_status status = hfta_json_finish(&writer, self->error);
  // The journal writes the beginning of the object itself.
  if (status == HFTA_OK)
    status = hfta_journal_add_command(
        self->journal, hfta_json_text(&writer, NULL) + 1, self->error);
  hfta_json_release(&writer);
  return status == HFTA_OK ? hfta_journal_sync(self->journal, self->error)
                           : status;
}

/// Follows a request that has been checked.
static hfta_status follow(hfta_tuner *self, const hfta_request *request,
                          hfta_added *added) {
  *added = (hfta_added){.count = 0};
  if (request->kind == HFTA_REQUEST_HOLD)
    self->is_held_open = true;
  if (request->kind == HFTA_REQUEST_END) {
    self->is_held_open = false;
    self->stops |= request->now;
  }
  if (!hfta_study_is_changed_by(request->kind) ||
      (request->kind == HFTA_REQUEST_END && request->now))
    return HFTA_OK;
  hfta_status status = note(self, request);
  if (status == HFTA_OK)
    status = hfta_study_follow(self->study, request, added, self->error);
  if (status == HFTA_OK)
    status = hfta_study_advance(self->study, self->error);
  return status == HFTA_OK ? hfta_journal_sync(self->journal, self->error)
                           : status;
}

/// Checks a request against the search.
static hfta_status check(hfta_tuner *self, const hfta_request *request,
                         hfta_error *reason) {
  if (request->kind == HFTA_REQUEST_SAVE && !self->folder)
    return hfta_fail(reason, HFTA_INVALID_INPUT,
                     "there is no folder to save to: the search was started "
                     "without --checkpoint");
  return hfta_study_check(self->study, request, reason);
}

hfta_status hfta_tuner_ask(hfta_tuner *self, const hfta_request *request,
                           hfta_added *added, hfta_error *reason) {
  reason->code = HFTA_OK;
  *added = (hfta_added){.count = 0};
  hfta_status status = HFTA_OK;
  // A clone takes the state that its donor has now, which may be in a slot.
  if (request->kind == HFTA_REQUEST_CLONE && request->warm)
    status = hfta_tuner_hold_trial(self, request->trials[0]);
  if (status == HFTA_OK && check(self, request, reason) != HFTA_OK)
    return HFTA_OK;
  reason->code = HFTA_OK;
  return status == HFTA_OK ? follow(self, request, added) : status;
}

/// Gets the next line of a client to all ranks.
static hfta_status get_line(hfta_tuner *self, int milliseconds, sent *out) {
  *out = (sent){.bytes = 0};
  if (self->control &&
      hfta_control_next(self->control, milliseconds, &out->line))
    out->bytes = out->line.size + 1;
  else if (self->control && hfta_control_is_over(self->control))
    out->bytes = NO_MORE;
  hfta_communicator *communicator = self->team.communicator;
  hfta_status status =
      hfta_share_bytes(communicator, "the size of a request", &out->bytes,
                       sizeof(out->bytes), self->error);
  if (status != HFTA_OK || out->bytes == 0 || out->bytes == NO_MORE)
    return status;
  out->text = calloc(1, out->bytes);
  if (!out->text)
    return hfta_fail(self->error, HFTA_UNSUPPORTED,
                     "not enough memory for a request");
  if (out->line.text)
    memcpy(out->text, out->line.text, out->line.size);
  return hfta_share_bytes(communicator, "a request", out->text, out->bytes,
                          self->error);
}

/// Follows a line, or says why it can't be followed.
static hfta_status follow_line(hfta_tuner *self, const sent *line) {
  hfta_request request = {.id = NULL};
  hfta_error reason;
  hfta_added added = {.count = 0};
  int client = line->line.client;
  if (line->line.is_too_long) {
    refuse(self, client, &request, "a line has at most 1048576 bytes");
    return HFTA_OK;
  }
  hfta_status status = hfta_request_parse(
      line->text, line->bytes - 1, &self->study->space, &request, &reason);
  bool is_valid = status == HFTA_OK;
  status = HFTA_OK;
  if (is_valid)
    status = hfta_tuner_ask(self, &request, &added, &reason);
  if (status == HFTA_OK) {
    if (is_valid && reason.code == HFTA_OK)
      answer(self, client, &request, &added);
    else
      refuse(self, client, &request, reason.message);
    status = hfta_tuner_publish(self);
  }
  hfta_added_free(&added);
  hfta_request_free(&request);
  return status;
}

hfta_status hfta_tuner_steer(hfta_tuner *self, int milliseconds) {
  hfta_status status = HFTA_OK;
  while (status == HFTA_OK && self->is_controlled) {
    sent line;
    status = get_line(self, milliseconds, &line);
    milliseconds = 0;
    // Nobody can end what was held open, or resume trials.
    if (status == HFTA_OK && line.bytes == NO_MORE)
      self->is_controlled = self->is_held_open = false;
    bool has_line = line.bytes > 0 && line.bytes != NO_MORE;
    if (status == HFTA_OK && has_line)
      status = follow_line(self, &line);
    free(line.text);
    if (!has_line)
      break;
  }
  return status;
}
