//===- ProductSums.cpp - Expected sums of a kernel's product --------------===//

#include "ProductSums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <cmath>
#include <optional>

using namespace mlir;
using namespace mlir::hfta;

using Indices = SmallVector<int64_t>;

static ArrayRef<int64_t> getShape(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getShape();
}

static int64_t getNumber(ArrayRef<int64_t> indices, ArrayRef<int64_t> shape) {
  int64_t number = 0;
  for (auto [index, size] : llvm::zip_equal(indices, shape))
    number = number * size + index;
  return number;
}

namespace {
class KernelSums {
public:
  void setArgument(Value argument, std::vector<float> numbers) {
    tensors[argument] = std::move(numbers);
  }
  void carryOut(Operation *op);

  ProductSums result;

private:
  /// Computes `to`: each element is the element of `from` at the indices that
  /// `find` returns, or `otherwise` if it returns none.
  void move(Value from, Value to,
            llvm::function_ref<std::optional<Indices>(const Indices &)> find,
            float otherwise = 0);
  void compute(linalg::GenericOp op);
  void pad(tensor::PadOp op);
  void slice(tensor::ExtractSliceOp op);
  void transpose(linalg::TransposeOp op);
  void multiply(linalg::GenericOp op);

  DenseMap<Value, std::vector<float>> tensors;
};

/// The linear index of a tensor's element as an affine function of the loops.
struct ElementNumber {
  ElementNumber(AffineMap map, ArrayRef<int64_t> shape);

  int64_t first;
  SmallVector<int64_t> steps; ///< the increment per step of each loop
};

/// Adds up the products of two tensors in nested loops.
struct ProductLoopNest {
  const std::vector<float> &lhs, &rhs;
  std::array<ElementNumber, 3> numbers;
  SmallVector<int64_t> sizes;
  ProductSums &result;

  void run(size_t depth, std::array<int64_t, 3> at);
};
} // namespace

void KernelSums::move(
    Value from, Value to,
    llvm::function_ref<std::optional<Indices>(const Indices &)> find,
    float otherwise) {
  const std::vector<float> source = tensors.lookup(from);
  ArrayRef<int64_t> shape = getShape(to);
  std::vector<float> made;
  Indices indices(shape.size(), 0);
  for (int64_t left = ShapedType::getNumElements(shape); left > 0; --left) {
    std::optional<Indices> at = find(indices);
    made.push_back(at ? source[getNumber(*at, getShape(from))] : otherwise);
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++indices[axis] < shape[axis])
        break;
      indices[axis] = 0;
    }
  }
  tensors[to] = std::move(made);
}

void KernelSums::compute(linalg::GenericOp op) {
  AffineMap map = op.getIndexingMapsArray().front();
  Value result = op->getResult(0);
  move(op.getInputs().front(), result,
       [&](const Indices &indices) { return Indices(map.compose(indices)); });
  if (!op.getBody()->getOps<arith::MaximumFOp>().empty())
    for (float &number : tensors[result])
      number = std::max(number, 0.0F);
}

void KernelSums::pad(tensor::PadOp op) {
  llvm::APFloat by(0.0F);
  matchPattern(op.getConstantPaddingValue(), m_ConstantFloat(&by));
  ArrayRef<int64_t> shape = getShape(op.getSource());
  auto find = [&](const Indices &indices) -> std::optional<Indices> {
    Indices from;
    for (auto [index, low] : llvm::zip(indices, op.getStaticLow()))
      from.push_back(index - low);
    for (auto [index, size] : llvm::zip(from, shape))
      if (index < 0 || index >= size)
        return std::nullopt;
    return from;
  };
  move(op.getSource(), op.getResult(), find,
       static_cast<float>(by.convertToDouble()));
}

void KernelSums::slice(tensor::ExtractSliceOp op) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  move(op.getSource(), op.getResult(), [&](const Indices &indices) {
    Indices from(op.getStaticOffsets());
    const int64_t *next = indices.begin();
    for (auto [axis, index] : llvm::enumerate(from))
      index += dropped[axis] ? 0 : *next++;
    return from;
  });
}

void KernelSums::transpose(linalg::TransposeOp op) {
  move(op.getInput(), op->getResult(0), [&](const Indices &indices) {
    Indices from(indices.size());
    for (auto [to, axis] : llvm::enumerate(op.getPermutation()))
      from[axis] = indices[to];
    return from;
  });
}

ElementNumber::ElementNumber(AffineMap map, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> loops(map.getNumDims(), 0);
  first = getNumber(map.compose(loops), shape);
  for (int64_t &loop : loops) {
    loop = 1;
    steps.push_back(getNumber(map.compose(loops), shape) - first);
    loop = 0;
  }
}

void ProductLoopNest::run(size_t depth, std::array<int64_t, 3> at) {
  if (depth == sizes.size()) {
    double product = double(lhs[at[0]]) * rhs[at[1]];
    result.sums[at[2]] += product;
    result.sizes[at[2]] += std::abs(product);
    return;
  }
  for (int64_t i = 0; i < sizes[depth]; ++i) {
    run(depth + 1, at);
    for (size_t tensor = 0; tensor < at.size(); ++tensor)
      at[tensor] += numbers[tensor].steps[depth];
  }
}

void KernelSums::multiply(linalg::GenericOp op) {
  Value lhs = op.getInputs()[0], rhs = op.getInputs()[1];
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  ArrayRef<int64_t> shape = getShape(op->getResult(0));
  result.sums.assign(ShapedType::getNumElements(shape), 0);
  result.sizes = result.sums;
  ProductLoopNest nest = {tensors[lhs],
                          tensors[rhs],
                          {ElementNumber(maps[0], getShape(lhs)),
                           ElementNumber(maps[1], getShape(rhs)),
                           ElementNumber(maps[2], shape)},
                          op.getStaticLoopRanges(),
                          result};
  nest.run(
      0, {nest.numbers[0].first, nest.numbers[1].first, nest.numbers[2].first});
}

void KernelSums::carryOut(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](linalg::GenericOp generic) {
        if (generic.getNumReductionLoops() > 0)
          multiply(generic);
        else
          compute(generic);
      })
      .Case([&](tensor::PadOp padded) { pad(padded); })
      .Case([&](tensor::ExtractSliceOp sliced) { slice(sliced); })
      .Case([&](linalg::TransposeOp transposed) { transpose(transposed); })
      .Case<tensor::CollapseShapeOp, tensor::ExpandShapeOp>([&](auto reshaped) {
        tensors[reshaped.getResult()] = tensors.lookup(reshaped.getSrc());
      });
}

ProductSums hfta::addProductUp(func::FuncOp kernel,
                               ArrayRef<std::vector<float>> arguments) {
  KernelSums sums;
  for (auto [argument, numbers] :
       llvm::zip_equal(kernel.getArguments(), arguments))
    sums.setArgument(argument, numbers);
  for (Operation &op : kernel.getBody().front())
    sums.carryOut(&op);
  return sums.result;
}
