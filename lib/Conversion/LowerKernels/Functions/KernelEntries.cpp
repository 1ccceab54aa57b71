//===- KernelEntries.cpp - Kernels' C entry points ------------------------===//

#include "Functions/KernelEntries.h"
#include "Hfta/Conversion/LowerKernels.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::hfta;

void hfta::createEntry(ModuleOp module, const LoweredKernel &kernel) {
  OpBuilder builder(module.getContext());
  Operation *callee = module.lookupSymbol(kernel.name);
  builder.setInsertionPointAfter(callee);
  Location loc = kernel.loc;
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type none = LLVM::LLVMVoidType::get(builder.getContext());
  Type number = builder.getI64Type();
  bool hasLanes = kernel.lanes > 1;
  auto type = LLVM::LLVMFunctionType::get(
      none, {pointer, hasLanes ? pointer : number, pointer});
  auto entry = LLVM::LLVMFuncOp::create(
      builder, loc, (kernel.name.getValue() + kEntrySuffix).str(), type);
  Block *body = entry.addEntryBlock(builder);
  builder.setInsertionPointToStart(body);
  SmallVector<Value> arguments;
  auto loadAll = [&](Value table, Type element, unsigned count) {
    for (unsigned index = 0; index < count; ++index) {
      Value place = LLVM::GEPOp::create(
          builder, loc, pointer, element, table,
          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
      arguments.push_back(LLVM::LoadOp::create(builder, loc, element, place));
    }
  };
  loadAll(body->getArgument(0), pointer, kernel.buffers);
  if (hasLanes)
    loadAll(body->getArgument(1), number, kernel.lanes);
  else
    arguments.push_back(body->getArgument(1));
  arguments.push_back(body->getArgument(2));
  LLVM::CallOp::create(builder, loc, cast<LLVM::LLVMFuncOp>(callee), arguments);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}
