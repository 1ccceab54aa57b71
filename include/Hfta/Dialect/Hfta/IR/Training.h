//===- Training.h - Why a parameter is trained or not -----------*- C++ -*-===//
//
// Which parameters a job trains follows from the model's file and from the
// job's clauses. The front ends decide, and note on each variable the rule by
// which they decided. Messages and the compiled program repeat this rule.
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

/// The rules that decide whether a parameter is trained (HFTA_TRAINING_RULES).
enum class TrainingRule : uint32_t {
#define HFTA_TRAINING_RULE(identifier, number, trained, word, text)            \
  identifier = (number),
  HFTA_TRAINING_RULES
#undef HFTA_TRAINING_RULE
};

/// Returns whether parameters to which `rule` applies are trained.
bool isTrained(TrainingRule rule);
/// Returns the rule in words for a message, such as "by a freeze clause".
StringRef describe(TrainingRule rule);

/// Makes the variable trained or frozen, as the rule says, and notes the rule
/// on it.
void setTrainingRule(VariableOp variable, TrainingRule rule);
/// Returns the rule noted on a variable, or the one that follows from its
/// `trained` flag.
TrainingRule getTrainingRule(VariableOp variable);

/// Key of the metadata entry of an ONNX file that lists the trained parameters:
/// the names of initializers, one per line. The importer refuses files with a
/// line break in a name.
inline constexpr StringLiteral kOnnxParametersKey = "hfta.parameters";

/// A pattern of parameter names in a clause `freeze` or `trainable`: a glob
/// with `*`, `?` and `[…]`.
class ParameterPattern {
public:
  explicit ParameterPattern(StringRef text);

  StringRef getText() const { return *text; }
  /// Returns why the text is not a valid pattern; empty if it is valid.
  StringRef getError() const { return error; }
  /// Returns whether the name matches; false if the pattern is invalid.
  bool matches(StringRef name) const { return glob && glob->match(name); }

private:
  /// The pattern's text, on the heap because the glob keeps a reference to it
  /// when this object is moved.
  std::unique_ptr<std::string> text;
  std::optional<llvm::GlobPattern> glob;
  std::string error;
};

/// Returns whether any of the patterns matches the name.
bool anyMatches(ArrayRef<ParameterPattern> patterns, StringRef name);

/// Checks a pattern that may match `names`, which are names of what `kind`
/// says. A pattern has no effect if it matches none of them, or if others,
/// `stronger`, match all that it does: `overruled` then says so. Returns the
/// end of an error message that begins with the pattern, or an empty string.
std::string findProblem(const ParameterPattern &pattern,
                        ArrayRef<StringRef> names, const Twine &kind,
                        ArrayRef<ParameterPattern> stronger,
                        const Twine &overruled);

/// The `freeze` and `trainable` clauses of a job. A name that both match is
/// trained, so that `freeze "*"` and `trainable "head.*"` train a head alone.
class TrainingClauses {
public:
  TrainingClauses(ArrayRef<std::string> freeze,
                  ArrayRef<std::string> trainable);

  /// Returns the rule of the clause that matches `name`, or nothing if none
  /// does.
  std::optional<TrainingRule> decide(StringRef name) const;

  /// Called for each wrong pattern. `isTrainable` and `index` identify the
  /// pattern.
  using Report = llvm::function_ref<void(bool isTrainable, size_t index,
                                         const Twine &message)>;
  /// Checks that each pattern is valid and has an effect. `freezable` and
  /// `trainable` are the names that the patterns of the two clauses may match.
  /// Returns false if it has reported an error.
  bool check(ArrayRef<StringRef> freezable, ArrayRef<StringRef> trainable,
             Report report) const;

private:
  std::vector<ParameterPattern> freezePatterns, trainablePatterns;
};

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_TRAINING_H
