//===- memory_plan.c - Memory that a program has, by what it is for -------===//

#include "workload/memory_plan.h"

#include "device/target.h"
#include "hfta/store.h"
#include "workload/defaults.h"
#include "workload/share.h"

/// Returns the bytes of all named tensors of a segment, for the workload's
/// copies.
static uint64_t tensor_bytes(const hfta_program *program,
                             const hfta_workload *workload, uint32_t segment) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < program->tensor_count; ++i) {
    const hfta_tensor *tensor = &program->tensors[i];
    if (tensor->segment != segment)
      continue;
    if (tensor->copy_stride == 0) {
      bytes += tensor->bytes;
      continue;
    }
    for (int64_t i = 0; i < workload->copies; ++i)
      if (hfta_tensor_is_of(tensor, workload->first_copy + i))
        bytes += tensor->bytes;
  }
  return bytes;
}

/// Returns the bytes that an instance of the program really touches in all
/// instances of a resident segment; 0 for other segments and scratch.
static uint64_t touched_bytes(const hfta_program *program,
                              const hfta_workload *workload, uint32_t index,
                              int threads) {
  const hfta_segment *segment = &program->segments[index];
  if (segment->role == HFTA_SEGMENT_SCRATCH ||
      segment->residency != HFTA_RESIDENT ||
      !hfta_workload_needs(program, workload, index))
    return 0;
  // State segments consist only of named tensors, and an instance touches only
  // the tensors of its own copies.
  if (hfta_segment_is_state(segment) && workload->copies < program->copies)
    return tensor_bytes(program, workload, index);
  return hfta_workload_segment_bytes(program, workload, index, threads) *
         hfta_workload_instances(program, workload, index);
}

static uint64_t *plan_entry(hfta_memory_plan *plan, uint32_t role) {
  switch (role) {
  case HFTA_SEGMENT_CONSTANTS:
    return &plan->constants;
  case HFTA_SEGMENT_PARAMETERS:
    return &plan->parameters;
  case HFTA_SEGMENT_GRADIENTS:
    return &plan->gradients;
  case HFTA_SEGMENT_OPTIMIZER_STATE:
    return &plan->optimizer_state;
  case HFTA_SEGMENT_STATISTICS:
    return &plan->statistics;
  case HFTA_SEGMENT_CURVATURE:
  case HFTA_SEGMENT_MOMENTS:
    return &plan->curvature;
  case HFTA_SEGMENT_SAVED:
  case HFTA_SEGMENT_CUT:
  case HFTA_SEGMENT_EXCHANGE:
    return &plan->activations;
  case HFTA_SEGMENT_WORKSPACE:
    return &plan->workspace;
  default:
    return &plan->input_output;
  }
}

/// Returns the bytes of the batches of data in the host's memory. There are
/// more of them where steps are posted ahead, each of which needs its batch.
static uint64_t prefetch_bytes(const hfta_program *program,
                               const hfta_workload *workload) {
  uint64_t bytes = 0;
  uint64_t batches =
      HFTA_BATCHES_OF_DATA + hfta_target_of(program)->steps_ahead;
  bool has_stages = hfta_workload_has_stages(program, workload);
  if (!has_stages && !hfta_workload_reads_data(program, workload))
    return 0;
  for (uint32_t i = 0; i < hfta_program_field_count(program); ++i)
    for (int64_t m = 0; m < program->micro_batches; ++m)
      if (hfta_workload_reads(program, workload, i, m))
        bytes +=
            batches * program->tensors[program->data_fields[i].tensor].bytes;
  return bytes;
}

hfta_memory_plan hfta_workload_memory(const hfta_program *program,
                                      const hfta_workload *workload,
                                      int threads) {
  hfta_memory_plan plan = {0};
  uint32_t workers = hfta_workload_worker_count(program, workload);
  for (uint32_t w = 0; w < workers; ++w) {
    hfta_workload own = hfta_workload_of_worker(program, workload, w);
    for (uint32_t i = 0; i < program->segment_count; ++i)
      *plan_entry(&plan, program->segments[i].role) +=
          touched_bytes(program, &own, i, threads);
    hfta_spilled_extents spilled = hfta_workload_spills(program, &own, NULL);
    plan.arena += hfta_workload_arena_bytes(program, &own);
    if (spilled.count > 0)
      plan.store += hfta_store_overhead(spilled.count, spilled.bytes);
  }
  plan.scratch = hfta_program_scratch_bytes(program) * (uint64_t)threads;
  plan.prefetch = prefetch_bytes(program, workload);
  plan.peak = plan.parameters + plan.gradients + plan.optimizer_state +
              plan.statistics + plan.curvature + plan.activations +
              plan.workspace + plan.input_output + plan.prefetch +
              plan.scratch + plan.arena + plan.store;
  return plan;
}

/// Returns the bytes of memory that a device needs for itself, to run tasks of
/// at most `copies` copies.
static uint64_t own_bytes(const hfta_program *program, int64_t copies) {
  const hfta_device_functions *device = hfta_target_of(program)->device;
  return device->scratch_bytes ? device->scratch_bytes(program, copies) : 0;
}

uint64_t hfta_workload_device_bytes(const hfta_program *program,
                                    const hfta_workload *workload) {
  uint64_t bytes = 0;
  int threads = hfta_program_threads(program, 0);
  for (uint32_t i = 0; i < program->segment_count; ++i)
    if (program->segments[i].role != HFTA_SEGMENT_SCRATCH &&
        hfta_workload_needs(program, workload, i))
      bytes += hfta_workload_segment_bytes(program, workload, i, threads) *
               hfta_workload_instances(program, workload, i);
  return bytes + own_bytes(program, hfta_workload_most_copies(workload));
}

uint64_t hfta_workload_waiting_bytes(const hfta_program *program,
                                     const hfta_workload *workload,
                                     uint32_t segment) {
  const hfta_segment *row = &program->segments[segment];
  return hfta_segment_is_state(row) && row->residency == HFTA_RESIDENT &&
                 hfta_workload_needs(program, workload, segment)
             ? row->copy_bytes
             : 0;
}

hfta_device_needs hfta_find_device_needs(const hfta_program *program) {
  hfta_workload all = hfta_workload_of_all(program);
  hfta_device_needs needs = {.common =
                                 hfta_workload_find_common(program, &all)};
  all.slabs = 1;
  needs.first_copy = hfta_workload_device_bytes(program, &all);
  all.slabs = program->copies;
  uint64_t others =
      hfta_workload_device_bytes(program, &all) - needs.first_copy;
  if (program->copies > 1)
    needs.next_copy = others / (uint64_t)(program->copies - 1);
  for (uint32_t i = 0; i < program->segment_count; ++i)
    needs.waiting_copy += hfta_workload_waiting_bytes(program, &all, i);
  return needs;
}

hfta_memory_plan hfta_program_memory(const hfta_program *program, int threads) {
  hfta_workload all = hfta_workload_of_all(program);
  return hfta_workload_memory(program, &all, threads);
}

hfta_memory_plan hfta_rank_memory(const hfta_program *program, int rank,
                                  int ranks, int threads) {
  hfta_workload own = hfta_workload_of_all(program);
  own.rank = rank;
  own.ranks = ranks;
  return hfta_workload_memory(program, &own, threads);
}

hfta_memory_plan hfta_stage_memory(const hfta_program *program, uint32_t stage,
                                   int threads) {
  int workers = (int)program->workers;
  int64_t first = hfta_first_worker(program, (int32_t)stage);
  hfta_memory_plan most = {0};
  for (int64_t i = 0; i < program->stages[stage].replicas; ++i) {
    hfta_memory_plan plan = hfta_rank_memory(
        program, hfta_rank_of_worker(program, workers, first + i), workers,
        threads);
    if (plan.peak > most.peak)
      most = plan;
  }
  return most;
}
