//===- GraphWriter.h - An ONNX graph under construction ---------*- C++ -*-===//

#ifndef HFTA_LIB_EXPORT_ONNX_GRAPHWRITER_H
#define HFTA_LIB_EXPORT_ONNX_GRAPHWRITER_H

#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"
#include "Hfta/Export/Onnx/Export.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

#include <onnx/onnx_pb.h>

namespace mlir::hfta::onnx_export {

/// The dependence of an axis' size on the batch size: `factor` times it, or not
/// at all (0). Where the batch shares an axis with others, `outer` is the
/// number of elements of the axis' slower part: 10 for [10 * batch * 3].
struct Scale {
  int64_t factor = 0, outer = 1;

  explicit operator bool() const { return factor != 0; }
  bool operator==(const Scale &other) const {
    return factor == other.factor && outer == other.outer;
  }
  bool operator!=(const Scale &other) const { return !(*this == other); }
};

/// Makes each name unique.
class UniqueNames {
public:
  /// Returns false if the name is taken.
  bool insert(StringRef name) { return names.insert(name).second; }
  /// Returns `base` if it is free, otherwise `base` with a number.
  std::string make(StringRef base);

private:
  llvm::StringSet<> names;
  /// The last number that was appended to each base, so that make() doesn't try
  /// 1, 2, 3 and so on again: thousands of values may share a base.
  llvm::StringMap<int> numbers;
};

/// An ONNX value that stands for an hfta value. Its shape may lack leading axes
/// of the hfta value's, or have size 1 where that is larger, since elementwise
/// ops of ONNX broadcast implicitly.
struct Tensor {
  std::string name;
  SmallVector<int64_t> shape;
  SmallVector<Scale> scales; ///< one per axis

  /// Returns the axis whose size depends on the batch size, or -1.
  int64_t getBatchAxis() const;
};

/// Writes one @forward. Handlers (Handlers.h) translate single ops.
class GraphWriter {
public:
  /// With `symbolic`, axis 0 of all inputs is the symbol "batch".
  GraphWriter(func::FuncOp forward, ::onnx::GraphProto &graph, bool symbolic);

  /// Writes the graph. On failure errors have been reported, unless
  /// `needsFixedBatch()` is set.
  LogicalResult write();

  /// Notes that the batch size must be written into the graph after all.
  void requireFixedBatch() { fixedBatch = true; }
  bool needsFixedBatch() const { return fixedBatch && symbolic; }

  /// Returns the variables that the graph reads.
  const std::vector<std::string> &getParameters() const { return parameters; }

  //===--- For handlers ---------------------------------------------------===//
  /// Returns the ONNX value of an hfta value.
  const Tensor &get(Value value) { return tensors[value]; }
  /// Returns the ONNX value, with the shape of the hfta value.
  Tensor getFull(Value value);
  void set(Value value, Tensor tensor) { tensors[value] = std::move(tensor); }
  bool isLive(Value value) const { return live.contains(value); }

  /// Adds a node that defines `result`, with the given shape and scales.
  ::onnx::NodeProto *define(StringRef type, ArrayRef<std::string> inputs,
                            Value result, ArrayRef<int64_t> shape,
                            ArrayRef<Scale> scales);
  /// Adds a node that defines a new value; returns the value's name.
  std::string add(StringRef type, ArrayRef<std::string> inputs, Location loc,
                  ::onnx::NodeProto **node = nullptr);
  /// Adds a list of integers.
  std::string addIntegers(ArrayRef<int64_t> values, Location loc);
  /// Adds a tensor of any kind.
  std::string addConstant(DenseElementsAttr elements, Location loc);
  std::string addConstant(ElementsAttr elements, ArrayRef<int64_t> shape,
                          Location loc);
  /// Adds one number of the element type.
  std::string addScalar(Type elementType, double value, Location loc);
  /// Adds a shape operand: the sizes, or multiples of the batch size.
  std::string addShape(ArrayRef<int64_t> shape, ArrayRef<Scale> scales,
                       Location loc);
  /// Reshapes `tensor` to a shape with as many elements, named after `result`
  /// if there is one.
  Tensor reshape(const Tensor &tensor, ArrayRef<int64_t> shape, Location loc,
                 Value result = Value());

  /// Returns a name that no other value has.
  std::string makeName(StringRef base);
  /// Notes that the op needs no node of its own.
  void markDone(Operation *op) { done.insert(op); }
  int64_t getBatch() const { return batch; }

private:
  void findLive();
  bool checkOps();
  void writeInputs();
  void writeOp(Operation *op);
  void writeRead(Operation *op);
  void writeOutputs();
  void removeUnused();
  void describePort(::onnx::ValueInfoProto &port, StringRef name, Type type,
                    ArrayRef<Scale> scales);
  std::string makeResultName(Value result);

  func::FuncOp forward;
  ::onnx::GraphProto &graph;
  bool symbolic;
  bool fixedBatch = false;
  int64_t batch = -1;
  std::string batchName; ///< name of a list that holds the batch size
  llvm::DenseMap<Value, Tensor> tensors;
  llvm::DenseMap<Value, std::string> outputNames;
  llvm::DenseSet<Value> live;
  llvm::DenseSet<Operation *> done;
  UniqueNames names, nodeNames;
  std::vector<std::string> parameters;
};

/// Returns ONNX's number of an element type, 0 if there is none.
int getElementTypeNumber(Type type);

void setInt(::onnx::NodeProto *node, StringRef name, int64_t value);
void setFloat(::onnx::NodeProto *node, StringRef name, double value);
void setInts(::onnx::NodeProto *node, StringRef name, ArrayRef<int64_t> values);
void setString(::onnx::NodeProto *node, StringRef name, StringRef value);

} // namespace mlir::hfta::onnx_export

#endif // HFTA_LIB_EXPORT_ONNX_GRAPHWRITER_H
