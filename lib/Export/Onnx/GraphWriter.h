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

/// The dependence of an axis' size on the batch size: the size is `factor`
/// times the batch size, or independent of it if `factor` is 0. If the batch
/// was merged with other axes into this one, `outer` is the product of the
/// sizes of the axes before it: 10 for [10 * batch * 3].
struct Scale {
  int64_t factor = 0, outer = 1;

  explicit operator bool() const { return factor != 0; }
  bool operator==(const Scale &other) const {
    return factor == other.factor && outer == other.outer;
  }
  bool operator!=(const Scale &other) const { return !(*this == other); }
};

/// A set of names, which makes new names unique.
class UniqueNames {
public:
  /// Adds a name. Returns false if the name is taken.
  bool insert(StringRef name) { return names.insert(name).second; }
  /// Returns `base` if it is free, otherwise `base` with a number.
  std::string make(StringRef base);

private:
  llvm::StringSet<> names;
  /// The last number that was appended to each base. So make() doesn't try 1,
  /// 2, 3, … again, although thousands of values may share a base.
  llvm::StringMap<int> numbers;
};

/// The ONNX value for an hfta value. Its shape may lack leading axes of the
/// hfta value, or have size 1 where the hfta value's axis is larger, since
/// elementwise ops of ONNX broadcast implicitly.
struct Tensor {
  std::string name;
  SmallVector<int64_t> shape;
  SmallVector<Scale> scales; ///< one per axis

  /// Returns the axis whose size depends on the batch size, or -1.
  int64_t getBatchAxis() const;
};

/// Translates a function @forward into an ONNX graph. Handlers (Handlers.h)
/// translate single ops.
class GraphWriter {
public:
  /// With `symbolic`, the size of axis 0 of all inputs is the symbol "batch";
  /// otherwise all sizes are numbers.
  GraphWriter(func::FuncOp forward, ::onnx::GraphProto &graph, bool symbolic);

  /// Writes the graph. Fails after reporting all ops that can't be exported. If
  /// `needsFixedBatch()` is set afterwards, the graph is incomplete, and has to
  /// be written by another GraphWriter without `symbolic`.
  LogicalResult write();

  /// Notes that the graph is only correct for one batch size.
  void requireFixedBatch() { fixedBatch = true; }
  bool needsFixedBatch() const { return fixedBatch && symbolic; }

  /// Returns the names of the variables that the graph reads.
  const std::vector<std::string> &getParameters() const { return parameters; }

  //===--- For handlers ---------------------------------------------------===//
  /// Returns the ONNX value for an hfta value; it may have to be broadcast.
  const Tensor &get(Value value) { return tensors[value]; }
  /// Returns the ONNX value in the hfta value's full shape, to which an Expand
  /// node broadcasts it if necessary.
  Tensor getFull(Value value);
  void set(Value value, Tensor tensor) { tensors[value] = std::move(tensor); }
  bool isLive(Value value) const { return live.contains(value); }

  /// Adds a node that defines `result`, with the given shape and scales.
  ::onnx::NodeProto *define(StringRef type, ArrayRef<std::string> inputs,
                            Value result, ArrayRef<int64_t> shape,
                            ArrayRef<Scale> scales);
  /// Adds a node that defines a new value. Returns the value's name.
  std::string add(StringRef type, ArrayRef<std::string> inputs, Location loc,
                  ::onnx::NodeProto **node = nullptr);
  /// Adds a one-dimensional constant of i64, and returns its name.
  std::string addIntegers(ArrayRef<int64_t> values, Location loc);
  /// Adds a constant of any element type, and returns its name. `shape` may
  /// have fewer rows than `elements` if all rows are equal.
  std::string addConstant(DenseElementsAttr elements, Location loc);
  std::string addConstant(ElementsAttr elements, ArrayRef<int64_t> shape,
                          Location loc);
  /// Adds a scalar constant of the element type, and returns its name.
  std::string addScalar(Type elementType, double value, Location loc);
  /// Adds a one-dimensional tensor of sizes, such as the shape operand of
  /// Reshape, and returns its name. Sizes with a scale are computed from the
  /// batch size at run time.
  std::string addShape(ArrayRef<int64_t> shape, ArrayRef<Scale> scales,
                       Location loc);
  /// Adds a Reshape of `tensor` to a shape with as many elements. The new value
  /// is named after `result` if that isn't null.
  Tensor reshape(const Tensor &tensor, ArrayRef<int64_t> shape, Location loc,
                 Value result = Value());

  /// Returns `base`, with a number appended if another value has that name.
  std::string makeName(StringRef base);
  /// Marks an op as written, so that it gets no node of its own.
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
  std::string batchName; ///< a value of shape [1] that holds the batch size
  llvm::DenseMap<Value, Tensor> tensors;
  llvm::DenseMap<Value, std::string> outputNames;
  llvm::DenseSet<Value> live;
  llvm::DenseSet<Operation *> done;
  UniqueNames names, nodeNames;
  std::vector<std::string> parameters;
};

/// Returns the number of an element type in ONNX's enumeration
/// TensorProto.DataType, or 0 if ONNX has no such type.
int getElementTypeNumber(Type type);

void setInt(::onnx::NodeProto *node, StringRef name, int64_t value);
void setFloat(::onnx::NodeProto *node, StringRef name, double value);
void setInts(::onnx::NodeProto *node, StringRef name, ArrayRef<int64_t> values);
void setString(::onnx::NodeProto *node, StringRef name, StringRef value);

} // namespace mlir::hfta::onnx_export

#endif // HFTA_LIB_EXPORT_ONNX_GRAPHWRITER_H
