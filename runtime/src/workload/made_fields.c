//===- made_fields.c - Fields that the runtime makes ----------------------===//

#include "workload/made_fields.h"

#include "hfta/program_queries.h"

#include <string.h>

int64_t hfta_partner_of(const hfta_program *program, int64_t position) {
  return position > 0 ? position - 1 : program->batch - 1;
}

void hfta_write_keys(const hfta_program *program, uint32_t field,
                     const int64_t *samples, int64_t epoch, int64_t *out) {
  const hfta_tensor *tensor =
      &program->tensors[program->data_fields[field].tensor];
  int64_t columns = tensor->shape[1];
  for (int64_t i = 0; i < program->batch; ++i) {
    const int64_t row[] = {samples[i], epoch,
                           samples[hfta_partner_of(program, i)]};
    memcpy(out + columns * i, row, sizeof(*row) * (size_t)columns);
  }
}

void hfta_copy_partners(const hfta_program *program, uint32_t field,
                        const void *values, void *out) {
  const hfta_tensor *tensor =
      &program->tensors[program->data_fields[field].tensor];
  uint64_t bytes = tensor->bytes / (uint64_t)hfta_program_micro_batch(program);
  uint64_t rest = bytes * (uint64_t)(program->batch - 1);
  memcpy(out, (const char *)values + rest, bytes);
  memcpy((char *)out + bytes, values, rest);
}
