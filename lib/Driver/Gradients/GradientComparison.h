//===- GradientComparison.h - Compares a program with a record --*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_GRADIENTS_GRADIENTCOMPARISON_H
#define HFTA_LIB_DRIVER_GRADIENTS_GRADIENTCOMPARISON_H

#include "Gradients/GradientRecord.h"

#include "hfta/instance.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::hfta {

/// A program's numbers are equal to those of the record if they differ by at
/// most kAbsoluteTolerance + kRelativeTolerance · m, where m is the largest
/// magnitude among the record's numbers for the tensor. Rounding errors of f64
/// are far smaller than this; but ONNX files hold constants, such as epsilons,
/// as f32.
inline constexpr double kAbsoluteTolerance = 1e-8;
inline constexpr double kRelativeTolerance = 1e-5;

enum class ComparedKind { loss, gradient, statistic };

/// The result of comparing a tensor, or the loss, in one step.
struct ComparedTensor {
  ComparedKind kind;
  llvm::StringRef name; ///< empty for the loss
  double difference;    ///< the largest one; NaN if the program has a NaN
  double largest = 0;   ///< the largest magnitude in the record
  llvm::StringRef note; ///< a remark on a tensor that only one side has

  double getTolerance() const {
    return kAbsoluteTolerance + kRelativeTolerance * largest;
  }
  bool isEqual() const { return difference <= getTolerance(); }
};

/// Runs a program on the record's batch and compares the two step by step. The
/// program trains one copy in f64 by plain gradient descent, with the record's
/// learning rate, so that a step's gradient is the change of the weights
/// divided by the rate.
class GradientComparison {
public:
  /// Both arguments must outlive the comparison and its results.
  GradientComparison(const hfta_program &program, const GradientRecord &record)
      : program(program), record(record) {}
  ~GradientComparison() { hfta_instance_destroy(instance); }

  /// Creates the program's instance. Errors of this function and of `runStep`
  /// are about memory, or about a record that doesn't fit the program.
  hfta_status begin(hfta_error &error);
  /// Runs the next step and appends its results: the loss, gradients, then
  /// statistics, the latter two in the record's order. The gradient of a tensor
  /// that one side doesn't train counts as zero there.
  hfta_status runStep(std::vector<ComparedTensor> &results, hfta_error &error);

private:
  using Numbers = std::vector<double>;
  using Indices = llvm::MapVector<llvm::StringRef, uint32_t>;
  using Values = llvm::MapVector<llvm::StringRef, Numbers>;

  hfta_status checkPorts(hfta_error &error) const;
  hfta_status bindFields(hfta_error &error);
  void findTensors();
  hfta_status checkShapes(llvm::ArrayRef<RecordedTensor> recorded,
                          const Indices &indices, hfta_error &error) const;
  /// Reads trained tensors into `tensors`, and running statistics into
  /// `others`.
  hfta_status read(Values &tensors, Values &others) const;
  static void compareTensors(ComparedKind kind,
                             llvm::ArrayRef<RecordedTensor> recorded,
                             const Values &mine, const Values &idle,
                             std::vector<ComparedTensor> &results);

  const hfta_program &program;
  const GradientRecord &record;
  hfta_instance *instance = nullptr;
  std::vector<const void *> fields; ///< the batch, in the data block's order
  size_t step = 0;                  ///< the number of steps that are done
  Indices trained, statistics;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_GRADIENTS_GRADIENTCOMPARISON_H
