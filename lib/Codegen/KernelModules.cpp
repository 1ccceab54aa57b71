//===- KernelModules.cpp - Kernels as modules of their own ----------------===//

#include "Hfta/Codegen/KernelModules.h"
#include "Hfta/Conversion/LowerKernels.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::hfta;

/// A kernel with fewer instructions stays in the program's module: a module and
/// an object of its own would take as long as compiling about 30 instructions.
static constexpr size_t kKernelInstructions = 150;

void hfta::declareKernel(Operation *place, llvm::StringRef name,
                         DictionaryAttr attributes) {
  OpBuilder builder(place);
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(builder.getContext()), {});
  auto declared =
      LLVM::LLVMFuncOp::create(builder, place->getLoc(), name, type);
  declared->setDiscardableAttrs(attributes);
  LLVM::LLVMFuncOp::create(builder, place->getLoc(),
                           name.str() + kEntrySuffix.str(), type);
}

static LLVM::LLVMFuncOp getDefinition(Operation *op) {
  auto function = dyn_cast<LLVM::LLVMFuncOp>(op);
  return function && !function.isExternal() ? function : nullptr;
}

/// Returns whether several modules may each have a copy of an op: declarations,
/// and constants, which have no identity.
static bool isRepeated(Operation *op) {
  if (isa<LLVM::LLVMFuncOp>(op))
    return true;
  auto variable = dyn_cast<LLVM::GlobalOp>(op);
  return variable && variable.getConstant() && variable.getValueOrNull();
}

/// Returns an estimate of a function's LLVM instructions. Constants aren't
/// counted, since LLVM has them as operands.
static size_t countInstructions(LLVM::LLVMFuncOp function) {
  size_t count = 0;
  function->walk([&](Operation *op) {
    count += !op->hasTrait<OpTrait::ConstantLike>() &&
             !isa<LLVM::AddressOfOp, LLVM::PoisonOp, LLVM::UndefOp>(op);
  });
  return count;
}

namespace {

/// Functions that call each other, and the other ops that they refer to.
struct Group {
  llvm::SmallVector<LLVM::LLVMFuncOp, 4> functions;
  llvm::SetVector<Operation *> others; ///< variables and declarations
};

/// The functions of a module, grouped by their calls.
class Functions {
public:
  explicit Functions(ModuleOp module);

  /// Returns the group of a kernel if the kernel could be moved to another
  /// module together with it; otherwise an empty group.
  Group findKernel(StringRef name) const;

private:
  void note(Operation &user, Operation *used);

  llvm::StringMap<Operation *> symbols;
  llvm::DenseMap<Operation *, llvm::SetVector<Operation *>> others;
  /// The functions that ops other than functions refer to.
  llvm::DenseSet<Operation *> entries;
  llvm::EquivalenceClasses<Operation *> classes;
};

} // namespace

void Functions::note(Operation &user, Operation *used) {
  if (!used)
    return;
  if (!getDefinition(&user)) {
    entries.insert(used);
    return;
  }
  if (getDefinition(used))
    classes.unionSets(&user, used);
  else
    others[&user].insert(used);
}

Functions::Functions(ModuleOp module) {
  for (Operation &op : module.getOps()) {
    if (auto symbol = dyn_cast<SymbolOpInterface>(op))
      symbols[symbol.getName()] = &op;
    if (getDefinition(&op))
      classes.insert(&op);
  }
  for (Operation &op : module.getOps())
    for (SymbolTable::SymbolUse use :
         SymbolTable::getSymbolUses(&op).value_or(SymbolTable::UseRange({})))
      note(op, symbols.lookup(use.getSymbolRef().getRootReference()));
}

Group Functions::findKernel(StringRef name) const {
  Operation *kernel = symbols.lookup(name);
  std::string entry = name.str() + kEntrySuffix.str();
  if (!kernel || !getDefinition(kernel) || !symbols.contains(entry))
    return {};
  Group group;
  for (Operation *op : classes.members(kernel)) {
    auto function = cast<LLVM::LLVMFuncOp>(op);
    if (entries.contains(op) && function.getName() != entry)
      return {};
    group.functions.push_back(function);
    if (auto found = others.find(op); found != others.end())
      group.others.insert_range(found->second);
  }
  if (!llvm::all_of(group.others, isRepeated))
    return {};
  llvm::sort(group.functions, [](LLVM::LLVMFuncOp a, LLVM::LLVMFuncOp b) {
    return a->isBeforeInBlock(b);
  });
  return group;
}

/// Moves the functions of a group into a module of their own, with clones of
/// what they refer to.
static OwningOpRef<ModuleOp> move(const Group &group) {
  Operation *first = group.functions.front();
  OwningOpRef<ModuleOp> code = ModuleOp::create(first->getLoc());
  Block *body = code->getBody();
  OpBuilder builder = OpBuilder::atBlockEnd(body);
  for (Operation *other : group.others)
    builder.clone(*other);
  for (LLVM::LLVMFuncOp function : group.functions)
    function->moveBefore(body, body->end());
  return code;
}

llvm::StringMap<KernelModule>
hfta::takeKernels(ModuleOp module, llvm::ArrayRef<llvm::StringRef> names) {
  Functions functions(module);
  llvm::StringMap<KernelModule> kernels;
  for (llvm::StringRef name : names) {
    Group group = functions.findKernel(name);
    size_t instructions = 0;
    for (LLVM::LLVMFuncOp function : group.functions)
      instructions += countInstructions(function);
    if (instructions < kKernelInstructions)
      continue;
    auto *kernel = llvm::find_if(group.functions, [&](LLVM::LLVMFuncOp op) {
      return op.getName() == name;
    });
    declareKernel(*kernel, name, (*kernel)->getDiscardableAttrDictionary());
    kernels[name] = {move(group), instructions};
  }
  return kernels;
}
