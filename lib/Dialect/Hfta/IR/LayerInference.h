//===- LayerInference.h - Helpers that infer layers' types ------*- C++ -*-===//

#ifndef HFTA_DIALECT_HFTA_IR_LAYERINFERENCE_H
#define HFTA_DIALECT_HFTA_IR_LAYERINFERENCE_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

namespace mlir::hfta {

/// Appends the type of logical `shape`, arrayed where an operand is.
LogicalResult giveType(ValueRange operands, ArrayRef<int64_t> shape,
                       Type elementType, SmallVectorImpl<Type> &types);

LogicalResult checkSameElementType(std::optional<Location> location,
                                   ValueRange operands);

/// While an op is parsed, its attribute dictionary has not become properties
/// yet, and a required attribute may be missing.
template <typename OpTy, typename Adaptor = typename OpTy::Adaptor>
LogicalResult completeProperties(std::optional<Location> location,
                                 Adaptor &adaptor) {
  DictionaryAttr attributes = adaptor.getAttributes();
  Location place = location.value_or(UnknownLoc::get(attributes.getContext()));
  typename OpTy::Properties properties = adaptor.getProperties();
  if (failed(OpTy::setPropertiesFromAttr(properties, attributes,
                                         [&] { return emitError(place); })))
    return failure();
  adaptor = Adaptor(adaptor.getOperands(), attributes, properties);
  return adaptor.verify(place);
}

/// A sliding window over spatial axes.
struct Window {
  ArrayRef<int64_t> kernel, strides, dilations, padding;
};

template <typename Adaptor>
Window getWindow(Adaptor adaptor, ArrayRef<int64_t> kernel) {
  return {kernel, adaptor.getStrides(), adaptor.getDilations(),
          adaptor.getPadding()};
}

/// Returns the number of positions of the window along each of `sizes`.
FailureOr<SmallVector<int64_t>> countPositions(std::optional<Location> location,
                                               ArrayRef<int64_t> sizes,
                                               const Window &window);

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_LAYERINFERENCE_H
