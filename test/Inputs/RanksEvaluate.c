//===- RanksEvaluate.c - Evaluates incomplete batches on several ranks ----===//
//
// The main function of a test's program. Every rank evaluates a full batch,
// then batches that are incomplete: each has half as many samples as the one
// before. It prints its number and each copy's loss. For small batches some
// ranks have no micro-batch to compute; they must get the losses, too.
//===----------------------------------------------------------------------===//

#include "hfta/instance.h"

#include <stdio.h>
#include <stdlib.h>

extern const hfta_program program __asm__("hfta_program");

/// Makes a batch of a data field. If `value` is 1, bytes differ; if it is 0,
/// all are 0. The caller frees the result, which is NULL if there is no memory.
static void *make_batch(const hfta_program *self, uint32_t field, int value) {
  const hfta_tensor *tensor = &self->tensors[self->data_fields[field].tensor];
  size_t bytes = tensor->bytes * (size_t)self->micro_batches;
  unsigned char *batch = malloc(bytes + 1);
  for (size_t i = 0; batch && i < bytes; ++i)
    batch[i] = (unsigned char)(value * (i * i % 251));
  return batch;
}

int main(void) {
  hfta_error error;
  hfta_options options = {.error = &error};
  hfta_instance *instance;
  if (hfta_instance_create(&program, &options, &instance) != HFTA_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  const char *rank = getenv("OMPI_COMM_WORLD_RANK");
  const void *inputs[8];
  for (uint32_t i = 0; i < program.data_field_count; ++i)
    inputs[i] = make_batch(&program, i, i == 0); // fields after the first are 0
  int status = 0;
  for (int64_t valid = program.batch; valid > 0 && status == 0; valid /= 2) {
    double losses[64];
    if (hfta_instance_evaluate(instance, inputs, valid, losses, NULL) !=
        HFTA_OK)
      status = 1;
    for (int64_t copy = 0; copy < program.copies && status == 0; ++copy)
      printf("%s: %lld samples, copy %lld: %.17g\n", rank ? rank : "0",
             (long long)valid, (long long)copy, losses[copy]);
  }
  fflush(stdout);
  hfta_instance_destroy(instance);
  return status;
}
