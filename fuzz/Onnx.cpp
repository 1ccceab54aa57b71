//===- Onnx.cpp - Fuzz target: an ONNX model ------------------------------===//
//
// The input is tested for inference, then for training: imported as two copies,
// which are fused.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "Hfta/Import/Onnx/Import.h"
#include "Modules.h"
#include "Options.h"
#include "mlir/IR/OwningOpRef.h"

using namespace mlir;
using namespace mlir::hfta;

/// The path of the model. Its folder doesn't exist, so that files with external
/// data are never found.
static constexpr llvm::StringLiteral kPath = "/no/such/folder/model.onnx";

/// Makes options that give size 2 to every axis whose size the file leaves
/// open.
static OnnxImportOptions makeOptions(const OnnxFile &file, bool training) {
  OnnxImportOptions options;
  options.training = training;
  options.freshInitialization = training;
  if (training)
    options.microBatch = 2;
  for (const OnnxPort &input : file.getInputs()) {
    std::vector<int64_t> sample;
    for (const OnnxAxis &axis : input.shape) {
      bool open = ShapedType::isDynamic(axis.size);
      if (open)
        options.dims[axis.symbol] = 2;
      sample.push_back(open ? 2 : axis.size);
    }
    if (training && input.hasShape && !sample.empty())
      options.sampleShapes[input.name].assign(sample.begin() + 1, sample.end());
  }
  return options;
}

static void importAndFuse(StringRef bytes, bool training) {
  std::unique_ptr<MLIRContext> context = makeFuzzContext();
  OnnxFailure failure = OnnxFailure::none;
  std::unique_ptr<OnnxFile> file =
      OnnxFile::parse(bytes, kPath, context.get(), failure);
  if (!file)
    return;
  OnnxImportOptions options = makeOptions(*file, training);
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(UnknownLoc::get(context.get()));
  for (int64_t copy : {0, 1}) {
    options.modelName = "model." + std::to_string(copy);
    FailureOr<ModelOp> model = file->import(*module, options, failure);
    if (failed(model))
      return;
    model->setCopies({copy});
  }
  Job job;
  job.name = "job";
  job.copies = 2;
  job.seeds = {0, 1};
  job.training = false;
  job.precision.parameters = "bf16";
  job.precision.accumulate = "f64";
  job.write(*module);
  fuse(*module);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef bytes(reinterpret_cast<const char *>(data), size);
  importAndFuse(bytes, /*training=*/false);
  importAndFuse(bytes, /*training=*/true);
  return 0;
}
