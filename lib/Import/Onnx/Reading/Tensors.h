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

/// The bytes of one tensor, row-major and little-endian; booleans take one
/// byte. The bytes belong to `owner` or, if that is empty, to the parsed file.
struct FileTensor {
  RankedTensorType type;
  ArrayRef<char> bytes;
  std::shared_ptr<const void> owner;
};

/// Returns the type of ONNX's element type number, null if there is none for
/// it.
Type getElementType(int64_t number, MLIRContext *context);
/// Returns ONNX's name of an element type number, for messages.
std::string getElementTypeName(int64_t number);

/// An error in a tensor; an empty `message` means that there is none.
struct TensorError {
  std::string message;
  bool unsupported = false;
};

/// The most axes of a tensor, as in the runtime (HFTA_MAX_RANK).
inline constexpr size_t kMostAxes = 32;

/// Formats a shape for messages: "[1, 2]".
std::string formatShape(ArrayRef<int64_t> shape);

/// Returns the product of the sizes. Returns nothing if a size is negative, or
/// the product or the number of axes is larger than in any tensor that Hfta
/// supports.
std::optional<int64_t> countElements(ArrayRef<int64_t> shape);

/// Reads a tensor. Data outside the file may only be in `folder`.
FailureOr<FileTensor> readTensor(const ::onnx::TensorProto &proto,
                                 StringRef folder, MLIRContext *context,
                                 TensorError &error);

/// Converts the values to another float type.
FileTensor convertFloats(const FileTensor &tensor, FloatType elementType);

/// Returns the values as an attribute stored in the context.
DenseElementsAttr makeDense(const FileTensor &tensor);

/// Returns up to `mostInline` elements as an attribute stored in the context,
/// and more elements as a resource called `name`.
ElementsAttr makeElements(const FileTensor &tensor, StringRef name,
                          int64_t mostInline);

/// Returns the values as numbers.
SmallVector<double> readFloats(const FileTensor &tensor);

} // namespace mlir::hfta::onnx_import

#endif // HFTA_LIB_IMPORT_ONNX_READING_TENSORS_H
