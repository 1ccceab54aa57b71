//===- SegmentImages.cpp - Initial contents of segments -------------------===//

#include "ProgramTable.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace mlir::hfta;

/// Returns the bytes of elements as programs store them, with one byte for a
/// boolean. Returns nothing if the contents of a resource are missing.
static std::optional<std::vector<char>> getBytes(ElementsAttr elements) {
  auto type = cast<ShapedType>(elements.getType());
  int64_t count = type.getNumElements();
  int64_t width = getElementBytes(type.getElementType());
  std::vector<char> bytes;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || static_cast<int64_t>(blob->getData().size()) != count * width)
      return std::nullopt;
    return blob->getData().vec();
  }
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  if (!dense)
    return std::nullopt;
  if (type.getElementType().isInteger(1)) {
    for (bool value : dense.getValues<bool>())
      bytes.push_back(value);
    return bytes;
  }
  ArrayRef<char> raw = dense.getRawData();
  if (!dense.isSplat())
    return raw.vec();
  for (int64_t index = 0; index < count; ++index)
    bytes.insert(bytes.end(), raw.begin(), raw.begin() + width);
  return bytes;
}

/// Writes a variable's initial value to its place in the image: one value for
/// all copies, or each copy's own.
static LogicalResult placeInitialValue(VariableOp variable,
                                       std::vector<char> &image) {
  auto elements =
      dyn_cast_or_null<ElementsAttr>(variable.getInitial().value_or(nullptr));
  if (!elements)
    return success();
  std::optional<std::vector<char>> bytes = getBytes(elements);
  if (!bytes)
    return variable.emitError("contents of '")
           << variable.getSymName() << "' are missing";
  BindingAttr place = *variable.getLocation();
  int64_t copyBytes = getLogicalBytes(variable.getType());
  int64_t copies = getCopies(variable.getType()).value_or(1);
  bool perCopy =
      static_cast<int64_t>(bytes->size()) == copies * copyBytes && copies > 1;
  for (int64_t copy = 0; copy < copies; ++copy)
    std::copy_n(bytes->begin() + (perCopy ? copy * copyBytes : 0), copyBytes,
                image.begin() + place.getOffset() + copy * place.getStride());
  return success();
}

LogicalResult
hfta::buildSegmentImages(ModuleOp module, ConstantTables &tables,
                         SmallVectorImpl<FlatSymbolRefAttr> &images) {
  auto segments = SegmentAttr::getTable(module);
  for (auto [number, attribute] : llvm::enumerate(segments)) {
    auto segment = cast<SegmentAttr>(attribute);
    images.push_back({});
    if (segment.getRole() != Role::constant &&
        segment.getRole() != Role::scalar)
      continue;
    std::vector<char> image(segment.getBytes());
    for (auto variable : module.getOps<VariableOp>())
      if (variable.getLocation()->getSegment() ==
              static_cast<int64_t>(number) &&
          failed(placeInitialValue(variable, image)))
        return failure();
    images.back() = tables.bytes("image", image);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// Returns whether another segment of this role and block is resident and holds
/// copies in slabs; then the segment without slabs has the shared values.
static bool hasResidentSlabs(ArrayAttr segments, SegmentAttr segment) {
  return llvm::any_of(segments.getAsRange<SegmentAttr>(), [&](SegmentAttr own) {
    return own.getRole() == segment.getRole() &&
           own.getBlock() == segment.getBlock() && own.isResident() &&
           own.getCopyBytes() > 0;
  });
}

std::string hfta::makeSegmentName(SegmentAttr segment, ArrayAttr segments) {
  std::string name = stringifyRole(segment.getRole()).str();
  if (segment.getBlock() >= 0)
    name += "." + std::to_string(segment.getBlock());
  if (segment.getCopyBytes() == 0 &&
      (SegmentAttr::livesWithinStep(segment.getRole()) ||
       hasResidentSlabs(segments, segment)))
    name += ".shared";
  if (segment.getHolders())
    name += ".on_" + segment.getHolders().makeName();
  return name;
}
