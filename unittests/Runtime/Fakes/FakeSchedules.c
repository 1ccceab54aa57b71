//===- FakeSchedules.c - The fake program's schedules ---------------------===//

#include "FakeSchedules.h"

#include "FakeKernels.h"

#include <stdbool.h>
#include <string.h>

enum { TASKS = 0, UPLOADS = 1, READS = 2, WRITES = 3 };           // queues
enum { UPLOADED = 0, USED = 1, READ = 2, WRITTEN = 3, DONE = 4 }; // events
enum { FACTOR_EVERY = 5 }; // hyper-parameter

static const uint32_t gradients[] = {FAKE_SEGMENT_GRADIENTS};
static const uint32_t all_slabs[] = {FAKE_SEGMENT_GRADIENTS, FAKE_SEGMENT_SAVED,
                                     FAKE_SEGMENT_CUT, FAKE_SEGMENT_PARAMETERS,
                                     FAKE_SEGMENT_STATE};

/// A schedule under construction, which `add` appends commands to.
typedef struct list {
  const hfta_program *program;
  const fake_options *options;
  hfta_schedule *schedule;
  hfta_command *commands;
} list;

static hfta_command *add(list *self, uint32_t kind, uint32_t queue,
                         uint32_t subject) {
  hfta_command *command = &self->commands[self->schedule->command_count++];
  *command = (hfta_command){.kind = kind, .queue = queue, .subject = subject};
  return command;
}

static void run(list *self, enum fake_task task) {
  add(self, HFTA_COMMAND_RUN, TASKS, task);
}

static hfta_command *begin(list *self, hfta_repeat_kind kind) {
  return add(self, HFTA_COMMAND_REPEAT, TASKS, kind);
}

static void end(list *self, hfta_command *repeat) {
  uint32_t place = (uint32_t)(repeat - self->commands);
  repeat->length = self->schedule->command_count - place - 1;
}

/// Begins a loop over turns. Returns NULL if copies don't take turns.
static hfta_command *begin_turns(list *self) {
  if (!self->options->takes_turns)
    return NULL;
  hfta_command *turns = begin(self, HFTA_REPEAT_TURNS);
  turns->bytes = (uint64_t)self->options->spilled_copies;
  return turns;
}

static void end_turns(list *self, hfta_command *repeat) {
  if (repeat)
    end(self, repeat);
}

/// Runs a task for the copies of one kind, such as those that are due.
static void run_every(list *self, hfta_due_kind kind, enum fake_task task) {
  hfta_command *every = add(self, HFTA_COMMAND_EVERY, TASKS, FACTOR_EVERY);
  every->bytes = kind;
  run(self, task);
  end(self, every);
}

/// Runs a task for all copies; with a preconditioner, first for the copies that
/// are due and then for the others.
static void run_in_two(list *self, enum fake_task task) {
  if (!self->options->curvature) {
    run(self, task);
    return;
  }
  run_every(self, HFTA_DUE, task);
  run_every(self, HFTA_DUE_OTHERS, task);
}

//===----------------------------------------------------------------------===//
// Segments that aren't resident
//===----------------------------------------------------------------------===//

/// Returns the bytes that a segment has in the arena: all instances of all
/// copies, or 0 if it is resident.
static uint64_t bytes_of(const list *self, uint32_t segment) {
  const hfta_segment *row = &self->program->segments[segment];
  return row->residency == HFTA_RESIDENT ? 0 : row->bytes * row->instances;
}

/// Returns a segment's address in the arena, where segments are side by side.
static uint64_t address_of(const list *self, uint32_t segment) {
  uint64_t address = 0;
  for (uint32_t i = 0; i < segment; ++i)
    address += bytes_of(self, i);
  return address;
}

static void fetch(list *self, uint32_t segment, hfta_contents contents) {
  if (self->options->spilled_copies == 0)
    return;
  bool is_stored = contents == HFTA_CONTENTS_STORED;
  hfta_command *command =
      add(self, HFTA_COMMAND_FETCH, is_stored ? READS : TASKS, contents);
  command->to = (hfta_place){.space = HFTA_SPACE_SEGMENT, .index = segment};
  command->from = (hfta_place){.space = HFTA_SPACE_ARENA,
                               .offset = address_of(self, segment)};
  command->bytes = self->program->segments[segment].instances;
}

static void evict(list *self, uint32_t segment) {
  if (self->options->spilled_copies == 0)
    return;
  add(self, HFTA_COMMAND_EVICT, WRITES, 0)->to =
      (hfta_place){.space = HFTA_SPACE_SEGMENT, .index = segment};
}

static void drop(list *self, uint32_t segment) {
  if (self->options->spilled_copies == 0)
    return;
  add(self, HFTA_COMMAND_DROP, TASKS, 0)->to =
      (hfta_place){.space = HFTA_SPACE_SEGMENT, .index = segment};
}

/// Makes `queue` wait for everything that `other` has been given so far.
static void follow(list *self, uint32_t queue, uint32_t event, uint32_t other) {
  if (self->options->spilled_copies == 0)
    return;
  add(self, HFTA_COMMAND_RECORD, other, event);
  add(self, HFTA_COMMAND_AWAIT, queue, event);
}

/// Fetches the parameters and, if `with_state`, the state. The fetches wait
/// until earlier writes have reached the store; tasks wait for the fetches.
static void fetch_weights(list *self, bool with_state) {
  follow(self, READS, WRITTEN, WRITES);
  follow(self, READS, DONE, TASKS);
  fetch(self, FAKE_SEGMENT_PARAMETERS, HFTA_CONTENTS_STORED);
  if (with_state)
    fetch(self, FAKE_SEGMENT_STATE, HFTA_CONTENTS_STORED);
  follow(self, TASKS, READ, READS);
}

static void evict_weights(list *self, bool with_state) {
  follow(self, WRITES, DONE, TASKS);
  evict(self, FAKE_SEGMENT_PARAMETERS);
  if (with_state)
    evict(self, FAKE_SEGMENT_STATE);
}

static void drop_weights(list *self, bool with_state) {
  drop(self, FAKE_SEGMENT_PARAMETERS);
  if (with_state)
    drop(self, FAKE_SEGMENT_STATE);
}

//===----------------------------------------------------------------------===//
// Parts of schedules
//===----------------------------------------------------------------------===//

/// Transfers a segment between the device and the host's image of it.
static void transfer_image(list *self, uint32_t segment, uint32_t from,
                           uint32_t to) {
  hfta_command *command = add(self, HFTA_COMMAND_TRANSFER, TASKS, 0);
  command->from = (hfta_place){.space = from, .index = segment};
  command->to = (hfta_place){.space = to, .index = segment};
  command->bytes = self->program->segments[segment].bytes;
}

static void upload_scalars(list *self, uint32_t segment) {
  transfer_image(self, segment, HFTA_SPACE_HOST, HFTA_SPACE_SEGMENT);
}

static void upload(list *self, uint32_t space, uint32_t index, int tensor,
                   int32_t ahead) {
  const hfta_tensor *row = &self->program->tensors[tensor];
  hfta_command *command = add(self, HFTA_COMMAND_TRANSFER,
                              space == HFTA_SPACE_FIELD ? UPLOADS : TASKS, 0);
  command->from = (hfta_place){.space = space, .index = index};
  command->to = (hfta_place){.space = HFTA_SPACE_SEGMENT,
                             .index = row->segment,
                             .offset = row->offset};
  command->bytes = row->bytes;
  command->ahead = ahead;
}

static void upload_fields(list *self, int32_t ahead) {
  upload(self, HFTA_SPACE_FIELD, 0, FAKE_IMAGE, ahead);
  upload(self, HFTA_SPACE_FIELD, 1, FAKE_LABEL, ahead);
  add(self, HFTA_COMMAND_RECORD, UPLOADS, UPLOADED);
}

/// Begins a loop over micro-batches. Each is uploaded while the one before is
/// used.
static hfta_command *begin_uploads(list *self) {
  upload_fields(self, 0);
  hfta_command *batches = begin(self, HFTA_REPEAT_MICRO_BATCHES);
  add(self, HFTA_COMMAND_AWAIT, TASKS, UPLOADED);
  add(self, HFTA_COMMAND_AWAIT, UPLOADS, USED);
  upload_fields(self, 1);
  return batches;
}

static void end_uploads(list *self, hfta_command *batches) {
  add(self, HFTA_COMMAND_RECORD, TASKS, USED);
  end(self, batches);
}

static void clear_results(list *self) {
  hfta_command *command = add(self, HFTA_COMMAND_FILL, TASKS, 0);
  command->to =
      (hfta_place){.space = HFTA_SPACE_SEGMENT, .index = FAKE_SEGMENT_RESULTS};
  command->bytes = self->program->segments[FAKE_SEGMENT_RESULTS].bytes;
}

static void download_results(list *self) {
  transfer_image(self, FAKE_SEGMENT_RESULTS, HFTA_SPACE_SEGMENT,
                 HFTA_SPACE_HOST);
}

static void forward(list *self) {
  fetch(self, FAKE_SEGMENT_CUT, HFTA_CONTENTS_UNDEFINED);
  fetch(self, FAKE_SEGMENT_SAVED, HFTA_CONTENTS_UNDEFINED);
  run(self, FAKE_FORWARD_0);
  run_in_two(self, FAKE_FORWARD_1);
}

static void backward(list *self) {
  run_in_two(self, FAKE_BACKWARD_1);
  run(self, FAKE_BACKWARD_0);
  drop(self, FAKE_SEGMENT_SAVED);
  drop(self, FAKE_SEGMENT_CUT);
}

static void accumulate(list *self) {
  bool forwards_first =
      self->options->all_forwards_first && self->options->micro_batches > 1;
  hfta_command *batches = begin_uploads(self);
  hfta_command *turns = forwards_first ? NULL : begin_turns(self);
  fetch_weights(self, false);
  forward(self);
  if (!forwards_first)
    backward(self);
  drop_weights(self, false);
  end_turns(self, turns);
  end_uploads(self, batches);
  if (!forwards_first)
    return;
  batches = begin(self, HFTA_REPEAT_MICRO_BATCHES);
  fetch_weights(self, false);
  backward(self);
  drop_weights(self, false);
  end(self, batches);
}

static void update(list *self) {
  if (self->options->curvature) {
    run_every(self, HFTA_DUE, FAKE_COUNT_DUE);
    run_every(self, HFTA_DUE_OTHERS, FAKE_COUNT_OTHERS);
    run(self, FAKE_SCALES);
  }
  run(self, FAKE_NORM_0);
  run(self, FAKE_NORM_1);
  run(self, FAKE_CLIPS);
  run(self, FAKE_UPDATE_0);
  run(self, FAKE_UPDATE_1);
}

static void keep(list *self, const uint32_t *segments, uint32_t count) {
  self->schedule->keeps = segments;
  self->schedule->keep_count = count;
}

/// Makes the schedule keep all copies' slabs of the gradients. Unless copies
/// take turns that no other value outlives, it keeps those of the other
/// segments too.
static void keep_gradients(list *self) {
  bool in_flight =
      self->options->all_forwards_first && self->options->micro_batches > 1;
  if (self->options->takes_turns && !in_flight)
    keep(self, gradients, 1);
  else
    keep(self, all_slabs, self->options->spilled_copies > 0 ? 5 : 3);
}

/// If copies don't take turns, makes the schedule keep all copies' slabs of the
/// spilled parameters and state.
static void keep_weights(list *self) {
  if (self->options->spilled_copies > 0 && !self->options->takes_turns)
    keep(self, all_slabs + 3, 2);
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

static void initialize(list *self) {
  upload_scalars(self, FAKE_SEGMENT_SCALARS);
  hfta_command *batches = begin(self, HFTA_REPEAT_MICRO_BATCHES);
  upload_scalars(self, FAKE_SEGMENT_BATCH_SCALARS);
  end(self, batches);
  hfta_command *turns = begin_turns(self);
  follow(self, TASKS, WRITTEN, WRITES);
  fetch(self, FAKE_SEGMENT_PARAMETERS, HFTA_CONTENTS_UNDEFINED);
  run(self, FAKE_INIT);
  evict_weights(self, false);
  drop_weights(self, false);
  end_turns(self, turns);
  keep_weights(self);
}

static void infer(list *self) {
  upload(self, HFTA_SPACE_PORT, 0, FAKE_IMAGE, 0);
  hfta_command *turns = begin_turns(self);
  fetch_weights(self, false);
  run(self, FAKE_INFER);
  drop_weights(self, false);
  end_turns(self, turns);
  keep_weights(self);
}

static void evaluate(list *self) {
  clear_results(self);
  hfta_command *batches = begin_uploads(self);
  upload_scalars(self, FAKE_SEGMENT_BATCH_SCALARS);
  hfta_command *turns = begin_turns(self);
  fetch_weights(self, false);
  run(self, FAKE_EVALUATE);
  drop_weights(self, false);
  end_turns(self, turns);
  end_uploads(self, batches);
  download_results(self);
  keep_weights(self);
}

static void step(list *self) {
  upload_scalars(self, FAKE_SEGMENT_SCALARS);
  clear_results(self);
  if (self->options->curvature) {
    run_every(self, HFTA_DUE_ANY, FAKE_COUNT_ANY);
    run_every(self, HFTA_DUE_NONE, FAKE_COUNT_NONE);
  }
  if (self->options->takes_turns && self->options->micro_batches == 1) {
    hfta_command *batches = begin_uploads(self);
    hfta_command *turns = begin_turns(self);
    fetch_weights(self, true);
    fetch(self, FAKE_SEGMENT_GRADIENTS, HFTA_CONTENTS_ZEROS);
    forward(self);
    backward(self);
    update(self);
    evict_weights(self, true);
    drop_weights(self, true);
    drop(self, FAKE_SEGMENT_GRADIENTS);
    end(self, turns);
    end_uploads(self, batches);
  } else {
    fetch(self, FAKE_SEGMENT_GRADIENTS, HFTA_CONTENTS_ZEROS);
    accumulate(self);
    hfta_command *turns = begin_turns(self);
    fetch_weights(self, true);
    update(self);
    evict_weights(self, true);
    drop_weights(self, true);
    end_turns(self, turns);
    drop(self, FAKE_SEGMENT_GRADIENTS);
    keep_gradients(self);
  }
  download_results(self);
}

static void accumulate_alone(list *self) {
  upload_scalars(self, FAKE_SEGMENT_SCALARS);
  clear_results(self);
  accumulate(self);
  download_results(self);
  keep_gradients(self);
}

static void update_alone(list *self) {
  upload_scalars(self, FAKE_SEGMENT_SCALARS);
  hfta_command *turns = begin_turns(self);
  update(self);
  end_turns(self, turns);
  keep(self, gradients, 1);
}

void fake_schedules_make(fake_schedules *self, const hfta_program *program,
                         const fake_options *options) {
  static const struct {
    const char *name;
    void (*write)(list *);
  } rows[FAKE_SCHEDULE_COUNT] = {
      {"initialize", initialize},       {"infer", infer},
      {"evaluate", evaluate},           {"step", step},
      {"accumulate", accumulate_alone}, {"update", update_alone},
  };
  memset(self, 0, sizeof(*self));
  for (int i = 0; i < FAKE_SCHEDULE_COUNT; ++i) {
    self->rows[i].name = rows[i].name;
    self->rows[i].commands = self->commands[i];
    self->rows[i].stage = -1;
    list schedule = {program, options, &self->rows[i], self->commands[i]};
    rows[i].write(&schedule);
  }
}
