//===- FakeMain.c - A training binary for tests ---------------------------===//
//
// The environment variable FAKE_OPTIONS chooses the program. It is a list of
// words and numbers, such as "copies=3 clipping".
//===----------------------------------------------------------------------===//

#include "FakeProgram.h"
#include "hfta/main.h"

#include <stdlib.h>
#include <string.h>

static int64_t read_option(const char *text, const char *name,
                           int64_t otherwise) {
  size_t length = strlen(name);
  for (const char *at = text; (at = strstr(at, name)) != NULL; at += length) {
    if (at != text && at[-1] != ' ')
      continue;
    if (at[length] == '=')
      return strtoll(at + length + 1, NULL, 10);
    if (at[length] == '\0' || at[length] == ' ')
      return 1;
  }
  return otherwise;
}

static hfta_validation read_validation(const char *text) {
  hfta_validation out = {
      .share = (double)read_option(text, "validation_percent", 0) / 100,
      .folds = read_option(text, "folds", 0),
      .seed = read_option(text, "validation_seed", 0),
      .every = read_option(text, "validation_every", 1),
      .by_metric = read_option(text, "by_metric", 0) != 0,
      .keeps_best = read_option(text, "keeps_best", 0) != 0,
      .patience = read_option(text, "patience", 0),
      .least = (double)read_option(text, "least_percent", 0) / 100,
      .minutes = (double)read_option(text, "milliseconds", 0) / 60000};
  out.direction = out.by_metric ? HFTA_MAXIMIZE : HFTA_MINIMIZE;
  return out;
}

int main(int argc, char **argv) {
  const char *text = getenv("FAKE_OPTIONS");
  if (!text)
    text = "";
  fake_options options = {
      .copies = read_option(text, "copies", 3),
      .first_copy = read_option(text, "first_copy", 0),
      .micro_batches = read_option(text, "micro_batches", 1),
      .all_forwards_first = read_option(text, "all_forwards_first", 0) != 0,
      .clipping = read_option(text, "clipping", 0) != 0,
      .cosine = read_option(text, "cosine", 0) != 0,
      .inference_only = read_option(text, "inference_only", 0) != 0,
      .no_length = read_option(text, "no_length", 0) != 0,
      .foreign = read_option(text, "foreign", 0) != 0,
      .curvature = read_option(text, "curvature", 0) != 0,
      .diverging = read_option(text, "diverging", 0) != 0,
      .validation_files = read_option(text, "validation_files", 0) != 0,
      .validation = read_validation(text),
      .cpu_features = read_option(text, "impossible_cpu", 0) ? "quantum" : ""};
  hfta_program *program = fake_program_make(&options);
  const hfta_program *const programs[] = {program};
  int code = hfta_main(programs, 1, argc, argv);
  fake_program_free(program);
  return code;
}
