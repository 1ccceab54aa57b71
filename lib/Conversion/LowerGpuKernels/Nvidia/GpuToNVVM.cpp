//===- GpuToNVVM.cpp - What threads do together, on NVIDIA's GPUs ---------===//
//
// Each op becomes one instruction of PTX, which its description names
// (GpuOps.td), and what converts between the operands of both.
//===----------------------------------------------------------------------===//

#include "Hfta/Conversion/LowerGpuKernels.h"
#include "Hfta/Conversion/LowerGpuKernels/Nvidia/Nvidia.h"
#include "Hfta/Dialect/Gpu/GpuOps.h"
#include "hfta/program.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

#include <type_traits>

namespace mlir::hfta {
#define GEN_PASS_DEF_CONVERTGPUTONVVM
#include "Hfta/Conversion/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta_gpu;

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

/// Gives an entry point the attributes of a kernel of NVIDIA's GPUs.
static void convertAttributes(LLVM::LLVMFuncOp function) {
  if (!function->removeAttr(HftaGpuDialect::kEntryAttrName))
    return;
  Builder builder(function.getContext());
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                    builder.getUnitAttr());
  if (auto threads = cast_or_null<IntegerAttr>(
          function->removeAttr(HftaGpuDialect::kThreadsAttrName)))
    function->setAttr(
        NVVM::NVVMDialect::getMaxntidAttrName(),
        builder.getDenseI32ArrayAttr({static_cast<int32_t>(threads.getInt())}));
  if (Attribute blocks =
          function->removeAttr(HftaGpuDialect::kBlocksAtOnceAttrName))
    function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), blocks);
  // The hardware reads tensor maps from the memory of the parameter itself,
  // which must be constant for that.
  if (function->hasAttr(kMapCountAttrName))
    function.setArgAttr(function.getNumArguments() - 1,
                        NVVM::NVVMDialect::getGridConstantAttrName(),
                        builder.getUnitAttr());
}

//===----------------------------------------------------------------------===//
// Ops, by their families in GpuOps.td
//===----------------------------------------------------------------------===//

namespace {
/// Builds, before an op, what replaces it. Each `lower` returns the values that
/// replace the op's results.
class Lowering {
public:
  explicit Lowering(Operation *op) : builder(op), loc(op->getLoc()) {}

  SmallVector<Value> lower(PositionOp op);
  SmallVector<Value> lower(BarrierOp op);

  SmallVector<Value> lower(BeginCopyOp op);
  SmallVector<Value> lower(CommitCopiesOp op);
  SmallVector<Value> lower(WaitForCopiesOp op);

  SmallVector<Value> lower(LoadMatricesOp op);
  SmallVector<Value> lower(MultiplyOp op);

  SmallVector<Value> lower(PublishStoresOp op);
  SmallVector<Value> lower(BeginProductsOp op);
  SmallVector<Value> lower(MultiplySharedOp op);
  SmallVector<Value> lower(CommitProductsOp op);
  SmallVector<Value> lower(WaitForProductGroupsOp op);
  SmallVector<Value> lower(WaitForProductsOp op);

  SmallVector<Value> lower(InitMbarrierOp op);
  SmallVector<Value> lower(PublishMbarriersOp op);
  SmallVector<Value> lower(ArriveOp op);
  SmallVector<Value> lower(ArriveExpectingOp op);
  SmallVector<Value> lower(WaitForPhaseOp op);
  SmallVector<Value> lower(BeginBoxCopyOp op);

private:
  Value number(int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), value);
  }
  SmallVector<Value> extractAll(Value container, size_t count);

  OpBuilder builder;
  Location loc;
};
} // namespace

/// Returns the `count` members of a struct.
SmallVector<Value> Lowering::extractAll(Value container, size_t count) {
  SmallVector<Value> members;
  for (size_t i = 0; i < count; ++i)
    members.push_back(LLVM::ExtractValueOp::create(builder, loc, container,
                                                   static_cast<int64_t>(i)));
  return members;
}

SmallVector<Value> Lowering::lower(PositionOp op) {
  Type word = builder.getI32Type();
  switch (op.getPlace()) {
  case Place::thread:
    return {NVVM::ThreadIdXOp::create(builder, loc, word)};
  case Place::block:
    return {NVVM::BlockIdXOp::create(builder, loc, word)};
  case Place::block_threads:
    return {NVVM::BlockDimXOp::create(builder, loc, word)};
  case Place::copy:
    return {NVVM::BlockIdZOp::create(builder, loc, word)};
  }
  llvm_unreachable("no such place");
}

/// Calls an intrinsic for a barrier of some threads, as MLIR 22 doesn't parse
/// what it prints for its own op.
SmallVector<Value> Lowering::lower(BarrierOp op) {
  if (!op.getNumber()) {
    NVVM::Barrier0Op::create(builder, loc);
    return {};
  }
  LLVM::CallIntrinsicOp::create(
      builder, loc,
      builder.getStringAttr("llvm.nvvm.barrier.cta.sync.aligned.count"),
      ValueRange{number(*op.getNumber()), number(*op.getThreads())});
  return {};
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

SmallVector<Value> Lowering::lower(BeginCopyOp op) {
  NVVM::CpAsyncOp::create(builder, loc, op.getTo(), op.getFrom(),
                          BeginCopyOp::kBytes, NVVM::LoadCacheModifierKind::CG,
                          op.getCount());
  return {};
}

SmallVector<Value> Lowering::lower(CommitCopiesOp /*op*/) {
  NVVM::CpAsyncCommitGroupOp::create(builder, loc);
  return {};
}

SmallVector<Value> Lowering::lower(WaitForCopiesOp op) {
  NVVM::CpAsyncWaitGroupOp::create(builder, loc, op.getBut());
  return {};
}

//===----------------------------------------------------------------------===//
// Products of a warp
//===----------------------------------------------------------------------===//

SmallVector<Value> Lowering::lower(LoadMatricesOp op) {
  constexpr int kSide = 8;
  size_t count = op.getWords().size();
  Type word = builder.getI32Type();
  Type words = count == 1
                   ? word
                   : LLVM::LLVMStructType::getLiteral(
                         builder.getContext(), SmallVector<Type>(count, word));
  Value loaded = NVVM::LdMatrixOp::create(
      builder, loc, words, op.getRow(), static_cast<uint32_t>(count),
      op.getTransposed() ? NVVM::MMALayout::col : NVVM::MMALayout::row,
      NVVM::LdStMatrixShapeAttr::get(builder.getContext(), kSide, kSide),
      NVVM::LdStMatrixEltType::B16);
  return count == 1 ? SmallVector<Value>{loaded} : extractAll(loaded, count);
}

/// Converts words to the types that the instruction takes: words of f16 become
/// vectors of two elements.
static SmallVector<Value> toOperands(OpBuilder &builder, Location loc,
                                     Factors factors, ValueRange words) {
  if (factors != Factors::f16)
    return SmallVector<Value>(words);
  auto pair = VectorType::get({2}, builder.getF16Type());
  return llvm::map_to_vector(words, [&](Value word) -> Value {
    return LLVM::BitcastOp::create(builder, loc, pair, word);
  });
}

SmallVector<Value> Lowering::lower(MultiplyOp op) {
  constexpr int64_t kRows = 16, kColumns = 8;
  Factors factors = op.getFactors();
  NVVM::MMATypes type = factors == Factors::tf32  ? NVVM::MMATypes::tf32
                        : factors == Factors::f16 ? NVVM::MMATypes::f16
                                                  : NVVM::MMATypes::bf16;
  std::array<int64_t, 3> shape = {kRows, kColumns,
                                  factors == Factors::tf32 ? 8 : 16};
  size_t count = op->getNumResults();
  Type result = LLVM::LLVMStructType::getLiteral(
      builder.getContext(), SmallVector<Type>(count, builder.getF32Type()));
  SmallVector<Value> lhs = toOperands(builder, loc, factors, op.getLhs());
  SmallVector<Value> rhs = toOperands(builder, loc, factors, op.getRhs());
  Value sums = NVVM::MmaOp::create(
      builder, loc, result, lhs, rhs, op.getSums(), shape, std::nullopt,
      std::nullopt, std::array<NVVM::MMATypes, 2>{type, type},
      std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                     NVVM::MMALayout::col});
  return extractAll(sums, count);
}

//===----------------------------------------------------------------------===//
// Products of a warp group
//===----------------------------------------------------------------------===//

SmallVector<Value> Lowering::lower(PublishStoresOp /*op*/) {
  NVVM::FenceProxyOp::create(
      builder, loc, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(builder.getContext(),
                                 NVVM::SharedSpace::shared_cta));
  return {};
}

SmallVector<Value> Lowering::lower(BeginProductsOp /*op*/) {
  NVVM::WgmmaFenceAlignedOp::create(builder, loc);
  return {};
}

SmallVector<Value> Lowering::lower(MultiplySharedOp op) {
  NVVM::WGMMATypes type =
      op.getFactors() == Factors::tf32  ? NVVM::WGMMATypes::tf32
      : op.getFactors() == Factors::f16 ? NVVM::WGMMATypes::f16
                                        : NVVM::WGMMATypes::bf16;
  auto shape =
      NVVM::MMAShapeAttr::get(builder.getContext(), MultiplySharedOp::kRows,
                              op.countColumns(), op.countTerms());
  // By default the terms are the columns of the left matrix, and the rows of
  // the right one.
  NVVM::MMALayout lhs =
      op.getLhsTransposed() ? NVVM::MMALayout::col : NVVM::MMALayout::row;
  NVVM::MMALayout rhs =
      op.getRhsTransposed() ? NVVM::MMALayout::row : NVVM::MMALayout::col;
  return {NVVM::WgmmaMmaAsyncOp::create(
      builder, loc, op.getSums().getType(), op.getSums(), op.getLhs(),
      op.getRhs(), shape, type, type, NVVM::WGMMATypes::f32,
      NVVM::WGMMAScaleOut::one, NVVM::WGMMAScaleIn::one,
      NVVM::WGMMAScaleIn::one, lhs, rhs, NVVM::MMAIntOverflowAttr())};
}

SmallVector<Value> Lowering::lower(CommitProductsOp /*op*/) {
  NVVM::WgmmaGroupSyncAlignedOp::create(builder, loc);
  return {};
}

SmallVector<Value> Lowering::lower(WaitForProductGroupsOp op) {
  NVVM::WgmmaWaitGroupSyncOp::create(builder, loc, op.getBut());
  return {};
}

/// Writes assembly with the sums as operands and results, as the wait of NVVM
/// has none and the sums could be read before it.
SmallVector<Value> Lowering::lower(WaitForProductsOp op) {
  Value sums = op.getSums();
  size_t count = cast<LLVM::LLVMStructType>(sums.getType()).getBody().size();
  std::string results, ties;
  for (size_t i = 0; i < count; ++i) {
    results += "=f,";
    ties += std::to_string(i) + ",";
  }
  auto wait = LLVM::InlineAsmOp::create(
      builder, loc, sums.getType(), extractAll(sums, count),
      "wgmma.wait_group.sync.aligned 0;", results + ties + "~{memory}",
      /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
  return {wait.getResult(0)};
}

//===----------------------------------------------------------------------===//
// Barriers in memory, and copies of boxes
//===----------------------------------------------------------------------===//

SmallVector<Value> Lowering::lower(InitMbarrierOp op) {
  NVVM::MBarrierInitOp::create(builder, loc, op.getBarrier(),
                               number(op.getArrivals()), Value());
  return {};
}

SmallVector<Value> Lowering::lower(PublishMbarriersOp /*op*/) {
  NVVM::FenceMbarrierInitOp::create(builder, loc);
  return {};
}

SmallVector<Value> Lowering::lower(ArriveOp op) {
  NVVM::MBarrierArriveOp::create(builder, loc, builder.getI64Type(),
                                 op.getBarrier(), Value());
  return {};
}

SmallVector<Value> Lowering::lower(ArriveExpectingOp op) {
  NVVM::MBarrierArriveExpectTxOp::create(
      builder, loc, /*res=*/Type(), op.getBarrier(), number(op.getBytes()),
      NVVM::MemScopeKind::CTA, /*relaxed=*/false, /*predicate=*/Value());
  return {};
}

SmallVector<Value> Lowering::lower(WaitForPhaseOp op) {
  // The nanoseconds for which a thread may be suspended before it checks again.
  constexpr int64_t kTicks = 10'000'000;
  NVVM::MBarrierTryWaitParityOp::create(builder, loc, op.getBarrier(),
                                        op.getParity(), number(kTicks));
  return {};
}

SmallVector<Value> Lowering::lower(BeginBoxCopyOp op) {
  // The address space of the shared memory of a block cluster. Each block is a
  // cluster of its own.
  constexpr unsigned kClusterSpace = 7;
  Value to = LLVM::AddrSpaceCastOp::create(
      builder, loc,
      LLVM::LLVMPointerType::get(builder.getContext(), kClusterSpace),
      op.getTo());
  auto distance = static_cast<int32_t>(op.getMap() * HFTA_MAP_BYTES);
  Value map = LLVM::GEPOp::create(builder, loc, op.getMaps().getType(),
                                  builder.getI8Type(), op.getMaps(),
                                  ArrayRef<LLVM::GEPArg>{distance});
  NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
      builder, loc, to, map, op.getCoordinates(), op.getBarrier(),
      /*im2colOffsets=*/ValueRange(), /*multicastMask=*/Value(),
      /*l2CacheHint=*/Value(), NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false,
      /*group=*/NVVM::CTAGroupKindAttr(), /*predicate=*/Value());
  return {};
}

//===----------------------------------------------------------------------===//
// All ops of a module
//===----------------------------------------------------------------------===//

/// Replaces an op. Emits an error if it belongs to an earlier phase. An op of
/// the dialect without a function `lower` doesn't compile.
static LogicalResult replace(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<
#define GET_OP_LIST
#include "Hfta/Dialect/Gpu/GpuOps.cpp.inc"
          >([](auto own) -> LogicalResult {
        if constexpr (std::is_same_v<decltype(own), AddressOp>) {
          return own.emitOpError("isn't known for NVIDIA's GPUs");
        } else {
          own->replaceAllUsesWith(Lowering(own).lower(own));
          own->erase();
          return success();
        }
      });
}

namespace {
struct ConvertGpuToNVVMPass
    : hfta::impl::ConvertGpuToNVVMBase<ConvertGpuToNVVMPass> {
  using ConvertGpuToNVVMBase::ConvertGpuToNVVMBase;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>()) {
      convertAttributes(function);
      function.walk([&](Operation *op) {
        if (isa<HftaGpuDialect>(op->getDialect()))
          ops.push_back(op);
      });
    }
    for (Operation *op : ops)
      if (failed(replace(op)))
        return signalPassFailure();
  }
};
} // namespace
