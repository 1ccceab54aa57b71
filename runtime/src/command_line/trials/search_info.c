//===- search_info.c - What info says about a search ----------------------===//

#include "command_line/trials/search_info.h"

#include "tuning/facts.h"
#include "tuning/journal_line.h"

#include <stdlib.h>

/// Returns a text, or a replacement if there wasn't enough memory for it.
static const char *or_unknown(const char *text) { return text ? text : "?"; }

/// Prints a line about an array, with the choices that it has.
static void print_array(FILE *file, const hfta_program *program) {
  const hfta_search *search = program->search;
  fprintf(file, "  array %lld: %lld slots", (long long)search->array,
          (long long)program->copies);
  for (int64_t i = 0; i < search->setting_count; ++i) {
    const hfta_search_setting *setting = &search->settings[i];
    if (!setting->is_packed)
      continue;
    char *text = hfta_own_text(setting);
    fprintf(file, ", %s = %s", setting->name, or_unknown(text));
    free(text);
  }
  fprintf(file, "%s\n", search->array == 0 ? " (described here)" : "");
}

void hfta_print_search(FILE *file, const hfta_program *const *arrays) {
  const hfta_program *program = arrays[0];
  const hfta_search *search = program->search;
  char *sampler = hfta_sampler_text(&search->sampler);
  char *rule = hfta_rule_text(&search->rule);
  fprintf(file, "search %lld trials by %s, rule %s, %lld slots\n",
          (long long)search->trials, or_unknown(sampler), or_unknown(rule),
          (long long)program->copies);
  if (program->validation.is_external)
    fprintf(file, "  scores from outside, %s ones are better\n",
            program->validation.direction == HFTA_MAXIMIZE ? "larger"
                                                           : "smaller");
  for (int64_t i = 0; i < search->setting_count; ++i) {
    char *text = hfta_setting_text(&search->settings[i]);
    fprintf(file, "  %s = %s\n", search->settings[i].name, or_unknown(text));
    free(text);
  }
  for (int64_t i = 0; i < search->array_count && search->array_count > 1; ++i)
    print_array(file, arrays[i]);
  free(sampler);
  free(rule);
}

/// Writes an object about each array.
static void put_arrays(hfta_json_writer *writer,
                       const hfta_program *const *arrays) {
  hfta_json_key(writer, "arrays");
  hfta_json_begin_array(writer);
  for (int64_t i = 0; i < arrays[0]->search->array_count; ++i) {
    const hfta_search *search = arrays[i]->search;
    hfta_json_begin_object(writer);
    hfta_json_put_integer(writer, "slots", arrays[i]->copies);
    hfta_json_put_integer(writer, "batch", arrays[i]->batch);
    hfta_json_put_string(writer, "identity", arrays[i]->models->identity);
    hfta_json_key(writer, "settings");
    hfta_json_begin_object(writer);
    for (int64_t j = 0; j < search->setting_count; ++j)
      if (search->settings[j].is_packed) {
        hfta_json_key(writer, search->settings[j].name);
        hfta_journal_put_value(writer, &search->settings[j],
                               search->settings[j].own);
      }
    hfta_json_end_object(writer);
    hfta_json_end_object(writer);
  }
  hfta_json_end_array(writer);
}

void hfta_put_search(hfta_json_writer *writer,
                     const hfta_program *const *arrays) {
  const hfta_program *program = arrays[0];
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
  if (search->array_count > 1)
    put_arrays(writer, arrays);
  hfta_json_end_object(writer);
  free(sampler);
  free(rule);
}
