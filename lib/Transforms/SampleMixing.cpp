//===- SampleMixing.cpp - Whether a model mixes samples -------------------===//

#include "Hfta/Transforms/SampleMixing.h"

#include "Decompose.h"
#include "Hfta/Dialect/Hfta/IR/SampleMixing.h"
#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"
#include "SampleTracker.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::hfta;

static Block *getBody(ModelOp model, StringRef function) {
  auto found = model.lookupSymbol<func::FuncOp>(function);
  return found ? &found.getBody().front() : nullptr;
}

/// Returns the size of axis 0 of the first argument that has one.
static int64_t countSamples(Block &block) {
  for (Value argument : block.getArguments())
    if (!getShape(argument).empty())
      return getShape(argument).front();
  return 1;
}

/// Returns the mixing that comes first of all results'.
static std::optional<Mixing> findFirst(const SampleTracker &tracker,
                                       ArrayRef<SampleState> results) {
  for (const SampleState &result : results)
    if (std::optional<Mixing> mixing = tracker.findMixing(result))
      return mixing;
  return std::nullopt;
}

/// Returns the outputs that the losses depend on.
static SmallVector<SampleState> takeUsed(Block &objective,
                                         ArrayRef<SampleState> outputs) {
  SmallVector<SampleState> used;
  for (auto [argument, output] : llvm::zip(objective.getArguments(), outputs))
    if (!argument.use_empty())
      used.push_back(output);
  return used;
}

ModelMixing hfta::findMixing(ModelOp model) {
  OwningOpRef<ModelOp> copy = model.clone();
  decomposeAll(*copy);
  ModelMixing mixing;
  Block *ofTwo = getBody(*copy, kForwardOfTwoName);
  Block *forward = ofTwo ? ofTwo : getBody(*copy, "forward");
  if (!forward)
    return mixing;
  SampleTracker tracker(countSamples(*forward));
  SmallVector<SampleState> arguments;
  for (Value argument : forward->getArguments())
    arguments.push_back(tracker.getWhole(argument));
  SmallVector<SampleState> outputs = tracker.follow(*forward, arguments);
  mixing.output = findFirst(tracker, outputs);
  Block *objective = getBody(*copy, "objective");
  if (!objective)
    return mixing;
  if (ofTwo) {
    mixing.loss = findFirst(tracker, takeUsed(*objective, outputs));
    return mixing;
  }
  for (Value field : objective->getArguments().drop_front(outputs.size()))
    outputs.push_back(tracker.getWhole(field));
  mixing.loss = findFirst(tracker, tracker.follow(*objective, outputs));
  return mixing;
}
