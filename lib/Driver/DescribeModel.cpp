//===- DescribeModel.cpp - Identity and ONNX template of a model ----------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/Job.h"
#include "Hfta/Driver/Passes.h"
#include "Hfta/Export/Onnx/Export.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTADESCRIBEMODEL
#include "Hfta/Driver/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

/// Constants of up to this many elements are part of a graph, larger ones are
/// taken for weights.
static constexpr int64_t kMaxGraphConstant = 16;

//===----------------------------------------------------------------------===//
// Identity
//===----------------------------------------------------------------------===//

/// Prints an op without what depends on the batch size: result types and the
/// shapes that reshape and broadcast hold.
static void printAttributes(Operation &op, raw_ostream &os) {
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    ElementsAttr value = constant.getValue();
    if (value.getNumElements() <= kMaxGraphConstant)
      os << value;
    else
      os << value.getShapedType();
    return;
  }
  for (NamedAttribute attribute : op.getAttrs())
    if (attribute.getName() != "shape")
      os << ' ' << attribute.getName().getValue() << '='
         << attribute.getValue();
}

static void printGraph(func::FuncOp function, raw_ostream &os) {
  DenseMap<Value, unsigned> numbers;
  auto define = [&](ValueRange values) {
    for (Value value : values)
      numbers.try_emplace(value, numbers.size());
  };
  for (Block &block : function.getBody()) {
    define(block.getArguments());
    for (Operation &op : block) {
      define(op.getResults());
      os << op.getName() << '(';
      llvm::interleaveComma(op.getOperands(), os, [&](Value operand) {
        os << numbers.lookup(operand);
      });
      os << ')';
      printAttributes(op, os);
      os << '\n';
    }
  }
}

/// The text whose digest is the identity.
static void printModel(ModelOp model, StringRef optimizer, raw_ostream &os) {
  os << "optimizer " << optimizer << '\n';
  for (auto variable : model.getBody().getOps<VariableOp>())
    os << stringifyRole(variable.getRole()) << ' ' << variable.getOwnName()
       << ' ' << variable.getType() << (variable.getTrained() ? " trained" : "")
       << '\n';
  if (auto forward = model.lookupSymbol<func::FuncOp>("forward"))
    printGraph(forward, os);
}

static std::string computeIdentity(ModelOp model, StringRef optimizer) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printModel(model, optimizer, os);
  return llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(text)),
                     /*LowerCase=*/true);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct DescribeModelPass
    : hfta::impl::HftaDescribeModelBase<DescribeModelPass> {
  using HftaDescribeModelBase::HftaDescribeModelBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<Job> job = Job::read(module);
    if (failed(job))
      return signalPassFailure();
    auto models = module.getOps<ModelOp>();
    if (models.empty()) {
      module.emitError("module holds no hfta.model");
      return signalPassFailure();
    }
    SmallVector<Attribute> described;
    for (ModelOp model : models) {
      NamedAttrList list;
      list.set("copies",
               DenseI64ArrayAttr::get(&getContext(), model.getCopies()));
      list.set("identity",
               StringAttr::get(&getContext(),
                               computeIdentity(model, job->optimizer)));
      addExport(list, model);
      described.push_back(list.getDictionary(&getContext()));
    }
    module->setAttr(kModelsAttrName, ArrayAttr::get(&getContext(), described));
  }

  void addExport(NamedAttrList &list, ModelOp model) {
    std::vector<std::pair<Location, std::string>> reasons;
    FailureOr<OnnxExportTemplate> exported = failure();
    {
      ScopedDiagnosticHandler handler(
          &getContext(), [&](Diagnostic &diagnostic) {
            reasons.emplace_back(diagnostic.getLocation(), diagnostic.str());
            return success();
          });
      exported = exportOnnx(model);
    }
    if (succeeded(exported)) {
      list.set("export_header",
               StringAttr::get(&getContext(), exported->header));
      list.set("export_graph", StringAttr::get(&getContext(), exported->graph));
      return;
    }
    InFlightDiagnostic warning =
        model.emitWarning("the binary won't be able to export this model");
    for (const auto &[location, reason] : reasons)
      warning.attachNote(location) << reason;
  }
};
} // namespace
