//===- defaults.c - Device and threads, unless others are named -----------===//

#include "workload/defaults.h"

#include "device/target.h"
#include "hfta/pool.h"

#include <stdbool.h>

const char *hfta_program_device(const hfta_program *program, const char *text) {
  if (text)
    return text;
  return hfta_target_of(program)->default_device;
}

int hfta_program_threads(const hfta_program *program, int64_t threads) {
  if (hfta_target_of(program)->all_at_once)
    return program->copies < INT32_MAX ? (int)program->copies : INT32_MAX;
  if (threads > 0)
    return (int)threads;
  int count = hfta_pool_default_threads();
  bool is_less = program->memory_threads > 0 && program->memory_threads < count;
  return is_less ? (int)program->memory_threads : count;
}
