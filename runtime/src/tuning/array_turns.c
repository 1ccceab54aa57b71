//===- array_turns.c - Which array of a search has the turn ---------------===//
//
// Only one of several arrays has memory at a time: its instance and its data
// are open. States of trials that wait are held apart from it.
//===----------------------------------------------------------------------===//

#include "tuning/tuner_impl.h"

#include "system/clock.h"
#include "training/evaluate.h"
#include "tuning/copy_state.h"

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

hfta_status hfta_tuner_divide(hfta_tuner *self, int64_t fold) {
  if (fold == self->fold)
    return HFTA_OK;
  hfta_dataset_close(&self->data.train);
  hfta_dataset_close(&self->data.validation);
  self->fold = fold;
  return hfta_dataset_divide(&self->data.whole, fold, &self->data.train,
                             &self->data.validation, self->error);
}

/// Finds the steps per epoch of all arrays for a fold. All folds must lead to
/// equally many, so that they are counted alike.
static hfta_status find_steps(hfta_tuner *self, int64_t fold) {
  for (int64_t i = 0; i < self->arrays[0]->search->array_count; ++i) {
    int64_t batch = self->arrays[i]->batch, *place = &self->steps_per_epoch[i];
    int64_t steps = self->data.train.samples / batch;
    if (steps == 0)
      return hfta_fail(self->error, HFTA_INVALID_INPUT,
                       "an array has batches of %lld samples, but there are "
                       "%lld samples to train",
                       (long long)batch, (long long)self->data.train.samples);
    if (fold > 0 && steps != *place)
      return hfta_fail(
          self->error, HFTA_INVALID_INPUT,
          "fold %lld has %lld steps an epoch, but fold 0 has %lld: choose a "
          "batch size or a number of folds with which all have equally many",
          (long long)fold, (long long)steps, (long long)*place);
    *place = steps;
  }
  return HFTA_OK;
}

/// Checks the data of all folds, of which the first one is divided.
static hfta_status check_folds(hfta_tuner *self) {
  int64_t folds = self->program->validation.folds;
  hfta_status status = HFTA_OK;
  for (int64_t fold = 0; (fold == 0 || fold < folds) && status == HFTA_OK;
       ++fold) {
    if (fold > 0)
      status = hfta_tuner_divide(self, fold);
    if (status == HFTA_OK)
      status = hfta_check_evaluated(&self->data.validation, self->error);
    if (status == HFTA_OK)
      status = find_steps(self, fold);
  }
  return status;
}

hfta_status hfta_tuner_open_data(hfta_tuner *self) {
  if (hfta_copy_state_check(self->instance) != HFTA_OK)
    return self->error->code;
  const char *root = self->options->train->data_root;
  hfta_communicator *communicator = self->team.communicator;
  hfta_status status =
      hfta_training_data_open(self->program, root, 0, &self->data, self->error);
  if (status == HFTA_OK && !self->data.validation.sources)
    status = hfta_fail(self->error, HFTA_USAGE,
                       "'%s' was compiled without validation data",
                       self->program->name);
  if (status == HFTA_OK)
    status = check_folds(self);
  self->has_test = hfta_dataset_exists(self->program, HFTA_SPLIT_TEST);
  if (status == HFTA_OK && self->has_test)
    status = hfta_test_data_open(&self->data, root, &self->test, self->error);
  if (status == HFTA_OK && self->has_test)
    status = hfta_check_evaluated(&self->test, self->error);
  if (status == HFTA_OK)
    status = hfta_compare_samples(communicator, &self->data.whole, self->error);
  if (status == HFTA_OK)
    status =
        hfta_compare_samples(communicator, &self->data.validation, self->error);
  if (status == HFTA_OK)
    status = hfta_compare_samples(communicator, &self->test, self->error);
  return status == HFTA_OK && hfta_program_adds_offsets(self->program)
             ? hfta_averages_open(&self->averages, self->instance, self->error)
             : status;
}

hfta_status hfta_tuner_evaluate(hfta_tuner *self, const hfta_dataset *dataset,
                                bool can_stop, bool *stopped) {
  const hfta_train_options *train = self->options->train;
  hfta_status status = hfta_averages_put(&self->averages);
  if (status != HFTA_OK)
    return status;
  status =
      hfta_evaluate_dataset(self->instance, dataset, self->losses,
                            self->metrics, can_stop ? train->should_stop : NULL,
                            train->should_stop_argument, stopped);
  hfta_error reason = *self->error;
  hfta_status restored = hfta_averages_remove(&self->averages);
  if (status == HFTA_OK)
    return restored;
  *self->error = reason;
  return status;
}

void hfta_tuner_close_data(hfta_tuner *self) {
  hfta_averages_close(&self->averages);
  hfta_training_data_close(&self->data);
  hfta_dataset_close(&self->test);
  self->fold = 0;
}

//===----------------------------------------------------------------------===//
// Turns
//===----------------------------------------------------------------------===//

void hfta_tuner_init(hfta_tuner *self, hfta_instance *instance,
                     const hfta_tuner_options *options,
                     hfta_tuner_result *result) {
  *self = (hfta_tuner){
      .instance = instance,
      .program = hfta_instance_program(instance),
      .options = options,
      .result = result,
      .folder = options->train->checkpoint,
      .lock = {.descriptor = -1},
      .team = {.communicator = hfta_instance_communicator(instance)},
      .begin = hfta_now(),
      .error = hfta_instance_error(instance)};
  self->only = self->program;
  self->arrays = options->arrays ? options->arrays : &self->only;
}

hfta_status hfta_tuner_use_array(hfta_tuner *self, int64_t array) {
  const hfta_tuner_options *options = self->options;
  if (array == self->array)
    return HFTA_OK;
  hfta_tuner_close_data(self);
  self->error = &self->own_error;
  self->instance = NULL;
  hfta_status status = options->open_array(options->open_argument, array,
                                           &self->instance, &self->own_error);
  if (status != HFTA_OK)
    return status;
  self->array = array;
  self->program = self->arrays[array];
  self->error = hfta_instance_error(self->instance);
  self->team.communicator = hfta_instance_communicator(self->instance);
  return hfta_tuner_open_data(self);
}
