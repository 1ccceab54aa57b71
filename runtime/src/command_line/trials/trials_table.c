//===- trials_table.c - How a search stands -------------------------------===//

#include "command_line/trials/trials_table.h"

#include "hfta/json.h"
#include "progress/progress_text.h"
#include "tuning/study_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_BYTES = 96 };

//===----------------------------------------------------------------------===//
// What has become of a trial
//===----------------------------------------------------------------------===//

/// Writes what has become of a trial, and who was better.
static void describe_end(const hfta_study *study, int64_t trial,
                         char buffer[CELL_BYTES]) {
  const char *word = hfta_study_state_word(study, trial);
  const hfta_decision *last = hfta_study_last_decision(study, trial);
  hfta_trial_state state = hfta_trials_state(study->trials, trial);
  if (state == HFTA_TRIAL_FAILED)
    snprintf(buffer, CELL_BYTES, "failed: its score isn't finite");
  else if (state == HFTA_TRIAL_DROPPED && last &&
           last->verdict == HFTA_VERDICT_DROPPED)
    snprintf(buffer, CELL_BYTES, "dropped: number %lld of %lld, %lld went on",
             (long long)last->rank + 1, (long long)last->compared,
             (long long)last->kept);
  else
    snprintf(buffer, CELL_BYTES, "%s", word);
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// The columns before those of the settings.
enum { RANK, TRIAL, SCORE, EPOCHS, END, SETTINGS };

static const char *heading(const hfta_study *study, int column) {
  static const char *const NAMES[] = {"rank", "trial", "", "epochs", "state"};
  if (column == SCORE)
    return hfta_study_score_name(study);
  return column < SETTINGS ? NAMES[column]
                           : study->space.settings[column - SETTINGS].name;
}

/// Returns a cell's text, which is in `buffer` or a constant.
static const char *cell(const hfta_study *study, int64_t rank, int64_t trial,
                        int column, char buffer[CELL_BYTES]) {
  const double *values = hfta_study_values(study, trial);
  double score = hfta_study_score(study, trial);
  const hfta_search_setting *setting;
  switch (column) {
  case RANK:
    snprintf(buffer, CELL_BYTES, "%lld", (long long)rank + 1);
    return buffer;
  case TRIAL:
    snprintf(buffer, CELL_BYTES, "%lld", (long long)trial);
    return buffer;
  case SCORE:
    if (!hfta_study_has_score(study, trial))
      return "-";
    if (study->validation.by_metric)
      return hfta_metric_text(hfta_program_main_metric(study->program), score,
                              buffer);
    if (isfinite(score))
      snprintf(buffer, CELL_BYTES, "%.5g", score);
    else
      hfta_number_text(score, HFTA_F64, buffer);
    return buffer;
  case EPOCHS:
    snprintf(buffer, CELL_BYTES, "%lld",
             (long long)hfta_study_scored_epochs(study, trial));
    return buffer;
  case END:
    describe_end(study, trial, buffer);
    return buffer;
  default:
    // Six digits tell trials apart; `trials --json` has all of them.
    if (!values)
      return "-";
    setting = &study->space.settings[column - SETTINGS];
    if (setting->labels)
      return setting->labels[(int64_t)values[column - SETTINGS]];
    snprintf(buffer, CELL_BYTES, "%.6g", values[column - SETTINGS]);
    return buffer;
  }
}

/// Returns the width of a column of the first `count` trials in `order`.
static int find_width(const hfta_study *study, const int64_t *order,
                      int64_t count, int column) {
  char buffer[CELL_BYTES];
  size_t width = strlen(heading(study, column));
  for (int64_t i = 0; i < count; ++i) {
    size_t own = strlen(cell(study, i, order[i], column, buffer));
    width = own > width ? own : width;
  }
  return (int)width;
}

static void print_line(FILE *file, const hfta_study *study, int64_t rank,
                       const int64_t *order, const int *widths, int columns) {
  char buffer[CELL_BYTES];
  for (int i = 0; i < columns; ++i)
    fprintf(file, "%*s%s", i + 1 == columns ? 0 : -widths[i] - 2,
            rank < 0 ? heading(study, i)
                     : cell(study, rank, order[rank], i, buffer),
            i + 1 == columns ? "\n" : "");
}

void hfta_print_trials(FILE *file, const hfta_study *study, int64_t most) {
  int columns = SETTINGS + (int)study->space.count;
  int64_t count =
      most > 0 && most < study->trial_count ? most : study->trial_count;
  int64_t *order = calloc((size_t)study->trial_count, sizeof(*order));
  int *widths = calloc((size_t)columns, sizeof(*widths));
  if (order && widths) {
    hfta_trials_rank(study->trials, order);
    for (int i = 0; i < columns; ++i)
      widths[i] = find_width(study, order, count, i);
    for (int64_t rank = -1; rank < count; ++rank)
      print_line(file, study, rank, order, widths, columns);
  }
  free(order);
  free(widths);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

hfta_status hfta_write_trials_json(FILE *file, const hfta_study *study,
                                   hfta_error *error) {
  int64_t *order = calloc((size_t)study->trial_count, sizeof(*order));
  if (!order)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a table");
  hfta_trials_rank(study->trials, order);
  hfta_json_writer writer;
  hfta_json_to_file(&writer, file);
  hfta_json_begin_object(&writer);
  hfta_json_put_string(&writer, "job", study->program->name);
  hfta_json_put_string(&writer, "score", hfta_study_score_name(study));
  hfta_json_put_boolean(&writer, "over", hfta_study_is_over(study));
  hfta_json_key(&writer, "trials");
  hfta_json_begin_array(&writer);
  for (int64_t i = 0; i < study->trial_count; ++i)
    hfta_study_put_trial(study, order[i], &writer);
  hfta_json_end_array(&writer);
  hfta_json_end_object(&writer);
  hfta_json_newline(&writer);
  free(order);
  return hfta_json_finish(&writer, error);
}
