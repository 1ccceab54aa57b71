//===- HftaToLinalg.cpp - hfta to linalg, tensor, arith, math -------------===//

#include "Hfta/Conversion/HftaToLinalg.h"
#include "Hfta/Target/Target.h"
#include "LoweringUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_CONVERTHFTATOLINALGPASS
#include "Hfta/Conversion/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

void hfta::populateHftaToLinalgTypeConversions(TypeConverter &converter) {
  converter.addConversion([](Type type) { return type; });
  converter.addConversion([](RankedTensorType type) -> Type {
    if (type.getEncoding())
      return {}; // no type: tensors of all copies don't occur in a kernel
    return type.clone(getSignlessType(type.getElementType()));
  });
}

void hfta::populateHftaToLinalgPatterns(const TypeConverter &converter,
                                        RewritePatternSet &patterns,
                                        ProductForm form) {
  populateElementwiseToLinalgPatterns(converter, patterns);
  populateShapeToLinalgPatterns(converter, patterns);
  populateReduceToLinalgPatterns(converter, patterns);
  populateIndexingToLinalgPatterns(converter, patterns);
  populateContractToLinalgPatterns(converter, patterns, form);
  populateConvolutionToLinalgPatterns(converter, patterns, form);
  populateMomentToLinalgPatterns(converter, patterns);
  populatePairsToLinalgPatterns(converter, patterns);
  populatePoolingToLinalgPatterns(converter, patterns);
  populateRandomToLinalgPatterns(converter, patterns);
}

//===----------------------------------------------------------------------===//
// Booleans at a kernel's border
//===----------------------------------------------------------------------===//

static bool isBoolean(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getElementType().isInteger(1);
}

static Type getStoredType(Type type) {
  if (!isBoolean(type))
    return type;
  return cast<RankedTensorType>(type).clone(
      IntegerType::get(type.getContext(), 8));
}

/// Converts `i1` elements to `i8`, or `i8` elements to `i1`.
static Value convertBooleans(OpBuilder &builder, Location loc, Value tensor,
                             Type elementType) {
  LoopNest nest(builder, loc);
  Axes axes = nest.addParallel(getShape(tensor));
  nest.read(tensor, axes);
  nest.write(elementType, axes);
  auto body = [&](OpBuilder &b, Location loc, ValueRange arguments) {
    Value scalar = arguments.front();
    if (!elementType.isInteger(1))
      return SmallVector<Value>{
          arith::ExtUIOp::create(b, loc, elementType, scalar)};
    Value zero = createZero(b, loc, scalar.getType());
    return SmallVector<Value>{
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, scalar, zero)};
  };
  return nest.build(body).front();
}

/// Changes a function's arguments and results from `i1` elements to the stored
/// `i8`, with conversions inside.
static void convertBorder(func::FuncOp function) {
  OpBuilder builder(function.getContext());
  builder.setInsertionPointToStart(&function.front());
  for (BlockArgument argument : function.getArguments()) {
    Type type = argument.getType();
    if (!isBoolean(type))
      continue;
    argument.setType(getStoredType(type));
    Value inner = convertBooleans(builder, argument.getLoc(), argument,
                                  getElementTypeOrSelf(type));
    argument.replaceAllUsesExcept(inner, inner.getDefiningOp());
  }
  SmallVector<Type> results;
  function.walk([&](func::ReturnOp op) {
    builder.setInsertionPoint(op);
    for (OpOperand &operand : op->getOpOperands()) {
      Type stored = getStoredType(operand.get().getType());
      if (stored != operand.get().getType())
        operand.set(convertBooleans(builder, op.getLoc(), operand.get(),
                                    getElementTypeOrSelf(stored)));
    }
    results.assign(op->operand_type_begin(), op->operand_type_end());
  });
  function.setType(FunctionType::get(
      function.getContext(), function.front().getArgumentTypes(), results));
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Reports each op or argument that a kernel may not contain when it is
/// converted: arrayed tensors, and ops that have to be decomposed before.
static LogicalResult checkKernel(func::FuncOp function) {
  LogicalResult result = success();
  if (llvm::any_of(function.getArgumentTypes(),
                   [](Type type) { return isArrayed(type); }))
    result = function.emitOpError(
        "has arrayed arguments, but a kernel computes one copy");
  function.walk([&](Operation *op) {
    if (isa<DecomposableOpInterface>(op))
      result = op->emitOpError("must be decomposed before it is lowered");
    else if (llvm::any_of(op->getResultTypes(),
                          [](Type type) { return isArrayed(type); }))
      result = op->emitOpError("has an arrayed result in a kernel");
  });
  return result;
}

namespace {
struct ConvertHftaToLinalgPass
    : public hfta::impl::ConvertHftaToLinalgPassBase<ConvertHftaToLinalgPass> {
  using ConvertHftaToLinalgPassBase::ConvertHftaToLinalgPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isDeclaration() ||
        function->hasAttr(HftaDialect::kTaskAttrName))
      return;
    if (failed(checkKernel(function)))
      return signalPassFailure();
    const Target *device = Target::read(function);
    if (!device)
      return signalPassFailure();
    MLIRContext &context = getContext();
    TypeConverter converter;
    populateHftaToLinalgTypeConversions(converter);
    RewritePatternSet patterns(&context);
    populateHftaToLinalgPatterns(converter, patterns,
                                 device->getForming().keepsProductsWhole
                                     ? ProductForm::whole
                                     : ProductForm::vectors);
    populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns,
                                                                   converter);
    populateReturnOpTypeConversionPattern(patterns, converter);

    ConversionTarget target(context);
    target.addLegalDialect<arith::ArithDialect, linalg::LinalgDialect,
                           math::MathDialect, scf::SCFDialect,
                           tensor::TensorDialect>();
    // An op on whole matrices or sequences is the only op of its kernel and
    // becomes loops in hfta-matrices-to-loops.
    target.addDynamicallyLegalDialect<HftaDialect>(
        [](Operation *op) { return op->hasTrait<AloneTrait>(); });
    target.addLegalOp<MultiplyPairsOp>();
    target.addDynamicallyLegalOp<func::FuncOp>([&](func::FuncOp op) {
      return converter.isSignatureLegal(op.getFunctionType());
    });
    target.addDynamicallyLegalOp<func::ReturnOp>(
        [&](func::ReturnOp op) { return converter.isLegal(op); });

    convertBorder(function);
    if (failed(applyPartialConversion(function, target, std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
