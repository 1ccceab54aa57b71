//===- FuseModels.cpp - Fuse the copies' models into one array program ----===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/Job.h"
#include "Hfta/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"

#include <cstddef>

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAFUSEMODELS
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

namespace {

/// Builds one array model from the models of a module.
class ModelFuser {
public:
  ModelFuser(ModuleOp module, const Job &job, SmallVector<ModelOp> models)
      : job(job), models(std::move(models)), builder(module.getContext()) {
    builder.setInsertionPointToEnd(module.getBody());
    for (auto [index, model] : llvm::enumerate(this->models))
      for (int64_t copy : model.getCopies())
        modelOfCopy[copy] = index;
  }

  LogicalResult fuse();

private:
  LogicalResult fuseVariables();
  LogicalResult fuseVariable(VariableOp first);
  /// Reports initial values that cannot be stacked.
  LogicalResult reportInitialValues(VariableOp first,
                                    ArrayRef<Attribute> initial);
  LogicalResult fuseFunction(func::FuncOp first);
  LogicalResult fuseBody(ArrayRef<func::FuncOp> functions, func::FuncOp fused);
  LogicalResult fuseOp(ArrayRef<Operation *> ops, IRMapping &mapping);
  LogicalResult cloneCopies(ArrayRef<func::FuncOp> functions,
                            func::FuncOp fused);
  void cloneCopy(func::FuncOp function, int64_t copy, ValueRange arguments,
                 SmallVectorImpl<Value> &results);
  LogicalResult stackConstants(ArrayRef<Operation *> ops, IRMapping &mapping);
  /// The elements of every copy, as one attribute with a leading copy axis if
  /// they differ; null where only some copies have some.
  Attribute stackElements(ArrayRef<Attribute> perModel, RankedTensorType type);
  RankedTensorType getFusedType(VariableOp variable, bool sameContents);

  const Job &job;
  SmallVector<ModelOp> models;
  OpBuilder builder;
  ModelOp array;
  DenseMap<int64_t, size_t> modelOfCopy;
  llvm::StringMap<RankedTensorType> variableTypes;
  int64_t stackedConstants = 0;
};

} // namespace

/// Reports that models can't be fused, at the first's place and the other's.
static LogicalResult reportDifference(Operation *first, Operation *other,
                                      const Twine &what) {
  InFlightDiagnostic diagnostic =
      first->emitError("models of the array differ here: ") << what;
  diagnostic.attachNote(other->getLoc()) << "in the other model";
  return diagnostic;
}

LogicalResult ModelFuser::fuse() {
  ModelOp first = models.front();
  SmallVector<int64_t> copies =
      llvm::to_vector(llvm::seq<int64_t>(0, job.copies));
  array = ModelOp::create(builder, first.getLoc(), "array", copies);
  builder.setInsertionPointToStart(&array.getBody().emplaceBlock());
  if (failed(fuseVariables()))
    return failure();
  for (auto function : first.getBody().getOps<func::FuncOp>())
    if (failed(fuseFunction(function)))
      return failure();
  for (ModelOp model : models)
    model.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

LogicalResult ModelFuser::fuseVariables() {
  for (ModelOp model : ArrayRef(models).drop_front())
    for (auto variable : model.getBody().getOps<VariableOp>())
      if (!models.front().lookupSymbol<VariableOp>(variable.getSymName()))
        return reportDifference(variable, models.front(),
                                "variable '" + variable.getSymName() +
                                    "' is missing");
  for (auto variable : models.front().getBody().getOps<VariableOp>())
    if (failed(fuseVariable(variable)))
      return failure();
  return success();
}

RankedTensorType ModelFuser::getFusedType(VariableOp variable,
                                          bool sameContents) {
  RankedTensorType type = variable.getTensorType();
  bool drawn = isa_and_nonnull<UniformAttr, NormalAttr>(
      variable.getInitial().value_or(Attribute()));
  bool shared = false;
  switch (variable.getRole()) {
  case Role::scalar:
    shared = variable.getSymName() == "step" ||
             variable.getSymName() == "first_sample";
    break;
  case Role::parameter:
    shared = !variable.getTrained() && !drawn && sameContents;
    break;
  case Role::constant:
    shared = sameContents;
    break;
  default:
    break;
  }
  return shared ? type : withCopies(type, job.copies);
}

Attribute ModelFuser::stackElements(ArrayRef<Attribute> perModel,
                                    RankedTensorType type) {
  int64_t bytes = getLogicalBytes(type);
  std::vector<char> data;
  data.reserve(bytes * job.copies);
  for (int64_t copy = 0; copy < job.copies; ++copy) {
    Attribute attribute = perModel[modelOfCopy.lookup(copy)];
    ArrayRef<char> raw;
    bool splat = false;
    if (auto dense = dyn_cast_or_null<DenseElementsAttr>(attribute)) {
      raw = dense.getRawData();
      splat = dense.isSplat();
    } else if (auto resource =
                   dyn_cast_or_null<DenseResourceElementsAttr>(attribute)) {
      if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
        raw = blob->getData();
    }
    if (raw.empty() && bytes != 0)
      return nullptr;
    for (int64_t done = 0; done < bytes; done += raw.size())
      data.insert(data.end(), raw.begin(), raw.end());
    if (!splat && static_cast<int64_t>(raw.size()) != bytes)
      return nullptr;
  }
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin(), job.copies);
  auto stackedType = RankedTensorType::get(shape, type.getElementType());
  // Bytecode is read from buffers that promise no larger alignment.
  return DenseResourceElementsAttr::get(
      stackedType, "stacked",
      HeapAsmResourceBlob::allocateAndCopyWithAlign(data,
                                                    alignof(std::max_align_t)));
}

/// Equal attributes, or resources of equal bytes.
static bool haveSameContents(Attribute first, Attribute other) {
  if (first == other)
    return true;
  auto mine = dyn_cast_or_null<DenseResourceElementsAttr>(first);
  auto theirs = dyn_cast_or_null<DenseResourceElementsAttr>(other);
  if (!mine || !theirs || mine.getType() != theirs.getType())
    return false;
  AsmResourceBlob *mineBlob = mine.getRawHandle().getBlob();
  AsmResourceBlob *theirBlob = theirs.getRawHandle().getBlob();
  return mineBlob && theirBlob && mineBlob->getData() == theirBlob->getData();
}

LogicalResult ModelFuser::reportInitialValues(VariableOp first,
                                              ArrayRef<Attribute> initial) {
  for (auto [model, attribute] : llvm::zip(models, initial)) {
    if (attribute == initial.front())
      continue;
    auto isDrawn = [](Attribute value) {
      return isa_and_nonnull<UniformAttr, NormalAttr>(value);
    };
    std::string text = ("variable '" + first.getSymName() + "' ").str();
    llvm::raw_string_ostream stream(text);
    if (isDrawn(initial.front()) && isDrawn(attribute))
      stream << "is drawn from " << initial.front() << " against " << attribute;
    else
      stream << "starts from a file's weights in one model and from a seed in "
                "another";
    return reportDifference(first, model.lookupSymbol(first.getSymName()),
                            text);
  }
  return failure();
}

LogicalResult ModelFuser::fuseVariable(VariableOp first) {
  SmallVector<Attribute> initial;
  bool same = true;
  for (ModelOp model : models) {
    auto other = model.lookupSymbol<VariableOp>(first.getSymName());
    if (!other)
      return reportDifference(
          first, model, "variable '" + first.getSymName() + "' is missing");
    if (other.getType() != first.getType() ||
        other.getRole() != first.getRole() ||
        other.getTrained() != first.getTrained()) {
      std::string text;
      llvm::raw_string_ostream(text)
          << "variable '" << first.getSymName() << "' is " << first.getType()
          << (first.getTrained() ? " (trained)" : "") << " against "
          << other.getType() << (other.getTrained() ? " (trained)" : "");
      return reportDifference(first, other, text);
    }
    initial.push_back(other.getInitial().value_or(Attribute()));
    same &= haveSameContents(initial.front(), initial.back());
  }
  auto fused = cast<VariableOp>(builder.clone(*first));
  RankedTensorType type = getFusedType(first, same);
  fused.setType(type);
  if (!same) {
    Attribute stacked = stackElements(initial, first.getTensorType());
    if (!stacked)
      return reportInitialValues(first, initial);
    fused.setInitialAttr(stacked);
  }
  variableTypes[first.getSymName()] = type;
  return success();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

LogicalResult ModelFuser::fuseFunction(func::FuncOp first) {
  SmallVector<func::FuncOp> functions;
  for (ModelOp model : models) {
    auto function = model.lookupSymbol<func::FuncOp>(first.getSymName());
    if (!function)
      return reportDifference(
          first, model, "function '" + first.getSymName() + "' is missing");
    functions.push_back(function);
  }
  OpBuilder::InsertionGuard guard(builder);
  auto fused = func::FuncOp::create(builder, first.getLoc(), first.getSymName(),
                                    first.getFunctionType());
  fused->setDialectAttrs(first->getDialectAttrs());
  if (ArrayAttr attributes = first.getArgAttrsAttr())
    fused.setArgAttrsAttr(attributes);
  if (ArrayAttr attributes = first.getResAttrsAttr())
    fused.setResAttrsAttr(attributes);
  Block *entry = fused.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  // Only the model itself makes values differ between copies: what objective
  // gets from it is arrayed, the data are shared.
  if (first.getSymName() == "objective") {
    auto forward = array.lookupSymbol<func::FuncOp>("forward");
    if (!forward)
      return first.emitError("'objective' without 'forward'");
    for (unsigned index = 0; index < forward.getNumResults(); ++index)
      entry->getArgument(index).setType(forward.getResultTypes()[index]);
  }
  if (failed(job.fuse ? fuseBody(functions, fused)
                      : cloneCopies(functions, fused)))
    return failure();
  fused.setFunctionType(
      FunctionType::get(builder.getContext(), entry->getArgumentTypes(),
                        entry->getTerminator()->getOperandTypes()));
  return success();
}

LogicalResult ModelFuser::fuseBody(ArrayRef<func::FuncOp> functions,
                                   func::FuncOp fused) {
  IRMapping mapping;
  SmallVector<Block *> blocks;
  for (func::FuncOp function : functions)
    blocks.push_back(&function.getBody().front());
  mapping.map(blocks.front()->getArguments(), fused.getArguments());
  // Values of the models correspond if they are results of corresponding ops.
  DenseMap<Value, Value> ofFirst;
  SmallVector<Block::iterator> position;
  for (Block *block : blocks) {
    position.push_back(block->begin());
    for (auto [mine, theirs] :
         llvm::zip(blocks.front()->getArguments(), block->getArguments()))
      ofFirst[theirs] = mine;
  }
  for (Operation &op : *blocks.front()) {
    SmallVector<Operation *> ops;
    for (auto [index, block] : llvm::enumerate(blocks)) {
      if (position[index] == block->end())
        return reportDifference(&op, functions[index], "the graph ends early");
      Operation *other = &*position[index]++;
      ops.push_back(other);
      for (auto [mine, theirs] :
           llvm::zip(op.getOperands(), other->getOperands()))
        if (ofFirst.lookup(theirs) != mine)
          return reportDifference(&op, other,
                                  "an operand comes from another op");
      for (auto [mine, theirs] :
           llvm::zip(op.getResults(), other->getResults()))
        ofFirst[theirs] = mine;
    }
    if (failed(fuseOp(ops, mapping)))
      return failure();
  }
  return success();
}

LogicalResult ModelFuser::fuseOp(ArrayRef<Operation *> ops,
                                 IRMapping &mapping) {
  Operation *first = ops.front();
  SmallVector<Value> operands;
  for (Value operand : first->getOperands())
    operands.push_back(mapping.lookup(operand));
  if (isa<ConstantOp>(first)) {
    bool same = llvm::all_of(ops, [&](Operation *op) {
      auto constant = dyn_cast<ConstantOp>(op);
      return constant && haveSameContents(cast<ConstantOp>(first).getValue(),
                                          constant.getValue());
    });
    if (!same)
      return stackConstants(ops, mapping);
  }
  if (isa<ReadOp, WriteOp, func::ReturnOp>(first)) {
    for (Operation *other : ops) {
      if (other->getName() != first->getName())
        return reportDifference(first, other,
                                "'" + first->getName().getStringRef() +
                                    "' against '" +
                                    other->getName().getStringRef() + "'");
      if (other->getAttrDictionary() != first->getAttrDictionary())
        return reportDifference(first, other, "another variable is accessed");
    }
    Operation *clone = builder.clone(*first, mapping);
    if (auto read = dyn_cast<ReadOp>(clone))
      read.getResult().setType(variableTypes.lookup(read.getVariable()));
    return success();
  }
  auto fusable = dyn_cast<FusableOpInterface>(first);
  if (!fusable)
    return first->emitError("'") << first->getName() << "' cannot be fused";
  for (Operation *other : ops.drop_front()) {
    std::string reason;
    if (failed(fusable.isFusableWith(other, reason)))
      return reportDifference(first, other, reason);
  }
  Operation *fused = fusable.buildFused(builder, operands);
  mapping.map(first->getResults(), fused->getResults());
  return success();
}

LogicalResult ModelFuser::stackConstants(ArrayRef<Operation *> ops,
                                         IRMapping &mapping) {
  SmallVector<Attribute> values;
  auto first = cast<ConstantOp>(ops.front());
  for (Operation *op : ops) {
    auto constant = dyn_cast<ConstantOp>(op);
    if (!constant || constant.getType() != first.getType())
      return reportDifference(first, op, "a constant of another type");
    values.push_back(constant.getValue());
  }
  auto type = cast<RankedTensorType>(first.getType());
  Attribute stacked = stackElements(values, type);
  if (!stacked)
    return first.emitError("constants of the copies cannot be stacked");
  std::string name = ("constant/" + Twine(stackedConstants++)).str();
  OpBuilder::InsertionGuard guard(builder);
  Operation *function = builder.getInsertionBlock()->getParentOp();
  OpBuilder outer(function);
  RankedTensorType arrayed = withCopies(type, job.copies);
  auto variable =
      VariableOp::create(outer, first.getLoc(), name, arrayed, Role::constant,
                         stacked, /*trained=*/false, /*block=*/-1,
                         /*instances=*/1, BindingAttr());
  auto read = ReadOp::create(builder, first.getLoc(), arrayed,
                             variable.getSymName(), IntegerAttr());
  mapping.map(first.getResult(), read.getResult());
  return success();
}

//===----------------------------------------------------------------------===//
// Every copy alone
//===----------------------------------------------------------------------===//

void ModelFuser::cloneCopy(func::FuncOp function, int64_t copy,
                           ValueRange arguments,
                           SmallVectorImpl<Value> &results) {
  IRMapping mapping;
  mapping.map(function.getArguments(), arguments);
  for (Operation &op : function.getBody().front()) {
    if (isa<func::ReturnOp>(op)) {
      for (Value operand : op.getOperands())
        results.push_back(mapping.lookup(operand));
      return;
    }
    Operation *clone = builder.clone(op, mapping);
    if (auto read = dyn_cast<ReadOp>(clone)) {
      if (isArrayed(variableTypes.lookup(read.getVariable())))
        read.setCopy(copy);
    } else if (auto write = dyn_cast<WriteOp>(clone)) {
      if (isArrayed(variableTypes.lookup(write.getVariable())))
        write.setCopy(copy);
    }
  }
}

LogicalResult ModelFuser::cloneCopies(ArrayRef<func::FuncOp> functions,
                                      func::FuncOp fused) {
  Location loc = fused.getLoc();
  if (fused.getSymName() == "prepare") {
    SmallVector<Value> results;
    cloneCopy(functions.front(), 0, fused.getArguments(), results);
    func::ReturnOp::create(builder, loc, results);
    return success();
  }
  SmallVector<SmallVector<Value>> perResult;
  for (int64_t copy = 0; copy < job.copies; ++copy) {
    SmallVector<Value> arguments;
    for (Value argument : fused.getArguments()) {
      if (isArrayed(argument))
        argument = UnstackOp::create(
            builder, loc, getLogicalType(argument.getType()), argument, copy);
      arguments.push_back(argument);
    }
    SmallVector<Value> results;
    cloneCopy(functions[modelOfCopy.lookup(copy)], copy, arguments, results);
    perResult.resize(results.size());
    for (auto [stack, result] : llvm::zip(perResult, results))
      stack.push_back(result);
  }
  SmallVector<Value> stacked;
  for (ArrayRef<Value> values : perResult)
    stacked.push_back(StackOp::create(
        builder, loc, withCopies(values.front().getType(), job.copies),
        values));
  func::ReturnOp::create(builder, loc, stacked);
  return success();
}

namespace {
struct FuseModelsPass : hfta::impl::HftaFuseModelsBase<FuseModelsPass> {
  using HftaFuseModelsBase::HftaFuseModelsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<Job> job = Job::read(module);
    if (failed(job))
      return signalPassFailure();
    SmallVector<ModelOp> models(module.getOps<ModelOp>());
    if (models.empty()) {
      module.emitError("module holds no hfta.model");
      return signalPassFailure();
    }
    if (failed(checkCopies(models, job->copies)) ||
        failed(ModelFuser(module, *job, models).fuse()))
      return signalPassFailure();
    remark::passed(module.getLoc(), remark::RemarkOpts::name("Fused").category(
                                        "hfta-fuse-models"))
        << (Twine(job->copies) + " copies of " + Twine(models.size()) +
            " model(s) in one array")
               .str();
  }

  /// Every copy belongs to exactly one model.
  LogicalResult checkCopies(ArrayRef<ModelOp> models, int64_t copies) {
    SmallVector<ModelOp> owner(copies);
    for (ModelOp model : models)
      for (int64_t copy : model.getCopies()) {
        if (copy < 0 || copy >= copies)
          return model->emitError("copy ")
                 << copy << " is outside of the job's " << copies << " copies";
        if (owner[copy])
          return model->emitError("copy ")
                 << copy << " belongs to another model too";
        owner[copy] = model;
      }
    for (auto [copy, model] : llvm::enumerate(owner))
      if (!model)
        return getOperation().emitError("copy ") << copy << " has no model";
    return success();
  }
};
} // namespace
