//===- JitProgram.cpp - A program compiled into this process --------------===//

#include "JitProgram.h"
#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"
#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "Hfta/InitAll.h"
#include "Hfta/Pipelines/Phases.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/TargetSelect.h"

#include <cstdlib>
#include <cstring>

using namespace mlir;
using namespace mlir::hfta;

LogicalResult hfta::lowerTasks(ModuleOp module) {
  setTestTarget(module);
  PipelineSettings settings;
  settings.target = &getTestTarget();
  settings.machine = TargetAttr::get(module);
  settings.verifySums = true;
  PassManager pm(module.getContext());
  for (Phase phase : getPath(getTestTarget()))
    if (comesAfter(phase, &phases::train) && phase->addPasses)
      phase->addPasses(pm, settings);
  return pm.run(module);
}

static std::unique_ptr<ExecutionEngine> makeEngine(ModuleOp module) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  ExecutionEngineOptions options;
  options.jitCodeGenOptLevel = llvm::CodeGenOptLevel::Default;
  llvm::Expected<std::unique_ptr<ExecutionEngine>> engine =
      ExecutionEngine::create(module, options);
  if (!engine) {
    llvm::errs() << llvm::toString(engine.takeError()) << "\n";
    return nullptr;
  }
  return std::move(*engine);
}

bool JitProgram::allocate(int threads) {
  uint64_t scratch = 64;
  for (uint32_t i = 0; i < program->segment_count; ++i) {
    const hfta_segment &segment = program->segments[i];
    uint64_t bytes = llvm::alignTo(std::max<uint64_t>(segment.bytes, 1), 64);
    void *memory = std::aligned_alloc(64, bytes);
    if (!memory)
      return false;
    std::memset(memory, 0, bytes);
    if (segment.image)
      std::memcpy(memory, segment.image, segment.bytes);
    segments.push_back(memory);
    if (segment.role == HFTA_SEGMENT_SCRATCH)
      scratch = segment.bytes;
  }
  for (int64_t copy = 0; copy < program->copies; ++copy)
    copies.push_back(copy);
  keeps = std::make_unique<bool[]>(program->segment_count);
  std::fill_n(keeps.get(), program->segment_count, true);
  return hfta_pool_create(threads, scratch, &pool, nullptr) == HFTA_OK;
}

std::unique_ptr<JitProgram> JitProgram::create(ModuleOp module, int threads) {
  std::unique_ptr<JitProgram> jit(new JitProgram);
  jit->engine = makeEngine(module);
  if (!jit->engine)
    return nullptr;
  llvm::Expected<void *> program = jit->engine->lookup("hfta_program");
  if (!program) {
    llvm::errs() << llvm::toString(program.takeError()) << "\n";
    return nullptr;
  }
  jit->program = static_cast<const hfta_program *>(*program);
  if (computesByThreads() && !jit->blocks.emplace().load(*jit->engine))
    return nullptr;
  if (!jit->allocate(threads))
    return nullptr;
  return jit;
}

std::unique_ptr<JitProgram> JitProgram::compile(StringRef text, int64_t copies,
                                                int threads) {
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return nullptr;
  Job job;
  job.name = "check";
  job.copies = copies;
  job.training = false;
  job.write(*module);
  if (failed(lowerTasks(*module)))
    return nullptr;
  return create(*module, threads);
}

JitProgram::~JitProgram() {
  hfta_pool_destroy(pool);
  for (void *memory : segments)
    std::free(memory);
}

/// Runs a task. If kernels compute by threads, launches with thread blocks run
/// block by block.
void JitProgram::run(const hfta_task &task) {
  hfta_task_call call = {&task,   segments.data(), keeps.get(), copies.data(),
                         nullptr, program->copies, -1,          nullptr,
                         nullptr};
  if (!blocks) {
    hfta_run_task(pool, &call, nullptr);
    return;
  }
  for (uint32_t i = 0; i < task.launch_count; ++i) {
    hfta_launch launch = task.launches[i];
    launch.joins = 0;
    hfta_task single = task;
    single.launches = &launch;
    single.launch_count = 1;
    call.task = &single;
    if (launch.block_threads == 0)
      hfta_run_task(pool, &call, nullptr);
    else if (!blocks->run(call, launch))
      llvm::report_fatal_error(llvm::Twine("kernel '") + launch.name +
                               "': some threads of a block wait for ever");
  }
}

void JitProgram::run(StringRef part) {
  for (uint32_t i = 0; i < program->task_count; ++i) {
    if (StringRef(program->tasks[i].name).split('.').first != part)
      continue;
    run(program->tasks[i]);
    return;
  }
}

const hfta_tensor *JitProgram::find(StringRef name, int64_t copy) const {
  for (uint32_t i = 0; i < program->tensor_count; ++i) {
    const hfta_tensor &tensor = program->tensors[i];
    bool isOthers = copy >= 0 && tensor.copy >= 0 && tensor.copy != copy;
    if (name == tensor.name && !isOthers)
      return &tensor;
  }
  return nullptr;
}

void *JitProgram::at(const hfta_tensor &tensor, int64_t copy) {
  return static_cast<char *>(segments[tensor.segment]) + tensor.offset +
         copy * tensor.copy_stride;
}
