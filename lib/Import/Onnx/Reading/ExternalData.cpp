//===- ExternalData.cpp - Files beside an ONNX model ----------------------===//

#include "Hfta/Import/Onnx/ExternalData.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <onnx/onnx_pb.h>

using namespace mlir;
using namespace mlir::hfta;

namespace {
class Collector {
public:
  explicit Collector(llvm::StringRef folder) : folder(folder) {}

  void add(const ::onnx::GraphProto &graph);
  std::vector<std::string> take();

private:
  void add(const ::onnx::TensorProto &tensor);

  llvm::StringRef folder;
  std::vector<std::string> files;
};
} // namespace

void Collector::add(const ::onnx::TensorProto &tensor) {
  if (tensor.data_location() != ::onnx::TensorProto::EXTERNAL)
    return;
  for (const auto &entry : tensor.external_data()) {
    if (entry.key() != "location")
      continue;
    llvm::SmallString<256> path(folder);
    llvm::sys::path::append(path, entry.value());
    files.push_back(path.str().str());
  }
}

void Collector::add(const ::onnx::GraphProto &graph) {
  for (const ::onnx::TensorProto &tensor : graph.initializer())
    add(tensor);
  for (const ::onnx::NodeProto &node : graph.node())
    for (const ::onnx::AttributeProto &attribute : node.attribute()) {
      add(attribute.t());
      if (attribute.has_g())
        add(attribute.g());
    }
}

std::vector<std::string> Collector::take() {
  llvm::sort(files);
  files.erase(llvm::unique(files), files.end());
  return std::move(files);
}

std::vector<std::string> hfta::getExternalDataFiles(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  ::onnx::ModelProto model;
  if (!buffer || (*buffer)->getBufferSize() >
                     static_cast<size_t>(std::numeric_limits<int>::max()))
    return {};
  // A text file isn't a model, but its beginning may be parsed as one.
  bool isModel =
      model.ParsePartialFromArray((*buffer)->getBufferStart(),
                                  static_cast<int>((*buffer)->getBufferSize()));
  if (!isModel)
    return {};
  Collector collector(llvm::sys::path::parent_path(path));
  collector.add(model.graph());
  return collector.take();
}
