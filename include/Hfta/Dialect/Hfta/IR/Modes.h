//===- Modes.h - Batch norms and dropouts that stay in one mode -*- C++ -*-===//
//
// A training computes batch normalizations and dropouts in training mode,
// except for those that the job, or the model's file, keeps in evaluation mode,
// as a fine-tuned network does. The front ends decide this for each node
// (ModalOpInterface), and note the rule by which they decided. Messages and the
// compiled program repeat it.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_IR_MODES_H
#define HFTA_DIALECT_HFTA_IR_MODES_H

#include "Hfta/Dialect/Hfta/IR/Training.h"

namespace mlir::hfta {

/// The rules that decide in which mode a node is (HFTA_MODE_RULES).
enum class ModeRule : uint32_t {
#define HFTA_MODE_RULE(identifier, number, evaluation, word, text)             \
  identifier = (number),
  HFTA_MODE_RULES
#undef HFTA_MODE_RULE
};

/// The kinds of nodes that have a mode (HFTA_MODAL_KINDS).
enum class ModalKind : uint32_t {
#define HFTA_MODAL_KIND(identifier, number, word, one, many)                   \
  identifier = (number),
  HFTA_MODAL_KINDS
#undef HFTA_MODAL_KIND
};

/// Returns whether training computes nodes to which `rule` applies in
/// evaluation mode.
bool isEvaluation(ModeRule rule);
/// Returns the rule in words for a message, such as "by a training_mode
/// clause".
StringRef describe(ModeRule rule);
/// Returns a number of nodes of a kind, as in "2 batch normalizations".
std::string describe(ModalKind kind, int64_t count);

/// Returns the text "copy 3" or "copies 0, 2".
std::string describeCopies(ArrayRef<int64_t> copies);

/// A node that has a mode.
struct ModalNode {
  std::string name; ///< as users see it
  ModalKind kind;
  ModeRule rule;
  /// The copies that have the node; empty if all have it.
  SmallVector<int64_t> copies = {};
  bool operator==(const ModalNode &other) const {
    return name == other.name && kind == other.kind && rule == other.rule &&
           copies == other.copies;
  }
};

/// Notes nodes on a model or module, in place of those that were noted before.
void setModalNodes(Operation *op, ArrayRef<ModalNode> nodes);
/// Returns the nodes that are noted on a model or module.
SmallVector<ModalNode> getModalNodes(Operation *op);
/// Moves what is noted on the models of a module to the module itself. A node
/// that several models have, under one name and in the same mode, is noted
/// once.
void collectModalNodes(ModuleOp module, int64_t copies);

/// Decides for the nodes of one model in which mode they are, by the clauses
/// `evaluation_mode` and `training_mode` of a job. A node that both match is in
/// training mode, so that `evaluation_mode "*"` and `training_mode "head.*"`
/// train the head alone by the statistics of batches.
class ModeChooser {
public:
  ModeChooser(ArrayRef<std::string> evaluation, ArrayRef<std::string> training);

  /// Decides for a node, and notes it. `names` are the node's own name and
  /// those of its parameters and statistics, by any of which a pattern may name
  /// it; the first one is for users. `byFile` is the rule that holds where no
  /// clause matches. Returns whether training computes the node in evaluation
  /// mode.
  bool choose(ModalKind kind, ArrayRef<std::string> names, ModeRule byFile);
  ArrayRef<ModalNode> getNodes() const { return nodes; }
  /// The names of all nodes and of their parameters and statistics.
  SmallVector<StringRef> getNames() const;

  /// Called for each pattern that is invalid or has no effect. `isTraining` and
  /// `index` identify the pattern.
  using Report = llvm::function_ref<void(bool isTraining, size_t index,
                                         const Twine &message)>;
  /// Checks that each pattern is valid and has an effect on the nodes so far.
  /// Returns false if it has reported an error.
  bool check(Report report) const;

private:
  std::vector<ParameterPattern> evaluation, training;
  std::vector<ModalNode> nodes;
  std::vector<std::string> known;
};

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_MODES_H
