//===- NodeGradients.cpp - Gradients of a node against differences --------===//

#include "NodeGradients.h"
#include "GradientTask.h"
#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace mlir::hfta;
using onnx_import::FileTensor;

static constexpr int64_t kCopies = 3;
/// The number of elements of each operand that are perturbed, and the step of
/// the central differences.
static constexpr int64_t kPerturbed = 8;
static constexpr double kStep = 1e-5;
static constexpr double kRelative = 1e-5, kAbsolute = 1e-6;
/// The amplitude of the noise that is added to inputs, so that copies differ
/// and that no input lies exactly at a step or kink of a function.
static constexpr double kNoise = 1e-3;

/// Returns noise in [-1, 1).
static double nextNoise(uint32_t &state) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) / double(1 << 23) - 1;
}

/// Returns an input's elements. Returns zeros for bfloat16 data that ONNX's
/// tests store as integers, because gradients can be checked at any point, and
/// replaces elements that aren't finite by zero, because there is no slope to
/// measure around them.
static SmallVector<double> readNumbers(const FileTensor &input) {
  if (!isa<FloatType>(input.type.getElementType()))
    return SmallVector<double>(input.type.getNumElements());
  SmallVector<double> numbers = onnx_import::readFloats(input);
  for (double &number : numbers)
    if (!std::isfinite(number))
      number = 0;
  return numbers;
}

static void fill(GradientTask &task, unsigned index, const FileTensor &input,
                 uint32_t &state) {
  const hfta_tensor &tensor = task.getOperand(index);
  for (int64_t copy = 0; copy < (tensor.copy_stride ? kCopies : 1); ++copy) {
    void *memory = task.at(tensor, copy);
    if (tensor.type != HFTA_F64) {
      std::memcpy(memory, input.bytes.data(), input.bytes.size());
      continue;
    }
    auto *values = static_cast<double *>(memory);
    for (double number : readNumbers(input))
      *values++ =
          number + kNoise * nextNoise(state) * std::max(1.0, std::fabs(number));
  }
}

/// Returns whether the loss is smooth around this element: it has no step, kink
/// or pole between the perturbed values, so that the differences above and
/// below agree.
static bool isSmooth(const GradientElement &element) {
  double size = std::fabs(element.above) + std::fabs(element.below);
  return std::isfinite(size) &&
         std::fabs(element.above - element.below) <= 1e-4 + 1e-2 * size;
}

/// Returns whether `use` is a running mean or variance that a batch
/// normalization reads. Running statistics have no derivative.
static bool isStatistics(OpOperand &use) {
  auto normalization = dyn_cast<BatchNormOp>(use.getOwner());
  return normalization && (use.get() == normalization.getRunningMean() ||
                           use.get() == normalization.getRunningVariance());
}

static void dropStatistics(func::FuncOp forward) {
  Operation *terminator = forward.getBody().front().getTerminator();
  for (unsigned index = terminator->getNumOperands(); index-- > 0;)
    if (auto result = dyn_cast<OpResult>(terminator->getOperand(index)))
      if (isa<BatchNormOp>(result.getOwner()) && result.getResultNumber() > 0)
        terminator->eraseOperand(index);
}

std::string hfta::findWrongGradient(ModuleOp module, func::FuncOp forward,
                                    const std::vector<FileTensor> &inputs) {
  dropStatistics(forward);
  SmallVector<bool> arrayed, skipped;
  for (BlockArgument argument : forward.getArguments()) {
    arrayed.push_back(argument.getArgNumber() % 2 == 0);
    skipped.push_back(llvm::any_of(argument.getUses(), isStatistics));
  }
  std::unique_ptr<GradientTask> task =
      GradientTask::compile(module, forward, arrayed, kCopies);
  if (!task)
    return "its gradient does not compile";
  uint32_t state = 1;
  for (auto [index, input] : llvm::enumerate(inputs))
    fill(*task, index, input, state);
  std::string wrong;
  bool anyElement = false, anyCompared = false;
  task->measure(kStep, kPerturbed, [&](const GradientElement &element) {
    if (skipped[element.operand])
      return;
    anyElement = true;
    if (!isSmooth(element))
      return;
    anyCompared = true;
    double measured = element.getMeasured();
    if (wrong.empty() && !(std::fabs(element.computed - measured) <=
                           kAbsolute + kRelative * std::fabs(measured)))
      wrong = llvm::formatv("input {0}, copy {1}, element {2}: derivative {3} "
                            "instead of {4}",
                            element.operand, element.copy, element.index,
                            element.computed, measured)
                  .str();
  });
  if (anyElement && !anyCompared)
    return "no element's derivative could be compared";
  return wrong;
}
