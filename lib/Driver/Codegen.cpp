//===- Codegen.cpp - From the LLVM dialect to object code -----------------===//

#include "Hfta/Driver/Codegen.h"
#include "CodegenParts.h"
#include "GpuCodegen.h"
#include "Hfta/Conversion/HftaToRuntime.h"
#include "Hfta/Conversion/LowerKernels.h"
#include "Hfta/Target/Cpu.h"
#include "LlvmCode.h"

#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/Internalize.h"

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

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
CodeGenerator::createMachine() const {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  return createTargetMachine(kHostTriple, kBaseCpu, target.getLlvmFeatures());
}

static void setFunctionTarget(llvm::Function &function, TargetAttr target) {
  function.addFnAttr("target-cpu", kBaseCpu);
  function.addFnAttr("target-features", target.getLlvmFeatures());
  function.addFnAttr("prefer-vector-width",
                     std::to_string(8 * target.getVectorBytes()));
  function.addFnAttr(llvm::Attribute::NoUnwind);
}

LogicalResult CodeGenerator::translate(ModuleOp op) {
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machine =
      createMachine();
  if (!machine)
    return op.emitError() << llvm::toString(machine.takeError());
  parts.push_back(std::make_unique<Part>());
  Part &part = *parts.front();
  part.machine = std::move(*machine);
  part.module =
      translateModuleToLLVMIR(op, part.context, op.getName().value_or("hfta"));
  module = part.module.get();
  if (!module)
    return failure();
  std::string message;
  llvm::raw_string_ostream os(message);
  if (llvm::verifyModule(*module, &os))
    return op.emitError("invalid LLVM IR: ") << message;
  if (!module->getNamedGlobal(kProgramSymbol))
    return op.emitError("module defines no '") << kProgramSymbol << "'";
  module->setTargetTriple(llvm::Triple(kHostTriple));
  module->setDataLayout(part.machine->createDataLayout());
  module->setPICLevel(llvm::PICLevel::BigPIC);
  for (llvm::Function &function : *module)
    if (!function.isDeclaration())
      setFunctionTarget(function, target);
  return success();
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

void CodeGenerator::renameProgram(llvm::StringRef symbol) {
  llvm::GlobalVariable *program = module->getNamedGlobal(kProgramSymbol);
  program->setName(symbol);
  program->setVisibility(llvm::GlobalValue::HiddenVisibility);
}

/// Makes a constant of bytes, with the alignment that cubins need.
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

/// Defines the structs hfta_image and hfta_image_table; the members are in
/// their order.
bool CodeGenerator::addImages(llvm::ArrayRef<GpuImage> images) {
  llvm::GlobalVariable *declared = module->getNamedGlobal(kImagesSymbol);
  if (!declared || !declared->isDeclaration())
    return false;
  llvm::IRBuilder<> builder(module->getContext());
  llvm::Type *pointer = builder.getPtrTy(), *count = builder.getInt64Ty(),
             *number = builder.getInt32Ty();
  auto *type = llvm::StructType::get(module->getContext(),
                                     {pointer, count, pointer, number, number});
  llvm::SmallVector<llvm::Constant *> rows;
  for (const GpuImage &image : images)
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

/// Makes the constant array of pointers to the programs.
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
/// A function of a generated library: the part of its name after `NAME_`, and
/// the runtime's function that it calls with its own arguments.
struct LibraryFunction {
  llvm::StringLiteral name;
  llvm::StringLiteral
      result; ///< 'i' is int, 'l' int64_t, 'p' a pointer, "" no result
  llvm::StringLiteral parameters; ///< one letter for each; 'd' is double
};
} // namespace

/// All functions of hfta/embed.h that take an instance.
static constexpr LibraryFunction libraryFunctions[] = {
    {"destroy", "", "p"},     {"message", "p", "p"},
    {"copies", "l", "p"},     {"batch", "l", "p"},
    {"steps", "l", "p"},      {"step", "i", "ppp"},
    {"offer", "", "pp"},      {"accumulate", "i", "ppp"},
    {"update", "i", "p"},     {"set_learning_rate", "i", "pld"},
    {"set_live", "i", "ppl"}, {"evaluate", "i", "pplpp"},
    {"infer", "i", "pp"},     {"tensor", "i", "plpp"},
    {"save", "i", "pp"},      {"load", "i", "pp"},
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

/// Defines `name`, which calls `callee` with `first` (if it isn't null) and its
/// own arguments.
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

llvm::Error CodeGenerator::addPart(llvm::StringRef bitcode) {
  auto part = std::make_unique<Part>();
  llvm::Expected<std::unique_ptr<llvm::Module>> read =
      llvm::parseBitcodeFile({bitcode, "part"}, part->context);
  if (!read)
    return read.takeError();
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machine =
      createMachine();
  if (!machine)
    return machine.takeError();
  part->module = std::move(*read);
  part->machine = std::move(*machine);
  parts.push_back(std::move(part));
  return llvm::Error::success();
}

llvm::Error CodeGenerator::split(llvm::StringRef prefix) {
  std::vector<Bitcode> codes = splitModule(*module, prefix);
  if (codes.size() == 1)
    return llvm::Error::success();
  parts.clear();
  for (const Bitcode &code : codes)
    if (llvm::Error error = addPart(llvm::StringRef(code.data(), code.size())))
      return error;
  module = parts.front()->module.get();
  return llvm::Error::success();
}

/// The passes for kernels, whose loops are tiled and whose values are vectors
/// already. What remains is to simplify addresses, to hoist loop-invariant
/// code, and to rotate loops so that they test at their end, without which
/// accumulators would be spilled. LLVM's standard pipelines take three times as
/// long for code that is no faster: their vectorizers take superlinear time for
/// straight-line code, and their unrolling makes work for all later passes.
static constexpr llvm::StringLiteral kKernelPasses =
    "simplifycfg,sroa<preserve-cfg>,early-cse<memssa>,"
    "loop-mssa(loop-rotate,licm),simplifycfg,dce";

/// The passes for kernels whose windows overlap along a short loop. That loop
/// is unrolled into the surrounding loop, so that elements that neighbouring
/// windows share are read once. To find them, addresses must be simplified
/// more.
static constexpr llvm::StringLiteral kWindowPasses =
    "simplifycfg,sroa<preserve-cfg>,early-cse<memssa>,"
    "loop-mssa(loop-rotate,licm),"
    "instcombine<max-iterations=1;no-verify-fixpoint>,simplifycfg,"
    "loop(indvars,loop-unroll-full),early-cse<memssa>,"
    "instcombine<max-iterations=1;no-verify-fixpoint>,loop-unroll<O3>,"
    "early-cse<memssa>,loop-mssa(licm),simplifycfg,dce";

void CodeGenerator::optimize(Part &part) {
  llvm::PassBuilder builder(part.machine.get());
  Analyses analyses(builder);
  llvm::FunctionPassManager kernelPasses, windowPasses;
  llvm::cantFail(builder.parsePassPipeline(kernelPasses, kKernelPasses));
  llvm::cantFail(builder.parsePassPipeline(windowPasses, kWindowPasses));
  llvm::GlobalDCEPass().run(*part.module, analyses.modules);
  for (llvm::Function &function : *part.module) {
    if (function.isDeclaration())
      continue;
    bool isWindow = function.hasFnAttribute(kSharesWindowsAttrName);
    (isWindow ? windowPasses : kernelPasses).run(function, analyses.functions);
  }
}

void CodeGenerator::optimize() {
  llvm::DefaultThreadPool threads(llvm::hardware_concurrency(getThreadLimit()));
  for (std::unique_ptr<Part> &part : parts)
    threads.async([&part] { optimize(*part); });
}

llvm::Expected<std::string> CodeGenerator::emit(Part &part, Phase phase) {
  if (phase != Phase::llvmIR)
    return emitCode(*part.machine, *part.module,
                    phase == Phase::assembly
                        ? llvm::CodeGenFileType::AssemblyFile
                        : llvm::CodeGenFileType::ObjectFile);
  std::string text;
  llvm::raw_string_ostream os(text);
  part.module->print(os, nullptr);
  return text;
}

llvm::Expected<std::vector<std::string>> CodeGenerator::emit(Phase phase) {
  std::vector<llvm::Expected<std::string>> texts;
  texts.reserve(parts.size());
  for (size_t i = 0; i < parts.size(); ++i)
    texts.emplace_back(std::string());
  {
    llvm::DefaultThreadPool threads(
        llvm::hardware_concurrency(getThreadLimit()));
    for (size_t i = 0; i < parts.size(); ++i)
      threads.async([&, i] {
        llvm::cantFail(texts[i].takeError());
        texts[i] = emit(*parts[i], phase);
      });
  }
  std::vector<std::string> results;
  llvm::Error errors = llvm::Error::success();
  for (llvm::Expected<std::string> &text : texts) {
    if (text)
      results.push_back(std::move(*text));
    else
      errors = llvm::joinErrors(std::move(errors), text.takeError());
  }
  if (errors)
    return std::move(errors);
  return results;
}
