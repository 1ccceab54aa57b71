//===- Target.cpp - The list of targets -----------------------------------===//

#include "Hfta/Target/Target.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::hfta;

DeviceCompiler::~DeviceCompiler() = default;
Target::~Target() = default;

static llvm::SmallVector<const Target *> &getList() {
  static llvm::SmallVector<const Target *> list;
  return list;
}

void hfta::registerTarget(const Target &target) {
  if (!llvm::is_contained(getList(), &target))
    getList().push_back(&target);
}

llvm::ArrayRef<const Target *> hfta::getTargets() { return getList(); }

const Target *hfta::findTarget(llvm::StringRef name) {
  for (const Target *target : getTargets())
    if (target->getName() == name)
      return target;
  return nullptr;
}

const Target *Target::read(Operation *op) {
  Location loc = op->getLoc();
  TargetAttr attribute;
  for (; op && !attribute; op = op->getParentOp())
    if (isa<ModuleOp>(op))
      attribute = TargetAttr::get(op);
  if (!attribute)
    return getTargets().front();
  if (const Target *target = findTarget(attribute.getName()))
    return target;
  emitError(loc) << "unknown target '" << attribute.getName() << "' in '"
                 << HftaDialect::kTargetAttrName << "', expected "
                 << llvm::join(llvm::map_range(getTargets(),
                                               [](const Target *target) {
                                                 return target->getName();
                                               }),
                               " or ");
  return nullptr;
}
