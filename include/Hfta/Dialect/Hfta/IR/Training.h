//===- Training.h - Why a parameter is trained or not -----------*- C++ -*-===//
//
// Which parameters a job trains follows from the model's file and from the
// job's clauses. The front ends decide and note on each variable the rule that
// did; messages and the compiled program repeat it.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_IR_TRAINING_H
#define HFTA_DIALECT_HFTA_IR_TRAINING_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "hfta/training.h"
#include "llvm/Support/GlobPattern.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir::hfta {

enum class TrainingRule : uint32_t {
#define HFTA_TRAINING_RULE(identifier, number, trained, word, text)            \
  identifier = (number),
  HFTA_TRAINING_RULES
#undef HFTA_TRAINING_RULE
};

/// Whether a parameter that `rule` decides on is trained.
bool isTrained(TrainingRule rule);
/// Returns the words for a message, such as "by a freeze clause".
StringRef describe(TrainingRule rule);

/// Trains or freezes the variable and notes why.
void setTrainingRule(VariableOp variable, TrainingRule rule);
/// Returns the rule noted on a variable, or the one that follows from its
/// `trained` flag.
TrainingRule getTrainingRule(VariableOp variable);

/// Key of an ONNX file's metadata entry that lists the trained parameters:
/// names of initializers, one per line. No name holds a line break: the
/// importer refuses those that do.
inline constexpr StringLiteral kOnnxParametersKey = "hfta.parameters";

/// A pattern of names as `freeze` and `trainable` take it: a glob of `*`, `?`
/// and `[…]`.
class ParameterPattern {
public:
  explicit ParameterPattern(StringRef text);

  StringRef getText() const { return *text; }
  /// Returns why the text is not a pattern, empty if it is one.
  StringRef getError() const { return error; }
  /// Whether the name matches. False for a text that is not a pattern.
  bool matches(StringRef name) const { return glob && glob->match(name); }

private:
  /// The pattern's text. The glob points into it, so it must not move.
  std::unique_ptr<std::string> text;
  std::optional<llvm::GlobPattern> glob;
  std::string error;
};

/// The `freeze` and `trainable` clauses of a job. A name that both match is
/// trained, so that `freeze "*"` and `trainable "head.*"` train a head alone.
class TrainingClauses {
public:
  TrainingClauses(ArrayRef<std::string> freeze,
                  ArrayRef<std::string> trainable);

  /// Returns the rule of the clause that decides on `name`, if one does.
  std::optional<TrainingRule> decide(StringRef name) const;

  /// Reports an error in a pattern; `isTrainable` and `index` identify the
  /// pattern.
  using Report = llvm::function_ref<void(bool isTrainable, size_t index,
                                         const Twine &message)>;
  /// Checks that each pattern is one and has an effect. `freezable` and
  /// `trainable` are the names that clauses of the two kinds may match. False
  /// after a report.
  bool check(ArrayRef<StringRef> freezable, ArrayRef<StringRef> trainable,
             Report report) const;

private:
  std::string findProblem(const ParameterPattern &pattern,
                          ArrayRef<StringRef> names, bool isTrainable) const;

  std::vector<ParameterPattern> freezePatterns, trainablePatterns;
};

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_TRAINING_H
