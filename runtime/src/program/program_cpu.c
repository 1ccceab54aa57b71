//===- program_cpu.c - Checks that this CPU can run a program -------------===//

#include "hfta/program_queries.h"
#include "system/cpu_features.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/// Asks Linux for the use of AMX, whose registers a process gets only if it
/// requests them. Returns whether they may be used; true on other processors.
static bool ask_for_amx(void) {
#if defined(__x86_64__)
  enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
  return syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
#else
  return true;
#endif
}

hfta_status hfta_program_check_cpu(const hfta_program *program,
                                   hfta_error *error) {
  const char *features = program->cpu_features;
  if (!features || !*features)
    return HFTA_OK;
  hfta_cpu_answers answers = hfta_ask_cpu();
  char missing[512];
  if (hfta_find_missing_features(&answers, features, missing, sizeof(missing)))
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "this CPU lacks %s, which '%s' was compiled for; compile "
                     "it with a --cpu that this machine has",
                     missing, program->name);
  if (strstr(features, "amx") && !ask_for_amx())
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "the kernel refuses the AMX registers, which '%s' was "
                     "compiled for",
                     program->name);
  return HFTA_OK;
}
