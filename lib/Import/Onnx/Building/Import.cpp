//===- Import.cpp - ONNX files to hfta.model ------------------------------===//

#include "Hfta/Import/Onnx/Import.h"

#include "Building/ModelBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

namespace mlir::hfta {

using namespace onnx_import;

struct OnnxFile::Impl {
  Impl(StringRef path, MLIRContext *context)
      : path(path.str()), context(context) {}

  std::string path;
  MLIRContext *context;
  ::onnx::ModelProto proto;
  Graph graph;
  std::vector<OnnxPort> inputs, outputs;
};

OnnxFile::OnnxFile(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
OnnxFile::~OnnxFile() = default;

static OnnxPort readPort(const ::onnx::ValueInfoProto &info,
                         MLIRContext *context) {
  OnnxPort port;
  port.name = info.name();
  if (!info.type().has_tensor_type())
    return port;
  const auto &type = info.type().tensor_type();
  port.elementType = getElementType(type.elem_type(), context);
  port.hasShape = type.has_shape();
  for (auto [index, size] : llvm::enumerate(type.shape().dim())) {
    OnnxAxis axis;
    axis.symbol = getAxisName(info, index);
    if (axis.symbol.empty())
      axis.size = size.dim_value();
    port.shape.push_back(axis);
  }
  return port;
}

/// Returns the operator that computes the numbers of a value. See
/// OnnxPort::op.
static std::string findOperator(const Graph &graph, StringRef value) {
  static constexpr StringLiteral passing[] = {
      "Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Cast"};
  // Each value is computed before it is used.
  for (const ::onnx::NodeProto *node : llvm::reverse(graph.nodes)) {
    if (!llvm::is_contained(node->output(), value))
      continue;
    if (!llvm::is_contained(passing, node->op_type()) ||
        node->input_size() == 0)
      return node->op_type();
    value = node->input(0);
  }
  return "";
}

std::unique_ptr<OnnxFile> OnnxFile::parse(StringRef bytes, StringRef path,
                                          MLIRContext *context,
                                          OnnxFailure &failure) {
  Reporter reporter(path, context);
  auto impl = std::make_unique<Impl>(path, context);
  failure = OnnxFailure::none;
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()) ||
      !impl->proto.ParsePartialFromArray(bytes.data(),
                                         static_cast<int>(bytes.size()))) {
    reporter.invalid(reporter.getFileLocation(),
                     "not an ONNX model: it cannot be parsed");
    failure = reporter.getFailure();
    return nullptr;
  }
  bool good = impl->graph.build(
      impl->proto, llvm::sys::path::parent_path(impl->path), context, reporter);
  failure = reporter.getFailure();
  if (!good)
    return nullptr;
  for (const ::onnx::ValueInfoProto *input : impl->graph.inputs)
    impl->inputs.push_back(readPort(*input, context));
  for (const ::onnx::ValueInfoProto &output : impl->proto.graph().output()) {
    impl->outputs.push_back(readPort(output, context));
    impl->outputs.back().op = findOperator(impl->graph, output.name());
  }
  return std::unique_ptr<OnnxFile>(new OnnxFile(std::move(impl)));
}

std::unique_ptr<OnnxFile> OnnxFile::open(StringRef path, MLIRContext *context,
                                         OnnxFailure &failure) {
  auto fail = [&](const Twine &reason) {
    Reporter reporter(path, context);
    reporter.invalid(reporter.getFileLocation(),
                     "cannot read the file: " + reason);
    failure = reporter.getFailure();
    return nullptr;
  };
  // The path may name a pipe or a device, which may have no end.
  llvm::sys::fs::file_status status;
  if (!llvm::sys::fs::status(path, status) &&
      !llvm::sys::fs::is_regular_file(status))
    return fail("expected a regular file");
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return fail(buffer.getError().message());
  return parse((*buffer)->getBuffer(), path, context, failure);
}

const std::vector<OnnxPort> &OnnxFile::getInputs() const {
  return impl->inputs;
}

const std::vector<OnnxPort> &OnnxFile::getOutputs() const {
  return impl->outputs;
}

FailureOr<ModelOp> OnnxFile::import(ModuleOp module,
                                    const OnnxImportOptions &options,
                                    OnnxFailure &failure) const {
  Reporter reporter(impl->path, impl->context);
  ModelOp model = ModelBuilder(impl->graph, options, reporter, module).run();
  failure = reporter.getFailure();
  if (!model)
    return mlir::failure();
  compareBatches(impl->graph, options, reporter.getFileLocation(), model);
  return model;
}

} // namespace mlir::hfta
