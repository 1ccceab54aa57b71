//===- ValueErrorsTest.cpp - Errors in values of models -------------------===//

#include "TestJobs.h"

#include <gtest/gtest.h>

using hfta_test::getErrors;

static const char *const kReturn = "return linear(x, 3)";

TEST(ModelErrors, ReshapeTwoOpen) {
  EXPECT_EQ(getErrors(kReturn, "return reshape(x, [batch, -1, -1])"),
            R"(job.hfta:2:21: error: more than one axis of length -1
  return reshape(x, [batch, -1, -1])
                    ^~~~~~~~~~~~~~~
hint: one -1 stands for what is left
)");
}

TEST(ModelErrors, TransposeOrder) {
  EXPECT_EQ(
      getErrors(kReturn, "return transpose(x, [0, 0])"),
      R"(job.hfta:2:23: error: 'order' names each of the 2 axes once, got [0, 0]
  return transpose(x, [0, 0])
                      ^~~~~~
hint: for example transpose(x, [0, 2, 1])
)");
}

TEST(ModelErrors, TransposeBatch) {
  EXPECT_EQ(getErrors(kReturn, "return transpose(x, [1, 0])"),
            R"(job.hfta:2:23: error: transpose must keep the batch on axis 0
  return transpose(x, [1, 0])
                      ^~~~~~
hint: for example transpose(x, [0, 2, 1])
)");
}

TEST(ModelErrors, MatmulShapes) {
  EXPECT_EQ(
      getErrors(kReturn,
                R"(y = reshape(x, [batch, 2, 2])
  return flatten(matmul(y, reshape(x, [batch, 1, 4]))))"),
      R"(job.hfta:3:18: error: shapes [8, 2, 2] and [8, 1, 4] can't be multiplied
  return flatten(matmul(y, reshape(x, [batch, 1, 4])))
                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
hint: 'matmul' takes [..., m, k] and [..., k, n] with equal leading axes
)");
}

TEST(ModelErrors, Concat) {
  EXPECT_EQ(
      getErrors(kReturn, "return concat(x, reshape(x, [batch, 2, 2]))"),
      R"(job.hfta:2:10: error: tensors of shapes [8, 4] and [8, 2, 2] can't be joined along axis 1
  return concat(x, reshape(x, [batch, 2, 2]))
         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
hint: all other axes are equal, and the element types
)");
}

TEST(ModelErrors, EmbeddingFloats) {
  EXPECT_EQ(getErrors(kReturn, "return flatten(embedding(x, 3, 4))"),
            R"(job.hfta:2:28: error: 'embedding' takes whole numbers
  return flatten(embedding(x, 3, 4))
                           ^
hint: declare the model's input as i64
)");
}

TEST(ModelErrors, DropoutRate) {
  EXPECT_EQ(getErrors(kReturn, "return linear(dropout(x, 1), 3)"),
            R"(job.hfta:2:28: error: 'dropout_rate' is out of range, got 1
  return linear(dropout(x, 1), 3)
                           ^
hint: it is a number of at least 0 and below 1
)");
}

TEST(ModelErrors, DropoutTensor) {
  EXPECT_EQ(
      getErrors(kReturn, "return linear(dropout(x, x + 1), 3)"),
      R"(job.hfta:2:28: error: 'dropout_rate' is a number, but 'x' is a name
  return linear(dropout(x, x + 1), 3)
                           ^
hint: numbers look like 1, 0.5 or 1e-3
)");
}

TEST(ModelErrors, DropoutName) {
  EXPECT_EQ(getErrors(kReturn, "return linear(dropout(x, x), 3)"),
            R"(job.hfta:2:28: error: 'rate' is one number
  return linear(dropout(x, x), 3)
                           ^
hint: a number, a list of numbers, or a hyper-parameter
)");
}

TEST(ModelErrors, Epsilon) {
  EXPECT_EQ(getErrors(kReturn, "return linear(batch_norm(x, epsilon = 0), 3)"),
            R"(job.hfta:2:41: error: 'epsilon' is out of range, got 0
  return linear(batch_norm(x, epsilon = 0), 3)
                                        ^
hint: it is a number above 0
)");
}

TEST(ModelErrors, ListValue) {
  EXPECT_EQ(getErrors(kReturn, "return linear(x + [1, 2], 3)"),
            R"(job.hfta:2:21: error: a list isn't a value of a model
  return linear(x + [1, 2], 3)
                    ^~~~~~
hint: only hyper-parameters and dropout rates differ between copies
)");
}

TEST(ModelErrors, StringValue) {
  EXPECT_EQ(getErrors(kReturn, "return linear(x + \"a\", 3)"),
            R"(job.hfta:2:21: error: a string isn't a value of a model
  return linear(x + "a", 3)
                    ^~~
hint: values are tensors and numbers
)");
}

TEST(ModelErrors, MemberValue) {
  EXPECT_EQ(getErrors(kReturn, "return linear(x + net.output, 3)"),
            R"(job.hfta:2:21: error: a model can't use another model's outputs
  return linear(x + net.output, 3)
                    ^~~~~~~~~~
hint: values are tensors and numbers
)");
}

TEST(ModelErrors, InputBatch) {
  EXPECT_EQ(
      getErrors("x: f32[batch, 4]", "x: f32[8, 4]"),
      R"(job.hfta:1:18: error: the first axis of an input is the batch, by name
model net(x: f32[8, 4]) {
                 ^
hint: for example f32[batch, 28, 28]
)");
}

TEST(ModelErrors, InputType) {
  EXPECT_EQ(
      getErrors("x: f32[batch, 4]", "x: u8[batch, 4]"),
      R"(job.hfta:1:14: error: an input of a model is f32, i32 or i64, got 'u8'
model net(x: u8[batch, 4]) {
             ^~
hint: data of other types is converted
)");
}

TEST(ModelErrors, OutputWithoutBatch) {
  EXPECT_EQ(
      getErrors(R"(model net(x: f32[batch, 4]) {
  return linear(x, 3))",
                R"(model net(x: f32[batch, 4], s = 1) {
  return s)"),
      R"(job.hfta:2:10: error: output 's' of shape [] doesn't have the batch on axis 0
  return s
         ^
hint: an output has one row for each sample
)");
}

TEST(ModelErrors, ReservedName) {
  EXPECT_EQ(
      getErrors("model net(x: f32[batch, 4])",
                "model net(x: f32[batch, 4], lr = 1)"),
      R"(job.hfta:1:29: error: a model's hyper-parameter can't be called 'lr'
model net(x: f32[batch, 4], lr = 1) {
                            ^~
hint: the job has a setting of this name
)");
}

TEST(ModelErrors, NameOfARate) {
  EXPECT_EQ(
      getErrors(R"(model net(x: f32[batch, 4]) {
  return linear(x, 3))",
                R"(model net(x: f32[batch, 4], dropout_rate = 1) {
  return linear(dropout(x * dropout_rate, 0.1), 3))"),
      R"(job.hfta:1:29: error: a hyper-parameter can't be called 'dropout_rate' where the model has a dropout with a rate of its own
model net(x: f32[batch, 4], dropout_rate = 1) {
                            ^~~~~~~~~~~~
hint: give it another name, as that rate has this one; or write dropout(x, dropout_rate)
)");
}

TEST(ModelErrors, NamedReal) {
  EXPECT_EQ(
      getErrors(kReturn,
                R"(a = 0.5
  return linear(x * a, 3))"),
      R"(job.hfta:2:7: error: a name stands for a tensor or a whole number, got 0.5
  a = 0.5
      ^~~
hint: write the number where it is used
)");
}

TEST(ModelErrors, ReduceTwice) {
  EXPECT_EQ(
      getErrors(kReturn, "return linear(sum(x, [1, -1], keep = true), 3)"),
      R"(job.hfta:2:24: error: an axis is given twice
  return linear(sum(x, [1, -1], keep = true), 3)
                       ^~~~~~~
hint: name each once
)");
}

TEST(ModelErrors, OpenAxis) {
  EXPECT_EQ(
      getErrors("x: f32[batch, 4]", "x: f32[batch, n, 4]"),
      R"(job.hfta:9:13: error: field 'x' has samples of shape [4], but input 'x' takes [n, 4]
  model net(x)
            ^
hint: shapes may differ only in axes of length 1
)");
}

TEST(ModelErrors, AxisName) {
  EXPECT_EQ(getErrors(kReturn,
                      R"(batch = 3
  return linear(x, batch))"),
            R"(job.hfta:2:3: error: 'batch' is the name of an axis
  batch = 3
  ^~~~~
hint: give axes and values different names
)");
}

TEST(ModelErrors, AxisNameInput) {
  EXPECT_EQ(getErrors("x: f32[batch, 4]", "x: f32[batch, x]"),
            R"(job.hfta:1:11: error: 'x' is the name of an axis
model net(x: f32[batch, x]) {
          ^
hint: give axes and values different names
)");
}
