//===- CheckGradients.cpp - hftac --check-gradients -----------------------===//

#include "Hfta/Driver/Gradients/CheckGradients.h"
#include "Compile/Compiler.h"
#include "Gradients/GradientComparison.h"
#include "Hfta/Codegen/LoadedProgram.h"
#include "Hfta/Dialect/Hfta/Job/Settings.h"
#include "Hfta/Language/Files.h"
#include "Hfta/Language/Parser.h"
#include "Hfta/Support/Output.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// The record
//===----------------------------------------------------------------------===//

/// Returns the path of a model's record if the user gives none.
static std::string getDefaultRecord(llvm::StringRef model) {
  llvm::SmallString<128> path(model);
  llvm::sys::path::replace_extension(path, "record.safetensors");
  return path.str().str();
}

static ExitCode fail(llvm::raw_ostream &errors, ExitCode code,
                     const llvm::Twine &message, const llvm::Twine &hint = "") {
  errors << "hftac: error: " << message << '\n';
  std::string text = hint.str();
  if (!text.empty())
    errors << "hint: " << text << '\n';
  return code;
}

/// Opens the record of the model given on the command line, and checks that it
/// was made from the present version of the model's file.
static ExitCode openRecord(const DriverOptions &options,
                           llvm::raw_ostream &errors,
                           std::unique_ptr<GradientRecord> &record) {
  const std::string &model = options.inputs.front();
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> file = openText(model);
  if (!file)
    return fail(errors, ExitCode::input, llvm::toString(file.takeError()));
  std::string path =
      options.record.empty() ? getDefaultRecord(model) : options.record;
  if (!llvm::sys::fs::exists(path))
    return fail(errors, ExitCode::input,
                "no record '" + path + "' to compare '" + model + "' with",
                "hfta.export.record(module, inputs, FILE) writes one next to "
                "FILE, see docs/exporting.md; or name one by '--record=FILE'");
  if (ExitCode code = GradientRecord::open(path, errors, record);
      code != ExitCode::done)
    return code;
  auto bytes = llvm::arrayRefFromStringRef((*file)->getBuffer());
  if (llvm::toHex(llvm::SHA256::hash(bytes), /*LowerCase=*/true) !=
      record->getModelDigest())
    return fail(errors, ExitCode::input,
                "'" + path + "' is the record of another file than '" + model +
                    "', or of an earlier one of this name",
                "record it again after each change of the file");
  return ExitCode::done;
}

//===----------------------------------------------------------------------===//
// The job
//===----------------------------------------------------------------------===//

/// Returns a field of the data block with the type of a tensor's samples. The
/// file that it names is never read, as steps get their data from the record.
static std::string describeField(llvm::StringRef name,
                                 const hfta_tensor_view &view) {
  std::string text = (name + ": " + hfta_element_name(view.type)).str();
  llvm::ArrayRef<int64_t> sample =
      llvm::ArrayRef(view.shape, view.rank).drop_front();
  if (!sample.empty())
    text += "[" +
            llvm::join(
                llvm::map_range(
                    sample, [](int64_t size) { return std::to_string(size); }),
                ", ") +
            "]";
  return text + " = raw(\"record\")";
}

/// Returns the text of a job that trains the model as the record says.
/// GradientComparison relies on the order of its fields.
static JobText makeJob(llvm::StringRef model, const GradientRecord &record) {
  std::string fields, names;
  for (auto [index, input] : llvm::enumerate(record.getInputs())) {
    std::string name = "input" + std::to_string(index);
    fields += describeField(name, *input.view) + ", ";
    names += (index ? ", " : "") + name;
  }
  fields += describeField("target", record.getTarget());
  std::string text;
  llvm::raw_string_ostream(text)
      << "model recorded = onnx(" << quoteText(model)
      << ")\ndata batch { train " << fields
      << " }\ntrain check {\n  model recorded(" << names
      << ")\n  data batch, batch = " << record.getBatch()
      << ", shuffle = false\n  loss " << record.getLoss() << "(recorded."
      << quoteText(record.getOutput()) << ", target"
      << record.getLossArguments()
      << ")\n  optimizer sgd(lr = " << printNumber(record.getLearningRate())
      << ")\n  precision f64\n}\n";
  // The job's file has a name without folder, so that the model's path refers
  // to the folder to which it refers on the command line.
  return {("job of " + llvm::sys::path::filename(record.getPath())).str(),
          std::move(text)};
}

//===----------------------------------------------------------------------===//
// The result
//===----------------------------------------------------------------------===//

/// Describes the tolerance within which numbers count as equal.
static std::string describeTolerance() {
  return printNumber(kAbsoluteTolerance) + " + " +
         printNumber(kRelativeTolerance) + " of the largest number";
}

static std::string describe(const ComparedTensor &tensor) {
  std::string quoted = ("'" + tensor.name + "'").str();
  switch (tensor.kind) {
  case ComparedKind::loss:
    return "loss";
  case ComparedKind::gradient:
    return "gradient of " + quoted;
  case ComparedKind::statistic:
    return quoted;
  }
  llvm_unreachable("all kinds are listed");
}

/// Prints a row for each tensor, preceded by a heading if `withHeading` is set.
static void printRows(llvm::ArrayRef<ComparedTensor> tensors, size_t step,
                      bool withHeading, llvm::raw_ostream &os) {
  if (withHeading)
    os << "step  difference  largest number  of\n";
  for (const ComparedTensor &tensor : tensors) {
    os << llvm::format("%-4zu  %-10.3g  %-14.3g  ", step, tensor.difference,
                       tensor.largest)
       << describe(tensor);
    if (!tensor.note.empty())
      os << " (" << tensor.note << ")";
    os << '\n';
  }
}

/// Describes how many of `all` tensors differ, as in "the loss, 2 of 6
/// gradients and 1 of 2 running statistics".
static std::string count(llvm::ArrayRef<ComparedTensor> differing,
                         llvm::ArrayRef<ComparedTensor> all) {
  llvm::SmallVector<std::string, 3> parts;
  auto add = [&](ComparedKind kind, llvm::StringRef name) {
    auto isOfKind = [&](const ComparedTensor &tensor) {
      return tensor.kind == kind;
    };
    int64_t some = llvm::count_if(differing, isOfKind);
    if (some > 0)
      parts.push_back(llvm::formatv("{0} of {1} {2}", some,
                                    llvm::count_if(all, isOfKind), name));
  };
  if (differing.front().kind == ComparedKind::loss)
    parts.push_back("the loss");
  add(ComparedKind::gradient, "gradients");
  add(ComparedKind::statistic, "running statistics");
  std::string last = parts.pop_back_val();
  return parts.empty() ? last : llvm::join(parts, ", ") + " and " + last;
}

/// Reports the tensors that differ in a step, and returns the exit code.
static ExitCode reportDifference(const DriverOptions &options, size_t step,
                                 llvm::ArrayRef<ComparedTensor> differing,
                                 llvm::ArrayRef<ComparedTensor> all,
                                 llvm::raw_ostream &os,
                                 llvm::raw_ostream &errors) {
  if (!options.verbose)
    printRows(differing, step, /*withHeading=*/true, os);
  const ComparedTensor &first = differing.front();
  bool isForward = first.kind == ComparedKind::loss;
  return fail(errors, ExitCode::input,
              "'" + options.inputs.front() +
                  "' trains otherwise than its record: step " +
                  llvm::Twine(step) + " differs in " + count(differing, all) +
                  " by more than " + describeTolerance() + ", first in " +
                  (first.kind == ComparedKind::statistic ? "" : "the ") +
                  describe(first),
              isForward ? "gradients follow from the loss: look at what the "
                          "model computes first"
                        : "a wrong gradient makes those of earlier layers "
                          "wrong: look at the last one first");
}

static void reportEqual(const DriverOptions &options,
                        const GradientRecord &record,
                        const ComparedTensor &worst, size_t worstStep,
                        llvm::raw_ostream &os) {
  const RecordedStep &step = record.getSteps().front();
  size_t steps = record.getSteps().size();
  auto count = [&](size_t number, llvm::StringRef name) {
    os << number << ' ' << name << (number == 1 ? "" : "s");
  };
  os << options.inputs.front() << ": ";
  count(step.gradients.size(), "gradient");
  os << ", ";
  count(step.statistics.size(), "running statistic");
  os << " and the loss equal the record's in ";
  count(steps, "step");
  os << ", within " << describeTolerance() << "; the largest difference is "
     << llvm::format("%.2g, of numbers up to %.2g", worst.difference,
                     worst.largest)
     << ": " << describe(worst) << ", step " << worstStep << '\n';
}

/// Compares step by step until one differs. The report goes to `os`, errors go
/// to `errors`.
static ExitCode compareSteps(const DriverOptions &options,
                             const GradientRecord &record,
                             const hfta_program &program, llvm::raw_ostream &os,
                             llvm::raw_ostream &errors) {
  hfta_error error;
  GradientComparison comparison(program, record);
  auto failWithError = [&] {
    fail(errors, static_cast<ExitCode>(error.code), error.message);
    if (error.code == HFTA_INTERNAL)
      errors << kBugReport << '\n';
    return static_cast<ExitCode>(error.code);
  };
  if (comparison.begin(error) != HFTA_OK)
    return failWithError();
  std::vector<ComparedTensor> results;
  ComparedTensor worst = {};
  size_t worstStep = 1;
  for (size_t step = 1; step <= record.getSteps().size(); ++step) {
    results.clear();
    if (comparison.runStep(results, error) != HFTA_OK)
      return failWithError();
    if (options.verbose)
      printRows(results, step, /*withHeading=*/step == 1, os);
    std::vector<ComparedTensor> differing;
    for (const ComparedTensor &result : results) {
      if (!result.isEqual())
        differing.push_back(result);
      if (result.difference / result.getTolerance() >
          worst.difference / worst.getTolerance()) {
        worst = result;
        worstStep = step;
      }
    }
    if (!differing.empty())
      return reportDifference(options, step, differing, results, os, errors);
  }
  reportEqual(options, record, worst, worstStep, os);
  return ExitCode::done;
}

ExitCode hfta::checkGradients(const DriverOptions &options,
                              llvm::raw_ostream &errors) {
  std::unique_ptr<GradientRecord> record;
  if (ExitCode code = openRecord(options, errors, record);
      code != ExitCode::done)
    return code;
  DriverOptions generated = options;
  generated.inputKind = InputKind::job;
  generated.jobText = makeJob(options.inputs.front(), *record);
  std::vector<std::string> objects;
  if (ExitCode code = compileObjects(generated, errors, objects);
      code != ExitCode::done)
    return code;
  llvm::Expected<LoadedProgram> program = LoadedProgram::load(objects);
  if (!program)
    return fail(errors, ExitCode::cannotWrite,
                llvm::toString(program.takeError()));
  std::string report, complaint;
  llvm::raw_string_ostream os(report), complaints(complaint);
  ExitCode code = compareSteps(options, *record, **program, os, complaints);
  if (llvm::Error error = writeOutput("-", report))
    return fail(errors, ExitCode::cannotWrite,
                llvm::toString(std::move(error)));
  errors << complaint;
  return code;
}
