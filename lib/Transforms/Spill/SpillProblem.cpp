//===- SpillProblem.cpp - The planning problem of a memory budget ---------===//

#include "Hfta/Transforms/Spill/SpillProblem.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::hfta;
using planning::SpillGroup;
using planning::SpillPlan;

static constexpr StringLiteral kAttribute = "hfta.spill_plan";

void hfta::noteSpillPlan(ModuleOp module, const SpillPlan &plan) {
  Builder builder(module.getContext());
  SmallVector<int64_t> ends, residencies, flags, values;
  for (const SpillGroup &group : plan.groups) {
    ends.push_back(group.endBlock);
    residencies.push_back(static_cast<int64_t>(group.residency));
    flags.push_back(int64_t(group.streamsInputs) << 1 |
                    int64_t(group.spillsGradients));
  }
  for (planning::Keep keep : plan.values)
    values.push_back(static_cast<int64_t>(keep));
  NamedAttrList to;
  to.set("turn", builder.getDenseI64ArrayAttr({plan.copies, plan.writeWindow}));
  to.set("ends", builder.getDenseI64ArrayAttr(ends));
  to.set("residencies", builder.getDenseI64ArrayAttr(residencies));
  to.set("flags", builder.getDenseI64ArrayAttr(flags));
  to.set("values", builder.getDenseI64ArrayAttr(values));
  module->setAttr(kAttribute, to.getDictionary(module.getContext()));
}

/// Returns the list of numbers called `key`; null if it isn't a list of numbers
/// from 0 to `last`.
static DenseI64ArrayAttr getList(DictionaryAttr from, StringRef key,
                                 int64_t last) {
  auto list = from.getAs<DenseI64ArrayAttr>(key);
  bool isWhole = list && llvm::all_of(list.asArrayRef(), [&](int64_t number) {
                   return number >= 0 && number <= last;
                 });
  return isWhole ? list : DenseI64ArrayAttr();
}

static std::optional<SpillPlan> read(DictionaryAttr from) {
  constexpr auto kAny = std::numeric_limits<int64_t>::max();
  DenseI64ArrayAttr turn = getList(from, "turn", kAny);
  DenseI64ArrayAttr ends = getList(from, "ends", kAny);
  DenseI64ArrayAttr residencies =
      getList(from, "residencies",
              static_cast<int64_t>(planning::Residency::everything));
  DenseI64ArrayAttr flags = getList(from, "flags", 3);
  DenseI64ArrayAttr values =
      getList(from, "values", static_cast<int64_t>(planning::Keep::recompute));
  if (!turn || turn.size() != 2 || !ends || !residencies || !flags || !values ||
      ends.size() != residencies.size() || ends.size() != flags.size())
    return std::nullopt;
  SpillPlan plan;
  plan.copies = turn[0];
  plan.writeWindow = turn[1];
  int64_t first = 0;
  for (int64_t group = 0; group < ends.size(); ++group) {
    plan.groups.push_back({first, ends[group],
                           static_cast<planning::Residency>(residencies[group]),
                           (flags[group] & 2) != 0, (flags[group] & 1) != 0});
    first = ends[group];
  }
  for (int64_t keep : values.asArrayRef())
    plan.values.push_back(static_cast<planning::Keep>(keep));
  return plan;
}

FailureOr<std::optional<SpillPlan>>
hfta::takeSpillPlan(ModuleOp module, const planning::SpillModel &model) {
  Attribute attribute = module->removeAttr(kAttribute);
  if (!attribute)
    return std::optional<SpillPlan>();
  auto from = dyn_cast<DictionaryAttr>(attribute);
  std::optional<SpillPlan> plan = from ? read(from) : std::nullopt;
  if (!plan)
    return module.emitError("'")
           << kAttribute << "' must be what noteSpillPlan writes";
  if (llvm::Error error = planning::checkPlan(model, *plan))
    return module.emitError("'")
           << kAttribute << "': " << llvm::toString(std::move(error));
  return plan;
}
