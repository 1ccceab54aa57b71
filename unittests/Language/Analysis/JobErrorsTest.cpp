//===- JobErrorsTest.cpp - Errors in train blocks -------------------------===//

#include "TestJobs.h"

#include <gtest/gtest.h>

using hfta_test::getErrors;

TEST(JobErrors, NoModel) {
  EXPECT_EQ(getErrors("model net(x)", "model nte(x)"),
            R"(job.hfta:9:9: error: no model 'nte'
  model nte(x)
        ^~~
hint: did you mean 'net'?
)");
}

TEST(JobErrors, SecondModel) {
  EXPECT_EQ(getErrors("data d {",
                      R"(model net(y: f32[b, 1]) {
  return relu(y)
}
data d {)"),
            R"(job.hfta:4:7: error: second model called 'net'
model net(y: f32[b, 1]) {
      ^~~
hint: give it another name
job.hfta:1:7: note: the first one is here
model net(x: f32[batch, 4]) {
      ^~~
)");
}

TEST(JobErrors, NoData) {
  EXPECT_EQ(getErrors("data d,", "data e,"),
            R"(job.hfta:10:8: error: no data block 'e'
  data e, batch = 8
       ^
hint: data blocks are: 'd'
)");
}

TEST(JobErrors, MissingClauses) {
  EXPECT_EQ(getErrors(R"(  loss cross_entropy(net, label)
  optimizer sgd(lr = 0.1)
)",
                      ""),
            R"(job.hfta:8:7: error: train block 'job' has no clause 'loss'
train job {
      ^~~
hint: for example: loss cross_entropy(net, label)
job.hfta:8:7: error: train block 'job' has no clause 'optimizer'
train job {
      ^~~
hint: for example: optimizer adam(lr = 1e-3)
)");
}

TEST(JobErrors, SecondClause) {
  EXPECT_EQ(getErrors("optimizer sgd(lr = 0.1)",
                      R"(optimizer sgd(lr = 0.1)
  batch = 3)"),
            R"(job.hfta:13:3: error: unknown clause 'batch'
  batch = 3
  ^~~~~
hint: clauses are: 'model', 'data', 'copies', 'micro_batches', 'loss', 'metric', 'optimizer', 'turn', 'draw', 'updates', 'serves', 'group', 'schedule', 'schedule_of', 'precondition', 'clip_norm', 'clip_value', 'clip', 'layer_decay', 'average', 'loss_scale', 'seed', 'epochs', 'steps', 'validation', 'objective', 'keep', 'minutes', 'search', 'precision', 'memory', 'cluster', 'pipeline', 'recompute', 'zip', 'init', 'freeze', 'trainable', 'evaluation_mode', 'training_mode', 'dim'
)");
}

TEST(JobErrors, SecondSeed) {
  EXPECT_EQ(getErrors("optimizer sgd(lr = 0.1)",
                      R"(optimizer sgd(lr = 0.1)
  seed 1
  seed 2)"),
            R"(job.hfta:14:3: error: second clause 'seed'
  seed 2
  ^~~~
hint: a list of values, such as [1, 2], makes copies
job.hfta:13:3: note: the first one is here
  seed 1
  ^~~~
)");
}

TEST(JobErrors, MissingBatch) {
  EXPECT_EQ(getErrors("data d, batch = 8", "data d"),
            R"(job.hfta:10:3: error: 'data' needs 'batch'
  data d
  ^~~~~~
hint: it is data(data, batch, order_seed = ..., augment_seed = ..., shuffle = ..., draw = ...)
)");
}

TEST(JobErrors, BatchList) {
  EXPECT_EQ(getErrors("batch = 8", "batch = [8, 16]"),
            R"(job.hfta:10:19: error: 'batch' is the same for all copies
  data d, batch = [8, 16]
                  ^~~~~~~
hint: give one number
)");
}

TEST(JobErrors, BatchReal) {
  EXPECT_EQ(getErrors("batch = 8", "batch = 6.4"),
            R"(job.hfta:10:19: error: 'batch' is a whole number, got 6.4
  data d, batch = 6.4
                  ^~~
hint: write it without a point or exponent
)");
}

TEST(JobErrors, BatchZero) {
  EXPECT_EQ(getErrors("batch = 8", "batch = 0"),
            R"(job.hfta:10:19: error: 'batch' is out of range, got 0
  data d, batch = 0
                  ^
hint: it is from 1 to 16777216
)");
}

TEST(JobErrors, UnknownDataOption) {
  EXPECT_EQ(getErrors("batch = 8", "batch = 8, shufle = true"),
            R"(job.hfta:10:22: error: 'data' has no argument 'shufle'
  data d, batch = 8, shufle = true
                     ^~~~~~
hint: did you mean 'shuffle'?
)");
}

TEST(JobErrors, ShuffleNotBool) {
  EXPECT_EQ(getErrors("batch = 8", "batch = 8, shuffle = 1"),
            R"(job.hfta:10:32: error: 'shuffle' is a word, got a number
  data d, batch = 8, shuffle = 1
                               ^
hint: words are: 'true', 'false'
)");
}

TEST(JobErrors, MicroBatchesOption) {
  EXPECT_EQ(
      getErrors("batch = 8",
                R"(batch = 8
  micro_batches 2, all_forwards = true)"),
      R"(job.hfta:11:20: error: 'micro_batches' has no argument 'all_forwards'
  micro_batches 2, all_forwards = true
                   ^~~~~~~~~~~~
hint: arguments are: 'count', 'groups', 'all_forwards_first'
)");
}

TEST(JobErrors, MicroBatchesList) {
  EXPECT_EQ(getErrors("batch = 8",
                      R"(batch = 8
  micro_batches [2, 4])"),
            R"(job.hfta:11:17: error: 'micro_batches' is the same for all copies
  micro_batches [2, 4]
                ^~~~~~
hint: give one number
)");
}

TEST(JobErrors, MicroBatches) {
  EXPECT_EQ(
      getErrors("batch = 8",
                R"(batch = 8
  micro_batches 3)"),
      R"(job.hfta:11:3: error: the batch of 8 doesn't divide into 3 micro-batches
  micro_batches 3
  ^~~~~~~~~~~~~~~
hint: the batch is a multiple of 'micro_batches'
)");
}

TEST(JobErrors, EpochsAndSteps) {
  EXPECT_EQ(getErrors("batch = 8",
                      R"(batch = 8
  epochs 3
  steps 10)"),
            R"(job.hfta:12:3: error: 'epochs' and 'steps' exclude each other
  steps 10
  ^~~~~
hint: leave one of them out
job.hfta:11:3: note: the other one is here
  epochs 3
  ^~~~~~
)");
}

TEST(JobErrors, EpochsList) {
  EXPECT_EQ(getErrors("batch = 8",
                      R"(batch = 8
  epochs [1, 2])"),
            R"(job.hfta:11:10: error: 'epochs' is the same for all copies
  epochs [1, 2]
         ^~~~~~
hint: give one number
)");
}

TEST(JobErrors, UnknownOptimizer) {
  EXPECT_EQ(getErrors("sgd(lr", "sdg(lr"),
            R"(job.hfta:12:13: error: unknown optimizer 'sdg'
  optimizer sdg(lr = 0.1)
            ^~~
hint: did you mean 'sgd'?
)");
}

TEST(JobErrors, UnknownOptimizerArgument) {
  EXPECT_EQ(getErrors("lr = 0.1", "lr = 0.1, momentm = 0.9"),
            R"(job.hfta:12:27: error: 'sgd' has no argument 'momentm'
  optimizer sgd(lr = 0.1, momentm = 0.9)
                          ^~~~~~~
hint: did you mean 'momentum'?
)");
}

TEST(JobErrors, NegativeRate) {
  EXPECT_EQ(getErrors("lr = 0.1", "lr = [0.1, -1]"),
            R"(job.hfta:12:28: error: 'lr' is out of range, got -1
  optimizer sgd(lr = [0.1, -1])
                           ^~
hint: it is a number of at least 0
)");
}

TEST(JobErrors, Nesterov) {
  EXPECT_EQ(getErrors("lr = 0.1", "lr = 0.1, nesterov = true"),
            R"(job.hfta:12:38: error: 'nesterov' needs 'momentum'
  optimizer sgd(lr = 0.1, nesterov = true)
                                     ^~~~
hint: give both, or leave 'nesterov' out
)");
}

TEST(JobErrors, EmptyList) {
  EXPECT_EQ(getErrors("lr = 0.1", "lr = []"),
            R"(job.hfta:12:22: error: the list of 'lr' is empty
  optimizer sgd(lr = [])
                     ^~
hint: lists look like [1, 2]
)");
}

TEST(JobErrors, NestedList) {
  EXPECT_EQ(getErrors("lr = 0.1", "lr = [[1]]"),
            R"(job.hfta:12:23: error: 'lr' is one number, got a list
  optimizer sgd(lr = [[1]])
                      ^~~
hint: only a setting that may differ between copies takes a list, as its whole value
)");
}

TEST(JobErrors, ListArithmetic) {
  EXPECT_EQ(getErrors("lr = 0.1", "lr = [1, 2] / 10"),
            R"(job.hfta:12:22: error: 'lr' is one number, got a list
  optimizer sgd(lr = [1, 2] / 10)
                     ^~~~~~
hint: only a setting that may differ between copies takes a list, as its whole value
)");
}

TEST(JobErrors, Betas) {
  EXPECT_EQ(getErrors("sgd(lr = 0.1)", "adam(betas = [0.9])"),
            R"(job.hfta:12:26: error: 'betas' is a pair of numbers
  optimizer adam(betas = [0.9])
                         ^~~~~
hint: for example betas = [0.9, 0.999]
)");
}

TEST(JobErrors, BetasTwice) {
  EXPECT_EQ(
      getErrors("sgd(lr = 0.1)", "adam(betas = [0.9, 0.99], beta1 = 0.8)"),
      R"(job.hfta:12:26: error: 'betas' excludes 'beta1' and 'beta2'
  optimizer adam(betas = [0.9, 0.99], beta1 = 0.8)
                         ^~~~~~~~~~~
hint: 'betas' gives both
)");
}

TEST(JobErrors, BetaRange) {
  EXPECT_EQ(getErrors("sgd(lr = 0.1)", "adam(beta2 = 1)"),
            R"(job.hfta:12:26: error: 'beta2' is out of range, got 1
  optimizer adam(beta2 = 1)
                         ^
hint: it is a number of at least 0 and below 1
)");
}

TEST(JobErrors, ZipLengths) {
  EXPECT_EQ(
      getErrors("lr = 0.1", "zip(lr = [0.1, 0.2], momentum = [0.9])"),
      R"(job.hfta:12:49: error: 'momentum' has 1 values, but 'lr', paired with it, has 2
  optimizer sgd(zip(lr = [0.1, 0.2], momentum = [0.9]))
                                                ^~~~~
hint: paired lists are equally long
job.hfta:12:26: note: the other list is here
  optimizer sgd(zip(lr = [0.1, 0.2], momentum = [0.9]))
                         ^~~~~~~~~~
)");
}

TEST(JobErrors, ZipNumber) {
  EXPECT_EQ(getErrors("lr = 0.1", "zip(lr = 0.1, momentum = [0.9])"),
            R"(job.hfta:12:26: error: zip pairs lists, but 'lr' is one number
  optimizer sgd(zip(lr = 0.1, momentum = [0.9]))
                         ^~~
hint: take it out of zip(...)
)");
}
