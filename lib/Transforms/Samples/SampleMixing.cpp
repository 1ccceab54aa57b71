//===- SampleMixing.cpp - Whether a model mixes samples -------------------===//

#include "Hfta/Transforms/Samples/SampleMixing.h"

#include "Hfta/Dialect/Hfta/IR/SampleMixing.h"
#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"
#include "Precision/Decompose.h"
#include "Samples/SampleTracker.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::hfta;

static Block *getBody(ModelOp model, StringRef function) {
  auto found = model.lookupSymbol<func::FuncOp>(function);
  return found ? &found.getBody().front() : nullptr;
}

/// Returns the size of axis 0 of the first argument that has an axis, or 1.
static int64_t countSamples(Block &block) {
  for (Value argument : block.getArguments())
    if (!getShape(argument).empty())
      return getShape(argument).front();
  return 1;
}

/// Returns the mixing of the first result that is mixed, if there is one.
static std::optional<Mixing> findFirst(const SampleTracker &tracker,
                                       ValueRange results) {
  for (Value result : results)
    if (std::optional<Mixing> mixing = tracker.findMixing(result))
      return mixing;
  return std::nullopt;
}

/// Returns the outputs on which the losses depend.
static SmallVector<Value> takeUsed(Block &objective, ValueRange outputs) {
  SmallVector<Value> used;
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
  arguments = tracker.follow(*forward, arguments);
  ValueRange outputs = forward->getTerminator()->getOperands();
  mixing.output = findFirst(tracker, outputs);
  Block *objective = getBody(*copy, "objective");
  if (!objective)
    return mixing;
  std::optional<Mixing> used =
      findFirst(tracker, takeUsed(*objective, outputs));
  // There is no objective for two samples. An objective compares each element
  // of an output with a label of the same sample, and doesn't sum over samples.
  // So it mixes samples if and only if the outputs that it uses do.
  if (ofTwo) {
    mixing.loss = used;
    return mixing;
  }
  for (Value field : objective->getArguments().drop_front(outputs.size()))
    arguments.push_back(tracker.getWhole(field));
  tracker.follow(*objective, arguments);
  mixing.loss = findFirst(tracker, objective->getTerminator()->getOperands());
  // A node of the model explains more than the loss that uses mixed values.
  if (mixing.loss && used)
    mixing.loss = used;
  return mixing;
}
