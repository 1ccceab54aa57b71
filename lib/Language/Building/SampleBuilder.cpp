//===- SampleBuilder.cpp - Builds values of a field's samples -------------===//

#include "Building/SampleBuilder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

Value SampleBuilder::draw(const FieldCall &call, const Twine &what,
                          int64_t count, ArrayRef<int64_t> shape) {
  std::string stream = names::getCompilerSymbol(
      "augment/" + call.function->name + "/" + Twine(call.number) + "/" +
      Twine(call.view) + "/" + what);
  SmallVector<int64_t> all(shape);
  all.insert(all.begin(), count);
  return tensors.create<RandomUniformOp>(
      keys.seed, keys.epochs, keys.samples, all, names::hash(stream),
      /*per_sample=*/true, tensors.getFloatType());
}

Value SampleBuilder::drawChoice(const FieldCall &call, int64_t count) {
  return tensors.compare(ComparePredicate::less, draw(call, "chosen", count),
                         call.getNumber("p"));
}

Value SampleBuilder::findInside(const Box &box, Value like) {
  ArrayRef<int64_t> shape = getShape(like);
  int64_t rank = static_cast<int64_t>(shape.size());
  // Rows and columns are compared one by one, and elements only take both
  // results.
  auto isBetween = [&](Value first, Value end, int64_t axis) {
    Value place = tensors.create<IotaOp>(
        ArrayRef<int64_t>{shape.front(), shape[axis]}, 1, getPlaceType());
    Value isInside = tensors.create<AndOp>(
        tensors.compare(ComparePredicate::greater_equal, place,
                        spread(first, place)),
        tensors.compare(ComparePredicate::less, place, spread(end, place)));
    return tensors.broadcast(isInside, shape, {0, axis});
  };
  return tensors.create<AndOp>(isBetween(box.top, box.bottom, rank - 2),
                               isBetween(box.left, box.right, rank - 1));
}

Value SampleBuilder::scaleToIndex(Value uniform, int64_t size, Type indexType) {
  // The product is below `size`, even after it is rounded: the largest number
  // is one by at least as much as half of the distance to the next smaller one.
  return tensors.cast(tensors.binary<MulOp>(uniform, static_cast<double>(size)),
                      indexType);
}

Type SampleBuilder::getIndexType(Value x) {
  // Sums of three indices of elements occur.
  bool isNarrow =
      3 * getTensorType(x).getNumElements() < static_cast<int64_t>(INT32_MAX);
  return tensors.getBuilder().getIntegerType(isNarrow ? 32 : 64);
}

Value SampleBuilder::takePlaces(Value x, Value rows, Value columns) {
  ArrayRef<int64_t> from = getShape(x);
  int64_t rank = static_cast<int64_t>(from.size());
  int64_t height = from[rank - 2], width = from[rank - 1];
  int64_t elements = getTensorType(x).getNumElements();
  Type type = getIndexType(x);
  // An index outside stands for an element after the last one, whatever is
  // added to it.
  auto limit = [&](Value places, int64_t size, int64_t outside) {
    Value isInside = tensors.create<AndOp>(
        tensors.compare(ComparePredicate::greater_equal, places, 0.0),
        tensors.compare(ComparePredicate::less, places,
                        static_cast<double>(size)));
    return tensors.select(
        isInside, places,
        tensors.splatLike(places, static_cast<double>(outside)));
  };
  // First number the rows of the whole batch, then its elements.
  SmallVector<int64_t> shape(from.drop_back());
  shape.back() = getShape(rows)[1];
  Value row = tensors.broadcast(limit(rows, height, elements / width), shape,
                                {0, rank - 2});
  int64_t stride = height;
  for (int64_t axis = rank - 3; axis >= 0; --axis) {
    Value index = tensors.create<IotaOp>(shape, axis, type);
    row = tensors.binary<AddOp>(
        row, tensors.binary<MulOp>(index, static_cast<double>(stride)));
    stride *= from[axis];
  }
  Value first = tensors.binary<MulOp>(row, static_cast<double>(width));
  shape.push_back(getShape(columns)[1]);
  Value place = tensors.binary<AddOp>(
      tensors.broadcast(first, shape,
                        llvm::to_vector(llvm::seq<int64_t>(0, rank - 1))),
      tensors.broadcast(limit(columns, width, elements), shape, {0, rank - 1}));
  return tensors.create<GatherOp>(tensors.reshape(x, {elements}), place,
                                  /*axis=*/0);
}
