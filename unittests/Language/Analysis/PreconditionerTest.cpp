//===- PreconditionerTest.cpp - The clause precondition of train blocks ---===//

#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "TestJobs.h"

#include <gtest/gtest.h>

using namespace mlir::hfta;
using hfta_test::getErrors;
using Values = std::vector<double>;

/// Compiles the small job with a clause `precondition kfac(arguments)` and the
/// given optimizer. Returns its settings.
static Job compileJob(const std::string &arguments,
                      const std::string &optimizer = "sgd") {
  hfta_test::CompiledJob compiled = hfta_test::compile(hfta_test::replaceIn(
      "optimizer sgd(lr = 0.1)",
      "precondition kfac(" + arguments + ")\n  optimizer " + optimizer));
  EXPECT_EQ(compiled.messages, "");
  if (!compiled.module)
    return Job();
  llvm::FailureOr<Job> job = Job::read(*compiled.module);
  EXPECT_TRUE(succeeded(job));
  return succeeded(job) ? *job : Job();
}

static Values getValues(const Job &job, llvm::StringRef name) {
  const HyperParameter *parameter = job.findHyperParameter(name);
  return parameter ? parameter->values : Values();
}

TEST(Preconditioner, Defaults) {
  Job job = compileJob("");
  EXPECT_EQ(job.preconditioner, Job::kKfac);
  EXPECT_EQ(getValues(job, "damping"), Values({3e-3}));
  EXPECT_EQ(getValues(job, "decay"), Values({0.95}));
  EXPECT_EQ(getValues(job, "factor_every"), Values({10}));
  EXPECT_EQ(getValues(job, "inverse_every"), Values({100}));
  EXPECT_EQ(getValues(job, "kl_clip"), Values({1e-2}));
  EXPECT_EQ(job.kfacMethod, "cholesky");
  EXPECT_TRUE(job.kfacPi);
  EXPECT_EQ(job.kfacFisher, "empirical");
  EXPECT_EQ(job.kfacSharing, "expand");
  EXPECT_EQ(job.kfacOthers, "unit");
  EXPECT_EQ(job.kfacEmbedding, "plain");
  EXPECT_EQ(job.kfacBlock, 8192);
  EXPECT_EQ(job.getInversionType(), "f32");
  EXPECT_EQ(job.kfacDampingSchedule.kind, "constant");
  EXPECT_EQ(job.kfacDampingSchedule.warmup, Values({0}));
  EXPECT_TRUE(job.kfacExclude.empty());
  EXPECT_EQ(job.kfacPlacement, "auto");
}

TEST(Preconditioner, None) {
  hfta_test::CompiledJob compiled = hfta_test::compile(hfta_test::kSmallJob);
  llvm::FailureOr<Job> job = Job::read(*compiled.module);
  EXPECT_EQ(job->preconditioner, "");
  EXPECT_EQ(job->findHyperParameter("damping"), nullptr);
  EXPECT_TRUE(job->kfacDampingSchedule.warmup.empty());
}

TEST(Preconditioner, Words) {
  Job job = compileJob(
      "method = eigen, fisher = sampled, sharing = reduce, others = plain, "
      "embedding = factored, block = 64, inversion = f64, exclude = "
      "[\"*.bias\", \"output.b*\"], placement = fraction(1 / 4)");
  EXPECT_EQ(job.kfacMethod, Job::kEigen);
  EXPECT_EQ(job.kfacFisher, "sampled");
  EXPECT_EQ(job.kfacSharing, "reduce");
  EXPECT_EQ(job.kfacOthers, "plain");
  EXPECT_EQ(job.kfacEmbedding, "factored");
  EXPECT_EQ(job.kfacBlock, 64);
  EXPECT_EQ(job.getInversionType(), "f64");
  EXPECT_EQ(job.kfacExclude, std::vector<std::string>({"*.bias", "output.b*"}));
  EXPECT_EQ(job.kfacPlacement, "fraction(0.25)");
}

TEST(Preconditioner, ListsMakeCopies) {
  Job job = compileJob("damping = [1, 2], zip(decay = [0, 0.5], factor_every = "
                       "[3, 4])",
                       "sgd(momentum = [0.5, 0.9])\n  zip(momentum, damping)");
  EXPECT_EQ(job.copies, 4);
  EXPECT_EQ(getValues(job, "damping"), Values({1, 1, 2, 2}));
  EXPECT_EQ(getValues(job, "decay"), Values({0, 0.5, 0, 0.5}));
  EXPECT_EQ(getValues(job, "factor_every"), Values({3, 4, 3, 4}));
}

TEST(Preconditioner, ClipFollowsMomentum) {
  Job job = compileJob("", "sgd(momentum = [0, 0.5, 0.75])");
  EXPECT_EQ(getValues(job, "kl_clip"), Values({1e-2, 0.0025, 0.000625}));
  EXPECT_EQ(
      getValues(compileJob("kl_clip = 0", "sgd(momentum = 0.5)"), "kl_clip"),
      Values({0}));
  EXPECT_EQ(getValues(compileJob("", "rmsprop(momentum = 0.5)"), "kl_clip"),
            Values({1e-2}));
}

TEST(Preconditioner, DampingHasItsOwnSchedule) {
  Job job = compileJob("damping_schedule = step(step_size = [5, 7])",
                       "sgd\n  schedule step(step_size = [1, 2])\n  "
                       "zip(step_size, damping_step_size)");
  EXPECT_EQ(job.schedule.stepSize, Values({1, 2}));
  EXPECT_EQ(job.kfacDampingSchedule.kind, "step");
  EXPECT_EQ(job.kfacDampingSchedule.stepSize, Values({5, 7}));
  EXPECT_EQ(job.kfacDampingSchedule.gamma, Values({0.1, 0.1}));
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// Returns the messages of compiling the small job with a clause `precondition
/// kfac(arguments)`.
static std::string getErrorsOf(const std::string &arguments) {
  return getErrors("batch = 8",
                   "batch = 8\n  precondition kfac(" + arguments + ")");
}

TEST(JobErrors, UnknownPreconditioner) {
  EXPECT_EQ(getErrors("batch = 8", "batch = 8\n  precondition kfca"),
            R"(job.hfta:11:16: error: unknown preconditioner 'kfca'
  precondition kfca
               ^~~~
hint: did you mean 'kfac'?
)");
}

TEST(JobErrors, PreconditionerArgument) {
  EXPECT_EQ(getErrorsOf("dampening = 0.1"),
            R"(job.hfta:11:21: error: 'kfac' has no argument 'dampening'
  precondition kfac(dampening = 0.1)
                    ^~~~~~~~~
hint: did you mean 'damping'?
)");
}

TEST(JobErrors, DampingZero) {
  EXPECT_EQ(getErrorsOf("damping = [1e-3, 0]"),
            R"(job.hfta:11:38: error: 'damping' is out of range, got 0
  precondition kfac(damping = [1e-3, 0])
                                     ^
hint: it is a number above 0
)");
}

TEST(JobErrors, DecayOne) {
  EXPECT_EQ(getErrorsOf("decay = 1"),
            R"(job.hfta:11:29: error: 'decay' is out of range, got 1
  precondition kfac(decay = 1)
                            ^
hint: it is a number of at least 0 and below 1
)");
}

TEST(JobErrors, PeriodZero) {
  EXPECT_EQ(getErrorsOf("factor_every = 0"),
            R"(job.hfta:11:36: error: 'factor_every' is out of range, got 0
  precondition kfac(factor_every = 0)
                                   ^
hint: it is a whole number of at least 1 and at most 2147483647
)");
}

TEST(JobErrors, InversionsTooOften) {
  EXPECT_EQ(
      getErrorsOf("factor_every = [1, 10], inverse_every = 5"),
      R"(job.hfta:11:61: error: factors are inverted every 5 steps, but measured every 10 in copy 1
  precondition kfac(factor_every = [1, 10], inverse_every = 5)
                                                            ^
hint: 'inverse_every' is at least 'factor_every'
)");
  EXPECT_EQ(
      getErrorsOf("factor_every = 200"),
      R"(job.hfta:11:36: error: factors are inverted every 100 steps, but measured every 200 in copy 0
  precondition kfac(factor_every = 200)
                                   ^~~
hint: 'inverse_every' is at least 'factor_every'
)");
}

TEST(JobErrors, PreconditionerWord) {
  EXPECT_EQ(getErrorsOf("method = eigne"),
            R"(job.hfta:11:30: error: unknown method 'eigne'
  precondition kfac(method = eigne)
                             ^~~~~
hint: did you mean 'eigen'?
)");
}

TEST(JobErrors, PreconditionerWords) {
  EXPECT_EQ(getErrorsOf("method = [cholesky, eigen]"),
            R"(job.hfta:11:30: error: 'method' is the same for all copies
  precondition kfac(method = [cholesky, eigen])
                             ^~~~~~~~~~~~~~~~~
hint: give one word
)");
  EXPECT_EQ(getErrorsOf("pi = [true, false]"),
            R"(job.hfta:11:26: error: 'pi' is the same for all copies
  precondition kfac(pi = [true, false])
                         ^~~~~~~~~~~~~
hint: give true or false
)");
}

TEST(JobErrors, PiWithEigen) {
  EXPECT_EQ(
      getErrorsOf("pi = false, method = eigen"),
      R"(job.hfta:11:26: error: 'pi' and the method 'eigen' exclude each other
  precondition kfac(pi = false, method = eigen)
                         ^~~~~
hint: 'eigen' damps the product of the factors as a whole
)");
}

TEST(JobErrors, ExcludedUnknown) {
  EXPECT_EQ(
      getErrorsOf("exclude = [\"*.bias\", \"output.wait\"]"),
      R"(job.hfta:11:42: error: exclude pattern 'output.wait' matches no trained parameter of the model
  precondition kfac(exclude = ["*.bias", "output.wait"])
                                         ^~~~~~~~~~~~~
hint: did you mean 'output.weight'?
)");
}

TEST(JobErrors, ExcludedAll) {
  EXPECT_EQ(
      getErrorsOf("exclude = [\"*.bias\", \"*.weight\"]"),
      R"(job.hfta:11:32: error: nothing is left to precondition: 'exclude' matches all trained parameters
  precondition kfac(exclude = ["*.bias", "*.weight"])
                               ^~~~~~~~~~~~~~~~~~~~
hint: leave 'precondition' out, or exclude less
)");
}

TEST(JobErrors, ExcludedNumber) {
  EXPECT_EQ(getErrorsOf("exclude = [1]"),
            R"(job.hfta:11:32: error: 'exclude' is a string
  precondition kfac(exclude = [1])
                               ^
hint: strings stand in double quotes
)");
}

TEST(JobErrors, PlacementFraction) {
  EXPECT_EQ(getErrorsOf("placement = fraction(2)"),
            R"(job.hfta:11:42: error: 'placement' is out of range, got 2
  precondition kfac(placement = fraction(2))
                                         ^
hint: it is a number above 0 and at most 1
)");
}

TEST(JobErrors, PlacementWord) {
  EXPECT_EQ(getErrorsOf("placement = fraction"),
            R"(job.hfta:11:33: error: unknown placement 'fraction'
  precondition kfac(placement = fraction)
                                ^~~~~~~~
hint: words are: 'auto', 'balanced', 'fraction(F)', 'local'
)");
}

TEST(JobErrors, DampingSchedule) {
  EXPECT_EQ(getErrorsOf("damping_schedule = step"),
            R"(job.hfta:11:40: error: 'step' needs 'step_size'
  precondition kfac(damping_schedule = step)
                                       ^~~~
hint: it is step(step_size, gamma = ..., warmup = ...)
)");
}

TEST(JobErrors, SecondPreconditioner) {
  EXPECT_EQ(getErrors("batch = 8",
                      "batch = 8\n  precondition kfac\n  precondition kfac"),
            R"(job.hfta:12:3: error: second clause 'precondition'
  precondition kfac
  ^~~~~~~~~~~~
hint: a list of values, such as [1, 2], makes copies
job.hfta:11:3: note: the first one is here
  precondition kfac
  ^~~~~~~~~~~~
)");
}

TEST(JobErrors, ModelSettingOfPreconditioner) {
  std::string text = hfta_test::replaceIn("net(x: f32[batch, 4])",
                                          "net(x: f32[batch, 4], damping = 1)");
  EXPECT_EQ(hfta_test::compile(text).messages, "");
  size_t place = text.find("batch = 8");
  text.replace(place, 9, "batch = 8\n  precondition kfac");
  EXPECT_EQ(
      hfta_test::compile(text).messages,
      R"(job.hfta:1:29: error: a model's hyper-parameter can't be called 'damping'
model net(x: f32[batch, 4], damping = 1) {
                            ^~~~~~~
hint: the job has a setting of this name
)");
}
