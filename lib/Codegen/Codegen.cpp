//===- Codegen.cpp - From the LLVM dialect to object code -----------------===//

#include "Hfta/Codegen/Codegen.h"
#include "Hfta/Codegen/CodegenParts.h"
#include "Hfta/Codegen/CompileParts.h"
#include "Hfta/Codegen/KernelObjects.h"
#include "Hfta/Codegen/LlvmCode.h"
#include "Hfta/Conversion/HftaToRuntime.h"
#include "Hfta/Conversion/LowerKernels.h"
#include "Hfta/Target/Processors.h"

#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/Internalize.h"

#include <functional>
#include <mutex>
#include <sys/resource.h>

using namespace mlir;
using namespace mlir::hfta;

unsigned hfta::getThreadLimit() {
  constexpr rlim_t kLittle = rlim_t(4) << 30;
  for (auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit;
    if (getrlimit(resource, &limit) == 0 && limit.rlim_cur < kLittle)
      return 1;
  }
  return 0;
}

//===----------------------------------------------------------------------===//
// Translation
//===----------------------------------------------------------------------===//

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createMachine(ProcessorAttr processor) {
  // Threads create machines at the same time, but initialization must run once.
  static std::once_flag registered;
  std::call_once(registered, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  return createTargetMachine(kHostTriple, kBaseCpu,
                             processor.getLlvmFeatures());
}

static void setFunctionTarget(llvm::Function &function,
                              ProcessorAttr processor) {
  function.addFnAttr("target-cpu", kBaseCpu);
  function.addFnAttr("target-features", processor.getLlvmFeatures());
  function.addFnAttr("prefer-vector-width",
                     std::to_string(8 * processor.getVectorBytes()));
  function.addFnAttr(llvm::Attribute::NoUnwind);
}

/// Translates an op in the LLVM dialect to an LLVM module for the target.
static llvm::Expected<std::unique_ptr<llvm::Module>>
translateModule(ModuleOp op, llvm::StringRef name, ProcessorAttr processor,
                llvm::LLVMContext &context) {
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machine =
      createMachine(processor);
  if (!machine)
    return machine.takeError();
  std::unique_ptr<llvm::Module> module =
      translateModuleToLLVMIR(op, context, name);
  if (!module)
    return llvm::createStringError("cannot translate to LLVM IR");
  std::string message;
  llvm::raw_string_ostream os(message);
  if (llvm::verifyModule(*module, &os))
    return llvm::createStringError("invalid LLVM IR: " + message);
  module->setTargetTriple(llvm::Triple(kHostTriple));
  module->setDataLayout((*machine)->createDataLayout());
  module->setPICLevel(llvm::PICLevel::BigPIC);
  for (llvm::Function &function : *module)
    if (!function.isDeclaration())
      setFunctionTarget(function, processor);
  return module;
}

LogicalResult CodeGenerator::translate(ModuleOp op) {
  llvm::Expected<std::unique_ptr<llvm::Module>> translated =
      translateModule(op, op.getName().value_or("hfta"), processor, context);
  if (!translated)
    return op.emitError() << llvm::toString(translated.takeError());
  module = std::move(*translated);
  if (!module->getNamedGlobal(kProgramSymbol))
    return op.emitError("module defines no '") << kProgramSymbol << "'";
  return success();
}

/// Translates a kernel that has an object of its own to an LLVM module. Its
/// symbols and constants get neutral names, as their names in MLIR depend on
/// what else is in the program.
static llvm::Expected<std::unique_ptr<llvm::Module>>
translateKernel(const KernelObject &kernel, ProcessorAttr processor,
                llvm::LLVMContext &context) {
  llvm::Expected<std::unique_ptr<llvm::Module>> module =
      translateModule(*kernel.code.code, "kernel", processor, context);
  if (!module)
    return module;
  std::string entry = kernel.name + kEntrySuffix.str();
  for (llvm::GlobalValue &value : (*module)->global_values()) {
    if (value.isDeclaration())
      continue;
    if (value.getName() == entry) {
      share(value, kernel.symbol);
      continue;
    }
    value.setName(llvm::isa<llvm::Function>(value) ? "kernel" : "constant");
    value.setLinkage(llvm::GlobalValue::PrivateLinkage);
  }
  return module;
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

void CodeGenerator::renameProgram(llvm::StringRef symbol) {
  llvm::GlobalVariable *program = module->getNamedGlobal(kProgramSymbol);
  program->setName(symbol);
  program->setVisibility(llvm::GlobalValue::HiddenVisibility);
}

/// Adds a constant of these bytes, aligned as cubins need it.
static llvm::GlobalVariable *
addBytes(llvm::Module &module, llvm::StringRef bytes, llvm::StringRef name) {
  llvm::Constant *data = llvm::ConstantDataArray::getString(
      module.getContext(), bytes, /*AddNull=*/false);
  auto *variable =
      new llvm::GlobalVariable(module, data->getType(), /*isConstant=*/true,
                               llvm::GlobalValue::InternalLinkage, data, name);
  variable->setAlignment(llvm::Align(64));
  return variable;
}

/// Defines the table of GPU images, with the members of the structs hfta_image
/// and hfta_image_table in order. Returns false if the module doesn't refer to
/// it.
bool CodeGenerator::addImages(llvm::ArrayRef<DeviceImage> images) {
  llvm::GlobalVariable *declared = module->getNamedGlobal(kImagesSymbol);
  if (!declared || !declared->isDeclaration())
    return false;
  llvm::IRBuilder<> builder(module->getContext());
  llvm::Type *pointer = builder.getPtrTy(), *count = builder.getInt64Ty(),
             *number = builder.getInt32Ty();
  auto *type = llvm::StructType::get(module->getContext(),
                                     {pointer, count, pointer, number, number});
  llvm::SmallVector<llvm::Constant *> rows;
  for (const DeviceImage &image : images)
    rows.push_back(llvm::ConstantStruct::get(
        type,
        {addBytes(*module, image.data, "image"),
         builder.getInt64(image.data.size()),
         addBytes(*module, image.chip + '\0', "chip"),
         builder.getInt32(image.kind), builder.getInt32(image.warpGroups)}));
  auto *rowsType = llvm::ArrayType::get(type, rows.size());
  auto *table = new llvm::GlobalVariable(
      *module, rowsType, /*isConstant=*/true,
      llvm::GlobalValue::InternalLinkage,
      llvm::ConstantArray::get(rowsType, rows), "images");
  llvm::Constant *head = llvm::ConstantStruct::getAnon(
      {static_cast<llvm::Constant *>(table), builder.getInt64(rows.size())});
  auto *all = new llvm::GlobalVariable(
      *module, head->getType(),
      /*isConstant=*/true, llvm::GlobalValue::InternalLinkage, head);
  declared->replaceAllUsesWith(all);
  declared->eraseFromParent();
  all->setName(kImagesSymbol);
  return true;
}

/// Adds a constant array of pointers to the programs.
static llvm::GlobalVariable *
addProgramTable(llvm::Module &module, llvm::ArrayRef<std::string> programs) {
  llvm::LLVMContext &context = module.getContext();
  llvm::SmallVector<llvm::Constant *> pointers;
  for (llvm::StringRef program : programs)
    pointers.push_back(
        module.getOrInsertGlobal(program, llvm::Type::getInt8Ty(context)));
  auto *type = llvm::ArrayType::get(llvm::PointerType::getUnqual(context),
                                    pointers.size());
  return new llvm::GlobalVariable(
      module, type, /*isConstant=*/true, llvm::GlobalValue::InternalLinkage,
      llvm::ConstantArray::get(type, pointers), "hfta_programs");
}

void CodeGenerator::addMain(llvm::ArrayRef<std::string> programs) {
  llvm::IRBuilder<> builder(module->getContext());
  llvm::Type *pointer = builder.getPtrTy();
  llvm::Type *integer = builder.getInt32Ty();
  llvm::Type *count = builder.getInt64Ty();
  llvm::Function *main = llvm::Function::Create(
      llvm::FunctionType::get(integer, {integer, pointer}, false),
      llvm::Function::ExternalLinkage, "main", *module);
  llvm::FunctionCallee run = module->getOrInsertFunction(
      "hfta_main", llvm::FunctionType::get(
                       integer, {pointer, count, integer, pointer}, false));
  builder.SetInsertPoint(
      llvm::BasicBlock::Create(module->getContext(), "", main));
  builder.CreateRet(
      builder.CreateCall(run, {addProgramTable(*module, programs),
                               builder.getInt64(programs.size()),
                               main->getArg(0), main->getArg(1)}));
}

namespace {
/// A function `NAME_name` of a generated library, which calls the runtime's
/// function with the same arguments.
struct LibraryFunction {
  llvm::StringLiteral name;
  /// 'i' for int, 'l' for int64_t, 'd' for double, 'p' for a pointer, "" for
  /// void.
  llvm::StringLiteral result;
  llvm::StringLiteral parameters; ///< one letter for each
};
} // namespace

/// All functions of hfta/embed.h that have an instance as first argument.
static constexpr LibraryFunction libraryFunctions[] = {
    {"destroy", "", "p"},
    {"message", "p", "p"},
    {"copies", "l", "p"},
    {"batch", "l", "p"},
    {"steps", "l", "p"},
    {"step", "i", "ppp"},
    {"offer", "", "pp"},
    {"accumulate", "i", "ppp"},
    {"update", "i", "p"},
    {"set_learning_rate", "i", "pld"},
    {"set_hyper_parameter", "i", "plpd"},
    {"hyper_parameter", "d", "plp"},
    {"set_horizon", "i", "pll"},
    {"set_steps", "i", "pl"},
    {"restart", "i", "ppl"},
    {"set_live", "i", "ppl"},
    {"evaluate", "i", "pplpp"},
    {"infer", "i", "pp"},
    {"tensor", "i", "plpp"},
    {"save", "i", "pp"},
    {"load", "i", "pp"},
};

static llvm::Type *getType(llvm::IRBuilder<> &builder, char letter) {
  switch (letter) {
  case 'i':
    return builder.getInt32Ty();
  case 'l':
    return builder.getInt64Ty();
  case 'd':
    return builder.getDoubleTy();
  default:
    return builder.getPtrTy();
  }
}

/// Defines function `name`, which calls `callee` with `first`, unless that is
/// null, followed by its own arguments.
static void addWrapper(llvm::Module &module, llvm::StringRef name,
                       llvm::StringRef callee, llvm::StringRef result,
                       llvm::StringRef parameters, llvm::Value *first) {
  llvm::IRBuilder<> builder(module.getContext());
  llvm::SmallVector<llvm::Type *> types;
  for (char letter : parameters)
    types.push_back(getType(builder, letter));
  llvm::Type *resultType =
      result.empty() ? builder.getVoidTy() : getType(builder, result.front());
  llvm::Function *wrapper =
      llvm::Function::Create(llvm::FunctionType::get(resultType, types, false),
                             llvm::Function::ExternalLinkage, name, module);
  llvm::SmallVector<llvm::Value *> arguments;
  if (first) {
    types.insert(types.begin(), first->getType());
    arguments.push_back(first);
  }
  for (llvm::Argument &argument : wrapper->args())
    arguments.push_back(&argument);
  llvm::FunctionCallee called = module.getOrInsertFunction(
      callee, llvm::FunctionType::get(resultType, types, false));
  builder.SetInsertPoint(
      llvm::BasicBlock::Create(module.getContext(), "", wrapper));
  llvm::CallInst *call = builder.CreateCall(called, arguments);
  if (result.empty())
    builder.CreateRetVoid();
  else
    builder.CreateRet(call);
}

void CodeGenerator::addLibrary(llvm::StringRef name) {
  if (llvm::GlobalVariable *commands =
          module->getNamedGlobal(kSearchCommandsSymbol)) {
    commands->replaceAllUsesWith(
        llvm::ConstantPointerNull::get(commands->getType()));
    commands->eraseFromParent();
  }
  addWrapper(*module, (name + "_create").str(), "hfta_instance_create", "i",
             "pp", module->getNamedGlobal(kProgramSymbol));
  for (const LibraryFunction &function : libraryFunctions)
    addWrapper(*module, (name + "_" + function.name).str(),
               ("hfta_instance_" + function.name).str(), function.result,
               function.parameters, nullptr);
}

std::vector<std::string> hfta::getLibrarySymbols(llvm::StringRef name) {
  std::vector<std::string> symbols = {(name + "_create").str()};
  for (const LibraryFunction &function : libraryFunctions)
    symbols.push_back((name + "_" + function.name).str());
  return symbols;
}

//===----------------------------------------------------------------------===//
// Optimization and emission
//===----------------------------------------------------------------------===//

void CodeGenerator::keep(llvm::ArrayRef<std::string> symbols) {
  llvm::internalizeModule(*module, [&](const llvm::GlobalValue &value) {
    return llvm::is_contained(symbols, value.getName());
  });
}

/// The passes for kernels. Their loops are tiled and their values are vectors
/// already, so what remains is to simplify addresses, to hoist loop-invariant
/// code, and to rotate loops, without which accumulators would be spilled.
/// LLVM's standard pipelines take three times as long and don't produce faster
/// code: their vectorizers take superlinear time for straight-line code, and
/// their unrolling makes work for all later passes.
static constexpr llvm::StringLiteral kKernelPasses =
    "simplifycfg,sroa<preserve-cfg>,early-cse<memssa>,"
    "loop-mssa(loop-rotate,licm),simplifycfg,dce";

/// The passes for kernels whose windows overlap along a short loop. That loop
/// is unrolled, so that elements that neighbouring windows share are loaded
/// once. To find these, addresses must be simplified further.
static constexpr llvm::StringLiteral kWindowPasses =
    "simplifycfg,sroa<preserve-cfg>,early-cse<memssa>,"
    "loop-mssa(loop-rotate,licm),"
    "instcombine<max-iterations=1;no-verify-fixpoint>,simplifycfg,"
    "loop(indvars,loop-unroll-full),early-cse<memssa>,"
    "instcombine<max-iterations=1;no-verify-fixpoint>,loop-unroll<O3>,"
    "early-cse<memssa>,loop-mssa(licm),simplifycfg,dce";

namespace {

/// A compiler of modules for a target, used by one thread.
class ModuleCompiler {
public:
  static llvm::Expected<ModuleCompiler> create(ProcessorAttr processor);

  /// Optimizes a module and returns its text or its object, depending on
  /// `form`.
  llvm::Expected<std::string> compile(llvm::Module &module, HostCode form);

private:
  explicit ModuleCompiler(std::unique_ptr<llvm::TargetMachine> machine)
      : machine(std::move(machine)) {}

  void optimize(llvm::Module &module);

  std::unique_ptr<llvm::TargetMachine> machine;
};

} // namespace

llvm::Expected<ModuleCompiler> ModuleCompiler::create(ProcessorAttr processor) {
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machine =
      createMachine(processor);
  if (!machine)
    return machine.takeError();
  return ModuleCompiler(std::move(*machine));
}

void ModuleCompiler::optimize(llvm::Module &module) {
  llvm::PassBuilder builder(machine.get());
  Analyses analyses(builder);
  llvm::FunctionPassManager kernelPasses, windowPasses;
  llvm::cantFail(builder.parsePassPipeline(kernelPasses, kKernelPasses));
  llvm::cantFail(builder.parsePassPipeline(windowPasses, kWindowPasses));
  llvm::GlobalDCEPass().run(module, analyses.modules);
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    bool isWindow = function.hasFnAttribute(kSharesWindowsAttrName);
    (isWindow ? windowPasses : kernelPasses).run(function, analyses.functions);
  }
}

llvm::Expected<std::string> ModuleCompiler::compile(llvm::Module &module,
                                                    HostCode form) {
  optimize(module);
  if (form != HostCode::llvmIR)
    return emitCode(*machine, module,
                    form == HostCode::assembly
                        ? llvm::CodeGenFileType::AssemblyFile
                        : llvm::CodeGenFileType::ObjectFile);
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os, nullptr);
  return text;
}

llvm::Expected<std::string> CodeGenerator::emit(HostCode form) {
  llvm::Expected<ModuleCompiler> compiler = ModuleCompiler::create(processor);
  return compiler ? compiler->compile(*module, form) : compiler.takeError();
}

/// Divides the module into parts. The first part is what remains of the module;
/// the last ones are the kernels that have objects of their own.
static std::vector<CodePart> makeParts(llvm::Module &module,
                                       llvm::StringRef prefix,
                                       ProcessorAttr processor,
                                       llvm::ArrayRef<KernelObject> kernels) {
  std::vector<CodePart> parts = splitModule(module, prefix);
  CodePart rest = {module.getInstructionCount(), Bitcode(), &module};
  parts.insert(parts.begin(), std::move(rest));
  for (const KernelObject &kernel : kernels)
    if (kernel.hasCode())
      parts.push_back({kernel.code.instructions, Bitcode(), nullptr,
                       [&kernel, processor](llvm::LLVMContext &context) {
                         return translateKernel(kernel, processor, context);
                       }});
  return parts;
}

llvm::Expected<std::vector<std::string>>
CodeGenerator::emitObjects(llvm::StringRef prefix,
                           std::vector<KernelObject> &kernels) {
  for (const KernelObject &kernel : kernels)
    if (kernel.isKnown || kernel.hasCode())
      share(*module->getFunction(kernel.name + kEntrySuffix.str()),
            kernel.symbol);
  nameConstants(*module);
  llvm::Expected<std::vector<std::string>> objects = compileParts(
      makeParts(*module, prefix, processor, kernels),
      [&]() -> llvm::Expected<PartCompiler> {
        llvm::Expected<ModuleCompiler> compiler =
            ModuleCompiler::create(processor);
        if (!compiler)
          return compiler.takeError();
        return [compiler = std::move(*compiler)](llvm::Module &part) mutable {
          return compiler.compile(part, HostCode::object);
        };
      });
  if (!objects)
    return objects;
  size_t own = llvm::count_if(kernels, std::mem_fn(&KernelObject::hasCode));
  size_t next = objects->size() - own;
  for (KernelObject &kernel : kernels)
    if (kernel.hasCode())
      kernel.object = (*objects)[next++];
  objects->resize(objects->size() - own);
  for (const KernelObject &kernel : kernels)
    if (!kernel.object.empty())
      objects->push_back(kernel.object);
  return objects;
}
