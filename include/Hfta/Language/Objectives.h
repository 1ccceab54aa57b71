//===- Objectives.h - One record for each loss and metric -------*- C++ -*-===//
//
// Parser, checks, the manual's tables, and what programs print follow from the
// records. docs/adding-a-loss.md shows how to add one.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LANGUAGE_OBJECTIVES_H
#define HFTA_LANGUAGE_OBJECTIVES_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/Job/Settings.h"
#include "hfta/program.h"

#include "llvm/ADT/StringMap.h"

#include <cfloat>
#include <optional>
#include <string>
#include <vector>

namespace mlir::hfta {

namespace language {
class TensorBuilder;
} // namespace language

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// An argument that a loss or metric takes after its output and label.
struct ObjectiveParameter {
  enum class Kind {
    integer, ///< a whole number, which all copies have
    number,  ///< a number for each copy; becomes a hyper-parameter of the job
    weights, ///< a number or a list of numbers, which all copies have
    flag,    ///< true or false, for all copies; read as an integer, 0 or 1
    word,    ///< one of `words`, for all copies; read as its index
    tensor   ///< an output of the model, a field, or a number for all elements
  };
  llvm::StringLiteral name;
  Kind kind;
  NumberRange range;
  /// As the manual shows it: "-100". Empty: the argument must be given.
  llvm::StringLiteral byDefault;
  /// The words of a `word`, with bars between them: "macro|micro".
  llvm::StringLiteral words = "";

  bool isRequired() const { return byDefault.empty(); }
};

/// The name of the argument that is an axis of the output. A metric without it
/// has the axis of the loss.
inline constexpr llvm::StringLiteral kAxisArgument = "axis";

/// The argument of every loss that is a field of weights, of which records say
/// nothing.
inline constexpr llvm::StringLiteral kElementWeightsArgument = "weights";

/// The range of the weight of a term in a loss of several terms.
inline constexpr NumberRange kTermWeightRange = {-FLT_MAX, FLT_MAX};

/// The arguments that a call gives. A number for each copy is a float of rank
/// 0, which is read at run time.
class ObjectiveArguments {
public:
  void set(llvm::StringRef name, int64_t integer) { integers[name] = integer; }
  void set(llvm::StringRef name, std::vector<double> numbers) {
    weights[name] = std::move(numbers);
  }
  void set(llvm::StringRef name, Value number) { numbers[name] = number; }
  void setTensor(llvm::StringRef name, Value tensor) { tensors[name] = tensor; }

  std::optional<int64_t> findInteger(llvm::StringRef name) const;
  int64_t getInteger(llvm::StringRef name, int64_t byDefault) const {
    return findInteger(name).value_or(byDefault);
  }
  /// Returns the axis, by default the last one.
  int64_t getAxis() const { return getInteger(kAxisArgument, -1); }
  /// Returns an empty list where none is given.
  ArrayRef<double> getWeights(llvm::StringRef name) const;
  /// Returns null where no number is given.
  Value getNumber(llvm::StringRef name) const { return numbers.lookup(name); }
  /// Returns an argument that is a tensor; null where none is given.
  Value getTensor(llvm::StringRef name) const { return tensors.lookup(name); }

private:
  llvm::StringMap<int64_t> integers;
  llvm::StringMap<std::vector<double>> weights;
  llvm::StringMap<Value> numbers, tensors;
};

/// The types that an objective compares. Both tensors have the micro-batch on
/// axis 0.
struct ObjectiveTypes {
  RankedTensorType output, label;
};

/// An error in arguments or types; an empty message: there is none.
struct ObjectiveError {
  std::string message;
  std::string hint = ""; ///< empty: the labels that the objective takes
  explicit operator bool() const { return !message.empty(); }
};

/// The contents of a label.
enum class LabelKind {
  classNumbers,  ///< the number of a class along the output's axis
  probabilities, ///< a probability for each class along the output's axis
  values         ///< a number for each element of the output
};

/// The operands of a loss or metric, at the place where it is built.
struct ObjectiveOperands {
  language::TensorBuilder &tensors;
  const ObjectiveArguments &arguments;
  Value output, label;

  ObjectiveTypes getTypes() const;
};

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

/// Keys of random numbers, besides the name of their stream. All are i64
/// scalars.
struct RandomKeys {
  Value seed, step, firstSample;
};

/// The tensors that a loss consists of. All have the same shape.
struct Loss {
  Value losses;  ///< a loss per element, even for ignored elements
  Value weights; ///< 1 where the element counts, 0 where it is ignored
  /// The values by whose sum the mean divides; null if these are `weights`.
  Value divisors;
  /// Losses for targets that are drawn from the distribution that the output
  /// describes. Only their gradient with respect to the output is meaningful.
  /// Null if no targets are drawn.
  Value drawnLosses;
};

/// The whole numbers that a field may hold: `count` numbers from `first` on,
/// and `ignored`.
struct FieldRange {
  int64_t first, count, ignored;
};

/// A loss of the job language.
struct LossInfo {
  llvm::StringLiteral name;
  /// The parameters after output and label, in the order of positional
  /// arguments.
  llvm::ArrayRef<ObjectiveParameter> parameters;
  llvm::StringLiteral text; ///< for docs/language.md
  /// The labels that it takes, for messages: "cross_entropy takes " precedes.
  llvm::StringLiteral takes;
  /// Returns the contents of the label. Null: values.
  LabelKind (*classify)(const ObjectiveArguments &arguments,
                        ObjectiveTypes types);
  /// Checks arguments and types. The output is a float.
  ObjectiveError (*check)(const ObjectiveArguments &arguments,
                          ObjectiveTypes types);
  /// Builds the loss. With `keys`, losses for drawn targets are built too.
  /// Targets are independent for each element, so that the mean of g gᵀ, where
  /// g is the gradient of a drawn loss with respect to the output, is the
  /// Fisher matrix.
  Loss (*build)(const ObjectiveOperands &operands,
                const std::optional<RandomKeys> &keys);
  /// Whether the output describes a distribution that targets can be drawn
  /// from.
  bool draws = true;
  /// The name of the argument after the output; empty: there is none, and the
  /// label is the number 0.
  llvm::StringLiteral labelName = "label";
  /// Returns what the argument `name`, the label or a tensor, may hold;
  /// nothing: any numbers. Null: only class numbers have a range, and it
  /// follows from the classes.
  std::optional<FieldRange> (*limit)(const ObjectiveArguments &arguments,
                                     ObjectiveTypes types,
                                     llvm::StringRef name) = nullptr;

  LabelKind getLabelKind(const ObjectiveArguments &arguments,
                         ObjectiveTypes types) const {
    return classify ? classify(arguments, types) : LabelKind::values;
  }
};

llvm::ArrayRef<LossInfo> getLosses();
/// Finds a loss by its name; null if there is none.
const LossInfo *findLoss(llvm::StringRef name);

//===----------------------------------------------------------------------===//
// Metrics
//===----------------------------------------------------------------------===//

/// The values of each element that a metric follows from, in integers, booleans
/// or the output's element type.
struct MetricValues {
  Value labels;       ///< in a mean, the values that are averaged
  Value guesses = {}; ///< classes, predictions or scores; null in a mean
};

/// How a metric follows from these values, as hfta_metric says.
struct MetricForm {
  hfta_metric_kind kind = HFTA_METRIC_MEAN;
  hfta_metric_average average = HFTA_AVERAGE_MACRO;
  bool isLabeled = false;
  int64_t classes = 1;
};

/// A metric of the job language, which is measured on test data. Its elements
/// have the weights of the loss' elements.
struct MetricInfo {
  llvm::StringLiteral name;
  /// The parameters after output and label, in the order of positional
  /// arguments. A metric has none of the kinds `number` and `tensor`.
  llvm::ArrayRef<ObjectiveParameter> parameters;
  llvm::StringLiteral text; ///< for docs/language.md
  /// The labels that it takes, for messages: "accuracy takes " precedes.
  llvm::StringLiteral takes;
  /// Returns the name in logs and tables, such as "top_5". Null: `name`.
  std::string (*describe)(const ObjectiveArguments &arguments);
  /// Checks arguments and types. The output is a float.
  ObjectiveError (*check)(const ObjectiveArguments &arguments,
                          ObjectiveTypes types);
  /// Returns how it follows from the values. Null: it is their mean.
  MetricForm (*getForm)(const ObjectiveArguments &arguments,
                        ObjectiveTypes types);
  /// Builds the values of the loss' elements. Labels and guesses have a value
  /// for each of these, scores of classes have the classes on a further last
  /// axis. The label has class numbers or values: JobBuilder replaces
  /// probabilities by the likeliest class.
  MetricValues (*build)(const ObjectiveOperands &operands);
  /// Whether it is a share of elements, which programs print in percent.
  bool isShare;
  /// Whether larger values are better. It decides which copy is the best one.
  bool isHigherBetter;
  /// Whether it is a matrix, by which copies can't be compared.
  bool isMatrix = false;

  std::string getTitle(const ObjectiveArguments &arguments) const {
    return describe ? describe(arguments) : name.str();
  }
};

llvm::ArrayRef<MetricInfo> getMetrics();
/// Finds a metric by its name; null if there is none.
const MetricInfo *findMetric(llvm::StringRef name);

/// Adds one more loss while it lives, to test what is derived from a record. It
/// must be made before anything reads the records, by a single thread.
class ScratchLoss {
public:
  explicit ScratchLoss(const LossInfo &loss);
  ~ScratchLoss();
  ScratchLoss(const ScratchLoss &) = delete;
  ScratchLoss &operator=(const ScratchLoss &) = delete;
};

} // namespace mlir::hfta

#endif // HFTA_LANGUAGE_OBJECTIVES_H
