//===- NpyTest.cpp - Tests of NumPy's array files -------------------------===//

#include "hfta/npy.h"

#include "TestFiles.h"

#include <cstring>
#include <unistd.h>

using namespace hfta_test;

namespace {

class NpyTest : public FileTest {
protected:
  std::string open(const std::string &bytes) const {
    std::string file = write("a.npy", bytes);
    hfta_npy npy;
    hfta_error error;
    hfta_status status = hfta_npy_open(file.c_str(), &npy, &error);
    hfta_npy_close(&npy);
    hfta_npy_close(&npy);
    std::string message = describe(status, error);
    size_t at = message.find(file);
    return at == std::string::npos ? message
                                   : message.replace(at, file.size(), "FILE");
  }

  /// Opens an array file with this header and these bytes. Returns the type and
  /// the elements as C order, or the error.
  std::string read(const std::string &descr, const std::vector<int64_t> &shape,
                   const std::string &stored, bool isFortran = false) const {
    std::string axes;
    for (int64_t size : shape)
      axes += std::to_string(size) + ", ";
    std::string bytes =
        npy("{'descr': '" + descr + "', 'fortran_order': " +
                (isFortran ? "True" : "False") + ", 'shape': (" + axes + ")}",
            stored);
    std::string message = open(bytes);
    if (message != "0")
      return message;
    hfta_npy npy;
    EXPECT_EQ(hfta_npy_open(write("a.npy", bytes).c_str(), &npy, nullptr),
              HFTA_OK);
    std::string text = hfta_element_name(npy.header.type);
    text += ' ';
    text.append(static_cast<const char *>(npy.data), npy.header.data_bytes);
    hfta_npy_close(&npy);
    return text;
  }

  void roundTrip(hfta_element_type type, const std::vector<int64_t> &shape,
                 const std::string &bytes, const std::string &dictionary) {
    hfta_tensor_view view = {};
    view.type = type;
    view.rank = static_cast<uint32_t>(shape.size());
    view.shape = shape.data();
    view.data = bytes.data();
    view.bytes = bytes.size();
    std::string file = path("round.npy");
    ASSERT_EQ(hfta_npy_write(file.c_str(), &view, nullptr), HFTA_OK);
    EXPECT_NE(readFile(file).find(dictionary), std::string::npos);
    EXPECT_EQ((readFile(file).size() - bytes.size()) % 64, 0u);
    hfta_npy npy;
    ASSERT_EQ(hfta_npy_open(file.c_str(), &npy, nullptr), HFTA_OK);
    EXPECT_EQ(npy.header.type, type);
    EXPECT_EQ(std::vector<int64_t>(npy.header.shape,
                                   npy.header.shape + npy.header.rank),
              shape);
    ASSERT_EQ(npy.header.data_bytes, bytes.size());
    EXPECT_EQ(std::memcmp(npy.data, bytes.data(), bytes.size()), 0);
    hfta_npy_close(&npy);
    EXPECT_EQ(list(), std::vector<std::string>{"round.npy"});
  }
};

} // namespace

TEST_F(NpyTest, RoundTrips) {
  roundTrip(HFTA_F32, {2, 3}, std::string(24, 'x'),
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }");
  roundTrip(HFTA_U8, {5}, "hello", "'descr': '|u1'");
  roundTrip(HFTA_U8, {5}, "hello", "'shape': (5,), }");
  roundTrip(HFTA_BOOL, {1, 1, 1}, std::string(1, 1), "'|b1'");
  roundTrip(HFTA_I8, {3}, "abc", "'|i1'");
  roundTrip(HFTA_U16, {1}, "ab", "'<u2'");
  roundTrip(HFTA_I16, {1}, "ab", "'<i2'");
  roundTrip(HFTA_I32, {1}, "abcd", "'<i4'");
  roundTrip(HFTA_I64, {1}, "abcdefgh", "'<i8'");
  roundTrip(HFTA_F16, {1}, "ab", "'<f2'");
  roundTrip(HFTA_BF16, {1}, "ab", "'<V2'");
  roundTrip(HFTA_F64, {}, "abcdefgh", "'shape': (), }");
  roundTrip(HFTA_F32, {0, 7}, "", "'shape': (0, 7), }");
  roundTrip(HFTA_U8, std::vector<int64_t>(HFTA_MAX_RANK, 1), "a", "(1, 1, 1");
}

TEST_F(NpyTest, OtherSpellings) {
  EXPECT_EQ(open(npy("{\"shape\":(2L,),\"fortran_order\":True,"
                     "\"descr\":\"<i2\"}",
                     "abcd")),
            "0");
  EXPECT_EQ(
      open(npy("{'descr':'>u1','fortran_order':False,'shape':(1,)}\n", "a")),
      "0");
  std::string second = npy("  {'descr':'|u1','fortran_order':False,"
                           "'shape':()}",
                           "a");
  // Version 2.0 differs in that the header's length has four bytes instead of
  // two.
  second[6] = 2;
  second.insert(10, std::string(2, '\0'));
  EXPECT_EQ(open(second), "0");
  second[6] = 3;
  EXPECT_EQ(open(second), "0");
}

TEST_F(NpyTest, FortranOrder) {
  EXPECT_EQ(read("|u1", {2, 3}, "adbecf", true), "u8 abcdef");
  EXPECT_EQ(read("|u1", {2, 1, 3}, "adbecf", true), "u8 abcdef");
  EXPECT_EQ(read("|u1", {2, 2, 2}, "aecgbfdh", true), "u8 abcdefgh");
  EXPECT_EQ(read("<i2", {2, 2}, "aAcCbBdD", true), "i16 aAbBcCdD");
  EXPECT_EQ(read("|u1", {0, 3, 2}, "", true), "u8 ");
  EXPECT_EQ(read("|u1", {1, 3}, "abc", true), "u8 abc");
}

// The axes of these arrays are longer and shorter than the blocks in which the
// reader transposes.
TEST_F(NpyTest, FortranOrderOfAnyRank) {
  for (const std::vector<int64_t> &shape : {std::vector<int64_t>{70, 33},
                                            {1, 40, 50},
                                            {33, 2, 3, 65},
                                            {2, 3, 2, 2, 3},
                                            {100, 2},
                                            {2, 100},
                                            {3, 1, 5, 1}}) {
    size_t rank = shape.size(), count = 1;
    for (int64_t size : shape)
      count *= size;
    std::string stored(count * 4, 0), expected(count * 4, 0);
    for (uint32_t i = 0; i < count; ++i) {
      // The element's index in the file, in which the first axis varies
      // fastest.
      size_t rest = i, place = 0, stride = 1;
      std::vector<size_t> index(rank);
      for (size_t axis = rank; axis-- > 0; rest /= shape[axis])
        index[axis] = rest % shape[axis];
      for (size_t axis = 0; axis < rank; stride *= shape[axis++])
        place += index[axis] * stride;
      std::memcpy(&stored[4 * place], &i, 4);
      std::memcpy(&expected[4 * i], &i, 4);
    }
    EXPECT_EQ(read("<i4", shape, stored, true), "i32 " + expected);
  }
}

TEST_F(NpyTest, BigEndian) {
  EXPECT_EQ(read(">i2", {2}, "AaBb"), "i16 aAbB");
  EXPECT_EQ(read(">f2", {1}, "Aa"), "f16 aA");
  EXPECT_EQ(read(">f4", {2}, "abcdABCD"), "f32 dcbaDCBA");
  EXPECT_EQ(read(">f8", {1}, "abcdefgh"), "f64 hgfedcba");
  EXPECT_EQ(read(">u2", {2, 2}, "AaCcBbDd", true), "u16 aAbBcCdD");
  EXPECT_EQ(read(">u1", {2}, "ab"), "u8 ab");
}

TEST_F(NpyTest, UnsignedIntegers) {
  EXPECT_EQ(read("<u4", {2}, bytesOf<uint32_t>({7, 0xFFFFFFFF})),
            "i64 " + bytesOf<int64_t>({7, 0xFFFFFFFF}));
  EXPECT_EQ(read(">u4", {1}, std::string("\x80\0\0\1", 4)),
            "i64 " + bytesOf<int64_t>({0x80000001}));
  EXPECT_EQ(read("<u4", {2, 2}, bytesOf<uint32_t>({1, 3, 2, 4}), true),
            "i64 " + bytesOf<int64_t>({1, 2, 3, 4}));
  EXPECT_EQ(read("<u8", {2}, bytesOf<uint64_t>({0, INT64_MAX})),
            "i64 " + bytesOf<int64_t>({0, INT64_MAX}));
  EXPECT_EQ(read("<u8", {3}, bytesOf<uint64_t>({1, UINT64_MAX, 2})),
            "1: 'FILE' holds the u64 number 18446744073709551615; numbers "
            "above 9223372036854775807 can't be read as i64");
  EXPECT_EQ(read(">u8", {1}, std::string("\x80\0\0\0\0\0\0\0", 8)),
            "1: 'FILE' holds the u64 number 9223372036854775808; numbers above "
            "9223372036854775807 can't be read as i64");
}

TEST_F(NpyTest, Errors) {
  EXPECT_EQ(open(""), "1: 'FILE' is no npy file: it doesn't begin with "
                      "\"\\x93NUMPY\"");
  EXPECT_EQ(open("PK\x03\x04 zipped arrays"),
            "3: 'FILE' is packed by zip, which is not supported for npy files: "
            "unpack it");
  std::string file = npy("", "");
  file[6] = 4;
  EXPECT_EQ(open(file), "3: 'FILE': npy version 4.0 is not supported, only "
                        "1.0, 2.0 and 3.0");
  EXPECT_EQ(open(npy("{'descr': '>V2', 'fortran_order': False, 'shape': (1,)}",
                     "ab")),
            "3: 'FILE': element type '>V2' is not supported");
  EXPECT_EQ(open(npy("{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}",
                     "abcdefgh")),
            "3: 'FILE': element type '<c8' is not supported");
  EXPECT_EQ(open(npy("{'descr': '', 'fortran_order': False, 'shape': (1,)}",
                     "abcdefgh")),
            "3: 'FILE': element type '' is not supported");
  EXPECT_EQ(open(npy("{'descr': [('a', '<i4')], 'fortran_order': False, "
                     "'shape': (1,)}",
                     "abcd")),
            "3: 'FILE': arrays of records are not supported");
  EXPECT_EQ(open(npy("{'descr': '<u4', 'fortran_order': True, 'shape': (2, "
                     "2)}",
                     "abcd")),
            "1: 'FILE' is truncated: shape 2x2 of u32 needs 16 bytes after the "
            "header, got 4");
  EXPECT_EQ(open(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, "
                     "3)}",
                     "abc")),
            "1: 'FILE' is truncated: shape 2x3 of f32 needs 24 bytes after the "
            "header, got 3");
  EXPECT_EQ(open(npy("{'descr': '<f4', 'fortran_order': False, 'shape': ()}",
                     "abcde")),
            "1: 'FILE' is too long: shape scalar of f32 needs 4 bytes after "
            "the header, got 5");
  EXPECT_EQ(open(npy("{'descr': '<f4', 'fortran_order': False, 'shape': "
                     "(4294967296, 4294967296)}",
                     "")),
            "1: 'FILE': shape 4294967296x4294967296 of f32 exceeds 2^63 bytes");
  EXPECT_EQ(open(npy("{'descr': '<f4', 'fortran_order': False, 'shape': "
                     "(99999999999999999999,)}",
                     "")),
            "1: 'FILE' is no npy file: byte 69 of its header: expected an "
            "extent below 2^63");
  EXPECT_EQ(open(npy("{'descr': '<f4', 'shape': (1,)}", "abcd")),
            "1: 'FILE' is no npy file: byte 31 of its header: expected "
            "'descr', 'fortran_order' and 'shape', each once");
}

TEST_F(NpyTest, MissingFileFolderAndPipe) {
  hfta_npy npy;
  hfta_error error;
  std::string file = path("none.npy");
  EXPECT_EQ(hfta_npy_open(file.c_str(), &npy, &error), HFTA_INVALID_INPUT);
  EXPECT_EQ(error.message,
            "cannot open '" + file + "': No such file or directory");
  EXPECT_EQ(hfta_npy_open("/", &npy, &error), HFTA_INVALID_INPUT);
  EXPECT_STREQ(error.message,
               "cannot read '/': expected a regular file, got a folder");
  EXPECT_EQ(hfta_npy_open("/dev/null", &npy, &error), HFTA_INVALID_INPUT);
  EXPECT_STREQ(error.message, "cannot read '/dev/null': expected a regular "
                              "file, got a device, pipe or socket");
}

TEST_F(NpyTest, CannotWrite) {
  hfta_tensor_view view = {};
  view.type = HFTA_U8;
  view.data = "a";
  view.bytes = 1;
  hfta_error error;
  std::string file = path("none/a.npy");
  EXPECT_EQ(hfta_npy_write(file.c_str(), &view, &error), HFTA_CANNOT_WRITE);
  EXPECT_EQ(error.message,
            "cannot write '" + file + "': No such file or directory");
  EXPECT_EQ(hfta_npy_write("/dev/full", &view, &error), HFTA_CANNOT_WRITE);
  EXPECT_STREQ(error.message,
               "cannot write '/dev/full': No space left on device");
  EXPECT_EQ(hfta_npy_write("/", &view, &error), HFTA_CANNOT_WRITE);
  EXPECT_STREQ(error.message, "cannot write '/': Is a directory");
  view.bytes = 2;
  EXPECT_EQ(hfta_npy_write(path("a.npy").c_str(), &view, &error),
            HFTA_INTERNAL);
  EXPECT_TRUE(list().empty());
}

TEST_F(NpyTest, ReplacesAFileAndFollowsLinks) {
  std::string file = write("a.npy", "old");
  std::string link = path("link.npy");
  ASSERT_EQ(symlink(file.c_str(), link.c_str()), 0);
  hfta_tensor_view view = {};
  view.type = HFTA_U8;
  view.data = "a";
  view.bytes = 1;
  ASSERT_EQ(hfta_npy_write(link.c_str(), &view, nullptr), HFTA_OK);
  EXPECT_EQ(readFile(file).back(), 'a');
  EXPECT_EQ(readFile(file).size(), 129u);
  EXPECT_EQ(list(), (std::vector<std::string>{"a.npy", "link.npy"}));
}

TEST_F(NpyTest, HostileFiles) {
  std::string good = npy("{'descr': '<f4', 'fortran_order': False, "
                         "'shape': (2, 3), }    \n",
                         std::string(24, '\x3F'));
  EXPECT_EQ(open(good), "0");
  forEachTruncation(
      good, [&](const std::string &bytes) { EXPECT_NE(open(bytes), "0"); });
  // The memory has exactly the header's size, so that sanitizers detect reads
  // beyond it.
  forEachCorruption(good, 20000, [&](const std::string &bytes) {
    std::vector<char> copy(bytes.begin(), bytes.end());
    hfta_npy_header header;
    if (hfta_npy_parse(copy.data(), copy.size(), "x", &header, nullptr) ==
        HFTA_OK) {
      EXPECT_EQ(header.data_offset + header.stored_bytes, copy.size());
    }
  });
}
