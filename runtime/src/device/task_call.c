//===- task_call.c - Copies and addresses of a task's call ----------------===//

#include "hfta/launch.h"

int64_t hfta_call_copy(const hfta_task_call *call, int64_t position) {
  return call->copies ? call->copies[position] : position;
}

bool hfta_call_runs(const hfta_task_call *call, const hfta_launch *launch,
                    int64_t position) {
  return !launch->places || launch->places[hfta_call_copy(call, position)] >= 0;
}

int64_t hfta_call_slab(const hfta_task_call *call, int64_t position) {
  return call->slabs ? call->slabs[position] : position;
}

void *hfta_call_address(const hfta_task_call *call, const hfta_launch *launch,
                        uint32_t binding, int64_t position) {
  const hfta_binding *row = &launch->bindings[binding];
  bool of_copies = launch->per_copy || launch->copy >= 0;
  bool in_turn = row->in_slabs && !call->keeps[row->segment];
  int64_t place = 0;
  if (of_copies)
    place = in_turn ? hfta_call_slab(call, position)
                    : hfta_call_copy(call, position);
  if (of_copies && call->rows && call->rows[row->segment].places)
    place = call->rows[row->segment].places[place];
  return (char *)call->segments[row->segment] + row->offset +
         row->copy_stride * (uint64_t)place;
}
