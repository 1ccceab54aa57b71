//===- DataTest.cpp - Sources of samples ----------------------------------===//

#include "TestFiles.h"

#include <atomic>
#include <cmath>
#include <thread>

using namespace hfta_test;

namespace {

class DataTest : public FileTest {
protected:
  /// Returns all samples of a source that must open.
  std::string samples(const Request &request) const {
    hfta_error error;
    DataPointer data = open(request, error);
    EXPECT_TRUE(data) << error.message;
    return data ? gatherAll(data.get()) : "";
  }

  /// Returns the message of a source that must be refused, with FILE instead of
  /// the path.
  std::string refused(const Request &request) const {
    std::string message = refusal(request);
    size_t at = message.find(request.path);
    return at == std::string::npos
               ? message
               : message.replace(at, request.path.size(), "FILE");
  }

  Request csv(const std::string &text, hfta_element_type type,
              std::vector<int64_t> shape, uint32_t column = 0,
              uint64_t columns = 0) const {
    return {write("a.csv", text), HFTA_DATA_CSV, type,
            std::move(shape),     column,        columns};
  }
};

const std::string pixels = "abcdefghijklmnopqr";

} // namespace

//===----------------------------------------------------------------------===//
// idx
//===----------------------------------------------------------------------===//

TEST_F(DataTest, IdxBytes) {
  std::string file = write("a.idx", idx(0x08, {3, 2, 3}, pixels));
  for (const std::vector<int64_t> &shape :
       {std::vector<int64_t>{2, 3}, {1, 2, 3}, {2, 1, 3, 1}}) {
    hfta_error error;
    DataPointer data = open({file, HFTA_DATA_IDX, HFTA_U8, shape}, error);
    ASSERT_TRUE(data) << error.message;
    EXPECT_EQ(hfta_data_count(data.get()), 3);
    EXPECT_EQ(hfta_data_sample_bytes(data.get()), 6u);
    EXPECT_EQ(hfta_data_resident_bytes(data.get()), 0u);
    EXPECT_EQ(gatherAll(data.get()), pixels);
  }
}

TEST_F(DataTest, IdxBigEndian) {
  std::string file =
      write("a.idx", idx(0x0D, {2}, std::string("\x3F\x80\0\0\xC0\0\0\0", 8)));
  EXPECT_EQ(samples({file, HFTA_DATA_IDX, HFTA_F32, {}}),
            bytesOf<float>({1, -2}));
  file = write("a.idx", idx(0x0B, {2}, std::string("\0\1\xFF\xFE", 4)));
  EXPECT_EQ(samples({file, HFTA_DATA_IDX, HFTA_I16, {1}}),
            bytesOf<int16_t>({1, -2}));
  file = write("a.idx", idx(0x0C, {1, 1}, std::string("\1\2\3\4", 4)));
  EXPECT_EQ(samples({file, HFTA_DATA_IDX, HFTA_I32, {}}),
            bytesOf<int32_t>({0x01020304}));
  file = write("a.idx", idx(0x0E, {1}, std::string("\x3F\xF0\0\0\0\0\0\0", 8)));
  EXPECT_EQ(samples({file, HFTA_DATA_IDX, HFTA_F64, {}}), bytesOf<double>({1}));
  file = write("a.idx", idx(0x09, {2}, "\xFF\x01"));
  EXPECT_EQ(samples({file, HFTA_DATA_IDX, HFTA_I8, {}}), "\xFF\x01");
}

TEST_F(DataTest, IdxGzip) {
  std::string packed = gzip(idx(0x08, {3, 2, 3}, pixels));
  // The reader recognizes gzip by the file's first bytes, not by its name.
  Request request = {write("a.idx", packed), HFTA_DATA_IDX, HFTA_U8, {2, 3}};
  hfta_error error;
  DataPointer data = open(request, error);
  ASSERT_TRUE(data) << error.message;
  EXPECT_EQ(hfta_data_resident_bytes(data.get()), 18u);
  EXPECT_EQ(gatherAll(data.get()), pixels);
  // Several gzip members are read as one stream.
  write("a.idx", gzip(idx(0x08, {3, 2, 3}, "abcdef")) + gzip("") +
                     gzip(pixels.substr(6)));
  EXPECT_EQ(samples(request), pixels);
  // Tapes and some tools pad files with zeros.
  for (size_t padding : {1, 511, 100000}) {
    write("a.idx", packed + std::string(padding, '\0'));
    EXPECT_EQ(samples(request), pixels);
  }
}

TEST_F(DataTest, IdxWithoutSamples) {
  Request request = {
      write("a.idx", idx(0x08, {0, 2}, "")), HFTA_DATA_IDX, HFTA_U8, {2}};
  EXPECT_EQ(samples(request), "");
  write("a.idx", gzip(idx(0x08, {0, 2}, "")));
  EXPECT_EQ(samples(request), "");
}

TEST_F(DataTest, IdxErrors) {
  Request request = {write("a.idx", "abc"), HFTA_DATA_IDX, HFTA_U8, {2, 3}};
  EXPECT_EQ(refused(request),
            "1: 'FILE' is no idx file: expected at least 4 bytes, got 3");
  write("a.idx", "\x89PNG....");
  EXPECT_EQ(refused(request),
            "1: 'FILE' is no idx file: expected a magic number 00 00 TT RR "
            "with TT one of 08, 09, 0b to 0e, got 89 50 4e 47");
  write("a.idx", idx(0x08, {}, ""));
  EXPECT_EQ(refused(request),
            "1: 'FILE': expected 1 to 32 axes in its idx header, got 0");
  write("a.idx", idx(0x08, {3, 2, 3}, "").substr(0, 10));
  EXPECT_EQ(refused(request), "1: 'FILE' is truncated within its idx header");
  write("a.idx", idx(0x08, {3, 2, 3}, "short"));
  EXPECT_EQ(refused(request),
            "1: 'FILE' is truncated: 3 samples of shape 2x3 of u8 need 18 "
            "bytes after the header, got 5");
  write("a.idx", idx(0x08, {3, 2, 3}, pixels + "more"));
  EXPECT_EQ(refused(request),
            "1: 'FILE' is too long: 3 samples of shape 2x3 of u8 need 18 bytes "
            "after the header, got 22");
  write("a.idx", idx(0x0D, {3, 2, 3}, pixels));
  EXPECT_EQ(refused(request),
            "1: 'FILE': expected elements of type u8, got f32");
  write("a.idx", idx(0x08, {3, 3, 2}, pixels));
  EXPECT_EQ(refused(request),
            "1: 'FILE': expected samples of shape 2x3, got 3x2");
  write("a.idx", idx(0x08, {3, 6}, pixels));
  EXPECT_EQ(refused(request),
            "1: 'FILE': expected samples of shape 2x3, got 6");
}

TEST_F(DataTest, IdxGzipErrors) {
  Request request = {write("a.idx", ""), HFTA_DATA_IDX, HFTA_U8, {2, 3}};
  std::string packed = gzip(idx(0x08, {3, 2, 3}, pixels));
  write("a.idx", packed.substr(0, packed.size() - 6));
  EXPECT_EQ(refused(request),
            "1: 'FILE' is truncated: its gzip data ends too early");
  write("a.idx", packed + "junk");
  EXPECT_EQ(refused(request),
            "1: 'FILE' has bytes after the end of its gzip data");
  write("a.idx", packed + std::string(100, '\0') + "x");
  EXPECT_EQ(refused(request),
            "1: 'FILE' has bytes after the end of its gzip data");
  write("a.idx", packed + '\0' + packed);
  EXPECT_EQ(refused(request),
            "1: 'FILE' has bytes after the end of its gzip data");
  std::string wrong = packed;
  wrong[wrong.size() - 8] = static_cast<char>(wrong[wrong.size() - 8] ^ 1);
  write("a.idx", wrong);
  EXPECT_EQ(refused(request),
            "1: 'FILE': faulty gzip data: incorrect data check");
  write("a.idx", gzip(idx(0x08, {3, 2, 3}, "short")));
  EXPECT_EQ(refused(request),
            "1: 'FILE' is truncated: 3 samples of shape 2x3 of u8 need 18 "
            "bytes after the header, got 5");
  write("a.idx", gzip(idx(0x08, {3, 2, 3}, pixels + "more")));
  EXPECT_EQ(refused(request),
            "1: 'FILE' is too long: 3 samples of shape 2x3 of u8 need 18 bytes "
            "after the header, got more");
}

TEST_F(DataTest, IdxOfPetabytes) {
  Request request = {write("a.idx", idx(0x08, {0xFFFFFFFF, 1 << 20}, "")),
                     HFTA_DATA_IDX,
                     HFTA_U8,
                     {1 << 20}};
  EXPECT_EQ(refused(request),
            "1: 'FILE' is truncated: 4294967295 samples of shape 1048576 of u8 "
            "need 4503599626321920 bytes after the header, got 0");
  write("a.idx", gzip(idx(0x08, {0xFFFFFFFF, 1 << 20}, "")));
  EXPECT_NE(refused(request).find("is truncated: 4294967295 samples of shape "
                                  "1048576 of u8 need 4503599626321920 bytes "
                                  "after the header, got a gzip file of "),
            std::string::npos);
  write("a.idx", idx(0x0E, {0xFFFFFFFF, 0xFFFFFFFF}, ""));
  EXPECT_EQ(refused(request),
            "1: 'FILE': shape 4294967295x4294967295 of f64 exceeds 2^63 "
            "bytes");
}

//===----------------------------------------------------------------------===//
// npy and raw
//===----------------------------------------------------------------------===//

TEST_F(DataTest, Npy) {
  std::string file =
      write("a.npy",
            npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
                bytesOf<float>({1, 2, 3, 4, 5, 6})));
  EXPECT_EQ(samples({file, HFTA_DATA_NPY, HFTA_F32, {1, 3}}),
            bytesOf<float>({1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(refused({file, HFTA_DATA_NPY, HFTA_F64, {3}}),
            "1: 'FILE': expected elements of type f64, got f32");
  EXPECT_EQ(refused({file, HFTA_DATA_NPY, HFTA_F32, {}}),
            "1: 'FILE': expected samples of shape scalar, got 3");
  file = write("a.npy", npy("{'descr': '|u1', 'fortran_order': False, "
                            "'shape': ()}",
                            "a"));
  EXPECT_EQ(refused({file, HFTA_DATA_NPY, HFTA_U8, {}}),
            "1: 'FILE' holds a scalar; expected a first axis that counts "
            "samples");
}

TEST_F(DataTest, NpyThatIsConverted) {
  Request request = {
      write("a.npy",
            npy("{'descr': '>f4', 'fortran_order': True, 'shape': (2, 3), }",
                std::string("\x3F\x80\0\0\x40\x80\0\0\x40\0\0\0"
                            "\x40\xA0\0\0\x40\x40\0\0\x40\xC0\0\0",
                            24))),
      HFTA_DATA_NPY,
      HFTA_F32,
      {3}};
  hfta_error error;
  DataPointer data = open(request, error);
  ASSERT_TRUE(data) << error.message;
  EXPECT_EQ(gatherAll(data.get()), bytesOf<float>({1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(hfta_data_resident_bytes(data.get()), 24u);
  write("a.npy", npy("{'descr': '<u4', 'fortran_order': False, 'shape': (2,)}",
                     bytesOf<uint32_t>({3, 4})));
  EXPECT_EQ(samples({request.path, HFTA_DATA_NPY, HFTA_I64, {}}),
            bytesOf<int64_t>({3, 4}));
  EXPECT_EQ(refused({request.path, HFTA_DATA_NPY, HFTA_I32, {}}),
            "1: 'FILE': expected elements of type i32, got i64");
  write("a.npy", npy("{'descr': '<u8', 'fortran_order': False, 'shape': (1,)}",
                     bytesOf<uint64_t>({UINT64_MAX})));
  EXPECT_EQ(refused({request.path, HFTA_DATA_NPY, HFTA_I64, {}}),
            "1: 'FILE' holds the u64 number 18446744073709551615; numbers "
            "above 9223372036854775807 can't be read as i64");
}

TEST_F(DataTest, Raw) {
  std::string file = write("a.bin", pixels);
  EXPECT_EQ(samples({file, HFTA_DATA_RAW, HFTA_U8, {2, 3}}), pixels);
  EXPECT_EQ(refused({file, HFTA_DATA_RAW, HFTA_F32, {2, 2}}),
            "1: 'FILE': expected a multiple of 16 bytes (a sample of shape 2x2 "
            "of f32), got 18");
  file = write("a.bin", "");
  EXPECT_EQ(samples({file, HFTA_DATA_RAW, HFTA_U8, {2, 3}}), "");
}

//===----------------------------------------------------------------------===//
// csv
//===----------------------------------------------------------------------===//

TEST_F(DataTest, CsvNumbers) {
  EXPECT_EQ(samples(csv("1,2.5\n-3e2,nan\n", HFTA_F32, {2})).substr(0, 12),
            bytesOf<float>({1, 2.5, -300}));
  EXPECT_EQ(samples(csv("0.1,-inf", HFTA_F64, {1, 2})),
            bytesOf<double>({0.1, -INFINITY}));
  EXPECT_EQ(samples(csv("1,-2", HFTA_F16, {2})),
            bytesOf<uint16_t>({0x3C00, 0xC000}));
  EXPECT_EQ(samples(csv("1,-2", HFTA_BF16, {2})),
            bytesOf<uint16_t>({0x3F80, 0xC000}));
  EXPECT_EQ(samples(csv("0,255", HFTA_U8, {2})), std::string("\0\xFF", 2));
  EXPECT_EQ(samples(csv("-128,127", HFTA_I8, {2})), "\x80\x7F");
  EXPECT_EQ(samples(csv("65535", HFTA_U16, {})), "\xFF\xFF");
  EXPECT_EQ(samples(csv("-32768", HFTA_I16, {})), bytesOf<int16_t>({-32768}));
  EXPECT_EQ(samples(csv("2147483647", HFTA_I32, {})),
            bytesOf<int32_t>({2147483647}));
  EXPECT_EQ(samples(csv("-9223372036854775808,3.0,1e3", HFTA_I64, {3})),
            bytesOf<int64_t>({INT64_MIN, 3, 1000}));
  EXPECT_EQ(samples(csv("0\n1\n", HFTA_BOOL, {})), std::string("\0\1", 2));
}

TEST_F(DataTest, CsvLayouts) {
  // These texts have a header, a byte order mark, CRLF, blanks, empty lines, or
  // no newline at the end.
  std::string expected("\1\2\3\4", 4);
  for (const char *text : {"1,2\n3,4\n", "a,b\n1,2\n3,4",
                           "\xEF\xBB\xBF"
                           "1,2\r\n3,4\r\n",
                           "\n\n a , b \n\n 1 ,\t2 \n \n3,4\n\n"})
    EXPECT_EQ(samples(csv(text, HFTA_U8, {2})), expected) << text;
  for (const char *text :
       {"id,a,b\nx,1,2\ny,3,4", "x,1,2\ny,3,4", ",1,2\n,3,4"})
    EXPECT_EQ(samples(csv(text, HFTA_U8, {2}, 1)), expected) << text;
  // Columns after those of the sample belong to other fields.
  for (const char *text : {"0,1,2,7\n0,3,4,7\n", "x,1,2,\nx,3,4,x"})
    EXPECT_EQ(samples(csv(text, HFTA_U8, {2}, 1, 4)), expected) << text;
  EXPECT_EQ(samples(csv("", HFTA_U8, {2})), "");
  EXPECT_EQ(samples(csv("a,b\n", HFTA_U8, {2})), "");
}

TEST_F(DataTest, CsvErrors) {
  EXPECT_EQ(refused(csv("1,2\n3,x\n", HFTA_U8, {2})),
            "1: 'FILE', line 2, column 1: expected a number of type u8, got "
            "'x'");
  EXPECT_EQ(refused(csv("a,b\n\n3,256\n", HFTA_U8, {2})),
            "1: 'FILE', line 3, column 1: expected a number of type u8, got "
            "'256'");
  EXPECT_EQ(refused(csv("7,1.5\n", HFTA_I64, {}, 1)),
            "1: 'FILE', line 1, column 1: expected a number of type i64, got "
            "'1.5'");
  EXPECT_EQ(refused(csv("1,1e39\n", HFTA_F32, {2})),
            "1: 'FILE', line 1, column 1: expected a number of type f32, got "
            "'1e39'");
  EXPECT_EQ(refused(csv("1,70000\n", HFTA_F16, {2})),
            "1: 'FILE', line 1, column 1: expected a number of type f16, got "
            "'70000'");
  EXPECT_EQ(refused(csv("1,\n", HFTA_F32, {2})),
            "1: 'FILE', line 1: expected 2 numbers, got '1,'");
  EXPECT_EQ(refused(csv("11,\n", HFTA_F32, {2})),
            "1: 'FILE', line 1, column 1: the value is missing, expected a "
            "number of type f32");
  EXPECT_EQ(refused(csv("1,2\n33\n", HFTA_F32, {2})),
            "1: 'FILE', line 2: expected 2 columns, got 1");
  EXPECT_EQ(refused(csv("1,2\n", HFTA_F32, {}, 4000000000)),
            "1: 'FILE', line 1: expected 4000000001 columns, got 2");
  EXPECT_EQ(refused(csv("1\n1\n1\n", HFTA_F64, {1 << 30, 1 << 20})),
            "1: 'FILE', line 1: expected 1125899906842624 columns, got 1");
  EXPECT_EQ(refused(csv("a\n2\n\n\"2\n3\n", HFTA_F64, {})),
            "1: 'FILE', line 4: a field begins with '\"', but no '\"' ends it");
}

TEST_F(DataTest, CsvColumns) {
  EXPECT_EQ(refused(csv("1,2\n3,4,5\n", HFTA_F32, {2})),
            "1: 'FILE', line 2: expected 2 columns, got 3");
  EXPECT_EQ(refused(csv("1,2\n3,4,\n", HFTA_F32, {2})),
            "1: 'FILE', line 2: expected 2 columns, got 3");
  EXPECT_EQ(refused(csv("1,2,3,4\n1,2,3\n", HFTA_F32, {2}, 1, 4)),
            "1: 'FILE', line 2: expected 4 columns, got 3");
  EXPECT_EQ(refused(csv("1,2,3,4,5\n", HFTA_F32, {2}, 1, 4)),
            "1: 'FILE', line 1: expected 4 columns, got 5");
  std::string hint = "; columns are separated by ',' unless the job says "
                     "otherwise, here they may be by ';': separator = "
                     "semicolon";
  EXPECT_EQ(refused(csv("a;b\n1;2\n", HFTA_F32, {2})),
            "1: 'FILE', line 2, column 0: expected a number of type f32, got "
            "'1;2'" +
                hint);
  EXPECT_EQ(refused(csv("a;b\n1;2\n", HFTA_F32, {1}, 1)),
            "1: 'FILE', line 1: expected 2 columns, got 1" + hint);
  EXPECT_EQ(refused(csv("a;b\n1,5;2,5\n", HFTA_F32, {2})),
            "1: 'FILE', line 2, column 1: expected a number of type f32, got "
            "'5;2'" +
                hint);
}

TEST_F(DataTest, CsvHeaders) {
  // Each case has a file, the number of its samples for each kind of header
  // (-1: the file is refused), and whether the reader only guesses that the
  // first line is no header.
  struct Case {
    std::string text;
    int automatic, present, absent;
    bool guesses;
  } cases[] = {{"0,1\n2,3\n4,5\n", 3, 2, 3, true},
               {"\xEF\xBB\xBF"
                "0,1\n2,3\n",
                2, 1, 2, true},
               {"\n\r\n0,1\r\n2,3\r\n", 2, 1, 2, true},
               {"a,b\n2,3\n", 1, 1, -1, false},
               {"\xEF\xBB\xBF"
                "a,b\n2,3\n",
                1, 1, -1, false},
               {"\"0\",\"1\"\n2,3\n", 1, 1, 2, false},
               {"# 0,1\n2,3\n", 1, 1, -1, false},
               {",1\n2,3\n", -1, 1, -1, false},
               {"nan,1\n2,3\n", 2, 1, 2, true},
               {"0,1", 1, 0, 1, true},
               {"", 0, 0, 0, false}};
  for (const Case &each : cases)
    for (auto [header, count] :
         {std::pair(HFTA_CSV_HEADER_AUTO, each.automatic),
          {HFTA_CSV_HEADER_PRESENT, each.present},
          {HFTA_CSV_HEADER_ABSENT, each.absent}}) {
      Request request = csv(each.text, HFTA_F32, {2});
      request.header = header;
      bool guesses = each.guesses && header == HFTA_CSV_HEADER_AUTO;
      hfta_error error;
      DataPointer data = open(request, error);
      EXPECT_EQ(data ? hfta_data_count(data.get()) : -1, count)
          << each.text << header << error.message;
      if (data) {
        EXPECT_EQ(hfta_data_guesses_no_header(data.get()), guesses)
            << each.text << header;
      }
      hfta_data_request probed = {};
      probed.path = request.path.c_str();
      probed.header = header;
      bool found;
      ASSERT_EQ(hfta_data_probe_csv(&probed, &found, &error), HFTA_OK);
      EXPECT_EQ(found, guesses) << each.text << header;
    }
  // Only the columns from which numbers are taken decide whether there is a
  // header.
  Request request = csv(",0,1\n9,2,3\n", HFTA_F32, {2}, 1);
  EXPECT_EQ(samples(request), bytesOf<float>({0, 1, 2, 3}));
  request.header = HFTA_CSV_HEADER_PRESENT;
  EXPECT_EQ(samples(request), bytesOf<float>({2, 3}));
}

TEST_F(DataTest, CsvOfOtherForms) {
  std::string hint = "; columns are separated by ',' unless the job says "
                     "otherwise, here they may be by ";
  for (auto [separator, name] :
       {std::pair<std::string, std::string>{"\t", "tabs: separator = tab"},
        {"|", "'|': separator = bar"},
        {" ", "spaces: separator = space"}}) {
    std::string line = "1" + separator + "2";
    EXPECT_EQ(refused(csv("a,b\n" + line + "\n", HFTA_F32, {2})),
              "1: 'FILE', line 2, column 0: expected a number of type f32, "
              "got '" +
                  line + "'" + hint + name);
    EXPECT_EQ(refused(csv(line + "\n" + line + "\n", HFTA_F32, {}, 1)),
              "1: 'FILE', line 1: expected 2 columns, got 1" + hint + name);
  }
  EXPECT_EQ(refused(csv("1,2\n3,New York\n", HFTA_F32, {2})),
            "1: 'FILE', line 2, column 1: expected a number of type f32, got "
            "'New York'");
  for (const std::string &text :
       {std::string("\xFF\xFE"
                    "1\0,\0",
                    6),
        std::string("\xFE\xFF\0001\0,", 6), std::string("1\0,\0", 4),
        std::string("\0001\0,", 4)})
    EXPECT_EQ(refused(csv(text, HFTA_F32, {2})),
              "3: 'FILE' is a text in UTF-16, which is not supported: save it "
              "as UTF-8");
  for (auto [bytes, name] :
       {std::pair<std::string, std::string>{gzip("1,2\n"), "gzip"},
        {"PK\3\4....", "zip"},
        {"BZh91AY&SY....", "bzip2"},
        {"\xFD"
         "7zXZ....",
         "xz"},
        {"\x28\xB5\x2F\xFD....", "Zstandard"}})
    EXPECT_EQ(refused(csv(bytes, HFTA_F32, {2})),
              "3: 'FILE' is packed by " + name +
                  ", which is not supported for csv files: unpack it");
  // Bytes that aren't printable text are replaced in the message.
  EXPECT_EQ(refused(csv("1,2\n3,\x8B\x1B[2J\xC2\x9B\xC3\xA4\n", HFTA_F32, {2})),
            "1: 'FILE', line 2, column 1: expected a number of type f32, got "
            "'\?\?[2J\?\?\xC3\xA4'");
}

//===----------------------------------------------------------------------===//
// Gather, probe, requests
//===----------------------------------------------------------------------===//

TEST_F(DataTest, GatherInAnyOrder) {
  hfta_error error;
  DataPointer data =
      open({write("a.bin", pixels), HFTA_DATA_RAW, HFTA_U8, {6}}, error);
  ASSERT_TRUE(data);
  std::string out(24, '\0');
  std::vector<int64_t> indices = {2, 0, 2, 1};
  EXPECT_EQ(hfta_data_gather(data.get(), indices.data(), 4, out.data(), &error),
            HFTA_OK);
  EXPECT_EQ(out, "mnopqrabcdefmnopqrghijkl");
  EXPECT_EQ(hfta_data_gather(data.get(), nullptr, 0, nullptr, &error), HFTA_OK);
  for (int64_t bad : {int64_t{-1}, int64_t{3}, INT64_MAX}) {
    indices = {0, bad};
    EXPECT_EQ(
        hfta_data_gather(data.get(), indices.data(), 2, out.data(), &error),
        HFTA_INVALID_INPUT);
    EXPECT_EQ(error.message,
              "expected a sample below 3, got " + std::to_string(bad));
  }
}

TEST_F(DataTest, GatherFromManyThreads) {
  hfta_error error;
  DataPointer data = open({write("a.idx", gzip(idx(0x08, {3, 2, 3}, pixels))),
                           HFTA_DATA_IDX,
                           HFTA_U8,
                           {2, 3}},
                          error);
  ASSERT_TRUE(data);
  std::atomic<int> equal = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 100; ++j)
        equal += gatherAll(data.get()) == pixels;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(equal, 400);
}

TEST_F(DataTest, Probe) {
  hfta_data_info info;
  hfta_error error;
  std::string file = write("a.idx", gzip(idx(0x0C, {3, 1, 2}, "")));
  hfta_data_request request = {};
  request.path = file.c_str();
  request.format = HFTA_DATA_IDX;
  ASSERT_EQ(hfta_data_probe(&request, &info, &error), HFTA_OK) << error.message;
  EXPECT_EQ(info.type, HFTA_I32);
  EXPECT_EQ(info.count, 3);
  EXPECT_EQ(info.sample_rank, 2u);
  EXPECT_EQ(info.sample_shape[1], 2);
  file = write("a.npy", npy("{'descr': '|b1', 'fortran_order': False, "
                            "'shape': (2,)}",
                            "ab"));
  request.path = file.c_str();
  request.format = HFTA_DATA_NPY;
  ASSERT_EQ(hfta_data_probe(&request, &info, &error), HFTA_OK);
  EXPECT_EQ(info.type, HFTA_BOOL);
  EXPECT_EQ(info.count, 2);
  EXPECT_EQ(info.sample_rank, 0u);
  request.path = "a.csv";
  request.format = HFTA_DATA_CSV;
  EXPECT_EQ(hfta_data_probe(&request, &info, &error), HFTA_UNSUPPORTED);
  EXPECT_STREQ(error.message,
               "'a.csv': csv files have no header that gives type and shape");
}

TEST_F(DataTest, BadRequests) {
  std::string file = write("a.bin", pixels);
  EXPECT_EQ(refused({file, HFTA_DATA_NONE, HFTA_U8, {1}}),
            "70: 'FILE': unknown data format 0");
  EXPECT_EQ(refused({file, HFTA_DATA_RAW, HFTA_U8, {INT64_MAX, 2}}),
            "3: 'FILE': the requested samples exceed 32 axes or 2^63 bytes");
  EXPECT_EQ(refused({path("none"), HFTA_DATA_RAW, HFTA_U8, {1}}),
            "1: cannot open 'FILE': No such file or directory");
}

//===----------------------------------------------------------------------===//
// Hostile files
//===----------------------------------------------------------------------===//

namespace {

/// Opens truncated and corrupted copies of a file. A copy that opens
/// nevertheless must be readable within its bounds.
class HostileDataTest : public DataTest {
protected:
  void damage(const std::string &good, Request request, int corruptions) {
    auto check = [&](const std::string &bytes) {
      request.path = write("damaged", bytes);
      hfta_error error;
      DataPointer data = open(request, error);
      if (!data) {
        EXPECT_NE(error.message[0], '\0');
        return;
      }
      EXPECT_LE(hfta_data_resident_bytes(data.get()), 1032 * bytes.size());
      gatherAll(data.get());
    };
    request.path = write("good", good);
    EXPECT_EQ(refusal(request), "0");
    forEachTruncation(good, check);
    forEachCorruption(good, corruptions, check);
  }
};

} // namespace

TEST_F(HostileDataTest, Idx) {
  damage(idx(0x0C, {3, 2}, std::string(24, 'x')),
         {"", HFTA_DATA_IDX, HFTA_I32, {2}}, 5000);
}

TEST_F(HostileDataTest, IdxGzip) {
  damage(gzip(idx(0x08, {3, 2, 3}, pixels)),
         {"", HFTA_DATA_IDX, HFTA_U8, {2, 3}}, 5000);
}

TEST_F(HostileDataTest, Npy) {
  damage(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
             std::string(24, 'x')),
         {"", HFTA_DATA_NPY, HFTA_F32, {3}}, 5000);
}

TEST_F(HostileDataTest, Csv) {
  damage("a,b,c\n1,2.5,-3e2\n nan,.5 ,1e-40\r\n\n123456789012345678901,0,7\n",
         {"", HFTA_DATA_CSV, HFTA_F32, {2}, 1}, 5000);
  damage("1,200\n3.0,4\n", {"", HFTA_DATA_CSV, HFTA_U8, {2}, 0}, 2000);
}
