//===- VariableNames.h - Symbols of variables -------------------*- C++ -*-===//
//
// Whose variable a symbol names. A model's tensors keep the names that its file
// gives them, which in ONNX files may hold any character; what the compiler
// declares itself begins with "hfta.". A model's name that lies there, or where
// functions have theirs, is moved away by `getModelSymbol`, so that no name of
// a user reaches a variable of the compiler. `getOwnName` gives back the name
// that users, checkpoints and exports know.
//
//   step                  "hfta.step"
//   lr, a setting         "hfta.hyper_parameter/lr"
//   gradient of fc.weight "hfta.gradient/fc.weight"
//   "hfta.step" of a file "hfta.model/hfta.step"
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_IR_VARIABLENAMES_H
#define HFTA_DIALECT_HFTA_IR_VARIABLENAMES_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir::hfta::names {

// Scalars that the trainer sets.
constexpr StringLiteral kStep = "hfta.step";
constexpr StringLiteral kMicroBatch = "hfta.micro_batch";
constexpr StringLiteral kFirstSample = "hfta.first_sample";
constexpr StringLiteral kValidSamples = "hfta.valid_samples";
constexpr StringLiteral kSeed = "hfta.seed";
constexpr StringLiteral kLearningRate = "hfta.learning_rate";
constexpr StringLiteral kClipNorm = "hfta.clip_norm";

/// What a step multiplies gradients with.
constexpr StringLiteral kClipScale = "hfta.clip_scale";

// What tasks add up.
constexpr StringLiteral kLoss = "hfta.loss";
/// Sum of the loss' weights over the micro-batches of a step. Where it exists,
/// the loss and the gradients are sums that are still to be divided by it.
constexpr StringLiteral kStepWeight = "hfta.loss/weight";
/// Their quotient.
constexpr StringLiteral kMeanLoss = "hfta.loss/mean";
constexpr StringLiteral kEvaluationLoss = "hfta.evaluation/loss_sum";
constexpr StringLiteral kEvaluationWeight = "hfta.evaluation/weight_sum";
constexpr StringLiteral kEvaluationMetric = "hfta.evaluation/metric_sum";

// Kinds of variables that belong to a port, to another variable, or that are
// counted; see `getSymbol`.
constexpr StringLiteral kInput = "input";
constexpr StringLiteral kInferenceInput = "infer";
constexpr StringLiteral kOutput = "output";
constexpr StringLiteral kGradient = "gradient";
constexpr StringLiteral kNorm = "norm";
constexpr StringLiteral kInitial = "initial";
constexpr StringLiteral kConstant = "constant";
constexpr StringLiteral kSaved = "saved";
constexpr StringLiteral kCut = "cut";

/// Symbols of functions that compute a task, and of kernels, begin so.
constexpr StringLiteral kTaskPrefix = "task/";
constexpr StringLiteral kKernelPrefix = "kernel/";

/// What the compiler declares of a kind for `symbol`: "hfta.kind/symbol".
std::string getSymbol(StringRef kind, StringRef symbol);
/// What belongs to an input or output of the model.
std::string getPortSymbol(StringRef kind, StringRef port);
/// Whether a symbol is one of `getSymbol(kind, ...)`.
bool isOfKind(StringRef symbol, StringRef kind);
/// What a symbol of `getSymbol` belongs to.
StringRef getSubject(StringRef symbol);
/// A setting of the job or its model that may differ between copies.
std::string getHyperParameterSymbol(StringRef name);
/// A tensor that a model's file or a job's layer calls `name`.
std::string getModelSymbol(StringRef name);
/// The name behind a symbol, without the marks of this file: "fc.weight",
/// "gradient/fc.weight", "lr".
std::string getOwnName(StringRef symbol);

} // namespace mlir::hfta::names

#endif // HFTA_DIALECT_HFTA_IR_VARIABLENAMES_H
