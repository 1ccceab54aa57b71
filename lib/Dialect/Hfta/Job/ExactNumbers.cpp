//===- ExactNumbers.cpp - Constants before rounding -----------------------===//

#include "Hfta/Dialect/Hfta/Job/ExactNumbers.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include <cstddef>
#include <cstring>

using namespace mlir;
using namespace mlir::hfta;

static constexpr llvm::StringLiteral kExactAttrName = "hfta.exact";

static APInt convertBits(APFloat number, FloatType to) {
  bool losesInformation = false;
  number.convert(to.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                 &losesInformation);
  return number.bitcastToAPInt();
}

/// Returns a new resource with all elements converted from one float type to
/// another.
static ElementsAttr convertResource(DenseResourceElementsAttr resource,
                                    FloatType from, FloatType to) {
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  if (!blob)
    return resource;
  size_t fromBytes = from.getWidth() / 8, toBytes = to.getWidth() / 8;
  ArrayRef<char> data = blob->getData();
  std::vector<char> converted(data.size() / fromBytes * toBytes);
  for (size_t index = 0; index < data.size() / fromBytes; ++index) {
    uint64_t bits = 0;
    std::memcpy(&bits, data.data() + index * fromBytes, fromBytes);
    APFloat number(from.getFloatSemantics(), APInt(from.getWidth(), bits));
    bits = convertBits(number, to).getZExtValue();
    std::memcpy(converted.data() + index * toBytes, &bits, toBytes);
  }
  return DenseResourceElementsAttr::get(
      RankedTensorType::get(resource.getType().getShape(), to),
      resource.getRawHandle().getKey(),
      HeapAsmResourceBlob::allocateAndCopyWithAlign(
          converted, alignof(std::max_align_t), /*dataIsMutable=*/false));
}

ElementsAttr hfta::convertElements(ElementsAttr elements,
                                   FloatType elementType) {
  auto from = dyn_cast<FloatType>(elements.getShapedType().getElementType());
  if (!from || from == elementType)
    return elements;
  if (auto dense = dyn_cast<DenseFPElementsAttr>(elements))
    return dense.mapValues(elementType, [&](const APFloat &number) {
      return convertBits(number, elementType);
    });
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements))
    return convertResource(resource, from, elementType);
  return elements;
}

void hfta::setExactElements(Operation *op, ElementsAttr elements,
                            ElementsAttr exact) {
  if (!exact ||
      convertElements(elements, Float64Type::get(op->getContext())) == exact)
    return;
  op->setAttr(kExactAttrName, exact);
}

ElementsAttr hfta::getExactElements(Operation *op) {
  return op->getAttrOfType<ElementsAttr>(kExactAttrName);
}

ElementsAttr hfta::takeExactElements(Operation *op) {
  return dyn_cast_or_null<ElementsAttr>(op->removeAttr(kExactAttrName));
}
