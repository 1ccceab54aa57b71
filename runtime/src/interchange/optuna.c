//===- optuna.c - Studies in Optuna's format ------------------------------===//

#include "interchange/optuna.h"

#include "hfta/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// The states of Optuna's trials.
typedef enum trial_state {
  RUNNING = 0,
  COMPLETE = 1,
  PRUNED = 2,
  FAILED = 3
} trial_state;

/// Writes a time in seconds since 1970 as ISO 8601, of UTC. Days are converted
/// by Howard Hinnant's algorithm
/// (howardhinnant.github.io/date_algorithms.html).
static void put_time(hfta_json_writer *writer, const char *key, double time) {
  int64_t seconds = (int64_t)floor(time);
  int64_t days = seconds / 86400, rest = seconds % 86400;
  int64_t shifted = days + 719468, era = shifted / 146097;
  int64_t day_of_era = shifted % 146097;
  int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 -
                         day_of_era / 146096) /
                        365;
  int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  int64_t month = (5 * day_of_year + 2) / 153;
  int64_t day = day_of_year - (153 * month + 2) / 5 + 1;
  month = month < 10 ? month + 3 : month - 9;
  int64_t year = year_of_era + era * 400 + (month <= 2);
  char text[96];
  snprintf(text, sizeof(text), "%04lld-%02lld-%02lldT%02lld:%02lld:%02lld.%06d",
           (long long)year, (long long)month, (long long)day,
           (long long)rest / 3600, (long long)rest / 60 % 60,
           (long long)rest % 60, (int)((time - floor(time)) * 1e6));
  hfta_json_put_string(writer, key, text);
}

//===----------------------------------------------------------------------===//
// Distributions
//===----------------------------------------------------------------------===//

/// Returns what the journal says about a setting, such as "uniform(0, 1)"; ""
/// if nothing.
static const char *find_fact(const hfta_history *history, const char *name) {
  for (int64_t i = 0; i < history->fact_count; ++i) {
    const char *fact = history->facts[i].name;
    if (strncmp(fact, "setting ", 8) == 0 && strcmp(fact + 8, name) == 0)
      return history->facts[i].text;
  }
  return "";
}

static bool begins_with(const char *text, const char *start) {
  return strncmp(text, start, strlen(start)) == 0;
}

/// Returns whether a setting's values are named by their places in a list.
static bool is_categorical(const hfta_history *history,
                           const hfta_run_setting *setting) {
  for (int64_t run = 0; run < history->runs; ++run)
    if (setting->texts[run])
      return true;
  return begins_with(find_fact(history, setting->name), "choice(");
}

static bool are_equal(const hfta_run_setting *setting, int64_t a, int64_t b) {
  const char *mine = setting->texts[a], *theirs = setting->texts[b];
  if (mine || theirs)
    return mine && theirs && strcmp(mine, theirs) == 0;
  return memcmp(&setting->numbers[a], &setting->numbers[b], sizeof(double)) ==
         0;
}

/// Returns the first run with the same value as a run.
static int64_t first_equal(const hfta_run_setting *setting, int64_t run) {
  for (int64_t other = 0; other < run; ++other)
    if (are_equal(setting, other, run))
      return other;
  return run;
}

static bool is_missing(const hfta_run_setting *setting, int64_t run) {
  return !setting->texts[run] && hfta_is_missing(setting->numbers[run]);
}

/// Returns the place of a run's value in the list of the setting's values.
static int64_t place_of(const hfta_run_setting *setting, int64_t run) {
  int64_t first = first_equal(setting, run), place = 0;
  for (int64_t other = 0; other < first; ++other)
    place +=
        !is_missing(setting, other) && first_equal(setting, other) == other;
  return place;
}

static void put_choices(hfta_json_writer *writer, const hfta_history *history,
                        const hfta_run_setting *setting) {
  hfta_json_key(writer, "choices");
  hfta_json_begin_array(writer);
  for (int64_t run = 0; run < history->runs; ++run) {
    if (is_missing(setting, run) || first_equal(setting, run) != run)
      continue;
    if (setting->texts[run])
      hfta_json_string(writer, setting->texts[run]);
    else
      hfta_json_number(writer, setting->numbers[run], HFTA_F64);
  }
  hfta_json_end_array(writer);
}

/// Writes the range of a number. It holds all values: a population moves some
/// of them out of the range that they were drawn from.
static void put_range(hfta_json_writer *writer, const hfta_history *history,
                      const hfta_run_setting *setting, const char *fact) {
  double low = INFINITY, high = -INFINITY;
  const char *bounds = strchr(fact, '(');
  if (bounds) {
    char *end;
    low = strtod(bounds + 1, &end);
    high = *end == ',' ? strtod(end + 1, NULL) : low;
  }
  for (int64_t run = 0; run < history->runs; ++run) {
    double value = setting->numbers[run];
    if (hfta_is_missing(value))
      continue;
    low = value < low ? value : low;
    high = value > high ? value : high;
  }
  bool is_log = begins_with(fact, "log_uniform(") || strstr(fact, "log = true");
  bool is_integer = begins_with(fact, "integers(");
  hfta_json_key(writer, "step");
  if (is_integer)
    hfta_json_integer(writer, 1);
  else
    hfta_json_null(writer);
  hfta_json_key(writer, "low");
  hfta_json_number(writer, low, HFTA_F64);
  hfta_json_key(writer, "high");
  hfta_json_number(writer, high, HFTA_F64);
  hfta_json_put_boolean(writer, "log", is_log && low > 0);
}

/// Writes a setting's distribution: a text of JSON, as Optuna has it.
static void put_distribution(hfta_json_writer *writer,
                             const hfta_history *history,
                             const hfta_run_setting *setting) {
  const char *fact = find_fact(history, setting->name);
  bool is_choice = is_categorical(history, setting);
  hfta_json_writer inner;
  hfta_json_to_memory(&inner);
  hfta_json_begin_object(&inner);
  hfta_json_put_string(&inner, "name",
                       is_choice ? "CategoricalDistribution"
                       : begins_with(fact, "integers(") ? "IntDistribution"
                                                        : "FloatDistribution");
  hfta_json_key(&inner, "attributes");
  hfta_json_begin_object(&inner);
  if (is_choice)
    put_choices(&inner, history, setting);
  else
    put_range(&inner, history, setting, fact);
  hfta_json_end_object(&inner);
  hfta_json_end_object(&inner);
  size_t length;
  hfta_json_put_string(writer, setting->name, hfta_json_text(&inner, &length));
  hfta_json_release(&inner);
}

//===----------------------------------------------------------------------===//
// Trials
//===----------------------------------------------------------------------===//

static trial_state find_state(const hfta_history *history, int64_t run,
                              double value) {
  const char *verdict = NULL;
  for (int64_t i = 0; i < history->event_count; ++i)
    if (history->events[i].run == run)
      verdict = history->events[i].verdict;
  if (hfta_is_missing(value))
    return RUNNING;
  if (!isfinite(value))
    return FAILED;
  if (history->is_search) {
    if (!verdict || strcmp(verdict, "goes on") == 0 ||
        strcmp(verdict, "cloned") == 0)
      return RUNNING;
    return strcmp(verdict, "complete") == 0 ? COMPLETE : PRUNED;
  }
  const hfta_rows *epochs = &history->rows[HFTA_EPOCH_ROWS];
  return epochs->count > 0 &&
                 epochs->steps[epochs->count - 1] >= history->total_steps
             ? COMPLETE
             : RUNNING;
}

static void put_settings(hfta_json_writer *writer, const hfta_history *history,
                         int64_t run, bool are_values) {
  hfta_json_key(writer, are_values ? "params" : "distributions");
  hfta_json_begin_object(writer);
  for (int64_t i = 0; i < history->setting_count; ++i) {
    const hfta_run_setting *setting = &history->settings[i];
    if (is_missing(setting, run))
      continue;
    if (!are_values) {
      put_distribution(writer, history, setting);
      continue;
    }
    hfta_json_key(writer, setting->name);
    if (is_categorical(history, setting))
      hfta_json_integer(writer, place_of(setting, run));
    else
      hfta_json_number(writer, setting->numbers[run], HFTA_F64);
  }
  hfta_json_end_object(writer);
}

/// Writes the means over folds of the values after each epoch.
static void put_intermediate(hfta_json_writer *writer,
                             const hfta_history *history,
                             const hfta_series *series, int64_t run) {
  const hfta_rows *rows = &history->rows[HFTA_EPOCH_ROWS];
  bool has_folds = false;
  for (int64_t row = 0; row < rows->count; ++row)
    has_folds |= rows->folds[row] > 0;
  hfta_json_key(writer, "intermediate_values");
  hfta_json_begin_object(writer);
  for (int64_t row = 0; series && row < rows->count; ++row) {
    double sum = 0;
    int64_t count = 0;
    // The first fold's rows are those that stand for an epoch.
    if (rows->folds[row] > 0 ||
        hfta_is_missing(hfta_series_at(history, series, row, run)))
      continue;
    for (int64_t other = row; other < rows->count; ++other) {
      double value = hfta_series_at(history, series, other, run);
      if (rows->epochs[other] == rows->epochs[row] && !hfta_is_missing(value)) {
        sum += value;
        ++count;
      }
      if (!has_folds)
        break;
    }
    if (!isfinite(sum))
      continue;
    char epoch[32];
    snprintf(epoch, sizeof(epoch), "%lld", (long long)rows->epochs[row]);
    hfta_json_key(writer, epoch);
    hfta_json_number(writer, sum / (double)count, HFTA_F64);
  }
  hfta_json_end_object(writer);
}

static void put_trial(hfta_json_writer *writer, const hfta_history *history,
                      const hfta_objective *objective, int64_t number,
                      int64_t run, double begin, double end) {
  double value = hfta_last_value(history, objective->series, run, NULL);
  trial_state state = find_state(history, run, value);
  hfta_json_begin_object(writer);
  hfta_json_put_integer(writer, "op_code", 4);
  hfta_json_put_string(writer, "worker_id", "hfta");
  hfta_json_put_integer(writer, "study_id", number);
  put_time(writer, "datetime_start", begin);
  if (state != RUNNING)
    put_time(writer, "datetime_complete", end);
  hfta_json_put_integer(writer, "state", state);
  hfta_json_key(writer, "value");
  if (state == COMPLETE || state == PRUNED)
    hfta_json_number(writer, value, HFTA_F64);
  else
    hfta_json_null(writer);
  hfta_json_key(writer, "values");
  hfta_json_null(writer);
  put_settings(writer, history, run, false);
  put_settings(writer, history, run, true);
  hfta_json_key(writer, "user_attrs");
  hfta_json_begin_object(writer);
  hfta_json_put_integer(writer, history->is_search ? "trial" : "copy", run);
  hfta_json_end_object(writer);
  hfta_json_key(writer, "system_attrs");
  hfta_json_begin_object(writer);
  hfta_json_end_object(writer);
  put_intermediate(writer, history, objective->series, run);
  hfta_json_end_object(writer);
  hfta_json_newline(writer);
}

void hfta_write_optuna(FILE *file, const hfta_history *history,
                       const hfta_objective *objective, int64_t number) {
  const hfta_rows *epochs = &history->rows[HFTA_EPOCH_ROWS];
  double begin = history->begin, end = begin;
  for (int64_t row = 0; row < epochs->count; ++row)
    end += epochs->seconds[row];
  hfta_json_writer writer;
  hfta_json_to_file(&writer, file);
  hfta_json_begin_object(&writer);
  hfta_json_put_integer(&writer, "op_code", 0);
  hfta_json_put_string(&writer, "worker_id", "hfta");
  hfta_json_put_string(&writer, "study_name", history->job);
  hfta_json_key(&writer, "directions");
  hfta_json_begin_array(&writer);
  hfta_json_integer(&writer, objective->is_maximized ? 2 : 1);
  hfta_json_end_array(&writer);
  hfta_json_end_object(&writer);
  hfta_json_newline(&writer);
  for (int64_t run = 0; run < history->runs; ++run)
    put_trial(&writer, history, objective, number, run, begin, end);
}
