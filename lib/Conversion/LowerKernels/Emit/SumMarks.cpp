//===- SumMarks.cpp - Marks of sums' terms in loops -----------------------===//

#include "Emit/SumMarks.h"
#include "Hfta/Conversion/LowerKernels.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::hfta;

void hfta::numberSum(linalg::GenericOp op, SumOrderAttr order) {
  // A sum whose terms come in blocks was numbered before it was divided.
  if (!order || op->hasAttr(kTermAttrName))
    return;
  auto kernel = op->getParentOfType<func::FuncOp>();
  SmallVector<Attribute> orders;
  if (auto known = kernel->getAttrOfType<ArrayAttr>(kSumsAttrName))
    llvm::append_range(orders, known);
  Builder builder(op.getContext());
  op->setAttr(kTermAttrName, builder.getI64IntegerAttr(orders.size()));
  orders.push_back(order);
  kernel->setAttr(kSumsAttrName, builder.getArrayAttr(orders));
}

void hfta::markTerms(linalg::GenericOp op, ValueRange results) {
  Attribute number = op->getAttr(kTermAttrName);
  if (!number)
    return;
  int64_t sum = cast<IntegerAttr>(number).getInt();
  for (OpOperand &output : op.getDpsInitsMutable()) {
    int64_t index = output.getOperandNumber() - op.getNumDpsInputs();
    if (Operation *adder = results[index].getDefiningOp();
        adder && op.payloadUsesValueFromOperand(&output))
      adder->setAttr(kTermAttrName,
                     DenseI64ArrayAttr::get(op.getContext(), {sum, index}));
  }
}

void hfta::markCombiner(linalg::GenericOp op, Operation *combiner) {
  if (Attribute number = op->getAttr(kTermAttrName))
    combiner->setAttr(kCombineAttrName, number);
}

void hfta::markStart(linalg::GenericOp op, Value value) {
  Operation *source = value.getDefiningOp();
  if (Attribute number = op->getAttr(kTermAttrName); number && source)
    source->setAttr(kStartAttrName, number);
}

void hfta::markLoop(linalg::GenericOp op, unsigned axis, scf::ForOp loop) {
  if (op->hasAttr(kTermAttrName) &&
      op.getIteratorTypesArray()[axis] == utils::IteratorType::reduction)
    loop->setAttr(kTermLoopAttrName, UnitAttr::get(op.getContext()));
}
