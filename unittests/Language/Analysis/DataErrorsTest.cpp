//===- DataErrorsTest.cpp - Errors in data blocks -------------------------===//

#include "TestJobs.h"

#include <gtest/gtest.h>

using hfta_test::getErrors;

TEST(DataErrors, NoFile) {
  EXPECT_EQ(getErrors("x: f32[4], label: u8", "label: u8"),
            R"(job.hfta:6:13: error: no such file: 'x.npy'
  train x = npy("x.npy"), label = npy("y.npy")
            ^~~~~~~~~~~~
hint: declare the type of one sample, for example 'x: u8', or pass --data DIR
)");
}

TEST(DataErrors, RawNeedsType) {
  EXPECT_EQ(
      getErrors("label = npy(\"y.npy\")",
                "label = npy(\"y.npy\"), z = raw(\"z.raw\")"),
      R"(job.hfta:6:53: error: raw files don't say the type of their samples
  train x = npy("x.npy"), label = npy("y.npy"), z = raw("z.raw")
                                                    ^~~~~~~~~~~~
hint: declare the type of one sample, for example 'z: u8'
)");
}

TEST(DataErrors, UnknownFormat) {
  EXPECT_EQ(getErrors("npy(\"x.npy\")", "\"x.dat\""),
            R"(job.hfta:6:13: error: the format of 'x.dat' is unknown
  train x = "x.dat", label = npy("y.npy")
            ^~~~~~~
hint: name it: idx("..."), npy("..."), csv("...") or raw("...")
)");
}

TEST(DataErrors, UnknownFunction) {
  EXPECT_EQ(getErrors("npy(\"x.npy\")", "nyp(\"x.npy\")"),
            R"(job.hfta:6:13: error: unknown data function 'nyp'
  train x = nyp("x.npy"), label = npy("y.npy")
            ^~~
hint: did you mean 'npy'?
)");
}

TEST(DataErrors, TwoFiles) {
  EXPECT_EQ(getErrors("npy(\"x.npy\")", "npy(\"x.npy\") + npy(\"z.npy\")"),
            R"(job.hfta:6:28: error: second file in one field
  train x = npy("x.npy") + npy("z.npy"), label = npy("y.npy")
                           ^~~~~~~~~~~~
hint: a field's value is one file and arithmetic with numbers
)");
}

TEST(DataErrors, NoFileRead) {
  EXPECT_EQ(getErrors("npy(\"x.npy\")", "3"),
            R"(job.hfta:6:13: error: a field's value reads no file
  train x = 3, label = npy("y.npy")
            ^
hint: for example idx("images.gz") / 255
)");
}

TEST(DataErrors, DivisionByZero) {
  EXPECT_EQ(getErrors("npy(\"x.npy\")", "npy(\"x.npy\") / 0"),
            R"(job.hfta:6:28: error: division by 0
  train x = npy("x.npy") / 0, label = npy("y.npy")
                           ^
hint: divide by another number
)");
}

TEST(DataErrors, TestDiffers) {
  EXPECT_EQ(
      getErrors("label = npy(\"y.npy\")",
                R"(label = npy("y.npy")
  test x = npy("x.npy") / 2, label = npy("y.npy"))"),
      R"(job.hfta:7:12: error: field 'x' has different arithmetic for training and for testing
  test x = npy("x.npy") / 2, label = npy("y.npy")
           ^~~~~~~~~~~~~~~~
hint: write the same arithmetic in both
job.hfta:6:13: note: the arithmetic for training is here
  train x = npy("x.npy"), label = npy("y.npy")
            ^~~~~~~~~~~~
)");
}

TEST(DataErrors, TestMissing) {
  EXPECT_EQ(getErrors("label = npy(\"y.npy\")",
                      R"(label = npy("y.npy")
  test x = npy("x.npy"))"),
            R"(job.hfta:7:3: error: no test file for field 'label'
  test x = npy("x.npy")
  ^~~~
hint: 'test' must have every field of 'train'
)");
}

TEST(DataErrors, TestExtra) {
  EXPECT_EQ(getErrors("label = npy(\"y.npy\")",
                      R"(label = npy("y.npy")
  test x = npy("x.npy"), lable = npy("y.npy"))"),
            R"(job.hfta:7:3: error: no test file for field 'label'
  test x = npy("x.npy"), lable = npy("y.npy")
  ^~~~
hint: 'test' must have every field of 'train'
job.hfta:7:26: error: no training file for field 'lable'
  test x = npy("x.npy"), lable = npy("y.npy")
                         ^~~~~
hint: did you mean 'label'?
)");
}

TEST(DataErrors, DeclaredTwice) {
  EXPECT_EQ(
      getErrors("train x =", "train x: u8[4] ="),
      R"(job.hfta:6:12: error: field 'x' is declared as u8[4] and as f32[4]
  train x: u8[4] = npy("x.npy"), label = npy("y.npy")
           ^~~~~
hint: declare it once
)");
}

TEST(DataErrors, UnknownType) {
  EXPECT_EQ(getErrors("x: f32[4]", "x: float[4]"),
            R"(job.hfta:5:6: error: unknown element type 'float'
  x: float[4], label: u8
     ^~~~~
hint: types are: 'bool', 'u8', 'i8', 'u16', 'i16', 'i32', 'i64', 'f16', 'bf16', 'f32', 'f64'
)");
}

TEST(DataErrors, NamedSize) {
  EXPECT_EQ(
      getErrors("x: f32[4]", "x: f32[n]"),
      R"(job.hfta:5:10: error: a field's type is that of one sample, its sizes are numbers
  x: f32[n], label: u8
         ^
hint: leave the batch out: u8[28, 28]
)");
}

TEST(DataErrors, NormalizeLengths) {
  EXPECT_EQ(getErrors("npy(\"x.npy\")", "normalize(npy(\"x.npy\"), [1, 2], 3)"),
            R"(job.hfta:6:13: error: 'mean' has 2 values, but 'std' has 1
  train x = normalize(npy("x.npy"), [1, 2], 3), label = npy("y.npy")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
hint: give both one value for each channel, or both one number
)");
}

TEST(DataErrors, NormalizeDeviation) {
  EXPECT_EQ(getErrors("npy(\"x.npy\")", "normalize(npy(\"x.npy\"), 1, 0)"),
            R"(job.hfta:6:40: error: 'std' is out of range, got 0
  train x = normalize(npy("x.npy"), 1, 0), label = npy("y.npy")
                                       ^
hint: it is a number above 0
)");
}

TEST(DataErrors, NormalizeChannels) {
  EXPECT_EQ(
      getErrors("npy(\"x.npy\")", "normalize(npy(\"x.npy\"), [1, 2], [3, 4])"),
      R"(job.hfta:6:13: error: 'mean' and 'std' have 2 values for samples of shape [4]
  train x = normalize(npy("x.npy"), [1, 2], [3, 4]), label = npy("y.npy")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
hint: give one number, or one for each element of the sample's first axis
)");
}

TEST(DataErrors, FieldTwice) {
  EXPECT_EQ(getErrors("label = npy(\"y.npy\")", "x = npy(\"y.npy\")"),
            R"(job.hfta:5:14: error: no training file for field 'label'
  x: f32[4], label: u8
             ^~~~~
hint: fields are: 'x', 'x'
job.hfta:6:27: error: second field called 'x'
  train x = npy("x.npy"), x = npy("y.npy")
                          ^
hint: give it another name
job.hfta:6:9: note: the first one is here
  train x = npy("x.npy"), x = npy("y.npy")
        ^
)");
}

TEST(DataErrors, UnknownField) {
  EXPECT_EQ(getErrors("model net(x)", "model net(y)"),
            R"(job.hfta:9:13: error: the data block has no field 'y'
  model net(y)
            ^
hint: fields are: 'x', 'label'
)");
}

TEST(DataErrors, TooManyFields) {
  EXPECT_EQ(getErrors("model net(x)", "model net(x, label)"),
            R"(job.hfta:9:9: error: model 'net' has 1 input, got 2
  model net(x, label)
        ^~~~~~~~~~~~~
hint: its inputs are x
)");
}

TEST(DataErrors, FieldShape) {
  EXPECT_EQ(
      getErrors("x: f32[4]", "x: f32[5]"),
      R"(job.hfta:9:13: error: field 'x' has samples of shape [5], but input 'x' takes [4]
  model net(x)
            ^
hint: shapes may differ only in axes of length 1
)");
}

TEST(DataErrors, FieldNumber) {
  EXPECT_EQ(
      getErrors("model net(x)", "model net(4)"),
      R"(job.hfta:9:13: error: a model's inputs are fields of the data block
  model net(4)
            ^
hint: for example net(image)
)");
}

TEST(DataErrors, EmptyPath) {
  EXPECT_EQ(getErrors("npy(\"x.npy\")", "npy(\"\")"),
            R"(job.hfta:6:17: error: 'file' is empty
  train x = npy(""), label = npy("y.npy")
                ^~
hint: give a name
)");
}

TEST(DataErrors, CsvColumn) {
  EXPECT_EQ(getErrors("npy(\"x.npy\")", "csv(\"x.csv\", column = -1)"),
            R"(job.hfta:6:35: error: 'column' is out of range, got -1
  train x = csv("x.csv", column = -1), label = npy("y.npy")
                                  ^~
hint: it is from 0 to 1048576
)");
}

TEST(DataErrors, CsvHeader) {
  EXPECT_EQ(getErrors("npy(\"x.npy\")", "csv(\"x.csv\", header = yes)"),
            R"(job.hfta:6:35: error: unknown header 'yes'
  train x = csv("x.csv", header = yes), label = npy("y.npy")
                                  ^~~
hint: words are: 'auto', 'true', 'false'
)");
  EXPECT_EQ(getErrors("npy(\"x.npy\")", "csv(\"x.csv\", header = 1)"),
            R"(job.hfta:6:35: error: 'header' is a word, got a number
  train x = csv("x.csv", header = 1), label = npy("y.npy")
                                  ^
hint: words are: 'auto', 'true', 'false'
)");
  EXPECT_EQ(
      getErrors("npy(\"x.npy\"), label = npy(\"y.npy\")",
                "csv(\"x.csv\", header = true), "
                "label = csv(\"x.csv\", column = 4)"),
      R"(job.hfta:6:42: error: field 'label' has header = auto for 'x.csv', but field 'x' has header = true
  train x = csv("x.csv", header = true), label = csv("x.csv", column = 4)
                                         ^~~~~
hint: line 1 is a header for all fields of a file or for none: give both the same 'header'
)");
  for (const char *word : {"auto", "true", "false"})
    EXPECT_EQ(getErrors("npy(\"x.npy\")",
                        std::string("csv(\"x.csv\", header = ") + word + ")"),
              "");
  EXPECT_EQ(getErrors("npy(\"x.npy\")", "npy(\"x.npy\", header = true)"),
            R"(job.hfta:6:26: error: 'npy' has no argument 'header'
  train x = npy("x.npy", header = true), label = npy("y.npy")
                         ^~~~~~
hint: arguments are: 'file'
)");
}

TEST(DataErrors, FloatLabel) {
  EXPECT_EQ(
      getErrors("label: u8", "label: f32"),
      R"(job.hfta:11:8: error: the label must hold class numbers, but it is a float
  loss cross_entropy(net, label)
       ^~~~~~~~~~~~~~~~~~~~~~~~~
hint: cross_entropy takes class numbers, or probabilities in the output's shape
)");
}

TEST(DataErrors, LargeSample) {
  EXPECT_EQ(getErrors("x: f32[4]", "x: f32[2147483647, 2147483647]"),
            R"(job.hfta:5:6: error: a sample of more than 4294967296 elements
  x: f32[2147483647, 2147483647], label: u8
     ^~~~~~~~~~~~~~~~~~~~~~~~~~~
hint: the type is that of one sample
)");
}

TEST(DataErrors, NpzWithoutArray) {
  EXPECT_EQ(getErrors("npy(\"x.npy\")", "npz(\"x.npz\")"),
            R"(job.hfta:6:13: error: 'npz' needs 'array'
  train x = npz("x.npz"), label = npy("y.npy")
            ^~~~~~~~~~~~
hint: it is npz(file, array)
)");
  EXPECT_EQ(getErrors("npy(\"x.npy\")", "\"x.npz\""),
            R"(job.hfta:6:13: error: which array of 'x.npz' isn't said
  train x = "x.npz", label = npy("y.npy")
            ^~~~~~~
hint: for example npz("f.npz", "images") or safetensors("f.safetensors", "images")
)");
}

TEST(DataErrors, Files) {
  EXPECT_EQ(getErrors("npy(\"x.npy\")", "npy([\"a.npy\", \"\"])"),
            R"(job.hfta:6:27: error: 'file' is empty
  train x = npy(["a.npy", ""]), label = npy("y.npy")
                          ^~
hint: give a name
)");
  EXPECT_EQ(getErrors("npy(\"x.npy\")", "npy([])"),
            R"(job.hfta:6:17: error: 'file' lists 0 files
  train x = npy([]), label = npy("y.npy")
                ^~
hint: it is one file, or a list of 1 to 256
)");
  EXPECT_EQ(getErrors("npy(\"x.npy\")", "[\"a.npy\", \"b.npy\"]"), "");
}

TEST(DataErrors, CsvColumns) {
  EXPECT_EQ(getErrors("npy(\"x.npy\")", "csv(\"x.csv\", column = [\"a\", 1])"),
            R"(job.hfta:6:41: error: 'column' is a string
  train x = csv("x.csv", column = ["a", 1]), label = npy("y.npy")
                                        ^
hint: strings stand in double quotes
)");
  EXPECT_EQ(getErrors("npy(\"x.npy\")", "csv(\"x.csv\", column = [2, 1, 2])"),
            R"(job.hfta:6:42: error: 'column' lists a column twice
  train x = csv("x.csv", column = [2, 1, 2]), label = npy("y.npy")
                                         ^
hint: list each column once
)");
  EXPECT_EQ(
      getErrors("npy(\"x.npy\")", "csv(\"x.csv\", column = \"a\")"),
      R"(job.hfta:6:13: error: 'column' lists 1 column for samples of 4 elements
  train x = csv("x.csv", column = "a"), label = npy("y.npy")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~
hint: list a column for each element, or give the number of the first of adjacent columns
)");
  EXPECT_EQ(
      getErrors("npy(\"x.npy\")",
                "csv(\"x.csv\", column = [\"a\", \"b\"], header = false)"),
      R"(job.hfta:6:35: error: columns have no names with header = false
  train x = csv("x.csv", column = ["a", "b"], header = false), label = npy("y.npy")
                                  ^~~~~~~~~~
hint: give their numbers, from 0
)");
}

TEST(DataErrors, CsvSeparators) {
  EXPECT_EQ(getErrors("npy(\"x.npy\")", "csv(\"x.csv\", separator = point)"),
            R"(job.hfta:6:38: error: unknown separator 'point'
  train x = csv("x.csv", separator = point), label = npy("y.npy")
                                     ^~~~~
hint: words are: 'comma', 'semicolon', 'tab', 'bar', 'space'
)");
  EXPECT_EQ(
      getErrors("npy(\"x.npy\"), label = npy(\"y.npy\")",
                "csv(\"x.csv\", separator = tab), label = csv(\"x.csv\", "
                "column = 4)"),
      R"(job.hfta:6:44: error: field 'label' has separator = comma for 'x.csv', but field 'x' has separator = tab
  train x = csv("x.csv", separator = tab), label = csv("x.csv", column = 4)
                                           ^~~~~
hint: a file has one separator: give both the same
)");
}

TEST(DataErrors, Images) {
  EXPECT_EQ(
      getErrors("npy(\"x.npy\")", "images(\"x\")"),
      R"(job.hfta:6:13: error: field 'x' is f32[4], which is no type of images
  train x = images("x"), label = npy("y.npy")
            ^~~~~~~~~~~
hint: it is u8[3, height, width], or u8[1, height, width] for gray images
)");
  EXPECT_EQ(
      getErrors("x: f32[4], label: u8\n  train x = npy(\"x.npy\")",
                "label: u8\n  train x = images(\"x\", resize = crop)"),
      R"(job.hfta:6:13: error: images are scaled, but the size that they get isn't said
  train x = images("x", resize = crop), label = npy("y.npy")
            ^~~~~~~~~~~~~~~~~~~~~~~~~~
hint: declare the type of one sample, for example 'x: u8[3, 224, 224]'
)");
  EXPECT_EQ(getErrors("npy(\"x.npy\")", "images(\"x\", resize = fit)"),
            R"(job.hfta:6:34: error: unknown resize 'fit'
  train x = images("x", resize = fit), label = npy("y.npy")
                                 ^~~
hint: words are: 'none', 'stretch', 'crop'
)");
  EXPECT_EQ(getErrors("npy(\"x.npy\")", "images([\"x\", \"y\"])"),
            R"(job.hfta:6:20: error: 'folder' is a string
  train x = images(["x", "y"]), label = npy("y.npy")
                   ^~~~~~~~~~
hint: strings stand in double quotes
)");
  EXPECT_EQ(
      getErrors("label = npy(\"y.npy\")", "label = classes(\"y\")"),
      R"(job.hfta:6:35: error: 'y' holds samples of type i32, but field 'label' is u8
  train x = npy("x.npy"), label = classes("y")
                                  ^~~~~~~~~~~~
hint: shapes may differ only in axes of length 1
)");
}

TEST(DataErrors, Tokens) {
  EXPECT_EQ(getErrors("npy(\"x.npy\")", "tokens(\"x.bin\", stride = 0)"),
            R"(job.hfta:6:38: error: 'stride' is out of range, got 0
  train x = tokens("x.bin", stride = 0), label = npy("y.npy")
                                     ^
hint: it is from 1 to 1099511627776
)");
}

TEST(DataErrors, Draw) {
  EXPECT_EQ(getErrors("batch = 8", "batch = 8, draw = balanced"), "");
  EXPECT_EQ(
      getErrors("batch = 8", "batch = 8, draw = balanced, shuffle = false"),
      R"(job.hfta:10:29: error: samples are drawn at random, but shuffle = false
  data d, batch = 8, draw = balanced, shuffle = false
                            ^~~~~~~~
hint: leave out one of both
)");
}
