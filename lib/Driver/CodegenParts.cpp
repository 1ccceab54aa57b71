//===- CodegenParts.cpp - An LLVM module in parts -------------------------===//

#include "CodegenParts.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace mlir;
using namespace mlir::hfta;

/// The number of instructions that each part should have, and the most parts.
static constexpr size_t kPartInstructions = 8000;
static constexpr size_t kMaxParts = 8;

namespace {

/// Functions that call each other, directly or not.
struct Group {
  llvm::SmallVector<llvm::Function *> functions;
  size_t instructions = 0, number = 0;
};

} // namespace

/// Calls `visit` with each instruction and each global value that uses `value`,
/// directly or within constant expressions and aggregates.
static void forEachUser(const llvm::GlobalValue &value,
                        llvm::function_ref<void(const llvm::User *)> visit) {
  llvm::SmallVector<const llvm::User *> waiting(value.user_begin(),
                                                value.user_end());
  llvm::SmallPtrSet<const llvm::User *, 8> seen;
  while (!waiting.empty()) {
    const llvm::User *user = waiting.pop_back_val();
    if (!seen.insert(user).second)
      continue;
    if (llvm::isa<llvm::Instruction, llvm::GlobalValue>(user))
      visit(user);
    else
      waiting.append(user->user_begin(), user->user_end());
  }
}

/// Collects the groups in the order of the module.
static std::vector<Group> collectGroups(llvm::Module &module) {
  llvm::EquivalenceClasses<const llvm::Function *> classes;
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    classes.insert(&function);
    forEachUser(function, [&](const llvm::User *user) {
      if (auto *instruction = llvm::dyn_cast<llvm::Instruction>(user))
        classes.unionSets(&function, instruction->getFunction());
    });
  }
  llvm::MapVector<const llvm::Function *, Group> groups;
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

/// Assigns each function to a part: the largest groups come first, each goes to
/// the part with the fewest instructions so far.
static llvm::DenseMap<const llvm::GlobalValue *, size_t>
assignParts(std::vector<Group> groups, size_t parts) {
  llvm::sort(groups, [](const Group &a, const Group &b) {
    return std::tie(b.instructions, a.number) <
           std::tie(a.instructions, b.number);
  });
  llvm::SmallVector<size_t> load(parts, 0);
  llvm::DenseMap<const llvm::GlobalValue *, size_t> partOf;
  for (const Group &group : groups) {
    size_t part = llvm::min_element(load) - load.begin();
    load[part] += group.instructions;
    for (llvm::Function *function : group.functions)
      partOf[function] = part;
  }
  return partOf;
}

/// Whether instructions use the value, directly or within constants.
static bool isUsedByCode(const llvm::GlobalValue &value) {
  bool isUsed = false;
  forEachUser(value, [&](const llvm::User *user) {
    isUsed |= llvm::isa<llvm::Instruction>(user);
  });
  return isUsed;
}

/// Whether other global values use the value, such as a variable that points to
/// it.
static bool isUsedByGlobals(const llvm::GlobalValue &value) {
  bool isUsed = false;
  forEachUser(value, [&](const llvm::User *user) {
    isUsed |= llvm::isa<llvm::GlobalValue>(user);
  });
  return isUsed;
}

/// Whether the variable is shared memory, which a GPU's block has for the
/// duration of a kernel.
static bool isSharedMemory(const llvm::GlobalVariable &variable) {
  constexpr unsigned kSharedSpace = 3;
  return variable.getAddressSpace() == kSharedSpace;
}

/// Whether each part gets its own copy of a value: a constant that code alone
/// uses and that holds no addresses, or memory that holds nothing before a
/// kernel begins.
static bool isRepeated(const llvm::GlobalValue &value) {
  auto *variable = llvm::dyn_cast<llvm::GlobalVariable>(&value);
  if (!variable || !variable->hasLocalLinkage() || !variable->hasInitializer())
    return false;
  return isSharedMemory(*variable) ||
         (variable->isConstant() &&
          !variable->getInitializer()->needsRelocation() &&
          !isUsedByGlobals(value));
}

/// Whether another part may refer to a private symbol: a function that
/// variables of the first part point to, or a variable that functions use.
static bool isShared(const llvm::GlobalValue &value) {
  if (!value.hasLocalLinkage() || value.isDeclaration())
    return false;
  if (llvm::isa<llvm::Function>(value))
    return isUsedByGlobals(value);
  return !isRepeated(value) && isUsedByCode(value);
}

static void share(llvm::Module &module, llvm::StringRef prefix) {
  for (llvm::GlobalValue &value : module.global_values()) {
    if (!isShared(value))
      continue;
    value.setName(prefix + value.getName());
    value.setLinkage(llvm::GlobalValue::ExternalLinkage);
    value.setVisibility(llvm::GlobalValue::HiddenVisibility);
    value.setDSOLocal(true);
  }
}

/// Removes the declarations and copies that only other parts need.
static void removeUnneeded(llvm::Module &part) {
  for (llvm::GlobalValue &value : part.global_values())
    value.removeDeadConstantUsers();
  for (llvm::Function &function : llvm::make_early_inc_range(part))
    if (function.isDeclaration() && function.use_empty())
      function.eraseFromParent();
  for (llvm::GlobalVariable &variable :
       llvm::make_early_inc_range(part.globals()))
    if (variable.use_empty() &&
        (variable.isDeclaration() || isRepeated(variable)))
      variable.eraseFromParent();
}

std::vector<Bitcode> hfta::splitModule(llvm::Module &module,
                                       llvm::StringRef prefix) {
  std::vector<Group> groups = collectGroups(module);
  size_t instructions = 0;
  for (const Group &group : groups)
    instructions += group.instructions;
  size_t parts =
      std::clamp<size_t>(instructions / kPartInstructions, 1, kMaxParts);
  if (parts > 1)
    share(module, prefix);
  llvm::DenseMap<const llvm::GlobalValue *, size_t> partOf =
      assignParts(std::move(groups), parts);
  std::vector<Bitcode> codes(parts);
  for (size_t part = 0; part < parts; ++part) {
    llvm::ValueToValueMapTy mapping;
    std::unique_ptr<llvm::Module> clone =
        llvm::CloneModule(module, mapping, [&](const llvm::GlobalValue *value) {
          auto found = partOf.find(value);
          if (found != partOf.end())
            return found->second == part;
          return part == 0 || isRepeated(*value);
        });
    removeUnneeded(*clone);
    llvm::raw_svector_ostream os(codes[part]);
    llvm::WriteBitcodeToFile(*clone, os);
  }
  return codes;
}
