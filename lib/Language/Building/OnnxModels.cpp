//===- OnnxModels.cpp - Builds models from ONNX files ---------------------===//

#include "Building/JobBuilder.h"
#include "Hfta/Dialect/Hfta/IR/HftaGradientOps.h"
#include "Hfta/Dialect/Hfta/IR/Notes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

static FrontEndFailure convert(OnnxFailure failure) {
  return failure == OnnxFailure::unsupported ? FrontEndFailure::unsupported
                                             : FrontEndFailure::input;
}

/// Reads an ONNX file; returns null after an error.
std::unique_ptr<OnnxFile> JobBuilder::openFile(const NamedRange &named) {
  if (!llvm::sys::fs::exists(named.name)) {
    diagnostics.error(named.range, "no such file: '" + named.name + "'",
                      "relative names begin at the job file's folder");
    return nullptr;
  }
  OnnxFailure reason = OnnxFailure::none;
  std::unique_ptr<OnnxFile> file = OnnxFile::open(named.name, context, reason);
  if (!file)
    failure = convert(reason);
  return file;
}

bool JobBuilder::buildOnnxModels(ModuleOp module) {
  bool ok = true;
  for (const auto &[index, named] : llvm::enumerate(info.files)) {
    std::unique_ptr<OnnxFile> file = openFile(named);
    ok &= file && importFile(module, *file, index);
  }
  return ok;
}

std::vector<Port>
language::getPorts(const OnnxFile &file,
                   const llvm::StringMap<DenseElementsAttr> &constants) {
  std::vector<Port> ports;
  for (const OnnxPort &input : file.getInputs()) {
    if (constants.contains(input.name))
      continue;
    Port port;
    port.name = input.name;
    port.elementType = input.elementType;
    port.hasShape = input.hasShape;
    port.isScalar = input.hasShape && input.shape.empty();
    if (!input.shape.empty())
      port.batch = input.shape.front().symbol;
    port.axes.assign(input.shape.begin() + !input.shape.empty(),
                     input.shape.end());
    ports.push_back(std::move(port));
  }
  return ports;
}

/// Fills the options for importing a model that is trained: binds fields of the
/// data block to its inputs.
bool JobBuilder::fillTrainingOptions(const OnnxFile &file,
                                     OnnxImportOptions &importOptions) {
  std::vector<Port> ports = getPorts(file, options.constants);
  if (!bindFields(ports))
    return false;
  importOptions.microBatch = info.job.getMicroBatch();
  importOptions.addsForwardOfTwo = info.job.microBatches > 1;
  importOptions.freeze = getNames(info.freeze);
  importOptions.trainable = getNames(info.trainable);
  importOptions.evaluationMode = getNames(info.evaluationMode);
  importOptions.trainingMode = getNames(info.trainingMode);
  importOptions.freshInitialization = info.freshInitialization;
  for (const auto &[position, port] : llvm::enumerate(ports)) {
    const FieldInfo &field = *boundFields[position];
    std::optional<SmallVector<int64_t>> shape =
        fitShape(port, "field '" + field.name + "'", field.preparedShape,
                 getBindingRange(position));
    if (!shape)
      return false;
    importOptions.sampleShapes[port.name] =
        std::vector<int64_t>(shape->begin(), shape->end());
    importOptions.argumentNames[port.name] = field.name;
  }
  importOptions.dims = sizes;
  return true;
}

/// Returns the size that `--dim` gives to the batch axis, if axis 0 of all
/// inputs is the same named axis.
static std::optional<int64_t> findBatch(ArrayRef<OnnxPort> inputs,
                                        const llvm::StringMap<int64_t> &dims) {
  std::optional<StringRef> symbol;
  for (const OnnxPort &input : inputs) {
    if (input.shape.empty() || symbol.value_or(input.shape.front().symbol) !=
                                   input.shape.front().symbol)
      return std::nullopt;
    symbol = input.shape.front().symbol;
  }
  auto found = symbol ? dims.find(*symbol) : dims.end();
  if (found == dims.end())
    return std::nullopt;
  return found->getValue();
}

/// Reports an error if `--batch` and `--dim` give the batch axis of an input
/// different sizes.
bool JobBuilder::checkBatch(const OnnxFile &file) {
  const ast::Clause *batch = info.train->find("batch");
  if (!batch)
    return true;
  bool ok = true;
  for (const OnnxPort &input : file.getInputs()) {
    if (input.shape.empty() || options.constants.contains(input.name))
      continue;
    auto dim = info.dims.find(input.shape.front().symbol);
    if (!ok || dim == info.dims.end() || dim->getValue() == info.job.batch)
      continue;
    diagnostics.error(info.dimRanges[dim->getKey()],
                      "'--dim' gives axis '" + dim->getKey() + "' the size " +
                          Twine(dim->getValue()) + ", but '--batch' " +
                          Twine(info.job.batch) +
                          ": it is the batch of input '" + input.name + "'",
                      "leave one of them out");
    diagnostics.note(batch->range, "'--batch' is given here");
    failure = FrontEndFailure::usage;
    ok = false;
  }
  return ok;
}

/// Fills the options for importing a model without training. Sizes and types
/// are those of the file unless flags change them.
bool JobBuilder::fillInferenceOptions(const OnnxFile &file,
                                      OnnxImportOptions &importOptions) {
  if (!checkBatch(file))
    return false;
  importOptions.training = false;
  importOptions.dims = info.dims;
  if (info.train->find("batch"))
    importOptions.microBatch = info.job.batch;
  else if (std::optional<int64_t> batch =
               findBatch(file.getInputs(), info.dims))
    info.job.batch = *batch;
  info.job.keepsTypes = !info.train->find("precision");
  return true;
}

/// Appends a file's model to the module.
FailureOr<ModelOp> JobBuilder::import(ModuleOp module, const OnnxFile &file,
                                      const OnnxImportOptions &importOptions) {
  OnnxFailure reason = OnnxFailure::none;
  FailureOr<ModelOp> model = file.import(module, importOptions, reason);
  if (failed(model))
    failure = convert(reason);
  return model;
}

bool JobBuilder::importFile(ModuleOp module, const OnnxFile &file,
                            int64_t index) {
  OnnxImportOptions importOptions;
  importOptions.modelName = info.model->name.name;
  if (info.files.size() > 1)
    importOptions.modelName += "." + std::to_string(index);
  importOptions.constants = options.constants;
  if (info.job.training ? !fillTrainingOptions(file, importOptions)
                        : !fillInferenceOptions(file, importOptions))
    return false;
  FailureOr<ModelOp> model = import(module, file, importOptions);
  if (failed(model))
    return false;
  model->setCopies(getCopies(index));
  return bindDropoutRate(*model);
}

/// Removes the dropout layers of a model, and emits a note about it.
static void removeDropout(ModelOp model) {
  auto forward = model.lookupSymbol<func::FuncOp>("forward");
  auto dropouts = llvm::to_vector(forward.getOps<DropoutOp>());
  for (DropoutOp dropout : dropouts) {
    dropout.replaceAllUsesWith(dropout.getInput());
    dropout.erase();
  }
  if (!dropouts.empty())
    emitNote(model.getLoc(), "dropout drops nothing here, in " +
                                 Twine(dropouts.size()) +
                                 (dropouts.size() == 1 ? " layer" : " layers"));
}

/// Replaces the dropout rates of the file by `dropout_rate` of the model
/// clause, if that is given.
bool JobBuilder::bindDropoutRate(ModelOp model) {
  if (options.withoutDropout)
    removeDropout(model);
  if (info.modelHyperParameters.empty())
    return true;
  auto forward = model.lookupSymbol<func::FuncOp>("forward");
  SmallVector<DropoutOp> dropouts(llvm::make_filter_range(
      forward.getOps<DropoutOp>(),
      [](DropoutOp dropout) { return !dropout->hasAttr(kFrozenAttrName); }));
  if (dropouts.empty()) {
    bool hasSome = !forward.getOps<DropoutOp>().empty();
    diagnostics.error(info.modelRange,
                      "model '" + info.model->name.name + "' has no dropout" +
                          (hasSome ? " in training mode" : ""),
                      "leave 'dropout_rate' out");
    return false;
  }
  VariableOp variable = VariableDeclarer(model).getScalar(
      model.getLoc(),
      PurposeAttr::get(model.getContext(), Purpose::hyper_parameter,
                       "dropout_rate"),
      floatType);
  OpBuilder builder(forward.getBody());
  TensorBuilder tensors(builder, model.getLoc());
  Value rate = tensors.create<ReadOp>(variable.getTensorType(),
                                      variable.getSymName(), IntegerAttr());
  for (DropoutOp dropout : dropouts)
    dropout.getRateMutable().assign(
        tensors.cast(rate, getElementType(dropout.getRate())));
  return true;
}
