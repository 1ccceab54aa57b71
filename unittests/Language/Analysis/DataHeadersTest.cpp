//===- DataHeadersTest.cpp - Types read from the headers of data files ----===//

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
    // The files hold three samples of 2 x 3 bytes, and three labels.
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

  /// Returns the bytes of an npy file whose array holds zeros. `descr`,
  /// `fortran` and `shape` are the values of its header, `bytes` is the size of
  /// its data.
  static std::string npy(const std::string &descr, const std::string &fortran,
                         const std::string &shape, size_t bytes) {
    std::string header = "{'descr': '" + descr +
                         "', 'fortran_order': " + fortran +
                         ", 'shape': " + shape + "}";
    return std::string("\x93NUMPY\1\0", 8) +
           std::string{static_cast<char>(header.size()), '\0'} + header +
           std::string(bytes, '\0');
  }

  /// Compiles a job with the data field x. `type` is empty or the field's
  /// declared type, with the colon before it. The field's value is `format("`
  /// followed by `file`, which closes the quote and the parenthesis, divided by
  /// 255.
  hfta_test::CompiledJob compile(llvm::StringRef type, llvm::StringRef file,
                                 llvm::StringRef format) {
    FrontEndOptions options;
    options.dataDirectory = directory.str().str();
    std::string text = "model net(x: f32[batch, 2, 1, 3]) {\n"
                       "  return linear(flatten(x), 3)\n}\n"
                       "data d {\n  train x" +
                       type.str() + " = " + format.str() + "(\"" + file.str() +
                       " / 255, label = idx(\"y.idx\")\n}\n"
                       "train t {\n  model net(x)\n  data d, batch = 8\n"
                       "  loss cross_entropy(net, label)\n  optimizer sgd\n}\n";
    hfta_test::CompiledJob job = hfta_test::compile(text, {}, options);
    failure = job.failure;
    return job;
  }

  hfta_test::CompiledJob compile(llvm::StringRef type, llvm::StringRef file) {
    return compile(type, (file + "\")").str(), "idx");
  }

  std::string getErrors(llvm::StringRef type, llvm::StringRef file) {
    return getErrors(type, (file + "\")").str(), "idx");
  }

  /// Compiles such a job. Returns its messages, without the folder of the data
  /// files.
  std::string getErrors(llvm::StringRef type, llvm::StringRef file,
                        llvm::StringRef format) {
    std::string messages = compile(type, file, format).messages;
    std::string prefix = directory.str().str() + "/";
    for (size_t at = messages.find(prefix); at != std::string::npos;
         at = messages.find(prefix))
      messages.erase(at, prefix.size());
    return messages;
  }

  llvm::SmallString<128> directory;
  FrontEndFailure failure = FrontEndFailure::none; ///< failure of the last job
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
hint: shapes may differ only in axes of length 1
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
  EXPECT_NE(errors.find("hint: hftac reads the type of a field's samples from "
                        "its file, if that exists"),
            std::string::npos);
  write("empty.idx", "");
  EXPECT_NE(getErrors("", "empty.idx"), "");
}

TEST_F(DataHeaders, CsvFirstLine) {
  auto compileCsv = [&](llvm::StringRef content, llvm::StringRef argument) {
    write("x.csv", content);
    return getErrors(": f32[2, 3]", ("x.csv\"" + argument + ")").str(), "csv");
  };
  std::string note = "note: line 1 of 'x.csv' is read as a sample; if it is a "
                     "header, set header = true, else header = false";
  for (llvm::StringRef numbers : {"0,1,2,3,4,5\n",
                                  "\xEF\xBB\xBF"
                                  "0,1,2,3,4,5\n",
                                  "\n0,1,2,3,4,5"}) {
    EXPECT_NE(compileCsv(numbers, "").find(note), std::string::npos);
    EXPECT_EQ(compileCsv(numbers, ", header = true"), "");
    EXPECT_EQ(compileCsv(numbers, ", header = false"), "");
    EXPECT_NE(compileCsv(numbers, ", header = auto").find(note),
              std::string::npos);
  }
  for (llvm::StringRef words :
       {"a,b,c\n", "\"0\",\"1\"\n", "# 0,1\n", ",0,1\n", ""})
    EXPECT_EQ(compileCsv(words, ""), "") << words.str();
}

/// If a program would refuse a file as unsupported, the compiler refuses it as
/// unsupported, too.
TEST_F(DataHeaders, UnsupportedForms) {
  write("x.csv", llvm::StringRef("\x1F\x8B\x08\0", 4));
  EXPECT_NE(getErrors(": f32[2, 3]", "x.csv\")", "csv")
                .find("'x.csv' is packed by gzip"),
            std::string::npos);
  EXPECT_EQ(failure, FrontEndFailure::unsupported);
  write("x.npy", npy("<c8", "False", "(1, 2, 3)", 48));
  EXPECT_NE(getErrors("", "x.npy\")", "npy")
                .find("element type '<c8' is not supported"),
            std::string::npos);
  EXPECT_EQ(failure, FrontEndFailure::unsupported);
  // An invalid file is a wrong input, not an unsupported one.
  write("x.npy", "no such thing");
  EXPECT_NE(getErrors("", "x.npy\")", "npy"), "");
  EXPECT_EQ(failure, FrontEndFailure::input);
}

TEST_F(DataHeaders, NpyThatIsConverted) {
  write("x.npy", npy(">u4", "True", "(1, 2, 3)", 24));
  EXPECT_EQ(getErrors(": i64[2, 3]", "x.npy\")", "npy"), "");
  EXPECT_NE(getErrors(": i32[2, 3]", "x.npy\")", "npy")
                .find("'x.npy' holds samples of type i64[2, 3]"),
            std::string::npos);
}

TEST_F(DataHeaders, ScalarSamplesAreNoImages) {
  std::string errors = getErrors("", "y.idx");
  EXPECT_NE(errors.find("field 'x' has samples of shape [], but input 'x' "
                        "takes [2, 1, 3]"),
            std::string::npos)
      << errors;
}
