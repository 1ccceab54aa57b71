//===- GradientRecord.h - A training by another framework -------*- C++ -*-===//
//
// A record is a safetensors file that python/hfta/export.py writes next to an
// ONNX file. It holds a batch, and the losses, gradients and running statistics
// of a few steps with this batch. docs/exporting.md describes the format.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_DRIVER_GRADIENTS_GRADIENTRECORD_H
#define HFTA_LIB_DRIVER_GRADIENTS_GRADIENTRECORD_H

#include "Hfta/Support/ExitCode.h"

#include "hfta/safetensors.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <string>
#include <vector>

namespace mlir::hfta {

/// A tensor of the record. Its memory belongs to the record's file.
struct RecordedTensor {
  llvm::StringRef name; ///< as in the ONNX file
  const hfta_tensor_view *view;
};

/// The results of one step.
struct RecordedStep {
  double loss; ///< at the beginning of the step
  std::vector<RecordedTensor> gradients;
  std::vector<RecordedTensor> statistics; ///< after the step
};

class GradientRecord {
public:
  /// Opens a record and checks all that can be checked without the model. After
  /// an error, which is written to `errors`, `record` is null.
  static ExitCode open(llvm::StringRef path, llvm::raw_ostream &errors,
                       std::unique_ptr<GradientRecord> &record);
  ~GradientRecord() { hfta_safetensors_close(file); }

  llvm::StringRef getPath() const { return path; }
  /// Returns the SHA-256 of the ONNX file that the record belongs to, in
  /// hexadecimal digits.
  llvm::StringRef getModelDigest() const { return modelDigest; }
  /// Returns the model's inputs, in the order of the ONNX file.
  llvm::ArrayRef<RecordedTensor> getInputs() const { return inputs; }
  const hfta_tensor_view &getTarget() const { return *target; }
  /// Returns the name of the output that the loss compares with the target.
  llvm::StringRef getOutput() const { return output; }
  /// Returns the name of the loss in the job language, such as "mse";
  /// `getLossArguments` returns the arguments that follow output and target,
  /// which may be empty.
  llvm::StringRef getLoss() const { return loss; }
  llvm::StringRef getLossArguments() const { return lossArguments; }
  /// Returns the learning rate of the gradient descent.
  double getLearningRate() const { return learningRate; }
  int64_t getBatch() const { return inputs.front().view->shape[0]; }
  llvm::ArrayRef<RecordedStep> getSteps() const { return steps; }

private:
  explicit GradientRecord(llvm::StringRef path) : path(path) {}
  GradientRecord(const GradientRecord &) = delete;

  llvm::Error readMetadata();
  llvm::Error checkDigest() const;
  llvm::Error readLosses();
  llvm::Error readTensors();
  llvm::Error addTensor(const hfta_tensor_view &view);
  llvm::Error addResult(llvm::StringRef name, const hfta_tensor_view &view);
  llvm::Error checkBatch() const;
  llvm::Error fail(const llvm::Twine &reason) const;
  llvm::StringRef getMetadata(const char *key) const;

  std::string path;
  hfta_safetensors *file = nullptr;
  std::string modelDigest, output, loss, lossArguments;
  double learningRate = 0;
  std::vector<RecordedTensor> inputs;
  const hfta_tensor_view *target = nullptr;
  std::vector<RecordedStep> steps;
};

/// Returns the numbers of an f64 tensor.
std::vector<double> readNumbers(const hfta_tensor_view &view);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_GRADIENTS_GRADIENTRECORD_H
