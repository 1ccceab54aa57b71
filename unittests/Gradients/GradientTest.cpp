//===- GradientTest.cpp - Derivatives compared with finite differences ----===//
//
// Tests the derivative of every op. Everything is computed in f64 for three
// copies, with shared and arrayed operands mixed. Each copy has its own
// gradient of a shared operand.
//===----------------------------------------------------------------------===//

#include "GradientTask.h"
#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/InitAll.h"

#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;
using namespace mlir::hfta;

namespace {

/// A test case: the text of a function @f, as GradientTask::compile takes it.
struct OpCase {
  std::string name;
  std::string function;
  /// Floats are drawn from [low, high), integers from [0, integers).
  double low = -1.5, high = 1.5;
  int64_t integers = 4;
  double step = 1e-5; ///< step of the finite differences
};

/// Prints the case's name, by which GoogleTest describes a parameter.
std::ostream &operator<<(std::ostream &os, const OpCase &opCase) {
  return os << opCase.name;
}

constexpr int64_t kCopies = 3;
/// The least number of elements that are perturbed in an operand, spread evenly
/// over it. In a smaller operand, all are.
constexpr int64_t kPerturbed = 24;

std::string unary(const std::string &op) {
  return "func.func @f(%a: tensor<3x5xf64>) -> tensor<3x5xf64> {\n  %0 = "
         "hfta." +
         op + " %a : tensor<3x5xf64>\n  return %0 : tensor<3x5xf64>\n}";
}

std::string binary(const std::string &op) {
  return "func.func @f(%a: tensor<3x5xf64>, %b: tensor<3x5xf64>) -> "
         "tensor<3x5xf64> {\n  %0 = hfta." +
         op +
         " %a, %b : tensor<3x5xf64>, tensor<3x5xf64>\n  return %0 : "
         "tensor<3x5xf64>\n}";
}

/// Returns the text of a function @f that returns the result of `op`.
/// `arguments` is the text of its parameters, `result` that of its result type.
std::string oneOp(const std::string &arguments, const std::string &op,
                  const std::string &result) {
  return "func.func @f(" + arguments + ") -> " + result + " {\n  %0 = " + op +
         "\n  return %0 : " + result + "\n}";
}

const char kWindow[] = "strides = array<i64: 2, 1>, dilations = array<i64: 1, "
                       "2>, padding = array<i64: 1, 0, 2, 1>, groups = 2 : i64";
const char kPool[] = "kernel = array<i64: 3, 2>, strides = array<i64: 2, 1>, "
                     "dilations = array<i64: 1, 2>, padding = array<i64: 1, 0, "
                     "1, 1>";

std::vector<OpCase> elementwiseCases() {
  std::vector<OpCase> cases;
  for (const char *op : {"neg", "abs", "exp", "tanh", "sigmoid", "erf", "relu",
                         "sin", "cos", "softplus"})
    cases.push_back({op, unary(op)});
  for (const char *op : {"log", "log1p", "sqrt", "rsqrt"})
    cases.push_back({op, unary(op), 0.5, 3.0});
  cases.push_back({"atan", unary("atan"), -3.0, 3.0});
  for (const char *op : {"asin", "acos"})
    cases.push_back({op, unary(op), -0.9, 0.9});
  cases.push_back({"remainder",
                   "func.func @f(%a: tensor<3x5xf64>, %b: tensor<3x5xf64>) -> "
                   "tensor<3x5xf64> {\n"
                   "  %c = hfta.constant dense<-7.0> : tensor<3x5xf64>\n"
                   "  %0 = hfta.mul %a, %c : tensor<3x5xf64>, tensor<3x5xf64>\n"
                   "  %1 = hfta.remainder %0, %b : tensor<3x5xf64>, "
                   "tensor<3x5xf64>\n"
                   "  return %1 : tensor<3x5xf64>\n}",
                   0.5, 2.0});
  cases.push_back({"norm",
                   "func.func @f(%a: tensor<3x5xf64>) -> tensor<3xf64> {\n"
                   "  %0 = hfta.mul %a, %a : tensor<3x5xf64>, tensor<3x5xf64>\n"
                   "  %1 = hfta.reduce sum %0 over [1] : tensor<3x5xf64>\n"
                   "  %2 = hfta.sqrt %1 {hfta.norm} : tensor<3xf64>\n"
                   "  return %2 : tensor<3xf64>\n}"});
  for (const char *op : {"add", "sub", "mul", "max", "min"})
    cases.push_back({op, binary(op)});
  // Each step function is multiplied by its operand, because its own derivative
  // is zero.
  for (const char *op : {"sign", "floor", "ceil"})
    cases.push_back(
        {op, "func.func @f(%a: tensor<3x5xf64>) -> tensor<3x5xf64> {\n  %0 = "
             "hfta." +
                 std::string(op) +
                 " %a : tensor<3x5xf64>\n  %1 = hfta.mul %0, %a : "
                 "tensor<3x5xf64>, tensor<3x5xf64>\n  return %1 : "
                 "tensor<3x5xf64>\n}"});
  cases.push_back({"div", binary("div"), 0.5, 2.0});
  cases.push_back({"pow", binary("pow"), 0.5, 2.0});
  cases.push_back(
      {"select", oneOp("%c: tensor<3x5xi1>, %a: tensor<3x5xf64>, %b: "
                       "tensor<3x5xf64>",
                       "hfta.select %c, %a, %b : tensor<3x5xi1>, "
                       "tensor<3x5xf64>, tensor<3x5xf64>",
                       "tensor<3x5xf64>")});
  // A cast to f32 rounds. The step is so large that the rounding error divided
  // by it stays within the tolerance.
  cases.push_back({"cast",
                   "func.func @f(%a: tensor<3x5xf64>) -> tensor<3x5xf64> {\n"
                   "  %0 = hfta.cast %a : tensor<3x5xf64> to f32\n"
                   "  %1 = hfta.cast %0 : tensor<3x5xf32> to f64\n"
                   "  return %1 : tensor<3x5xf64>\n}",
                   0.0, 0.5, 4, 0.25});
  return cases;
}

std::vector<OpCase> shapeCases() {
  std::vector<OpCase> cases;
  auto add = [&](const char *name, const char *op, const char *result) {
    cases.push_back({name, oneOp("%a: tensor<3x4x5xf64>", op, result)});
  };
  add("reshape", "hfta.reshape %a to [4, 15] : tensor<3x4x5xf64>",
      "tensor<4x15xf64>");
  add("transpose", "hfta.transpose %a by [2, 0, 1] : tensor<3x4x5xf64>",
      "tensor<5x3x4xf64>");
  add("broadcast",
      "hfta.broadcast %a to [3, 2, 4, 5] along [0, 2, 3] : tensor<3x4x5xf64>",
      "tensor<3x2x4x5xf64>");
  add("slice",
      "hfta.slice %a from [0, 3, 1] size [2, 2, 2] stride [2, -2, 3] : "
      "tensor<3x4x5xf64>",
      "tensor<2x2x2xf64>");
  add("pad",
      "hfta.pad %a low [1, 0, 2] high [0, 1, 1] interior [0, 1, 2] with 0.5 : "
      "f64 : tensor<3x4x5xf64>",
      "tensor<4x8x16xf64>");
  for (const char *kind : {"sum", "max", "min", "product"})
    add(kind,
        (std::string("hfta.reduce ") + kind +
         " %a over [0, 2] : tensor<3x4x5xf64>")
            .c_str(),
        "tensor<4xf64>");
  cases.push_back(
      {"concat", oneOp("%a: tensor<2x3xf64>, %b: tensor<2x4xf64>",
                       "hfta.concat %a, %b along 1 : tensor<2x3xf64>, "
                       "tensor<2x4xf64>",
                       "tensor<2x7xf64>")});
  cases.push_back(
      {"gather", oneOp("%a: tensor<4x3xf64>, %i: tensor<2x5xi64>",
                       "hfta.gather %a[%i] along 0 : tensor<4x3xf64>, "
                       "tensor<2x5xi64>",
                       "tensor<2x5x3xf64>")});
  cases.push_back(
      {"scatter_add", oneOp("%a: tensor<2x5x3xf64>, %i: tensor<2x5xi64>",
                            "hfta.scatter_add %a at %i along 0 size 4 : "
                            "tensor<2x5x3xf64>, tensor<2x5xi64>",
                            "tensor<4x3xf64>")});
  // Some indices have no update, some one, some several. No two elements that
  // are compared are equal, as a maximum or minimum has no derivative there.
  for (const char *kind : {"max", "min", "product"})
    cases.push_back({std::string("scatter_reduce ") + kind,
                     oneOp("%a: tensor<2x5x3xf64>, %i: tensor<2x5xi64>, %b: "
                           "tensor<7x3xf64>",
                           std::string("hfta.scatter_reduce ") + kind +
                               " %a at %i into %b along 0 : tensor<2x5x3xf64>, "
                               "tensor<2x5xi64>, tensor<7x3xf64>",
                           "tensor<7x3xf64>")});
  return cases;
}

std::vector<OpCase> contractionCases() {
  std::vector<OpCase> cases;
  auto contract = [&](const char *name, const char *lhs, const char *rhs,
                      const char *maps, const char *result) {
    std::string a = std::string("tensor<") + lhs + "xf64>";
    std::string b = std::string("tensor<") + rhs + "xf64>";
    cases.push_back({name, oneOp("%a: " + a + ", %b: " + b,
                                 std::string("hfta.contract %a, %b maps [") +
                                     maps + "] : " + a + ", " + b,
                                 result)});
  };
  contract("contract NN", "5x7", "7x3",
           "affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, "
           "affine_map<(m, n, k) -> (m, n)>",
           "tensor<5x3xf64>");
  contract("contract NT", "5x7", "3x7",
           "affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, "
           "affine_map<(m, n, k) -> (m, n)>",
           "tensor<5x3xf64>");
  contract("contract batched", "2x5x7", "2x7x3",
           "affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> "
           "(b, k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>",
           "tensor<2x5x3xf64>");
  std::string window = kWindow;
  cases.push_back(
      {"conv", oneOp("%x: tensor<2x4x7x6xf64>, %w: tensor<6x2x3x2xf64>",
                     "hfta.conv %x, %w {" + window +
                         "} : tensor<2x4x7x6xf64>, tensor<6x2x3x2xf64>",
                     "tensor<2x6x4x5xf64>")});
  cases.push_back({"conv_input_gradient",
                   oneOp("%g: tensor<2x6x4x5xf64>, %w: tensor<6x2x3x2xf64>",
                         "hfta.conv_input_gradient %g, %w {" + window +
                             ", input_shape = array<i64: 2, 4, 7, 6>} : "
                             "tensor<2x6x4x5xf64>, tensor<6x2x3x2xf64>",
                         "tensor<2x4x7x6xf64>")});
  cases.push_back({"conv_weight_gradient",
                   oneOp("%x: tensor<2x4x7x6xf64>, %g: tensor<2x6x4x5xf64>",
                         "hfta.conv_weight_gradient %x, %g {" + window +
                             ", weight_shape = array<i64: 6, 2, 3, 2>} : "
                             "tensor<2x4x7x6xf64>, tensor<2x6x4x5xf64>",
                         "tensor<6x2x3x2xf64>")});
  return cases;
}

std::vector<OpCase> poolingCases() {
  std::vector<OpCase> cases;
  std::string pool = kPool;
  cases.push_back(
      {"max_pool", "func.func @f(%x: tensor<2x3x7x6xf64>) -> "
                   "tensor<2x3x4x5xf64> {\n  %0, %1 = hfta.max_pool %x {" +
                       pool +
                       "} : tensor<2x3x7x6xf64>\n  return %0 : "
                       "tensor<2x3x4x5xf64>\n}"});
  cases.push_back(
      {"global_max_pool",
       "func.func @f(%x: tensor<2x3x7x6xf64>) -> tensor<2x3x1x1xf64> {\n"
       "  %0, %1 = hfta.max_pool %x {kernel = array<i64: 7, 6>, strides = "
       "array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = "
       "array<i64: 0, 0, 0, 0>} : tensor<2x3x7x6xf64>\n"
       "  return %0 : tensor<2x3x1x1xf64>\n}"});
  for (const char *include : {"", ", include_padding"})
    cases.push_back(
        {std::string("average_pool") + include,
         oneOp("%x: tensor<2x3x7x6xf64>",
               "hfta.average_pool %x {" + pool + include +
                   ", ceil_padding = array<i64: 0, 1>} : tensor<2x3x7x6xf64>",
               "tensor<2x3x4x5xf64>")});
  cases.push_back(
      {"max_pool_gradient",
       "func.func @f(%g: tensor<2x3x4x5xf64>, %x: tensor<2x3x7x6xf64>) -> "
       "tensor<2x3x7x6xf64> {\n  %0, %1 = hfta.max_pool %x {" +
           pool +
           "} : tensor<2x3x7x6xf64>\n  %2 = hfta.max_pool_gradient %g, %1 {" +
           pool +
           ", input_shape = array<i64: 2, 3, 7, 6>} : tensor<2x3x4x5xf64>, "
           "tensor<2x3x4x5xi32>\n  return %2 : tensor<2x3x7x6xf64>\n}"});
  for (const char *include : {"", ", include_padding"})
    cases.push_back(
        {std::string("average_pool_gradient") + include,
         oneOp("%g: tensor<2x3x4x5xf64>",
               "hfta.average_pool_gradient %g {" + pool + include +
                   ", ceil_padding = array<i64: 0, 1>, input_shape = "
                   "array<i64: 2, 3, 7, 6>} : tensor<2x3x4x5xf64>",
               "tensor<2x3x7x6xf64>")});
  return cases;
}

std::vector<OpCase> normalizationCases() {
  std::vector<OpCase> cases;
  cases.push_back({"softmax", oneOp("%x: tensor<3x5x2xf64>",
                                    "hfta.softmax %x along 1 : "
                                    "tensor<3x5x2xf64>",
                                    "tensor<3x5x2xf64>")});
  cases.push_back(
      {"log_softmax",
       "func.func @f(%x: tensor<3x5x2xf64>) -> tensor<3x5x2xf64> {\n"
       "  %0:3 = hfta.log_softmax %x along 1 : tensor<3x5x2xf64>\n"
       "  return %0#0 : tensor<3x5x2xf64>\n}"});
  for (const char *mode :
       {"", " {reverse}", " {exclusive}", " {exclusive, falling, reverse}"})
    cases.push_back({std::string("cumulative_sum") + mode,
                     oneOp("%x: tensor<3x5x2xf64>",
                           std::string("hfta.cumulative_sum %x along 1") +
                               mode + " : tensor<3x5x2xf64>",
                           "tensor<3x5x2xf64>")});
  for (const char *mode : {"", ", training"})
    cases.push_back(
        {std::string("batch_norm") + mode,
         std::string(
             "func.func @f(%x: tensor<4x3x2xf64>, %s: tensor<3xf64>, "
             "%b: tensor<3xf64>) -> tensor<4x3x2xf64> {\n"
             "  %m = hfta.constant dense<[0.1, -0.2, 0.3]> : "
             "tensor<3xf64>\n  %v = hfta.constant dense<[1.1, 0.7, "
             "2.0]> : tensor<3xf64>\n  %0:5 = hfta.batch_norm %x, %s, "
             "%b, %m, %v {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64") +
             mode +
             "} : tensor<4x3x2xf64>, tensor<3xf64>, tensor<3xf64>, "
             "tensor<3xf64>, tensor<3xf64>\n  return %0#0 : "
             "tensor<4x3x2xf64>\n}"});
  cases.push_back(
      {"dropout",
       "func.func @f(%a: tensor<2x3xf64>) -> tensor<2x3xf64> {\n"
       "  %r = hfta.constant dense<0.3> : tensor<f64>\n"
       "  %u = hfta.constant dense<[[0.1, 0.9, 0.4], [0.5, 0.2, 0.7]]> : "
       "tensor<2x3xf64>\n"
       "  %0 = hfta.dropout %a, %r, %u {training} : tensor<2x3xf64>, "
       "tensor<f64>, tensor<2x3xf64>\n  return %0 : tensor<2x3xf64>\n}"});
  return cases;
}

/// Labels have up to 3 elements, which may be equal neighbours, so that each
/// has an alignment to 7 steps.
std::vector<OpCase> sequenceCases() {
  return {{"ctc_loss",
           "func.func @f(%x: tensor<4x7x5xf64>, %l: tensor<4x3xi64>, %n: "
           "tensor<4xi64>) -> tensor<4xf64> {\n"
           "  %0, %1 = hfta.ctc_loss %x, %l, %n {blank = 4 : i64} : "
           "tensor<4x7x5xf64>, tensor<4x3xi64>, tensor<4xi64>\n"
           "  return %0 : tensor<4xf64>\n}"}};
}

//===----------------------------------------------------------------------===//
// The check
//===----------------------------------------------------------------------===//

uint32_t nextRandom(uint32_t &state) {
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

/// Fills the operands with pseudo-random numbers. They are the same in every
/// run.
void fillOperands(GradientTask &task, const OpCase &opCase) {
  uint32_t state = 12345;
  for (unsigned index = 0; index < task.getNumOperands(); ++index) {
    const hfta_tensor &tensor = task.getOperand(index);
    for (int64_t copy = 0; copy < (tensor.copy_stride ? kCopies : 1); ++copy) {
      void *memory = task.at(tensor, copy);
      for (uint64_t i = 0; tensor.type == HFTA_F64 && i < tensor.bytes / 8; ++i)
        static_cast<double *>(memory)[i] =
            opCase.low +
            (opCase.high - opCase.low) * nextRandom(state) / (1 << 24);
      for (uint64_t i = 0; tensor.type == HFTA_I64 && i < tensor.bytes / 8; ++i)
        static_cast<int64_t *>(memory)[i] = nextRandom(state) % opCase.integers;
      for (uint64_t i = 0; tensor.type == HFTA_BOOL && i < tensor.bytes; ++i)
        static_cast<char *>(memory)[i] = nextRandom(state) % 2;
    }
  }
}

class GradientTest : public testing::TestWithParam<OpCase> {
protected:
  static MLIRContext &getContext() {
    static MLIRContext *context = [] {
      DialectRegistry registry;
      registerAllDialects(registry);
      auto *made = new MLIRContext(registry);
      made->loadAllAvailableDialects();
      return made;
    }();
    return *context;
  }

  /// Compares the computed gradients with finite differences. `arrayed` says
  /// which operands differ between copies.
  void check(ArrayRef<bool> arrayed) {
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(GetParam().function, &getContext());
    ASSERT_TRUE(module) << GetParam().function;
    std::unique_ptr<GradientTask> task = GradientTask::compile(
        *module, *module->getOps<func::FuncOp>().begin(), arrayed, kCopies);
    ASSERT_TRUE(task) << GetParam().function;
    fillOperands(*task, GetParam());
    task->measure(GetParam().step, kPerturbed,
                  [](const GradientElement &element) {
                    double measured = element.getMeasured();
                    EXPECT_NEAR(element.computed, measured,
                                1e-8 + 2e-7 * std::fabs(measured))
                        << "operand " << element.operand << ", copy "
                        << element.copy << ", element " << element.index;
                  });
  }
};

TEST_P(GradientTest, AllArrayed) { check({true, true, true}); }
TEST_P(GradientTest, FirstShared) { check({false, true, true}); }
TEST_P(GradientTest, LastShared) { check({true, false, false}); }

std::string printName(const testing::TestParamInfo<OpCase> &info) {
  std::string name;
  for (char letter : info.param.name)
    name += std::isalnum(static_cast<unsigned char>(letter)) ? letter : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Elementwise, GradientTest,
                         testing::ValuesIn(elementwiseCases()), printName);
INSTANTIATE_TEST_SUITE_P(Shape, GradientTest, testing::ValuesIn(shapeCases()),
                         printName);
INSTANTIATE_TEST_SUITE_P(Contraction, GradientTest,
                         testing::ValuesIn(contractionCases()), printName);
INSTANTIATE_TEST_SUITE_P(Pooling, GradientTest,
                         testing::ValuesIn(poolingCases()), printName);
INSTANTIATE_TEST_SUITE_P(Normalization, GradientTest,
                         testing::ValuesIn(normalizationCases()), printName);
INSTANTIATE_TEST_SUITE_P(Sequences, GradientTest,
                         testing::ValuesIn(sequenceCases()), printName);

/// Checks that each op with a derivative occurs in a case above.
TEST(Gradients, EveryDifferentiableOpIsCompared) {
  std::string texts;
  for (const std::vector<OpCase> &cases :
       {elementwiseCases(), shapeCases(), contractionCases(), poolingCases(),
        normalizationCases(), sequenceCases()})
    for (const OpCase &entry : cases)
      texts += entry.function;
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry);
  context.loadDialect<HftaDialect>();
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    // Other tests check hfta.stack and hfta.unstack, by comparing copies with
    // copies that are trained alone.
    bool joinsCopies = name.getStringRef() == StackOp::getOperationName() ||
                       name.getStringRef() == UnstackOp::getOperationName();
    if (name.hasInterface<DifferentiableOpInterface>() && !joinsCopies)
      EXPECT_NE(texts.find(name.getStringRef().str() + " "), std::string::npos)
          << name.getStringRef().str();
  }
}

/// Checks that every op that a kernel may contain states its cost, which
/// planners need. These are the ops whose result types are inferred, but
/// hfta.multiply_pairs, which is lowered from such an op.
TEST(Costs, EveryOpOfAKernelHasThem) {
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry);
  context.loadDialect<HftaDialect>();
  for (RegisteredOperationName name : context.getRegisteredOperations())
    if (name.hasInterface<InferTypeOpInterface>() &&
        isa<HftaDialect>(name.getDialect()) &&
        name.getStringRef() != MultiplyPairsOp::getOperationName())
      EXPECT_TRUE(name.hasInterface<CostOpInterface>())
          << name.getStringRef().str();
}

} // namespace
