//===- NoAllocationTest.c - Steps allocate nothing ------------------------===//
//
// Counts the calls of the allocator in all threads while steps run; there must
// be none.
//===----------------------------------------------------------------------===//

#include "FakeProgram.h"
#include "hfta/embed.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_int counting, calls;

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);

static void note(void) {
  if (atomic_load(&counting))
    atomic_fetch_add(&calls, 1);
}

void *malloc(size_t bytes) {
  note();
  return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes) {
  note();
  return __libc_calloc(count, bytes);
}

void *realloc(void *memory, size_t bytes) {
  note();
  return __libc_realloc(memory, bytes);
}

int main(void) {
  fake_options options = {
      .copies = 3, .micro_batches = 2, .all_forwards_first = 1, .clipping = 1};
  hfta_program *program = fake_program_make(&options);
  hfta_options settings = {.threads = 3};
  hfta_instance *instance = NULL;
  if (hfta_instance_create(program, &settings, &instance) != HFTA_OK)
    return 1;
  unsigned char images[FAKE_BATCH * FAKE_FEATURES] = {1, 2, 3};
  unsigned char labels[FAKE_BATCH] = {0, 1, 2};
  const void *inputs[] = {images, labels};
  double losses[3], metrics[3];
  int failed = 0;
  atomic_store(&counting, 1);
  for (int i = 0; i < 100 && !failed; ++i)
    failed =
        hfta_instance_step(instance, inputs, losses) != HFTA_OK ||
        hfta_instance_evaluate(instance, inputs, 5, losses, metrics) != HFTA_OK;
  atomic_store(&counting, 0);
  hfta_instance_destroy(instance);
  fake_program_free(program);
  int found = atomic_load(&calls);
  if (found || failed)
    fprintf(stderr, "%d allocations, %d failures\n", found, failed);
  return found || failed;
}
