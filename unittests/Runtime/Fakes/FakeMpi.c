//===- FakeMpi.c - A library that claims to be MPICH ----------------------===//

#include <string.h>

int MPI_Get_library_version(char *text, int *length) {
  strcpy(text, "MPICH Version:      4.0.2\nMPICH ABI: 14:2:2");
  *length = (int)strlen(text);
  return 0;
}
