//===- Graph.h - A checked ONNX graph ---------------------------*- C++ -*-===//
//
// What the importer knows of a file before it builds anything: nodes in an
// order in which they can run, and what each initializer is for.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_IMPORT_ONNX_READING_GRAPH_H
#define HFTA_LIB_IMPORT_ONNX_READING_GRAPH_H

#include "Reading/Reporter.h"
#include "Reading/Tensors.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <onnx/onnx_pb.h>

namespace mlir::hfta::onnx_import {

/// What a value name that stands for an initializer becomes. Identity nodes
/// over initializers give their names the same treatment and disappear.
struct InitializerUse {
  enum class Kind {
    constant,   ///< known at compile time
    number,     ///< the same, unless file or job says that it is trained
    parameter,  ///< a variable
    statistics, ///< a batch normalization's running mean or variance
  };
  Kind kind = Kind::parameter;
  /// The variable's name; of a number the one that it would have; empty for a
  /// constant.
  std::string variable;
  StringRef initializer;
};

/// Views into the ModelProto that it was made from.
struct Graph {
  const ::onnx::GraphProto *proto = nullptr;
  int64_t opset = 0;
  std::vector<const ::onnx::NodeProto *> nodes; ///< in execution order
  llvm::StringMap<FileTensor> initializers;
  llvm::StringMap<InitializerUse> initializerUses;    ///< by value name
  std::vector<const ::onnx::ValueInfoProto *> inputs; ///< that need a value
  /// What the file's metadata says to be trained: names of initializers.
  std::optional<llvm::StringSet<>> parameters;

  /// Checks the model and fills this; false: `reporter` has errors.
  bool build(const ::onnx::ModelProto &model, StringRef folder,
             MLIRContext *context, Reporter &reporter);
  /// Reports a node whose operator no handler takes.
  void checkOperator(const ::onnx::NodeProto &node, Reporter &reporter) const;

private:
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
  void classifyInitializers();
  // ParameterList.cpp
  void readParameters(const ::onnx::ModelProto &model, Reporter &reporter);
  void readParameterList(StringRef text, Reporter &reporter);
  StringRef checkParameter(StringRef name) const;

  llvm::StringSet<> findSettings() const;
  void addSettings(const ::onnx::NodeProto &node,
                   llvm::StringSet<> &settings) const;
  llvm::StringSet<> findStatistics() const;
};

/// What an axis that the file leaves open is called: the file's symbol, or the
/// input and the axis' number ("x.1"); empty for an axis of fixed size.
std::string getAxisName(const ::onnx::ValueInfoProto &port, unsigned axis);

/// The default domain has two names.
inline bool isDefaultDomain(StringRef domain) {
  return domain.empty() || domain == "ai.onnx";
}

} // namespace mlir::hfta::onnx_import

#endif // HFTA_LIB_IMPORT_ONNX_READING_GRAPH_H
