//===- PlanPipeline.cpp - Assign each op to a block, by the cuts ----------===//

#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "Hfta/Dialect/Hfta/Job/Suggestions.h"
#include "Hfta/Transforms/Passes.h"
#include "Pipeline/ModelGraph.h"

#include "llvm/ADT/StringSet.h"

#include <map>

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAPLANPIPELINE
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

/// The most unknown names that are reported.
static constexpr size_t kMostUnknown = 20;
/// The most known names that a message lists if none is similar to the given
/// one.
static constexpr size_t kMostNames = 12;

namespace {

/// The name of a value in the cut with number `cut`.
struct CutName {
  StringRef name;
  int64_t cut;
  Location location;
};

class PipelinePlanner {
public:
  PipelinePlanner(const ModelGraph &graph, ArrayRef<CutName> cuts)
      : graph(graph), cuts(cuts) {}

  /// Finds the blocks, or reports what is wrong with the cuts.
  LogicalResult plan() {
    if (failed(checkNames()) || failed(findLevels()))
      return failure();
    moveToFirstUse();
    return checkBlocks();
  }
  /// Returns the block to which an op belongs.
  int64_t getBlock(Operation *op) const { return blockOf.lookup(op); }
  /// Sets the block attribute of each op.
  void note() {
    Builder builder(cuts.front().location.getContext());
    for (Operation *op : graph.getOps())
      op->setAttr(HftaDialect::kBlockAttrName,
                  builder.getI64IntegerAttr(blockOf.lookup(op)));
  }

private:
  int64_t getBlockCount() const { return cuts.back().cut + 2; }
  LogicalResult checkNames();
  LogicalResult findLevels();
  void moveToFirstUse();
  LogicalResult checkBlocks();
  LogicalResult reportOrder(const CutName &cut, const CutName &before);

  const ModelGraph &graph;
  ArrayRef<CutName> cuts;
  /// The entry of `cuts` that names the value of an op.
  DenseMap<Operation *, const CutName *> cutOf;
  DenseMap<Operation *, int64_t> blockOf;
};

} // namespace

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// Suggests names: "; did you mean 'pool1'?", or some of the known names.
static std::string suggestNames(StringRef name, ArrayRef<StringRef> known) {
  SmallVector<StringRef> names(known);
  if (names.size() > kMostNames) {
    // A multimap keeps the order of names with equal distances.
    std::multimap<unsigned, StringRef> near;
    for (StringRef other : known)
      near.insert({name.edit_distance(other), other});
    names = llvm::to_vector(llvm::make_second_range(near));
    names.truncate(kMostNames);
  }
  std::string hint = suggest(name, names, "names are");
  return hint.empty() ? "" : "; " + hint;
}

LogicalResult PipelinePlanner::checkNames() {
  SmallVector<StringRef> names = graph.getNames();
  llvm::StringSet<> seen;
  size_t unknown = 0;
  bool ok = true;
  for (const CutName &cut : cuts) {
    bool isNew = seen.insert(cut.name).second;
    SmallVector<Operation *> values = graph.findValues(cut.name);
    if (!values.empty() && isNew) {
      for (Operation *op : values)
        cutOf[op] = &cut;
      continue;
    }
    ok = false;
    if (!values.empty())
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
    return error << "in the same cut: leave out one of the two";
  return error << "in a later cut: list cuts in the order in which the model "
                  "computes their values";
}

/// Finds each op's block: an op that depends on a value of a cut comes after
/// the cut.
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

/// Assigns ops that neither depend on a cut nor are in one to the first block
/// that uses them. For example, the preparation of labels goes to the last
/// block. A write belongs to the block of the value that it writes.
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

/// Checks that each block computes something on which the loss depends.
LogicalResult PipelinePlanner::checkBlocks() {
  if (graph.getResults().empty())
    return success();
  SmallVector<bool> isFilled(getBlockCount());
  for (Operation *op : graph.findLive())
    if (op->getNumOperands() != 0)
      isFilled[blockOf.lookup(op)] = true;
  bool ok = true;
  for (auto [block, filled] : llvm::enumerate(isFilled)) {
    if (filled)
      continue;
    ok = false;
    // Report the cut that ends the block or, for the last block, the last cut.
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

/// Returns whether the model is cut wherever possible: for a memory budget, or
/// to recompute forwards block by block.
static bool wantsBlocks(const Job &job) {
  bool recomputes =
      job.training && job.getStageCount() == 1 && job.recomputes(/*stage=*/0);
  return job.hasBudget() || recomputes;
}

namespace {
/// The cuts between and within stages, and the number of each stage's first
/// block.
struct StageCuts {
  SmallVector<CutName> names;
  std::vector<int64_t> firstBlocks;
};
} // namespace

/// Merges the cuts between stages with cut points inside of the stages. A cut
/// point lies in the stage that computes its value; if it is the cut after that
/// stage, it isn't repeated.
static StageCuts mergeCuts(const ModelGraph &graph, ArrayRef<CutName> ofStages,
                           ArrayRef<CutName> points,
                           const PipelinePlanner &stages) {
  StageCuts merged = {{}, {0}};
  int64_t cut = 0;
  const CutName *point = points.begin();
  auto addPoints = [&](int64_t stage, ArrayRef<CutName> end) {
    SmallVector<Operation *> last;
    if (end.size() == 1)
      last = graph.findValues(end.front().name);
    for (; point != points.end(); ++point) {
      SmallVector<Operation *> values = graph.findValues(point->name);
      if (stages.getBlock(values.front()) != stage)
        return;
      if (values != last)
        merged.names.push_back({point->name, cut++, point->location});
    }
  };
  for (const CutName *next = ofStages.begin(); next != ofStages.end();) {
    const CutName *end = next;
    while (end != ofStages.end() && end->cut == next->cut)
      ++end;
    ArrayRef<CutName> own(next, end);
    addPoints(next->cut, own);
    for (const CutName &name : own)
      merged.names.push_back({name.name, cut, name.location});
    merged.firstBlocks.push_back(++cut);
    next = end;
  }
  addPoints(ofStages.back().cut + 1, {});
  return merged;
}

namespace {
struct PlanPipelinePass : hfta::impl::HftaPlanPipelineBase<PlanPipelinePass> {
  using HftaPlanPipelineBase::HftaPlanPipelineBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<Job> job = Job::read(module);
    if (failed(job))
      return signalPassFailure();
    SmallVector<ModelOp> models(module.getOps<ModelOp>());
    if (wantsBlocks(*job) && cuts.empty() && job->cuts.empty())
      cuts = {"all"};
    SmallVector<CutName> names = getNames(*job);
    if (!names.empty()) {
      if (models.size() != 1) {
        module.emitError("expected one fused hfta.model, found ")
            << models.size() << " models; run hfta-fuse-models first";
        return signalPassFailure();
      }
      ModelGraph graph(models.front());
      if (isAll())
        names = getCutPoints(graph);
      else if (job->goesByBlocks() && job->getStageCount() > 1 &&
               failed(cutStages(graph, *job, names)))
        return signalPassFailure();
      if (!names.empty() && failed(planBlocks(graph, names)))
        return signalPassFailure();
      noteCuts(names);
    }
    module->removeAttr(HftaDialect::kCutLocationsAttrName);
  }

  static LogicalResult planBlocks(const ModelGraph &graph,
                                  ArrayRef<CutName> names) {
    PipelinePlanner planner(graph, names);
    if (failed(planner.plan()))
      return failure();
    planner.note();
    return success();
  }

  /// Cuts the model within stages wherever possible, as well as between them,
  /// and notes the first block of each stage in the job.
  LogicalResult cutStages(const ModelGraph &graph, Job &job,
                          SmallVector<CutName> &names) {
    PipelinePlanner stages(graph, names);
    if (failed(stages.plan()))
      return failure();
    StageCuts cuts = mergeCuts(graph, names, getCutPoints(graph), stages);
    names = std::move(cuts.names);
    job.stageBlocks = std::move(cuts.firstBlocks);
    job.write(getOperation());
    return success();
  }

  /// Notes the cuts on the module, for later passes and messages.
  void noteCuts(ArrayRef<CutName> names) {
    Builder builder(&getContext());
    SmallVector<Attribute> noted;
    SmallVector<StringRef> cut;
    for (auto [index, name] : llvm::enumerate(names)) {
      cut.push_back(name.name);
      if (index + 1 < names.size() && names[index + 1].cut == name.cut)
        continue;
      noted.push_back(builder.getStrArrayAttr(cut));
      cut.clear();
    }
    if (!noted.empty())
      getOperation()->setAttr(HftaDialect::kCutsAttrName,
                              builder.getArrayAttr(noted));
  }

  bool isAll() const { return cuts.size() == 1 && cuts.front() == "all"; }

  SmallVector<CutName> getCutPoints(const ModelGraph &graph) {
    SmallVector<CutName> names;
    for (StringRef name : findCutPoints(graph))
      names.push_back({name, static_cast<int64_t>(names.size()),
                       UnknownLoc::get(&getContext())});
    return names;
  }

  /// Returns the names of the pass option's cuts, each of which is a cut of its
  /// own, or else of the job's cuts.
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
