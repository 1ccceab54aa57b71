//===- status.h - Status codes and error messages ---------------*- C -*-===//
//
// Functions that can fail return an hfta_status. Their last parameter is an
// hfta_error, which a failure fills with the reason and success leaves
// unchanged; NULL: the caller gets only the code. The codes are also the exit
// codes of the commands built on the library.
//
// Messages begin in lower case, end without a full stop, name the file or
// argument that they are about, and say what was expected and what was found.
//===----------------------------------------------------------------------===//

#ifndef HFTA_STATUS_H
#define HFTA_STATUS_H

#include <stdarg.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Lists all codes: X(code, value, text).
#define HFTA_STATUS_CODES(X)                                                   \
  X(HFTA_OK, 0, "success")                                                     \
  X(HFTA_INVALID_INPUT, 1, "invalid input")                                    \
  X(HFTA_USAGE, 2, "wrong usage")                                              \
  X(HFTA_UNSUPPORTED, 3, "unsupported")                                        \
  X(HFTA_CANNOT_WRITE, 4, "cannot write")                                      \
  X(HFTA_LOST, 5, "a rank was lost")                                           \
  X(HFTA_INTERNAL, 70, "internal error")

typedef enum hfta_status {
#define HFTA_STATUS_ENUMERATOR(code, value, text) code = value,
  HFTA_STATUS_CODES(HFTA_STATUS_ENUMERATOR)
#undef HFTA_STATUS_ENUMERATOR
} hfta_status;

#define HFTA_ERROR_MESSAGE_BYTES 1024

/// An error's code and message. The caller owns it, usually on its stack; it
/// needs no initialisation before it is filled and no release afterwards.
typedef struct hfta_error {
  hfta_status code;
  char message[HFTA_ERROR_MESSAGE_BYTES]; ///< always ends with a 0 byte
} hfta_error;

#if defined(__GNUC__)
#define HFTA_PRINTF(index, first) __attribute__((format(printf, index, first)))
#else
#define HFTA_PRINTF(index, first)
#endif

/// Fills `error` (unless it is NULL) and returns `code`, so that a failing
/// function can end with `return hfta_fail(error, HFTA_INVALID_INPUT, "...",
/// ...);`. A message that is too long is cut off and then ends with "...". The
/// arguments may include error->message itself.
hfta_status hfta_fail(hfta_error *error, hfta_status code, const char *format,
                      ...) HFTA_PRINTF(3, 4);

/// Does as hfta_fail does, with the arguments as a va_list.
hfta_status hfta_fail_v(hfta_error *error, hfta_status code, const char *format,
                        va_list arguments) HFTA_PRINTF(3, 0);

/// Returns the text of a code in HFTA_STATUS_CODES, which is static and never
/// NULL.
const char *hfta_status_text(hfta_status code);

#ifdef __cplusplus
}
#endif

#endif // HFTA_STATUS_H
