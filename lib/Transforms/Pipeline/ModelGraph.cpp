//===- ModelGraph.cpp - A model's functions as one graph ------------------===//

#include "Pipeline/ModelGraph.h"
#include "Hfta/Dialect/Hfta/Job/LossTerms.h"
#include "Tasks/TaskBuilder.h"

using namespace mlir;
using namespace mlir::hfta;

ModelGraph::ModelGraph(ModelOp model) : model(model) {
  auto prepare = model.lookupSymbol<func::FuncOp>("prepare");
  auto forward = model.lookupSymbol<func::FuncOp>("forward");
  auto objective = model.lookupSymbol<func::FuncOp>("objective");
  SmallVector<Operation *> fields, outputs;
  if (prepare)
    fields = addFunction(prepare);
  if (prepare && forward)
    bindByName(prepare, fields, forward);
  if (forward)
    outputs = addFunction(forward);
  if (objective) {
    llvm::append_range(outputs, fields);
    for (auto [argument, op] : llvm::zip(objective.getArguments(), outputs))
      producerOf[argument] = op;
    results = addFunction(objective);
    FailureOr<std::vector<LossTerm>> terms =
        readLossTerms(model->getParentOfType<ModuleOp>());
    bool isSum = succeeded(terms) && !terms->empty();
    lossCount = std::min<size_t>(results.size(), isSum ? 3 * terms->size() : 2);
  }
  for (Operation *op : ops)
    if (StringRef name = getOriginName(op);
        op->getNumResults() != 0 && !name.empty())
      opsCalled[name].push_back(op);
}

SmallVector<Operation *> ModelGraph::addFunction(func::FuncOp function) {
  Block &body = function.getBody().front();
  for (Operation &op : body.without_terminator())
    ops.push_back(&op);
  SmallVector<Operation *> returned;
  for (Value value : body.getTerminator()->getOperands())
    returned.push_back(getProducer(value));
  return returned;
}

void ModelGraph::bindByName(func::FuncOp prepare, ArrayRef<Operation *> fields,
                            func::FuncOp forward) {
  for (BlockArgument argument : forward.getArguments())
    for (auto [index, op] : llvm::enumerate(fields))
      if (getPortName(prepare, index, /*isResult=*/true) ==
          getPortName(forward, argument.getArgNumber(), /*isResult=*/false))
        producerOf[argument] = op;
}

SmallVector<Operation *> ModelGraph::findLive() const {
  DenseSet<Operation *> live;
  for (Operation *op : getLosses())
    live.insert(op);
  SmallVector<Operation *> found;
  for (Operation *op : llvm::reverse(ops)) {
    if (!live.contains(op))
      continue;
    found.push_back(op);
    forEachProducer(op, [&](Operation *producer) { live.insert(producer); });
  }
  std::reverse(found.begin(), found.end());
  return found;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

SmallVector<StringRef> ModelGraph::getNames() const {
  return llvm::map_to_vector(opsCalled,
                             [](const auto &entry) { return entry.first; });
}

/// Returns whether the op only converts a value to another form of the same
/// name.
static bool isCarrier(Operation *op) {
  return isa<CastOp, StackOp, UnstackOp>(op);
}

/// Returns whether another op of the same name is computed from this one.
static bool feedsOwnName(Operation *op) {
  StringRef name = getOriginName(op);
  return llvm::any_of(op->getUsers(), [&](Operation *user) {
    return getOriginName(user) == name &&
           (!isCarrier(user) || feedsOwnName(user));
  });
}

SmallVector<Operation *> ModelGraph::findValues(StringRef name) const {
  const auto *named = opsCalled.find(name);
  if (named == opsCalled.end())
    return {};
  SmallVector<Operation *> values;
  for (Operation *op : named->second)
    if (!isCarrier(op) && !feedsOwnName(op) &&
        !llvm::all_of(op->getUsers(), llvm::IsaPred<WriteOp>))
      values.push_back(op);
  if (values.empty())
    values.push_back(named->second.back());
  return values;
}
