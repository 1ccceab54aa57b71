//===- SweepTest.cpp - Lists of values and the copies they make -----------===//

#include "Hfta/Language/Sweep.h"
#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "TestJobs.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace mlir::hfta;
using Values = std::vector<double>;

static std::vector<Number> numbers(const Values &values) {
  std::vector<Number> result;
  for (double value : values)
    result.push_back(Number::of(value));
  return result;
}

namespace {
class SweepTest : public testing::Test {
protected:
  /// Adds a list at the position `clause` of the train block. Lists of the same
  /// `group` are paired, as by zip.
  void add(llvm::StringRef name, const Values &values, unsigned clause,
           const void *group = nullptr) {
    sweep.addList(name, numbers(values), {}, {clause, nullptr}, group);
  }

  llvm::SourceMgr sources;
  JobDiagnostics diagnostics{sources, llvm::nulls()};
  Sweep sweep;
};
} // namespace

TEST_F(SweepTest, NoLists) {
  sweep.addValue("lr", Number::of(0.5));
  EXPECT_TRUE(sweep.cross(diagnostics));
  EXPECT_EQ(sweep.getCopies(), 1);
  EXPECT_EQ(sweep.getValues("lr"), Values({0.5}));
  EXPECT_EQ(sweep.getValues("seed"), Values());
}

TEST_F(SweepTest, LastListVariesFastest) {
  // Lists are ordered by their positions in the file, not by the calls.
  add("b", {10, 20}, 2);
  add("a", {1, 2, 3}, 1);
  sweep.addValue("c", Number::of(7.0));
  EXPECT_TRUE(sweep.cross(diagnostics));
  EXPECT_EQ(sweep.getCopies(), 6);
  EXPECT_EQ(sweep.getValues("a"), Values({1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(sweep.getValues("b"), Values({10, 20, 10, 20, 10, 20}));
  EXPECT_EQ(sweep.getValues("c"), Values({7, 7, 7, 7, 7, 7}));
}

TEST_F(SweepTest, PairedListsShareAnAxis) {
  int group = 0;
  add("a", {1, 2}, 1, &group);
  add("b", {5, 6}, 2);
  add("c", {3, 4}, 3, &group);
  EXPECT_TRUE(sweep.cross(diagnostics));
  EXPECT_EQ(sweep.getCopies(), 4);
  EXPECT_EQ(sweep.getValues("a"), Values({1, 1, 2, 2}));
  EXPECT_EQ(sweep.getValues("b"), Values({5, 6, 5, 6}));
  EXPECT_EQ(sweep.getValues("c"), Values({3, 3, 4, 4}));
}

TEST_F(SweepTest, PairingJoinsGroups) {
  int group = 0;
  add("a", {1, 2}, 1, &group);
  add("b", {3, 4}, 2, &group);
  add("c", {5, 6}, 3);
  const char *text = "x";
  llvm::SMRange range(llvm::SMLoc::getFromPointer(text),
                      llvm::SMLoc::getFromPointer(text + 1));
  EXPECT_TRUE(sweep.pair({{"b", range}, {"c", range}}, diagnostics));
  EXPECT_TRUE(sweep.cross(diagnostics));
  EXPECT_EQ(sweep.getCopies(), 2);
  EXPECT_EQ(sweep.getValues("c"), Values({5, 6}));
}

TEST_F(SweepTest, TooManyCopies) {
  add("a", Values(300, 1), 1);
  add("b", Values(300, 1), 2);
  EXPECT_FALSE(sweep.cross(diagnostics));
  EXPECT_TRUE(diagnostics.hasErrors());
}

//===----------------------------------------------------------------------===//
// Copies of whole jobs
//===----------------------------------------------------------------------===//

/// Compiles the small job with `clauses` in place of its optimizer. Returns its
/// settings.
static Job compileJob(llvm::StringRef clauses) {
  hfta_test::CompiledJob compiled = hfta_test::compile(
      hfta_test::replaceIn("optimizer sgd(lr = 0.1)", clauses));
  EXPECT_EQ(compiled.messages, "");
  if (!compiled.module)
    return Job();
  llvm::FailureOr<Job> job = Job::read(*compiled.module);
  EXPECT_TRUE(succeeded(job));
  return *job;
}

static Values getValues(const Job &job, llvm::StringRef name) {
  const HyperParameter *parameter = job.findHyperParameter(name);
  return parameter ? parameter->values : Values();
}

TEST(Copies, Defaults) {
  Job job = compileJob("optimizer adam");
  EXPECT_EQ(job.copies, 1);
  EXPECT_EQ(getValues(job, "lr"), Values({1e-3}));
  EXPECT_EQ(getValues(job, "beta1"), Values({0.9}));
  EXPECT_EQ(getValues(job, "beta2"), Values({0.999}));
  EXPECT_EQ(getValues(job, "eps"), Values({1e-8}));
  EXPECT_EQ(getValues(job, "weight_decay"), Values({0}));
  EXPECT_EQ(job.seeds, std::vector<int64_t>({0}));
  EXPECT_EQ(job.schedule.kind, "constant");
  EXPECT_EQ(job.schedule.warmup, Values({0}));
  EXPECT_TRUE(job.clipNorm.empty());
  EXPECT_TRUE(job.shuffle);
  EXPECT_EQ(job.microBatches, 1);
  EXPECT_EQ(getValues(compileJob("optimizer adamw"), "weight_decay"),
            Values({1e-2}));
}

TEST(Copies, CrossInOrderOfAppearance) {
  Job job = compileJob("seed [5, 6]\n  optimizer sgd(momentum = [0.8, 0.9], "
                       "lr = [1, 2])\n  clip_norm [3, 4]");
  EXPECT_EQ(job.copies, 16);
  EXPECT_EQ(job.seeds[7], 5);
  EXPECT_EQ(job.seeds[8], 6);
  EXPECT_EQ(getValues(job, "momentum")[3], 0.8);
  EXPECT_EQ(getValues(job, "momentum")[4], 0.9);
  EXPECT_EQ(getValues(job, "lr")[2], 2);
  EXPECT_EQ(job.clipNorm[1], 4);
}

TEST(Copies, Zip) {
  Job job = compileJob("optimizer adam(zip(lr = [1, 2], eps = [3, 4]), "
                       "betas = [[0.1, 0.2], [0.3, 0.4]])\n"
                       "  seed [7, 8]\n  zip(seed, beta1)");
  EXPECT_EQ(job.copies, 4);
  EXPECT_EQ(getValues(job, "lr"), Values({1, 1, 2, 2}));
  EXPECT_EQ(getValues(job, "eps"), Values({3, 3, 4, 4}));
  EXPECT_EQ(getValues(job, "beta2"), Values({0.2, 0.4, 0.2, 0.4}));
  EXPECT_EQ(job.seeds, std::vector<int64_t>({7, 8, 7, 8}));
}

TEST(Copies, AlikeCopies) {
  Job job = compileJob("optimizer sgd(lr = 1)\n  copies 3\n  "
                       "seed 9223372036854775807");
  EXPECT_EQ(job.copies, 3);
  EXPECT_EQ(getValues(job, "lr"), Values({1, 1, 1}));
  EXPECT_EQ(job.seeds[2], INT64_MAX);
}

TEST(Copies, ModelsAndLossesHaveLists) {
  std::string text = hfta_test::replaceIn(
      "return linear(x, 3)",
      "h = dropout(dropout(x, [0.1, 0.2]), rate)\n  return linear(h, 3)");
  auto replace = [&](llvm::StringRef part, llvm::StringRef by) {
    text.replace(text.find(part.str()), part.size(), by.str());
  };
  replace("batch, 4])", "batch, 4], rate = 0.5)");
  replace("model net(x)\n", "model net(x, rate = [0.3, 0.4])\n");
  replace("(net, label)", "(net, label, label_smoothing = [0, 0.1])");
  hfta_test::CompiledJob compiled = hfta_test::compile(text);
  ASSERT_TRUE(compiled.module) << compiled.messages;
  Job job = *Job::read(*compiled.module);
  EXPECT_EQ(job.copies, 8);
  EXPECT_EQ(getValues(job, "dropout_rate"),
            Values({0.1, 0.1, 0.1, 0.1, 0.2, 0.2, 0.2, 0.2}));
  EXPECT_EQ(getValues(job, "rate"),
            Values({0.3, 0.3, 0.4, 0.4, 0.3, 0.3, 0.4, 0.4}));
  EXPECT_EQ(getValues(job, "label_smoothing"),
            Values({0, 0.1, 0, 0.1, 0, 0.1, 0, 0.1}));
}

TEST(Copies, JobSettings) {
  Job job = compileJob("optimizer sgd(momentum = 0.9, nesterov = true)\n"
                       "  schedule step(10, warmup = 5)\n  steps 100\n"
                       "  micro_batches 2, all_forwards_first = true\n"
                       "  metric accuracy(net, label)\n"
                       "  precision f64, compute = f32");
  ASSERT_EQ(job.optimizers.size(), 1u);
  EXPECT_EQ(job.optimizers[0].options, std::vector<std::string>{"nesterov"});
  EXPECT_EQ(job.schedule.stepSize, Values({10}));
  EXPECT_EQ(job.schedule.gamma, Values({0.1}));
  EXPECT_EQ(job.steps, 100);
  EXPECT_EQ(job.getMicroBatch(), 4);
  EXPECT_TRUE(job.allForwardsFirst);
  EXPECT_EQ(job.metrics.at(0).name, "accuracy");
  EXPECT_EQ(job.precision.parameters, "f64");
  EXPECT_EQ(job.precision.compute, "f32");
  ASSERT_EQ(job.data.size(), 2u);
  EXPECT_EQ(job.data[0].train.path, "x.npy");
  EXPECT_EQ(job.data[0].test.format, "");
}
