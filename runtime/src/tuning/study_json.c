//===- study_json.c - A study's trials as JSON ----------------------------===//

#include "tuning/study_json.h"

#include "tuning/study_lines.h"

const hfta_decision *hfta_study_last_decision(const hfta_study *study,
                                              int64_t trial) {
  int64_t count;
  const hfta_decision *decisions = hfta_trials_decisions(study->trials, &count);
  for (int64_t i = count; i > 0; --i)
    if (decisions[i - 1].trial == trial)
      return &decisions[i - 1];
  return NULL;
}

const char *hfta_study_state_word(const hfta_study *study, int64_t trial) {
  if (study->rows[trial].is_paused)
    return "paused";
  switch (hfta_trials_state(study->trials, trial)) {
  case HFTA_TRIAL_AHEAD:
  case HFTA_TRIAL_WAITS:
    return hfta_study_values(study, trial) ? "waits" : "not begun";
  case HFTA_TRIAL_RUNS:
    return "running";
  case HFTA_TRIAL_HELD:
    return "held";
  case HFTA_TRIAL_DROPPED:
    return "dropped";
  case HFTA_TRIAL_FAILED:
    return "failed";
  case HFTA_TRIAL_COMPLETE:
    return "complete";
  case HFTA_TRIAL_WITHDRAWN:
    return "stopped";
  }
  return "?";
}

int64_t hfta_study_scored_epochs(const hfta_study *study, int64_t trial) {
  int64_t epochs = INT64_MAX;
  for (int64_t fold = 0; fold < study->fold_count; ++fold) {
    int64_t own =
        hfta_study_last_epoch(&study->runs[trial * study->fold_count + fold]);
    epochs = own < epochs ? own : epochs;
  }
  return epochs;
}

static void put_number(hfta_json_writer *writer, const char *key,
                       double value) {
  hfta_json_key(writer, key);
  hfta_json_number(writer, value, HFTA_F64);
}

static void put_lineage(const hfta_study *study, int64_t trial,
                        hfta_json_writer *writer) {
  const hfta_study_trial *row = &study->rows[trial];
  hfta_json_key(writer, "lineage");
  hfta_json_begin_array(writer);
  for (int64_t i = 0; i < row->lineage_count; ++i) {
    hfta_json_begin_object(writer);
    hfta_json_put_integer(writer, "epoch", row->lineage[i].epoch);
    if (row->lineage[i].donor != HFTA_NO_TRIAL)
      hfta_json_put_integer(writer, "donor", row->lineage[i].donor);
    hfta_json_key(writer, "settings");
    hfta_study_put_settings(study, row->lineage[i].values, writer);
    hfta_json_end_object(writer);
  }
  hfta_json_end_array(writer);
}

static void put_evaluations(const hfta_study *study, int64_t trial,
                            hfta_json_writer *writer) {
  hfta_json_key(writer, "evaluations");
  hfta_json_begin_array(writer);
  for (int64_t fold = 0; fold < study->fold_count; ++fold) {
    const hfta_run *run = &study->runs[trial * study->fold_count + fold];
    for (int64_t i = 0; i < run->evaluation_count; ++i) {
      const hfta_evaluated *one = &run->evaluations[i];
      hfta_json_begin_object(writer);
      if (study->validation.folds > 0)
        hfta_json_put_integer(writer, "fold", fold);
      hfta_json_put_integer(writer, "epoch", one->epoch);
      put_number(writer, "train_loss", one->train_loss);
      put_number(writer, "validation_loss", one->loss);
      if (hfta_program_main_metric(study->program))
        put_number(writer, "validation_metric", one->metric);
      if (one->is_told)
        put_number(writer, "told", one->told);
      hfta_json_end_object(writer);
    }
  }
  hfta_json_end_array(writer);
}

void hfta_study_put_trial(const hfta_study *study, int64_t trial,
                          hfta_json_writer *writer) {
  const hfta_decision *last = hfta_study_last_decision(study, trial);
  hfta_json_begin_object(writer);
  hfta_json_put_integer(writer, "trial", trial);
  hfta_json_put_string(writer, "state", hfta_study_state_word(study, trial));
  if (hfta_study_has_score(study, trial) || !study->validation.is_external) {
    put_number(writer, "score", hfta_study_score(study, trial));
  } else {
    hfta_json_key(writer, "score");
    hfta_json_null(writer);
  }
  hfta_json_put_integer(writer, "epochs",
                        hfta_study_scored_epochs(study, trial));
  if (last) {
    hfta_json_key(writer, "last_decision");
    hfta_json_begin_object(writer);
    hfta_json_put_string(writer, "verdict", hfta_verdict_name(last->verdict));
    hfta_json_put_integer(writer, "epoch", last->level);
    hfta_json_put_integer(writer, "rank", last->rank + 1);
    hfta_json_put_integer(writer, "compared", last->compared);
    hfta_json_put_integer(writer, "kept", last->kept);
    hfta_json_end_object(writer);
  }
  put_lineage(study, trial, writer);
  put_evaluations(study, trial, writer);
  hfta_json_end_object(writer);
}
