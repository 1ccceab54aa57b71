//===- NodeTest.cpp - One of ONNX's node tests ----------------------------===//

#include "NodeTest.h"
#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Import/Onnx/Import.h"
#include "Hfta/InitAll.h"
#include "Hfta/Language/FrontEnd.h"
#include "Hfta/Language/Parser.h"
#include "Hfta/Pipelines/Phases.h"
#include "Hfta/Transforms/Precision/Precision.h"
#include "JitProgram.h"
#include "NodeGradients.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <onnx/onnx_pb.h>

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace mlir::hfta;
using onnx_import::FileTensor;

static constexpr double kAbsolute = 1e-6;
/// The tolerance of floating-point results, in units in the last place. The
/// expected values were computed with the same precision, but in another order.
static constexpr double kMostUnits = 4;

namespace {

/// A named value of a test's data set. `tensor.type` is null if the value isn't
/// a tensor (a sequence, for example).
struct NamedTensor {
  std::string name;
  FileTensor tensor;
};

class NodeTest {
public:
  NodeTest(StringRef folder, double relative)
      : folder(folder), relative(relative), context(makeRegistry()),
        handler(&context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
            errors.push_back(diagnostic.str());
          return success();
        }) {
    context.printOpOnDiagnostic(false);
  }

  NodeResult runAndDescribe();

private:
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerAllDialects(registry);
    return registry;
  }

  NodeResult run();
  NodeResult fail(NodeStatus status, const Twine &fallback);
  NodeResult runDataSet(StringRef dataSet);
  bool readPorts();
  std::vector<NamedTensor> readValues(StringRef dataSet, StringRef prefix,
                                      ArrayRef<std::string> names);
  OwningOpRef<ModuleOp> import(ArrayRef<JobFlag> flags = {});
  NodeResult lower(ModuleOp module);
  /// Compiles the model. If the importer requires that some inputs are known at
  /// compile time, moves these from `inputs` to `constants` and compiles again.
  NodeResult compile(std::vector<NamedTensor> &inputs);
  NodeResult compare(const NamedTensor &expected);
  NodeResult compareGradients(ArrayRef<NamedTensor> inputs);
  void describe(ModuleOp module);

  std::string folder;
  double relative;
  MLIRContext context;
  ScopedDiagnosticHandler handler;
  std::vector<std::string> errors;
  std::vector<std::string> inputNames, outputNames;
  std::vector<NamedTensor> constants; ///< the inputs bound at compile time
  NodeResult description;             ///< the model's properties; has no status
  std::unique_ptr<JitProgram> program;
};

} // namespace

NodeResult NodeTest::fail(NodeStatus status, const Twine &fallback) {
  NodeResult result{status, errors.empty() ? fallback.str() : errors.front()};
  // One line is enough; the test's name identifies the file.
  size_t end = result.reason.find('\n');
  result.reason = result.reason.substr(0, end);
  return result;
}

//===----------------------------------------------------------------------===//
// Data sets
//===----------------------------------------------------------------------===//

template <typename Message>
static bool parseFile(const Twine &path, Message &message) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  return file && message.ParseFromArray((*file)->getBufferStart(),
                                        (*file)->getBufferSize());
}

bool NodeTest::readPorts() {
  ::onnx::ModelProto model;
  if (!parseFile(folder + "/model.onnx", model))
    return false;
  for (const auto &input : model.graph().input())
    inputNames.push_back(input.name());
  for (const auto &output : model.graph().output())
    outputNames.push_back(output.name());
  for (const auto &node : model.graph().node())
    if (node.op_type() != "Constant" || model.graph().node_size() == 1)
      description.operators.push_back(node.op_type());
  return true;
}

std::vector<NamedTensor> NodeTest::readValues(StringRef dataSet,
                                              StringRef prefix,
                                              ArrayRef<std::string> names) {
  std::vector<NamedTensor> values;
  for (auto [index, name] : llvm::enumerate(names)) {
    ::onnx::TensorProto proto;
    onnx_import::TensorError error;
    std::string path = (dataSet + "/" + prefix + Twine(index) + ".pb").str();
    values.push_back({name, {}});
    if (!parseFile(path, proto))
      continue;
    FailureOr<FileTensor> tensor =
        onnx_import::readTensor(proto, dataSet, &context, error);
    if (failed(tensor))
      continue;
    // Copies the bytes, because `proto` is destroyed at the end of the
    // iteration.
    auto bytes = std::make_shared<std::vector<char>>(tensor->bytes);
    values.back().tensor = {tensor->type, *bytes, bytes};
  }
  return values;
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

OwningOpRef<ModuleOp> NodeTest::import(ArrayRef<JobFlag> flags) {
  errors.clear();
  llvm::SourceMgr sources;
  std::string text;
  llvm::raw_string_ostream os(text);
  JobDiagnostics diagnostics(sources, os);
  ast::JobFile file;
  JobOptions job;
  job.models = {folder + "/model.onnx"};
  job.flags.assign(flags.begin(), flags.end());
  addJobOptions(file, job, diagnostics);
  FrontEndOptions options;
  for (const NamedTensor &constant : constants)
    options.constants[constant.name] = onnx_import::makeDense(constant.tensor);
  FrontEndFailure failure = FrontEndFailure::none;
  OwningOpRef<ModuleOp> module =
      buildJobModule(&context, file, options, diagnostics, failure);
  if (diagnostics.hasErrors() && errors.empty())
    errors.push_back(text);
  return failure == FrontEndFailure::none ? std::move(module) : nullptr;
}

NodeResult NodeTest::lower(ModuleOp module) {
  setTestTarget(module);
  PipelineSettings settings;
  settings.target = &getTestTarget();
  settings.machine = TargetAttr::get(module);
  settings.verifySums = true;
  for (Phase phase : getPath(getTestTarget())) {
    if (!phase->addPasses)
      continue;
    PassManager passes(&context, ModuleOp::getOperationName());
    phase->addPasses(passes, settings);
    if (succeeded(passes.run(module)))
      continue;
    bool isRefusal = phase->failure == ExitCode::unsupported ||
                     phase->failure == ExitCode::input;
    return fail(isRefusal ? NodeStatus::refused : NodeStatus::failed,
                "phase '" + phase->name + "' failed");
  }
  program = JitProgram::create(module, /*threads=*/1);
  return program ? NodeResult()
                 : fail(NodeStatus::failed, "LLVM refuses the program");
}

/// Returns whether an input may have to be known at compile time: a scalar or a
/// list of integers (a shape, axes, counts), or another list that one of
/// `errors` names.
static bool mayBeConstant(const NamedTensor &value,
                          ArrayRef<std::string> errors) {
  RankedTensorType type = value.tensor.type;
  if (!type || type.getRank() > 1)
    return false;
  return type.getRank() == 0 || type.getElementType().isInteger() ||
         llvm::any_of(errors, [&](StringRef error) {
           return error.contains("('" + value.name + "')");
         });
}

static bool isFloat(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

/// Notes in `description` whether all ops that depend on float inputs have
/// derivatives, and whether all ops can be fused.
void NodeTest::describe(ModuleOp module) {
  auto model = *module.getOps<ModelOp>().begin();
  auto forward = model.lookupSymbol<func::FuncOp>("forward");
  Block &block = forward.getBody().front();
  DenseSet<Value> fromInputs;
  for (Value argument : block.getArguments())
    if (isFloat(argument))
      fromInputs.insert(argument);
  bool isDifferentiable = true;
  description.isFusable = true;
  for (Operation &op : block.without_terminator()) {
    if (!isa<ReadOp, WriteOp, ConstantOp>(op))
      description.isFusable &= isa<FusableOpInterface>(op);
    if (llvm::none_of(op.getOperands(), [&](Value operand) {
          return fromInputs.contains(operand);
        }))
      continue;
    for (Value result : op.getResults())
      if (isFloat(result)) {
        fromInputs.insert(result);
        isDifferentiable &= isa<DifferentiableOpInterface>(op);
      }
  }
  if (llvm::any_of(block.getTerminator()->getOperands(),
                   [&](Value value) { return fromInputs.contains(value); }))
    description.hasGradient = isDifferentiable;
}

NodeResult NodeTest::compile(std::vector<NamedTensor> &inputs) {
  constants.clear();
  OwningOpRef<ModuleOp> module = import();
  auto isWanted = [&](const NamedTensor &input) {
    return mayBeConstant(input, errors);
  };
  while (!module && llvm::any_of(errors, [](StringRef error) {
    return error.contains("known at compile time");
  })) {
    size_t before = constants.size();
    llvm::copy_if(inputs, std::back_inserter(constants), isWanted);
    llvm::erase_if(inputs, isWanted);
    if (constants.size() == before)
      break;
    module = import();
  }
  if (!module)
    return fail(NodeStatus::refused, "import failed");
  describe(*module);
  return lower(*module);
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

static NodeResult makeWrong(const NamedTensor &value, const Twine &text) {
  return {NodeStatus::wrong, ("output '" + value.name + "' " + text).str()};
}

static bool isEqual(double one, double other) {
  return one == other || (std::isnan(one) && std::isnan(other));
}

/// Returns the value of a unit in the last place of `number`, whose mantissa
/// has `digits` bits; 0 for zero and for numbers that aren't finite.
static double getUnit(double number, unsigned digits) {
  return number == 0 || !std::isfinite(number)
             ? 0
             : std::ldexp(1.0,
                          std::ilogb(number) + 1 - static_cast<int>(digits));
}

NodeResult NodeTest::compare(const NamedTensor &expected) {
  const hfta_tensor *found = program->find("output/" + expected.name);
  if (!found)
    return makeWrong(expected, "is missing");
  RankedTensorType type = expected.tensor.type;
  if (ArrayRef<int64_t>(found->shape, found->rank) != type.getShape())
    return makeWrong(expected, "has another shape");
  ArrayRef<char> bytes = expected.tensor.bytes;
  auto *memory = static_cast<const char *>(program->at(*found, 0));
  if (found->bytes != bytes.size())
    return makeWrong(expected, "has another element type");
  auto element = dyn_cast<FloatType>(type.getElementType());
  if (!element)
    return std::memcmp(memory, bytes.data(), bytes.size()) == 0
               ? NodeResult()
               : makeWrong(expected, "differs");
  FileTensor result{type, ArrayRef(memory, bytes.size()), nullptr};
  auto isClose = [&](double got, double wanted) {
    double tolerated =
        std::max(relative * std::fabs(wanted),
                 kMostUnits * getUnit(wanted, element.getFPMantissaWidth()));
    return std::fabs(got - wanted) <= kAbsolute + tolerated;
  };
  for (auto [index, pair] :
       llvm::enumerate(llvm::zip(onnx_import::readFloats(result),
                                 onnx_import::readFloats(expected.tensor)))) {
    auto [got, wanted] = pair;
    if (!isEqual(got, wanted) && !isClose(got, wanted))
      return makeWrong(expected, "is " + llvm::formatv("{0:e6}", got).str() +
                                     " instead of " +
                                     llvm::formatv("{0:e6}", wanted).str() +
                                     " at element " + Twine(index));
  }
  return {};
}

/// Compares the gradients by all float inputs with finite differences. Skips
/// models with weights, because weights are variables, not arguments of the
/// function that is differentiated.
NodeResult NodeTest::compareGradients(ArrayRef<NamedTensor> inputs) {
  OwningOpRef<ModuleOp> module = import({{"precision", "f64"}});
  if (!module)
    return fail(NodeStatus::refused, "import in f64 failed");
  auto model = *module->getOps<ModelOp>().begin();
  applyElementTypes(model, Job::read(*module)->precision);
  auto forward = model.lookupSymbol<func::FuncOp>("forward");
  if (!forward.getOps<ReadOp>().empty())
    return {};
  std::vector<FileTensor> operands;
  for (unsigned index = 0; index < forward.getNumArguments(); ++index) {
    auto name =
        forward.getArgAttrOfType<StringAttr>(index, HftaDialect::kNameAttrName);
    for (const NamedTensor &input : inputs)
      if (name && input.name == name.getValue())
        operands.push_back(input.tensor);
  }
  std::string wrong = findWrongGradient(*module, forward, operands);
  return wrong.empty() ? NodeResult() : NodeResult{NodeStatus::slope, wrong};
}

NodeResult NodeTest::runDataSet(StringRef dataSet) {
  std::vector<NamedTensor> inputs = readValues(dataSet, "input_", inputNames);
  std::vector<NamedTensor> outputs =
      readValues(dataSet, "output_", outputNames);
  NodeResult compiled = compile(inputs);
  if (compiled.status != NodeStatus::passed)
    return compiled;
  for (const NamedTensor &input : inputs) {
    const hfta_tensor *tensor = program->find("infer/" + input.name);
    if (!tensor) // the input is unused
      continue;
    ArrayRef<char> bytes = input.tensor.bytes;
    if (!input.tensor.type || tensor->bytes != bytes.size())
      return {NodeStatus::wrong, "input '" + input.name + "' has another type"};
    std::memcpy(program->at(*tensor, 0), bytes.data(), bytes.size());
  }
  program->run("init");
  program->run("infer");
  for (const NamedTensor &output : outputs) {
    if (!output.tensor.type)
      return makeWrong(output, "is no tensor");
    NodeResult result = compare(output);
    if (result.status != NodeStatus::passed)
      return result;
  }
  return description.hasGradient.value_or(false) ? compareGradients(inputs)
                                                 : NodeResult();
}

NodeResult NodeTest::run() {
  if (!readPorts())
    return {NodeStatus::failed, "no model.onnx"};
  for (int set = 0;; ++set) {
    std::string dataSet = folder + "/test_data_set_" + std::to_string(set);
    if (!llvm::sys::fs::is_directory(dataSet))
      return set > 0 ? NodeResult()
                     : NodeResult{NodeStatus::failed, "no data sets"};
    NodeResult result = runDataSet(dataSet);
    if (result.status != NodeStatus::passed)
      return result;
  }
}

NodeResult NodeTest::runAndDescribe() {
  NodeResult result = run();
  result.operators = description.operators;
  result.hasGradient = description.hasGradient;
  result.isFusable = description.isFusable;
  return result;
}

NodeResult hfta::runNodeTest(StringRef folder, double relative) {
  return NodeTest(folder, relative).runAndDescribe();
}
