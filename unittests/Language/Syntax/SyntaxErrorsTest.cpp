//===- SyntaxErrorsTest.cpp - Errors that the parser reports --------------===//

#include "TestJobs.h"

#include <gtest/gtest.h>

using hfta_test::getErrors;

static const char *const kReturn = "return linear(x, 3)";

TEST(SyntaxErrors, UnexpectedCharacter) {
  EXPECT_EQ(getErrors("lr = 0.1", "lr = $1"),
            R"(job.hfta:12:22: error: unexpected character '$'
  optimizer sgd(lr = $1)
                     ^
hint: names hold letters, digits and '_'
)");
}

TEST(SyntaxErrors, HashComment) {
  EXPECT_EQ(getErrors("model net(x)", "# hello"),
            R"(job.hfta:9:3: error: unexpected character '#'
  # hello
  ^
hint: comments begin with '//'
job.hfta:9:5: error: unknown clause 'hello'
  # hello
    ^~~~~
hint: clauses are: 'model', 'data', 'copies', 'micro_batches', 'loss', 'metric', 'optimizer', 'turn', 'draw', 'updates', 'serves', 'group', 'schedule', 'schedule_of', 'precondition', 'clip_norm', 'clip_value', 'clip', 'layer_decay', 'average', 'loss_scale', 'seed', 'epochs', 'steps', 'validation', 'objective', 'keep', 'minutes', 'search', 'precision', 'memory', 'cluster', 'pipeline', 'recompute', 'zip', 'init', 'freeze', 'trainable', 'evaluation_mode', 'training_mode', 'dim'
)");
}

TEST(SyntaxErrors, SingleQuotes) {
  EXPECT_EQ(getErrors("npy(\"x.npy\")", "npy('x.npy')"),
            R"(job.hfta:6:17: error: unexpected character '''
  train x = npy('x.npy'), label = npy("y.npy")
                ^
hint: strings stand in double quotes
job.hfta:6:23: error: unexpected character '''
  train x = npy('x.npy'), label = npy("y.npy")
                      ^
hint: strings stand in double quotes
)");
}

TEST(SyntaxErrors, Semicolon) {
  EXPECT_EQ(getErrors("batch = 8", "batch = 8;"),
            R"(job.hfta:10:20: error: unexpected character ';'
  data d, batch = 8;
                   ^
hint: statements need no separator
)");
}

TEST(SyntaxErrors, OpenString) {
  EXPECT_EQ(getErrors("npy(\"x.npy\")", "npy(\"x.npy)"),
            R"(job.hfta:6:44: error: string without an end
  train x = npy("x.npy), label = npy("y.npy")
                                           ^~
hint: close it with '"' on the same line
)");
}

TEST(SyntaxErrors, NumberThenName) {
  EXPECT_EQ(getErrors("batch = 8", "batch = 8x"),
            R"(job.hfta:10:19: error: '8x' is neither a number nor a name
  data d, batch = 8x
                  ^~
hint: names begin with a letter, units are KiB, MiB, GiB and TiB
)");
}

TEST(SyntaxErrors, NumberOutOfRange) {
  EXPECT_EQ(getErrors("batch = 8", "batch = 99999999999999999999"),
            R"(job.hfta:10:19: error: whole number out of range
  data d, batch = 99999999999999999999
                  ^~~~~~~~~~~~~~~~~~~~
hint: the largest is 9223372036854775807
)");
}

TEST(SyntaxErrors, RealOutOfRange) {
  EXPECT_EQ(getErrors("lr = 0.1", "lr = 1e999"),
            R"(job.hfta:12:22: error: number out of range
  optimizer sgd(lr = 1e999)
                     ^~~~~
hint: the largest is 1.797e308
)");
}

TEST(SyntaxErrors, UnknownDeclaration) {
  EXPECT_EQ(
      getErrors("model net(x:", "modle net(x:"),
      R"(job.hfta:1:1: error: expected 'model', 'data' or 'train', got 'modle'
modle net(x: f32[batch, 4]) {
^~~~~
hint: did you mean 'model'?
)");
}

TEST(SyntaxErrors, MissingParenthesis) {
  EXPECT_EQ(
      getErrors("sgd(lr = 0.1)", "sgd(lr = 0.1"),
      R"(job.hfta:13:1: error: expected ')' or ',' after an argument, got '}'
}
^
hint: arguments look like (a, name = b)
)");
}

TEST(SyntaxErrors, MissingValue) {
  EXPECT_EQ(getErrors("lr = 0.1", "lr ="),
            R"(job.hfta:12:21: error: expected a value, got ')'
  optimizer sgd(lr =)
                    ^
hint: a number, a name, a string, a list or a call
)");
}

TEST(SyntaxErrors, MissingClauseValue) {
  EXPECT_EQ(getErrors("loss cross_entropy(net, label)", "loss"),
            R"(job.hfta:11:3: error: clause 'loss' without a value
  loss
  ^~~~
hint: the value begins on the keyword's line
)");
}

TEST(SyntaxErrors, UnknownClause) {
  EXPECT_EQ(getErrors("optimizer sgd", "optimiser sgd"),
            R"(job.hfta:12:3: error: unknown clause 'optimiser'
  optimiser sgd(lr = 0.1)
  ^~~~~~~~~
hint: did you mean 'optimizer'?
)");
}

TEST(SyntaxErrors, MissingBrace) {
  EXPECT_EQ(
      getErrors(R"(sgd(lr = 0.1)
}
)",
                "sgd(lr = 0.1)"),
      R"(job.hfta:12:26: error: expected '}' after train block 'job', got the end
  optimizer sgd(lr = 0.1)
                         ^
hint: close the '{'
)");
}

TEST(SyntaxErrors, InputWithoutType) {
  EXPECT_EQ(getErrors("x: f32[batch, 4]", "x"),
            R"(job.hfta:1:12: error: expected ':' and a type after 'x', got ')'
model net(x) {
           ^
hint: for example 'x: f32[batch, 10]', or 'x = 0.5' for a hyper-parameter
)");
}

TEST(SyntaxErrors, ReturnsNothing) {
  EXPECT_EQ(getErrors(kReturn, "h = linear(x, 3)"),
            R"(job.hfta:3:1: error: model 'net' returns nothing
}
^
hint: end it with 'return' and its outputs
)");
}

TEST(SyntaxErrors, StatementAfterReturn) {
  EXPECT_EQ(getErrors(kReturn,
                      R"(return linear(x, 3)
  y = relu(x))"),
            R"(job.hfta:3:3: error: expected '}' after 'return', got 'y'
  y = relu(x)
  ^
hint: several outputs are separated by ','
)");
}

TEST(SyntaxErrors, SizeOutOfRange) {
  EXPECT_EQ(getErrors("f32[batch, 4]", "f32[batch, 0]"),
            R"(job.hfta:1:25: error: size out of range
model net(x: f32[batch, 0]) {
                        ^
hint: an axis has 1 to 2147483647 elements
)");
}

TEST(SyntaxErrors, ModelWithoutBody) {
  EXPECT_EQ(
      getErrors("model net(x: f32[batch, 4])", "model net"),
      R"(job.hfta:1:11: error: expected '=' or '(' after the model's name, got '{'
model net {
          ^
hint: write 'model net = onnx("file.onnx")' or 'model net(input: f32[batch, 10]) { ... }'
)");
}

TEST(SyntaxErrors, DataItem) {
  EXPECT_EQ(
      getErrors("x: f32[4], label: u8", "tain x = npy(\"x\")"),
      R"(job.hfta:5:3: error: expected 'train', 'test', 'validation' or a declaration 'field: type', got 'tain'
  tain x = npy("x")
  ^~~~
hint: did you mean 'train'?
)");
}

TEST(SyntaxErrors, SecondTrainPart) {
  EXPECT_EQ(getErrors("  train x = npy(\"x.npy\"), label",
                      R"(  train x = npy("x.npy")
  train label)"),
            R"(job.hfta:7:3: error: second 'train' in the data block
  train label = npy("y.npy")
  ^~~~~
hint: separate its fields by commas
job.hfta:6:3: note: the first one is here
  train x = npy("x.npy")
  ^~~~~
)");
}

TEST(SyntaxErrors, TwoErrors) {
  EXPECT_EQ(getErrors("lr = 0.1", "lr = *"),
            R"(job.hfta:12:22: error: expected a value, got '*'
  optimizer sgd(lr = *)
                     ^
hint: a number, a name, a string, a list or a call
)");
}

TEST(SyntaxErrors, DeclarationWithoutType) {
  EXPECT_EQ(getErrors("x: f32[4], label: u8", "x: f32[4], label"),
            R"(job.hfta:6:3: error: expected ':' after 'label', got 'train'
  train x = npy("x.npy"), label = npy("y.npy")
  ^~~~~
hint: for example label: u8[28, 28]
)");
}
