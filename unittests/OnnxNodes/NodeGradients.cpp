//===- NodeGradients.cpp - A node's derivative by its inputs --------------===//

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
/// The number of an operand's elements that are perturbed, and by how much.
static constexpr int64_t kPerturbed = 8;
static constexpr double kStep = 1e-5;
static constexpr double kRelative = 1e-5, kAbsolute = 1e-6;
/// The noise on the inputs, so that none lies on a step or kink and copies
/// differ.
static constexpr double kNoise = 1e-3;

/// Returns noise in [-1, 1).
static double nextNoise(uint32_t &state) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) / double(1 << 23) - 1;
}

/// Returns an input's numbers. Some bfloat16 data of ONNX' tests are stored as
/// integers, for which any numbers do; infinities, around which there is no
/// slope to measure, become zero.
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

/// Whether the loss has a slope at this element: no step, no kink, no pole.
static bool isSmooth(const GradientElement &element) {
  double size = std::fabs(element.above) + std::fabs(element.below);
  return std::isfinite(size) &&
         std::fabs(element.above - element.below) <= 1e-4 + 1e-2 * size;
}

/// Whether the operand is running statistics, which have no derivative, neither
/// those that are read nor those that are written.
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
