//===- ModelBuilder.cpp - The hfta.model under construction ---------------===//

#include "Building/ModelBuilder.h"

#include "Building/Node.h"
#include "Hfta/Dialect/Hfta/Job/ExactNumbers.h"
#include "Reading/Branches.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/SaveAndRestore.h"

namespace mlir::hfta::onnx_import {

using ::onnx::NodeProto;

ModelBuilder::ModelBuilder(const Graph &graph, const OnnxImportOptions &options,
                           Reporter &reporter, ModuleOp module)
    : graph(graph), options(options), reporter(reporter),
      builder(module.getContext()), module(module),
      modes(options.evaluationMode, options.trainingMode) {}

Value ModelBuilder::createConstant(ElementsAttr elements, Location location,
                                   ElementsAttr exact) {
  auto constant = ConstantOp::create(builder, location, elements);
  setExactElements(constant, elements, exact);
  // A table made for a node that reads data may have the data's shape, and so
  // depend on the batch size.
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  if (followsBatch || (readsData && !(dense && dense.isSplat())))
    constant->setAttr(kFollowsBatchAttrName, builder.getUnitAttr());
  return constant;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

/// Checks the number of operands. Trailing operands without a name are absent.
bool ModelBuilder::checkOperands(const NodeProto &node,
                                 const OpHandler &handler) {
  uint32_t count = node.input_size();
  while (count > 0 && node.input(count - 1).empty())
    --count;
  if (count <= handler.operands)
    return true;
  reporter.invalid(node, "has " + Twine(count) +
                             " operands, expected at most " +
                             Twine(handler.operands));
  return false;
}

/// Returns whether the node is a `Constant` whose tensor is imported as a
/// variable. Such a node is skipped, because lookup() creates the variable as
/// soon as something reads it.
bool ModelBuilder::isParameterNode(const NodeProto &node) const {
  if (!options.training || node.op_type() != "Constant" ||
      node.output_size() != 1)
    return false;
  auto use = graph.initializerUses.find(node.output(0));
  return use != graph.initializerUses.end() && use->second.isNode &&
         (use->second.kind == InitializerUse::Kind::statistics ||
          trainingRules.contains(use->second.variable));
}

bool ModelBuilder::importBranch(const ::onnx::GraphProto &branch) {
  bool wasGood = !reporter.hasErrors();
  for (const NodeProto &node : branch.node())
    if (graph.live.contains(node))
      graph.checkOperator(node, reporter);
  for (const NodeProto &node : branch.node()) {
    if (!graph.live.contains(node))
      continue;
    for (const std::string &operand : getOperands(node))
      if (wasGood && isUsed(operand) && !lookup(operand)) {
        if (!reporter.hasErrors())
          reporter.invalid(node, "reads '" + operand +
                                     "', which no node before it defines");
        return false;
      }
    importNode(node);
  }
  return !reporter.hasErrors() || !wasGood;
}

void ModelBuilder::importNode(const NodeProto &node) {
  if (isParameterNode(node))
    return;
  const OpHandler *handler =
      isDefaultDomain(node.domain())
          ? findHandler(node.op_type(), graph.getOpset(node))
          : findOwnHandler(node.domain(), node.op_type());
  // An operand is null if the node that defines it failed, which has been
  // reported. Continue with nodes that don't depend on such a node, to find
  // more errors.
  bool ready = handler && llvm::all_of(node.input(), [&](const auto &operand) {
                 return operand.empty() || lookup(operand);
               });
  if (!ready || !checkOperands(node, *handler))
    return;
  auto isAny = [&](llvm::function_ref<bool(Value)> holds) {
    return llvm::any_of(node.input(), [&](const auto &operand) {
      return !operand.empty() && holds(lookup(operand));
    });
  };
  llvm::SaveAndRestore data(
      readsData, isAny([&](Value value) { return isBatched(value); }));
  llvm::SaveAndRestore sizes(followsBatch, isAny([](Value value) {
                               Operation *op = value.getDefiningOp();
                               return op && op->hasAttr(kFollowsBatchAttrName);
                             }));
  Node view(*this, node);
  handler->import(view);
  if (view.failed())
    return;
  for (unsigned index = 0; index < view.getNumOutputs(); ++index)
    if (view.isOutputUsed(index) && !values.contains(view.getOutputName(index)))
      reporter.unsupported(node, "its output '" + view.getOutputName(index) +
                                     "' is not supported");
}

Value ModelBuilder::lookup(StringRef name) {
  auto found = values.find(name);
  if (found != values.end())
    return found->second;
  auto use = graph.initializerUses.find(name);
  if (use == graph.initializerUses.end())
    return Value();
  Value value = materialize(name, use->second);
  if (value)
    values[name] = value;
  return value;
}

//===----------------------------------------------------------------------===//
// The whole import
//===----------------------------------------------------------------------===//

/// Erases ops that have no use, then variables that nothing accesses.
void ModelBuilder::removeUnused() {
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(forward.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  llvm::StringSet<> accessed;
  for (Operation &op : forward.getBody().front())
    if (auto read = dyn_cast<ReadOp>(op))
      accessed.insert(read.getVariable());
    else if (auto write = dyn_cast<WriteOp>(op))
      accessed.insert(write.getVariable());
  for (Operation &op : llvm::make_early_inc_range(model.getBody().front()))
    if (auto variable = dyn_cast<VariableOp>(op))
      if (!accessed.contains(variable.getSymName()))
        op.erase();
}

ModelOp ModelBuilder::run() {
  Location file = reporter.getFileLocation();
  builder.setInsertionPointToEnd(module.getBody());
  model =
      ModelOp::create(builder, file, options.modelName, ArrayRef<int64_t>{0});
  Block *body = &model.getBody().emplaceBlock();
  builder.setInsertionPointToEnd(body);
  forward = func::FuncOp::create(builder, file, "forward",
                                 builder.getFunctionType({}, {}));
  builder.setInsertionPointToEnd(&forward.getBody().emplaceBlock());

  checkOptionNames();
  for (const NodeProto *node : graph.nodes)
    graph.checkOperator(*node, reporter);
  if (options.training)
    chooseTrained();
  bindInputs();
  for (const NodeProto *node : graph.nodes)
    importNode(*node);
  if (!reporter.hasErrors() && options.training)
    finishModes();
  if (!reporter.hasErrors() && finishOutputs()) {
    removeUnused();
    if (options.freshInitialization)
      initializeAnew(model, graph);
    if (succeeded(verify(model)))
      return model;
    reporter.invalid(file, "the imported model does not verify");
  }
  model.erase();
  return ModelOp();
}

} // namespace mlir::hfta::onnx_import
