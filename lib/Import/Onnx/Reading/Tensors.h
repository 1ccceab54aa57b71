//===- Tensors.h - Tensors of an ONNX file ----------------------*- C++ -*-===//

#ifndef HFTA_LIB_IMPORT_ONNX_READING_TENSORS_H
#define HFTA_LIB_IMPORT_ONNX_READING_TENSORS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <memory>
#include <string>

namespace onnx {
class TensorProto;
} // namespace onnx

namespace mlir::hfta::onnx_import {

/// Bytes of one tensor, row-major and little-endian; booleans take one byte.
/// The bytes belong to `owner` or, if that is empty, to the parsed file.
struct FileTensor {
  RankedTensorType type;
  ArrayRef<char> bytes;
  std::shared_ptr<const void> owner;
};

/// The type of ONNX's element type number, null if there is none for it.
Type getElementType(int64_t number, MLIRContext *context);
/// ONNX's name of an element type number, for messages.
std::string getElementTypeName(int64_t number);

/// What went wrong with a tensor; empty `message`: nothing.
struct TensorError {
  std::string message;
  bool unsupported = false;
};

/// The most axes of a tensor, as in the runtime (HFTA_MAX_RANK).
inline constexpr size_t kMostAxes = 32;

/// "[1, 2]", for messages.
std::string formatShape(ArrayRef<int64_t> shape);

/// The product of the sizes, nothing if one is negative or the product, or the
/// number of axes, is larger than in any tensor that Hfta handles.
std::optional<int64_t> countElements(ArrayRef<int64_t> shape);

/// Reads a tensor. Data outside the file is looked for in `folder` only.
FailureOr<FileTensor> readTensor(const ::onnx::TensorProto &proto,
                                 StringRef folder, MLIRContext *context,
                                 TensorError &error);

/// The same values in another float type.
FileTensor convertFloats(const FileTensor &tensor, FloatType elementType);

/// The values as an attribute stored in the context.
DenseElementsAttr makeDense(const FileTensor &tensor);

/// As above for up to `mostInline` elements, more become a resource called
/// `name`.
ElementsAttr makeElements(const FileTensor &tensor, StringRef name,
                          int64_t mostInline);

/// The values as numbers.
SmallVector<double> readFloats(const FileTensor &tensor);

} // namespace mlir::hfta::onnx_import

#endif // HFTA_LIB_IMPORT_ONNX_READING_TENSORS_H
