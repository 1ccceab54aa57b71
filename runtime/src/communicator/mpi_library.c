//===- mpi_library.c - The functions of an MPI library --------------------===//

#include "communicator/mpi_library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

/// Names that Debian uses; other distributions use similar ones.
static const char default_name[] = "libmpi.so.40", package[] = "openmpi-bin";

/// Looks up a symbol and copies its address to `*out`. The address is copied
/// bytewise, since ISO C has no cast from an object pointer to a function
/// pointer.
static bool find(void *library, const char *name, void *out) {
  void *symbol = dlsym(library, name);
  memcpy(out, &symbol, sizeof(symbol));
  return symbol != NULL;
}

static hfta_status open_library(const char *name, void **out,
                                hfta_error *error) {
  void *symbol;
  if (!name && find(RTLD_DEFAULT, "MPI_Init_thread", &symbol)) {
    *out = RTLD_DEFAULT;
    return HFTA_OK;
  }
  *out = dlopen(name ? name : default_name, RTLD_NOW | RTLD_LOCAL);
  if (*out)
    return HFTA_OK;
  const char *reason = dlerror();
  return hfta_fail(error, HFTA_UNSUPPORTED,
                   "several ranks were started, but the MPI library '%s' can't "
                   "be opened: %s; install Debian's package %s, or name the "
                   "library of an Open MPI with --mpi",
                   name ? name : default_name, reason ? reason : "no reason",
                   package);
}

/// Checks that the library is Open MPI, by the first line of its version
/// string.
static hfta_status check_kind(void *library, const char *name, hfta_mpi *mpi,
                              hfta_error *error) {
  char text[8192] = "it isn't an MPI library"; // MPI's own limit: 8192
  int length = 0;
  if (find(library, "MPI_Get_library_version", &mpi->get_library_version))
    mpi->get_library_version(text, &length);
  text[strcspn(text, "\r\n")] = '\0';
  if (strncmp(text, "Open MPI v", strlen("Open MPI v")) == 0)
    return HFTA_OK;
  return hfta_fail(error, HFTA_UNSUPPORTED,
                   "MPI library '%s': expected Open MPI, as in Debian's "
                   "package %s, found: %.200s",
                   name, package, text);
}

hfta_status hfta_mpi_load(const char *name, hfta_mpi *out, hfta_error *error) {
  void *library = NULL;
  hfta_status status = open_library(name, &library, error);
  if (status != HFTA_OK)
    return status;
  if (!name)
    name = library == RTLD_DEFAULT ? "the program's own" : default_name;
  status = check_kind(library, name, out, error);
  if (status != HFTA_OK)
    return status;
  const char *missing = NULL;
#define HFTA_MPI_FIND(member, function, parameters)                            \
  if (!find(library, #function, &out->member))                                 \
    missing = #function;
  HFTA_MPI_FUNCTIONS(HFTA_MPI_FIND)
#undef HFTA_MPI_FIND
  if (!find(library, "ompi_mpi_comm_world", &out->world))
    missing = "ompi_mpi_comm_world";
  if (!find(library, "ompi_mpi_byte", &out->byte))
    missing = "ompi_mpi_byte";
  if (!find(library, "ompi_mpi_errors_return", &out->errors_return))
    missing = "ompi_mpi_errors_return";
  return missing ? hfta_fail(error, HFTA_UNSUPPORTED,
                             "MPI library '%s' has no %s", name, missing)
                 : HFTA_OK;
}
