//===- instance_tensor.c - Access to an instance's tensors ----------------===//

#include "instance/instance_impl.h"
#include "instance/parts.h"

#include <math.h>
#include <string.h>

/// Copies bytes once all work of the device is done. If the host can address
/// the device's memory, the calling thread copies them itself: a fault in a
/// mapped file (SIGBUS) then occurs on the thread that handles it.
static hfta_status copy_now(hfta_device *device, void *to, const void *from,
                            uint64_t bytes, bool addressable,
                            hfta_error *error) {
  hfta_status status = device->functions->wait(device, error);
  if (status != HFTA_OK || bytes == 0)
    return status;
  if (addressable) {
    memcpy(to, from, bytes);
    return HFTA_OK;
  }
  device->functions->copy(device, 0, to, from, bytes);
  return device->functions->wait(device, error);
}

/// Fails because the tensor is on another rank: one that has a worker of the
/// segment's stage, or one of the replicas that hold the segment.
static hfta_status fail_elsewhere(hfta_instance *instance, uint32_t tensor) {
  const hfta_tensor *row = &instance->program->tensors[tensor];
  const hfta_segment *segment = &instance->program->segments[row->segment];
  if (segment->holders.count > 0)
    return hfta_fail(&instance->error, HFTA_USAGE,
                     "tensor '%s' is on another rank: replica %u holds it",
                     row->name, segment->holders.first);
  return hfta_fail(&instance->error, HFTA_USAGE,
                   "tensor '%s' is on another rank: it belongs to stage %d",
                   row->name, segment->stage);
}

static bool is_spilled(const hfta_instance *instance, uint32_t tensor) {
  uint32_t segment = instance->program->tensors[tensor].segment;
  return instance->program->segments[segment].residency == HFTA_SPILLED;
}

/// Fails because the tensor's segment is transient: it is in the arena only
/// from time to time, and its contents are lost in between.
static hfta_status fail_transient(hfta_instance *instance, uint32_t tensor) {
  return hfta_fail(
      &instance->error, HFTA_USAGE,
      "tensor '%s' isn't kept: other tensors use its memory in turn",
      instance->program->tensors[tensor].name);
}

static bool is_transient(const hfta_instance *instance, uint32_t tensor) {
  uint32_t segment = instance->program->tensors[tensor].segment;
  return instance->program->segments[segment].residency == HFTA_TRANSIENT;
}

static hfta_status fail_in_turns(hfta_error *error, const char *name) {
  return hfta_fail(
      error, HFTA_USAGE,
      "tensor '%s' isn't kept: other copies use its memory in turn", name);
}

/// Finds a copy's tensor in the host's slabs, if the device has slabs for some
/// copies only. Sets `*status`, and `*out` on success. Returns false if the
/// device has the tensor for all copies.
static bool find_with_host(hfta_worker *worker, uint32_t tensor, int64_t copy,
                           bool writes, char **out, hfta_status *status) {
  const hfta_tensor *row = &worker->program->tensors[tensor];
  if (worker->host_copies.most == 0 ||
      worker->program->segments[row->segment].copy_bytes == 0)
    return false;
  *status = hfta_host_copies_have(worker, row->segment)
                ? hfta_host_copies_find(worker, tensor, copy, writes, out)
                : fail_in_turns(&worker->error, row->name);
  return true;
}

static hfta_status read_own(hfta_instance *instance, uint32_t tensor,
                            int64_t copy, uint64_t offset, void *to,
                            uint64_t bytes) {
  hfta_worker *worker = hfta_instance_find_worker(
      instance, instance->program->tensors[tensor].segment);
  if (!worker)
    return fail_elsewhere(instance, tensor);
  if (is_transient(instance, tensor))
    return fail_transient(instance, tensor);
  if (is_spilled(instance, tensor))
    return hfta_spill_read_tensor(worker, tensor, copy, offset, to, bytes,
                                  &instance->error);
  hfta_device *device = worker->device;
  char *place;
  hfta_status status;
  if (find_with_host(worker, tensor, copy, false, &place, &status)) {
    if (status == HFTA_OK)
      memcpy(to, place + offset, bytes);
    return hfta_instance_note(instance, worker, status);
  }
  char *from = hfta_worker_address(worker, tensor, copy) + offset;
  void *host = device->functions->host_address(device, from);
  return copy_now(device, to, host ? host : from, bytes, host != NULL,
                  &instance->error);
}

hfta_status hfta_instance_read(hfta_instance *instance, uint32_t tensor,
                               int64_t copy, uint64_t offset, void *to,
                               uint64_t bytes) {
  hfta_instance *part = hfta_instance_part_of(instance, copy);
  return hfta_instance_note_part(
      instance, part, read_own(part, tensor, copy, offset, to, bytes));
}

/// Writes a tensor on all workers that have it, since the replicas of a stage
/// must have equal tensors.
static hfta_status write_own(hfta_instance *instance, uint32_t tensor,
                             int64_t copy, uint64_t offset, const void *from,
                             uint64_t bytes) {
  uint32_t segment = instance->program->tensors[tensor].segment;
  hfta_status status = HFTA_OK;
  if (!hfta_instance_find_worker(instance, segment))
    return fail_elsewhere(instance, tensor);
  if (is_transient(instance, tensor))
    return fail_transient(instance, tensor);
  for (uint32_t i = 0; i < instance->worker_count && status == HFTA_OK; ++i) {
    hfta_worker *worker = &instance->workers[i];
    hfta_device *device = worker->device;
    if (worker->memory[segment].count == 0)
      continue;
    if (is_spilled(instance, tensor)) {
      status = hfta_spill_write_tensor(worker, tensor, copy, offset, from,
                                       bytes, &instance->error);
      continue;
    }
    char *to;
    if (find_with_host(worker, tensor, copy, true, &to, &status)) {
      if (status == HFTA_OK)
        memcpy(to + offset, from, bytes);
      hfta_instance_note(instance, worker, status);
      continue;
    }
    to = hfta_worker_address(worker, tensor, copy) + offset;
    void *host = device->functions->host_address(device, to);
    status = copy_now(device, host ? host : to, from, bytes, host != NULL,
                      &instance->error);
  }
  return status;
}

/// Writes a tensor of one copy. If all copies share the tensor, it is written
/// in each of the instance's parts (parts.h), as each has its own.
hfta_status hfta_instance_write(hfta_instance *instance, uint32_t tensor,
                                int64_t copy, uint64_t offset, const void *from,
                                uint64_t bytes) {
  bool is_common = instance->program->tensors[tensor].copy_stride == 0;
  hfta_instance *part = hfta_instance_part_of(instance, copy);
  if (!is_common || instance->part_count == 0)
    return hfta_instance_note_part(
        instance, part, write_own(part, tensor, copy, offset, from, bytes));
  hfta_status status = HFTA_OK;
  for (uint32_t i = 0; i < instance->part_count && status == HFTA_OK; ++i) {
    part = instance->parts[i];
    status = hfta_instance_note_part(
        instance, part, write_own(part, tensor, copy, offset, from, bytes));
  }
  return status;
}

void hfta_instance_set_real(hfta_instance *instance, uint32_t tensor,
                            int64_t copy, double value) {
  float single = (float)value;
  for (uint32_t i = 0; i < instance->worker_count; ++i) {
    char *to = hfta_worker_image(&instance->workers[i], tensor, copy, 0);
    if (to && instance->program->tensors[tensor].type == HFTA_F32)
      memcpy(to, &single, sizeof(single));
    else if (to)
      memcpy(to, &value, sizeof(value));
  }
}

void hfta_instance_set_integer(hfta_instance *instance, uint32_t tensor,
                               int64_t copy, int64_t number, int64_t value) {
  for (uint32_t i = 0; i < instance->worker_count; ++i) {
    char *to = hfta_worker_image(&instance->workers[i], tensor, copy, number);
    if (to)
      memcpy(to, &value, sizeof(value));
  }
}

double hfta_instance_get_real(const hfta_instance *instance, uint32_t tensor,
                              int64_t copy) {
  if (tensor == UINT32_MAX)
    return NAN;
  const hfta_worker *worker = hfta_instance_find_worker(
      instance, instance->program->tensors[tensor].segment);
  const char *from = worker ? hfta_worker_image(worker, tensor, copy, 0) : NULL;
  if (!from)
    return NAN;
  double value;
  float single;
  if (instance->program->tensors[tensor].type == HFTA_F64) {
    memcpy(&value, from, sizeof(value));
    return value;
  }
  memcpy(&single, from, sizeof(single));
  return (double)single;
}

hfta_status hfta_instance_tensor(hfta_instance *instance, int64_t copy,
                                 const char *name, hfta_tensor_info *out) {
  const hfta_program *program = instance->program;
  memset(out, 0, sizeof(*out));
  if (copy < 0 || copy >= program->copies)
    return hfta_fail(&instance->error, HFTA_USAGE,
                     "copy %lld: there are copies 0 to %lld", (long long)copy,
                     (long long)program->copies - 1);
  uint32_t index = hfta_program_find_tensor(program, copy, name);
  if (index == UINT32_MAX)
    return hfta_fail(&instance->error, HFTA_USAGE,
                     "no tensor of copy %lld is named '%s'", (long long)copy,
                     name);
  const hfta_tensor *tensor = &program->tensors[index];
  const hfta_worker *worker =
      hfta_instance_find_worker(instance, tensor->segment);
  bool is_held = program->segments[tensor->segment].holders.count > 0;
  if (!worker && (instance->group || is_held))
    return fail_elsewhere(instance, index);
  if (is_transient(instance, index))
    return fail_transient(instance, index);
  worker = worker ? worker : instance->workers;
  const hfta_segment_memory *memory = &worker->memory[tensor->segment];
  bool shares_slabs =
      memory->bytes < program->segments[tensor->segment].bytes ||
      hfta_workload_shares_slabs(program, &worker->workload, tensor->segment);
  if (shares_slabs && !is_spilled(instance, index))
    return fail_in_turns(&instance->error, name);
  if (program->segments[tensor->segment].role == HFTA_SEGMENT_INPUT &&
      memory->count > 1)
    return hfta_fail(
        &instance->error, HFTA_USAGE,
        "tensor '%s' isn't kept: other batches use its memory in turn", name);
  out->name = tensor->name;
  out->shape = tensor->shape;
  out->rank = tensor->rank;
  out->type = tensor->type;
  out->bytes = tensor->bytes;
  if (tensor->bytes > 0 && !is_spilled(instance, index))
    out->data = worker->device->functions->host_address(
        worker->device, hfta_worker_address(worker, index, copy));
  return HFTA_OK;
}
