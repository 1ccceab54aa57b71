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

/// The bytes of one tensor, in row-major order and little-endian; booleans take
/// one byte. The bytes belong to `owner` or, if that is null, to the parsed
/// file.
struct FileTensor {
  RankedTensorType type;
  ArrayRef<char> bytes;
  std::shared_ptr<const void> owner;
};

/// Returns the type with this number in ONNX's enumeration
/// TensorProto.DataType, or null if Hfta doesn't support it.
Type getElementType(int64_t number, MLIRContext *context);
/// Returns ONNX's name of the type with this number, for messages.
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
/// if Hfta supports no tensor with so many elements or axes.
std::optional<int64_t> countElements(ArrayRef<int64_t> shape);

/// Reads a tensor. Data in other files must be in `folder`. On failure, `error`
/// says why.
FailureOr<FileTensor> readTensor(const ::onnx::TensorProto &proto,
                                 StringRef folder, MLIRContext *context,
                                 TensorError &error);

/// Rounds the values to another float type.
FileTensor convertFloats(const FileTensor &tensor, FloatType elementType);

/// Returns the values as an attribute that is stored in the context.
DenseElementsAttr makeDense(const FileTensor &tensor);

/// Returns up to `mostInline` elements, or booleans, as an attribute that is
/// stored in the context, and more elements as a resource called `name`.
ElementsAttr makeElements(const FileTensor &tensor, StringRef name,
                          int64_t mostInline);

/// Returns the elements of a float tensor in f64.
SmallVector<double> readFloats(const FileTensor &tensor);

} // namespace mlir::hfta::onnx_import

#endif // HFTA_LIB_IMPORT_ONNX_READING_TENSORS_H
