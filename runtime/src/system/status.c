//===- status.c - Status codes and error messages -------------------------===//

#include "hfta/status.h"

#include "system/utf8.h"

#include <stdio.h>
#include <string.h>

/// Replaces the end of a message that has filled the buffer by "...", without
/// cutting a UTF-8 sequence.
static void mark_cut(char *message, size_t size) {
  size_t end = size - sizeof("...");
  while (end > 0 && ((unsigned char)message[end] & 0xC0) == 0x80)
    --end;
  memcpy(message + end, "...", sizeof("..."));
}

/// Returns whether a UTF-8 sequence is a control character other than a line
/// break or a tab.
static bool is_control(const unsigned char *c, size_t length) {
  if (length == 2) // U+0080 to U+009F
    return c[0] == 0xC2 && c[1] < 0xA0;
  return length == 1 &&
         ((c[0] < 0x20 && c[0] != '\n' && c[0] != '\t') || c[0] == 0x7F);
}

/// Replaces control characters and invalid UTF-8 by question marks. Texts in
/// messages may come from hostile or binary files, and must not send escape
/// sequences to a terminal.
static void replace_unprintable(char *message) {
  size_t size = strlen(message);
  for (size_t at = 0; at < size;) {
    size_t length = hfta_utf8_sequence(message + at, size - at);
    size_t step = length > 0 ? length : 1;
    if (length == 0 || is_control((unsigned char *)message + at, length))
      memset(message + at, '?', step);
    at += step;
  }
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
  replace_unprintable(message);
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
