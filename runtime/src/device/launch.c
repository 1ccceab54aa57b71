//===- launch.c - Kernels on the thread pool ------------------------------===//

#include "hfta/pool.h"

#include <stdbool.h>

/// Consecutive kernels, for the copies from `first` on.
typedef struct launch {
  const hfta_task_context *context;
  const hfta_launch_info *infos;
  int64_t count;
  int64_t first;
} launch;

static void bind(const launch *self, int64_t copy, void **buffers) {
  const hfta_launch_info *info = self->infos;
  int64_t first = info->per_copy ? self->context->first_copy : 0;
  for (uint32_t i = 0; i < info->binding_count; ++i) {
    const hfta_binding *binding = &info->bindings[i];
    char *base = self->context->segments[binding->segment];
    int64_t place = binding->in_slabs ? copy - first : copy;
    buffers[i] =
        base + binding->offset + binding->copy_stride * (uint64_t)place;
  }
}

/// Items of one kernel, copy after copy.
static void run_items(void *argument, int64_t begin, int64_t end, int thread) {
  const launch *self = argument;
  const hfta_launch_info *info = self->infos;
  void *buffers[HFTA_MAX_BINDINGS];
  void *scratch = hfta_pool_scratch(self->context->pool, thread);
  int64_t items = info->items;
  int64_t copy = begin / items, item = begin % items;
  for (int64_t left = end - begin; left > 0; ++copy, item = 0) {
    bind(self, self->first + copy, buffers);
    for (; item < items && left > 0; ++item, --left)
      info->kernel(buffers, item, scratch);
  }
}

/// All kernels for one copy, then for the next: what one writes is in the
/// thread's caches when the next reads it.
static void run_copies(void *argument, int64_t begin, int64_t end, int thread) {
  const launch *self = argument;
  for (int64_t copy = begin; copy < end; ++copy) {
    for (int64_t i = 0; i < self->count; ++i) {
      launch one = {self->context, &self->infos[i], 1, self->first + copy};
      if (one.infos->items > 0)
        run_items(&one, 0, one.infos->items, thread);
    }
  }
}

static bool can_run(const hfta_task_context *context,
                    const hfta_launch_info *info) {
  if (info->binding_count <= HFTA_MAX_BINDINGS &&
      info->scratch_bytes <= hfta_pool_scratch_bytes(context->pool))
    return true;
  hfta_pool_refuse_kernel(context->pool, info->name);
  return false;
}

void hfta_launch(const hfta_task_context *context,
                 const hfta_launch_info *infos, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (!can_run(context, &infos[i]))
      return;
  bool per_copy = count > 0 && infos->per_copy;
  launch self = {context, infos, count, per_copy ? context->first_copy : 0};
  int64_t copies = per_copy ? context->copies : 1;
  // Each thread takes as many whole copies; all of them share the rest.
  if (count > 1) {
    int64_t whole = copies - copies % hfta_pool_threads(context->pool);
    hfta_parallel_for(context->pool, whole, run_copies, &self);
    self.first += whole;
    copies -= whole;
  }
  for (; count > 0; ++self.infos, --count)
    if (self.infos->items > 0)
      hfta_parallel_for(context->pool, copies * self.infos->items, run_items,
                        &self);
}
