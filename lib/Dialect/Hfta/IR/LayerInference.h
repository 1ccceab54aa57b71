//===- LayerInference.h - Helpers that infer layers' types ------*- C++ -*-===//

#ifndef HFTA_DIALECT_HFTA_IR_LAYERINFERENCE_H
#define HFTA_DIALECT_HFTA_IR_LAYERINFERENCE_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

namespace mlir::hfta {

/// Appends a tensor type to `types`: `shape` is the shape for one copy, and the
/// type is arrayed if an operand is. Always succeeds.
LogicalResult giveType(ValueRange operands, ArrayRef<int64_t> shape,
                       Type elementType, SmallVectorImpl<Type> &types);

LogicalResult checkSameElementType(std::optional<Location> location,
                                   ValueRange operands);

/// Completes an adaptor's properties from its attribute dictionary and verifies
/// them. Type inference needs this because it also runs while an op is parsed,
/// when the dictionary hasn't become properties yet and a required attribute
/// may be missing.
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

/// Returns the number of positions of the window along each of `sizes`. Emits
/// an error at `location` if the window doesn't have an entry for each axis,
/// has a number that is out of range, or is larger than a padded axis.
FailureOr<SmallVector<int64_t>> countPositions(std::optional<Location> location,
                                               ArrayRef<int64_t> sizes,
                                               const Window &window);

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_LAYERINFERENCE_H
