//===- GradientComparison.h - A program beside its record -------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_GRADIENTCOMPARISON_H
#define HFTA_LIB_DRIVER_GRADIENTCOMPARISON_H

#include "GradientRecord.h"

#include "hfta/instance.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::hfta {

/// Numbers of a program and of its record are equal if they differ by at most
/// kAbsoluteTolerance + kRelativeTolerance · m, with m the largest magnitude
/// among the numbers that the record has for the tensor. Rounding in f64 is far
/// below that; but ONNX files hold constants, such as epsilons, as f32.
inline constexpr double kAbsoluteTolerance = 1e-8;
inline constexpr double kRelativeTolerance = 1e-5;

enum class ComparedKind { loss, gradient, statistic };

/// A tensor, or the loss, of one step.
struct ComparedTensor {
  ComparedKind kind;
  llvm::StringRef name; ///< empty for the loss
  double difference;    ///< the largest; NaN if the program has a NaN
  double largest = 0;   ///< the largest magnitude in the record
  llvm::StringRef note; ///< a word on a tensor that one side lacks

  double getTolerance() const {
    return kAbsoluteTolerance + kRelativeTolerance * largest;
  }
  bool isEqual() const { return difference <= getTolerance(); }
};

/// Runs a program on the record's batch and compares it step by step. The
/// program has one copy, which plain gradient descent trains, in f64, with the
/// record's rate: a step's gradient is what it changes, divided by the rate.
class GradientComparison {
public:
  /// Both arguments must outlive the comparison and its results.
  GradientComparison(const hfta_program &program, const GradientRecord &record)
      : program(program), record(record) {}
  ~GradientComparison() { hfta_instance_destroy(instance); }

  /// Prepares the program for its first step. Errors, here and below, are about
  /// a record that doesn't fit the program, or about memory.
  hfta_status begin(hfta_error &error);
  /// Runs the next step. The results begin with the loss; gradients, then
  /// statistics, follow in the record's order. What one side doesn't train has
  /// the gradient zero there.
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
  /// Reads what is trained into `tensors`, and statistics into `others`.
  hfta_status read(Values &tensors, Values &others) const;
  static void compareTensors(ComparedKind kind,
                             llvm::ArrayRef<RecordedTensor> recorded,
                             const Values &mine, const Values &idle,
                             std::vector<ComparedTensor> &results);

  const hfta_program &program;
  const GradientRecord &record;
  hfta_instance *instance = nullptr;
  std::vector<const void *> fields; ///< the batch, in the data block's order
  size_t step = 0;                  ///< steps that are done
  Indices trained, statistics;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_GRADIENTCOMPARISON_H
