//===- copies_json.c - Numbers of copies as JSON --------------------------===//

#include "training/copies_json.h"

#include "hfta/program_queries.h"

#include <stdio.h>

enum { NAME_BYTES = 128 };

void hfta_put_copies(hfta_json_writer *writer, const hfta_program *program,
                     const char *key, const double *values,
                     hfta_element_type type, const bool *live) {
  hfta_json_key(writer, key);
  hfta_json_begin_array(writer);
  for (int64_t copy = 0; copy < program->copies; ++copy)
    if (live && !live[copy])
      hfta_json_null(writer);
    else
      hfta_json_number(writer, values[copy], type);
  hfta_json_end_array(writer);
}

void hfta_put_terms(hfta_json_writer *writer, const hfta_program *program,
                    const char *prefix, const double *terms, const bool *live) {
  char name[NAME_BYTES];
  for (uint32_t i = 0; terms && i < program->loss_term_count; ++i) {
    snprintf(name, sizeof(name), "%sloss_%s", prefix,
             program->loss_terms[i].name);
    hfta_put_copies(writer, program, name, terms + i * program->copies,
                    (hfta_element_type)program->precision, live);
  }
}

/// Writes a copy's counts as a list of rows.
static void put_matrix(hfta_json_writer *writer, const double *counts,
                       int64_t classes) {
  hfta_json_begin_array(writer);
  for (int64_t row = 0; row < classes; ++row) {
    hfta_json_begin_array(writer);
    for (int64_t column = 0; column < classes; ++column) {
      double count = counts[row * classes + column];
      // Counts are whole numbers unless elements have weights.
      if (count < 0x1p53 && count == (double)(int64_t)count)
        hfta_json_integer(writer, (int64_t)count);
      else
        hfta_json_number(writer, count, HFTA_F64);
    }
    hfta_json_end_array(writer);
  }
  hfta_json_end_array(writer);
}

static void put_matrices(hfta_json_writer *writer, const hfta_program *program,
                         const char *key, const double *counts, int64_t classes,
                         const bool *live) {
  hfta_json_key(writer, key);
  hfta_json_begin_array(writer);
  for (int64_t copy = 0; copy < program->copies; ++copy)
    if (live && !live[copy])
      hfta_json_null(writer);
    else
      put_matrix(writer, counts + copy * classes * classes, classes);
  hfta_json_end_array(writer);
}

void hfta_put_evaluation(hfta_json_writer *writer, const hfta_program *program,
                         const char *data, const double *losses,
                         const double *metrics, const bool *live) {
  hfta_element_type type = (hfta_element_type)program->precision;
  char name[NAME_BYTES];
  snprintf(name, sizeof(name), "%s_loss", data);
  if (losses)
    hfta_put_copies(writer, program, name, losses, type, live);
  snprintf(name, sizeof(name), "%s_", data);
  if (losses)
    hfta_put_terms(writer, program, name, losses + program->copies, live);
  for (uint32_t i = 0; metrics && i < program->metric_count; ++i) {
    const hfta_metric *metric = &program->metrics[i];
    const double *matrix = hfta_program_metric_matrix(program, metrics, i);
    snprintf(name, sizeof(name), "%s_%s", data, metric->name);
    if (matrix)
      put_matrices(writer, program, name, matrix, metric->classes, live);
    else // means have the digits of losses, which are means too
      hfta_put_copies(writer, program, name, metrics + i * program->copies,
                      metric->kind == HFTA_METRIC_MEAN ? type : HFTA_F64, live);
  }
}
