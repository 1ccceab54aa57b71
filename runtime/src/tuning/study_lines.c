//===- study_lines.c - What a study says to its journal -------------------===//

#include "tuning/study_lines.h"

#include "tuning/journal_line.h"

/// A line that is being written. Its key comes first (hfta_journal_say).
typedef struct study_line {
  hfta_json_writer writer;
  size_t key_bytes;
} study_line;

static void begin(study_line *self, const char *event, int64_t trial,
                  int64_t epoch) {
  hfta_json_to_memory(&self->writer);
  hfta_json_begin_object(&self->writer);
  hfta_json_put_string(&self->writer, "event", event);
  hfta_json_put_integer(&self->writer, "trial", trial);
  if (epoch > 0)
    hfta_json_put_integer(&self->writer, "epoch", epoch);
  // A comma belongs to the key, so that trial 1 isn't taken for trial 10.
  hfta_json_text(&self->writer, &self->key_bytes);
  ++self->key_bytes;
}

static hfta_status say(study_line *self, hfta_study *study, hfta_error *error) {
  hfta_json_end_object(&self->writer);
  hfta_status status = hfta_json_finish(&self->writer, error);
  if (status == HFTA_OK)
    status =
        hfta_journal_say(study->journal, hfta_json_text(&self->writer, NULL),
                         self->key_bytes, error);
  hfta_json_release(&self->writer);
  return status;
}

void hfta_study_put_settings(const hfta_study *self, const double *values,
                             hfta_json_writer *writer) {
  hfta_json_begin_object(writer);
  for (int64_t i = 0; i < self->space.count; ++i) {
    hfta_json_key(writer, self->space.settings[i].name);
    hfta_journal_put_value(writer, &self->space.settings[i], values[i]);
  }
  hfta_json_end_object(writer);
}

hfta_status hfta_study_say_trial(hfta_study *self, int64_t trial,
                                 hfta_error *error) {
  study_line line;
  begin(&line, "trial", trial, 0);
  hfta_json_key(&line.writer, "settings");
  const hfta_study_trial *row = &self->rows[trial];
  hfta_study_put_settings(self, row->lineage[row->lineage_count - 1].values,
                          &line.writer);
  return say(&line, self, error);
}

hfta_status hfta_study_say_clone(hfta_study *self, int64_t trial,
                                 hfta_error *error) {
  const hfta_study_trial *row = &self->rows[trial];
  const hfta_lineage *last = &row->lineage[row->lineage_count - 1];
  study_line line;
  begin(&line, "cloned", trial, last->epoch);
  hfta_json_put_integer(&line.writer, "donor", last->donor);
  hfta_json_key(&line.writer, "settings");
  hfta_study_put_settings(self, last->values, &line.writer);
  return say(&line, self, error);
}

hfta_status hfta_study_say_decision(hfta_study *self,
                                    const hfta_decision *decision,
                                    hfta_error *error) {
  study_line line;
  begin(&line, "decided", decision->trial, decision->level);
  hfta_json_put_string(&line.writer, "verdict",
                       hfta_verdict_name(decision->verdict));
  hfta_json_key(&line.writer, "score");
  hfta_json_number(&line.writer, decision->score, HFTA_F64);
  hfta_json_put_integer(&line.writer, "rank", decision->rank);
  hfta_json_put_integer(&line.writer, "compared", decision->compared);
  hfta_json_put_integer(&line.writer, "kept", decision->kept);
  if (decision->rival != HFTA_NO_TRIAL) {
    hfta_json_put_integer(&line.writer, "rival", decision->rival);
    hfta_json_key(&line.writer, "bound");
    hfta_json_number(&line.writer, decision->bound, HFTA_F64);
  }
  return say(&line, self, error);
}
