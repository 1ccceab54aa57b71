//===- LayerCheck.cpp - Layers of networks against finite differences -----===//
//
//   HftaLayerCheck TRAIN.mlir [NAME=float|zero_one|COUNT]...
//
// Checks what the hfta.layer ops of a network say. TRAIN.mlir is the network in
// phase `train`, in f64. The arguments say how inputs whose names end with NAME
// are filled: with numbers in [-1, 1) (`float`, the default), with zeros and
// ones, or with integers below COUNT. Each weight gradient is replaced by the
// one that follows from its hfta.layer: the sum of g aᵀ over rows, where a is
// the input and g the output gradient. Each parameter's gradient is then
// compared with finite differences of the loss along a direction of random
// signs. If a bias is an additional column of its layer's weight, its gradient
// is also compared with the sum of g. Every trained parameter must belong to a
// layer.
//===----------------------------------------------------------------------===//

#include "JitProgram.h"
#include "RebuiltGradients.h"

#include "Hfta/Dialect/Hfta/IR/VariableIndex.h"
#include "Hfta/InitAll.h"
#include "Hfta/Support/TaskNames.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <map>

using namespace mlir;
using namespace mlir::hfta;

namespace {

/// The Euclidean length of the vector by which a parameter is changed, in each
/// direction, for a finite difference. It is so short that hardly any ReLU's
/// input changes its sign.
constexpr double kStep = 1e-6;
/// The tolerance relative to the gradient's length, and the absolute one, which
/// allows for rounding errors of the loss divided by the step.
constexpr double kRelative = 2e-5, kAbsolute = 1e-7;

uint64_t nextRandom(uint64_t &state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 33;
}

/// The copy to which a parameter or layer belongs; no value if it belongs to
/// all copies.
using Copy = std::optional<int64_t>;

static bool isOf(Copy copy, int64_t number) { return !copy || *copy == number; }

/// A trained parameter, and the layers that use it.
struct Parameter {
  std::string name;       ///< name of its variable before fusion
  std::string gradient;   ///< likewise, of its gradient's variable
  Copy copy;              ///< the only copy that has the parameter
  std::vector<Copy> uses; ///< copies of its layers, one entry per layer
  /// For each layer whose weight has this parameter (a bias) as a column: the
  /// variable that holds the sum of the output gradients, and the layer's copy.
  std::vector<std::pair<std::string, Copy>> columns;
};

class LayerCheck {
public:
  LayerCheck(ModuleOp module, ArrayRef<StringRef> fills)
      : module(module), builder(module.getContext()), fills(fills) {}

  /// Finds the parameters, and rewrites the gradients. Fails, with a message,
  /// if a parameter belongs to no layer.
  LogicalResult prepare();
  /// Compiles the module into this process.
  LogicalResult compile();
  /// Compares all gradients and prints a summary. Returns false, with a message
  /// for each parameter that differs, if some do.
  bool compare();

private:
  /// Replaces the weight gradient of the layer by the rebuilt one.
  void replaceGradient(LayerOp layer);
  /// If the layer's bias is a column of its weight, writes the sum of the
  /// output gradients to a new variable.
  void writeColumn(LayerOp layer);
  void fillInputs();
  void run(StringRef part) { program->run(part); }
  /// Runs the forward pass for all copies. Returns the loss of one copy.
  double computeLoss(int64_t copy);
  const hfta_tensor &find(StringRef name, int64_t copy) {
    const hfta_tensor *tensor = program->find(name, copy);
    if (!tensor)
      llvm::report_fatal_error("no tensor '" + Twine(name) + "'");
    return *tensor;
  }
  double *at(StringRef name, int64_t copy) {
    return static_cast<double *>(program->at(find(name, copy), copy));
  }
  std::vector<double> getValues(StringRef name, int64_t copy);
  bool compareParameter(const Parameter &parameter, int64_t copy);
  bool compareColumn(const Parameter &parameter, int64_t copy);

  ModuleOp module;
  OpBuilder builder;
  ArrayRef<StringRef> fills;
  llvm::MapVector<StringRef, Parameter> parameters;
  std::map<LayerKind, unsigned> counts;
  std::vector<std::string> inputs;
  std::string loss;
  std::unique_ptr<JitProgram> program;
  int64_t copies = 1;
  uint64_t random = 1;
  double worst = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

void LayerCheck::replaceGradient(LayerOp layer) {
  Parameter &parameter = parameters[layer.getParameter()];
  ++counts[layer.getKind()];
  parameter.uses.push_back(layer.getCopy());
  builder.setInsertionPoint(layer);
  if (Value rebuilt = rebuildWeightGradient(builder, layer))
    layer.getWeightGradient().replaceAllUsesExcept(rebuilt, layer);
}

void LayerCheck::writeColumn(LayerOp layer) {
  if (!layer.getBias())
    return;
  Parameter &bias = parameters[*layer.getBias()];
  bias.uses.push_back(layer.getCopy());
  if (!layer.getBiasColumn())
    return;
  builder.setInsertionPoint(layer);
  Value sum = sumOutputGradients(builder, layer);
  std::string name =
      ("column/" + *layer.getBias() + "/" + Twine(bias.columns.size())).str();
  WriteOp::create(builder, layer.getLoc(), sum, name, IntegerAttr());
  builder.setInsertionPointToStart(module.getBody());
  VariableOp::create(builder, layer.getLoc(), name,
                     cast<RankedTensorType>(sum.getType()), Role::output);
  bias.columns.emplace_back(name, layer.getCopy());
}

LogicalResult LayerCheck::prepare() {
  VariableIndex index(module);
  loss = index.lookup(Purpose::loss).getOwnName();
  for (auto variable : module.getOps<VariableOp>()) {
    if (variable.getTrained()) {
      Parameter &parameter = parameters[variable.getSymName()];
      parameter.name = variable.getOwnName();
      if (VariableOp gradient = index.lookupOf(variable, Purpose::gradient))
        parameter.gradient = gradient.getOwnName();
      parameter.copy = variable.getCopy();
      copies = std::max(copies, getCopies(variable.getType()).value_or(1));
    }
    if (variable.getRole() == Role::input)
      inputs.push_back(variable.getOwnName());
  }
  SmallVector<LayerOp> layers;
  module.walk([&](LayerOp layer) { layers.push_back(layer); });
  for (LayerOp layer : layers) {
    replaceGradient(layer);
    writeColumn(layer);
  }
  // Layers are at the end of their task. The rebuilt gradients are defined
  // there, but may be used earlier, so operations are sorted.
  for (LayerOp layer : layers)
    sortTopologically(layer->getBlock());
  bool ok = true;
  for (auto &[name, parameter] : parameters)
    if (parameter.uses.empty()) {
      llvm::errs() << name << ": trained, but of no layer\n";
      ok = false;
    }
  return success(ok);
}

LogicalResult LayerCheck::compile() {
  if (failed(lowerTasks(module)))
    return failure();
  program = JitProgram::create(module, /*threads=*/2);
  return success(program != nullptr);
}

//===----------------------------------------------------------------------===//
// The numbers
//===----------------------------------------------------------------------===//

void LayerCheck::fillInputs() {
  for (const std::string &input : inputs) {
    const hfta_tensor &tensor = find(input, 0);
    StringRef fill = "float";
    for (StringRef text : fills)
      if (StringRef(input).ends_with(text.split('=').first))
        fill = text.split('=').second;
    void *memory = program->at(tensor, 0);
    uint64_t state = 7;
    unsigned count = 0;
    bool isIndex = llvm::to_integer(fill, count);
    uint64_t elements = tensor.bytes / (tensor.type == HFTA_F32 ? 4 : 8);
    for (uint64_t i = 0; i < elements; ++i) {
      uint64_t number = nextRandom(state);
      double real = fill == "zero_one" ? double(number % 2)
                                       : 2.0 * number / (1u << 31) - 1;
      if (isIndex)
        static_cast<int64_t *>(memory)[i] = number % count;
      else if (tensor.type == HFTA_F32)
        static_cast<float *>(memory)[i] = real;
      else
        static_cast<double *>(memory)[i] = real;
    }
  }
}

double LayerCheck::computeLoss(int64_t copy) {
  for (int64_t i = 0; i < copies; ++i)
    *at(loss, i) = 0;
  run(parts::kForward);
  return *at(loss, copy);
}

std::vector<double> LayerCheck::getValues(StringRef name, int64_t copy) {
  const double *values = at(name, copy);
  return {values, values + find(name, copy).bytes / sizeof(double)};
}

bool LayerCheck::compareParameter(const Parameter &parameter, int64_t copy) {
  std::vector<double> gradient = getValues(parameter.gradient, copy);
  std::vector<double> old = getValues(parameter.name, copy);
  double *values = at(parameter.name, copy);
  std::vector<double> direction;
  double expected = 0, square = 0;
  for (double entry : gradient) {
    direction.push_back(nextRandom(random) % 2 ? 1 : -1);
    expected += direction.back() * entry;
    square += entry * entry;
  }
  double step = kStep / std::sqrt(static_cast<double>(old.size()));
  double loss[2];
  for (int side : {0, 1}) {
    for (size_t i = 0; i < old.size(); ++i)
      values[i] = old[i] + (side ? step : -step) * direction[i];
    loss[side] = computeLoss(copy);
  }
  std::copy(old.begin(), old.end(), values);
  double measured = (loss[1] - loss[0]) / (2 * step);
  double bound = kRelative * std::sqrt(square) + kAbsolute;
  double off = std::fabs(measured - expected) / bound;
  worst = std::max(worst, off);
  if (off <= 1)
    return true;
  llvm::errs() << llvm::formatv(
      "{0}, copy {1}: measured {2:e8}, from its layers {3:e8}, length {4:e3}\n",
      parameter.name, copy, measured, expected, std::sqrt(square));
  return false;
}

/// Compares the gradient of a bias with the sum over its columns. Returns true
/// without a comparison if some use of the bias isn't a column.
bool LayerCheck::compareColumn(const Parameter &parameter, int64_t copy) {
  int64_t uses =
      llvm::count_if(parameter.uses, [&](Copy use) { return isOf(use, copy); });
  std::vector<double> gradient = getValues(parameter.gradient, copy);
  std::vector<double> sums(gradient.size());
  for (const auto &[name, owner] : parameter.columns) {
    if (!isOf(owner, copy))
      continue;
    --uses;
    std::vector<double> values = getValues(name, copy);
    if (values.size() != sums.size()) {
      llvm::errs() << parameter.name << ": " << sums.size() << " elements, "
                   << values.size() << " columns\n";
      return false;
    }
    for (size_t i = 0; i < sums.size(); ++i)
      sums[i] += values[i];
  }
  if (uses != 0)
    return true;
  for (size_t i = 0; i < sums.size(); ++i)
    if (!(std::fabs(sums[i] - gradient[i]) <=
          1e-12 + 1e-10 * std::fabs(gradient[i]))) {
      llvm::errs() << parameter.name << ", copy " << copy << ": gradient "
                   << gradient[i] << ", column " << sums[i] << "\n";
      return false;
    }
  return true;
}

bool LayerCheck::compare() {
  run(parts::kInit);
  fillInputs();
  computeLoss(0);
  run(parts::kBackward);
  bool ok = true;
  unsigned columns = 0;
  for (auto &[name, parameter] : parameters) {
    columns += !parameter.columns.empty();
    for (int64_t copy = 0; copy < copies; ++copy) {
      if (!isOf(parameter.copy, copy))
        continue;
      ok &= compareParameter(parameter, copy);
      ok &= compareColumn(parameter, copy);
    }
  }
  llvm::outs() << parameters.size() << " parameters of " << copies
               << " copies;";
  for (auto [kind, count] : counts)
    llvm::outs() << " " << stringifyLayerKind(kind) << " " << count;
  llvm::outs() << "; " << columns << " biases are columns; "
               << llvm::formatv("{0:f3}", worst) << " of what is allowed\n";
  return ok;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    llvm::errs() << "usage: HftaLayerCheck TRAIN.mlir [NAME=FILL]...\n";
    return 2;
  }
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(argv[1], &context);
  SmallVector<StringRef> fills(argv + 2, argv + argc);
  if (!module)
    return 1;
  LayerCheck check(*module, fills);
  if (failed(check.prepare()) || failed(check.compile()))
    return 1;
  return check.compare() ? 0 : 1;
}
