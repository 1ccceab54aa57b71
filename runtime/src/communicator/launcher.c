//===- launcher.c - The launcher's information in the environment ---------===//

#include "hfta/communicator.h"

#include <stdlib.h>

/// The names of a launcher's environment variables; NULL for a variable that
/// the launcher doesn't set.
typedef struct launcher_names {
  const char *size, *rank, *local_size, *bound;
} launcher_names;

static const launcher_names launchers[] = {
    // Open MPI.
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_MCA_orte_bound_at_launch"},
    // MPICH; Slurm's launchers set the same variables.
    {"PMI_SIZE", "PMI_RANK", "MPI_LOCALNRANKS", NULL},
};

/// Returns the number that an environment variable holds; -1 if there is no
/// such variable or its value isn't a number from 0 to `maximum`.
static int read_number(const char *name, int maximum) {
  const char *text = name ? getenv(name) : NULL;
  if (!text || *text < '0' || *text > '9')
    return -1;
  char *end;
  long value = strtol(text, &end, 10);
  return *end == '\0' && value <= maximum ? (int)value : -1;
}

void hfta_launcher_find(hfta_launcher *out) {
  *out = (hfta_launcher){.size = 1, .local_size = 1};
  for (size_t i = 0; i < sizeof(launchers) / sizeof(*launchers); ++i) {
    const launcher_names *names = &launchers[i];
    int size = read_number(names->size, 1 << 30);
    int rank = read_number(names->rank, size - 1);
    if (size < 1 || rank < 0)
      continue;
    int local_size = read_number(names->local_size, size);
    out->rank = rank;
    out->size = size;
    out->local_size = local_size < 1 ? size : local_size;
    out->is_found = true;
    out->is_bound = read_number(names->bound, 1) == 1;
    return;
  }
}
