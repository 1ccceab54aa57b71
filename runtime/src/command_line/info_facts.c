//===- info_facts.c - Facts that the command info prints ------------------===//

#include "command_line/command.h"
#include "hfta/tensor_view.h"

#include <string.h>

const char *hfta_segment_role_name(uint32_t role) {
  static const char *const names[] = {
      "constants", "parameters", "gradients", "optimizer_state", "statistics",
      "saved",     "cut",        "workspace", "scratch",         "input",
      "output",    "scalars",    "results",   "exchange",        "received",
      "curvature", "moments"};
  return role < sizeof(names) / sizeof(*names) ? names[role] : "?";
}

bool hfta_tensor_is_parameter(const hfta_program *program, uint32_t index) {
  const hfta_tensor *tensor = &program->tensors[index];
  return program->segments[tensor->segment].role == HFTA_SEGMENT_PARAMETERS;
}

hfta_training_rule_words hfta_describe_training_rule(uint32_t rule) {
  switch (rule) {
#define HFTA_TRAINING_RULE(identifier, number, trained, word, text)            \
  case number:                                                                 \
    return (hfta_training_rule_words){word, text};
    HFTA_TRAINING_RULES
#undef HFTA_TRAINING_RULE
  default:
    return (hfta_training_rule_words){"?", "?"};
  }
}

hfta_modal_node_words hfta_describe_modal_node(const hfta_modal_node *node) {
  hfta_modal_node_words words = {"?", "?", "?", "?", false};
  switch (node->kind) {
#define HFTA_MODAL_KIND(identifier, number, word, one_text, many)              \
  case number:                                                                 \
    words.kind = word;                                                         \
    words.one = one_text;                                                      \
    break;
    HFTA_MODAL_KINDS
#undef HFTA_MODAL_KIND
  default:
    break;
  }
  switch (node->rule) {
#define HFTA_MODE_RULE(identifier, number, is_evaluation, word, why)           \
  case number:                                                                 \
    words.rule = word;                                                         \
    words.text = why;                                                          \
    words.evaluation = is_evaluation;                                          \
    break;
    HFTA_MODE_RULES
#undef HFTA_MODE_RULE
  default:
    break;
  }
  return words;
}

const double *hfta_layer_decays(const hfta_program *program) {
  for (uint32_t i = 0; i < program->hyper_parameter_count; ++i)
    if (strcmp(program->hyper_parameters[i].name, "layer_decay") == 0)
      return program->hyper_parameters[i].values;
  return NULL;
}

/// Adds the elements of `times` tensors to the trained or the frozen ones.
static void add_values(hfta_parameter_count *count, const hfta_tensor *tensor,
                       int64_t times) {
  size_t size = hfta_element_bytes((hfta_element_type)tensor->type);
  if (size == 0)
    return;
  bool trained = (tensor->flags & HFTA_TENSOR_TRAINED) != 0;
  *(trained ? &count->trained : &count->frozen) +=
      (int64_t)(tensor->bytes / size) * times;
}

hfta_parameter_count hfta_count_parameters(const hfta_program *program,
                                           int64_t copy) {
  hfta_parameter_count count = {0};
  for (uint32_t i = 0; i < program->tensor_count; ++i)
    if (hfta_tensor_is_parameter(program, i) &&
        hfta_tensor_is_of(&program->tensors[i], copy))
      add_values(&count, &program->tensors[i], 1);
  return count;
}

hfta_parameter_count hfta_count_all_parameters(const hfta_program *program) {
  hfta_parameter_count count = {0};
  for (uint32_t i = 0; i < program->tensor_count; ++i) {
    const hfta_tensor *tensor = &program->tensors[i];
    if (hfta_tensor_is_parameter(program, i))
      add_values(&count, tensor, tensor->copy_stride ? program->copies : 1);
  }
  return count;
}

bool hfta_tensor_is_curvature(const hfta_program *program, uint32_t index) {
  const hfta_tensor *tensor = &program->tensors[index];
  return program->segments[tensor->segment].role == HFTA_SEGMENT_CURVATURE;
}
