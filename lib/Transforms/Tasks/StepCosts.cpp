//===- StepCosts.cpp - Times of a step's tasks and transfers --------------===//

#include "Hfta/Transforms/Tasks/StepCosts.h"

#include "mlir/IR/Builders.h"

#include <cmath>

using namespace mlir;
using namespace mlir::hfta;

static constexpr StringLiteral kAttribute = "hfta.step_costs";

static DictionaryAttr writeSeconds(Builder builder,
                                   const llvm::StringMap<double> &seconds) {
  NamedAttrList to;
  for (const auto &entry : seconds)
    to.set(entry.getKey(), builder.getF64FloatAttr(entry.getValue()));
  return to.getDictionary(builder.getContext());
}

void StepCosts::write(ModuleOp module) const {
  Builder builder(module.getContext());
  NamedAttrList to;
  to.set("tasks", writeSeconds(builder, tasks));
  to.set("parts", writeSeconds(builder, parts));
  to.set("store", builder.getDenseF64ArrayAttr({store.readBytesPerSecond,
                                                store.writeBytesPerSecond,
                                                store.secondsPerTransfer}));
  to.set("shared", builder.getBoolAttr(store.isShared));
  module->setAttr(kAttribute, to.getDictionary(module.getContext()));
}

static bool readSeconds(DictionaryAttr from, StringRef key,
                        llvm::StringMap<double> &to) {
  auto list = from.getAs<DictionaryAttr>(key);
  if (!list)
    return false;
  for (NamedAttribute entry : list) {
    auto value = dyn_cast<FloatAttr>(entry.getValue());
    double seconds = value ? value.getValueAsDouble() : -1;
    if (!(seconds >= 0 && std::isfinite(seconds)))
      return false;
    to[entry.getName()] = seconds;
  }
  return true;
}

static bool readStore(DictionaryAttr from, planning::StoreRates &to) {
  auto rates = from.getAs<DenseF64ArrayAttr>("store");
  auto isShared = from.getAs<BoolAttr>("shared");
  if (!rates || rates.size() != 3 || !isShared ||
      !llvm::all_of(rates.asArrayRef(),
                    [](double rate) { return rate >= 0; }) ||
      rates[0] == 0 || rates[1] == 0)
    return false;
  to = {rates[0], rates[1], rates[2], isShared.getValue()};
  return true;
}

FailureOr<std::optional<StepCosts>> StepCosts::read(ModuleOp module) {
  Attribute attribute = module->getAttr(kAttribute);
  if (!attribute)
    return std::optional<StepCosts>();
  StepCosts costs;
  auto from = dyn_cast<DictionaryAttr>(attribute);
  if (from && readSeconds(from, "tasks", costs.tasks) &&
      readSeconds(from, "parts", costs.parts) && readStore(from, costs.store))
    return std::optional(std::move(costs));
  return module.emitError("'")
         << kAttribute << "' must be what hfta-plan-spill writes";
}
