//===- RanksLibrary.c - A library's checkpoints on several ranks ----------===//
//
// usage: library FOLDER, another one on each rank. Ends with exit code 1, and
// says where, if something isn't as expected.
//===----------------------------------------------------------------------===//

#include "curve.h"

#include <math.h>
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

static void step(curve *training, double *losses) {
  float x[BATCH], y[BATCH];
  for (int i = 0; i < BATCH; ++i) {
    x[i] = (float)i / BATCH;
    y[i] = sinf(3.0f * x[i]);
  }
  const void *inputs[] = {x, y};
  EXPECT(curve_step(training, inputs, losses) == HFTA_OK);
}

static void expect_failure(hfta_status status, const curve *training,
                           hfta_status expected, const char *reason) {
  EXPECT(status == expected);
  EXPECT(strstr(curve_message(training), reason));
}

int main(int argc, char **argv) {
  EXPECT(argc == 2);
  const char *rank = getenv("OMPI_COMM_WORLD_RANK");
  char absent[64];
  snprintf(absent, sizeof(absent), "absent-%s", rank ? rank : "0");
  curve *first, *second;
  hfta_options options = {.threads = 1};
  EXPECT(curve_create(&options, &first) == HFTA_OK);
  EXPECT(curve_create(&options, &second) == HFTA_OK);
  double expected[COPIES], losses[COPIES];
  step(first, expected);
  EXPECT(curve_save(first, argv[1]) == HFTA_OK);
  step(first, expected);

  // What the first rank fails to do has failed on all, and changes nothing.
  expect_failure(curve_load(second, absent), second, HFTA_INVALID_INPUT,
                 "'absent-0' doesn't exist");
  expect_failure(curve_save(second, "/dev/null/nowhere"), second,
                 HFTA_CANNOT_WRITE, "/dev/null/nowhere");
  EXPECT(curve_steps(second) == 0);

  // Gradients that are there are forgotten, as one process forgets them.
  step(second, losses);
  EXPECT(curve_load(second, argv[1]) == HFTA_OK && curve_steps(second) == 1);
  step(second, losses);
  EXPECT(memcmp(losses, expected, sizeof(losses)) == 0);
  curve_destroy(second);
  curve_destroy(first);
  return 0;
}
