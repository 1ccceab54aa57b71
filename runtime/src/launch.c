//===- launch.c - Kernels on the thread pool ------------------------------===//

#include "hfta/pool.h"

typedef struct launch {
  const hfta_task_context *context;
  const hfta_launch_info *info;
} launch;

static void bind(const launch *self, int64_t copy, void **buffers) {
  for (uint32_t i = 0; i < self->info->binding_count; ++i) {
    const hfta_binding *binding = &self->info->bindings[i];
    char *base = self->context->segments[binding->segment];
    buffers[i] = base + binding->offset + binding->copy_stride * (uint64_t)copy;
  }
}

static void run_range(void *argument, int64_t begin, int64_t end, int thread) {
  const launch *self = argument;
  void *buffers[HFTA_MAX_BINDINGS];
  void *scratch = hfta_pool_scratch(self->context->pool, thread);
  int64_t items = self->info->items;
  int64_t copy = begin / items, item = begin % items;
  for (int64_t left = end - begin; left > 0; ++copy, item = 0) {
    bind(self, copy, buffers);
    for (; item < items && left > 0; ++item, --left)
      self->info->kernel(buffers, item, scratch);
  }
}

void hfta_launch(const hfta_task_context *context,
                 const hfta_launch_info *info) {
  if (info->binding_count > HFTA_MAX_BINDINGS ||
      info->scratch_bytes > hfta_pool_scratch_bytes(context->pool)) {
    hfta_pool_refuse_kernel(context->pool, info->name);
    return;
  }
  if (info->items <= 0)
    return;
  launch self = {context, info};
  int64_t copies = info->per_copy ? context->copies : 1;
  hfta_parallel_for(context->pool, copies * info->items, run_range, &self);
}
