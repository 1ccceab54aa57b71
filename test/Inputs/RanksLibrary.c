//===- RanksLibrary.c - Tests a compiled library on several ranks ---------===//
//
// usage: library [FOLDER]. With FOLDER, which is different on each rank, tests
// that ranks save and load checkpoints together. Without FOLDER, tests a host
// program that has initialised MPI itself, and in which a rank leaves early. A
// failed check ends the process with exit code 1 and the number of its line.
//===----------------------------------------------------------------------===//

#include "curve.h"

#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 128, COPIES = 3 };

#define EXPECT(condition)                                                      \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "line %d: not %s\n", __LINE__, #condition);              \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

/// Runs a step on a fixed batch, and returns its status.
static hfta_status try_step(curve *training, double *losses) {
  float x[BATCH], y[BATCH];
  for (int i = 0; i < BATCH; ++i) {
    x[i] = (float)i / BATCH;
    y[i] = sinf(3.0f * x[i]);
  }
  const void *inputs[] = {x, y};
  return curve_step(training, inputs, losses);
}

static void step(curve *training, double *losses) {
  EXPECT(try_step(training, losses) == HFTA_OK);
}

/// Checks a call's status, and that the error message contains `reason`.
static void expect_failure(hfta_status status, const curve *training,
                           hfta_status expected, const char *reason) {
  EXPECT(status == expected);
  EXPECT(strstr(curve_message(training), reason));
}

/// Finds a function of Open MPI in its library, as its header may not be
/// installed.
static void find_mpi(const char *name, void *out) {
  void *library = dlopen("libmpi.so.40", RTLD_NOW);
  EXPECT(library);
  void *function = dlsym(library, name);
  EXPECT(function);
  memcpy(out, &function, sizeof(function));
}

/// Checks a training that rank 1 destroys without a step. The other ranks wait
/// for rank 1 in their step, which must fail with HFTA_LOST, as must the
/// creation of another training. Rank 1 must not wait for them.
static void check_leaving(const char *rank) {
  enum { THREAD_MULTIPLE = 3 }; // the value in Open MPI
  int (*initialize)(int *, char ***, int, int *), (*finalize)(void), level = 0;
  find_mpi("MPI_Init_thread", &initialize);
  find_mpi("MPI_Finalize", &finalize);
  initialize(NULL, NULL, THREAD_MULTIPLE, &level);
  EXPECT(level == THREAD_MULTIPLE);
  bool leaves = strcmp(rank, "1") == 0;
  curve *training;
  hfta_options options = {.threads = 1, .rank_timeout = 1.0};
  EXPECT(curve_create(&options, &training) == HFTA_OK);
  EXPECT(leaves || try_step(training, NULL) == HFTA_LOST);
  curve_destroy(training);
  EXPECT(leaves || curve_create(&options, &training) == HFTA_LOST);
  EXPECT(finalize() == 0);
}

/// Checks saves and loads. Each rank passes a different folder, and only rank
/// 0's may be used.
static void check_checkpoints(const char *folder, const char *rank) {
  char absent[64];
  snprintf(absent, sizeof(absent), "absent-%s", rank);
  curve *first, *second;
  hfta_options options = {.threads = 1};
  EXPECT(curve_create(&options, &first) == HFTA_OK);
  EXPECT(curve_create(&options, &second) == HFTA_OK);
  double expected[COPIES], losses[COPIES];
  step(first, expected);
  EXPECT(curve_save(first, folder) == HFTA_OK);
  step(first, expected);

  // A load or save that fails on rank 0 fails on all ranks with the same
  // message, and doesn't change the training.
  expect_failure(curve_load(second, absent), second, HFTA_INVALID_INPUT,
                 "'absent-0' doesn't exist");
  expect_failure(curve_save(second, "/dev/null/nowhere"), second,
                 HFTA_CANNOT_WRITE, "/dev/null/nowhere");
  EXPECT(curve_steps(second) == 0);

  // After a load, the next step must give the losses of the step that followed
  // the save.
  step(second, losses);
  EXPECT(curve_load(second, folder) == HFTA_OK && curve_steps(second) == 1);
  step(second, losses);
  EXPECT(memcmp(losses, expected, sizeof(losses)) == 0);
  curve_destroy(second);
  curve_destroy(first);
}

int main(int argc, char **argv) {
  const char *rank = getenv("OMPI_COMM_WORLD_RANK");
  if (argc == 2)
    check_checkpoints(argv[1], rank ? rank : "0");
  else
    check_leaving(rank ? rank : "0");
  return 0;
}
