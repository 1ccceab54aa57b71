//===- page.c - A page about trainings ------------------------------------===//

#include "report/page.h"

#include "hfta/json.h"
#include "report/files.h"
#include "system/path.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Writes text of HTML.
static void put_html(FILE *file, const char *text) {
  for (; *text; ++text)
    switch (*text) {
    case '&':
      fputs("&amp;", file);
      break;
    case '<':
      fputs("&lt;", file);
      break;
    case '>':
      fputs("&gt;", file);
      break;
    case '"':
      fputs("&quot;", file);
      break;
    default:
      fputc(*text, file);
    }
}

/// Writes JSON in an element of a script, where "<" could end the element.
static void put_json(FILE *file, const char *json) {
  for (; *json; ++json)
    if (*json == '<')
      fputs("\\u003c", file);
    else
      fputc(*json, file);
}

/// Writes a number of the table: as the log has it, or "" if it is missing.
static void put_number(FILE *file, double value) {
  char buffer[HFTA_NUMBER_TEXT_BYTES];
  if (!hfta_is_missing(value))
    fputs(hfta_number_text(value, HFTA_F64, buffer), file);
}

//===----------------------------------------------------------------------===//
// Series
//===----------------------------------------------------------------------===//

/// Bytes that become base64.
typedef struct encoder {
  char *text; ///< NULL: memory has run out
  size_t used;
  uint32_t bits;
  int count; ///< bytes in `bits`
} encoder;

static void encode_byte(encoder *self, unsigned char byte) {
  static const char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  self->bits = self->bits << 8 | byte;
  if (++self->count < 3)
    return;
  for (int shift = 18; shift >= 0; shift -= 6)
    self->text[self->used++] = digits[self->bits >> shift & 63];
  self->bits = 0;
  self->count = 0;
}

static void encode_float(encoder *self, double value) {
  float number = (float)value;
  unsigned char bytes[sizeof(number)];
  memcpy(bytes, &number, sizeof(number));
  for (size_t i = 0; i < sizeof(number); ++i)
    encode_byte(self, bytes[i]);
}

static void end_encoding(encoder *self) {
  int padding = self->count > 0 ? 3 - self->count : 0;
  for (int i = 0; i < padding; ++i)
    encode_byte(self, 0);
  for (int i = 0; i < padding; ++i)
    self->text[self->used - 1 - (size_t)i] = '=';
  self->text[self->used] = '\0';
}

/// The rows of a kind that the page has: all of them or, of each `stride`, two
/// that stand for the least and the greatest numbers.
typedef struct reduction {
  const hfta_rows *rows;
  int64_t stride; ///< 1: all rows
  int64_t count;  ///< the number of rows on the page
} reduction;

static reduction reduce(const hfta_history *history, hfta_rows_kind kind) {
  const hfta_rows *rows = &history->rows[kind];
  reduction self = {rows, 1, rows->count};
  int64_t most = HFTA_PAGE_NUMBERS / (history->runs > 0 ? history->runs : 1);
  if (kind == HFTA_STEP_ROWS && rows->count > most && most >= 2) {
    self.stride = (rows->count + most / 2 - 1) / (most / 2);
    self.count = 2 * ((rows->count + self.stride - 1) / self.stride);
  }
  return self;
}

/// Returns the row that a row of the page shows the step of.
static int64_t source_row(const reduction *self, int64_t row) {
  if (self->stride == 1)
    return row;
  int64_t at = row / 2 * self->stride + (row % 2) * (self->stride / 2);
  return at < self->rows->count ? at : self->rows->count - 1;
}

/// Returns a value of the page: of a row of all, or the least or greatest of an
/// interval.
static double reduced_value(const hfta_history *history, const reduction *self,
                            const hfta_series *series, int64_t row,
                            int64_t run) {
  if (self->stride == 1)
    return hfta_series_at(history, series, row, run);
  double found = hfta_missing();
  int64_t begin = row / 2 * self->stride;
  for (int64_t at = begin; at < begin + self->stride && at < self->rows->count;
       ++at) {
    double value = hfta_series_at(history, series, at, run);
    if (hfta_is_missing(found) || (row % 2 ? value > found : value < found))
      found = value;
  }
  return found;
}

static void put_series(hfta_json_writer *writer, const hfta_history *history,
                       const reduction *rows, const hfta_series *series) {
  size_t bytes = (size_t)(rows->count * history->runs) * sizeof(float);
  encoder data = {.text = malloc((bytes + 2) / 3 * 4 + 1)};
  hfta_json_begin_object(writer);
  hfta_json_put_string(writer, "name", series->name);
  if (data.text) {
    for (int64_t run = 0; run < history->runs; ++run)
      for (int64_t row = 0; row < rows->count; ++row)
        encode_float(&data, reduced_value(history, rows, series, row, run));
    end_encoding(&data);
    hfta_json_put_string(writer, "data", data.text);
  }
  hfta_json_end_object(writer);
  free(data.text);
}

static void put_integers(hfta_json_writer *writer, const char *key,
                         const reduction *rows, const int64_t *values) {
  hfta_json_key(writer, key);
  hfta_json_begin_array(writer);
  for (int64_t row = 0; row < rows->count; ++row)
    hfta_json_integer(writer, values[source_row(rows, row)]);
  hfta_json_end_array(writer);
}

static void put_rows(hfta_json_writer *writer, const hfta_history *history,
                     hfta_rows_kind kind) {
  reduction rows = reduce(history, kind);
  hfta_json_key(writer, kind == HFTA_STEP_ROWS ? "steps" : "epochs");
  hfta_json_begin_object(writer);
  hfta_json_put_integer(writer, "stride", rows.stride);
  put_integers(writer, "step", &rows, rows.rows->steps);
  put_integers(writer, "epoch", &rows, rows.rows->epochs);
  put_integers(writer, "fold", &rows, rows.rows->folds);
  hfta_json_key(writer, "series");
  hfta_json_begin_array(writer);
  for (int64_t i = 0; i < rows.rows->series_count; ++i)
    put_series(writer, history, &rows, &rows.rows->series[i]);
  hfta_json_end_array(writer);
  hfta_json_end_object(writer);
}

//===----------------------------------------------------------------------===//
// Jobs
//===----------------------------------------------------------------------===//

static void put_value(hfta_json_writer *writer, double value) {
  if (hfta_is_missing(value))
    hfta_json_null(writer);
  else
    hfta_json_number(writer, value, HFTA_F64);
}

static void put_settings(hfta_json_writer *writer,
                         const hfta_history *history) {
  hfta_json_key(writer, "settings");
  hfta_json_begin_array(writer);
  for (int64_t i = 0; i < history->setting_count; ++i) {
    const hfta_run_setting *setting = &history->settings[i];
    hfta_json_begin_object(writer);
    hfta_json_put_string(writer, "name", setting->name);
    hfta_json_put_boolean(writer, "differs",
                          hfta_setting_differs(history, setting));
    hfta_json_key(writer, "values");
    hfta_json_begin_array(writer);
    for (int64_t run = 0; run < history->runs; ++run)
      if (setting->texts[run])
        hfta_json_string(writer, setting->texts[run]);
      else
        put_value(writer, setting->numbers[run]);
    hfta_json_end_array(writer);
    hfta_json_end_object(writer);
  }
  hfta_json_end_array(writer);
}

static void put_events(hfta_json_writer *writer, const hfta_history *history) {
  hfta_json_key(writer, "events");
  hfta_json_begin_array(writer);
  for (int64_t i = 0; i < history->event_count; ++i) {
    const hfta_run_event *event = &history->events[i];
    hfta_json_begin_object(writer);
    hfta_json_put_integer(writer, "run", event->run);
    hfta_json_put_integer(writer, "epoch", event->epoch);
    hfta_json_put_string(writer, "verdict", event->verdict);
    hfta_json_key(writer, "score");
    put_value(writer, event->score);
    hfta_json_put_integer(writer, "rank", event->rank);
    hfta_json_put_integer(writer, "compared", event->compared);
    hfta_json_put_integer(writer, "donor", event->donor);
    hfta_json_end_object(writer);
  }
  hfta_json_end_array(writer);
}

static void put_job(hfta_json_writer *writer, const hfta_history *history,
                    const hfta_objective *objective) {
  hfta_json_begin_object(writer);
  hfta_json_put_string(writer, "name", history->job);
  // A page is passed on, so it doesn't tell the folders of a machine.
  hfta_json_put_string(writer, "log", hfta_path_name(history->path));
  hfta_json_put_boolean(writer, "search", history->is_search);
  hfta_json_put_integer(writer, "runs", history->runs);
  hfta_json_put_string(writer, "objective",
                       objective->series ? objective->series->name : "");
  hfta_json_put_boolean(writer, "maximized", objective->is_maximized);
  hfta_json_key(writer, "facts");
  hfta_json_begin_object(writer);
  for (int64_t i = 0; i < history->fact_count; ++i)
    hfta_json_put_string(writer, history->facts[i].name,
                         history->facts[i].text);
  hfta_json_end_object(writer);
  put_settings(writer, history);
  put_events(writer, history);
  put_rows(writer, history, HFTA_STEP_ROWS);
  put_rows(writer, history, HFTA_EPOCH_ROWS);
  hfta_json_end_object(writer);
}

/// Writes the numbers of all jobs as JSON.
static void put_data(FILE *file, const hfta_page *page) {
  hfta_json_writer writer;
  hfta_json_to_memory(&writer);
  hfta_json_begin_object(&writer);
  hfta_json_put_string(&writer, "version", HFTA_VERSION);
  hfta_json_key(&writer, "jobs");
  hfta_json_begin_array(&writer);
  for (int64_t i = 0; i < page->count; ++i)
    put_job(&writer, &page->histories[i], &page->objectives[i]);
  hfta_json_end_array(&writer);
  hfta_json_end_object(&writer);
  size_t length;
  const char *text = hfta_json_text(&writer, &length);
  put_json(file, text ? text : "null");
  hfta_json_release(&writer);
}

//===----------------------------------------------------------------------===//
// The table without scripts
//===----------------------------------------------------------------------===//

/// Returns what has become of a run.
static const char *describe_end(const hfta_history *history, int64_t run,
                                double value) {
  const char *verdict = "";
  for (int64_t i = 0; i < history->event_count; ++i)
    if (history->events[i].run == run)
      verdict = history->events[i].verdict;
  return !hfta_is_missing(value) && !isfinite(value) ? "diverged" : verdict;
}

static void put_heading(FILE *file, const hfta_history *history) {
  const hfta_rows *epochs = &history->rows[HFTA_EPOCH_ROWS];
  fprintf(file, "<thead><tr><th scope=\"col\">%s</th>",
          history->is_search ? "trial" : "copy");
  for (int64_t i = 0; i < history->setting_count; ++i)
    if (hfta_setting_differs(history, &history->settings[i])) {
      fputs("<th scope=\"col\">", file);
      put_html(file, history->settings[i].name);
      fputs("</th>", file);
    }
  for (int64_t i = 0; i < epochs->series_count; ++i) {
    fputs("<th scope=\"col\">", file);
    put_html(file, epochs->series[i].name);
    fputs("</th>", file);
  }
  fputs("<th scope=\"col\">epochs</th><th scope=\"col\">state</th></tr>"
        "</thead>\n<tbody>\n",
        file);
}

static void put_run(FILE *file, const hfta_history *history,
                    const hfta_objective *objective, int64_t run) {
  const hfta_rows *epochs = &history->rows[HFTA_EPOCH_ROWS];
  int64_t epoch = 0;
  double value = hfta_last_value(history, objective->series, run, &epoch);
  fprintf(file, "<tr><td>%lld</td>", (long long)run);
  for (int64_t i = 0; i < history->setting_count; ++i) {
    const hfta_run_setting *setting = &history->settings[i];
    if (!hfta_setting_differs(history, setting))
      continue;
    fputs("<td>", file);
    if (setting->texts[run])
      put_html(file, setting->texts[run]);
    else
      put_number(file, setting->numbers[run]);
    fputs("</td>", file);
  }
  for (int64_t i = 0; i < epochs->series_count; ++i) {
    fputs("<td>", file);
    put_number(file, hfta_last_value(history, &epochs->series[i], run, NULL));
    fputs("</td>", file);
  }
  fprintf(file, "<td>%lld</td><td>", (long long)epoch);
  put_html(file, describe_end(history, run, value));
  fputs("</td></tr>\n", file);
}

static void put_table(FILE *file, const hfta_page *page, int64_t index) {
  const hfta_history *history = &page->histories[index];
  fprintf(file, "<section class=\"plain\" data-job=\"%lld\"><h2>",
          (long long)index);
  put_html(file, history->job);
  fputs("</h2><table>\n", file);
  put_heading(file, history);
  for (int64_t run = 0; run < history->runs; ++run)
    put_run(file, history, &page->objectives[index], run);
  fputs("</tbody></table></section>\n", file);
}

//===----------------------------------------------------------------------===//
// The page
//===----------------------------------------------------------------------===//

static void put_script(FILE *file, const char *text) {
  fprintf(file, "<script>\n%s</script>\n", text);
}

void hfta_write_page(FILE *file, const hfta_page *page) {
  fputs(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
      "'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
      "img-src data:\">\n<title>",
      file);
  put_html(file, page->title);
  fprintf(file, "</title>\n<style>\n%s\n%s</style>\n</head>\n<body>\n",
          hfta_report_plot_style, hfta_report_style);
  fputs("<main id=\"page\">\n<h1>", file);
  put_html(file, page->title);
  fputs("</h1>\n", file);
  for (int64_t i = 0; i < page->count; ++i)
    put_table(file, page, i);
  fputs("</main>\n<script type=\"application/json\" id=\"data\">", file);
  put_data(file, page);
  fputs("</script>\n", file);
  const char *const texts[] = {page->info, page->trace};
  static const char *const names[] = {"info", "trace"};
  for (int i = 0; i < 2; ++i)
    if (texts[i]) {
      fprintf(file, "<script type=\"application/json\" id=\"%s\">", names[i]);
      put_json(file, texts[i]);
      fputs("</script>\n", file);
    }
  const char *const scripts[] = {hfta_report_plot,   hfta_report_runs,
                                 hfta_report_curves, hfta_report_charts,
                                 hfta_report_step,   hfta_report_main};
  for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); ++i)
    put_script(file, scripts[i]);
  fputs("</body>\n</html>\n", file);
}
