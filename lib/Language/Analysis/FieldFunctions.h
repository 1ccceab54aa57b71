//===- FieldFunctions.h - Functions of fields in data blocks ----*- C++ -*-===//

#ifndef HFTA_LIB_LANGUAGE_ANALYSIS_FIELDFUNCTIONS_H
#define HFTA_LIB_LANGUAGE_ANALYSIS_FIELDFUNCTIONS_H

#include "Analysis/Arguments.h"
#include "mlir/IR/Value.h"

namespace mlir::hfta::language {

class SampleBuilder;
struct FieldCall;

/// An argument of a function of fields, after the data: one or two numbers.
struct FieldParameter {
  enum class Form {
    number,
    sides,   ///< two numbers, or one that stands for both
    interval ///< two numbers, the second one at least as large
  };
  llvm::StringRef name;
  NumberRange range;
  std::vector<double> initial; ///< empty: nothing
  bool required = false;
  Form form = Form::number;
  bool isElement = false; ///< whether it becomes an element of samples
};

/// A function in the expression of a field: an augmentation, which draws
/// numbers and changes training data only, or one that computes the same for
/// all data. The tables of these records are in Building, next to the code that
/// builds ops for the functions.
struct FieldFunction {
  /// How a function uses the sample's partner, another one of the batch.
  enum class Mixing {
    none,
    own, ///< mixes samples, as it draws
    like ///< mixes them in the shares in which another field's call does, which
         ///< stands after the data in place of parameters
  };

  llvm::StringRef name;
  std::vector<FieldParameter> parameters;
  bool isRandom;    ///< whether it is an augmentation
  bool givesFloats; ///< whether the result always has floats
  /// Changes the shape of a sample to that of the result. Returns what is wrong
  /// with the arguments for samples of this shape; empty: nothing.
  std::string (*reshape)(const FieldCall &call, std::vector<int64_t> &shape);
  /// Build the result of samples, one for each index along axis 0: in training,
  /// and otherwise. Without the second function, an augmentation passes samples
  /// on unchanged, and another function computes the same.
  Value (*build)(SampleBuilder &samples, const FieldCall &call, Value value);
  Value (*buildPlain)(SampleBuilder &samples, const FieldCall &call,
                      Value value) = nullptr;
  Mixing mixing = Mixing::none;
  /// For Mixing::own: builds the sample's share in the mixture, for each of
  /// `count` samples of `shape`.
  Value (*buildShares)(SampleBuilder &samples, const FieldCall &call,
                       int64_t count, llvm::ArrayRef<int64_t> shape) = nullptr;
  /// Whether it takes class numbers: whole numbers from 0 on, below a parameter
  /// `classes`.
  bool takesClasses = false;
};

/// A call of such a function.
struct FieldCall {
  const FieldFunction *function = nullptr;
  std::vector<std::vector<double>> values; ///< one list for each parameter
  /// The number of the view: fields of one view are augmented alike.
  int64_t view = 0;
  /// How many earlier calls of the field are of the same function and view.
  int64_t number = 0;
  std::string like; ///< for Mixing::like: the field that is mixed likewise

  bool isMixing() const {
    return function && function->mixing != FieldFunction::Mixing::none;
  }
  llvm::ArrayRef<double> getNumbers(llvm::StringRef parameter) const;
  double getNumber(llvm::StringRef parameter) const {
    return getNumbers(parameter).front();
  }
  /// Returns whether the result has floats, whatever the data have.
  bool givesFloats() const;
  /// Returns the call in the words of a job, without the data.
  std::string print() const;
  bool equals(const FieldCall &other) const {
    return function == other.function && values == other.values &&
           view == other.view && like == other.like;
  }
};

/// Returns the function with this name, or null if there is none.
const FieldFunction *findFieldFunction(llvm::StringRef name);
std::vector<llvm::StringRef> getFieldFunctionNames();

// The tables.
llvm::ArrayRef<FieldFunction> getAugmentations();
llvm::ArrayRef<FieldFunction> getMixtures();
llvm::ArrayRef<FieldFunction> getClassFunctions();

} // namespace mlir::hfta::language

#endif // HFTA_LIB_LANGUAGE_ANALYSIS_FIELDFUNCTIONS_H
