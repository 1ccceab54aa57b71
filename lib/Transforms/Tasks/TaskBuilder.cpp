//===- TaskBuilder.cpp - Variables and functions of a program -------------===//

#include "Tasks/TaskBuilder.h"
#include "Hfta/Dialect/Hfta/IR/HftaGradientOps.h"
#include "Hfta/Dialect/Hfta/Job/Settings.h"
#include "Hfta/Transforms/Precision/Precision.h"

#include "llvm/Support/ErrorHandling.h"

using namespace mlir;
using namespace mlir::hfta;

std::string hfta::getPortName(func::FuncOp function, unsigned index,
                              bool isResult) {
  auto name = isResult ? function.getResultAttrOfType<StringAttr>(
                             index, HftaDialect::kNameAttrName)
                       : function.getArgAttrOfType<StringAttr>(
                             index, HftaDialect::kNameAttrName);
  return name ? name.getValue().str()
              : (isResult ? "output" : "input") + std::to_string(index);
}

ReadOp hfta::findRead(Value value) {
  while (auto cast = value.getDefiningOp<CastOp>())
    value = cast.getInput();
  return value.getDefiningOp<ReadOp>();
}

StringRef hfta::getOriginName(Operation *op) {
  StringRef name;
  op->getLoc()->walk([&](Location loc) {
    if (auto named = dyn_cast<NameLoc>(loc)) {
      name = named.getName().getValue();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return name;
}

TaskBuilder::TaskBuilder(ModuleOp module, const Job &job)
    : module(module), job(job),
      lossTerms(readLossTerms(module).value_or(std::vector<LossTerm>())),
      symbols(module), variables(module), builder(module.getContext()) {}

bool hfta::isFormedByGroups(VariableOp variable) {
  if (variable.getRole() != Role::result)
    return SegmentAttr::isSummed(variable.getRole());
  return !variable.isFor(Purpose::mean_loss) &&
         !variable.isFor(Purpose::kl_scale) &&
         !variable.isFor(Purpose::curvature_count) &&
         !variable.isFor(Purpose::loss_scale_result);
}

void TaskBuilder::insert(VariableOp variable) {
  if (symbols.lookup(variable.getSymName()))
    llvm::report_fatal_error("variable '" + Twine(variable.getSymName()) +
                             "' is declared twice");
  // Variables precede all functions, in the order of their declaration.
  Block &body = *module.getBody();
  symbols.insert(variable, llvm::find_if(body, [](Operation &op) {
                   return !isa<VariableOp>(op);
                 }));
  variables.insert(variable);
}

VariableOp TaskBuilder::declare(PurposeAttr purpose, StringRef symbol,
                                RankedTensorType type, Attribute initial) {
  OpBuilder outer(getContext());
  VariableOp variable =
      VariableOp::create(outer, getLoc(), purpose, type, initial);
  variable.setSymName(symbol);
  if (isFormedByGroups(variable))
    variable.setInstances(job.getGroups());
  insert(variable);
  return variable;
}

VariableOp TaskBuilder::declareCarried(StringRef symbol, RankedTensorType type,
                                       Role role) {
  OpBuilder outer(getContext());
  VariableOp variable = VariableOp::create(outer, getLoc(), symbol, type, role);
  insert(variable);
  return variable;
}

VariableOp TaskBuilder::declareOf(VariableOp variable, Purpose purpose,
                                  StringRef name, RankedTensorType type,
                                  int64_t block) {
  if (VariableOp known = variables.lookupOf(variable, purpose, name))
    return known;
  VariableOp declared = declare(
      PurposeAttr::getOf(FlatSymbolRefAttr::get(variable.getSymNameAttr()),
                         purpose, name),
      type);
  declared.setBlock(block);
  declared.setCopyAttr(variable.getCopyAttr());
  return declared;
}

VariableOp TaskBuilder::adopt(VariableOp variable) {
  auto clone = cast<VariableOp>(variable->clone());
  symbols.insert(clone, module.getBody()->begin());
  variables.insert(clone);
  return clone;
}

func::FuncOp TaskBuilder::startTask(StringRef part, int64_t block,
                                    ReplicasAttr replicas) {
  OpBuilder outer(getContext());
  auto function = func::FuncOp::create(
      outer, getLoc(),
      (names::kTaskPrefix + TaskAttr::makeName(part, block, replicas)).str(),
      outer.getFunctionType({}, {}));
  function->setAttr(
      HftaDialect::kTaskAttrName,
      TaskAttr::get(getContext(), outer.getStringAttr(part), block, replicas));
  symbols.insert(function);
  builder.setInsertionPointToStart(function.addEntryBlock());
  Operation *end = func::ReturnOp::create(builder, getLoc());
  builder.setInsertionPoint(end);
  return function;
}

static IntegerAttr getCopyAttr(OpBuilder &builder, VariableOp variable,
                               std::optional<int64_t> copy) {
  if (!copy || !isArrayed(variable.getType()))
    return {};
  return builder.getI64IntegerAttr(*copy);
}

/// Returns `only` if an access without `copy` is to an arrayed variable.
static DenseI64ArrayAttr getOnlyAttr(VariableOp variable,
                                     std::optional<int64_t> copy,
                                     DenseI64ArrayAttr only) {
  return copy || !isArrayed(variable.getType()) ? DenseI64ArrayAttr() : only;
}

Value TaskBuilder::read(VariableOp variable, std::optional<int64_t> copy,
                        DenseI64ArrayAttr only) {
  IntegerAttr attribute = getCopyAttr(builder, variable, copy);
  RankedTensorType type = variable.getTensorType();
  return ReadOp::create(
      builder, variable.getLoc(), attribute ? getLogicalType(type) : type,
      variable.getSymName(), attribute, getOnlyAttr(variable, copy, only));
}

Value TaskBuilder::read(Purpose purpose, std::optional<int64_t> copy) {
  return read(variables.lookup(purpose), copy);
}

void TaskBuilder::write(Value value, VariableOp variable,
                        std::optional<int64_t> copy, DenseI64ArrayAttr only) {
  WriteOp::create(builder, variable.getLoc(), value, variable.getSymName(),
                  getCopyAttr(builder, variable, copy),
                  getOnlyAttr(variable, copy, only));
}

Value TaskBuilder::splat(ArrayRef<int64_t> shape, Type elementType,
                         double value) {
  auto type = RankedTensorType::get({}, elementType);
  Attribute element = isa<FloatType>(elementType)
                          ? Attribute(builder.getFloatAttr(elementType, value))
                          : Attribute(builder.getIntegerAttr(
                                elementType, static_cast<int64_t>(value)));
  Value scalar = ConstantOp::create(
      builder, getLoc(), DenseElementsAttr::get(type, ArrayRef(element)));
  return broadcastScalar(scalar, shape);
}

Value TaskBuilder::broadcastScalar(Value scalar, ArrayRef<int64_t> shape) {
  if (shape.empty())
    return scalar;
  return BroadcastOp::create(builder, getLoc(), scalar, shape,
                             ArrayRef<int64_t>());
}

Value TaskBuilder::castTo(Value value, Type elementType) {
  if (getElementTypeOrSelf(value.getType()) == elementType)
    return value;
  return CastOp::create(builder, value.getLoc(), value, elementType);
}

Value TaskBuilder::sumAll(Value value) {
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  if (rank == 0)
    return value;
  return ReduceOp::create(builder, value.getLoc(), ReduceKind::sum, value,
                          llvm::to_vector(llvm::seq<int64_t>(0, rank)),
                          TypeAttr());
}

void TaskBuilder::accumulate(Value value, VariableOp variable,
                             std::optional<int64_t> copy) {
  Value old = read(variable, copy);
  Type stored = variable.getTensorType().getElementType();
  FloatType type =
      getWider(cast<FloatType>(stored),
               cast<FloatType>(getElementTypeOrSelf(value.getType())));
  Value sum = AddOp::create(builder, value.getLoc(), castTo(old, type),
                            castTo(value, type));
  write(castTo(sum, stored), variable, copy);
}

RankedTensorType TaskBuilder::scalarType(Type elementType, bool arrayed) {
  return withCopies(RankedTensorType::get({}, elementType),
                    arrayed ? std::optional<int64_t>(job.copies)
                            : std::nullopt);
}

FloatType TaskBuilder::getFloatType(StringRef name) {
  return hfta::getFloatType(getContext(), name);
}

/// Returns the value that an op has in a mode. The copies share it if they have
/// different values in the other mode alone.
Value TaskBuilder::choose(ByModeOp op, bool training, IRMapping &mapping) {
  Value chosen =
      mapping.lookup(training ? op.getInTraining() : op.getInInference());
  Type type = op.getType();
  if (isArrayed(chosen.getType()) || !isArrayed(type))
    return chosen;
  return StackOp::create(builder, op.getLoc(), type,
                         SmallVector<Value>(*getCopies(type), chosen));
}

SmallVector<Value> TaskBuilder::inlineBody(func::FuncOp function,
                                           ValueRange arguments,
                                           std::optional<bool> training) {
  IRMapping mapping;
  mapping.map(function.getArguments(), arguments);
  SmallVector<Value> results;
  for (Operation &op : function.getBody().front()) {
    if (isa<func::ReturnOp>(op)) {
      for (Value operand : op.getOperands())
        results.push_back(mapping.lookup(operand));
      break;
    }
    if (isa<WriteOp>(op) && !training.value_or(false))
      continue;
    if (auto byMode = dyn_cast<ByModeOp>(op); byMode && training) {
      mapping.map(byMode.getResult(), choose(byMode, *training, mapping));
      continue;
    }
    Operation *clone = builder.clone(op, mapping);
    auto modal = dyn_cast<ModalOpInterface>(clone);
    if (modal && training)
      modal.setTraining(*training && !clone->hasAttr(kFrozenAttrName));
  }
  return results;
}

SmallVector<Value> TaskBuilder::inlineFunction(func::FuncOp function,
                                               ValueRange arguments,
                                               bool training) {
  return inlineBody(function, arguments, training);
}

Objective TaskBuilder::inlineObjective(func::FuncOp objective,
                                       ValueRange arguments, bool training) {
  SmallVector<Value> results = inlineFunction(objective, arguments, training);
  Objective values;
  size_t next = 0;
  for (size_t i = 0; i < lossTerms.size(); ++i, next += 3)
    values.terms.push_back(
        {results[next], results[next + 1], results[next + 2]});
  if (lossTerms.empty()) {
    values.terms.push_back({results[0], results[1], results[1]});
    next = 2;
  }
  if (job.drawsTargets())
    values.drawnLosses = results[next++];
  for (const JobMetric &metric : job.metrics) {
    Value first = results[next++];
    values.metrics.push_back(
        {first, metric.isMean() ? Value() : results[next++]});
  }
  if (lossTerms.empty() && next < results.size())
    values.terms.front().divisors = results[next];
  return values;
}

SmallVector<Value> TaskBuilder::inlineAsWritten(func::FuncOp function,
                                                ValueRange arguments) {
  return inlineBody(function, arguments, std::nullopt);
}
