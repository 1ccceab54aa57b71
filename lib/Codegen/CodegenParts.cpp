//===- CodegenParts.cpp - Divides LLVM modules into parts -----------------===//

#include "Hfta/Codegen/CodegenParts.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace mlir;
using namespace mlir::hfta;

/// The number of instructions that a part should have, and the most parts.
/// Functions are distributed evenly over parts, which are compiled in parallel.
static constexpr size_t kPartInstructions = 8000;
static constexpr size_t kMaxParts = 8;

Bitcode hfta::writeBitcode(const llvm::Module &module) {
  Bitcode code;
  llvm::raw_svector_ostream os(code);
  llvm::WriteBitcodeToFile(module, os);
  return code;
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

namespace {

/// Functions that refer to each other, directly or through others.
struct Group {
  llvm::SmallVector<llvm::Function *> functions;
  size_t instructions = 0, number = 0;
};

} // namespace

/// Calls `visit` with each function that uses the value in an instruction,
/// directly or through constant expressions. Calls it with null for a use by a
/// global variable or by nothing.
static void visitUsers(const llvm::Value &value,
                       llvm::function_ref<void(llvm::Function *)> visit) {
  for (const llvm::User *user : value.users()) {
    if (const auto *instruction = llvm::dyn_cast<llvm::Instruction>(user))
      visit(const_cast<llvm::Function *>(instruction->getFunction()));
    else if (llvm::isa<llvm::GlobalValue>(user) || user->user_empty())
      visit(nullptr);
    else
      visitUsers(*user, visit);
  }
}

/// Returns the groups of a module's functions, in the order of the module.
static std::vector<Group> collectGroups(llvm::Module &module) {
  llvm::EquivalenceClasses<llvm::Function *> classes;
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    classes.insert(&function);
    visitUsers(function, [&](llvm::Function *user) {
      if (user)
        classes.unionSets(&function, user);
    });
  }
  llvm::MapVector<llvm::Function *, Group> groups;
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    Group &group = groups[classes.getLeaderValue(&function)];
    group.functions.push_back(&function);
    group.instructions += function.getInstructionCount();
  }
  std::vector<Group> list;
  for (auto &[leader, group] : groups) {
    group.number = list.size();
    list.push_back(std::move(group));
  }
  return list;
}

/// Distributes the groups over parts: the largest groups first, each to the
/// part with the fewest instructions so far.
static std::vector<Group> balance(std::vector<Group> groups, size_t parts) {
  llvm::sort(groups, [](const Group &a, const Group &b) {
    return std::tie(b.instructions, a.number) <
           std::tie(a.instructions, b.number);
  });
  std::vector<Group> balanced(parts);
  for (const Group &group : groups) {
    auto part = llvm::min_element(balanced, [](const Group &a, const Group &b) {
      return a.instructions < b.instructions;
    });
    part->instructions += group.instructions;
    llvm::append_range(part->functions, group.functions);
  }
  return balanced;
}

//===----------------------------------------------------------------------===//
// Moving functions
//===----------------------------------------------------------------------===//

/// Returns whether a variable is in the memory that the threads of a GPU's
/// block share. Its contents exist only while one kernel runs.
static bool isSharedMemory(const llvm::GlobalVariable &variable) {
  constexpr unsigned kSharedSpace = 3;
  return variable.getAddressSpace() == kSharedSpace;
}

/// Returns whether each part may have a copy of its own. Copies of a constant
/// without pointers can't be told apart, and shared memory has no contents
/// before a kernel begins.
static bool isRepeated(const llvm::GlobalVariable &variable) {
  return variable.hasLocalLinkage() && variable.hasInitializer() &&
         (isSharedMemory(variable) ||
          (variable.isConstant() &&
           !variable.getInitializer()->needsRelocation()));
}

void hfta::share(llvm::GlobalValue &value, const llvm::Twine &name) {
  value.setName(name);
  value.setLinkage(llvm::GlobalValue::ExternalLinkage);
  value.setVisibility(llvm::GlobalValue::HiddenVisibility);
  value.setDSOLocal(true);
}

namespace {

/// Moves functions into a module of their own. Globals that they refer to are
/// copied or declared there on demand.
class PartBuilder final : public llvm::ValueMaterializer {
public:
  PartBuilder(llvm::Module &whole, llvm::StringRef prefix)
      : prefix(prefix),
        part(std::make_unique<llvm::Module>("part", whole.getContext())) {
    part->setTargetTriple(whole.getTargetTriple());
    part->setDataLayout(whole.getDataLayout());
    if (llvm::NamedMDNode *flags = whole.getModuleFlagsMetadata())
      for (llvm::MDNode *flag : flags->operands())
        part->getOrInsertModuleFlagsMetadata()->addOperand(flag);
  }

  void move(llvm::ArrayRef<llvm::Function *> functions);
  CodePart take(size_t instructions) {
    return {instructions, writeBitcode(*part)};
  }

  llvm::Value *materialize(llvm::Value *value) override;

private:
  llvm::GlobalVariable *copy(llvm::GlobalVariable &variable);
  llvm::GlobalValue *declare(llvm::GlobalValue &value);

  llvm::StringRef prefix;
  std::unique_ptr<llvm::Module> part;
  llvm::ValueToValueMapTy mapping;
};

} // namespace

llvm::GlobalVariable *PartBuilder::copy(llvm::GlobalVariable &variable) {
  auto *copied = new llvm::GlobalVariable(
      *part, variable.getValueType(), variable.isConstant(),
      variable.getLinkage(), variable.getInitializer(), variable.getName(),
      /*InsertBefore=*/nullptr, variable.getThreadLocalMode(),
      variable.getAddressSpace());
  copied->copyAttributesFrom(&variable);
  return copied;
}

llvm::GlobalValue *PartBuilder::declare(llvm::GlobalValue &value) {
  if (value.hasLocalLinkage())
    share(value, prefix + value.getName());
  if (auto *function = llvm::dyn_cast<llvm::Function>(&value)) {
    llvm::Function *declared = llvm::Function::Create(
        function->getFunctionType(), llvm::GlobalValue::ExternalLinkage,
        function->getAddressSpace(), function->getName(), part.get());
    declared->copyAttributesFrom(function);
    return declared;
  }
  auto &variable = llvm::cast<llvm::GlobalVariable>(value);
  auto *declared = new llvm::GlobalVariable(
      *part, variable.getValueType(), variable.isConstant(),
      llvm::GlobalValue::ExternalLinkage, /*Initializer=*/nullptr,
      variable.getName(), /*InsertBefore=*/nullptr,
      variable.getThreadLocalMode(), variable.getAddressSpace());
  declared->copyAttributesFrom(&variable);
  return declared;
}

llvm::Value *PartBuilder::materialize(llvm::Value *value) {
  auto *global = llvm::dyn_cast<llvm::GlobalValue>(value);
  if (!global || global->getParent() == part.get())
    return nullptr;
  auto *variable = llvm::dyn_cast<llvm::GlobalVariable>(global);
  return variable && isRepeated(*variable) ? copy(*variable) : declare(*global);
}

void PartBuilder::move(llvm::ArrayRef<llvm::Function *> functions) {
  llvm::SmallVector<llvm::Function *> moved;
  for (llvm::Function *function : functions) {
    llvm::Function *created = llvm::Function::Create(
        function->getFunctionType(), function->getLinkage(),
        function->getAddressSpace(), function->getName(), part.get());
    mapping[function] = created;
    for (auto [from, to] : llvm::zip(function->args(), created->args()))
      mapping[&from] = &to;
    moved.push_back(created);
  }
  for (auto [from, to] : llvm::zip(functions, moved)) {
    llvm::SmallVector<llvm::ReturnInst *> returns;
    llvm::CloneFunctionInto(to, from, mapping,
                            llvm::CloneFunctionChangeType::DifferentModule,
                            returns, "", nullptr, nullptr, this);
    to->setVisibility(from->getVisibility());
  }
  llvm::SmallVector<llvm::GlobalValue::LinkageTypes> linkages;
  for (llvm::Function *function : functions) {
    linkages.push_back(function->getLinkage());
    function->deleteBody();
  }
  for (auto [from, to, linkage] : llvm::zip(functions, moved, linkages)) {
    from->removeDeadConstantUsers();
    if (from->use_empty()) {
      from->eraseFromParent();
      continue;
    }
    if (llvm::GlobalValue::isLocalLinkage(linkage)) {
      share(*from, prefix + to->getName());
      share(*to, from->getName());
    }
  }
}

/// Removes variables that the module doesn't use any more after functions have
/// been moved out of it.
static void removeUnusedVariables(llvm::Module &module) {
  for (llvm::GlobalVariable &variable :
       llvm::make_early_inc_range(module.globals())) {
    variable.removeDeadConstantUsers();
    if (variable.use_empty() &&
        (variable.isDeclaration() || isRepeated(variable)))
      variable.eraseFromParent();
  }
}

void hfta::nameConstants(llvm::Module &module) {
  removeUnusedVariables(module);
  for (llvm::GlobalVariable &variable : module.globals())
    if (variable.isConstant() && isRepeated(variable))
      variable.setName("constant");
}

std::vector<CodePart> hfta::splitModule(llvm::Module &module,
                                        llvm::StringRef prefix) {
  size_t count = std::clamp<size_t>(
      module.getInstructionCount() / kPartInstructions, 1, kMaxParts);
  std::vector<Group> balanced = balance(collectGroups(module), count);
  std::vector<CodePart> parts;
  for (const Group &group : llvm::drop_begin(balanced)) {
    PartBuilder builder(module, prefix);
    builder.move(group.functions);
    parts.push_back(builder.take(group.instructions));
  }
  if (!parts.empty())
    removeUnusedVariables(module);
  return parts;
}
