//===- Export.cpp - hfta.model to ONNX ------------------------------------===//

#include "Hfta/Export/Onnx/Export.h"

#include "GraphWriter.h"
#include "Hfta/Dialect/Hfta/IR/HftaGradientOps.h"
#include "Hfta/Dialect/Hfta/IR/OnnxNames.h"
#include "Hfta/Dialect/Hfta/IR/Training.h"
#include "Hfta/Dialect/Hfta/IR/Turns.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::hfta {

static constexpr int64_t kIrVersion = 8;
static constexpr int64_t kOpset = 17;

/// Writes a list of the trained parameters into the file's metadata if the
/// importer couldn't find them by the initializers' names and uses. So another
/// training of the exported file trains the same initializers.
static void addParameterList(ModelOp model, ArrayRef<std::string> initializers,
                             ::onnx::ModelProto &header) {
  llvm::StringSet<> written;
  written.insert(initializers.begin(), initializers.end());
  std::string names;
  bool isNeeded = false;
  for (auto variable : model.getBody().getOps<VariableOp>()) {
    if (variable.getRole() != Role::parameter ||
        !written.contains(variable.getOwnName()))
      continue;
    TrainingRule rule = getTrainingRule(variable);
    bool isBuffer =
        rule == TrainingRule::unlisted || rule == TrainingRule::exporter;
    isNeeded |= isBuffer || rule == TrainingRule::listed ||
                rule == TrainingRule::trainable;
    if (!isBuffer)
      names += (names.empty() ? "" : "\n") + variable.getOwnName();
  }
  if (!isNeeded)
    return;
  auto *entry = header.add_metadata_props();
  entry->set_key(kOnnxParametersKey.str());
  entry->set_value(names);
}

/// Writes the names of frozen running statistics into the file's metadata:
/// batch normalizations normalize with these in training as well.
static void addFrozenStatistics(func::FuncOp forward,
                                ::onnx::ModelProto &header) {
  std::vector<std::string> names;
  auto add = [&](Value statistic) {
    while (auto cast = statistic.getDefiningOp<CastOp>())
      statistic = cast.getInput();
    auto read = statistic.getDefiningOp<ReadOp>();
    if (!read)
      return;
    std::string name = SymbolTable::lookupNearestSymbolFrom<VariableOp>(
                           read, read.getVariableAttr())
                           .getOwnName();
    if (!llvm::is_contained(names, name))
      names.push_back(name);
  };
  forward.walk([&](BatchNormOp norm) {
    if (!norm->hasAttr(kFrozenAttrName))
      return;
    add(norm.getRunningMean());
    add(norm.getRunningVariance());
  });
  if (names.empty())
    return;
  auto *entry = header.add_metadata_props();
  entry->set_key(kOnnxFrozenStatisticsKey.str());
  entry->set_value(llvm::join(names, "\n"));
}

/// Defines Hfta's own operator, the identity that stops gradients, as a
/// function in the file, for runtimes that don't know Hfta's domain.
static void addOwnOperator(::onnx::ModelProto &header) {
  auto *opset = header.add_opset_import();
  opset->set_domain(kOnnxDomain.str());
  opset->set_version(kOnnxDomainVersion);
  ::onnx::FunctionProto *function = header.add_functions();
  function->set_name(kOnnxStopGradient.str());
  function->set_domain(kOnnxDomain.str());
  function->add_input("input");
  function->add_output("output");
  ::onnx::NodeProto *node = function->add_node();
  node->set_op_type("Identity");
  node->add_input("input");
  node->add_output("output");
  auto *base = function->add_opset_import();
  base->set_domain("");
  base->set_version(kOpset);
}

FailureOr<OnnxExportTemplate> exportOnnx(ModelOp model) {
  func::FuncOp forward = getServed(model);
  if (!forward || forward.getBody().empty())
    return model.emitOpError("has no @forward to export");
  OnnxExportTemplate result;
  bool usesOwn = false;
  for (bool symbolic : {true, false}) {
    ::onnx::GraphProto graph;
    // If a job has several files, the models' names end in a number, which says
    // nothing about the exported copy.
    graph.set_name(model.getSymName().split('.').first.str());
    onnx_export::GraphWriter writer(forward, graph, symbolic);
    if (failed(writer.write()))
      return failure();
    if (writer.needsFixedBatch())
      continue;
    result.graph = graph.SerializeAsString();
    usesOwn = llvm::any_of(graph.node(), [](const ::onnx::NodeProto &node) {
      return node.domain() == kOnnxDomain;
    });
    result.parameters = writer.getParameters();
    result.symbolicBatch = symbolic;
    break;
  }
  ::onnx::ModelProto header;
  header.set_ir_version(kIrVersion);
  header.set_producer_name("hfta");
  header.add_opset_import()->set_version(kOpset);
  header.mutable_opset_import(0)->set_domain("");
  addParameterList(model, result.parameters, header);
  addFrozenStatistics(forward, header);
  if (usesOwn)
    addOwnOperator(header);
  result.header = header.SerializeAsString();
  return result;
}

} // namespace mlir::hfta
