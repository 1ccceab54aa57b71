//===- CsvChangedTest.c - A csv file that changes while it is read --------===//
//
// The csv reader counts lines, allocates memory for the samples, and then reads
// them. This program's own malloc replaces the file's contents in between.
//===----------------------------------------------------------------------===//

#include "hfta/data.h"

#include <stdio.h>
#include <string.h>

enum { SAMPLES = 3, FEATURES = 2 };

static const char *path, *replacement;

void *__libc_malloc(size_t bytes);

/// Overwrites the file in place, so that the reader's mapping shows the change.
static void edit(void) {
  FILE *file = fopen(path, "r+");
  fputs(replacement, file);
  fclose(file);
}

void *malloc(size_t bytes) {
  if (replacement && bytes == SAMPLES * FEATURES * sizeof(float) + 1) {
    edit();
    replacement = NULL;
  }
  return __libc_malloc(bytes);
}

/// Opens a file whose contents are `before`, and change to `after` when the
/// reader allocates memory. Returns the status.
static hfta_status read_changing(const char *before, const char *after,
                                 hfta_error *error) {
  FILE *file = fopen(path, "w");
  fputs(before, file);
  fclose(file);
  const int64_t shape[] = {FEATURES};
  hfta_data_request request = {.path = path,
                               .format = HFTA_DATA_CSV,
                               .type = HFTA_F32,
                               .sample_shape = shape,
                               .sample_rank = 1};
  hfta_data *data = NULL;
  replacement = after;
  hfta_status status = hfta_data_open(&request, &data, error);
  replacement = NULL;
  hfta_data_close(data);
  return status;
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  path = argv[1];
  static const char before[] = "100,200\n300,400\n500,600\n";
  static const char *const after[] = {"1,2\n3,4\n5,6\n7,8\n9,0\n1,2\n",
                                      "100,200\n300,4000500,600\n"};
  int failed = 0;
  for (int i = 0; i < 2; ++i) {
    hfta_error error = {HFTA_OK, ""};
    hfta_status status = read_changing(before, after[i], &error);
    if (status == HFTA_INVALID_INPUT && strstr(error.message, path))
      continue;
    fprintf(stderr, "edit %d: status %d: %s\n", i, (int)status, error.message);
    failed = 1;
  }
  remove(path);
  return failed;
}
