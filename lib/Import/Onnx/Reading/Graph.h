//===- Graph.h - A checked ONNX graph ---------------------------*- C++ -*-===//
//
// The importer's view of a file before it builds anything: nodes in an order in
// which they can run, and the use of each initializer.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_IMPORT_ONNX_READING_GRAPH_H
#define HFTA_LIB_IMPORT_ONNX_READING_GRAPH_H

#include "Reading/Functions.h"
#include "Reading/LiveNodes.h"
#include "Reading/Reporter.h"
#include "Reading/Tensors.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <onnx/onnx_pb.h>

namespace mlir::hfta::onnx_import {

/// The use of a value that is an initializer, or a copy of one by an Identity
/// node. Such Identity nodes are removed.
struct InitializerUse {
  enum class Kind {
    constant,   ///< known at compile time
    number,     ///< a constant, unless file or job says that it is trained
    parameter,  ///< a variable
    statistics, ///< a batch normalization's running mean or variance
  };
  Kind kind = Kind::parameter;
  /// The variable's name, or for a number the name that the variable would
  /// have; empty for a constant.
  std::string variable;
  StringRef initializer;
  /// Whether the tensor is that of a `Constant` node, which is only a variable
  /// if file or job says that it is trained, or if it is a statistic.
  bool isNode = false;
};

/// A checked graph. It refers to the ModelProto from which it was built.
struct Graph {
  const ::onnx::GraphProto *proto = nullptr;
  int64_t opset = 0;
  /// The nodes that the outputs need, in execution order.
  std::vector<const ::onnx::NodeProto *> nodes;
  /// The nodes that the outputs need, including those inside of branches.
  LiveNodes live;
  llvm::StringMap<FileTensor> initializers;
  llvm::StringMap<InitializerUse> initializerUses; ///< by value name
  /// The inputs that aren't initializers, so that the caller must provide them.
  std::vector<const ::onnx::ValueInfoProto *> inputs;
  /// The names of the initializers that are trained according to the file's
  /// metadata.
  std::optional<llvm::StringSet<>> parameters;
  /// The names of the running means and variances that training doesn't update
  /// according to the file's metadata.
  std::optional<llvm::StringSet<>> frozenStatistics;

  /// Checks the model, inlines its functions and fills the graph. Returns false
  /// after errors, which are in `reporter`.
  bool build(::onnx::ModelProto &model, StringRef folder, MLIRContext *context,
             Reporter &reporter);
  /// Reports a node whose operator has no handler.
  void checkOperator(const ::onnx::NodeProto &node, Reporter &reporter) const;
  /// Returns the version of the operator set by which the node is defined: that
  /// of its function or else of the file.
  int64_t getOpset(const ::onnx::NodeProto &node) const {
    auto own = opsets.find(&node);
    return own == opsets.end() ? opset : own->second;
  }

private:
  /// The operator set versions of nodes that come from functions.
  NodeOpsets opsets;
  /// The domains in which the file has functions.
  llvm::StringSet<> functionDomains;
  /// Initializers of unsupported types that no output needs.
  llvm::StringSet<> ignored;

  bool readOpset(const ::onnx::ModelProto &model, Reporter &reporter);
  void readInitializers(StringRef folder, MLIRContext *context,
                        Reporter &reporter);
  void readInitializer(const ::onnx::TensorProto &tensor, StringRef folder,
                       MLIRContext *context, Reporter &reporter);
  void checkInnerNames(const llvm::StringSet<> &defined, Reporter &reporter);
  void checkNames(Reporter &reporter);
  void sortNodes(Reporter &reporter);
  void reportCycle(int start, ArrayRef<std::vector<int>> sources,
                   ArrayRef<int> missing, Reporter &reporter) const;
  void classifyInitializers(const llvm::StringSet<> &settings,
                            const llvm::StringSet<> &statistics);
  void classifyConstants(const llvm::StringSet<> &settings,
                         const llvm::StringSet<> &statistics,
                         MLIRContext *context);
  // ParameterList.cpp
  void readLists(const ::onnx::ModelProto &model, Reporter &reporter);
  StringRef checkParameter(StringRef name) const;
  StringRef checkStatistics(StringRef name) const;

  llvm::StringSet<> findSettings() const;
  void addSettings(const ::onnx::NodeProto &node,
                   llvm::StringSet<> &settings) const;
  llvm::StringSet<> findStatistics() const;
};

/// Returns the name of an axis that the file leaves open: the file's symbol, or
/// the input and the axis' number ("x.1"); empty for an axis of fixed size.
std::string getAxisName(const ::onnx::ValueInfoProto &port, unsigned axis);

/// Returns whether a domain is ONNX's default domain, which has two names.
inline bool isDefaultDomain(StringRef domain) {
  return domain.empty() || domain == "ai.onnx";
}

} // namespace mlir::hfta::onnx_import

#endif // HFTA_LIB_IMPORT_ONNX_READING_GRAPH_H
