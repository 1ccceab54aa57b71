//===- control.h - A channel to a running search ----------------*- C -*-===//
//
// Clients send lines and get lines, by a Unix socket or by the standard
// streams. A socket's file is only for its owner (mode 0600); it is removed in
// the end.
//
// Threads: one thread at a time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TUNING_CONTROL_H
#define HFTA_SRC_TUNING_CONTROL_H

#include "hfta/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct hfta_control hfta_control;

/// A line of a client.
typedef struct hfta_control_line {
  int client;       ///< to whom the answer goes
  const char *text; ///< without its line break, and with a 0 byte at its end;
                    ///< valid until the next call
  size_t size;
  bool is_too_long; ///< the line was longer than 1 MiB; there is no text
} hfta_control_line;

/// Opens a channel: `where` is the path of a socket, or "-" for the standard
/// streams. Fails with HFTA_CANNOT_WRITE if the socket can't be made, with
/// HFTA_INVALID_INPUT if another process uses it, or if the file isn't a
/// socket.
hfta_status hfta_control_open(const char *where, hfta_control **out,
                              hfta_error *error);
/// Closes the channel; NULL is allowed.
void hfta_control_close(hfta_control *self);

/// Gets the next line, for which it waits up to `milliseconds`. Returns false
/// if there is none.
bool hfta_control_next(hfta_control *self, int milliseconds,
                       hfta_control_line *out);

/// Returns whether no line can come any more: the standard input has ended, and
/// all its lines have been taken. A socket may always get another client.
bool hfta_control_is_over(const hfta_control *self);

/// Send lines, whose text has its line breaks: to one client, or to all. A
/// client that doesn't take them within a second is disconnected.
void hfta_control_answer(hfta_control *self, int client, const char *text,
                         size_t size);
void hfta_control_tell(hfta_control *self, const char *text, size_t size);

#endif // HFTA_SRC_TUNING_CONTROL_H
