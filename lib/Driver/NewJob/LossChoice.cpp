//===- LossChoice.cpp - The loss that fits an output and a label ----------===//

#include "NewJob/LossChoice.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <optional>

using namespace mlir;
using namespace mlir::hfta;

using Shape = llvm::SmallVector<int64_t>;

/// Returns a shape without axes of length 1.
static Shape dropOnes(llvm::ArrayRef<int64_t> shape) {
  Shape rest(shape);
  llvm::erase(rest, 1);
  return rest;
}

static std::string print(llvm::ArrayRef<int64_t> shape) {
  std::string text = "[";
  llvm::interleave(
      shape, [&](int64_t size) { text += std::to_string(size); },
      [&] { text += ", "; });
  return text + "]";
}

/// Returns the axis of an output's sample along which a label has one number:
/// the first one, as PyTorch has it, or the last one. Nothing if there is none.
static std::optional<size_t> findClasses(llvm::ArrayRef<int64_t> output,
                                         llvm::ArrayRef<int64_t> label) {
  for (size_t axis : {size_t(0), output.size() - 1}) {
    if (axis >= output.size() || output[axis] < 2)
      continue;
    Shape rest(output);
    rest.erase(rest.begin() + axis);
    if (dropOnes(rest) == dropOnes(label))
      return axis;
  }
  return std::nullopt;
}

/// Refuses an output that already is a probability: the losses take logits.
static llvm::Error refuseProbabilities(const OutputFacts &output,
                                       llvm::StringRef op,
                                       llvm::StringRef loss) {
  if (output.op != op)
    return llvm::Error::success();
  return llvm::createStringError("output '" + output.name +
                                 "' is the result of a " + op + ", but " +
                                 loss + " takes what comes before it: logits" +
                                 "\nhint: export the model without its last " +
                                 op + "; its predictions stay the same");
}

static std::string printRange(const NumberFacts &range) {
  return printShort(range.least) + " to " + printShort(range.most);
}

static llvm::Expected<LossChoice> chooseForClasses(const OutputFacts &output,
                                                   const LabelFacts &label,
                                                   size_t axis) {
  int64_t classes = output.shape[axis];
  const NumberFacts &range = label.range;
  bool fromOne = range.least == 1 && range.most == static_cast<double>(classes);
  if (!fromOne &&
      (range.least < 0 || range.most >= static_cast<double>(classes)))
    return llvm::createStringError(
        "field '" + label.name + "' has numbers from " + printRange(range) +
        ", but output '" + output.name + "' has " + llvm::Twine(classes) +
        " classes, numbered from 0");
  if (llvm::Error error =
          refuseProbabilities(output, "Softmax", "cross_entropy"))
    return error;
  LossChoice choice;
  choice.loss = output.op == "LogSoftmax" ? "nll" : "cross_entropy";
  choice.metrics = "accuracy";
  if (axis + 1 != output.shape.size())
    choice.arguments = ", axis = " + std::to_string(axis + 1);
  if (fromOne)
    choice.labelSteps = " - 1";
  choice.reason = llvm::formatv("'{0}' has class numbers, {1}, for {2} classes",
                                label.name, printRange(range), classes)
                      .str();
  return choice;
}

llvm::Expected<LossChoice> hfta::chooseLoss(const OutputFacts &output,
                                            const LabelFacts &label) {
  if (label.range.areWhole)
    if (std::optional<size_t> axis = findClasses(output.shape, label.shape))
      return chooseForClasses(output, label, *axis);
  if (dropOnes(output.shape) != dropOnes(label.shape))
    return llvm::createStringError(
        "no loss compares output '" + output.name + "', whose samples are " +
        print(output.shape) + ", with field '" + label.name +
        "', whose samples are " + print(label.shape) +
        "\nhint: labels are class numbers, or have the output's shape");
  LossChoice choice;
  if (label.range.isOneHot) {
    if (llvm::Error error =
            refuseProbabilities(output, "Softmax", "cross_entropy"))
      return error;
    choice.loss = "cross_entropy";
    choice.metrics = "accuracy";
    // Probabilities are floats.
    choice.labelSteps = " * 1.0";
    choice.reason = "'" + label.name + "' has one 1 in each sample";
  } else if (label.range.areWhole && label.range.least >= 0 &&
             label.range.most <= 1) {
    if (llvm::Error error =
            refuseProbabilities(output, "Sigmoid", "binary_cross_entropy"))
      return error;
    choice.loss = "binary_cross_entropy";
    choice.metrics = "accuracy";
    choice.reason = "'" + label.name + "' has zeros and ones";
  } else {
    choice.loss = "mse";
    choice.metrics = "mae, r2";
    choice.reason = "'" + label.name + "' has numbers from " +
                    printRange(label.range) + ", in the output's shape";
  }
  return choice;
}
