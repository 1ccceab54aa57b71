//===- command_report.c - The command report ------------------------------===//

#include "command_line/logs.h"

#include "report/page.h"
#include "system/file.h"
#include "system/path.h"
#include "text/json_tree.h"

#include <stdlib.h>
#include <string.h>

/// The most bytes of an info or a trace, which become part of the page.
enum { MOST_BYTES = 16 << 20 };

/// Reads a file of JSON, which the caller frees. A `path` of NULL gives NULL.
static hfta_status read_json(const char *path, char **out, hfta_error *error) {
  *out = NULL;
  hfta_mapping mapping;
  if (!path)
    return HFTA_OK;
  hfta_status status = hfta_mapping_open(path, &mapping, error);
  const char *problem = NULL;
  hfta_json_tree tree = {0};
  if (status == HFTA_OK && mapping.size > MOST_BYTES)
    status = hfta_fail(error, HFTA_UNSUPPORTED,
                       "'%s' has more than %d MiB, too much for a page; trace "
                       "fewer steps",
                       path, MOST_BYTES >> 20);
  if (status == HFTA_OK && !hfta_json_parse(&tree, (const char *)mapping.bytes,
                                            mapping.size, &problem))
    status = hfta_fail(error, HFTA_INVALID_INPUT, "'%s' isn't JSON: %s", path,
                       problem);
  hfta_json_tree_free(&tree);
  if (status == HFTA_OK) {
    *out = strndup((const char *)mapping.bytes, mapping.size);
    if (!*out)
      status = hfta_fail(error, HFTA_UNSUPPORTED,
                         "not enough memory to read '%s'", path);
  }
  hfta_mapping_close(&mapping);
  return status;
}

/// Writes the page to a file, as a whole or not at all.
static hfta_status write_page(const char *path, const hfta_page *page,
                              hfta_error *error) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *file = open_memstream(&text, &bytes);
  if (file)
    hfta_write_page(file, page);
  bool is_whole = file && !ferror(file);
  is_whole = file && fclose(file) == 0 && is_whole;
  hfta_status status = is_whole ? hfta_write_whole(path, text, bytes, error)
                                : hfta_fail(error, HFTA_UNSUPPORTED,
                                            "not enough memory for the page");
  free(text);
  return status;
}

static int report(const hfta_invocation *invocation,
                  const hfta_histories *histories, const char *output,
                  const char *info, const char *trace) {
  hfta_objective *objectives =
      calloc((size_t)histories->count, sizeof(*objectives));
  hfta_page page = {.title = invocation->binary,
                    .histories = histories->list,
                    .objectives = objectives,
                    .count = histories->count};
  hfta_error error;
  hfta_status status = objectives ? HFTA_OK
                                  : hfta_fail(&error, HFTA_UNSUPPORTED,
                                              "not enough memory for the page");
  for (int64_t i = 0; status == HFTA_OK && i < histories->count; ++i)
    objectives[i] = hfta_find_log_objective(invocation, &histories->list[i]);
  char *info_text = NULL, *trace_text = NULL;
  if (status == HFTA_OK)
    status = read_json(info, &info_text, &error);
  if (status == HFTA_OK)
    status = read_json(trace, &trace_text, &error);
  page.info = info_text;
  page.trace = trace_text;
  if (status == HFTA_OK)
    status = write_page(output, &page, &error);
  free(objectives);
  free(info_text);
  free(trace_text);
  return status == HFTA_OK ? -1
                           : hfta_report(invocation, status, error.message);
}

int hfta_command_report(const hfta_invocation *invocation) {
  hfta_list logs = {0};
  const char *output = NULL, *info = NULL, *trace = NULL;
  const hfta_option options[] = {
      HFTA_OPERAND_LOGS(&logs),
      {.name = "-o",
       .argument = "FILE.html",
       .help = "the page (default: report.html)",
       .text = &output},
      {.name = "--info",
       .argument = "FILE.json",
       .help = "show the memory plan that 'info --json' has printed",
       .text = &info},
      {.name = "--trace",
       .argument = "FILE.json",
       .help = "show the steps of a trace of 'train --trace'",
       .text = &trace},
  };
  int code = hfta_parse_options(
      invocation,
      "Writes a page that shows logs: curves, tables, hyper-parameters, and "
      "the "
      "course\nof searches. It needs neither a server nor a network.",
      options, sizeof(options) / sizeof(*options));
  if (code >= 0)
    return code;
  hfta_histories histories;
  code = hfta_read_logs(invocation, &logs, &histories);
  if (code < 0)
    code = report(invocation, &histories, output ? output : "report.html", info,
                  trace);
  hfta_histories_free(&histories);
  if (code >= 0)
    return code;
  printf("wrote %s\n", output ? output : "report.html");
  return HFTA_OK;
}
