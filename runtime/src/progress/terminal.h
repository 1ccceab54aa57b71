//===- terminal.h - What a terminal can show ----------------------*- C -*-===//
//
// Lines that are redrawn in place on the terminal that standard error is, as
// wide as it is, with colors and with characters beyond ASCII where it has
// them. Errors of writing are ignored.
//
// Threads: an object is used by one thread at a time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_PROGRESS_TERMINAL_H
#define HFTA_SRC_PROGRESS_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

//===----------------------------------------------------------------------===//
// Abilities
//===----------------------------------------------------------------------===//

typedef struct hfta_terminal {
  /// Whether lines can be redrawn: it is a terminal, and the environment's TERM
  /// doesn't call it `dumb`, as editors do.
  bool can_redraw;
  bool has_color;
  bool is_utf8; ///< whether the environment's locale is one of UTF-8
} hfta_terminal;

/// Returns what the terminal of a file descriptor can show. Colors: none if
/// NO_COLOR isn't empty; else some if CLICOLOR_FORCE is neither empty nor 0;
/// else none if CLICOLOR is 0; else if lines can be redrawn.
hfta_terminal hfta_terminal_of(int descriptor);

/// The width of a terminal of unknown size.
enum { HFTA_DEFAULT_COLUMNS = 80, HFTA_DEFAULT_ROWS = 24 };

/// Sets the size of the terminal of a file descriptor, or the default one if it
/// is unknown.
void hfta_terminal_size(int descriptor, int *rows, int *columns);

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

typedef enum hfta_style {
  HFTA_STYLE_PLAIN,
  HFTA_STYLE_BOLD,
  HFTA_STYLE_FAINT,
  HFTA_STYLE_GOOD, ///< green
  HFTA_STYLE_BAD,  ///< red
} hfta_style;

/// A line in pieces, cut at a width.
typedef struct hfta_line {
  const hfta_terminal *terminal; ///< borrowed
  int width;                     ///< characters so far
  int most;                      ///< the most characters
  size_t used;                   ///< bytes of the text, without the final 0
  char text[2048];
} hfta_line;

void hfta_line_begin(hfta_line *line, const hfta_terminal *terminal, int most);

/// Appends text, which `format` describes as printf's does, at most 1023 bytes.
/// What doesn't fit is left out.
void hfta_line_add(hfta_line *line, hfta_style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/// Appends spaces up to a width.
void hfta_line_pad(hfta_line *line, int width);

//===----------------------------------------------------------------------===//
// Drawings
//===----------------------------------------------------------------------===//

/// The most lines of a drawing.
enum { HFTA_DRAWING_LINES = 512 };

/// Lines on a terminal that are redrawn in place.
typedef struct hfta_drawing {
  FILE *file; ///< borrowed
  hfta_terminal terminal;
  int rows, columns; ///< size of the terminal
  int lines;         ///< number of lines that are drawn now
  unsigned short widths[HFTA_DRAWING_LINES]; ///< the width of each of these
} hfta_drawing;

/// Prepares to draw on standard error, through `file`.
void hfta_drawing_begin(hfta_drawing *drawing, FILE *file);

/// Sets `rows` and `columns` to the size of the terminal on standard error.
void hfta_drawing_measure(hfta_drawing *drawing);

/// Moves the cursor to the first drawn line, and clears the terminal from there
/// on. A terminal that has become narrower shows a drawn line in several rows.
void hfta_drawing_erase(hfta_drawing *drawing);

/// Begins a line that is cut to the terminal's width.
void hfta_drawing_begin_line(const hfta_drawing *drawing, hfta_line *line);

/// Writes a line, and counts it. Lines beyond the most are left out.
void hfta_drawing_put(hfta_drawing *drawing, const hfta_line *line);

#endif // HFTA_SRC_PROGRESS_TERMINAL_H
