//===- ModelIdentity.cpp - A model's identity in checkpoints --------------===//

#include "Hfta/Pipelines/ModelIdentity.h"
#include "Hfta/Dialect/Hfta/IR/Norms.h"
#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"

#include "Hfta/Import/Onnx/Import.h"
#include "Hfta/Pipelines/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;
using namespace mlir::hfta;

/// Constants with at most this many elements are part of the graph's identity;
/// larger ones count as weights.
static constexpr int64_t kMaxGraphConstant = 16;

//===----------------------------------------------------------------------===//
// Axes of the batch
//===----------------------------------------------------------------------===//

namespace {
/// Finds the axes of a model's values along which samples are numbered, as far
/// as the graph shows them. Doubtful axes are included.
class BatchAxes {
public:
  explicit BatchAxes(func::FuncOp forward) {
    for (Value argument : forward.getArguments())
      mark(argument, {0});
    for (Operation &op : forward.getBody().front().without_terminator())
      visit(op);
  }

  bool contains(Value value, int64_t axis) const {
    auto known = axes.find(value);
    return known != axes.end() && axis < int64_t(known->second.size()) &&
           known->second.test(axis);
  }
  /// Returns whether a value depends on the model's inputs.
  bool isOfData(Value value) const { return axes.contains(value); }

private:
  void mark(Value value, ArrayRef<int64_t> marked) {
    llvm::SmallBitVector &bits = axes[value];
    bits.resize(getShape(value).size());
    for (int64_t axis : marked)
      if (axis < int64_t(bits.size()))
        bits.set(axis);
  }

  /// Marks axes of the result to which marked axes of the input move: axis i
  /// becomes axis `places[i]`, or vanishes if that is -1.
  void move(Value input, ArrayRef<int64_t> places, Value result) {
    SmallVector<int64_t> moved;
    for (auto [axis, place] : llvm::enumerate(places))
      if (place >= 0 && contains(input, axis))
        moved.push_back(place);
    mark(result, moved);
  }

  void visit(Operation &op);
  void visitReshape(Value input, Value result);

  DenseMap<Value, llvm::SmallBitVector> axes;
};
} // namespace

/// Follows samples through a reshape, which joins and splits axes in row-major
/// order. If samples are the first of the axes that are joined, they are also
/// the first of the resulting axes.
void BatchAxes::visitReshape(Value input, Value result) {
  ArrayRef<int64_t> from = getShape(input), to = getShape(result);
  SmallVector<int64_t> marked;
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    size_t firstIn = i, firstOut = j;
    // Multiply with saturation: if a tensor has no elements, other axes may
    // have a product that exceeds 64 bits.
    uint64_t in = i < from.size() ? from[i++] : 1;
    uint64_t out = j < to.size() ? to[j++] : 1;
    while (in != out && (i < from.size() || j < to.size())) {
      if ((in < out || j == to.size()) && i < from.size())
        in = llvm::SaturatingMultiply<uint64_t>(in, from[i++]);
      else
        out = llvm::SaturatingMultiply<uint64_t>(out, to[j++]);
    }
    bool isFirst = contains(input, firstIn), isAny = false;
    for (size_t axis = firstIn; axis < i; ++axis)
      isAny |= contains(input, axis);
    for (size_t axis = firstOut; axis < j && isAny; ++axis)
      if (axis == firstOut || !isFirst)
        marked.push_back(axis);
  }
  mark(result, marked);
}

void BatchAxes::visit(Operation &op) {
  if (llvm::none_of(op.getOperands(),
                    [&](Value operand) { return isOfData(operand); }))
    return;
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return visitReshape(reshape.getInput(), reshape.getResult());
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    return move(broadcast.getInput(), broadcast.getDimensions(),
                broadcast.getResult());
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    SmallVector<int64_t> places(transpose.getPermutation().size());
    for (auto [place, axis] : llvm::enumerate(transpose.getPermutation()))
      places[axis] = place;
    return move(transpose.getInput(), places, transpose.getResult());
  }
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    SmallVector<int64_t> places;
    int64_t next = 0;
    for (size_t axis = 0; axis < getShape(reduce.getInput()).size(); ++axis)
      places.push_back(
          llvm::is_contained(reduce.getAxes(), static_cast<int64_t>(axis))
              ? -1
              : next++);
    return move(reduce.getInput(), places, reduce.getResult());
  }
  // Other ops keep samples on their axis, or on the first axis if the rank
  // changes.
  for (Value result : op.getResults())
    for (Value operand : op.getOperands()) {
      int64_t rank = getShape(operand).size();
      if (rank == static_cast<int64_t>(getShape(result).size()))
        move(operand, llvm::to_vector(llvm::seq<int64_t>(0, rank)), result);
      else
        mark(result,
             contains(operand, 0) ? ArrayRef<int64_t>{0} : ArrayRef<int64_t>());
    }
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

namespace {
/// Prints a graph without anything that depends on the batch size, to be
/// hashed.
class GraphPrinter {
public:
  GraphPrinter(func::FuncOp forward, raw_ostream &os)
      : forward(forward), axes(forward), os(os) {}

  void print() {
    Block &block = forward.getBody().front();
    define(block.getArguments());
    for (Operation &op : block)
      if (!isTransparent(op))
        printOp(op);
      else
        numbers[op.getResult(0)] = numbers.lookup(op.getOperand(0));
  }

private:
  void define(ValueRange values) {
    for (Value value : values)
      numbers.try_emplace(value, next++);
  }
  bool isTransparent(Operation &op) const;
  void printOp(Operation &op);
  void printConstant(ConstantOp constant);
  void printSlice(SliceOp slice);
  bool dependsOnBatch(Operation &op, NamedAttribute attribute) const;

  func::FuncOp forward;
  BatchAxes axes;
  raw_ostream &os;
  DenseMap<Value, unsigned> numbers;
  unsigned next = 0;
};
} // namespace

/// Returns whether the op only changes a weight's rank and shape to those of
/// other operands. Such ops aren't printed, since a batch of one sample may not
/// need them.
bool GraphPrinter::isTransparent(Operation &op) const {
  if (isa<ReshapeOp>(op))
    return !axes.isOfData(op.getOperand(0));
  auto broadcast = dyn_cast<BroadcastOp>(op);
  if (!broadcast)
    return false;
  auto rank = static_cast<int64_t>(getShape(broadcast.getResult()).size());
  ArrayRef<int64_t> dimensions = broadcast.getDimensions();
  int64_t first = rank - static_cast<int64_t>(dimensions.size());
  return llvm::equal(dimensions, llvm::seq<int64_t>(first, rank));
}

/// Prints a constant, without values that depend on the batch size, and without
/// the shape if all elements are equal.
void GraphPrinter::printConstant(ConstantOp constant) {
  ElementsAttr value = constant.getValue();
  os << ' ' << value.getShapedType().getElementType();
  if (constant->hasAttr(kFollowsBatchAttrName))
    return;
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (dense && dense.isSplat())
    os << ' ' << dense.getSplatValue<Attribute>();
  else if (value.getNumElements() <= kMaxGraphConstant)
    os << ' ' << value;
  else
    os << ' ' << value.getShapedType();
}

void GraphPrinter::printSlice(SliceOp slice) {
  for (auto [axis, size] : llvm::enumerate(getShape(slice.getInput()))) {
    int64_t offset = slice.getOffsets()[axis],
            stride = slice.getStrides()[axis];
    bool isWhole = offset == 0 && stride == 1 && slice.getSizes()[axis] == size;
    os << " [";
    if (!isWhole && !axes.contains(slice.getInput(), axis))
      os << offset << ':' << slice.getSizes()[axis] << ':' << stride;
    os << ']';
  }
}

bool GraphPrinter::dependsOnBatch(Operation &op,
                                  NamedAttribute attribute) const {
  StringRef name = attribute.getName();
  if (name == "shape" || name == "per_sample")
    return true;
  auto scatter = dyn_cast<ScatterAddOp>(op);
  return scatter && name == "size" && scatter.getAxis() == 0;
}

/// Prints an attribute that ops had when the first checkpoints were written,
/// and which is therefore part of their identities.
static void printFormerAttributes(Operation &op, raw_ostream &os) {
  if (isa<ContractOp>(op))
    os << " layer_operand=0 : i64";
}

/// Returns whether an attribute didn't exist when the first checkpoints were
/// written, so that it mustn't be part of identities.
static bool isNewer(NamedAttribute attribute) {
  return attribute.getName() == "operandSegmentSizes" ||
         attribute.getName() == kNormAttrName;
}

void GraphPrinter::printOp(Operation &op) {
  define(op.getResults());
  os << op.getName() << '(';
  llvm::interleaveComma(op.getOperands(), os,
                        [&](Value operand) { os << numbers.lookup(operand); });
  os << ')';
  if (auto constant = dyn_cast<ConstantOp>(op))
    printConstant(constant);
  else if (auto slice = dyn_cast<SliceOp>(op))
    printSlice(slice);
  else
    for (NamedAttribute attribute : op.getAttrs()) {
      if (dependsOnBatch(op, attribute) || isNewer(attribute))
        continue;
      os << ' ' << attribute.getName().getValue() << '=';
      // Leave out the first axis of the input of a convolution or pooling op:
      // it numbers the samples.
      if (attribute.getName() == "input_shape")
        llvm::interleaveComma(cast<DenseI64ArrayAttr>(attribute.getValue())
                                  .asArrayRef()
                                  .drop_front(),
                              os);
      else
        os << attribute.getValue();
    }
  printFormerAttributes(op, os);
  os << '\n';
}

static void printVariables(ModelOp model, StringRef optimizer,
                           raw_ostream &os) {
  os << "optimizer " << optimizer << '\n';
  for (auto variable : model.getBody().getOps<VariableOp>())
    os << stringifyRole(variable.getRole()) << ' ' << variable.getOwnName()
       << ' ' << variable.getType() << (variable.getTrained() ? " trained" : "")
       << '\n';
}

static std::string digest(StringRef text) {
  return llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(text)),
                     /*LowerCase=*/true);
}

std::string hfta::computeIdentity(ModelOp model, StringRef optimizer) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printVariables(model, optimizer, os);
  if (auto forward = model.lookupSymbol<func::FuncOp>("forward"))
    GraphPrinter(forward, os).print();
  return digest(text);
}

std::string hfta::digestIdentities(ModuleOp module) {
  auto models = module->getAttrOfType<ArrayAttr>(kModelsAttrName);
  if (!models)
    return "";
  std::string text;
  for (auto model : models.getAsRange<DictionaryAttr>())
    if (auto identity = model.getAs<StringAttr>("identity"))
      text += identity.getValue();
  return digest(text);
}

//===----------------------------------------------------------------------===//
// The graph at one batch size
//===----------------------------------------------------------------------===//

/// Prints attributes as in the identities of the first checkpoints. This must
/// never change.
static void printAttributesOfBatch(Operation &op, const SymbolTable &symbols,
                                   raw_ostream &os) {
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    ElementsAttr value = constant.getValue();
    if (value.getNumElements() <= kMaxGraphConstant)
      os << value;
    else
      os << value.getShapedType();
    return;
  }
  for (NamedAttribute attribute : op.getAttrs()) {
    if (attribute.getName() == "shape" || isNewer(attribute))
      continue;
    os << ' ' << attribute.getName().getValue() << '=';
    // The first checkpoints have the variables' own names.
    Attribute value = attribute.getValue();
    if (auto symbol = dyn_cast<FlatSymbolRefAttr>(value))
      if (auto variable = symbols.lookup<VariableOp>(symbol.getValue()))
        value = FlatSymbolRefAttr::get(op.getContext(), variable.getOwnName());
    os << value;
  }
  printFormerAttributes(op, os);
}

std::string hfta::computeIdentityOfBatch(ModelOp model, StringRef optimizer) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printVariables(model, optimizer, os);
  DenseMap<Value, unsigned> numbers;
  auto define = [&](ValueRange values) {
    for (Value value : values)
      numbers.try_emplace(value, numbers.size());
  };
  SymbolTable symbols(model);
  if (auto forward = model.lookupSymbol<func::FuncOp>("forward")) {
    Block &block = forward.getBody().front();
    define(block.getArguments());
    for (Operation &op : block) {
      define(op.getResults());
      os << op.getName() << '(';
      llvm::interleaveComma(op.getOperands(), os, [&](Value operand) {
        os << numbers.lookup(operand);
      });
      os << ')';
      printAttributesOfBatch(op, symbols, os);
      os << '\n';
    }
  }
  return digest(text);
}
