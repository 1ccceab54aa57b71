//===- PlanPipeline.cpp - Notes each op's block, by the cuts --------------===//
//
// A fused model's functions are one graph here: what `prepare` returns goes to
// `forward`, and what both return to `objective`.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/IR/Suggestions.h"
#include "Hfta/Transforms/Passes.h"
#include "TaskBuilder.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAPLANPIPELINE
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

/// Further names that no value has are not reported.
static constexpr size_t kMostUnknown = 20;
/// Names that a message lists where none is near.
static constexpr size_t kMostNames = 12;

//===----------------------------------------------------------------------===//
// The graph of a model
//===----------------------------------------------------------------------===//

namespace {

/// The ops of a model's functions, each after those that it depends on.
class ModelGraph {
public:
  explicit ModelGraph(ModelOp model) {
    auto prepare = model.lookupSymbol<func::FuncOp>("prepare");
    auto forward = model.lookupSymbol<func::FuncOp>("forward");
    auto objective = model.lookupSymbol<func::FuncOp>("objective");
    SmallVector<Operation *> fields, outputs;
    if (prepare)
      fields = addFunction(prepare);
    if (forward) {
      if (prepare)
        bindByName(prepare, fields, forward);
      outputs = addFunction(forward);
    }
    if (objective) {
      llvm::append_range(outputs, fields);
      for (auto [argument, op] : llvm::zip(objective.getArguments(), outputs))
        producerOf[argument] = op;
      results = addFunction(objective);
    }
  }

  ArrayRef<Operation *> getOps() const { return ops; }
  /// Of what `objective` returns: losses, weights, and a metric if there is
  /// one.
  ArrayRef<Operation *> getResults() const { return results; }
  /// Null: what the files hold.
  Operation *getProducer(Value value) const {
    if (Operation *op = value.getDefiningOp())
      return op;
    return producerOf.lookup(value);
  }
  /// Calls `visit` with each op that an op depends on.
  template <typename Visit>
  void forEachProducer(Operation *op, Visit visit) const {
    for (Value operand : op->getOperands())
      if (Operation *producer = getProducer(operand))
        visit(producer);
  }

private:
  /// Returns the ops of what the function returns.
  SmallVector<Operation *> addFunction(func::FuncOp function) {
    Block &body = function.getBody().front();
    for (Operation &op : body.without_terminator())
      ops.push_back(&op);
    SmallVector<Operation *> returned;
    for (Value value : body.getTerminator()->getOperands())
      returned.push_back(getProducer(value));
    return returned;
  }

  void bindByName(func::FuncOp prepare, ArrayRef<Operation *> fields,
                  func::FuncOp forward) {
    for (BlockArgument argument : forward.getArguments())
      for (auto [index, op] : llvm::enumerate(fields))
        if (getPortName(prepare, index, /*isResult=*/true) ==
            getPortName(forward, argument.getArgNumber(), /*isResult=*/false))
          producerOf[argument] = op;
  }

  SmallVector<Operation *> ops, results;
  DenseMap<Value, Operation *> producerOf; ///< of functions' arguments
};

/// A name that a cut consists of.
struct CutName {
  StringRef name;
  int64_t cut;
  Location location;
};

class PipelinePlanner {
public:
  PipelinePlanner(ModelOp model, ArrayRef<CutName> cuts)
      : model(model), cuts(cuts), graph(model) {}

  /// Notes the blocks, or diagnoses what is wrong with the cuts.
  LogicalResult plan() {
    if (failed(checkNames()) || failed(findLevels()))
      return failure();
    moveToFirstUse();
    if (failed(checkBlocks()))
      return failure();
    Builder builder(model.getContext());
    for (Operation *op : graph.getOps())
      op->setAttr(HftaDialect::kBlockAttrName,
                  builder.getI64IntegerAttr(blockOf.lookup(op)));
    return success();
  }

private:
  int64_t getBlockCount() const { return cuts.back().cut + 2; }
  LogicalResult checkNames();
  SmallVector<Operation *> findValues(ArrayRef<Operation *> named);
  LogicalResult findLevels();
  void moveToFirstUse();
  LogicalResult checkBlocks();
  LogicalResult reportOrder(const CutName &cut, const CutName &before);

  ModelOp model;
  ArrayRef<CutName> cuts;
  ModelGraph graph;
  llvm::MapVector<StringRef, SmallVector<Operation *>> opsCalled;
  /// The cut's name that an op's value is of.
  DenseMap<Operation *, const CutName *> cutOf;
  DenseMap<Operation *, int64_t> blockOf;
};

} // namespace

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// What puts a value of the same name into another form.
static bool isCarrier(Operation *op) {
  return isa<CastOp, StackOp, UnstackOp>(op);
}

/// Whether something of an op's own name is computed from it.
static bool feedsOwnName(Operation *op) {
  StringRef name = getOriginName(op);
  return llvm::any_of(op->getUsers(), [&](Operation *user) {
    return getOriginName(user) == name &&
           (!isCarrier(user) || feedsOwnName(user));
  });
}

/// The ops that compute a value, of all that have its name: one, or, where
/// copies have ops of their own, one a copy.
SmallVector<Operation *>
PipelinePlanner::findValues(ArrayRef<Operation *> named) {
  SmallVector<Operation *> values;
  for (Operation *op : named)
    if (!isCarrier(op) && !feedsOwnName(op) &&
        !llvm::all_of(op->getUsers(), llvm::IsaPred<WriteOp>))
      values.push_back(op);
  if (values.empty())
    values.push_back(named.back());
  return values;
}

/// "; did you mean 'pool1'?", or some names that there are.
static std::string suggestNames(StringRef name, ArrayRef<StringRef> known) {
  SmallVector<StringRef> names(known);
  if (names.size() > kMostNames) {
    auto distance = [&](StringRef other) { return name.edit_distance(other); };
    llvm::stable_sort(names, [&](StringRef first, StringRef second) {
      return distance(first) < distance(second);
    });
    names.truncate(kMostNames);
  }
  std::string hint = suggest(name, names, "names are");
  return hint.empty() ? "" : "; " + hint;
}

LogicalResult PipelinePlanner::checkNames() {
  for (Operation *op : graph.getOps())
    if (StringRef name = getOriginName(op);
        op->getNumResults() != 0 && !name.empty())
      opsCalled[name].push_back(op);
  SmallVector<StringRef> names =
      llvm::map_to_vector(opsCalled, [](auto &entry) { return entry.first; });
  llvm::StringSet<> seen;
  size_t unknown = 0;
  bool ok = true;
  for (const CutName &cut : cuts) {
    bool isNew = seen.insert(cut.name).second;
    auto *found = opsCalled.find(cut.name);
    if (found != opsCalled.end() && isNew) {
      for (Operation *op : findValues(found->second))
        cutOf[op] = &cut;
      continue;
    }
    ok = false;
    if (found != opsCalled.end())
      emitError(cut.location) << "the value '" << cut.name << "' is cut twice";
    else if (isNew && ++unknown <= kMostUnknown)
      emitError(cut.location)
          << "no value is named '" << cut.name << "' to cut after"
          << suggestNames(cut.name, names);
  }
  return success(ok);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

LogicalResult PipelinePlanner::reportOrder(const CutName &cut,
                                           const CutName &before) {
  InFlightDiagnostic error = emitError(cut.location)
                             << "the value '" << cut.name << "' depends on '"
                             << before.name << "' ";
  if (cut.cut == before.cut)
    return error << "of the same cut, and so comes after it: leave one out";
  return error << "of a later cut: name cuts in the order in which data go "
                  "through them";
}

/// What depends on a cut's value comes after the cut.
LogicalResult PipelinePlanner::findLevels() {
  DenseMap<Operation *, const CutName *> lastCut;
  for (Operation *op : graph.getOps()) {
    const CutName *last = nullptr;
    auto consider = [&](const CutName *cut) {
      if (cut && (!last || cut->cut > last->cut))
        last = cut;
    };
    graph.forEachProducer(op, [&](Operation *producer) {
      consider(lastCut.lookup(producer));
      consider(cutOf.lookup(producer));
    });
    const CutName *own = cutOf.lookup(op);
    if (own && last && last != own && last->cut >= own->cut)
      return reportOrder(*own, *last);
    lastCut[op] = last;
    blockOf[op] = last ? last->cut + 1 : 0;
  }
  return success();
}

/// What depends on no cut's value, and is none, goes to the first block that
/// uses it: a label's preparation to the last. A write goes with what it
/// writes.
void PipelinePlanner::moveToFirstUse() {
  DenseMap<Operation *, int64_t> firstUse;
  auto use = [&](Operation *op, int64_t block) {
    auto [entry, inserted] = firstUse.try_emplace(op, block);
    if (!inserted)
      entry->second = std::min(entry->second, block);
  };
  for (Operation *op : graph.getResults())
    if (op)
      use(op, getBlockCount() - 1);
  for (Operation *op : llvm::reverse(graph.getOps())) {
    int64_t &block = blockOf[op];
    auto first = firstUse.find(op);
    if (block == 0 && first != firstUse.end() && !cutOf.contains(op))
      block = first->second;
    if (block != 0 || op->getNumResults() != 0)
      graph.forEachProducer(op,
                            [&](Operation *producer) { use(producer, block); });
  }
  for (Operation *op : graph.getOps())
    if (op->getNumResults() == 0)
      graph.forEachProducer(op, [&](Operation *producer) {
        blockOf[op] = std::max(blockOf[op], blockOf[producer]);
      });
}

/// Each block computes something that the loss depends on.
LogicalResult PipelinePlanner::checkBlocks() {
  if (graph.getResults().empty())
    return success();
  DenseSet<Operation *> live;
  for (Operation *op : graph.getResults().take_front(2))
    live.insert(op);
  SmallVector<bool> isFilled(getBlockCount());
  for (Operation *op : llvm::reverse(graph.getOps())) {
    if (!live.contains(op))
      continue;
    graph.forEachProducer(op,
                          [&](Operation *producer) { live.insert(producer); });
    if (op->getNumOperands() != 0)
      isFilled[blockOf.lookup(op)] = true;
  }
  bool ok = true;
  for (auto [block, filled] : llvm::enumerate(isFilled)) {
    if (filled)
      continue;
    ok = false;
    // The cut that ends the block, or the last one, behind which nothing is.
    auto number = std::min<int64_t>(block, getBlockCount() - 2);
    const CutName *cut = llvm::find_if(
        cuts, [&](const CutName &other) { return other.cut == number; });
    emitError(cut->location)
        << "block " << block << " is empty: nothing that the loss depends on "
        << (number == static_cast<int64_t>(block)
                ? (number == 0 ? "comes before '"
                               : "lies between the cut before and '")
                : "comes after '")
        << cut->name << "'";
  }
  return success(ok);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct PlanPipelinePass : hfta::impl::HftaPlanPipelineBase<PlanPipelinePass> {
  using HftaPlanPipelineBase::HftaPlanPipelineBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<Job> job = Job::read(module);
    if (failed(job))
      return signalPassFailure();
    SmallVector<ModelOp> models(module.getOps<ModelOp>());
    SmallVector<CutName> names = getNames(*job);
    if (!names.empty()) {
      if (models.size() != 1) {
        module.emitError("expected one fused hfta.model, found ")
            << models.size() << " models; run hfta-fuse-models first";
        return signalPassFailure();
      }
      if (failed(PipelinePlanner(models.front(), names).plan()))
        return signalPassFailure();
    }
    module->removeAttr(HftaDialect::kCutLocationsAttrName);
  }

  /// Of the job, or of the option, each of which is a cut.
  SmallVector<CutName> getNames(const Job &job) {
    SmallVector<CutName> names;
    auto unknown = UnknownLoc::get(&getContext());
    for (auto [index, name] : llvm::enumerate(cuts))
      names.push_back({name, static_cast<int64_t>(index), unknown});
    if (!names.empty())
      return names;
    auto locations = getOperation()->getAttrOfType<ArrayAttr>(
        HftaDialect::kCutLocationsAttrName);
    for (auto [index, cut] : llvm::enumerate(job.cuts))
      for (StringRef name : cut) {
        Location location = unknown;
        if (locations && names.size() < locations.size())
          location = cast<LocationAttr>(locations[names.size()]);
        names.push_back({name, static_cast<int64_t>(index), location});
      }
    return names;
  }
};
} // namespace
