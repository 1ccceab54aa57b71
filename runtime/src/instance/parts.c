//===- parts.c - Instances that act as one --------------------------------===//

#include "instance/parts.h"

#include "instance/instance_impl.h"

#include <stdlib.h>

hfta_status hfta_instance_join_parts(hfta_instance *const *parts,
                                     uint32_t count) {
  hfta_instance *first = parts[0];
  first->all_live =
      calloc((size_t)first->program->copies, sizeof(*first->all_live));
  if (!first->all_live)
    return hfta_fail(&first->error, HFTA_UNSUPPORTED,
                     "not enough memory for an instance");
  first->parts = parts;
  first->part_count = count;
  for (uint32_t i = 0; i < count; ++i)
    for (int64_t j = 0; j < parts[i]->live_count; ++j)
      first->all_live[parts[i]->live[j]] = true;
  return HFTA_OK;
}

static bool has_copy(const hfta_instance *instance, int64_t copy) {
  const hfta_workload *own = &instance->workload;
  return copy >= own->first_copy && copy < own->first_copy + own->copies;
}

bool hfta_instance_has_copy(const hfta_instance *instance, int64_t copy) {
  return has_copy(hfta_instance_part_of(instance, copy), copy);
}

hfta_instance *hfta_instance_part_of(const hfta_instance *instance,
                                     int64_t copy) {
  for (uint32_t i = 0; i < instance->part_count; ++i)
    if (has_copy(instance->parts[i], copy))
      return instance->parts[i];
  return (hfta_instance *)(uintptr_t)instance;
}

hfta_status hfta_instance_note_part(hfta_instance *instance,
                                    const hfta_instance *part,
                                    hfta_status status) {
  if (status != HFTA_OK && part != instance)
    instance->error = part->error;
  return status;
}
