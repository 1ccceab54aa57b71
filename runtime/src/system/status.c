//===- status.c - Status codes and error messages -------------------------===//

#include "hfta/status.h"

#include <stdio.h>
#include <string.h>

/// If a text has filled the buffer, cuts it at the border of a character and
/// marks the cut.
static void mark_cut(char *message, size_t size) {
  size_t end = size - sizeof("...");
  while (end > 0 && ((unsigned char)message[end] & 0xC0) == 0x80)
    --end;
  memcpy(message + end, "...", sizeof("..."));
}

/// Replaces control characters: names in messages may come from hostile files,
/// and must not send escape sequences to a terminal.
static void replace_control_characters(char *message) {
  for (unsigned char *c = (unsigned char *)message; *c; ++c)
    if ((*c < 0x20 && *c != '\n' && *c != '\t') || *c == 0x7F)
      *c = '?';
}

hfta_status hfta_fail_v(hfta_error *error, hfta_status code, const char *format,
                        va_list arguments) {
  if (!error)
    return code;
  char message[HFTA_ERROR_MESSAGE_BYTES];
  int length = vsnprintf(message, sizeof(message), format, arguments);
  if (length < 0)
    snprintf(message, sizeof(message), "%s", hfta_status_text(code));
  else if ((size_t)length >= sizeof(message))
    mark_cut(message, sizeof(message));
  replace_control_characters(message);
  memcpy(error->message, message, sizeof(message));
  error->code = code;
  return code;
}

hfta_status hfta_fail(hfta_error *error, hfta_status code, const char *format,
                      ...) {
  va_list arguments;
  va_start(arguments, format);
  hfta_fail_v(error, code, format, arguments);
  va_end(arguments);
  return code;
}

const char *hfta_status_text(hfta_status code) {
  switch (code) {
#define HFTA_STATUS_CASE(code, value, text)                                    \
  case code:                                                                   \
    return text;
    HFTA_STATUS_CODES(HFTA_STATUS_CASE)
#undef HFTA_STATUS_CASE
  }
  return "unknown status";
}
