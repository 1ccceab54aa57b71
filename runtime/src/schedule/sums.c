//===- sums.c - Adding up what the groups have summed ---------------------===//

#include "schedule/sums.h"

#include <string.h>

/// A range of the groups' sums.
typedef struct sums {
  hfta_instance *instance;
  const hfta_command *command;
  uint64_t offset, bytes;
} sums;

/// Where a group's part lies.
static char *find_group(const sums *self, int64_t group) {
  const hfta_instance *instance = self->instance;
  const hfta_segment_memory *memory =
      &instance->memory[self->command->to.index];
  return (char *)memory->bases[group] + self->offset;
}

/// One task for all blocks of the range.
static void add(const sums *self, char *to, char *from) {
  hfta_instance *instance = self->instance;
  const hfta_command *command = self->command;
  memset(instance->call_bases, 0,
         sizeof(void *) * instance->program->segment_count);
  instance->call_bases[command->to.index] = to;
  instance->call_bases[command->from.index] = from;
  hfta_task_call call = {.task = &instance->program->tasks[command->subject],
                         .segments = instance->call_bases,
                         .keeps = instance->keeps,
                         .copy_count =
                             (int64_t)(self->bytes / command->to.copy_stride),
                         .micro_batch = -1};
  instance->device->functions->run(instance->device, command->queue, &call,
                                   command->subject);
}

/// T(c, q): the sum of group c if c + q is no group, else T(c, 2q) +
/// T(c + q, 2q). It lies where group c's sum was.
static char *add_tree(const sums *self, int64_t group, int64_t distance) {
  if (group + distance >= self->instance->program->groups)
    return find_group(self, group);
  char *first = add_tree(self, group, 2 * distance);
  char *other = add_tree(self, group + distance, 2 * distance);
  add(self, first, other);
  return first;
}

void hfta_sums_add_up(hfta_instance *instance, const hfta_command *command) {
  const hfta_segment_memory *memory = &instance->memory[command->to.index];
  if (memory->count == 0)
    return;
  sums all = {instance, command, command->to.offset, command->bytes};
  add_tree(&all, 0, 1);
  for (uint32_t i = 1; i < memory->count; ++i)
    instance->device->functions->fill(
        instance->device, command->queue,
        (char *)memory->bases[i] + command->to.offset, command->bytes);
}
