//===- search_board.c - A search in TensorBoard's format ------------------===//

#include "interchange/search_board.h"

#include "history/history_impl.h"
#include "interchange/board.h"
#include "program/metric_values.h"
#include "system/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct hfta_search_board {
  hfta_board *board;
  hfta_history described; ///< the settings of trials, by number
  int64_t trials, steps_per_epoch;
  char metric[HFTA_TAG_BYTES]; ///< the tag of the scores
  hfta_json_tree tree;
};

static hfta_status out_of_memory(hfta_error *error) {
  return hfta_fail(error, HFTA_UNSUPPORTED,
                   "not enough memory for TensorBoard's files");
}

hfta_status hfta_search_board_open(const char *folder,
                                   const hfta_program *program, int64_t trials,
                                   int64_t steps_per_epoch,
                                   hfta_search_board **out, hfta_error *error) {
  *out = NULL;
  hfta_search_board *self = calloc(1, sizeof(*self));
  if (!self)
    return out_of_memory(error);
  self->trials = trials;
  self->steps_per_epoch = steps_per_epoch;
  self->described.is_search = true;
  char series[256] = "validation_loss";
  if (program->validation.by_metric > 0)
    snprintf(series, sizeof(series), "validation_%.200s",
             program->metrics[program->validation.by_metric - 1].name);
  hfta_board_tag(series, HFTA_EPOCH_ROWS, self->metric);
  bool has_all = hfta_history_extend(&self->described, trials);
  for (uint32_t i = 0; i < program->search->setting_count && has_all; ++i)
    has_all = hfta_history_setting(&self->described,
                                   program->search->settings[i].name);
  const char *tags[] = {self->metric};
  hfta_status status =
      has_all ? hfta_board_open(folder, &self->described, trials, tags, 1, 0,
                                hfta_time_of_day(), &self->board, error)
              : out_of_memory(error);
  if (status == HFTA_OK)
    *out = self;
  else
    hfta_search_board_close(self);
  return status;
}

/// Returns the number of a line's trial; -1 if it has none that counts.
static int64_t trial_of(const hfta_search_board *self,
                        const hfta_json_value *value) {
  if (!value || value->kind != HFTA_JSON_KIND_NUMBER || value->number < 0 ||
      value->number >= (double)self->trials)
    return -1;
  return (int64_t)value->number;
}

static bool add_trial(hfta_search_board *self, const hfta_json_value *line,
                      int64_t trial) {
  const hfta_json_value *all = hfta_json_get(line, "settings");
  for (const hfta_json_value *at = all ? all->first : NULL; at; at = at->next) {
    hfta_run_setting *setting =
        at->key ? hfta_history_setting(&self->described, at->key) : NULL;
    if (!setting || !hfta_history_set(setting, trial, at))
      return false;
  }
  hfta_board_begin_run(self->board, &self->described, trial,
                       hfta_time_of_day());
  return true;
}

static void add_evaluated(hfta_search_board *self,
                          const hfta_json_value *line) {
  const hfta_json_value *trials = hfta_json_get(line, "trials");
  int64_t step =
      hfta_json_get_integer(line, "epoch", 0) * self->steps_per_epoch;
  int64_t fold = hfta_json_get_integer(line, "fold", 0);
  double now = hfta_time_of_day(), number;
  for (const hfta_json_value *list = line->first; list; list = list->next) {
    if (list->kind != HFTA_JSON_KIND_ARRAY || list == trials || !trials)
      continue;
    char tag[HFTA_TAG_BYTES];
    if (strcmp(list->key, "validation_metric") == 0)
      memcpy(tag, self->metric, sizeof(tag));
    else
      hfta_board_tag(list->key, HFTA_EPOCH_ROWS, tag);
    const hfta_json_value *trial = trials->first;
    for (const hfta_json_value *at = list->first; at && trial;
         at = at->next, trial = trial->next)
      if (trial_of(self, trial) >= 0 && hfta_json_take_number(at, &number))
        hfta_board_put(self->board, trial_of(self, trial), fold, tag, step,
                       number, now);
  }
}

/// Adds what a line says. Returns false if memory runs out.
static bool add_line(hfta_search_board *self, const char *text, size_t size) {
  const char *problem;
  const hfta_json_value *line =
      hfta_json_parse(&self->tree, text, size, &problem);
  const char *event = hfta_json_get_text(line, "event");
  if (!event)
    return line != NULL;
  int64_t trial = trial_of(self, hfta_json_get(line, "trial"));
  if (strcmp(event, "trial") == 0 && trial >= 0)
    return add_trial(self, line, trial);
  if (strcmp(event, "evaluated") == 0)
    add_evaluated(self, line);
  const char *verdict = hfta_json_get_text(line, "verdict");
  if (strcmp(event, "decided") == 0 && trial >= 0 && verdict &&
      strcmp(verdict, "goes on") != 0)
    hfta_board_end_run(self->board, trial, HFTA_BOARD_SUCCESS,
                       hfta_time_of_day());
  return true;
}

hfta_status hfta_search_board_add(hfta_search_board *self, const char *lines,
                                  size_t size, hfta_error *error) {
  bool has_all = true;
  while (size > 0 && has_all) {
    const char *end = memchr(lines, '\n', size);
    size_t length = end ? (size_t)(end - lines) : size;
    has_all = add_line(self, lines, length);
    length += end != NULL;
    lines += length;
    size -= length;
  }
  return has_all ? hfta_board_flush(self->board, error) : out_of_memory(error);
}

void hfta_search_board_close(hfta_search_board *self) {
  if (!self)
    return;
  hfta_board_close(self->board);
  hfta_histories list = {&self->described, 1};
  hfta_histories_drop(&list);
  hfta_json_tree_free(&self->tree);
  free(self);
}
