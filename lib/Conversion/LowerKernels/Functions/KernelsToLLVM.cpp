//===- KernelsToLLVM.cpp - Kernels' loops to LLVM functions ---------------===//

#include "Functions/KernelEntries.h"
#include "Hfta/Conversion/LowerKernels.h"
#include "Hfta/Dialect/Gpu/GpuOps.h"
#include "Hfta/Dialect/Hfta/IR/HftaInterfaces.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Threading.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_CONVERTKERNELSTOLLVM
#include "Hfta/Conversion/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

static bool isKernel(func::FuncOp function) {
  return function->hasAttr(kItemsAttrName) && !function.isDeclaration();
}

/// Returns the number of items that a call of the kernel computes.
static int64_t countLanes(func::FuncOp kernel) {
  auto lanes = kernel->getAttrOfType<IntegerAttr>(kLanesAttrName);
  return lanes ? lanes.getInt() : 1;
}

/// Returns the number of a kernel's buffers: its operands, once for each lane.
/// The remaining arguments are an item for each lane, and scratch memory.
static unsigned countBuffers(func::FuncOp kernel) {
  return kernel.getNumArguments() - countLanes(kernel) - 1;
}

static DenseI64ArrayAttr findOperandBytes(func::FuncOp kernel) {
  SmallVector<int64_t> bytes;
  ArrayRef<Type> types = kernel.getArgumentTypes();
  for (Type type :
       types.take_front(countBuffers(kernel) / countLanes(kernel))) {
    auto memory = cast<MemRefType>(type);
    bytes.push_back(memory.getNumElements() *
                    getElementBytes(memory.getElementType()));
  }
  return DenseI64ArrayAttr::get(kernel.getContext(), bytes);
}

/// Marks memory arguments as not aliasing, except for buffers of several lanes,
/// which may be the same. Marks the kernel as internal, as only its entry point
/// calls it.
static void addAttributes(func::FuncOp kernel) {
  Builder builder(kernel.getContext());
  for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes()))
    if (isa<MemRefType>(type) &&
        (countLanes(kernel) == 1 || index + 1 == kernel.getNumArguments()))
      kernel.setArgAttr(index, LLVM::LLVMDialect::getNoAliasAttrName(),
                        builder.getUnitAttr());
  kernel->setAttr(
      "llvm.linkage",
      LLVM::LinkageAttr::get(kernel.getContext(), LLVM::Linkage::Internal));
}

/// Returns the declarations of functions that kernels call, and all global
/// constants.
static SmallVector<Operation *>
collectSharedOps(ModuleOp module, ArrayRef<func::FuncOp> kernels) {
  llvm::SmallDenseSet<StringRef> called;
  SmallVector<Operation *> ops;
  for (func::FuncOp kernel : kernels)
    kernel.walk([&](func::CallOp call) { called.insert(call.getCallee()); });
  for (Operation &op : *module.getBody()) {
    auto function = dyn_cast<func::FuncOp>(op);
    if (isa<memref::GlobalOp>(op) || (function && function.isDeclaration() &&
                                      called.contains(function.getSymName())))
      ops.push_back(&op);
  }
  return ops;
}

namespace {
/// Converts the address of an element of memory to an LLVM pointer.
struct ConvertAddress : ConvertOpToLLVMPattern<hfta_gpu::AddressOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(hfta_gpu::AddressOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    if (op.getIndices().empty()) {
      MemRefDescriptor memory(adaptor.getMemory());
      rewriter.replaceOp(op, memory.alignedPtr(rewriter, loc));
      return success();
    }
    rewriter.replaceOp(
        op, getStridedElementPtr(rewriter, loc,
                                 cast<MemRefType>(op.getMemory().getType()),
                                 adaptor.getMemory(), adaptor.getIndices()));
    return success();
  }
};
} // namespace

static void populatePatterns(LLVMTypeConverter &converter,
                             RewritePatternSet &patterns) {
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  index::populateIndexToLLVMConversionPatterns(converter, patterns);
  populateFuncToLLVMConversionPatterns(converter, patterns);
  populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns);
  patterns.add<ConvertAddress>(converter);
  populateSCFToControlFlowConversionPatterns(patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  ub::populateUBToLLVMConversionPatterns(converter, patterns);
}

namespace {
/// The conversion to LLVM with indices of one width. Several threads can run it
/// at once.
class Conversion {
public:
  Conversion(MLIRContext *context, unsigned indexBits)
      : converter(context, getOptions(context, indexBits)), target(*context),
        patterns(getPatterns(context)) {
    // All other ops of this dialect have operands of LLVM's types already. The
    // back end for a kind of GPU lowers them.
    target.addLegalDialect<hfta_gpu::HftaGpuDialect>();
    target.addIllegalOp<hfta_gpu::AddressOp>();
    target.addIllegalDialect<affine::AffineDialect, arith::ArithDialect,
                             bufferization::BufferizationDialect,
                             cf::ControlFlowDialect, func::FuncDialect,
                             linalg::LinalgDialect, math::MathDialect,
                             memref::MemRefDialect, scf::SCFDialect,
                             tensor::TensorDialect, vector::VectorDialect>();
  }

  LogicalResult run(ArrayRef<Operation *> ops) const {
    ConversionConfig config;
    // The patterns never need a rollback, and conversion is faster without it.
    config.allowPatternRollback = false;
    return applyPartialConversion(ops, target, patterns, config);
  }

private:
  static LowerToLLVMOptions getOptions(MLIRContext *context,
                                       unsigned indexBits) {
    LowerToLLVMOptions options(context);
    options.useBarePtrCallConv = true;
    options.overrideIndexBitwidth(indexBits);
    return options;
  }
  RewritePatternSet getPatterns(MLIRContext *context) {
    RewritePatternSet patterns(context);
    populatePatterns(converter, patterns);
    return patterns;
  }

  LLVMTypeConverter converter;
  LLVMConversionTarget target;
  FrozenRewritePatternSet patterns;
};
} // namespace

/// Converts kernels on several threads. Each kernel is moved to a module of its
/// own meanwhile, as a conversion replaces functions in the list of their
/// module.
static LogicalResult convertOps(ModuleOp module, ArrayRef<func::FuncOp> kernels,
                                unsigned indexBits) {
  if (kernels.empty())
    return success();
  MLIRContext *context = module.getContext();
  Conversion conversion(context, indexBits);
  if (failed(conversion.run(collectSharedOps(module, kernels))))
    return failure();
  Block &body = *module.getBody();
  // The position to which each kernel returns: before the next op that isn't
  // converted.
  SmallVector<Block::iterator> places;
  llvm::SmallPtrSet<Operation *, 32> moved;
  for (func::FuncOp kernel : kernels)
    moved.insert(kernel);
  for (func::FuncOp kernel : kernels) {
    Block::iterator place(kernel);
    while (place != body.end() && moved.contains(&*place))
      ++place;
    places.push_back(place);
  }
  std::vector<OwningOpRef<ModuleOp>> own;
  for (func::FuncOp kernel : kernels) {
    own.emplace_back(ModuleOp::create(module.getLoc()));
    kernel->moveBefore(own.back()->getBody(), own.back()->getBody()->end());
  }
  LogicalResult result =
      failableParallelForEach(context, own, [&](OwningOpRef<ModuleOp> &alone) {
        return conversion.run(&alone->getBody()->front());
      });
  for (auto [alone, place] : llvm::zip_equal(own, places))
    body.getOperations().splice(place, alone->getBody()->getOperations());
  return result;
}

FailureOr<SmallVector<LoweredKernel>> hfta::convertKernelsToLLVM(
    ModuleOp module,
    llvm::function_ref<bool(func::FuncOp kernel)> hasNarrowIndices) {
  constexpr unsigned kNarrow = 32, kWide = 64;
  SmallVector<LoweredKernel> lowered;
  SmallVector<func::FuncOp> narrow, wide;
  for (auto kernel : module.getOps<func::FuncOp>()) {
    if (!isKernel(kernel))
      continue;
    bool isNarrow = hasNarrowIndices(kernel);
    (isNarrow ? narrow : wide).push_back(kernel);
    lowered.push_back({kernel.getSymNameAttr(), kernel.getLoc(),
                       countBuffers(kernel),
                       static_cast<unsigned>(countLanes(kernel)),
                       isNarrow ? kNarrow : kWide});
    kernel->setAttr(kOperandBytesAttrName, findOperandBytes(kernel));
    addAttributes(kernel);
  }
  if (failed(convertOps(module, narrow, kNarrow)) ||
      failed(convertOps(module, wide, kWide)))
    return failure();
  return lowered;
}

namespace {
struct ConvertKernelsToLLVMPass
    : hfta::impl::ConvertKernelsToLLVMBase<ConvertKernelsToLLVMPass> {
  using ConvertKernelsToLLVMBase::ConvertKernelsToLLVMBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<SmallVector<LoweredKernel>> kernels =
        convertKernelsToLLVM(module);
    if (failed(kernels))
      return signalPassFailure();
    for (const LoweredKernel &kernel : *kernels)
      createEntry(module, kernel);
  }
};
} // namespace
