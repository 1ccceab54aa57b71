//===- train_job.c - Trains one job ---------------------------------------===//

#include "command_line/table.h"
#include "command_line/train.h"
#include "command_line/trials/search_commands.h"
#include "hfta/checkpoint.h"
#include "instance/parts.h"
#include "progress/screen.h"
#include "system/interrupt.h"

#include <errno.h>
#include <stdlib.h>

/// Says after which step a signal has stopped the training, and where its
/// checkpoint is.
static void print_interrupted(const hfta_invocation *invocation,
                              const hfta_train_arguments *arguments,
                              const hfta_train_result *result) {
  char name[HFTA_CHECKPOINT_NAME_BYTES];
  const char *binary = invocation->binary;
  long long steps = (long long)result->steps;
  hfta_screen_begin_output(invocation->screen);
  if (result->steps == 0)
    fprintf(stderr, "%s: stopped before the first step%s%s\n", binary,
            invocation->tells_job ? " of " : "",
            invocation->tells_job ? invocation->job : "");
  else if (result->saved)
    fprintf(stderr, "%s: stopped after step %lld; saved %s/%s\n", binary, steps,
            arguments->options.checkpoint,
            hfta_checkpoint_name(result->steps, name));
  else
    fprintf(stderr,
            "%s: stopped after step %lld%s%s; nothing saved: no "
            "--checkpoint was given\n",
            binary, steps, invocation->tells_job ? " of " : "",
            invocation->tells_job ? invocation->job : "");
  hfta_screen_end_output(invocation->screen);
}

/// Says after which step the limit of minutes has ended the training, and where
/// its checkpoint is.
static void print_out_of_time(const hfta_invocation *invocation,
                              const hfta_train_arguments *arguments,
                              const hfta_train_result *result) {
  char name[HFTA_CHECKPOINT_NAME_BYTES];
  hfta_screen_begin_output(invocation->screen);
  fprintf(stderr, "%s: the limit of %g minutes ended %s%safter step %lld",
          invocation->binary, result->minutes,
          invocation->tells_job ? invocation->job : "",
          invocation->tells_job ? " " : "", (long long)result->steps);
  if (result->saved)
    fprintf(stderr,
            "; saved %s/%s: train --resume --minutes M goes on until M minutes "
            "in total\n",
            arguments->options.checkpoint,
            hfta_checkpoint_name(result->steps, name));
  else
    fprintf(stderr, "; nothing saved: no --checkpoint was given\n");
  hfta_screen_end_output(invocation->screen);
}

/// Names the checkpoint that a failed training has saved.
static void print_saved(const hfta_invocation *invocation,
                        const hfta_train_arguments *arguments,
                        const hfta_train_result *result) {
  char name[HFTA_CHECKPOINT_NAME_BYTES];
  hfta_screen_begin_output(invocation->screen);
  fprintf(stderr, "%s: note: saved %s/%s\n", invocation->binary,
          arguments->options.checkpoint,
          hfta_checkpoint_name(result->steps, name));
  hfta_screen_end_output(invocation->screen);
}

/// Reports that the results couldn't be printed. Returns the exit code. If the
/// reader of a pipe has gone, this is the code of a process that SIGPIPE has
/// ended, unless the signal is ignored.
static int report_output(const hfta_invocation *invocation,
                         const hfta_train_arguments *arguments) {
  const hfta_interrupt *interrupt = arguments->options.should_stop_argument;
  if (atomic_load(&interrupt->signal) == SIGPIPE)
    return 128 + SIGPIPE;
  return hfta_report_output(invocation);
}

/// Returns the exit code of a process that a signal has stopped.
static int find_signal(const hfta_train_arguments *arguments) {
  const hfta_interrupt *interrupt = arguments->options.should_stop_argument;
  int number = atomic_load(&interrupt->signal);
  // With several ranks, this one may not have received the signal yet. It is
  // SIGUSR1, the only signal that stops ranks in an orderly way.
  return 128 + (number ? number : SIGUSR1);
}

/// Reports that a signal came before the job began. Returns the exit code.
static int report_unbegun(const hfta_invocation *invocation,
                          const hfta_train_arguments *arguments) {
  hfta_screen_begin_output(invocation->screen);
  fprintf(stderr, "%s: stopped before job '%s'\n", invocation->binary,
          invocation->program->name);
  hfta_screen_end_output(invocation->screen);
  return find_signal(arguments);
}

/// Prints the table of results, after the job's name if there are several jobs.
/// Returns the exit code.
static int print_results(const hfta_invocation *invocation,
                         const hfta_train_arguments *arguments,
                         const hfta_instance *instance,
                         const hfta_train_result *result) {
  bool is_best = result->best_steps != NULL;
  hfta_results results = {
      .live = hfta_instance_live(instance),
      .train_losses = result->train_losses,
      .best_steps = result->best_steps,
      .validation_losses =
          is_best ? result->best_losses : result->validation_losses,
      .validation_metrics =
          is_best ? result->best_metrics : result->validation_metrics,
      .test_losses = result->eval_losses,
      .test_metrics = result->eval_metrics,
      .average_validation_losses = result->average_validation_losses,
      .average_validation_metrics = result->average_validation_metrics,
      .average_test_losses = result->average_eval_losses,
      .average_test_metrics = result->average_eval_metrics,
      .skipped_statistics = result->skipped_statistics,
      .retried_inverses = result->retried_inverses,
      .kept_inverses = result->kept_inverses};
  hfta_screen_begin_output(invocation->screen);
  if (invocation->job)
    printf("%s%s\n", *arguments->has_printed ? "\n" : "", invocation->job);
  *arguments->has_printed = true;
  hfta_print_results(stdout, invocation->program, &results);
  bool is_whole = fflush(stdout) == 0 && !ferror(stdout);
  int reason = errno;
  hfta_screen_end_output(invocation->screen);
  errno = reason;
  return is_whole ? HFTA_OK : report_output(invocation, arguments);
}

/// Reports a job's failure, interruption or results. Returns the exit code.
static int report(const hfta_invocation *invocation,
                  const hfta_train_arguments *arguments,
                  hfta_instance *instance, hfta_status status,
                  const hfta_train_result *result) {
  int code = (int)status;
  if (status != HFTA_OK) {
    bool has_saved = result->saved && hfta_is_first_rank(invocation);
    // With several ranks hfta_report ends the process, so print_saved must come
    // first.
    bool is_alone = invocation->ranks->communicator->size == 1;
    if (has_saved && !is_alone)
      print_saved(invocation, arguments, result);
    hfta_report(invocation, status, hfta_instance_message(instance));
    if (has_saved)
      print_saved(invocation, arguments, result);
  } else if (result->interrupted) {
    if (hfta_is_first_rank(invocation))
      print_interrupted(invocation, arguments, result);
    // Wait for all ranks: when the first one exits with such a code, the
    // launcher ends the others.
    int64_t nothing = 0;
    (void)hfta_communicator_max(invocation->ranks->communicator,
                                "end of the training", &nothing,
                                hfta_instance_error(instance));
    code = find_signal(arguments);
  } else if (result->out_of_time) {
    print_out_of_time(invocation, arguments, result);
  } else if (hfta_is_first_rank(invocation)) {
    code = print_results(invocation, arguments, instance, result);
  }
  return code;
}

/// Shows the job's outcome on the screen of simultaneous jobs.
static void finish(const hfta_invocation *invocation,
                   const hfta_train_arguments *arguments, int code,
                   int64_t steps) {
  hfta_screen_finish(invocation->screen, arguments->options.screen_block,
                     code == HFTA_OK ? HFTA_SCREEN_DONE
                     : code >= 128   ? HFTA_SCREEN_STOPPED
                                     : HFTA_SCREEN_FAILED,
                     steps);
}

/// Runs the training of an opened instance, which a search of several arrays
/// may replace by another one, and reports its outcome. `*steps` becomes the
/// number of steps done. Returns the exit code.
static int train(const hfta_invocation *invocation,
                 const hfta_train_arguments *arguments,
                 hfta_instance **instance, int64_t *steps) {
  const hfta_search *search = invocation->program->search;
  if (search)
    return arguments->replay >= 0
               ? search->commands->replay(invocation, arguments, instance)
               : search->commands->train(invocation, arguments, instance);
  hfta_train_result result;
  hfta_status status = hfta_train(*instance, &arguments->options, &result);
  *steps = result.steps;
  int code = report(invocation, arguments, *instance, status, &result);
  hfta_train_result_free(&result);
  return code;
}

/// Opens an instance with initial weights, for all copies or for a part of
/// them. If it belongs to a fleet, does so at a seat. Returns -1, or the exit
/// code after an error message.
static int open_part(const hfta_invocation *invocation,
                     const hfta_train_arguments *arguments,
                     hfta_workload workload, hfta_fleet_model *model,
                     hfta_instance **out) {
  workload.communicator = invocation->ranks->communicator;
  if (model) {
    workload.seat = hfta_fleet_sit(model, HFTA_UNIT_START);
    if (!workload.seat)
      return report_unbegun(invocation, arguments);
  }
  int code = hfta_open_instance(invocation, &workload, arguments->threads,
                                arguments->device, &arguments->spill, out);
  hfta_fleet_set_instance(model, *out);
  hfta_fleet_stand_up(model);
  return code;
}

/// The instances of a job: one, or one for each of its parts.
typedef struct instances {
  hfta_instance **list; ///< the first one represents all of them
  hfta_train_part *parts;
  int64_t count;
} instances;

/// Opens an instance for each part of a job and joins them. Returns -1, or the
/// exit code after an error message.
static int open_parts(const hfta_invocation *invocation,
                      const hfta_train_arguments *arguments, instances *self) {
  int code = -1;
  for (int64_t i = 0; i < self->count && code < 0; ++i) {
    hfta_fleet_model *model = arguments->models[i];
    code = open_part(invocation, arguments,
                     hfta_fleet_workload(&arguments->trainings[i]), model,
                     &self->list[i]);
    self->parts[i] = (hfta_train_part){self->list[i], model};
  }
  if (code >= 0)
    return code;
  hfta_status status =
      hfta_instance_join_parts(self->list, (uint32_t)self->count);
  return status == HFTA_OK ? -1
                           : hfta_report(invocation, status,
                                         hfta_instance_message(self->list[0]));
}

/// Allocates the lists, connects the ranks, and opens the job's instances.
/// Returns -1, or the exit code after an error message.
static int open_instances(const hfta_invocation *invocation,
                          hfta_train_arguments *arguments, instances *self) {
  int64_t count = arguments->part_count > 1 ? arguments->part_count : 1;
  self->list = calloc((size_t)count, sizeof(*self->list));
  self->parts = calloc((size_t)count, sizeof(*self->parts));
  if (!self->list || !self->parts)
    return hfta_report(invocation, HFTA_UNSUPPORTED,
                       "not enough memory for instances");
  self->count = count;
  int code = hfta_join_ranks(invocation, &arguments->ranks);
  if (code >= 0)
    return code;
  if (count == 1)
    return open_part(invocation, arguments,
                     hfta_workload_of_all(invocation->program),
                     arguments->options.model, self->list);
  code = open_parts(invocation, arguments, self);
  arguments->options.parts = self->parts;
  arguments->options.part_count = count;
  arguments->options.model = NULL;
  return code;
}

static void close_instances(const hfta_train_arguments *arguments,
                            instances *self) {
  for (int64_t i = self->count; i > 0; --i) {
    hfta_fleet_set_instance(self->count > 1 ? arguments->models[i - 1]
                                            : arguments->options.model,
                            NULL);
    hfta_instance_destroy(self->list[i - 1]);
  }
  free(self->list);
  free(self->parts);
}

int hfta_train_job(const hfta_invocation *invocation,
                   const hfta_train_arguments *arguments) {
  hfta_train_arguments own = *arguments;
  hfta_path path, board;
  instances all = {.count = 0};
  int64_t steps = 0;
  int code = hfta_choose_job_folder(invocation, &path, &own.options.checkpoint);
  own.spill.checkpoint = own.options.checkpoint;
  own.options.job = invocation->job;
  if (code < 0)
    code = hfta_choose_job_folder(invocation, &board, &own.options.tensorboard);
  if (code < 0)
    code = open_instances(invocation, &own, &all);
  if (code < 0)
    code = hfta_choose_copies(invocation, own.only, all.list[0]);
  if (code < 0)
    code = train(invocation, &own, all.list, &steps);
  close_instances(&own, &all);
  hfta_leave_ranks(invocation);
  finish(invocation, &own, code, steps);
  return code;
}
