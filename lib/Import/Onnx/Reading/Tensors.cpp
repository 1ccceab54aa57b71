//===- Tensors.cpp - Tensors of an ONNX file ------------------------------===//

#include "Reading/Tensors.h"

#include "Reading/Reporter.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstring>
#include <vector>

namespace mlir::hfta::onnx_import {

using ::onnx::TensorProto;

Type getElementType(int64_t number, MLIRContext *context) {
  Builder builder(context);
  switch (number) {
  case TensorProto::FLOAT:
    return builder.getF32Type();
  case TensorProto::DOUBLE:
    return builder.getF64Type();
  case TensorProto::FLOAT16:
    return builder.getF16Type();
  case TensorProto::BFLOAT16:
    return builder.getBF16Type();
  case TensorProto::BOOL:
    return builder.getI1Type();
  case TensorProto::INT8:
    return builder.getI8Type();
  case TensorProto::INT16:
    return builder.getI16Type();
  case TensorProto::INT32:
    return builder.getI32Type();
  case TensorProto::INT64:
    return builder.getI64Type();
  case TensorProto::UINT8:
    return builder.getIntegerType(8, /*isSigned=*/false);
  case TensorProto::UINT16:
    return builder.getIntegerType(16, /*isSigned=*/false);
  case TensorProto::UINT32:
    return builder.getIntegerType(32, /*isSigned=*/false);
  case TensorProto::UINT64:
    return builder.getIntegerType(64, /*isSigned=*/false);
  default:
    return Type();
  }
}

std::string getElementTypeName(int64_t number) {
  if (number > 0 && number <= TensorProto::BFLOAT16)
    return llvm::StringRef(TensorProto::DataType_Name(
                               static_cast<TensorProto::DataType>(number)))
        .lower();
  // These types are newer than the protobuf schema that Hfta is built with.
  static constexpr StringLiteral kLater[] = {
      "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz",
      "uint4",        "int4",           "float4e2m1", "float8e8m0",
      "uint2",        "int2",           "float6e2m3", "float6e3m2"};
  constexpr int64_t kFirst = TensorProto::BFLOAT16 + 1;
  constexpr int64_t kEnd = kFirst + std::size(kLater);
  if (number >= kFirst && number < kEnd)
    return kLater[number - kFirst].str();
  return "number " + std::to_string(number);
}

std::optional<int64_t> countElements(ArrayRef<int64_t> shape) {
  // The job language has the same limit.
  constexpr int64_t kMostElements = int64_t(1) << 36;
  if (shape.size() > kMostAxes)
    return std::nullopt;
  int64_t count = 1;
  bool empty = llvm::is_contained(shape, 0);
  for (int64_t size : shape) {
    if (size < 0 || size > kMostElements)
      return std::nullopt;
    if (!empty &&
        (llvm::MulOverflow(count, size, count) || count > kMostElements))
      return std::nullopt;
  }
  return empty ? 0 : count;
}

std::string formatShape(ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (auto [index, size] : llvm::enumerate(shape.take_front(kMostAxes)))
    text += (index ? ", " : "") + std::to_string(size);
  if (shape.size() > kMostAxes)
    text += ", ... " + std::to_string(shape.size()) + " in all";
  return text + "]";
}

static int64_t getStoredBytes(Type elementType) {
  unsigned bits = elementType.getIntOrFloatBitWidth();
  return bits == 1 ? 1 : bits / 8;
}

static LogicalResult fail(TensorError &error, const Twine &message,
                          bool unsupported = false) {
  error.message = message.str();
  error.unsupported = unsupported;
  return failure();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Copies the entries of a protobuf field, each truncated to an element's
/// bytes.
template <typename Element, typename Field>
static FileTensor pack(RankedTensorType type, const Field &field) {
  auto storage = std::make_shared<std::vector<Element>>();
  storage->reserve(field.size());
  for (auto entry : field)
    storage->push_back(static_cast<Element>(entry));
  FileTensor tensor;
  tensor.type = type;
  tensor.bytes = ArrayRef<char>(reinterpret_cast<const char *>(storage->data()),
                                storage->size() * sizeof(Element));
  tensor.owner = storage;
  return tensor;
}

/// Reads the field that holds elements of this type if there is no raw data.
static FileTensor readFields(const TensorProto &proto, RankedTensorType type) {
  switch (proto.data_type()) {
  case TensorProto::FLOAT:
    return pack<float>(type, proto.float_data());
  case TensorProto::DOUBLE:
    return pack<double>(type, proto.double_data());
  case TensorProto::INT64:
    return pack<int64_t>(type, proto.int64_data());
  case TensorProto::UINT64:
    return pack<uint64_t>(type, proto.uint64_data());
  case TensorProto::UINT32:
    return pack<uint32_t>(type, proto.uint64_data());
  case TensorProto::INT32:
    return pack<int32_t>(type, proto.int32_data());
  case TensorProto::INT16:
  case TensorProto::UINT16:
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
    return pack<uint16_t>(type, proto.int32_data());
  default:
    return pack<uint8_t>(type, proto.int32_data());
  }
}

/// Returns whether a path, relative to a folder, stays inside of it.
static bool staysInside(StringRef path) {
  if (path.empty() || !isPrintable(path) || llvm::sys::path::is_absolute(path))
    return false;
  return llvm::none_of(llvm::make_range(llvm::sys::path::begin(path),
                                        llvm::sys::path::end(path)),
                       [](StringRef part) { return part == ".."; });
}

/// The location of a tensor's data in another file.
namespace {
struct ExternalData {
  std::string location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};
} // namespace

static FailureOr<ExternalData> readExternalEntries(const TensorProto &proto,
                                                   TensorError &error) {
  ExternalData data;
  for (const auto &entry : proto.external_data()) {
    uint64_t number = 0;
    bool isNumber = !StringRef(entry.value()).getAsInteger(10, number);
    if (entry.key() == "location") {
      data.location = entry.value();
    } else if (entry.key() == "offset" || entry.key() == "length") {
      if (!isNumber)
        return fail(error, "external data has " + entry.key() + " '" +
                               entry.value() + "', expected a number");
      if (entry.key() == "offset")
        data.offset = number;
      else
        data.length = number;
    }
  }
  if (!staysInside(data.location))
    return fail(error, "external data at '" + data.location +
                           "', expected a path inside the model's folder");
  return data;
}

static FailureOr<FileTensor> readExternal(const TensorProto &proto,
                                          RankedTensorType type, int64_t bytes,
                                          StringRef folder,
                                          TensorError &error) {
  FailureOr<ExternalData> data = readExternalEntries(proto, error);
  if (failed(data))
    return failure();
  if (data->length && *data->length != static_cast<uint64_t>(bytes))
    return fail(error, "external data of " + Twine(*data->length) +
                           " bytes, expected " + Twine(bytes));
  SmallString<256> path(folder), realFolder, realPath;
  llvm::sys::path::append(path, data->location);
  if (llvm::sys::fs::real_path(folder.empty() ? "." : folder, realFolder) ||
      llvm::sys::fs::real_path(path, realPath))
    return fail(error, "cannot find external data '" + path + "'");
  if (!realFolder.ends_with("/"))
    realFolder += "/";
  if (!realPath.starts_with(realFolder))
    return fail(error, "external data '" + data->location +
                           "' leads outside the model's folder");
  uint64_t size = 0;
  if (!llvm::sys::fs::is_regular_file(realPath) ||
      llvm::sys::fs::file_size(realPath, size))
    return fail(error, "cannot read external data '" + path + "'");
  if (data->offset > size || size - data->offset < static_cast<uint64_t>(bytes))
    return fail(error, "external data '" + data->location + "' has " +
                           Twine(size) + " bytes, expected " + Twine(bytes) +
                           " from " + Twine(data->offset));
  auto buffer = llvm::MemoryBuffer::getFileSlice(realPath, bytes, data->offset);
  if (!buffer)
    return fail(error, "cannot read external data '" + path +
                           "': " + buffer.getError().message());
  std::shared_ptr<llvm::MemoryBuffer> owner = std::move(*buffer);
  return FileTensor{
      type, ArrayRef<char>(owner->getBufferStart(), owner->getBufferSize()),
      owner};
}

FailureOr<FileTensor> readTensor(const TensorProto &proto, StringRef folder,
                                 MLIRContext *context, TensorError &error) {
  Type elementType = getElementType(proto.data_type(), context);
  if (!elementType)
    return fail(error,
                "element type " + getElementTypeName(proto.data_type()) +
                    " is not supported",
                /*unsupported=*/true);
  if (proto.has_segment())
    return fail(error, "tensor in segments is not supported",
                /*unsupported=*/true);
  SmallVector<int64_t> shape(proto.dims().begin(), proto.dims().end());
  std::optional<int64_t> count = countElements(shape);
  if (!count)
    return fail(error, "shape " + formatShape(shape) +
                           " has a negative size, too many elements or more "
                           "than " +
                           Twine(kMostAxes) + " axes");
  auto type = RankedTensorType::get(shape, elementType);
  int64_t bytes = *count * getStoredBytes(elementType);
  if (proto.data_location() == TensorProto::EXTERNAL)
    return readExternal(proto, type, bytes, folder, error);
  FileTensor tensor;
  if (proto.has_raw_data()) {
    tensor.type = type;
    tensor.bytes =
        ArrayRef<char>(proto.raw_data().data(), proto.raw_data().size());
  } else {
    tensor = readFields(proto, type);
  }
  if (static_cast<int64_t>(tensor.bytes.size()) != bytes)
    return fail(error, "data of " + Twine(tensor.bytes.size()) +
                           " bytes, expected " + Twine(bytes));
  return tensor;
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

static APFloat readFloat(const char *bytes, FloatType type) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes, type.getWidth() / 8);
  return APFloat(type.getFloatSemantics(), APInt(type.getWidth(), bits));
}

FileTensor convertFloats(const FileTensor &tensor, FloatType elementType) {
  auto from = cast<FloatType>(tensor.type.getElementType());
  if (from == elementType)
    return tensor;
  size_t inBytes = from.getWidth() / 8, outBytes = elementType.getWidth() / 8;
  size_t count = tensor.bytes.size() / inBytes;
  auto storage = std::make_shared<std::vector<char>>(count * outBytes);
  for (size_t index = 0; index < count; ++index) {
    APFloat value = readFloat(tensor.bytes.data() + index * inBytes, from);
    bool losesInfo = false;
    value.convert(elementType.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    uint64_t bits = value.bitcastToAPInt().getZExtValue();
    std::memcpy(storage->data() + index * outBytes, &bits, outBytes);
  }
  auto type = RankedTensorType::get(tensor.type.getShape(), elementType);
  return FileTensor{type, ArrayRef<char>(*storage), storage};
}

DenseElementsAttr makeDense(const FileTensor &tensor) {
  if (tensor.type.getNumElements() == 0)
    return DenseElementsAttr::get(tensor.type, ArrayRef<Attribute>());
  if (tensor.type.getElementType().isInteger(1)) {
    SmallVector<bool> values;
    for (char byte : tensor.bytes)
      values.push_back(byte != 0);
    return DenseElementsAttr::get(tensor.type, values);
  }
  return DenseElementsAttr::getFromRawBuffer(tensor.type, tensor.bytes);
}

ElementsAttr makeElements(const FileTensor &tensor, StringRef name,
                          int64_t mostInline) {
  if (tensor.type.getNumElements() <= mostInline ||
      tensor.type.getElementType().isInteger(1))
    return makeDense(tensor);
  return DenseResourceElementsAttr::get(
      tensor.type, name,
      HeapAsmResourceBlob::allocateAndCopyWithAlign(tensor.bytes,
                                                    alignof(std::max_align_t),
                                                    /*dataIsMutable=*/false));
}

SmallVector<double> readFloats(const FileTensor &tensor) {
  FileTensor doubles =
      convertFloats(tensor, Float64Type::get(tensor.type.getContext()));
  SmallVector<double> values(doubles.bytes.size() / sizeof(double));
  if (!values.empty())
    std::memcpy(values.data(), doubles.bytes.data(), doubles.bytes.size());
  return values;
}

} // namespace mlir::hfta::onnx_import
