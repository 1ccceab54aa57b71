//===- HftaStructureOps.cpp - Models, variables, kernels ------------------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// VariableOp
//===----------------------------------------------------------------------===//

std::string VariableOp::getSymbolOfCopy(StringRef name, int64_t copy) {
  return (name + "@" + Twine(copy)).str();
}

void VariableOp::makeOfCopy(int64_t copy) {
  if (!getPurpose())
    setKnownAs(getOwnName());
  setSymName(getSymbolOfCopy(getSymName(), copy));
  setCopy(copy);
}

bool VariableOp::isFor(Purpose purpose) {
  PurposeAttr attribute = getPurposeAttr();
  return attribute && attribute.getKind() == purpose;
}

std::string VariableOp::getOwnName() {
  if (StringAttr name = getKnownAsAttr())
    return name.str();
  PurposeAttr purpose = getPurposeAttr();
  if (!purpose)
    return getSymName().str();
  std::string subject;
  if (purpose.getOf())
    if (auto of = dyn_cast_or_null<VariableOp>(SymbolTable::lookupSymbolIn(
            (*this)->getParentOp(), purpose.getOf())))
      subject = of.getOwnName();
  return purpose.makeOwnName(subject);
}

void VariableOp::build(OpBuilder &builder, OperationState &state,
                       StringRef name, RankedTensorType type, Role role,
                       Attribute initial) {
  build(builder, state, builder.getStringAttr(name), TypeAttr::get(type),
        RoleAttr::get(builder.getContext(), role), initial, UnitAttr(),
        builder.getI64IntegerAttr(-1), builder.getI64IntegerAttr(1),
        BindingAttr(), IntegerAttr(), DenseI64ArrayAttr(), PurposeAttr(),
        StringAttr(), DenseI64ArrayAttr(), ReplicasAttr());
}

void VariableOp::build(OpBuilder &builder, OperationState &state,
                       PurposeAttr purpose, RankedTensorType type,
                       Attribute initial) {
  build(builder, state, purpose.makeSymbol(), type, purpose.getRole(), initial);
  state.getOrAddProperties<Properties>().purpose = purpose;
}

/// Checks constraint (C9) of `hfta.variable` for all variables of a table: no
/// two have the same purpose. The first variable's verifier calls this.
static LogicalResult verifyPurposesDiffer(VariableOp first) {
  // A purpose has one variable, or one for each of several copies.
  DenseMap<std::pair<Attribute, Attribute>, VariableOp> known;
  DenseMap<Attribute, VariableOp> last;
  for (auto variable : first->getBlock()->getOps<VariableOp>()) {
    PurposeAttr purpose = variable.getPurposeAttr();
    if (!purpose)
      continue;
    VariableOp &other = last[purpose];
    bool bothOfCopies = other && other.getCopy() && variable.getCopy();
    auto [same, isNew] =
        known.try_emplace({purpose, variable.getCopyAttr()}, variable);
    if (isNew && (!other || bothOfCopies)) {
      other = variable;
      continue;
    }
    InFlightDiagnostic diagnostic = variable.emitOpError("has the purpose ")
                                    << purpose << " of another variable";
    diagnostic.attachNote((isNew ? other : same->second).getLoc())
        << "declared here";
    return diagnostic;
  }
  return success();
}

LogicalResult VariableOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto before =
      llvm::make_range((*this)->getBlock()->begin(), Block::iterator(*this));
  if (llvm::none_of(before, llvm::IsaPred<VariableOp>) &&
      failed(verifyPurposesDiffer(*this)))
    return failure();
  PurposeAttr purpose = getPurposeAttr();
  if (!purpose || !purpose.getOf())
    return success();
  auto of =
      symbolTable.lookupNearestSymbolFrom<VariableOp>(*this, purpose.getOf());
  if (!of)
    return emitOpError("belongs to no variable: ") << purpose.getOf();
  // This rules out that a variable belongs to itself by way of others.
  bool isInitial = purpose.getKind() == Purpose::initial;
  if (isInitial && of.getRole() == Role::constant)
    return emitOpError("is for ")
           << purpose << ", but " << purpose.getOf() << " is a constant";
  if (isInitial)
    return success();
  Role expected = purpose.getKind() == Purpose::batch_statistic
                      ? Role::statistics
                      : Role::parameter;
  if (of.getRole() != expected)
    return emitOpError("is for ")
           << purpose << ", but " << purpose.getOf() << " is "
           << (expected == Role::parameter ? "no parameter" : "no statistic");
  return success();
}

/// Checks constraints (C10) and (C11) of `hfta.variable`, on its holders.
static LogicalResult verifyHolders(VariableOp variable) {
  if (!variable.getHolders())
    return success();
  switch (variable.getRole()) {
  case Role::curvature:
  case Role::moment:
  case Role::optimizer_state:
  case Role::output:
  case Role::saved:
    break;
  default:
    return variable.emitOpError("has role '")
           << stringifyRole(variable.getRole())
           << "', whose variables all replicas hold, but has holders";
  }
  if (variable.getReaders())
    return variable.emitOpError(
        "is sent to other stages, but has holders: not all replicas have it");
  return success();
}

/// Checks that `only`, if it is given, lists some of the copies, ascending.
static LogicalResult verifyOnly(Operation *op,
                                std::optional<ArrayRef<int64_t>> only,
                                std::optional<int64_t> copies) {
  if (!only)
    return success();
  if (!copies)
    return op->emitOpError("is for some copies alone and so must be arrayed");
  int64_t last = -1;
  for (int64_t copy : *only) {
    if (copy <= last || copy >= *copies)
      return op->emitOpError("must list some of ")
             << *copies << " copies, ascending, got [" << *only << "]";
    last = copy;
  }
  return success();
}

LogicalResult VariableOp::verify() {
  auto type = dyn_cast<RankedTensorType>(getType());
  if (!type || !type.hasStaticShape())
    return emitOpError("must have a statically shaped tensor type, got ")
           << getType();
  if (getTrained() && !isa<FloatType>(type.getElementType()))
    return emitOpError("is trained and so must hold floats, got ")
           << type.getElementType();
  if (getInstances() < 1)
    return emitOpError("needs at least one instance, got ") << getInstances();
  if (getCopy() && isArrayed(type))
    return emitOpError("belongs to copy ")
           << *getCopy() << " alone and so must be shared, got " << type;
  if (failed(verifyOnly(*this, getOnly(), getCopies(type))))
    return failure();
  if (PurposeAttr purpose = getPurposeAttr();
      purpose && purpose.getRole() != getRole())
    return emitOpError("is for ")
           << purpose << " and so has the role '"
           << stringifyRole(purpose.getRole()) << "', got '"
           << stringifyRole(getRole()) << "'";
  if (failed(verifyHolders(*this)))
    return failure();
  if (!SegmentAttr::mayHave(getRole(), getResidency()))
    return emitOpError("has role '")
           << stringifyRole(getRole()) << "' and can't be "
           << stringifyResidency(getResidency());
  std::optional<Attribute> initial = getInitial();
  if (!initial)
    return success();
  if (isa<UniformAttr, NormalAttr>(*initial)) {
    if (!isa<FloatType>(type.getElementType()))
      return emitOpError(
                 "draws its initial value and so must hold floats, got ")
             << type.getElementType();
    return success();
  }
  auto elements = dyn_cast<ElementsAttr>(*initial);
  if (!elements)
    return emitOpError("initial value must be elements, #hfta.uniform or "
                       "#hfta.normal, got ")
           << *initial;
  auto initialType = cast<ShapedType>(elements.getType());
  SmallVector<int64_t> stacked(type.getShape());
  if (std::optional<int64_t> copies = getCopies(type))
    stacked.insert(stacked.begin(), *copies);
  if (initialType.getElementType() != type.getElementType() ||
      (initialType.getShape() != type.getShape() &&
       initialType.getShape() != ArrayRef<int64_t>(stacked)))
    return emitOpError("initial value of type ")
           << initialType << " does not fit " << type;
  return success();
}

//===----------------------------------------------------------------------===//
// ReadOp, WriteOp
//===----------------------------------------------------------------------===//

static LogicalResult verifyAccess(Operation *op, FlatSymbolRefAttr name,
                                  std::optional<int64_t> copy,
                                  std::optional<ArrayRef<int64_t>> only,
                                  Type accessed, bool isWrite,
                                  SymbolTableCollection &symbols) {
  auto variable = symbols.lookupNearestSymbolFrom<VariableOp>(op, name);
  if (!variable)
    return op->emitOpError("names no variable: ") << name;
  Type expected = variable.getType();
  if (failed(verifyOnly(op, only, getCopies(expected))))
    return failure();
  if (copy) {
    std::optional<int64_t> copies = getCopies(expected);
    if (!copies || *copy < 0 || *copy >= *copies)
      return op->emitOpError("accesses copy ")
             << *copy << " of " << name << ", which is " << expected;
    expected = getLogicalType(expected);
  }
  // A shared value that is written to an arrayed variable becomes each copy's
  // value.
  if (expected == accessed || (isWrite && accessed == getLogicalType(expected)))
    return success();
  InFlightDiagnostic diagnostic = op->emitOpError("accesses ")
                                  << name << " as " << accessed << ", expected "
                                  << expected;
  diagnostic.attachNote(variable.getLoc()) << "variable declared here";
  return diagnostic;
}

LogicalResult ReadOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  return verifyAccess(*this, getVariableAttr(), getCopy(), getOnly(), getType(),
                      /*isWrite=*/false, symbolTable);
}

LogicalResult WriteOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  return verifyAccess(*this, getVariableAttr(), getCopy(), getOnly(),
                      getValue().getType(), /*isWrite=*/true, symbolTable);
}

//===----------------------------------------------------------------------===//
// StackOp, UnstackOp
//===----------------------------------------------------------------------===//

LogicalResult StackOp::verify() {
  std::optional<int64_t> copies = getCopies(getType());
  if (!copies || *copies != static_cast<int64_t>(getInputs().size()))
    return emitOpError("of ")
           << getInputs().size() << " values must give as many copies, got "
           << getType();
  for (Type type : getInputs().getTypes())
    if (type != getLogicalType(getType()))
      return emitOpError("input must be ")
             << getLogicalType(getType()) << ", got " << type;
  return success();
}

LogicalResult UnstackOp::verify() {
  std::optional<int64_t> copies = getCopies(getInput().getType());
  int64_t copy = getCopy();
  if (!copies || copy < 0 || copy >= *copies)
    return emitOpError("takes copy ") << copy << " of " << getInput().getType();
  if (getType() != getLogicalType(getInput().getType()))
    return emitOpError("must give ")
           << getLogicalType(getInput().getType()) << ", got " << getType();
  return success();
}

//===----------------------------------------------------------------------===//
// KernelOp
//===----------------------------------------------------------------------===//

LogicalResult KernelOp::verify() {
  Block &block = getBody().front();
  if (block.getNumArguments() != getInputs().size())
    return emitOpError("has ")
           << getInputs().size() << " inputs but " << block.getNumArguments()
           << " region arguments";
  for (auto [argument, input] : llvm::zip(block.getArguments(), getInputs()))
    if (argument.getType() != getLogicalType(input.getType()))
      return emitOpError("region argument must be ")
             << getLogicalType(input.getType()) << ", got "
             << argument.getType();
  auto yield =
      dyn_cast_or_null<YieldOp>(block.empty() ? nullptr : &block.back());
  if (!yield)
    return emitOpError("must end in hfta.yield");
  for (Operation &op : block.without_terminator())
    if (!isa<CostOpInterface>(op))
      return emitOpError("holds '") << op.getName() << "', of unknown cost";
  if (yield.getValues().size() != getNumResults())
    return emitOpError("has ") << getNumResults() << " results but yields "
                               << yield.getValues().size();
  for (auto [value, type] : llvm::zip(yield.getValues(), getResultTypes()))
    if (value.getType() != getLogicalType(type))
      return emitOpError("must yield ")
             << getLogicalType(type) << ", got " << value.getType();
  return success();
}
