//===- SequenceLossesTest.cpp - Losses of sequences: errors and limits ----===//

#include "TestJobs.h"

#include "Hfta/Dialect/Hfta/Job/Job.h"

#include <gtest/gtest.h>

using namespace mlir::hfta;
using hfta_test::compile;

/// A job whose output has 5 steps and 4 classes, and whose label has 3
/// elements.
static std::string makeJob(const std::string &loss,
                           const std::string &input = "5, 3",
                           const std::string &label = "u8[3]") {
  return "model net(x: f32[batch, " + input +
         "]) {\n"
         "  return linear(x, 4)\n}\n"
         "data d {\n"
         "  x: f32[" +
         input + "], label: " + label +
         ", steps: u8, part: f32\n"
         "  train x = npy(\"x.npy\"), label = npy(\"y.npy\"), steps = "
         "npy(\"s.npy\"), part = npy(\"p.npy\")\n}\n"
         "train job {\n  model net(x)\n  data d, batch = 8\n"
         "  loss " +
         loss + "\n  optimizer sgd\n}\n";
}

/// Returns the first message, without its place, and the last one, which is the
/// hint.
static std::string findError(const std::string &job) {
  std::string messages = compile(job).messages;
  llvm::StringRef text = messages;
  llvm::StringRef error = text.split("error: ").second.split('\n').first;
  llvm::StringRef hint = text.rsplit("hint: ").second.split('\n').first;
  return (error + "; " + hint).str();
}

TEST(SequenceLosses, Shapes) {
  EXPECT_EQ(findError(makeJob("ctc(net, label)", "3")),
            "the output has the shape [8, 4], which isn't that of sequences; "
            "ctc takes an output of shape [batch, steps, classes]");
  EXPECT_EQ(findError(makeJob("ctc(net, label, axis = 3)")),
            "the output of shape [8, 5, 4] has no axis 3 of classes; ctc takes "
            "a list of class numbers for each sample");
  EXPECT_EQ(findError(makeJob("ctc(net, label)", "5, 3", "u8[3, 1]")),
            "the label must have the shape [batch, elements], but it is "
            "[8, 3, 1]; ctc takes a list of class numbers for each sample");
  EXPECT_EQ(findError(makeJob("ctc(net, label)", "5, 3", "f32[3]")),
            "the label must hold class numbers, but it is a float; ctc takes a "
            "list of class numbers for each sample");
}

TEST(SequenceLosses, Blank) {
  EXPECT_EQ(findError(makeJob("ctc(net, label, blank = 1)")),
            "'blank' is 1, of 4 classes; it is the first class, 0, or the last "
            "one, 3");
  EXPECT_EQ(findError(makeJob("ctc(net, label, blank = -1)")),
            "'blank' is out of range, got -1; it is from 0 to 2147483647");
}

TEST(SequenceLosses, Lengths) {
  EXPECT_EQ(findError(makeJob("ctc(net, label, input_length = label)")),
            "'input_length' must have the shape [8], but it has [8, 3]; ctc "
            "takes a list of class numbers for each sample");
  EXPECT_EQ(findError(makeJob("ctc(net, label, label_length = part)")),
            "'label_length' must hold whole numbers, but it is a float; it is "
            "a field with one number for each sample");
  EXPECT_EQ(findError(makeJob("ctc(net, label, 5)")),
            "'input_length' must hold whole numbers, but it is a float; it is "
            "a field with one number for each sample");
}

/// Lengths have a range, as class numbers do, but samples aren't drawn by them.
TEST(SequenceLosses, DrawnByClasses) {
  std::string job = makeJob("ctc(net, label, steps)");
  std::string clause = "batch = 8";
  job.insert(job.find(clause) + clause.size(), ", draw = balanced");
  EXPECT_EQ(findError(job),
            "no field has a class number for each sample; the label of the "
            "loss is one, if it has one number a sample and no arithmetic but "
            "adding whole numbers");
}

/// Returns the limits of a field: how many numbers, the first one, and the one
/// that is ignored.
static std::vector<int64_t> findLimits(const std::string &loss, size_t field) {
  hfta_test::CompiledJob compiled = compile(makeJob(loss));
  EXPECT_TRUE(compiled.module) << compiled.messages;
  if (!compiled.module)
    return {};
  mlir::FailureOr<Job> job = Job::read(*compiled.module);
  EXPECT_TRUE(succeeded(job));
  return job->data[field].classes;
}

TEST(SequenceLosses, Limits) {
  using Limits = std::vector<int64_t>;
  EXPECT_EQ(findLimits("ctc(net, label)", 1), (Limits{3, 1, -100}));
  EXPECT_EQ(findLimits("ctc(net, label, blank = 3, ignore_index = 3)", 1),
            (Limits{3, 0, 3}));
  EXPECT_EQ(findLimits("ctc(net, label, steps)", 2), (Limits{5, 1, 1}));
  EXPECT_EQ(findLimits("ctc(net, label, label_length = steps)", 2),
            (Limits{4, 0, 0}));
  // Both limits hold for a field that is both.
  EXPECT_EQ(findLimits("ctc(net, label, steps, steps)", 2).at(0), 3);
  EXPECT_TRUE(findLimits("ctc(net, label)", 2).empty());
}
