//===- WriteJob.cpp - A job for a model and data files --------------------===//

#include "NewJob/WriteJob.h"

#include "Compile/DiagnosticPrinter.h"
#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"
#include "Hfta/Language/FitSample.h"
#include "Hfta/Language/Format.h"
#include "Hfta/Language/Parser.h"
#include "NewJob/Columns.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::hfta;

static constexpr int64_t kBatch = 64;
/// The most characters of a part of the data that is on one line.
static constexpr size_t kLineLength = 90;
/// The least number of samples of which a part is taken out for validation.
static constexpr int64_t kLeastValidated = 50;

namespace {
/// All that the text of the job says.
struct NewJob {
  std::string path; ///< the model's, as the job writes it
  std::string model;
  std::string name;
  std::string output; ///< the output that the loss compares: "net.logits"
  NewFields fields;
  LossChoice loss;
  int64_t batch = kBatch;
};
} // namespace

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

/// Returns the number of elements of a sample of an output; 0 if the file
/// leaves it open.
static int64_t countOutputs(const OnnxPort &output) {
  int64_t elements = 1;
  for (const OnnxAxis &axis : llvm::drop_begin(output.shape))
    elements *= ShapedType::isDynamic(axis.size) ? 0 : axis.size;
  return output.shape.empty() ? 0 : elements;
}

/// Imports the model for these fields, so that an operator that Hfta doesn't
/// have is reported now, and returns its first output.
static std::optional<OutputFacts> importOutput(const OnnxFile &file,
                                               const NewJob &job,
                                               MLIRContext *context,
                                               ExitCode &code) {
  OnnxImportOptions options;
  options.microBatch = job.batch;
  for (auto [port, field] :
       llvm::zip_equal(file.getInputs(), job.fields.inputs)) {
    std::optional<llvm::SmallVector<int64_t>> shape =
        port.hasShape ? fitSample(llvm::ArrayRef(port.shape).drop_front(),
                                  field.shape, options.dims)
                      : field.shape;
    if (shape)
      options.sampleShapes[port.name].assign(shape->begin(), shape->end());
  }
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context));
  OnnxFailure reason = OnnxFailure::none;
  FailureOr<ModelOp> model = file.import(*module, options, reason);
  if (failed(model)) {
    code = reason == OnnxFailure::unsupported ? ExitCode::unsupported
                                              : ExitCode::input;
    return std::nullopt;
  }
  const OnnxPort &output = file.getOutputs().front();
  OutputFacts facts{output.name, output.op, {}};
  auto forward = model->lookupSymbol<func::FuncOp>("forward");
  auto type = dyn_cast<RankedTensorType>(forward.getResultTypes().front());
  if (type && type.getRank() > 0)
    facts.shape.append(type.getShape().begin() + 1, type.getShape().end());
  return facts;
}

/// Returns how a loss names the first output: by the model's name, if there is
/// no other.
static std::string nameOutput(llvm::StringRef model,
                              llvm::ArrayRef<OnnxPort> outputs,
                              NewFields &fields) {
  if (outputs.size() == 1)
    return model.str();
  const std::string &name = outputs.front().name;
  fields.notes.push_back("output '" + name +
                         "' is compared with the label, "
                         "as the first one of " +
                         std::to_string(outputs.size()));
  return (model + "." + (makeJobName(name) == name ? name : quoteText(name)))
      .str();
}

/// Chooses a batch that the model takes, and that gives several steps.
static void chooseBatch(const OnnxPort &input, NewJob &job) {
  int64_t samples = job.fields.samples;
  while (job.batch > 8 && job.batch * 8 > samples)
    job.batch /= 2;
  job.batch = std::max<int64_t>(std::min(job.batch, samples), 1);
  if (!input.shape.empty() && !ShapedType::isDynamic(input.shape.front().size))
    job.batch = input.shape.front().size;
}

//===----------------------------------------------------------------------===//
// The text
//===----------------------------------------------------------------------===//

static bool hasPart(const NewFields &fields, DataPart part) {
  return !fields.label.sources[static_cast<size_t>(part)].empty();
}

static void printData(llvm::raw_ostream &os, const NewJob &job) {
  std::vector<const NewField *> fields;
  for (const NewField &field : job.fields.inputs)
    fields.push_back(&field);
  fields.push_back(&job.fields.label);
  os << "data samples {\n";
  std::vector<std::string> types;
  for (const NewField *field : fields)
    if (!field->type.empty())
      types.push_back(field->name + ": " + field->type);
  if (!types.empty())
    os << llvm::join(types, ", ") << '\n';
  for (DataPart part :
       {DataPart::train, DataPart::validation, DataPart::test}) {
    if (!hasPart(job.fields, part))
      continue;
    std::vector<std::string> texts;
    for (const NewField *field : fields)
      texts.push_back(field->name + " = " + field->before +
                      field->sources[static_cast<size_t>(part)] + field->after);
    std::string line = llvm::join(texts, ", ");
    os << getDataPartName(part) << ' '
       << (line.size() <= kLineLength ? line : llvm::join(texts, ",\n"))
       << '\n';
  }
  os << "}\n\n";
}

static std::string printJob(const NewJob &job) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "// " << job.fields.samples << " samples for training.\n// "
     << job.loss.reason << ": " << job.loss.loss << ".\n";
  for (llvm::StringRef note : job.fields.notes)
    os << "// " << note << ".\n";
  os << "model " << job.model << " = onnx(" << job.path << ")\n\n";
  printData(os, job);
  os << "train " << job.name << " {\nmodel " << job.model << '(';
  llvm::interleave(
      job.fields.inputs, [&](const NewField &field) { os << field.name; },
      [&] { os << ", "; });
  std::string arguments = "(" + job.output + ", " + job.fields.label.name +
                          job.loss.arguments + ")";
  os << ")\ndata samples, batch = " << job.batch << "\nloss " << job.loss.loss
     << arguments << "\nmetric " << job.loss.metrics << '\n';
  if (!hasPart(job.fields, DataPart::validation) &&
      !hasPart(job.fields, DataPart::test) &&
      job.fields.samples >= kLeastValidated)
    os << "validation 0.1\n";
  // A list makes copies that are trained together.
  os << "optimizer adam(lr = 1e-3) // several copies: lr = [3e-4, 1e-3, 3e-3]\n"
        "seed 1\nepochs 5\n}\n";
  return formatJobText(text);
}

//===----------------------------------------------------------------------===//
// The job
//===----------------------------------------------------------------------===//

static ExitCode fail(llvm::raw_ostream &errors, llvm::Error error) {
  errors << "hftac: error: " << llvm::toString(std::move(error)) << '\n';
  return ExitCode::input;
}

/// Checks that a model takes one sample after another.
static llvm::Error checkPorts(const OnnxFile &file, llvm::StringRef model) {
  if (file.getInputs().empty() || file.getOutputs().empty())
    return llvm::createStringError(
        "model '" + model + "' has no " +
        (file.getInputs().empty() ? "input" : "output"));
  for (const OnnxPort &port : file.getInputs()) {
    if (!port.elementType)
      return llvm::createStringError("input '" + port.name + "' of '" + model +
                                     "' is no tensor");
    if (port.hasShape && port.shape.empty())
      return llvm::createStringError("input '" + port.name + "' of '" + model +
                                     "' is a scalar and so has no batch axis");
  }
  return llvm::Error::success();
}

/// Finds the fields and the loss.
static ExitCode fillJob(const OnnxFile &file, const DataFiles &data,
                        llvm::StringRef folder, MLIRContext *context,
                        llvm::raw_ostream &errors, NewJob &job) {
  llvm::Expected<NewFields> fields = findFields(
      data, file.getInputs(), countOutputs(file.getOutputs().front()), folder);
  if (!fields)
    return fail(errors, fields.takeError());
  job.fields = std::move(*fields);
  chooseBatch(file.getInputs().front(), job);
  ExitCode code = ExitCode::done;
  std::optional<OutputFacts> output = importOutput(file, job, context, code);
  if (!output)
    return code;
  NewField &label = job.fields.label;
  llvm::Expected<LossChoice> loss =
      chooseLoss(*output, {label.name, label.shape, label.range});
  if (!loss)
    return fail(errors, loss.takeError());
  job.loss = *loss;
  label.after = job.loss.labelSteps;
  job.output = nameOutput(job.model, file.getOutputs(), job.fields);
  return ExitCode::done;
}

ExitCode hfta::writeJob(llvm::StringRef model,
                        llvm::ArrayRef<llvm::StringRef> files,
                        llvm::StringRef output, llvm::raw_ostream &errors,
                        std::string &text) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<HftaDialect, func::FuncDialect>();
  llvm::SourceMgr sources;
  DiagnosticPrinter printer(&context, sources, errors, /*remarks=*/false);
  OnnxFailure reason = OnnxFailure::none;
  std::unique_ptr<OnnxFile> file = OnnxFile::open(model, &context, reason);
  if (!file)
    return reason == OnnxFailure::unsupported ? ExitCode::unsupported
                                              : ExitCode::input;
  if (llvm::Error error = checkPorts(*file, model))
    return fail(errors, std::move(error));
  llvm::Expected<DataFiles> data = readDataFiles(files);
  if (!data)
    return fail(errors, data.takeError());
  NewJob job;
  llvm::StringRef folder = llvm::sys::path::parent_path(output);
  job.path = quotePath(model, folder);
  job.model = makeJobName(llvm::sys::path::stem(model));
  job.name = makeJobName(llvm::sys::path::stem(output));
  ExitCode code = fillJob(*file, *data, folder, &context, errors, job);
  if (code == ExitCode::done)
    text = printJob(job);
  return code;
}
