/*===- training.h - Why a parameter is trained or not ----------------------===
 *
 * For each parameter of a model, a rule decides whether it is trained or
 * frozen. The compiler records the rule in the module, in its messages and in
 * the program, all of which use this table of rules.
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

#endif // HFTA_TRAINING_H
