//===- CodegenParts.cpp - An LLVM module in parts -------------------------===//

#include "CodegenParts.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
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

/// Collects the groups in the order of the module.
static std::vector<Group> collectGroups(llvm::Module &module) {
  llvm::EquivalenceClasses<llvm::Function *> classes;
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    classes.insert(&function);
    for (llvm::User *user : function.users())
      if (auto *instruction = llvm::dyn_cast<llvm::Instruction>(user))
        classes.unionSets(&function, instruction->getFunction());
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

static bool isUsedByInstructionsOnly(const llvm::GlobalValue &value) {
  return llvm::all_of(value.users(), [](const llvm::User *user) {
    return llvm::isa<llvm::Instruction>(user);
  });
}

/// Whether the variable is shared memory, which a GPU's block has for the
/// duration of a kernel.
static bool isSharedMemory(const llvm::GlobalVariable &variable) {
  constexpr unsigned kSharedSpace = 3;
  return variable.getAddressSpace() == kSharedSpace;
}

/// Whether each part gets its own copy of a value: a constant that only
/// instructions use and that holds no addresses, or memory that holds nothing
/// before a kernel begins.
static bool isRepeated(const llvm::GlobalValue &value) {
  auto *variable = llvm::dyn_cast<llvm::GlobalVariable>(&value);
  if (!variable || !variable->hasLocalLinkage() || !variable->hasInitializer())
    return false;
  return isSharedMemory(*variable) ||
         (variable->isConstant() &&
          !variable->getInitializer()->needsRelocation() &&
          isUsedByInstructionsOnly(value));
}

/// Whether another part may refer to a private symbol: a function that
/// variables of the first part point to, or a variable that functions use.
static bool isShared(const llvm::GlobalValue &value) {
  if (!value.hasLocalLinkage() || value.isDeclaration())
    return false;
  if (llvm::isa<llvm::Function>(value))
    return !isUsedByInstructionsOnly(value);
  return !isRepeated(value) && llvm::any_of(value.users(), [](auto *user) {
    return llvm::isa<llvm::Instruction>(user);
  });
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
    // Remove the declarations and copies that only other parts need.
    for (llvm::Function &function : llvm::make_early_inc_range(*clone))
      if (function.isDeclaration() && function.use_empty())
        function.eraseFromParent();
    for (llvm::GlobalVariable &variable :
         llvm::make_early_inc_range(clone->globals()))
      if (variable.use_empty() &&
          (variable.isDeclaration() || isRepeated(variable)))
        variable.eraseFromParent();
    llvm::raw_svector_ostream os(codes[part]);
    llvm::WriteBitcodeToFile(*clone, os);
  }
  return codes;
}
