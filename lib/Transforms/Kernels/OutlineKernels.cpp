//===- OutlineKernels.cpp - Move kernels' regions into functions ----------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/VariableNames.h"
#include "Hfta/Transforms/Passes.h"
#include "Tasks/CopyUses.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAOUTLINEKERNELS
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

namespace {
struct OutlineKernelsPass
    : hfta::impl::HftaOutlineKernelsBase<OutlineKernelsPass> {
  using HftaOutlineKernelsBase::HftaOutlineKernelsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> tasks;
    for (auto function : module.getOps<func::FuncOp>())
      if (function->hasAttr(HftaDialect::kTaskAttrName))
        tasks.push_back(function);
    SymbolTable symbols(module);
    uses.reset();
    if (int64_t copies = countCopiesApart(module))
      uses.emplace(module, copies);
    for (func::FuncOp task : tasks) {
      for (auto kernel : task.getOps<KernelOp>()) {
        if (!kernel.getBindings() || !kernel.getTies()) {
          kernel.emitError("kernel has no planned memory; run "
                           "hfta-plan-memory first");
          return signalPassFailure();
        }
        launch(kernel, outline(kernel, symbols));
      }
      for (Operation &op :
           llvm::make_early_inc_range(llvm::reverse(task.getBody().front())))
        if (!isa<LaunchOp, func::ReturnOp>(op))
          op.erase();
    }
  }

private:
  /// Returns a key that is equal for kernels with equal code.
  static std::string getKey(KernelOp kernel) {
    std::string key;
    llvm::raw_string_ostream stream(key);
    stream << kernel.getTiesAttr();
    for (Value argument : kernel.getBody().getArguments())
      stream << argument.getType();
    OpPrintingFlags flags;
    flags.printGenericOpForm().useLocalScope().enableDebugInfo(false);
    AsmState state(kernel, flags);
    for (Operation &op : kernel.getBody().front())
      op.print(stream, state);
    return key;
  }

  func::FuncOp outline(KernelOp kernel, SymbolTable &symbols) {
    func::FuncOp &function = functions[getKey(kernel)];
    if (function)
      return function;
    Block &body = kernel.getBody().front();
    auto yield = cast<YieldOp>(body.getTerminator());
    OpBuilder builder(&getContext());
    function =
        func::FuncOp::create(builder, kernel.getLoc(),
                             (names::kKernelPrefix + kernel.getName() + "." +
                              Twine(functions.size() - 1))
                                 .str(),
                             builder.getFunctionType(body.getArgumentTypes(),
                                                     yield.getOperandTypes()));
    function.setPrivate();
    function->setAttr("hfta.kernel", builder.getUnitAttr());
    function->setAttr("hfta.ties", kernel.getTiesAttr());
    symbols.insert(function);
    IRMapping mapping;
    kernel.getBody().cloneInto(&function.getBody(), mapping);
    Operation *end = function.getBody().front().getTerminator();
    builder.setInsertionPoint(end);
    func::ReturnOp::create(builder, yield.getLoc(), end->getOperands());
    end->erase();
    return function;
  }

  /// Returns the number of copies for which a kernel computes values; nothing
  /// if its values are shared.
  static std::optional<int64_t> getLaunchCopies(KernelOp kernel) {
    for (Value result : kernel.getResults())
      if (std::optional<int64_t> copies = getCopies(result.getType()))
        return copies;
    return std::nullopt;
  }

  static bool isOfEachCopy(BindingAttr place) {
    return place.getStride() != 0 && place.getCopy() < 0;
  }

  /// Returns the copy that a kernel serves, if it serves just one although none
  /// of its operands has a value for each copy.
  std::optional<int64_t> getOwner(KernelOp kernel) const {
    std::optional<int64_t> owner;
    if (uses && uses->getCopies(kernel).any()) {
      if (uses->getCopies(kernel).count() == 1)
        owner = uses->getCopies(kernel).find_first();
      return owner;
    }
    for (auto place : kernel.getBindingsAttr().getAsRange<BindingAttr>())
      if (!owner && place.getCopy() >= 0)
        owner = place.getCopy();
    return owner;
  }

  /// Returns the copies that a kernel serves, if these aren't all for which it
  /// would run.
  DenseI64ArrayAttr getOnly(KernelOp kernel) const {
    if (!uses || uses->getCopies(kernel).none() ||
        uses->getCopies(kernel).all())
      return {};
    return DenseI64ArrayAttr::get(
        kernel.getContext(),
        SmallVector<int64_t>(uses->getCopies(kernel).set_bits()));
  }

  void launch(KernelOp kernel, func::FuncOp function) const {
    OpBuilder builder(kernel);
    auto places = kernel.getBindingsAttr().getAsRange<BindingAttr>();
    bool perCopy = llvm::any_of(places, isOfEachCopy);
    std::optional<int64_t> owner;
    if (!perCopy)
      owner = getOwner(kernel);
    if (std::optional<int64_t> copies = getLaunchCopies(kernel))
      function->setAttr("hfta.copies", builder.getI64IntegerAttr(*copies));
    int64_t inputs = kernel.getInputs().size(), next = inputs;
    SmallVector<int64_t> written;
    ArrayRef<int64_t> ties = kernel.getTiesAttr().asArrayRef();
    for (int64_t tie : ties)
      written.push_back(tie < 0 ? next++ : tie);
    auto launch = LaunchOp::create(
        builder, kernel.getLoc(), function.getSymName(),
        kernel.getBindingsAttr(), inputs, written, perCopy,
        owner ? builder.getI64IntegerAttr(*owner) : IntegerAttr(),
        /*joins=*/false, perCopy ? getOnly(kernel) : DenseI64ArrayAttr());
    if (llvm::any_of(places, [&](BindingAttr place) {
          return place.getCopy() >= 0 && place.getCopy() != owner;
        }))
      launch->setAttr("hfta.reads_copies", builder.getUnitAttr());
  }

  /// The copies that ops serve, if some ops serve one copy only.
  std::optional<CopyUses> uses;
  llvm::StringMap<func::FuncOp> functions;
};
} // namespace
