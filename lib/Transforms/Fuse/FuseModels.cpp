//===- FuseModels.cpp - Fuse the copies' models into one array program ----===//

#include "Fuse/AlignModels.h"
#include "Fuse/FuseVariables.h"

#include "Hfta/Dialect/Hfta/IR/VariableNames.h"
#include "Hfta/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

#include <map>

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAFUSEMODELS
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

namespace {

/// A result of a fused function, for all copies or for one.
struct Output {
  std::string name;
  std::optional<int64_t> copy;
  Value value;
};

/// Builds one function of the array from the models' functions of that name.
/// Ops that correspond in all models become one op. All others are cloned for
/// each copy, and read the copy's slice of arrayed values.
class FunctionFuser {
public:
  FunctionFuser(const ArrayModels &array, const VariableFuser &variables,
                OpBuilder &builder, SmallVector<func::FuncOp> functions,
                int64_t &stackedConstants)
      : array(array), variables(variables), builder(builder),
        functions(std::move(functions)), stackedConstants(stackedConstants),
        fusedOf(this->functions.size()) {}

  /// Maps `argument` of a model's function to `value`, for all copies of the
  /// model.
  void bind(size_t model, Value argument, Value value) {
    fusedOf[model][argument] = value;
  }
  void bindForCopy(Value argument, int64_t copy, Value value) {
    valueOfCopy[{argument, copy}] = value;
  }

  /// Builds all ops except for the return.
  void build(bool fuse);
  /// Returns the outputs called `name`: one for all copies or, if types differ
  /// or not all models have it, one per copy. `perModel` has each model's
  /// value, or null.
  SmallVector<Output> getOutputs(StringRef name, ArrayRef<Value> perModel);

private:
  void fuseOps(ArrayRef<Operation *> ops);
  void replaceOps(ArrayRef<Operation *> ops, Operation *fused);
  void cloneForCopies(size_t model, ArrayRef<Operation *> ops);
  void cloneForCopy(Operation *op, int64_t copy);
  void fuseConstants(ArrayRef<Operation *> ops);
  /// Returns the array's value for all copies, from each model's value: a fused
  /// value that all models map to, or else a stack of the copies' values.
  Value getForAll(ArrayRef<Value> perModel);
  Value getForCopy(Value value, int64_t copy);
  void remark(size_t model, ArrayRef<Operation *> ops);

  const ArrayModels &array;
  const VariableFuser &variables;
  OpBuilder &builder;
  SmallVector<func::FuncOp> functions;
  int64_t &stackedConstants;
  /// For each model, maps its values to the array's values that replace them
  /// for all of the model's copies.
  SmallVector<DenseMap<Value, Value>> fusedOf;
  DenseMap<std::pair<Value, int64_t>, Value> valueOfCopy;
  std::map<std::vector<const void *>, Value> stacks;
};

/// Builds one array model from the models of a module.
class ModelFuser {
public:
  ModelFuser(ModuleOp module, const Job &job, SmallVector<ModelOp> models)
      : array(job, std::move(models)), builder(module.getContext()),
        variables(array, builder) {
    builder.setInsertionPointToEnd(module.getBody());
  }

  LogicalResult fuse();

private:
  LogicalResult fuseFunction(func::FuncOp first);
  LogicalResult checkArguments(ArrayRef<func::FuncOp> functions);
  void bindArguments(FunctionFuser &fuser, ArrayRef<func::FuncOp> functions,
                     Block *entry);
  void bindObjective(FunctionFuser &fuser, ArrayRef<func::FuncOp> functions,
                     Block *entry);
  LogicalResult checkNames(ArrayRef<Output> results,
                           ArrayRef<func::FuncOp> functions);
  LogicalResult finish(FunctionFuser &fuser, ArrayRef<func::FuncOp> functions,
                       func::FuncOp fused);

  ArrayModels array;
  OpBuilder builder;
  VariableFuser variables;
  int64_t stackedConstants = 0;
  SmallVector<Output> outputs; ///< the results of @forward, in order
};

} // namespace

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Returns whether an op reads statistics of all copies.
static bool isOfStatistics(ReadOp read) {
  auto variable = SymbolTable::lookupNearestSymbolFrom<VariableOp>(
      read, read.getVariableAttr());
  return isArrayed(read.getType()) && variable &&
         variable.getRole() == Role::statistics;
}

/// Reads one copy's statistics beside those of all copies. A later write for
/// another copy then changes nothing that this copy still uses.
static Value readForCopy(ReadOp read, int64_t copy) {
  OpBuilder builder(read->getContext());
  builder.setInsertionPointAfter(read);
  return ReadOp::create(builder, read.getLoc(), getLogicalType(read.getType()),
                        read.getVariable(), builder.getI64IntegerAttr(copy));
}

Value FunctionFuser::getForCopy(Value value, int64_t copy) {
  Value &known = valueOfCopy[{value, copy}];
  if (known)
    return known;
  Value fused = fusedOf[array.getModelOf(copy)].lookup(value);
  if (auto read = fused.getDefiningOp<ReadOp>(); read && isOfStatistics(read))
    fused = readForCopy(read, copy);
  else if (isArrayed(fused))
    fused = UnstackOp::create(builder, fused.getLoc(),
                              getLogicalType(fused.getType()), fused, copy);
  return known = fused;
}

Value FunctionFuser::getForAll(ArrayRef<Value> perModel) {
  Value first = fusedOf.front().lookup(perModel.front());
  bool same = first != nullptr;
  for (auto [model, value] : llvm::enumerate(perModel))
    same = same && fusedOf[model].lookup(value) == first;
  if (same)
    return first;
  SmallVector<Value> copies;
  std::vector<const void *> key;
  for (int64_t copy = 0; copy < array.getCopies(); ++copy) {
    copies.push_back(getForCopy(perModel[array.getModelOf(copy)], copy));
    key.push_back(copies.back().getAsOpaquePointer());
  }
  if (llvm::all_equal(copies))
    return copies.front();
  Value &stack = stacks[key];
  if (!stack)
    stack = StackOp::create(
        builder, copies.front().getLoc(),
        withCopies(copies.front().getType(), array.getCopies()), copies);
  return stack;
}

SmallVector<Output> FunctionFuser::getOutputs(StringRef name,
                                              ArrayRef<Value> perModel) {
  bool alike = llvm::all_of(perModel, [&](Value value) {
    return value && value.getType() == perModel.front().getType();
  });
  if (alike)
    return {{name.str(), std::nullopt, getForAll(perModel)}};
  SmallVector<Output> own;
  for (int64_t copy = 0; copy < array.getCopies(); ++copy)
    if (Value value = perModel[array.getModelOf(copy)])
      own.push_back({name.str(), copy, getForCopy(value, copy)});
  return own;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void FunctionFuser::build(bool fuse) {
  SmallVector<Block *> blocks;
  SmallVector<Block::iterator> position;
  for (func::FuncOp function : functions) {
    blocks.push_back(&function.getBody().front());
    position.push_back(blocks.back()->begin());
  }
  SmallVector<SmallVector<Operation *>> rows;
  if (fuse)
    rows = alignBlocks(
        blocks, [&](StringRef name) { return variables.isCommon(name); });
  SmallVector<Operation *> ends;
  for (Block *block : blocks)
    ends.push_back(block->getTerminator());
  for (size_t row = 0; row <= rows.size(); ++row) {
    ArrayRef<Operation *> next = row < rows.size() ? rows[row] : ends;
    for (size_t model = 0; model < blocks.size(); ++model) {
      SmallVector<Operation *> own;
      for (; &*position[model] != next[model]; ++position[model])
        own.push_back(&*position[model]);
      cloneForCopies(model, own);
      if (fuse)
        remark(model, own);
    }
    if (row == rows.size())
      break;
    fuseOps(next);
    for (Block::iterator &at : position)
      ++at;
  }
}

/// Fuses constants that correspond. Equal ones become one constant; others are
/// stacked in an arrayed variable or, if that isn't possible, stay separate for
/// each copy.
void FunctionFuser::fuseConstants(ArrayRef<Operation *> ops) {
  SmallVector<Attribute> values;
  bool same = true;
  for (Operation *op : ops) {
    values.push_back(cast<ConstantOp>(op).getValue());
    same &= haveSameContents(values.front(), values.back());
  }
  auto first = cast<ConstantOp>(ops.front());
  auto type = cast<RankedTensorType>(first.getType());
  if (same)
    return replaceOps(ops, builder.clone(*first));
  Attribute stacked = array.stackElements(values, type);
  if (!stacked) {
    for (auto [model, op] : llvm::enumerate(ops))
      cloneForCopies(model, op);
    return;
  }
  std::string name =
      names::getCompilerSymbol("constant/" + Twine(stackedConstants++));
  OpBuilder outer(builder.getInsertionBlock()->getParentOp());
  RankedTensorType arrayed = withCopies(type, array.getCopies());
  auto variable = VariableOp::create(outer, first.getLoc(), name, arrayed,
                                     Role::constant, stacked);
  replaceOps(ops, ReadOp::create(builder, first.getLoc(), arrayed,
                                 variable.getSymName(), IntegerAttr()));
}

void FunctionFuser::replaceOps(ArrayRef<Operation *> ops, Operation *fused) {
  for (auto [model, op] : llvm::enumerate(ops))
    for (auto [mine, result] : llvm::zip(op->getResults(), fused->getResults()))
      fusedOf[model][mine] = result;
}

void FunctionFuser::fuseOps(ArrayRef<Operation *> ops) {
  Operation *first = ops.front();
  if (isa<ConstantOp>(first))
    return fuseConstants(ops);
  SmallVector<Value> operands;
  for (unsigned index = 0; index < first->getNumOperands(); ++index) {
    SmallVector<Value> perModel;
    for (Operation *op : ops)
      perModel.push_back(op->getOperand(index));
    operands.push_back(getForAll(perModel));
  }
  Operation *fused;
  if (isa<ReadOp, WriteOp>(first)) {
    fused = builder.clone(*first);
    fused->setOperands(operands);
    if (auto read = dyn_cast<ReadOp>(fused))
      read.getResult().setType(variables.getType(read.getVariable()));
  } else {
    fused = cast<FusableOpInterface>(first).buildFused(builder, operands);
  }
  replaceOps(ops, fused);
}

void FunctionFuser::cloneForCopies(size_t model, ArrayRef<Operation *> ops) {
  ModelOp owner = array.getModels()[model];
  for (int64_t copy : owner.getCopies())
    for (Operation *op : ops)
      cloneForCopy(op, copy);
}

/// Turns an access to a model's variable into one to the copy's own variable,
/// or to its slice of a common variable.
template <typename AccessOp>
static void accessForCopy(AccessOp access, int64_t copy,
                          const VariableFuser &variables) {
  StringRef name = access.getVariable();
  if (!variables.isCommon(name))
    access.setVariable(variables.getSymbolOfCopy(name, copy));
  else if (isArrayed(variables.getType(name)))
    access.setCopy(copy);
}

void FunctionFuser::cloneForCopy(Operation *op, int64_t copy) {
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, getForCopy(operand, copy));
  Operation *clone = builder.clone(*op, mapping);
  if (auto read = dyn_cast<ReadOp>(clone))
    accessForCopy(read, copy, variables);
  else if (auto write = dyn_cast<WriteOp>(clone))
    accessForCopy(write, copy, variables);
  for (auto [mine, result] : llvm::zip(op->getResults(), clone->getResults()))
    valueOfCopy[{mine, copy}] = result;
}

/// Emits a remark on consecutive ops of a model that weren't fused, with the
/// reason.
void FunctionFuser::remark(size_t model, ArrayRef<Operation *> ops) {
  std::string reason;
  Operation *first = nullptr;
  size_t count = 0;
  for (Operation *op : ops) {
    auto read = dyn_cast<ReadOp>(op);
    if (read && reason.empty() && !variables.isCommon(read.getVariable()))
      reason = variables.explain(read.getVariable());
    if (isa<ReadOp, ConstantOp>(op))
      continue;
    ++count;
    if (!first)
      first = op;
  }
  if (!first)
    return;
  std::string copies;
  ModelOp owner = array.getModels()[model];
  for (int64_t copy : owner.getCopies())
    copies += (copies.empty() ? "" : ", ") + std::to_string(copy);
  remark::missed(first->getLoc(), remark::RemarkOpts::name("PerCopy").category(
                                      "hfta-fuse-models"))
      << (Twine(count) + " op(s) only for copy " + copies + ": " +
          (reason.empty() ? "the graphs differ here" : reason))
             .str();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Emits an error that two models can't be fused, at `first` with a note at
/// `other`, and returns failure.
static LogicalResult reportDifference(Operation *first, Operation *other,
                                      const Twine &what) {
  InFlightDiagnostic diagnostic =
      first->emitError("models of the array differ here: ") << what;
  diagnostic.attachNote(other->getLoc()) << "in the other model";
  return diagnostic;
}

LogicalResult ModelFuser::fuse() {
  ModelOp first = array.getModels().front();
  auto copies = llvm::to_vector(llvm::seq<int64_t>(0, array.getCopies()));
  auto fused = ModelOp::create(builder, first.getLoc(), "array", copies);
  builder.setInsertionPointToStart(&fused.getBody().emplaceBlock());
  if (failed(variables.fuse()))
    return failure();
  for (auto function : first.getBody().getOps<func::FuncOp>())
    if (failed(fuseFunction(function)))
      return failure();
  for (ModelOp model : array.getModels())
    model.erase();
  return success();
}

/// Checks that the functions have equal arguments, because all copies read the
/// same batch.
LogicalResult ModelFuser::checkArguments(ArrayRef<func::FuncOp> functions) {
  func::FuncOp first = functions.front();
  for (func::FuncOp other : functions.drop_front())
    if (other.getArgumentTypes() != first.getArgumentTypes() ||
        other.getArgAttrsAttr() != first.getArgAttrsAttr())
      return reportDifference(first, other,
                              "'" + first.getSymName() + "' has other inputs");
  return success();
}

void ModelFuser::bindArguments(FunctionFuser &fuser,
                               ArrayRef<func::FuncOp> functions, Block *entry) {
  for (size_t model = 0; model < functions.size(); ++model) {
    func::FuncOp function = functions[model];
    for (BlockArgument argument : function.getArguments())
      fuser.bind(model, argument, entry->getArgument(argument.getArgNumber()));
  }
}

static std::string getResultName(func::FuncOp function, unsigned index) {
  auto name = function.getResultAttrOfType<StringAttr>(
      index, HftaDialect::kNameAttrName);
  return name ? name.getValue().str() : std::to_string(index);
}

/// Adds the arguments of the fused @objective to `entry` and maps those of the
/// models' functions to them: first the array's results of @forward, for all or
/// for single copies, then the fields of the data.
void ModelFuser::bindObjective(FunctionFuser &fuser,
                               ArrayRef<func::FuncOp> functions, Block *entry) {
  Location loc = entry->getParentOp()->getLoc();
  for (const Output &output : outputs)
    entry->addArgument(output.value.getType(), loc);
  for (size_t model = 0; model < functions.size(); ++model) {
    func::FuncOp function = functions[model];
    ModelOp owner = array.getModels()[model];
    auto forward = owner.lookupSymbol<func::FuncOp>("forward");
    unsigned count = forward.getNumResults();
    for (unsigned index = 0; index < count; ++index)
      for (auto [place, output] : llvm::enumerate(outputs)) {
        if (output.name != getResultName(forward, index))
          continue;
        Value mine = function.getArgument(index);
        if (output.copy)
          fuser.bindForCopy(mine, *output.copy, entry->getArgument(place));
        else
          fuser.bind(model, mine, entry->getArgument(place));
      }
    for (BlockArgument field : function.getArguments().drop_front(count)) {
      unsigned place = outputs.size() + field.getArgNumber() - count;
      if (place == entry->getNumArguments())
        entry->addArgument(field.getType(), loc);
      fuser.bind(model, field, entry->getArgument(place));
    }
  }
}

/// Returns the results of the functions, each name once, in the order in which
/// names first occur.
static SmallVector<Output> collectOutputs(FunctionFuser &fuser,
                                          ArrayRef<func::FuncOp> functions) {
  llvm::MapVector<StringAttr, SmallVector<Value>> perName;
  for (size_t model = 0; model < functions.size(); ++model) {
    func::FuncOp function = functions[model];
    Operation *end = function.getBody().front().getTerminator();
    for (auto [index, value] : llvm::enumerate(end->getOperands())) {
      auto name = StringAttr::get(function.getContext(),
                                  getResultName(function, index));
      SmallVector<Value> &perModel = perName[name];
      perModel.resize(functions.size());
      perModel[model] = value;
    }
  }
  SmallVector<Output> outputs;
  for (const auto &[name, perModel] : perName)
    llvm::append_range(outputs, fuser.getOutputs(name.getValue(), perModel));
  return outputs;
}

LogicalResult ModelFuser::checkNames(ArrayRef<Output> results,
                                     ArrayRef<func::FuncOp> functions) {
  llvm::StringSet<> common;
  for (const Output &result : results)
    if (!result.copy)
      common.insert(result.name);
  for (const Output &result : results)
    if (result.copy && failed(checkNameOfCopy(
                           functions[array.getModelOf(*result.copy)], "output",
                           result.name, *result.copy, [&](StringRef name) {
                             return common.contains(name);
                           })))
      return failure();
  return success();
}

/// Builds the return of all models' results, and sets the fused function's type
/// and result attributes.
LogicalResult ModelFuser::finish(FunctionFuser &fuser,
                                 ArrayRef<func::FuncOp> functions,
                                 func::FuncOp fused) {
  SmallVector<Output> results = collectOutputs(fuser, functions);
  func::FuncOp first = functions.front();
  bool isOfCopies = llvm::any_of(
      results, [](const Output &result) { return result.copy.has_value(); });
  if (isOfCopies && fused.getSymName() == "objective")
    return reportDifference(first, functions.back(),
                            "the losses of the copies have different shapes");
  if (failed(checkNames(results, functions)))
    return failure();
  SmallVector<Value> values;
  SmallVector<Attribute> attributes;
  bool isNamed = first.getResAttrsAttr() != nullptr;
  for (const Output &result : results) {
    values.push_back(result.value);
    NamedAttrList list;
    if (isNamed)
      list.set(HftaDialect::kNameAttrName, builder.getStringAttr(result.name));
    if (result.copy)
      list.set(HftaDialect::kCopyAttrName,
               builder.getI64IntegerAttr(*result.copy));
    attributes.push_back(list.getDictionary(builder.getContext()));
  }
  func::ReturnOp::create(builder, fused.getLoc(), values);
  fused.setFunctionType(FunctionType::get(
      builder.getContext(), fused.getBody().front().getArgumentTypes(),
      ValueRange(values).getTypes()));
  if (isNamed || isOfCopies)
    fused.setResAttrsAttr(builder.getArrayAttr(attributes));
  if (fused.getSymName() == "forward")
    outputs = std::move(results);
  return success();
}

LogicalResult ModelFuser::fuseFunction(func::FuncOp first) {
  SmallVector<func::FuncOp> functions;
  for (ModelOp model : array.getModels()) {
    auto function = model.lookupSymbol<func::FuncOp>(first.getSymName());
    if (!function)
      return reportDifference(
          first, model, "function '" + first.getSymName() + "' is missing");
    functions.push_back(function);
  }
  bool isObjective = first.getSymName() == "objective";
  if (!isObjective && failed(checkArguments(functions)))
    return failure();
  OpBuilder::InsertionGuard guard(builder);
  auto fused = func::FuncOp::create(builder, first.getLoc(), first.getSymName(),
                                    first.getFunctionType());
  fused->setDialectAttrs(first->getDialectAttrs());
  Block *entry = &fused.getBody().emplaceBlock();
  builder.setInsertionPointToStart(entry);
  // All copies use the same data, which are prepared once.
  bool isPrepare = first.getSymName() == "prepare";
  if (isPrepare)
    functions.assign(functions.size(), first);
  FunctionFuser fuser(array, variables, builder, functions, stackedConstants);
  if (isObjective) {
    bindObjective(fuser, functions, entry);
  } else {
    if (ArrayAttr attributes = first.getArgAttrsAttr())
      fused.setArgAttrsAttr(attributes);
    for (BlockArgument argument : first.getArguments())
      entry->addArgument(argument.getType(), argument.getLoc());
    bindArguments(fuser, functions, entry);
  }
  fuser.build(array.getJob().fuse || isPrepare);
  return finish(fuser, functions, fused);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

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

  /// Checks that every copy belongs to exactly one model.
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
