//===- search_info.c - What info says about a search ----------------------===//

#include "command_line/trials/search_info.h"

#include "tuning/facts.h"

#include <stdlib.h>

/// Returns a text, or a replacement if there wasn't enough memory for it.
static const char *or_unknown(const char *text) { return text ? text : "?"; }

void hfta_print_search(FILE *file, const hfta_program *program) {
  const hfta_search *search = program->search;
  char *sampler = hfta_sampler_text(&search->sampler);
  char *rule = hfta_rule_text(&search->rule);
  fprintf(file, "search %lld trials by %s, rule %s, %lld slots\n",
          (long long)search->trials, or_unknown(sampler), or_unknown(rule),
          (long long)program->copies);
  for (int64_t i = 0; i < search->setting_count; ++i) {
    char *text = hfta_setting_text(&search->settings[i]);
    fprintf(file, "  %s = %s\n", search->settings[i].name, or_unknown(text));
    free(text);
  }
  free(sampler);
  free(rule);
}

void hfta_put_search(hfta_json_writer *writer, const hfta_program *program) {
  const hfta_search *search = program->search;
  char *sampler = hfta_sampler_text(&search->sampler);
  char *rule = hfta_rule_text(&search->rule);
  hfta_json_key(writer, "search");
  hfta_json_begin_object(writer);
  hfta_json_put_integer(writer, "trials", search->trials);
  hfta_json_put_integer(writer, "slots", program->copies);
  hfta_json_put_string(writer, "sampler", or_unknown(sampler));
  hfta_json_put_string(writer, "rule", or_unknown(rule));
  hfta_json_key(writer, "settings");
  hfta_json_begin_object(writer);
  for (int64_t i = 0; i < search->setting_count; ++i) {
    char *text = hfta_setting_text(&search->settings[i]);
    hfta_json_put_string(writer, search->settings[i].name, or_unknown(text));
    free(text);
  }
  hfta_json_end_object(writer);
  hfta_json_end_object(writer);
  free(sampler);
  free(rule);
}
