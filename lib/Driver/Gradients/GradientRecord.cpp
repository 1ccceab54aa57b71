//===- GradientRecord.cpp - A training by another framework ---------------===//

#include "Gradients/GradientRecord.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace mlir::hfta;

static constexpr llvm::StringLiteral kFormat = "hfta-record";
static constexpr llvm::StringLiteral kVersion = "1";
static constexpr int64_t kMostSteps = 16;

std::vector<double> hfta::readNumbers(const hfta_tensor_view &view) {
  std::vector<double> numbers(view.bytes / sizeof(double));
  // The tensor's address in the file may not be aligned.
  if (!numbers.empty())
    std::memcpy(numbers.data(), view.data, numbers.size() * sizeof(double));
  return numbers;
}

llvm::Error GradientRecord::fail(const llvm::Twine &reason) const {
  return llvm::createStringError("'" + path +
                                 "' is no record of gradients: " + reason);
}

llvm::StringRef GradientRecord::getMetadata(const char *key) const {
  const char *value = hfta_safetensors_metadata(file, key);
  return value ? value : "";
}

//===----------------------------------------------------------------------===//
// Metadata
//===----------------------------------------------------------------------===//

/// Checks that the tensors have the digest with which they were written.
llvm::Error GradientRecord::checkDigest() const {
  llvm::SHA256 hash;
  for (size_t i = 0; i < hfta_safetensors_count(file); ++i) {
    const hfta_tensor_view *view = hfta_safetensors_at(file, i);
    hash.update(
        llvm::ArrayRef(static_cast<const uint8_t *>(view->data), view->bytes));
  }
  if (llvm::toHex(hash.final(), /*LowerCase=*/true) == getMetadata("tensors"))
    return llvm::Error::success();
  return llvm::createStringError(
      "'" + path +
      "' is damaged: its tensors don't have the digest that they were "
      "written with");
}

llvm::Error GradientRecord::readMetadata() {
  if (getMetadata("format") != kFormat)
    return fail("its metadata lack the format '" + kFormat + "'");
  if (getMetadata("version") != kVersion)
    return fail("expected version " + kVersion + ", got '" +
                getMetadata("version") + "'");
  const std::pair<const char *, std::string *> texts[] = {
      {"model", &modelDigest}, {"output", &output}, {"loss", &loss}};
  for (auto [key, text] : texts) {
    *text = getMetadata(key);
    if (text->empty())
      return fail("its metadata lack '" + llvm::Twine(key) + "'");
  }
  // The loss's name becomes part of a job's text, so it must be an identifier.
  if (!llvm::all_of(loss, [](char c) { return llvm::isAlnum(c) || c == '_'; }))
    return fail("'loss' is '" + loss + "', expected a loss's name");
  if (llvm::StringRef axis = getMetadata("axis"); !axis.empty()) {
    int64_t number;
    if (axis.getAsInteger(10, number))
      return fail("'axis' is '" + axis + "', expected a whole number");
    lossArguments = ", axis = " + std::to_string(number);
  }
  llvm::StringRef rate = getMetadata("learning_rate");
  if (rate.getAsDouble(learningRate) || !std::isfinite(learningRate) ||
      learningRate <= 0)
    return fail("'learning_rate' is '" + rate + "', expected a number above 0");
  return checkDigest();
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

llvm::Error GradientRecord::readLosses() {
  const hfta_tensor_view *view = hfta_safetensors_find(file, "loss");
  if (!view || view->type != HFTA_F64 || view->rank != 1 ||
      view->shape[0] < 1 || view->shape[0] > kMostSteps)
    return fail("expected a tensor 'loss' of 1 to " + llvm::Twine(kMostSteps) +
                " f64 numbers, one a step");
  for (double number : readNumbers(*view)) {
    if (!std::isfinite(number))
      return fail("'loss' holds a number that isn't finite");
    steps.push_back({number, {}, {}});
  }
  return llvm::Error::success();
}

/// Adds a tensor called "gradient/STEP/NAME" or "statistic/STEP/NAME"; `rest`
/// is "STEP/NAME".
llvm::Error GradientRecord::addResult(llvm::StringRef rest,
                                      const hfta_tensor_view &view) {
  llvm::StringRef full = view.name;
  auto [number, name] = rest.split('/');
  size_t step;
  if (number.getAsInteger(10, step) || step < 1 || step > steps.size() ||
      name.empty())
    return fail("tensor '" + full + "' is of no step from 1 to " +
                llvm::Twine(steps.size()));
  if (view.type != HFTA_F64)
    return fail("tensor '" + full + "' holds " + hfta_element_name(view.type) +
                ", expected f64");
  if (!llvm::all_of(readNumbers(view),
                    [](double number) { return std::isfinite(number); }))
    return fail("tensor '" + full + "' holds a number that isn't finite");
  RecordedStep &results = steps[step - 1];
  (full.starts_with("gradient/") ? results.gradients : results.statistics)
      .push_back({name, &view});
  return llvm::Error::success();
}

llvm::Error GradientRecord::addTensor(const hfta_tensor_view &view) {
  llvm::StringRef name = view.name;
  if (name == "loss")
    return llvm::Error::success();
  if (name == "target") {
    target = &view;
    return llvm::Error::success();
  }
  auto [kind, rest] = name.split('/');
  if (kind == "gradient" || kind == "statistic")
    return addResult(rest, view);
  if (kind != "input" || rest.empty())
    return fail("unknown tensor '" + name +
                "', expected input/NAME, target, loss, gradient/STEP/NAME or "
                "statistic/STEP/NAME");
  inputs.push_back({rest, &view});
  return llvm::Error::success();
}

llvm::Error GradientRecord::readTensors() {
  for (size_t i = 0; i < hfta_safetensors_count(file); ++i)
    if (llvm::Error error = addTensor(*hfta_safetensors_at(file, i)))
      return error;
  if (inputs.empty() || !target)
    return fail(llvm::Twine("it lacks ") +
                (target ? "the inputs, 'input/NAME'" : "'target'"));
  for (auto [index, step] : llvm::enumerate(steps))
    if (step.gradients.empty())
      return fail("it lacks gradients of step " + llvm::Twine(index + 1));
  return checkBatch();
}

/// Checks that all inputs and the target have the same number of samples.
llvm::Error GradientRecord::checkBatch() const {
  std::vector<RecordedTensor> all = inputs;
  all.push_back({"target", target});
  for (const RecordedTensor &tensor : all) {
    const hfta_tensor_view &view = *tensor.view;
    if (view.rank == 0 || view.shape[0] < 1)
      return fail("tensor '" + llvm::Twine(view.name) +
                  "' has no samples along axis 0");
    if (inputs.front().view->rank != 0 && view.shape[0] != getBatch())
      return fail("tensor '" + llvm::Twine(view.name) + "' holds " +
                  llvm::Twine(view.shape[0]) + " samples, but '" +
                  inputs.front().view->name + "' holds " +
                  llvm::Twine(getBatch()));
  }
  return llvm::Error::success();
}

ExitCode GradientRecord::open(llvm::StringRef path, llvm::raw_ostream &errors,
                              std::unique_ptr<GradientRecord> &record) {
  std::unique_ptr<GradientRecord> made(new GradientRecord(path));
  hfta_error reason;
  if (hfta_safetensors_open(made->path.c_str(), &made->file, &reason) !=
      HFTA_OK) {
    errors << "hftac: error: " << reason.message << '\n';
    return static_cast<ExitCode>(reason.code);
  }
  for (llvm::Error (GradientRecord::*read)() :
       {&GradientRecord::readMetadata, &GradientRecord::readLosses,
        &GradientRecord::readTensors})
    if (llvm::Error error = (made.get()->*read)()) {
      errors << "hftac: error: " << llvm::toString(std::move(error)) << '\n';
      return ExitCode::input;
    }
  record = std::move(made);
  return ExitCode::done;
}
