//===- target.c - Finding a program's target ------------------------------===//

#include "device/target.h"

#include "hfta/abi.h"

#include <string.h>

static const hfta_target *find(const char *name) {
  for (size_t i = 0; name && hfta_targets[i]; ++i)
    if (strcmp(hfta_targets[i]->name, name) == 0)
      return hfta_targets[i];
  return NULL;
}

const hfta_target *hfta_target_of(const hfta_program *program) {
  return find(program->target);
}

hfta_status hfta_target_check(const hfta_program *program, hfta_error *error) {
  if (program->abi_version != hfta_abi_version())
    return hfta_fail(error, HFTA_INTERNAL,
                     "the program has ABI version %u, this runtime has %u: "
                     "compile it again",
                     program->abi_version, hfta_abi_version());
  if (!hfta_target_of(program))
    return hfta_fail(error, HFTA_INTERNAL,
                     "program '%s' was compiled for the target '%s', which "
                     "this runtime doesn't know",
                     program->name, program->target ? program->target : "");
  return HFTA_OK;
}

const hfta_target *hfta_target_of_kind(const hfta_device_functions *kind) {
  for (size_t i = 0; hfta_targets[i]; ++i)
    if (hfta_targets[i]->device == kind)
      return hfta_targets[i];
  return NULL;
}
