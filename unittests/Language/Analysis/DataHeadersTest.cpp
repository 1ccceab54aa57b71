//===- DataHeadersTest.cpp - Types from the headers of data files ---------===//

#include "TestJobs.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace mlir::hfta;

namespace {
class DataHeaders : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("hfta-data", directory));
    // Three samples of 2 x 3 bytes, and three labels.
    write("x.idx", llvm::StringRef("\0\0\x08\x03\0\0\0\x03\0\0\0\x02\0\0\0\x03"
                                   "abcdefghijklmnopqr",
                                   34));
    write("y.idx", llvm::StringRef("\0\0\x08\x01\0\0\0\x03\0\1\2", 11));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(directory); }

  void write(llvm::StringRef name, llvm::StringRef bytes) {
    llvm::SmallString<128> path(directory);
    llvm::sys::path::append(path, name);
    std::error_code error;
    llvm::raw_fd_ostream os(path, error);
    ASSERT_FALSE(error);
    os << bytes;
  }

  hfta_test::CompiledJob compile(llvm::StringRef type, llvm::StringRef file) {
    FrontEndOptions options;
    options.dataDirectory = directory.str().str();
    std::string text = "model net(x: f32[batch, 2, 1, 3]) {\n"
                       "  return linear(flatten(x), 3)\n}\n"
                       "data d {\n  train x" +
                       type.str() + " = idx(\"" + file.str() +
                       "\") / 255, label = idx(\"y.idx\")\n}\n"
                       "train t {\n  model net(x)\n  data d, batch = 8\n"
                       "  loss cross_entropy(net, label)\n  optimizer sgd\n}\n";
    return hfta_test::compile(text, {}, options);
  }

  /// Returns the messages, without the folder's name.
  std::string getErrors(llvm::StringRef type, llvm::StringRef file) {
    std::string messages = compile(type, file).messages;
    std::string prefix = directory.str().str() + "/";
    for (size_t at = messages.find(prefix); at != std::string::npos;
         at = messages.find(prefix))
      messages.erase(at, prefix.size());
    return messages;
  }

  llvm::SmallString<128> directory;
};
} // namespace

TEST_F(DataHeaders, TypeFromTheHeader) {
  hfta_test::CompiledJob job = compile("", "x.idx");
  ASSERT_TRUE(job.module) << job.messages;
  std::string text;
  llvm::raw_string_ostream os(text);
  job.module->print(os);
  EXPECT_NE(text.find("@prepare(%arg0: tensor<8x2x3xui8> {hfta.name = \"x\"}, "
                      "%arg1: tensor<8xui8>"),
            std::string::npos)
      << text;
}

TEST_F(DataHeaders, DeclaredTypeAgrees) {
  EXPECT_EQ(getErrors(": u8[2, 3]", "x.idx"), "");
  EXPECT_EQ(getErrors(": u8[2, 1, 3, 1]", "x.idx"), "");
}

TEST_F(DataHeaders, DeclaredTypeDiffers) {
  EXPECT_EQ(
      getErrors(": u8[3, 2]", "x.idx"),
      R"(job.hfta:5:23: error: 'x.idx' holds samples of type u8[2, 3], but field 'x' is u8[3, 2]
  train x: u8[3, 2] = idx("x.idx") / 255, label = idx("y.idx")
                      ^~~~~~~~~~~~
hint: shapes may differ in axes of length 1 alone
)");
}

TEST_F(DataHeaders, MissingFile) {
  EXPECT_EQ(getErrors("", "z.idx"),
            R"(job.hfta:5:13: error: no such file: 'z.idx'
  train x = idx("z.idx") / 255, label = idx("y.idx")
            ^~~~~~~~~~~~
hint: declare the type of one sample, for example 'x: u8[28, 28]', or pass --data DIR
)");
  EXPECT_EQ(getErrors(": u8[2, 3]", "z.idx"), "");
}

TEST_F(DataHeaders, BadFile) {
  write("bad.idx", "no such thing");
  std::string errors = getErrors("", "bad.idx");
  EXPECT_NE(errors.find("job.hfta:5:13: error: "), std::string::npos) << errors;
  EXPECT_NE(errors.find("hint: the file is read because it is there"),
            std::string::npos);
  write("empty.idx", "");
  EXPECT_NE(getErrors("", "empty.idx"), "");
}

TEST_F(DataHeaders, ScalarSamplesAreNoImages) {
  std::string errors = getErrors("", "y.idx");
  EXPECT_NE(errors.find("field 'x' has samples of shape [], but input 'x' "
                        "takes [2, 1, 3]"),
            std::string::npos)
      << errors;
}
