//===- DataFormatsTest.cpp - Samples of tables and archives ---------------===//

#include "TestFiles.h"

using namespace hfta_test;

namespace {

class DataFormatsTest : public FileTest {
protected:
  /// Returns all samples of a source that must open.
  static std::string samples(const Request &request) {
    hfta_error error;
    DataPointer data = open(request, error);
    EXPECT_TRUE(data) << error.message;
    return data ? gatherAll(data.get()) : "";
  }

  /// Returns the message of a source that must be refused, without the test's
  /// folder.
  std::string refused(const Request &request) const {
    std::string message = refusal(request), folder = path("");
    for (size_t at; (at = message.find(folder)) != std::string::npos;)
      message.erase(at, folder.size());
    return message;
  }

  /// Returns a request for two floats of each line.
  Request csv(const std::string &text, std::vector<std::string> names) const {
    Request request = {write("a.csv", text), HFTA_DATA_CSV, HFTA_F32, {2}};
    request.names = std::move(names);
    return request;
  }
};

const std::string bytesHeader =
    "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 2), }";
const std::string bigEndianHeader =
    "{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }";

std::string arrays(bool isCompressed) {
  return zip({{"x.npy", npy(bytesHeader, "abcdef")},
              {"y.npy", npy(bigEndianHeader, std::string("\0\1\1\0", 4))}},
             isCompressed);
}

const std::string table = "name,height,\"the \"\"width\"\"\"\n"
                          "\"Smith, J.\",1,2\n"
                          "\"two\nlines\",\"3\", \"4\" \r\n"
                          "ab\"cd,5,6\n";

} // namespace

//===----------------------------------------------------------------------===//
// csv
//===----------------------------------------------------------------------===//

TEST_F(DataFormatsTest, CsvNames) {
  EXPECT_EQ(samples(csv(table, {"height", "the \"width\""})),
            bytesOf<float>({1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(samples(csv(table, {"the \"width\"", "height"})),
            bytesOf<float>({2, 1, 4, 3, 6, 5}));
  EXPECT_EQ(samples(csv("", {"a", "b"})), "");
  EXPECT_EQ(refused(csv(table, {"height", "width"})),
            "1: 'a.csv' has no column 'width'; its columns are 'name', "
            "'height', 'the \"\"width\"\"'");
  EXPECT_EQ(refused(csv("a,b,a\n1,2,3\n", {"b", "a"})),
            "1: 'a.csv' has two columns 'a': number 0 and number 2");
  EXPECT_EQ(refused(csv("a,b\n1,2\n", {"a", "a"})),
            "1: 'a.csv': column 0 is taken twice");
  // Each line has the header's columns.
  EXPECT_EQ(refused(csv("a,b,c\n1,2,3\n1,2\n", {"a", "b"})),
            "1: 'a.csv', line 3: expected 3 columns, got 2");
}

TEST_F(DataFormatsTest, CsvMissing) {
  EXPECT_EQ(refused(csv("a,b,c\n1,text,3\n11,,\n", {"c", "a"})),
            "1: 'a.csv', line 3, column 2 ('c'): the value is missing, "
            "expected a number of type f32");
  EXPECT_EQ(refused(csv("a,b,c\n1,text,\"\"\n", {"c", "a"})),
            "1: 'a.csv', line 2, column 2 ('c'): the value is missing, "
            "expected a number of type f32");
  EXPECT_EQ(refused(csv("a,b,c\n1,NA,3\n", {"b", "a"})),
            "1: 'a.csv', line 2, column 1 ('b'): expected a number of type "
            "f32, got 'NA'");
  // Lines are those of the file, in spite of line breaks in quotes.
  EXPECT_EQ(refused(csv("a,b\n\"1\",\"1x\n\n2\"\nx,2\n", {"a", "b"})),
            "1: 'a.csv', line 2, column 1 ('b'): expected a number of type "
            "f32, got '1x'");
  EXPECT_EQ(refused(csv("c,a,b\n\"\n\n\",1,2\n,x,2\n", {"a", "b"})),
            "1: 'a.csv', line 5, column 1 ('a'): expected a number of type "
            "f32, got 'x'");
}

TEST_F(DataFormatsTest, CsvNumbers) {
  Request request = csv("1,2,3,4\n5,6,7,8\n", {});
  request.numbers = {3, 1};
  EXPECT_EQ(samples(request), bytesOf<float>({4, 2, 8, 6}));
  request.numbers = {0, 2};
  EXPECT_EQ(refused(request), "1: 'a.csv', line 1: expected 3 columns, got 4");
  request.columns = 4;
  EXPECT_EQ(samples(request), bytesOf<float>({1, 3, 5, 7}));
}

TEST_F(DataFormatsTest, CsvSeparators) {
  for (auto [separator, text] :
       {std::pair(HFTA_CSV_SEPARATOR_SEMICOLON, "a;b;\"c;d\"\n1;2;x\n3; 4;y"),
        {HFTA_CSV_SEPARATOR_TAB, "a\tb\tc\n1\t2\t\n3\t 4\t\"5\t6\"\n"},
        {HFTA_CSV_SEPARATOR_BAR, "a|b|c\r\n1|2|\r\n3|4|5,6\n"},
        {HFTA_CSV_SEPARATOR_SPACE, "a b  c\n  1   2\t7 \n3 4 \"x y\"\n"}}) {
    Request request = csv(text, {"a", "b"});
    request.separator = separator;
    EXPECT_EQ(samples(request), bytesOf<float>({1, 2, 3, 4})) << text;
  }
  Request request = csv("a\tb\n\t2\n", {"a", "b"});
  request.separator = HFTA_CSV_SEPARATOR_TAB;
  EXPECT_EQ(refused(request), "1: 'a.csv', line 2: expected 2 numbers, got "
                              "'\t2'");
}

TEST_F(DataFormatsTest, CsvQuotedNumbers) {
  // A number in quotes is a header's, unless numbers below have quotes, too.
  EXPECT_EQ(samples(csv("\"1\",\"2\"\n\"3\",\"4\"\n", {})),
            bytesOf<float>({1, 2, 3, 4}));
  EXPECT_EQ(samples(csv("\"1\",\"2\"\n3,4\n", {})), bytesOf<float>({3, 4}));
}

//===----------------------------------------------------------------------===//
// Archives
//===----------------------------------------------------------------------===//

TEST_F(DataFormatsTest, Npz) {
  for (bool isCompressed : {false, true}) {
    Request request = {
        write("a.npz", arrays(isCompressed)), HFTA_DATA_NPZ, HFTA_U8, {2}};
    request.array = "x";
    EXPECT_EQ(samples(request), "abcdef");
    hfta_error error;
    DataPointer data = open(request, error);
    ASSERT_TRUE(data);
    // A stored array is mapped.
    EXPECT_EQ(hfta_data_resident_bytes(data.get()) > 0, isCompressed);
    request = {request.path, HFTA_DATA_NPZ, HFTA_I16, {}};
    request.array = "y";
    EXPECT_EQ(samples(request), bytesOf<int16_t>({1, 256}));
    hfta_data_request probed = {};
    probed.path = request.path.c_str();
    probed.format = HFTA_DATA_NPZ;
    probed.array = "x";
    hfta_data_info info;
    ASSERT_EQ(hfta_data_probe(&probed, &info, &error), HFTA_OK);
    EXPECT_EQ(info.type, HFTA_U8);
    EXPECT_EQ(info.count, 3);
    EXPECT_EQ(info.sample_rank, 1u);
    EXPECT_EQ(info.sample_shape[0], 2);
  }
}

TEST_F(DataFormatsTest, NpzErrors) {
  Request request = {write("a.npz", arrays(true)), HFTA_DATA_NPZ, HFTA_U8, {2}};
  request.array = "z";
  EXPECT_EQ(refused(request),
            "1: 'a.npz' has no array 'z'; its arrays are 'x', 'y'");
  request.array = "y";
  EXPECT_EQ(refused(request),
            "1: 'a.npz:y': expected elements of type u8, got i16");
  std::string bytes = arrays(true);
  size_t data = bytes.find("x.npy") + 5;
  bytes[data + 40] ^= 1;
  write("a.npz", bytes);
  request.array = "x";
  EXPECT_EQ(refused(request).substr(0, 12), "1: 'a.npz:x'");
  write("a.npz", "PK\3\4");
  EXPECT_EQ(refused(request), "1: 'a.npz' is no whole zip archive: it lacks "
                              "the record with which archives end");
  write("a.npz", zip({{"x.npy", "text"}}, false));
  EXPECT_EQ(refused(request), "1: 'a.npz:x' is no npy file: it doesn't begin "
                              "with \"\\x93NUMPY\"");
}

TEST_F(DataFormatsTest, HostileNpz) {
  for (bool isCompressed : {false, true}) {
    auto check = [&](const std::string &bytes) {
      Request request = {write("bad.npz", bytes), HFTA_DATA_NPZ, HFTA_U8, {2}};
      request.array = "x";
      hfta_error error;
      if (DataPointer data = open(request, error))
        gatherAll(data.get());
    };
    std::string good = arrays(isCompressed);
    forEachTruncation(good, check);
    forEachCorruption(good, 500, check);
  }
}

TEST_F(DataFormatsTest, Safetensors) {
  std::string file = write(
      "a.safetensors",
      safetensors("{\"x\":{\"dtype\":\"U8\",\"shape\":[3,2],\"data_offsets\":"
                  "[0,6]},\"one\":{\"dtype\":\"U8\",\"shape\":[],"
                  "\"data_offsets\":[6,7]}}",
                  "abcdefg"));
  Request request = {file, HFTA_DATA_SAFETENSORS, HFTA_U8, {2}};
  request.array = "x";
  EXPECT_EQ(samples(request), "abcdef");
  request.array = "one";
  EXPECT_EQ(refused(request), "1: 'a.safetensors:one' holds a scalar; expected "
                              "a first axis that counts samples");
  request.array = "z";
  EXPECT_EQ(refused(request), "1: 'a.safetensors' has no tensor 'z'; its "
                              "tensors are 'x', 'one'");
}

//===----------------------------------------------------------------------===//
// Several files
//===----------------------------------------------------------------------===//

TEST_F(DataFormatsTest, Join) {
  hfta_error error;
  std::vector<hfta_data *> parts;
  for (const char *text : {"1,2\n3,4\n", "", "5,6\n"}) {
    std::string name = "part" + std::to_string(parts.size());
    parts.push_back(
        open({write(name, text), HFTA_DATA_CSV, HFTA_U8, {2}}, error)
            .release());
    ASSERT_TRUE(parts.back()) << error.message;
  }
  hfta_data *joined;
  ASSERT_EQ(hfta_data_join(parts.data(), 3, &joined, &error), HFTA_OK);
  DataPointer data(joined);
  EXPECT_EQ(hfta_data_count(joined), 3);
  EXPECT_EQ(hfta_data_resident_bytes(joined), 6u);
  EXPECT_EQ(gatherAll(joined), std::string("\1\2\3\4\5\6"));
  int64_t indices[] = {2, 0, 2, 1};
  char out[8];
  ASSERT_EQ(hfta_data_gather(joined, indices, 4, out, &error), HFTA_OK);
  EXPECT_EQ(std::string(out, 8), std::string("\5\6\1\2\5\6\3\4"));
  indices[1] = 3;
  EXPECT_EQ(hfta_data_gather(joined, indices, 4, out, &error),
            HFTA_INVALID_INPUT);
}
