//===- LeftVariables.cpp - Variables that tasks pass on -------------------===//

#include "Tasks/LeftVariables.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::hfta;

SmallVector<LeftVariable> hfta::collectLeftVariables(ModuleOp module) {
  llvm::StringMap<SmallVector<WriteOp, 1>> writes;
  llvm::StringMap<SmallVector<ReadOp, 1>> reads;
  module.walk([&](Operation *op) {
    if (auto write = dyn_cast<WriteOp>(op))
      writes[write.getVariable()].push_back(write);
    else if (auto read = dyn_cast<ReadOp>(op))
      reads[read.getVariable()].push_back(read);
  });
  SmallVector<LeftVariable> left;
  for (auto variable : module.getOps<VariableOp>()) {
    MutableArrayRef<WriteOp> own = writes[variable.getSymName()];
    ArrayRef<ReadOp> readers = reads[variable.getSymName()];
    bool isOfCopies = llvm::any_of(
        readers, [](ReadOp read) { return read.getCopy().has_value(); });
    bool isLeft = variable.getRole() == Role::saved ||
                  variable.isFor(Purpose::batch_statistic);
    if (isLeft && own.size() == 1 && !isOfCopies &&
        own.front().getValue().getType() == variable.getType())
      left.push_back({variable, own.front(), llvm::to_vector(readers)});
  }
  return left;
}

bool hfta::isParameter(Value value, const SymbolTable &symbols) {
  auto read = value.getDefiningOp<ReadOp>();
  return read && !read.getCopy() &&
         symbols.lookup<VariableOp>(read.getVariable()).getRole() ==
             Role::parameter;
}
