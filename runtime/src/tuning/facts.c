//===- facts.c - What identifies a search ---------------------------------===//

#include "tuning/facts.h"

#include "hfta/json.h"
#include "hfta/number_schedule.h"
#include "hfta/program_queries.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Text that grows
//===----------------------------------------------------------------------===//

/// A text in memory; `file` writes to it.
typedef struct memory_text {
  char *text;
  size_t length;
  FILE *file;
} memory_text;

static bool begin(memory_text *self) {
  *self = (memory_text){.text = NULL};
  self->file = open_memstream(&self->text, &self->length);
  return self->file != NULL;
}

/// Returns the text, or NULL if there wasn't enough memory.
static char *end(memory_text *self) {
  bool failed = ferror(self->file) != 0;
  failed |= fclose(self->file) != 0;
  if (!failed)
    return self->text;
  free(self->text);
  return NULL;
}

static void put_integer(memory_text *self, const char *before, int64_t value) {
  fprintf(self->file, "%s%" PRId64, before, value);
}

static void put_number(memory_text *self, const char *before, double value) {
  char buffer[HFTA_NUMBER_TEXT_BYTES];
  if (value == floor(value) && fabs(value) < 0x1p53)
    put_integer(self, before, (int64_t)value);
  else
    fprintf(self->file, "%s%s", before,
            hfta_number_text(value, HFTA_F64, buffer));
}

//===----------------------------------------------------------------------===//
// Parts of a search
//===----------------------------------------------------------------------===//

static void put_choices(memory_text *self, const hfta_search_setting *setting) {
  fputs("choice(", self->file);
  for (int64_t i = 0; i < setting->choice_count; ++i)
    if (setting->labels)
      fprintf(self->file, "%s%s", i ? ", " : "", setting->labels[i]);
    else
      put_number(self, i ? ", " : "", setting->choices[i]);
}

char *hfta_setting_text(const hfta_search_setting *setting) {
  static const char *const NAMES[] = {"uniform(", "log_uniform(", "integers(",
                                      "integers("};
  memory_text self;
  if (!begin(&self))
    return NULL;
  if (setting->distribution == HFTA_CHOICE) {
    put_choices(&self, setting);
  } else {
    fputs(NAMES[setting->distribution], self.file);
    put_number(&self, "", setting->low);
    put_number(&self, ", ", setting->high);
    if (setting->step != 0)
      put_number(&self, ", step = ", setting->step);
    if (setting->distribution == HFTA_LOG_INTEGERS)
      fputs(", log = true", self.file);
  }
  fputs(")", self.file);
  if (setting->zip != HFTA_NO_ZIP)
    put_integer(&self, " zip ", setting->zip);
  return end(&self);
}

char *hfta_own_text(const hfta_search_setting *setting) {
  memory_text self;
  if (!begin(&self))
    return NULL;
  if (setting->labels)
    fputs(setting->labels[(int64_t)setting->own], self.file);
  else
    put_number(&self, "", setting->own);
  return end(&self);
}

char *hfta_sampler_text(const hfta_sampler *sampler) {
  static const char *const NAMES[] = {
#define HFTA_SAMPLER_KIND(identifier, number, name) name,
      HFTA_SAMPLER_KINDS
#undef HFTA_SAMPLER_KIND
  };
  memory_text self;
  if (!begin(&self))
    return NULL;
  fprintf(self.file, "%s(", NAMES[sampler->kind]);
  if (sampler->kind != HFTA_SAMPLER_GRID &&
      sampler->kind != HFTA_SAMPLER_EXTERNAL)
    put_integer(&self, "seed = ", (int64_t)sampler->seed);
  if (sampler->kind == HFTA_SAMPLER_TPE) {
    put_integer(&self, ", startup = ", sampler->startup);
    put_integer(&self, ", batch = ", sampler->batch);
  }
  fputs(")", self.file);
  return end(&self);
}

/// Writes the arguments of a rule.
static void put_rule(memory_text *self, const hfta_rule *rule) {
  switch (rule->kind) {
  case HFTA_RULE_ASHA:
    put_integer(self, "workers = ", rule->workers);
    put_integer(self, ", eta = ", rule->eta);
    put_integer(self, ", grace = ", rule->grace);
    break;
  case HFTA_RULE_HALVING:
  case HFTA_RULE_HYPERBAND:
    put_integer(self, "eta = ", rule->eta);
    put_integer(self, ", grace = ", rule->grace);
    break;
  case HFTA_RULE_PERCENTILE:
    put_number(self, "", rule->percentile);
    put_integer(self, ", every = ", rule->every);
    put_integer(self, ", grace = ", rule->grace);
    break;
  case HFTA_RULE_POPULATION:
    put_integer(self, "every = ", rule->every);
    put_number(self, ", quantile = ", rule->quantile);
    put_number(self, ", resample = ", rule->resample);
    put_number(self, ", factors = [", rule->factors[0]);
    put_number(self, ", ", rule->factors[1]);
    put_integer(self, "], seed = ", (int64_t)rule->seed);
    break;
  default:
    break;
  }
}

char *hfta_rule_text(const hfta_rule *rule) {
  static const char *const NAMES[] = {
#define HFTA_RULE_KIND(identifier, number, name) name,
      HFTA_RULE_KINDS
#undef HFTA_RULE_KIND
  };
  memory_text self;
  if (!begin(&self))
    return NULL;
  fprintf(self.file, "%s(", NAMES[rule->kind]);
  put_rule(&self, rule);
  fputs(")", self.file);
  return end(&self);
}

/// Returns how scores are found.
static char *validation_text(const hfta_validation *validation) {
  memory_text self;
  if (!begin(&self))
    return NULL;
  put_number(&self, "share ", validation->share);
  put_integer(&self, ", folds ", validation->folds);
  put_integer(&self, ", seed ", validation->seed);
  put_integer(&self, ", every ", validation->every);
  fprintf(self.file, ", by %s, keeps %s",
          validation->is_external ? validation->direction == HFTA_MAXIMIZE
                                        ? "external(maximize)"
                                        : "external(minimize)"
          : validation->by_metric ? "metric"
                                  : "loss",
          validation->keeps_best ? "best" : "last");
  put_integer(&self, ", patience ", validation->patience);
  put_number(&self, ", least ", validation->least);
  return end(&self);
}

static void put_schedule(memory_text *self,
                         const hfta_number_schedule *schedule) {
  fputs(hfta_number_schedule_name(schedule->kind), self->file);
#define PUT_NUMBER(s, name)                                                    \
  if (schedule->name)                                                          \
    put_number(self, ", " #name " ", schedule->name[0]);
  HFTA_SCHEDULE_NUMBERS(PUT_NUMBER, )
#undef PUT_NUMBER
#define HFTA_SCHEDULE_OPTION(identifier, bit, name)                            \
  if (schedule->options & (bit))                                               \
    fputs(", " name, self->file);
  HFTA_SCHEDULE_OPTIONS
#undef HFTA_SCHEDULE_OPTION
  for (uint32_t i = 0; i < schedule->milestone_count; ++i)
    put_number(self, i == 0 ? ", milestones " : " ", schedule->milestones[i]);
  for (uint32_t i = 0; i < schedule->part_count; ++i) {
    fputs(i == 0 ? ": " : "; ", self->file);
    put_schedule(self, &schedule->parts[i]);
  }
}

static const char *name_of(const hfta_program *program,
                           const hfta_scheduled_number *number) {
  return program->hyper_parameters[number->hyper_parameter].name;
}

/// Returns the schedules but for the damping's, by their names and numbers.
static char *schedules_text(const hfta_program *program) {
  memory_text self;
  if (!begin(&self))
    return NULL;
  put_schedule(&self, &program->learning_rate);
  for (uint32_t i = 0; i < program->scheduled_number_count; ++i) {
    const hfta_scheduled_number *number = &program->scheduled_numbers[i];
    if (strcmp(name_of(program, number), "damping") == 0)
      continue;
    fprintf(self.file, "; %s: ", name_of(program, number));
    put_schedule(&self, &number->schedule);
  }
  return end(&self);
}

/// Returns the schedule of the damping.
static char *damping_text(const hfta_program *program) {
  memory_text self;
  if (!begin(&self))
    return NULL;
  if (program->scheduled_number_count > 0 &&
      strcmp(name_of(program, program->scheduled_numbers), "damping") == 0)
    put_schedule(&self, &program->scheduled_numbers->schedule);
  else
    fputs("constant, warmup 0", self.file);
  return end(&self);
}

static bool is_varied(const hfta_search *search, const char *name) {
  for (int64_t i = 0; i < search->setting_count; ++i)
    if (strcmp(search->settings[i].name, name) == 0)
      return true;
  return false;
}

/// Returns whether a setting, which isn't a hyper-parameter, decides the bytes
/// of a trial.
static bool decides_bytes(const hfta_program *program, const char *name) {
  static const char *const NAMES[] = {
      "clip_norm", "loss_scale", "growth_interval", "micro_batches", "seed"};
  for (size_t i = 0; i < sizeof(NAMES) / sizeof(*NAMES); ++i)
    if (strcmp(NAMES[i], name) == 0)
      return true;
  return program->made_field_count > 0 && strcmp(name, "augment_seed") == 0;
}

/// Returns the numbers that all trials have in common.
static char *numbers_text(const hfta_program *program) {
  memory_text self;
  if (!begin(&self))
    return NULL;
  const char *separator = "";
  for (uint32_t i = 0; i < program->hyper_parameter_count; ++i) {
    const hfta_hyper_parameter *one = &program->hyper_parameters[i];
    if (is_varied(program->search, one->name))
      continue;
    fprintf(self.file, "%s%s", separator, one->name);
    put_number(&self, " = ", one->values[0]);
    separator = ", ";
  }
  for (uint32_t i = 0; i < program->setting_count; ++i) {
    const hfta_setting *one = &program->settings[i];
    if (!decides_bytes(program, one->name) ||
        is_varied(program->search, one->name))
      continue;
    fprintf(self.file, "%s%s", separator, one->name);
    if (one->type == HFTA_SETTING_NUMBERS && one->values)
      put_number(&self, " = ", ((const double *)one->values)[0]);
    else if (one->type == HFTA_SETTING_WHOLE_NUMBERS && one->values)
      put_integer(&self, " = ", ((const int64_t *)one->values)[0]);
    else
      put_integer(&self, " = ", one->value);
    separator = ", ";
  }
  for (uint32_t i = 0; i < program->data_field_count; ++i)
    if (hfta_field_is_augmented(&program->data_fields[i])) {
      fprintf(self.file, "%s%s: %s", separator, program->data_fields[i].name,
              program->data_fields[i].augmentations);
      separator = ", ";
    }
  return end(&self);
}

//===----------------------------------------------------------------------===//
// All facts
//===----------------------------------------------------------------------===//

/// The names of a run's own facts.
static const char TRIALS[] = "trials", EPOCHS[] = "epochs",
                  SAMPLES[] = "training samples",
                  STEPS_PER_EPOCH[] = "steps per epoch";

/// Adds a fact, whose text becomes the list's. Returns false if `text` is NULL.
static bool add(hfta_facts *self, const char *name, char *text) {
  self->owned[self->owned_count++] = text;
  self->list[self->count++] = (hfta_journal_fact){
      .name = name, .text = text, .may_change = strcmp(name, TRIALS) == 0};
  return text != NULL;
}

/// Returns a number as a text.
static char *number_text(int64_t value) {
  memory_text self;
  if (!begin(&self))
    return NULL;
  put_integer(&self, "", value);
  return end(&self);
}

/// Returns a fact's name: of all arrays but the first one, with its number.
/// NULL if there isn't enough memory.
static char *array_name(const char *name, int64_t array) {
  memory_text self;
  if (!begin(&self))
    return NULL;
  fputs(name, self.file);
  if (array > 0)
    put_integer(&self, " of array ", array);
  return end(&self);
}

/// Adds a fact whose name, too, becomes the list's. Returns false if one of
/// both is NULL.
static bool add_named(hfta_facts *self, char *name, char *text) {
  self->owned[self->owned_count++] = name;
  bool has_text = add(self, name ? name : "", text);
  return has_text && name;
}

/// Adds a fact about a setting. Its name differs from those of all other facts,
/// however the job's model names its numbers.
static bool add_setting(hfta_facts *self, const hfta_search_setting *setting) {
  memory_text name;
  if (!begin(&name))
    return false;
  fprintf(name.file, "setting %s", setting->name);
  return add_named(self, end(&name), hfta_setting_text(setting));
}

/// The number of facts that add_array adds.
enum { OF_ARRAY = 7 };

/// Adds what decides the bytes of the trials of one array.
static bool add_array(hfta_facts *self, const hfta_program *program,
                      int64_t array, int64_t steps_per_epoch) {
  struct {
    const char *name;
    char *text;
  } facts[OF_ARRAY] = {
      {"model", strdup(program->models->identity)},
      {"batch", number_text(program->batch)},
      {"order_seed", number_text(program->order_seed)},
      {STEPS_PER_EPOCH, number_text(steps_per_epoch)},
      {"schedule", schedules_text(program)},
      {"damping schedule", damping_text(program)},
      {"other numbers", numbers_text(program)},
  };
  bool complete = true;
  for (int i = 0; i < OF_ARRAY; ++i)
    complete &=
        add_named(self, array_name(facts[i].name, array), facts[i].text);
  return complete;
}

hfta_status hfta_facts_find(const hfta_program *const *arrays,
                            const hfta_facts_of_run *run, hfta_facts *out,
                            hfta_error *error) {
  enum { OTHERS = 8 };
  const hfta_program *program = arrays[0];
  const hfta_search *search = program->search;
  size_t most = (size_t)search->setting_count + OTHERS +
                OF_ARRAY * (size_t)search->array_count;
  *out = (hfta_facts){.list = calloc(most, sizeof(*out->list)),
                      .owned = calloc(2 * most, sizeof(*out->owned))};
  bool complete = out->list && out->owned;
  complete = complete && add(out, "job", strdup(program->name));
  complete = complete && add(out, TRIALS, number_text(run->trials));
  complete =
      complete && add(out, "sampler", hfta_sampler_text(&search->sampler));
  complete = complete && add(out, "rule", hfta_rule_text(&search->rule));
  complete =
      complete && add(out, "validation", validation_text(&program->validation));
  complete = complete && add(out, EPOCHS, number_text(run->epochs));
  complete = complete && add(out, SAMPLES, number_text(run->samples));
  const hfta_metric *metric = hfta_program_main_metric(program);
  complete = complete && add(out, "metric", strdup(metric ? metric->name : ""));
  for (int64_t i = 0; i < search->array_count && complete; ++i)
    complete = add_array(out, arrays[i], i, run->steps_per_epoch[i]);
  for (int64_t i = 0; i < search->setting_count && complete; ++i)
    complete = add_setting(out, &search->settings[i]);
  return complete ? HFTA_OK
                  : hfta_fail(error, HFTA_UNSUPPORTED,
                              "not enough memory for a search");
}

/// Returns a fact of the journal that is a number; 0 if it isn't.
static int64_t find_number(const hfta_journal *journal, const char *name) {
  char *text = hfta_journal_find_fact(journal, name);
  int64_t number = text ? strtoll(text, NULL, 10) : 0;
  free(text);
  return number;
}

int64_t hfta_facts_trials(const hfta_journal *journal) {
  return find_number(journal, TRIALS);
}

hfta_status hfta_facts_read(const hfta_program *const *arrays,
                            const hfta_journal *journal, const char *path,
                            hfta_facts_of_run *out, hfta_error *error) {
  *out = (hfta_facts_of_run){.trials = find_number(journal, TRIALS),
                             .epochs = find_number(journal, EPOCHS),
                             .samples = find_number(journal, SAMPLES)};
  for (int64_t i = 0; i < arrays[0]->search->array_count; ++i) {
    char *name = array_name(STEPS_PER_EPOCH, i);
    out->steps_per_epoch[i] = name ? find_number(journal, name) : 0;
    free(name);
  }
  hfta_facts facts;
  hfta_status status = hfta_facts_find(arrays, out, &facts, error);
  if (status == HFTA_OK)
    status = hfta_journal_check(journal, path, facts.list, facts.count, error);
  hfta_facts_free(&facts);
  return status;
}

void hfta_facts_free(hfta_facts *self) {
  for (int64_t i = 0; i < self->owned_count; ++i)
    free(self->owned[i]);
  free(self->owned);
  free(self->list);
  *self = (hfta_facts){.count = 0};
}
