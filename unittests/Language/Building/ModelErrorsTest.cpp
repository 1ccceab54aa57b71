//===- ModelErrorsTest.cpp - Errors in models -----------------------------===//

#include "TestJobs.h"

#include <gtest/gtest.h>

using hfta_test::getErrors;

static const char *const kReturn = "return linear(x, 3)";

TEST(ModelErrors, UnknownFunction) {
  EXPECT_EQ(getErrors(kReturn, "return liner(x, 3)"),
            R"(job.hfta:2:10: error: unknown function 'liner'
  return liner(x, 3)
         ^~~~~
hint: did you mean 'linear'?
)");
}

TEST(ModelErrors, UnknownName) {
  EXPECT_EQ(getErrors(kReturn, "return linear(y, 3)"),
            R"(job.hfta:2:17: error: unknown name 'y'
  return linear(y, 3)
                ^
hint: names are: 'x'
)");
}

TEST(ModelErrors, DefinedTwice) {
  EXPECT_EQ(getErrors(kReturn,
                      R"(h = linear(x, 3)
  h = relu(h)
  return h)"),
            R"(job.hfta:3:3: error: 'h' is defined twice
  h = relu(h)
  ^
hint: a layer has the name that it is assigned to: give each layer its own name
job.hfta:2:3: note: the first one is here
  h = linear(x, 3)
  ^
)");
}

TEST(ModelErrors, NeverUsed) {
  EXPECT_EQ(getErrors(kReturn,
                      R"(h = linear(x, 3)
  return linear(x, 3))"),
            R"(job.hfta:2:3: error: 'h' is never used
  h = linear(x, 3)
  ^
hint: remove it, or return it as an output
)");
}

TEST(ModelErrors, OutputTwice) {
  EXPECT_EQ(getErrors(kReturn,
                      R"(h = linear(x, 3)
  return h, h)"),
            R"(job.hfta:3:13: error: second output called 'h'
  return h, h
            ^
hint: name outputs: return a = ..., b = ...
job.hfta:3:10: note: the first one is here
  return h, h
         ^
)");
}

TEST(ModelErrors, LayerNamesCollide) {
  EXPECT_EQ(
      getErrors(kReturn,
                R"(output = linear(x, 4)
  return linear(output, 3))"),
      R"(job.hfta:3:10: error: layers of output 'output' and of variable 'output' would have the same names
  return linear(output, 3)
         ^~~~~~~~~~~~~~~~~
hint: name the output: return result = ...
job.hfta:2:3: note: the variable is here
  output = linear(x, 4)
  ^~~~~~
)");
}

TEST(ModelErrors, MissingArgument) {
  EXPECT_EQ(getErrors(kReturn, "return linear(x)"),
            R"(job.hfta:2:10: error: 'linear' needs 'n'
  return linear(x)
         ^~~~~~~~~
hint: it is linear(x, n, bias = ...)
)");
}

TEST(ModelErrors, UnknownArgument) {
  EXPECT_EQ(getErrors(kReturn, "return linear(x, 3, bais = false)"),
            R"(job.hfta:2:23: error: 'linear' has no argument 'bais'
  return linear(x, 3, bais = false)
                      ^~~~
hint: did you mean 'bias'?
)");
}

TEST(ModelErrors, SizeList) {
  EXPECT_EQ(getErrors(kReturn, "return linear(x, [3, 4])"),
            R"(job.hfta:2:20: error: 'n' is the same for all copies
  return linear(x, [3, 4])
                   ^~~~~~
hint: give one number
)");
}

TEST(ModelErrors, SizeReal) {
  EXPECT_EQ(getErrors(kReturn, "return linear(x, 2.5)"),
            R"(job.hfta:2:20: error: 'n' is a whole number, got 2.5
  return linear(x, 2.5)
                   ^~~
hint: write it without a point or exponent
)");
}

TEST(ModelErrors, TooLarge) {
  EXPECT_EQ(
      getErrors(kReturn, "return linear(x, 2147483647) * linear(linear(x, "
                         "2000000000), 2000000000)"),
      R"(job.hfta:2:34: error: a tensor of shape [2000000000, 2000000000] is too large
  return linear(x, 2147483647) * linear(linear(x, 2000000000), 2000000000)
                                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
hint: at most 68719476736 elements
)");
}

TEST(ModelErrors, NotATensor) {
  EXPECT_EQ(getErrors(kReturn, "return linear(3, 3)"),
            R"(job.hfta:2:17: error: 'x' must be a tensor, got 3
  return linear(3, 3)
                ^
hint: combine the number with a tensor, for example 2 * x
)");
}

TEST(ModelErrors, ShapesDontFit) {
  EXPECT_EQ(getErrors(kReturn,
                      R"(a = linear(x, 3)
  return a + x)"),
            R"(job.hfta:3:12: error: shapes [8, 3] and [8, 4] can't be broadcast
  return a + x
           ^
hint: axes are matched from the last one on; each pair is equal or has a 1
)");
}

TEST(ModelErrors, BatchAxis) {
  EXPECT_EQ(
      getErrors(kReturn, "return softmax(x, axis = 0)"),
      R"(job.hfta:2:28: error: axis 0 is the batch, whose samples don't mix
  return softmax(x, axis = 0)
                           ^
hint: axes of a sample count from 1
)");
}

TEST(ModelErrors, NoAxis) {
  EXPECT_EQ(getErrors(kReturn, "return softmax(x, axis = 2)"),
            R"(job.hfta:2:28: error: no axis 2 in a tensor of 2 axes
  return softmax(x, axis = 2)
                           ^
hint: axes count from 0, or from the end with -1
)");
}

TEST(ModelErrors, ConvRank) {
  EXPECT_EQ(
      getErrors(kReturn, "return conv(x, 3, 3)"),
      R"(job.hfta:2:15: error: 'conv' takes a tensor of at least 3 axes, got [8, 4]
  return conv(x, 3, 3)
              ^
hint: axis 0 is the batch; reshape(x, [batch, ...]) adds axes
)");
}

TEST(ModelErrors, ConvKernel) {
  EXPECT_EQ(
      getErrors(kReturn,
                "return flatten(conv(reshape(x, [batch, 1, 2, 2]), 3, 3))"),
      R"(job.hfta:2:56: error: a kernel over 3 elements doesn't fit an axis of 2
  return flatten(conv(reshape(x, [batch, 1, 2, 2]), 3, 3))
                                                       ^
hint: the input is [8, 1, 2, 2]
)");
}

TEST(ModelErrors, ConvGroups) {
  EXPECT_EQ(
      getErrors(kReturn, "return flatten(conv(reshape(x, [batch, 1, 2, 2]), 3, "
                         "1, groups = 2))"),
      R"(job.hfta:2:68: error: 2 groups don't divide 1 input and 3 output channels
  return flatten(conv(reshape(x, [batch, 1, 2, 2]), 3, 1, groups = 2))
                                                                   ^
hint: both are multiples of 'groups'
)");
}

TEST(ModelErrors, ConvStride) {
  EXPECT_EQ(getErrors(kReturn, "return flatten(conv(reshape(x, [batch, 1, 2, "
                               "2]), 3, 1, stride = [1, 1, 1]))"),
            R"(job.hfta:2:68: error: 'stride' has 3 values for 2 spatial axes
  return flatten(conv(reshape(x, [batch, 1, 2, 2]), 3, 1, stride = [1, 1, 1]))
                                                                   ^~~~~~~~~
hint: one number stands for all axes
)");
}

TEST(ModelErrors, PoolPadding) {
  EXPECT_EQ(
      getErrors(kReturn, "return flatten(max_pool(reshape(x, [batch, 1, 4]), "
                         "2, padding = 2))"),
      R"(job.hfta:2:67: error: padding of 2 is more than half of the kernel of 2
  return flatten(max_pool(reshape(x, [batch, 1, 4]), 2, padding = 2))
                                                                  ^
hint: some windows would contain only padding
)");
}

TEST(ModelErrors, ReshapeElements) {
  EXPECT_EQ(
      getErrors(kReturn, "return reshape(x, [batch, 3])"),
      R"(job.hfta:2:21: error: a tensor of shape [8, 4] can't be reshaped to [8, 3]
  return reshape(x, [batch, 3])
                    ^~~~~~~~~~
hint: it has 32 elements
)");
}

TEST(ModelErrors, ReshapeBatch) {
  EXPECT_EQ(
      getErrors(kReturn, "return reshape(x, [4, batch])"),
      R"(job.hfta:2:21: error: reshape must keep the batch on axis 0, got [4, 8]
  return reshape(x, [4, batch])
                    ^~~~~~~~~~
hint: for example reshape(x, [batch, -1])
)");
}
