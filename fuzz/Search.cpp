//===- Search.cpp - Fuzz target: requests and journals of searches --------===//
//
// The input is parsed as a request, which is written and parsed again, and as
// a journal.
//===----------------------------------------------------------------------===//

#include "Files.h"
#include "Options.h"

extern "C" {
#include "tuning/journal.h"
#include "tuning/journal_line.h"
#include "tuning/request.h"
}

#include <cstdlib>
#include <cstring>
#include <string>

/// Returns the text of a request, without its id.
static std::string write(const hfta_request &request,
                         const hfta_search_space &space) {
  hfta_json_writer writer;
  hfta_json_to_memory(&writer);
  hfta_json_begin_object(&writer);
  hfta_request_write(&request, &space, &writer);
  hfta_json_end_object(&writer);
  std::string text = hfta_json_text(&writer, nullptr);
  hfta_json_release(&writer);
  return text;
}

/// Aborts if a request that can be parsed isn't parsed again to the same text.
static void readRequest(const char *data, size_t size) {
  static const double indices[] = {0, 1};
  static const char *const labels[] = {"constant", "cosine"};
  hfta_search_setting settings[3] = {};
  settings[0].name = "lr";
  settings[0].distribution = HFTA_UNIFORM;
  settings[0].high = 1;
  settings[1].name = "seed";
  settings[1].distribution = HFTA_INTEGERS;
  settings[1].high = 100;
  settings[2].name = "schedule";
  settings[2].distribution = HFTA_CHOICE;
  settings[2].choices = indices;
  settings[2].choice_count = 2;
  settings[2].labels = labels;
  settings[2].is_packed = 1;
  hfta_search_space space = {};
  space.settings = settings;
  space.count = 3;
  hfta_request first, second;
  hfta_error error;
  if (hfta_request_parse(data, size, &space, &first, &error) == HFTA_OK) {
    std::string text = write(first, space);
    if (hfta_request_parse(text.data(), text.size(), &space, &second, &error) !=
            HFTA_OK ||
        write(second, space) != text)
      abort();
    hfta_request_free(&second);
  }
  hfta_request_free(&first);
}

static hfta_status ignoreValue(void *, const hfta_evaluated *) {
  return HFTA_OK;
}

static hfta_status visitLine(void *, int64_t number, const char *line) {
  hfta_error error;
  const char *members;
  if (!hfta_journal_is_command(line, &members))
    (void)hfta_journal_parse_evaluated(line, number, ignoreValue, nullptr,
                                       &error);
  return HFTA_OK;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  readRequest(reinterpret_cast<const char *>(data), size);
  setInput(data, size);
  hfta_journal *journal = nullptr;
  hfta_error error;
  if (hfta_journal_read("input", nullptr, &journal, &error) != HFTA_OK)
    return 0;
  (void)hfta_journal_visit(journal, visitLine, nullptr);
  free(hfta_journal_find_fact(journal, "job"));
  const hfta_journal_fact fact = {"job", "tune", false};
  (void)hfta_journal_check(journal, "input", &fact, 1, &error);
  hfta_journal_close(journal);
  return 0;
}
