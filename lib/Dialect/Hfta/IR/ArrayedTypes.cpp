//===- ArrayedTypes.cpp - Shared and arrayed tensor types -----------------===//

#include "Hfta/Dialect/Hfta/IR/HftaInterfaces.h"

using namespace mlir;
using namespace mlir::hfta;

std::optional<int64_t> hfta::getCopies(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return std::nullopt;
  if (auto copies = dyn_cast_or_null<CopiesAttr>(tensor.getEncoding()))
    return copies.getCount();
  return std::nullopt;
}

std::optional<int64_t> hfta::getCopies(TypeRange types) {
  for (Type type : types)
    if (std::optional<int64_t> copies = getCopies(type))
      return copies;
  return std::nullopt;
}

RankedTensorType hfta::withCopies(Type type, std::optional<int64_t> copies) {
  auto tensor = cast<RankedTensorType>(type);
  Attribute encoding;
  if (copies)
    encoding = CopiesAttr::get(type.getContext(), *copies);
  return RankedTensorType::get(tensor.getShape(), tensor.getElementType(),
                               encoding);
}

int64_t hfta::getElementBytes(Type elementType) {
  return (elementType.getIntOrFloatBitWidth() + 7) / 8;
}

int64_t hfta::getLogicalBytes(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() * getElementBytes(tensor.getElementType());
}

LogicalResult hfta::detail::verifyArrayed(Operation *op) {
  std::optional<int64_t> copies;
  for (Type type : op->getOperandTypes()) {
    std::optional<int64_t> count = getCopies(type);
    if (!count)
      continue;
    if (copies && *copies != *count)
      return op->emitOpError("mixes operands of ")
             << *copies << " and " << *count << " copies";
    copies = count;
  }
  for (auto [index, type] : llvm::enumerate(op->getResultTypes())) {
    std::optional<int64_t> count = getCopies(type);
    if (count == copies)
      continue;
    InFlightDiagnostic diagnostic = op->emitOpError("result #") << index;
    if (copies)
      return diagnostic << " must be arrayed over " << *copies
                        << " copies, as an operand is, but is " << type;
    return diagnostic << " must be shared, as all operands are, but is "
                      << type;
  }
  return success();
}

LogicalResult hfta::detail::haveEqualAttributes(Operation *op, Operation *other,
                                                std::string &reason) {
  llvm::raw_string_ostream stream(reason);
  if (op->getName() != other->getName()) {
    stream << "'" << op->getName() << "' against '" << other->getName() << "'";
    return failure();
  }
  if (op->getAttrDictionary() != other->getAttrDictionary()) {
    for (NamedAttribute attribute : op->getAttrs()) {
      Attribute theirs = other->getAttr(attribute.getName());
      if (theirs == attribute.getValue())
        continue;
      stream << "'" << attribute.getName().getValue() << "' is "
             << attribute.getValue() << " against ";
      if (theirs)
        stream << theirs;
      else
        stream << "nothing";
      return failure();
    }
    stream << "other attributes";
    return failure();
  }
  if (op->getNumOperands() != other->getNumOperands()) {
    stream << op->getNumOperands() << " operands against "
           << other->getNumOperands();
    return failure();
  }
  for (auto [mine, theirs] :
       llvm::zip(op->getOperandTypes(), other->getOperandTypes()))
    if (getLogicalType(mine) != getLogicalType(theirs)) {
      stream << "operand of type " << mine << " against " << theirs;
      return failure();
    }
  return success();
}

Operation *hfta::detail::cloneWithOperands(OpBuilder &builder, Operation *op,
                                           ValueRange operands) {
  std::optional<int64_t> copies = getCopies(TypeRange(operands));
  SmallVector<Type> types;
  for (Type type : op->getResultTypes())
    types.push_back(withCopies(type, copies));
  OperationState state(op->getLoc(), op->getName(), operands, types,
                       op->getAttrs());
  return builder.create(state);
}

int64_t hfta::detail::countResultElements(Operation *op) {
  return cast<RankedTensorType>(op->getResult(0).getType()).getNumElements();
}

#include "Hfta/Dialect/Hfta/IR/HftaInterfaces.cpp.inc"
