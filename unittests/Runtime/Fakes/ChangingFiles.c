//===- ChangingFiles.c - Files that change while they are read ------------===//
//
// This file makes a training binary change a file right after it has mapped it,
// a moment that a test can't hit from outside. The environment variable
// FAKE_CHANGE says how, when and which file: with "cut 2
// copy-0001.safetensors", the file is cut to zero bytes when a file whose path
// ends with this name is mapped for the second time; "write 1 image.npy"
// inverts the last byte of the file at the first time.
//===----------------------------------------------------------------------===//

#include "system/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void turn_last_byte(const char *path) {
  FILE *file = fopen(path, "r+b");
  if (!file || fseek(file, -1, SEEK_END) != 0)
    abort();
  int byte = fgetc(file);
  if (fseek(file, -1, SEEK_END) != 0 || fputc(~byte & 0xff, file) == EOF ||
      fclose(file) != 0)
    abort();
}

static void change(const char *path) {
  static int mappings;
  char how[8], end[64];
  int when;
  const char *text = getenv("FAKE_CHANGE");
  if (!text || sscanf(text, "%7s %d %63s", how, &when, end) != 3)
    return;
  size_t length = strlen(path), end_length = strlen(end);
  if (length < end_length || strcmp(path + length - end_length, end) != 0 ||
      ++mappings != when)
    return;
  if (strcmp(how, "write") == 0)
    turn_last_byte(path);
  else if (truncate(path, 0) != 0)
    abort();
}

// The linker's option --wrap=hfta_mapping_open gives the two functions these
// names.
hfta_status __real_hfta_mapping_open(const char *path, hfta_mapping *out,
                                     hfta_error *error);
hfta_status __wrap_hfta_mapping_open(const char *path, hfta_mapping *out,
                                     hfta_error *error);

hfta_status __wrap_hfta_mapping_open(const char *path, hfta_mapping *out,
                                     hfta_error *error) {
  hfta_status status = __real_hfta_mapping_open(path, out, error);
  if (status == HFTA_OK)
    change(path);
  return status;
}
