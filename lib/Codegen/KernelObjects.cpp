//===- KernelObjects.cpp - Objects of kernels, from a cache ---------------===//

#include "Hfta/Codegen/KernelObjects.h"
#include "Hfta/Conversion/LowerKernels.h"
#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::hfta;

/// The attributes of a lowered kernel from which the program's tables are made.
static constexpr llvm::StringLiteral kLoweredAttrNames[] = {
    kItemsAttrName, kLanesAttrName, kOperandBytesAttrName,
    HftaDialect::kScratchBytesAttrName};

/// The separator between attributes and object in an entry of the cache.
static constexpr char kSeparator = '\0';

static std::string printLocally(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  op->print(os, OpPrintingFlags().useLocalScope().enableDebugInfo(false));
  return text;
}

/// Returns the kernel's text, without its name and locations; empty if the text
/// doesn't determine the object.
static std::string getText(func::FuncOp kernel) {
  std::string name = kernel.getSymName().str();
  kernel.setSymName("kernel");
  std::string text = printLocally(kernel);
  kernel.setSymName(name);
  bool isComplete = !StringRef(text).contains("dense_resource<") &&
                    kernel.getBody().getOps<func::CallOp>().empty();
  return isComplete ? text : "";
}

static std::string hash(llvm::ArrayRef<llvm::StringRef> texts) {
  llvm::SHA256 hash;
  for (llvm::StringRef text : texts) {
    hash.update(text);
    hash.update(llvm::StringRef(&kSeparator, 1));
  }
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

bool KernelObjects::load(KernelObject &kernel, func::FuncOp function) const {
  std::optional<std::string> entry = cache.load(kernel.key);
  if (!entry)
    return false;
  auto [text, object] = StringRef(*entry).split(kSeparator);
  auto attributes = dyn_cast_or_null<DictionaryAttr>(
      parseAttribute(text, function.getContext()));
  if (!attributes || object.empty())
    return false;
  kernel.object = object.str();
  kernel.isKnown = true;
  function.getContext()->loadDialect<LLVM::LLVMDialect>();
  declareKernel(function, kernel.name, attributes);
  function.erase();
  return true;
}

void KernelObjects::replaceKnown(ModuleOp module, llvm::StringRef prefix,
                                 bool verifiesSums) {
  cache = CodeCache::open();
  kernels.clear();
  // Kernels that were different before may have become equal when they were
  // lowered to this phase. Calls of all of them become calls of the first one.
  llvm::StringMap<StringAttr> names;
  std::string target;
  llvm::raw_string_ostream(target) << TargetAttr::get(module);
  for (auto function :
       llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    std::string text = isKernelOnTensors(function) ? getText(function) : "";
    if (text.empty())
      continue;
    // The symbol begins with the op that a kernel is named after, for
    // profilers.
    StringRef stem = function.getSymName().split('.').first;
    std::string symbol =
        (prefix + stem + "." + StringRef(hash({target, text})).take_front(16))
            .str();
    auto [name, isNew] = names.try_emplace(symbol, function.getSymNameAttr());
    if (!isNew) {
      if (succeeded(SymbolTable::replaceAllSymbolUses(
              function.getOperation(), name->second, module.getOperation())))
        function.erase();
      continue;
    }
    KernelObject &kernel = kernels.emplace_back();
    kernel.name = function.getSymName().str();
    kernel.symbol = symbol;
    kernel.key = cache.makeKey(
        hash({kernel.symbol, target, text, verifiesSums ? "verified" : ""}));
    load(kernel, function);
  }
}

void KernelObjects::takeCode(ModuleOp module) {
  llvm::SmallVector<llvm::StringRef> names;
  for (const KernelObject &kernel : kernels)
    if (!kernel.isKnown)
      names.push_back(kernel.name);
  llvm::StringMap<KernelModule> taken = takeKernels(module, names);
  for (KernelObject &kernel : kernels)
    if (auto found = taken.find(kernel.name); found != taken.end())
      kernel.code = std::move(found->second);
}

void KernelObjects::store(ModuleOp module) const {
  for (const KernelObject &kernel : kernels) {
    Operation *lowered = module.lookupSymbol(kernel.name);
    if (kernel.isKnown || kernel.object.empty() || !lowered)
      continue;
    NamedAttrList attributes;
    for (llvm::StringRef name : kLoweredAttrNames)
      if (Attribute attribute = lowered->getAttr(name))
        attributes.append(name, attribute);
    std::string entry;
    llvm::raw_string_ostream(entry)
        << attributes.getDictionary(module.getContext());
    entry += kSeparator;
    cache.store(kernel.key, entry + kernel.object);
  }
  cache.prune();
}
