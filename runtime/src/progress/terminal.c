//===- terminal.c - What a terminal can show ------------------------------===//

#include "progress/terminal.h"

#include "system/utf8.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

//===----------------------------------------------------------------------===//
// Abilities
//===----------------------------------------------------------------------===//

/// Returns a variable of the environment; "" if it isn't set.
static const char *variable(const char *name) {
  const char *value = getenv(name);
  return value ? value : "";
}

static bool wants_color(bool can_redraw) {
  const char *force = variable("CLICOLOR_FORCE");
  if (*variable("NO_COLOR"))
    return false;
  if (*force && strcmp(force, "0") != 0)
    return true;
  return can_redraw && strcmp(variable("CLICOLOR"), "0") != 0;
}

/// Returns whether the locale of the environment has UTF-8: the first of these
/// variables that is set counts.
static bool has_utf8(void) {
  static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
  for (size_t i = 0; i < sizeof(names) / sizeof(*names); ++i) {
    const char *locale = variable(names[i]);
    const char *set = strchr(locale, '.');
    if (*locale)
      return set && (strncasecmp(set, ".utf-8", 6) == 0 ||
                     strncasecmp(set, ".utf8", 5) == 0);
  }
  return false;
}

hfta_terminal hfta_terminal_of(int descriptor) {
  bool can_redraw = isatty(descriptor) && strcmp(variable("TERM"), "dumb") != 0;
  return (hfta_terminal){.can_redraw = can_redraw,
                         .has_color = wants_color(can_redraw),
                         .is_utf8 = has_utf8()};
}

void hfta_terminal_size(int descriptor, int *rows, int *columns) {
  struct winsize size = {0};
  bool is_known = ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  *rows = is_known ? size.ws_row : HFTA_DEFAULT_ROWS;
  *columns = is_known ? size.ws_col : HFTA_DEFAULT_COLUMNS;
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

void hfta_line_begin(hfta_line *line, const hfta_terminal *terminal, int most) {
  line->terminal = terminal;
  line->width = 0;
  line->most = most;
  line->used = 0;
  line->text[0] = '\0';
}

/// The bytes that a style puts around a text.
static const char *const STYLES[] = {[HFTA_STYLE_PLAIN] = "",
                                     [HFTA_STYLE_BOLD] = "\x1b[1m",
                                     [HFTA_STYLE_FAINT] = "\x1b[2m",
                                     [HFTA_STYLE_GOOD] = "\x1b[32m",
                                     [HFTA_STYLE_BAD] = "\x1b[31m"};
static const char STYLE_END[] = "\x1b[0m";

/// Appends bytes, if there is room for them and for the end of a style.
static bool append(hfta_line *line, const char *text, size_t bytes) {
  if (line->used + bytes + sizeof(STYLE_END) > sizeof(line->text))
    return false;
  memcpy(line->text + line->used, text, bytes);
  line->used += bytes;
  line->text[line->used] = '\0';
  return true;
}

void hfta_line_add(hfta_line *line, hfta_style style, const char *format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  bool is_styled = line->terminal->has_color && style != HFTA_STYLE_PLAIN &&
                   *text && line->width < line->most &&
                   append(line, STYLES[style], strlen(STYLES[style]));
  size_t left = strlen(text);
  for (const char *at = text; left > 0 && line->width < line->most;) {
    // A byte that isn't UTF-8 counts as a character.
    size_t bytes = hfta_utf8_sequence(at, left);
    bytes = bytes > 0 ? bytes : 1;
    if (!append(line, at, bytes))
      break;
    ++line->width;
    at += bytes;
    left -= bytes;
  }
  if (is_styled) {
    // `append` has kept room for this.
    memcpy(line->text + line->used, STYLE_END, sizeof(STYLE_END));
    line->used += sizeof(STYLE_END) - 1;
  }
}

void hfta_line_pad(hfta_line *line, int width) {
  while (line->width < width && line->width < line->most &&
         append(line, " ", 1))
    ++line->width;
}

//===----------------------------------------------------------------------===//
// Drawings
//===----------------------------------------------------------------------===//

void hfta_drawing_begin(hfta_drawing *drawing, FILE *file) {
  drawing->file = file;
  drawing->terminal = hfta_terminal_of(STDERR_FILENO);
  drawing->lines = 0;
  hfta_drawing_measure(drawing);
}

void hfta_drawing_measure(hfta_drawing *drawing) {
  hfta_terminal_size(STDERR_FILENO, &drawing->rows, &drawing->columns);
}

void hfta_drawing_erase(hfta_drawing *drawing) {
  if (drawing->lines == 0)
    return;
  hfta_drawing_measure(drawing);
  int rows = 0;
  for (int i = 0; i < drawing->lines; ++i)
    rows +=
        drawing->widths[i] == 0
            ? 1
            : (drawing->widths[i] + drawing->columns - 1) / drawing->columns;
  // The cursor can't leave the terminal.
  if (drawing->rows > 1 && rows > drawing->rows - 1)
    rows = drawing->rows - 1;
  fprintf(drawing->file, "\x1b[%dA\r\x1b[J", rows);
  drawing->lines = 0;
}

void hfta_drawing_begin_line(const hfta_drawing *drawing, hfta_line *line) {
  // The last column stays free: some terminals begin a new row after it.
  hfta_line_begin(line, &drawing->terminal, drawing->columns - 1);
}

void hfta_drawing_put(hfta_drawing *drawing, const hfta_line *line) {
  if (drawing->lines == HFTA_DRAWING_LINES)
    return;
  fprintf(drawing->file, "%s\n", line->text);
  drawing->widths[drawing->lines++] = (unsigned short)line->width;
}
