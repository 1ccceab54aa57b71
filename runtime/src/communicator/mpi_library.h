//===- mpi_library.h - The functions of an MPI library ----------*- C -*-===//
//
// The MPI standard fixes names, but no ABI: the type of handles, the values of
// constants and the size of a status differ between libraries. The declarations
// here are those of Open MPI, whose handles are pointers. The library is opened
// at run time, so that programs don't link to it.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_COMMUNICATOR_MPI_LIBRARY_H
#define HFTA_SRC_COMMUNICATOR_MPI_LIBRARY_H

#include "hfta/status.h"

/// Open MPI's constants.
enum {
  HFTA_MPI_SUCCESS = 0,
  HFTA_MPI_ERR_TRUNCATE = 15,
  HFTA_MPI_ANY_SOURCE = -1,
  HFTA_MPI_TAG_UB = 0, ///< the attribute that holds the greatest possible tag
  HFTA_MPI_THREAD_FUNNELED = 1,
  HFTA_MPI_THREAD_MULTIPLE = 3
};

/// A buffer that is larger than any library's MPI_Status.
typedef struct hfta_mpi_status {
  _Alignas(16) char bytes[256];
} hfta_mpi_status;

/// The list of functions, as X(member, function, parameters). Each function
/// returns HFTA_MPI_SUCCESS or an error code.
#define HFTA_MPI_FUNCTIONS(X)                                                  \
  X(get_library_version, MPI_Get_library_version, (char *text, int *length))   \
  X(initialized, MPI_Initialized, (int *flag))                                 \
  X(finalized, MPI_Finalized, (int *flag))                                     \
  X(init_thread, MPI_Init_thread,                                              \
    (int *argc, char ***argv, int required, int *provided))                    \
  X(query_thread, MPI_Query_thread, (int *provided))                           \
  X(finalize, MPI_Finalize, (void))                                            \
  X(abort, MPI_Abort, (void *communicator, int code))                          \
  X(comm_rank, MPI_Comm_rank, (void *communicator, int *rank))                 \
  X(comm_size, MPI_Comm_size, (void *communicator, int *size))                 \
  X(comm_idup, MPI_Comm_idup,                                                  \
    (void *communicator, void **out, void **request))                          \
  X(comm_free, MPI_Comm_free, (void **communicator))                           \
  X(comm_get_attr, MPI_Comm_get_attr,                                          \
    (void *communicator, int attribute, void *value, int *flag))               \
  X(comm_set_errhandler, MPI_Comm_set_errhandler,                              \
    (void *communicator, void *handler))                                       \
  X(isend, MPI_Isend,                                                          \
    (const void *memory, int count, void *type, int to, int tag,               \
     void *communicator, void **request))                                      \
  X(irecv, MPI_Irecv,                                                          \
    (void *memory, int count, void *type, int from, int tag,                   \
     void *communicator, void **request))                                      \
  X(cancel, MPI_Cancel, (void **request))                                      \
  X(test, MPI_Test, (void **request, int *flag, hfta_mpi_status *status))      \
  X(get_count, MPI_Get_count,                                                  \
    (const hfta_mpi_status *status, void *type, int *count))                   \
  X(error_string, MPI_Error_string, (int code, char *text, int *length))

typedef struct hfta_mpi {
#define HFTA_MPI_MEMBER(member, function, parameters) int(*member) parameters;
  HFTA_MPI_FUNCTIONS(HFTA_MPI_MEMBER)
#undef HFTA_MPI_MEMBER
  void *world;         ///< MPI_COMM_WORLD
  void *byte;          ///< MPI_BYTE
  void *errors_return; ///< MPI_ERRORS_RETURN
} hfta_mpi;

/// Loads the MPI library at path `name`. If `name` is NULL, uses the library
/// that the host program has loaded, else libmpi.so.40. The library stays open
/// until the process ends. Fails with HFTA_UNSUPPORTED if the library is
/// missing or isn't Open MPI.
hfta_status hfta_mpi_load(const char *name, hfta_mpi *out, hfta_error *error);

#endif // HFTA_SRC_COMMUNICATOR_MPI_LIBRARY_H
