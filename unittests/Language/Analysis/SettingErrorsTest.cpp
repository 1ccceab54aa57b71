//===- SettingErrorsTest.cpp - Errors in settings of train blocks ---------===//

#include "TestJobs.h"

#include <gtest/gtest.h>

using hfta_test::compile;
using hfta_test::getErrors;
using hfta_test::replaceIn;

static const char *const kTrainBlock = R"(train job {
  model net(x)
  data d, batch = 8
  loss cross_entropy(net, label)
  optimizer sgd(lr = 0.1)
}
)";

TEST(JobErrors, ZipClauseName) {
  EXPECT_EQ(getErrors("lr = 0.1)",
                      R"(lr = [0.1, 0.2])
  zip(lr, sed))"),
            R"(job.hfta:13:11: error: no list called 'sed' to pair
  zip(lr, sed)
          ^~~
hint: lists are: 'lr'
)");
}

TEST(JobErrors, TooManyCopies) {
  EXPECT_EQ(getErrors("batch = 8",
                      R"(batch = 8
  copies 3
  seed [1, 2])"),
            R"(job.hfta:11:3: error: 3 copies wanted, but lists and files make 2
  copies 3
  ^~~~~~~~
hint: leave 'copies' out
)");
}

TEST(JobErrors, UnknownSchedule) {
  EXPECT_EQ(getErrors("batch = 8",
                      R"(batch = 8
  schedule cosin)"),
            R"(job.hfta:11:12: error: unknown schedule 'cosin'
  schedule cosin
           ^~~~~
hint: did you mean 'cosine'?
)");
}

TEST(JobErrors, StepSizeMissing) {
  EXPECT_EQ(getErrors("batch = 8",
                      R"(batch = 8
  schedule step(gamma = 0.5))"),
            R"(job.hfta:11:12: error: 'step' needs 'step_size'
  schedule step(gamma = 0.5)
           ^~~~~~~~~~~~~~~~~
hint: it is step(step_size, gamma = ..., warmup = ...)
)");
}

TEST(JobErrors, WarmupReal) {
  EXPECT_EQ(getErrors("batch = 8",
                      R"(batch = 8
  schedule cosine(warmup = 0.5))"),
            R"(job.hfta:11:28: error: 'warmup' is out of range, got 0.5
  schedule cosine(warmup = 0.5)
                           ^~~
hint: it is a whole number of at least 0
)");
}

TEST(JobErrors, MilestonesDescend) {
  EXPECT_EQ(getErrors("batch = 8",
                      R"(batch = 8
  schedule multi_step(milestones = [9, 4]))"),
            R"(job.hfta:11:40: error: 'milestones' must ascend, but 4 follows 9
  schedule multi_step(milestones = [9, 4])
                                       ^
hint: for example milestones = [1000, 2000]
)");
}

TEST(JobErrors, OneMilestone) {
  EXPECT_EQ(getErrors("batch = 8",
                      R"(batch = 8
  schedule multi_step(milestones = 9))"),
            R"(job.hfta:11:36: error: 'milestones' is a list of steps
  schedule multi_step(milestones = 9)
                                   ^
hint: for example milestones = [1000, 2000]
)");
}

TEST(JobErrors, SequenceWithoutMilestone) {
  EXPECT_EQ(
      getErrors("batch = 8",
                R"(batch = 8
  schedule sequence([linear, constant, cosine], milestones = [4]))"),
      R"(job.hfta:11:62: error: a sequence of 3 schedules needs 2 milestones, got 1
  schedule sequence([linear, constant, cosine], milestones = [4])
                                                             ^~~
hint: each schedule but the first one begins at a milestone
)");
}

TEST(JobErrors, SequenceOfOneSchedule) {
  EXPECT_EQ(
      getErrors("batch = 8",
                R"(batch = 8
  schedule sequence(cosine, milestones = [4]))"),
      R"(job.hfta:11:21: error: a sequence is a list of two or more schedules
  schedule sequence(cosine, milestones = [4])
                    ^~~~~~
hint: for example sequence([linear(0, 1), cosine], milestones = [1000]) or product([constant(warmup = 100), exponential(0.99)])
)");
}

TEST(JobErrors, UnknownPartOfASequence) {
  EXPECT_EQ(getErrors("batch = 8",
                      R"(batch = 8
  schedule sequence([linear, cosin], milestones = [4]))"),
            R"(job.hfta:11:30: error: unknown schedule 'cosin'
  schedule sequence([linear, cosin], milestones = [4])
                             ^~~~~
hint: did you mean 'cosine'?
)");
}

TEST(JobErrors, ShapeOfAnotherSchedule) {
  EXPECT_EQ(getErrors("batch = 8",
                      R"(batch = 8
  schedule one_cycle(shape = root))"),
            R"(job.hfta:11:30: error: unknown shape 'root'
  schedule one_cycle(shape = root)
                             ^~~~
hint: words are: 'cosine', 'linear'
)");
}

TEST(JobErrors, PlateauWithoutValidation) {
  EXPECT_EQ(
      getErrors("batch = 8",
                R"(batch = 8
  schedule plateau)"),
      R"(job.hfta:11:3: error: 'plateau' needs validation data, which the job doesn't have
  schedule plateau
  ^~~~~~~~~~~~~~~~
hint: add 'validation 0.1', or a part 'validation' to the data block
)");
}

TEST(JobErrors, ScheduleOfAnUnknownNumber) {
  EXPECT_EQ(
      getErrors("batch = 8",
                R"(batch = 8
  schedule_of momntum = cosine)"),
      R"(job.hfta:11:15: error: no number called 'momntum' can have a schedule
  schedule_of momntum = cosine
              ^~~~~~~
hint: did you mean 'momentum'?
)");
}

TEST(JobErrors, ScheduleOfTheRate) {
  EXPECT_EQ(
      getErrors("batch = 8",
                R"(batch = 8
  schedule_of lr = cosine)"),
      R"(job.hfta:11:15: error: the schedule of 'lr' is the clause 'schedule'
  schedule_of lr = cosine
              ^~
hint: for example: schedule cosine
)");
}

TEST(JobErrors, ScheduleOfNothing) {
  EXPECT_EQ(getErrors("batch = 8",
                      R"(batch = 8
  schedule_of cosine)"),
            R"(job.hfta:11:15: error: 'schedule_of' takes 'number = schedule'
  schedule_of cosine
              ^~~~~~
hint: for example: schedule_of weight_decay = cosine
)");
}

TEST(JobErrors, TwoSchedulesOfANumber) {
  EXPECT_EQ(getErrors("batch = 8",
                      R"(batch = 8
  schedule_of momentum = linear, momentum = cosine)"),
            R"(job.hfta:11:34: error: 'momentum' has two schedules
  schedule_of momentum = linear, momentum = cosine
                                 ^~~~~~~~
hint: leave one out
)");
}

TEST(JobErrors, ScheduleLeavesTheRange) {
  EXPECT_EQ(
      getErrors("sgd(lr = 0.1)",
                R"(adam(beta1 = [0.25, 0.75])
  schedule_of beta1 = linear(start = 1, end = 2))"),
      R"(job.hfta:13:15: error: 'beta1' becomes 1.5 in copy 1, by its schedule
  schedule_of beta1 = linear(start = 1, end = 2)
              ^~~~~
hint: it is a number of at least 0 and below 1
)");
}

TEST(JobErrors, UnknownPrecision) {
  EXPECT_EQ(getErrors("batch = 8",
                      R"(batch = 8
  precision f23)"),
            R"(job.hfta:11:13: error: unknown precision 'f23'
  precision f23
            ^~~
hint: did you mean 'f32'?
)");
}

TEST(JobErrors, UnknownLoss) {
  EXPECT_EQ(getErrors("cross_entropy(net", "cross_entrop(net"),
            R"(job.hfta:11:8: error: unknown loss 'cross_entrop'
  loss cross_entrop(net, label)
       ^~~~~~~~~~~~
hint: did you mean 'cross_entropy'?
)");
}

TEST(JobErrors, LossOtherModel) {
  EXPECT_EQ(getErrors("cross_entropy(net", "cross_entropy(ned"),
            R"(job.hfta:11:22: error: 'ned' is not the model that is trained
  loss cross_entropy(ned, label)
                     ^~~
hint: did you mean 'net'?
)");
}

TEST(JobErrors, LossOutput) {
  EXPECT_EQ(getErrors("cross_entropy(net", "cross_entropy(net.logit"),
            R"(job.hfta:11:22: error: model 'net' has no output 'logit'
  loss cross_entropy(net.logit, label)
                     ^~~~~~~~~
hint: outputs are: 'output'
)");
}

TEST(JobErrors, LossLabel) {
  EXPECT_EQ(getErrors("(net, label)", "(net, labels)"),
            R"(job.hfta:11:27: error: the data block has no field 'labels'
  loss cross_entropy(net, labels)
                          ^~~~~~
hint: did you mean 'label'?
)");
}

TEST(JobErrors, LossLabelNumber) {
  EXPECT_EQ(getErrors("(net, label)", "(net, 3)"),
            R"(job.hfta:11:27: error: expected a field of the data block
  loss cross_entropy(net, 3)
                          ^
hint: for example cross_entropy(net, label)
)");
}

TEST(JobErrors, LossArgument) {
  EXPECT_EQ(
      getErrors("(net, label)", "(net, label, smoothing = 0.1)"),
      R"(job.hfta:11:34: error: 'cross_entropy' has no argument 'smoothing'
  loss cross_entropy(net, label, smoothing = 0.1)
                                 ^~~~~~~~~
hint: arguments are: 'output', 'label', 'axis', 'ignore_index', 'label_smoothing', 'class_weights', 'weights'
)");
}

TEST(JobErrors, SmoothingRange) {
  EXPECT_EQ(getErrors("(net, label)", "(net, label, label_smoothing = 1.5)"),
            R"(job.hfta:11:52: error: 'label_smoothing' is out of range, got 1.5
  loss cross_entropy(net, label, label_smoothing = 1.5)
                                                   ^~~
hint: it is a number of at least 0 and at most 1
)");
}

TEST(JobErrors, ClassWeights) {
  EXPECT_EQ(getErrors("(net, label)", "(net, label, class_weights = [1, -2])"),
            R"(job.hfta:11:54: error: 'class_weights' is out of range, got -2
  loss cross_entropy(net, label, class_weights = [1, -2])
                                                     ^~
hint: each is a number of at least 0 and at most 3.4028234663852886e+38
)");
}

TEST(JobErrors, TooManyArguments) {
  EXPECT_EQ(getErrors("(net, label)", "(net, label, 1, 2, 0.3, 4, x, 5)"),
            R"(job.hfta:11:51: error: too many arguments for 'cross_entropy'
  loss cross_entropy(net, label, 1, 2, 0.3, 4, x, 5)
                                                  ^
hint: it is cross_entropy(output, label, axis = ..., ignore_index = ..., label_smoothing = ..., class_weights = ..., weights = ...)
)");
}

TEST(JobErrors, WeightsOfElements) {
  EXPECT_EQ(
      getErrors("(net, label)", "(net, label, weights = 3)"),
      R"(job.hfta:11:44: error: 'weights' is a field of the data block, or bootstrap()
  loss cross_entropy(net, label, weights = 3)
                                           ^
hint: its numbers are weights of the loss' elements, 0 where an element doesn't count
)");
  EXPECT_EQ(
      getErrors("(net, label)", "(net, label, weights = x)"),
      R"(job.hfta:11:44: error: the loss has elements of shape [8], but 'weights' has the shape [8, 4]
  loss cross_entropy(net, label, weights = x)
                                           ^
hint: it has the elements' shape, or that of their first axes
)");
}

TEST(JobErrors, TensorsOfLosses) {
  EXPECT_EQ(getErrors("cross_entropy(net, label)", "gaussian(net, 0)"),
            R"(job.hfta:11:8: error: 'gaussian' needs 'variance'
  loss gaussian(net, 0)
       ^~~~~~~~~~~~~~~~
hint: it is gaussian(output, label, variance, eps = ..., weights = ...)
)");
  EXPECT_EQ(
      getErrors("cross_entropy(net, label)", "gaussian(net, 0, [1])"),
      R"(job.hfta:11:25: error: 'variance' is an output, a field or a number
  loss gaussian(net, 0, [1])
                        ^~~
hint: for example net.output
)");
  EXPECT_EQ(
      getErrors("cross_entropy(net, label)", "triplet(net, 0, label)"),
      R"(job.hfta:11:8: error: 'negative' must have the shape [8, 3], but it has [8]
  loss triplet(net, 0, label)
       ^~~~~~~~~~~~~~~~~~~~~~
hint: triplet takes vectors in the output's shape
)");
  EXPECT_EQ(getErrors("cross_entropy(net, label)", "mse(net, net.logit)"),
            R"(job.hfta:11:17: error: model 'net' has no output 'logit'
  loss mse(net, net.logit)
                ^~~~~~~~~
hint: outputs are: 'output'
)");
}

TEST(JobErrors, TermsOfLosses) {
  EXPECT_EQ(
      getErrors("cross_entropy(net, label)", "mse(net, 0) - l1(net, 0)"),
      R"(job.hfta:11:20: error: a loss is a sum of losses, each of which may have a weight as a factor
  loss mse(net, 0) - l1(net, 0)
                   ^
hint: for example mse(net, y) + 0.1 * l1(net, 0); a weight may be negative
)");
  EXPECT_EQ(
      getErrors("cross_entropy(net, label)", "0.1 * 2"),
      R"(job.hfta:11:12: error: a loss is a sum of losses, each of which may have a weight as a factor
  loss 0.1 * 2
           ^
hint: for example mse(net, y) + 0.1 * l1(net, 0); a weight may be negative
)");
  EXPECT_EQ(
      getErrors("cross_entropy(net, label)", "mse(net, 0) + true * l1(net, 0)"),
      R"(job.hfta:11:27: error: a loss is a sum of losses, each of which may have a weight as a factor
  loss mse(net, 0) + true * l1(net, 0)
                          ^
hint: for example mse(net, y) + 0.1 * l1(net, 0); a weight may be negative
)");
  EXPECT_EQ(
      getErrors("cross_entropy(net, label)",
                R"(mse(net, 0) + l1(net, 0)
  precondition kfac)"),
      R"(job.hfta:12:3: error: 'precondition' needs a loss of one term, without a weight
  precondition kfac
  ^~~~~~~~~~~~~~~~~
hint: kfac's factors are second moments of the gradients of one loss
)");
}

TEST(JobErrors, UnknownMetric) {
  EXPECT_EQ(getErrors("batch = 8",
                      R"(batch = 8
  metric acuracy(net, label))"),
            R"(job.hfta:11:10: error: unknown metric 'acuracy'
  metric acuracy(net, label)
         ^~~~~~~
hint: did you mean 'accuracy'?
)");
}

TEST(JobErrors, Dim) {
  EXPECT_EQ(getErrors("batch = 8",
                      R"(batch = 8
  dim tokens = 12)"),
            R"(job.hfta:11:7: error: no input has an open axis called 'tokens'
  dim tokens = 12
      ^~~~~~~~~~~
hint: axes are open where an input's type names them
)");
}

TEST(JobErrors, DimOfTheBatch) {
  EXPECT_EQ(getErrors("batch = 8", R"(batch = 8
  dim batch = 8)"),
            "");
  EXPECT_EQ(
      getErrors("batch = 8", R"(batch = 8
  dim batch = 4)"),
      R"(job.hfta:11:7: error: axis 'batch' counts the samples of a batch, which are 8, not 4
  dim batch = 4
      ^~~~~~~~~
hint: 'batch' in the data clause sets their number
)");
  // The axis `batch` counts the samples of a whole step, even if the step is
  // divided into micro-batches.
  EXPECT_EQ(getErrors("batch = 8", R"(batch = 8
  micro_batches 2
  dim batch = 8)"),
            "");
}

TEST(JobErrors, DimTwice) {
  EXPECT_EQ(getErrors("batch = 8",
                      R"(batch = 8
  dim a = 12, a = 13)"),
            R"(job.hfta:11:15: error: the size of axis 'a' is given twice
  dim a = 12, a = 13
              ^~~~~~
hint: leave one out
job.hfta:11:7: note: the first one is here
  dim a = 12, a = 13
      ^~~~~~
)");
}

TEST(JobErrors, Freeze) {
  EXPECT_EQ(
      getErrors("batch = 8",
                R"(batch = 8
  freeze "conv*")"),
      R"(job.hfta:11:10: error: freeze pattern 'conv*' matches no parameter of the model
  freeze "conv*"
         ^~~~~~~
hint: parameters are: 'output.weight', 'output.bias'
)");
}

TEST(JobErrors, Trainable) {
  EXPECT_EQ(
      getErrors("batch = 8",
                R"(batch = 8
  freeze "*", "output.w*"
  trainable "output.weight", "conv*")"),
      R"(job.hfta:11:15: error: freeze pattern 'output.w*' freezes nothing: 'trainable' matches all that it does
  freeze "*", "output.w*"
              ^~~~~~~~~~~
hint: parameters are: 'output.weight', 'output.bias'
job.hfta:12:30: error: trainable pattern 'conv*' matches no parameter of the model
  trainable "output.weight", "conv*"
                             ^~~~~~~
hint: parameters are: 'output.weight', 'output.bias'
)");
}

TEST(JobErrors, TrainableName) {
  EXPECT_EQ(getErrors("batch = 8",
                      R"(batch = 8
  trainable x = "*")"),
            R"(job.hfta:11:13: error: 'trainable' takes only patterns
  trainable x = "*"
            ^~~~~~~
hint: for example: trainable "conv1.*"
)");
}

TEST(JobErrors, FreezeName) {
  EXPECT_EQ(getErrors("batch = 8",
                      R"(batch = 8
  freeze output)"),
            R"(job.hfta:11:10: error: 'freeze' is a string
  freeze output
         ^~~~~~
hint: strings stand in double quotes
)");
}

TEST(JobErrors, InitWord) {
  EXPECT_EQ(getErrors("batch = 8",
                      R"(batch = 8
  init frehs)"),
            R"(job.hfta:11:8: error: unknown init 'frehs'
  init frehs
       ^~~~~
hint: did you mean 'fresh'?
)");
}

TEST(JobErrors, NoTrainBlock) {
  EXPECT_EQ(getErrors(kTrainBlock, ""),
            R"(job.hfta:8:1: error: no train block

^
hint: add 'train NAME { model ... data ... loss ... }'
)");
}

TEST(JobErrors, SecondTrainBlock) {
  EXPECT_EQ(getErrors("train job {",
                      R"(train job {
  model net(x)
  data d, batch = 8
  loss cross_entropy(net, label)
  optimizer sgd(lr = 0.1)
}
train job {)"),
            R"(job.hfta:14:7: error: second train block called 'job'
train job {
      ^~~
hint: give it another name
job.hfta:8:7: note: the first one is here
train job {
      ^~~
)");
}

/// An error in a data block that two train blocks use is reported once. An
/// error in a train block is reported for that block.
TEST(JobErrors, SeveralTrainBlocks) {
  std::string other = kTrainBlock;
  other.replace(other.find("job"), 3, "other");
  other.replace(other.find("lr ="), 4, "rl =");
  EXPECT_EQ(
      compile(replaceIn(R"(npy("y.npy"))", R"(npi("y.npy"))") + other).messages,
      R"(job.hfta:6:35: error: unknown data function 'npi'
  train x = npy("x.npy"), label = npi("y.npy")
                                  ^~~
hint: did you mean 'npy'?
job.hfta:18:17: error: 'sgd' has no argument 'rl'
  optimizer sgd(rl = 0.1)
                ^~
hint: arguments are: 'lr', 'momentum', 'weight_decay', 'nesterov'
)");
}

TEST(JobErrors, DoubleModelSetting) {
  EXPECT_EQ(getErrors("net(x)", "net(x, rate = 0.1)"),
            R"(job.hfta:9:16: error: model 'net' has no hyper-parameter 'rate'
  model net(x, rate = 0.1)
               ^~~~
hint: declare it: model net(..., rate = 0.5)
)");
}

TEST(JobErrors, LossShape) {
  EXPECT_EQ(
      getErrors("cross_entropy(net, label)", "mse(net, label)"),
      R"(job.hfta:11:8: error: output and label must have one shape, but the output is [8, 3], the label [8]
  loss mse(net, label)
       ^~~~~~~~~~~~~~~
hint: mse takes a label in the output's shape
)");
}

TEST(JobErrors, LargeBatch) {
  EXPECT_EQ(getErrors("batch = 8", "batch = 16777217"),
            R"(job.hfta:10:19: error: 'batch' is out of range, got 16777217
  data d, batch = 16777217
                  ^~~~~~~~
hint: it is from 1 to 16777216
)");
}

TEST(JobErrors, OtherPrecision) {
  EXPECT_EQ(getErrors("batch = 8",
                      R"(batch = 8
  precision f32, compute = f16)"),
            R"(job.hfta:11:28: error: unknown precision 'f16'
  precision f32, compute = f16
                           ^~~
hint: did you mean 'f32'?
)");
}

TEST(JobErrors, OptionString) {
  EXPECT_EQ(getErrors("batch = 8", "batch = \"8\""),
            R"(job.hfta:10:19: error: 'batch' is one number, got a string
  data d, batch = "8"
                  ^~~
hint: numbers look like 1, 0.5 or 1e-3
)");
}

TEST(JobErrors, SizeForNumber) {
  EXPECT_EQ(getErrors("batch = 8", "batch = 8KiB"),
            R"(job.hfta:10:19: error: 'batch' is a number, not a size in bytes
  data d, batch = 8KiB
                  ^~~~
hint: write a number without a unit
)");
}

TEST(JobErrors, SizeInModel) {
  EXPECT_EQ(getErrors("return linear(x, 3)", "return linear(x, 3) * 8KiB"),
            R"(job.hfta:2:25: error: a size isn't a value of a model
  return linear(x, 3) * 8KiB
                        ^~~~
hint: write a number without a unit
)");
}

TEST(JobErrors, SizeOutOfRange) {
  EXPECT_EQ(getErrors("batch = 8", "batch = 4194304TiB"),
            R"(job.hfta:10:19: error: size out of range
  data d, batch = 4194304TiB
                  ^~~~~~~~~~
hint: a size is a whole number of bytes below 4194304TiB
)");
}

TEST(JobErrors, SizeNotWhole) {
  EXPECT_NE(getErrors("batch = 8", "batch = 0.3KiB").find("out of range"),
            std::string::npos);
}
