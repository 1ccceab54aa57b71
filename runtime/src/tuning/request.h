//===- request.h - What a user asks of a running search ---------*- C -*-===//
//
// A request is an object of JSON on one line, such as
//
//   {"id":7,"command":"stop","trials":[3,5]}
//
// This text, without `id`, is in the journal once the request has been
// accepted, so that a resumed search does it again at the same place.
//
// Threads: functions only change what their caller gives them.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TUNING_REQUEST_H
#define HFTA_SRC_TUNING_REQUEST_H

#include "hfta/json.h"
#include "search/space.h"

/// All requests: HFTA_REQUEST(identifier, word, required, optional). Both lists
/// name the fields that the request has besides `command` and `id`, separated
/// by spaces.
#define HFTA_REQUESTS                                                          \
  HFTA_REQUEST(STATUS, "status", "", "trials")                                 \
  HFTA_REQUEST(ADD, "add", "settings", "")                                     \
  HFTA_REQUEST(MORE, "more", "count", "")                                      \
  HFTA_REQUEST(ASK, "ask", "count", "")                                        \
  HFTA_REQUEST(TELL, "tell", "trial at score", "")                             \
  HFTA_REQUEST(CLONE, "clone", "trial set", "warm")                            \
  HFTA_REQUEST(STOP, "stop", "trials", "")                                     \
  HFTA_REQUEST(PAUSE, "pause", "trials", "")                                   \
  HFTA_REQUEST(RESUME, "resume", "trials", "")                                 \
  HFTA_REQUEST(SET, "set", "trials set", "")                                   \
  HFTA_REQUEST(SAVE, "save", "", "")                                           \
  HFTA_REQUEST(HOLD, "hold", "", "")                                           \
  HFTA_REQUEST(END, "end", "", "now")

typedef enum hfta_request_kind {
#define HFTA_REQUEST(identifier, word, required, optional)                     \
  HFTA_REQUEST_##identifier,
  HFTA_REQUESTS
#undef HFTA_REQUEST
      HFTA_REQUEST_COUNT
} hfta_request_kind;

typedef struct hfta_request {
  hfta_request_kind kind;
  char *id;        ///< the JSON text of `id`; NULL: none
  int64_t *trials; ///< numbers of `trials`, or the one of `trial`
  int64_t trial_count;
  /// Values of `settings` or `set`: for each row, a value for each setting of
  /// the space; NaN where none is given.
  double *values;
  int64_t row_count;
  int64_t count;
  int64_t at;   ///< the epochs after which `score` was found
  double score; ///< it may be NaN or infinite
  bool warm;    ///< true unless given
  bool now;     ///< false unless given
} hfta_request;

/// Parses a request. Fails with HFTA_INVALID_INPUT, saying what was expected;
/// `out->id` is set even then if the text has one. `out` must be released by
/// hfta_request_free, also after a failure.
hfta_status hfta_request_parse(const char *text, size_t size,
                               const hfta_search_space *space,
                               hfta_request *out, hfta_error *error);
void hfta_request_free(hfta_request *self);

/// Writes the members of the request's object without `id`: `command` first.
void hfta_request_write(const hfta_request *self,
                        const hfta_search_space *space,
                        hfta_json_writer *writer);

#endif // HFTA_SRC_TUNING_REQUEST_H
