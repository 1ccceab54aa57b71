/*===- training.h - Why a parameter is trained or not ----------------------===
 *
 * For each parameter of a model, a rule decides whether it is trained or
 * frozen, and for each batch normalization and dropout, whether a training
 * computes it in training mode or in evaluation mode. The compiler records
 * rules in the module, in its messages and in the program, all of which use
 * these tables of rules.
 *===----------------------------------------------------------------------===*/

#ifndef HFTA_TRAINING_H
#define HFTA_TRAINING_H

/// The rules: HFTA_TRAINING_RULE(identifier, number, trained, word, text).
/// `trained` is 1 if the rule says that the parameter is trained. `word` names
/// the rule for machines (`info --json`); `text` follows "trained: " or
/// "frozen: " in messages.
#define HFTA_TRAINING_RULES                                                    \
  HFTA_TRAINING_RULE(none, 0, 0, "none", "the program doesn't train")          \
  HFTA_TRAINING_RULE(parameter, 1, 1, "parameter", "by default")               \
  HFTA_TRAINING_RULE(listed, 2, 1, "listed", "listed in hfta.parameters")      \
  HFTA_TRAINING_RULE(layer, 3, 1, "layer",                                     \
                     "a layer's operand with an exporter's name")              \
  HFTA_TRAINING_RULE(trainable, 4, 1, "trainable", "by a trainable clause")    \
  HFTA_TRAINING_RULE(freeze, 5, 0, "freeze", "by a freeze clause")             \
  HFTA_TRAINING_RULE(unlisted, 6, 0, "unlisted",                               \
                     "not listed in hfta.parameters")                          \
  HFTA_TRAINING_RULE(exporter, 7, 0, "exporter",                               \
                     "an exporter's name and no layer's operand")              \
  HFTA_TRAINING_RULE(unreached, 8, 0, "unreached", "no gradient reaches it")   \
  HFTA_TRAINING_RULE(resting, 9, 0, "resting", "no turn trains its network")

/// The rules for modes: HFTA_MODE_RULE(identifier, number, evaluation, word,
/// text). `evaluation` is 1 if the rule says that training computes the node in
/// evaluation mode: a normalization by its running statistics, which it leaves
/// unchanged, and a dropout as the identity. `word` and `text` are used as
/// those of the rules above.
#define HFTA_MODE_RULES                                                        \
  HFTA_MODE_RULE(standard, 0, 0, "default", "by default")                      \
  HFTA_MODE_RULE(training_mode, 1, 0, "training_mode",                         \
                 "by a training_mode clause")                                  \
  HFTA_MODE_RULE(evaluation_mode, 2, 1, "evaluation_mode",                     \
                 "by an evaluation_mode clause")                               \
  HFTA_MODE_RULE(listed, 3, 1, "listed", "listed in hfta.frozen_statistics")   \
  HFTA_MODE_RULE(file, 4, 1, "file",                                           \
                 "by the file, which has other nodes in training mode")

/// The kinds of nodes that have a mode: HFTA_MODAL_KIND(identifier, number,
/// word, one, many). `word` names the kind for machines, `one` and `many` are
/// its names in messages.
#define HFTA_MODAL_KINDS                                                       \
  HFTA_MODAL_KIND(batch_norm, 0, "batch_norm", "batch normalization",          \
                  "batch normalizations")                                      \
  HFTA_MODAL_KIND(dropout, 1, "dropout", "dropout", "dropouts")

#endif // HFTA_TRAINING_H
