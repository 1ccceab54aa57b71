//===- program_cpu.c - Can this CPU run the code --------------------------===//

#include "hfta/instance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/// The "flags" (x86) or "Features" (ARM) line of the first processor; NULL if
/// it can't be read. The caller frees it.
static char *read_cpu_flags(void) {
  FILE *file = fopen("/proc/cpuinfo", "r");
  if (!file)
    return NULL;
  char *line = NULL;
  size_t capacity = 0;
  while (getline(&line, &capacity, file) > 0) {
    if (strncmp(line, "flags", 5) == 0 || strncmp(line, "Features", 8) == 0) {
      fclose(file);
      return line;
    }
  }
  free(line);
  fclose(file);
  return NULL;
}

static bool has_word(const char *line, const char *word, size_t length) {
  for (const char *at = line; (at = strstr(at, word)) != NULL; ++at) {
    bool begins = at == line || strchr(" \t:", at[-1]);
    if (begins && strchr(" \t\n", at[length]))
      return true;
  }
  return false;
}

/// Linux gives AMX's registers only to who asks. Harmless elsewhere.
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
  char *flags = read_cpu_flags();
  if (!flags)
    return HFTA_OK;
  char missing[512] = "";
  for (const char *at = features; *at;) {
    size_t length = strcspn(at, ",");
    char word[64];
    snprintf(word, sizeof(word), "%.*s", (int)length, at);
    size_t used = strlen(missing);
    if (length > 0 && !has_word(flags, word, length))
      snprintf(missing + used, sizeof(missing) - used, "%s%s", used ? ", " : "",
               word);
    at += length + (at[length] == ',');
  }
  free(flags);
  if (*missing)
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
