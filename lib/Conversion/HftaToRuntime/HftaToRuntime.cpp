//===- HftaToRuntime.cpp - Tasks and tables for the C runtime -------------===//

#include "Hfta/Conversion/HftaToRuntime.h"
#include "Hfta/Dialect/Hfta/IR/VariableNames.h"
#include "ProgramTable.h"
#include "hfta/program.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <set>

namespace mlir::hfta {
#define GEN_PASS_DEF_CONVERTHFTATORUNTIME
#include "Hfta/Conversion/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

namespace {
struct HftaToRuntimePass
    : hfta::impl::ConvertHftaToRuntimeBase<HftaToRuntimePass> {
  using ConvertHftaToRuntimeBase::ConvertHftaToRuntimeBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<Job> job = Job::read(module);
    if (failed(job))
      return signalPassFailure();
    if (!module->getAttrOfType<ArrayAttr>("hfta.segments")) {
      module.emitError("module has no 'hfta.segments'; run hfta-plan-memory "
                       "first");
      return signalPassFailure();
    }
    SmallVector<TaskEntry> entries;
    if (failed(convertTasks(module, entries)) ||
        failed(buildProgramTable(module, *job, entries, scratchBytes, symbol)))
      return signalPassFailure();
    for (auto variable :
         llvm::make_early_inc_range(module.getOps<VariableOp>()))
      variable.erase();
    // What the tables now hold must not stand in later phases' modules.
    for (StringRef name : {"hfta.segments", "hfta.models", "hfta.plan_json"})
      module->removeAttr(name);
  }

private:
  LogicalResult convertTasks(ModuleOp module,
                             SmallVectorImpl<TaskEntry> &entries) {
    declareLaunch(module);
    ConstantTables tables(module);
    SmallVector<func::FuncOp> tasks;
    for (auto function : module.getOps<func::FuncOp>())
      if (function->hasAttr(HftaDialect::kTaskAttrName))
        tasks.push_back(function);
    for (func::FuncOp task : tasks) {
      FailureOr<TaskEntry> entry = convertTask(task, tables);
      if (failed(entry))
        return failure();
      entries.push_back(*entry);
      task.erase();
    }
    return success();
  }

  void declareLaunch(ModuleOp module) {
    OpBuilder builder(module.getBody(), module.getBody()->begin());
    Type pointer = LLVM::LLVMPointerType::get(&getContext());
    auto type = LLVM::LLVMFunctionType::get(
        LLVM::LLVMVoidType::get(&getContext()),
        {pointer, pointer, IntegerType::get(&getContext(), 64)});
    LLVM::LLVMFuncOp::create(builder, module.getLoc(), "hfta_launch", type);
  }

  SegmentAttr getSegment(BindingAttr place) {
    auto segments = getOperation()->getAttrOfType<ArrayAttr>("hfta.segments");
    int64_t number = place.getSegment();
    if (number < 0 || number >= static_cast<int64_t>(segments.size()))
      return {};
    return cast<SegmentAttr>(segments[number]);
  }

  bool hasSlabs(BindingAttr place) {
    SegmentAttr segment = getSegment(place);
    return segment && segment.getCopyBytes() > 0;
  }

  /// Whether the launch finds a certain copy's value where copies that run in
  /// turn would have put another's.
  bool wantsSlabOfCopy(LaunchOp launch) {
    return llvm::any_of(launch.getBindings(), [&](Attribute attribute) {
      auto place = cast<BindingAttr>(attribute);
      return place.getStride() == 0 && hasSlabs(place);
    });
  }

  /// Whether a copy computes the launch from its own and from shared values
  /// alone, so that it may do so while other copies are elsewhere.
  static bool isIndependent(LaunchOp launch) {
    return launch.getPerCopy() && !launch->hasAttr("hfta.reads_copies") &&
           llvm::all_of(launch.getWritten(), [&](int64_t index) {
             return cast<BindingAttr>(launch.getBindings()[index])
                        .getStride() != 0;
           });
  }

  /// The task's launches in order: neighbours that are independent together,
  /// each other one by itself.
  static SmallVector<SmallVector<LaunchOp>> getSequences(func::FuncOp task) {
    SmallVector<SmallVector<LaunchOp>> sequences;
    bool isOpen = false;
    for (auto launch : task.getOps<LaunchOp>()) {
      if (!isOpen || !isIndependent(launch))
        sequences.emplace_back();
      isOpen = isIndependent(launch);
      sequences.back().push_back(launch);
    }
    return sequences;
  }

  /// Whether a launch for all copies gives the same each time that it runs in a
  /// step, for little: it works on data alone, and on what such launches make
  /// of them.
  bool isRepeatable(LaunchOp launch) {
    if (launch->hasAttr("hfta.reads_copies"))
      return false;
    auto inputs = static_cast<int64_t>(launch.getInputs());
    for (auto [index, attribute] : llvm::enumerate(launch.getBindings())) {
      SegmentAttr segment = getSegment(cast<BindingAttr>(attribute));
      if (!segment)
        return false;
      Role role = segment.getRole();
      bool isWritten =
          llvm::is_contained(launch.getWritten(), static_cast<int64_t>(index));
      bool isOfData =
          role == Role::workspace || role == Role::saved || role == Role::cut;
      bool isGiven =
          role == Role::input || role == Role::constant || role == Role::scalar;
      if (isWritten && (!isOfData || static_cast<int64_t>(index) < inputs))
        return false;
      if (!isOfData && !isGiven)
        return false;
    }
    return true;
  }

  /// Whether the task may run for some copies, then for others.
  bool runsByCopies(func::FuncOp task) {
    return llvm::all_of(task.getOps<LaunchOp>(), [&](LaunchOp launch) {
      if (wantsSlabOfCopy(launch))
        return false;
      return launch.getPerCopy() ? isIndependent(launch) : isRepeatable(launch);
    });
  }

  FailureOr<TaskEntry> convertTask(func::FuncOp task, ConstantTables &tables) {
    OpBuilder builder(task);
    Location loc = task.getLoc();
    StringRef name = task.getSymName();
    name.consume_front(names::kTaskPrefix);
    TaskEntry entry;
    entry.name = name.str();
    entry.task = task->getAttrOfType<TaskAttr>(HftaDialect::kTaskAttrName);
    entry.flags = runsByCopies(task) ? HFTA_TASK_BY_COPIES : 0;
    Type pointer = LLVM::LLVMPointerType::get(&getContext());
    auto type = LLVM::LLVMFunctionType::get(
        LLVM::LLVMVoidType::get(&getContext()), {pointer});
    auto function =
        LLVM::LLVMFuncOp::create(builder, loc, ("hfta_task/" + name).str(),
                                 type, LLVM::Linkage::Internal);
    entry.function = FlatSymbolRefAttr::get(function.getSymNameAttr());
    Block *body = function.addEntryBlock(builder);
    builder.setInsertionPointToStart(body);
    std::set<uint32_t> reads, writes;
    for (ArrayRef<LaunchOp> sequence : getSequences(task)) {
      std::vector<Record> infos;
      for (LaunchOp launch : sequence) {
        FailureOr<Record> info = buildLaunch(launch, tables, reads, writes);
        if (failed(info))
          return failure();
        infos.push_back(std::move(*info));
      }
      LaunchOp first = sequence.front();
      Value address = LLVM::AddressOfOp::create(
          builder, first.getLoc(), pointer, tables.table("launch", infos));
      Value count = LLVM::ConstantOp::create(
          builder, first.getLoc(), builder.getI64IntegerAttr(infos.size()));
      LLVM::CallOp::create(builder, first.getLoc(), TypeRange(), "hfta_launch",
                           ValueRange{body->getArgument(0), address, count});
    }
    LLVM::ReturnOp::create(builder, loc, ValueRange());
    entry.reads.assign(reads.begin(), reads.end());
    entry.writes.assign(writes.begin(), writes.end());
    return entry;
  }

  /// The hfta_launch_info of a launch.
  FailureOr<Record> buildLaunch(LaunchOp launch, ConstantTables &tables,
                                std::set<uint32_t> &reads,
                                std::set<uint32_t> &writes) {
    Operation *kernel =
        SymbolTable::lookupNearestSymbolFrom(launch, launch.getKernelAttr());
    auto items = kernel->getAttrOfType<IntegerAttr>("hfta.items");
    auto scratch = kernel->getAttrOfType<IntegerAttr>("hfta.scratch_bytes");
    if (!items || !scratch)
      return launch.emitError("kernel ")
             << launch.getKernelAttr()
             << " isn't lowered; run the kernel lowering first";
    if (launch.getBindings().size() > HFTA_MAX_BINDINGS)
      return launch.emitError("kernel ")
             << launch.getKernelAttr() << " has " << launch.getBindings().size()
             << " operands, at most " << HFTA_MAX_BINDINGS << " are supported";
    scratchBytes = std::max(scratchBytes, scratch.getInt());
    std::vector<Record> bindings;
    for (auto [index, attribute] : llvm::enumerate(launch.getBindings())) {
      auto place = cast<BindingAttr>(attribute);
      if (static_cast<int64_t>(index) <
          static_cast<int64_t>(launch.getInputs()))
        reads.insert(place.getSegment());
      if (llvm::is_contained(launch.getWritten(), static_cast<int64_t>(index)))
        writes.insert(place.getSegment());
      bindings.push_back(
          {Field::u32(place.getSegment()), Field::u32(hasSlabs(place)),
           Field::u64(place.getOffset()), Field::u64(place.getStride())});
    }
    StringRef name = launch.getKernel();
    auto entry = FlatSymbolRefAttr::get(&getContext(), (name + "/entry").str());
    name.consume_front(names::kKernelPrefix);
    return Record{Field::pointer(entry),
                  Field::pointer(tables.string(name)),
                  Field::pointer(tables.table("bindings", bindings)),
                  Field::u32(bindings.size()),
                  Field::u32(launch.getPerCopy()),
                  Field::i64(items.getInt()),
                  Field::u64(scratch.getInt())};
  }

  int64_t scratchBytes = 0;
};
} // namespace
