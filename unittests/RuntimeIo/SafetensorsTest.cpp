//===- SafetensorsTest.cpp - Files of named tensors -----------------------===//

#include "hfta/safetensors.h"

#include "TestFiles.h"

#include <cstring>
#include <functional>

using namespace hfta_test;

namespace {

struct Closer {
  void operator()(hfta_safetensors *file) const {
    hfta_safetensors_close(file);
  }
};
using Pointer = std::unique_ptr<hfta_safetensors, Closer>;

hfta_tensor_view view(const char *name, hfta_element_type type,
                      const std::vector<int64_t> &shape,
                      const std::string &bytes) {
  return {name,         type,         static_cast<uint32_t>(shape.size()),
          shape.data(), bytes.data(), bytes.size()};
}

class SafetensorsTest : public FileTest {
protected:
  std::string save(const std::vector<hfta_tensor_view> &tensors,
                   const std::vector<hfta_metadata> &metadata = {}) const {
    hfta_error error;
    std::string file = path("a.safetensors");
    hfta_status status =
        hfta_safetensors_write(file.c_str(), tensors.data(), tensors.size(),
                               metadata.data(), metadata.size(), &error);
    return withoutPath(describe(status, error), file);
  }

  Pointer load(const std::string &file, std::string &message) const {
    hfta_error error;
    hfta_safetensors *out = nullptr;
    hfta_status status = hfta_safetensors_open(file.c_str(), &out, &error);
    message = withoutPath(describe(status, error), file);
    EXPECT_EQ(status == HFTA_OK, out != nullptr);
    return Pointer(out);
  }

  /// Opens a file with this header and `bytes` zero bytes of data. Returns the
  /// message.
  std::string openHeader(const std::string &header, size_t bytes) const {
    std::string message;
    load(write("h.safetensors", safetensors(header, std::string(bytes, '\0'))),
         message);
    return message;
  }

  static std::string withoutPath(std::string message, const std::string &file) {
    size_t at = message.find(file);
    return at == std::string::npos ? message
                                   : message.replace(at, file.size(), "FILE");
  }
};

const std::vector<int64_t> scalar, two = {2}, twoByThree = {2, 3},
                                   empty = {0, 4};
const std::string floats = bytesOf<float>({1, 2, 3, 4, 5, 6});

} // namespace

TEST_F(SafetensorsTest, ExactBytes) {
  EXPECT_EQ(
      save({view("b", HFTA_U8, two, "xy"), view("a", HFTA_I16, two, "abcd")},
           {{"z", "1"}, {"k\"", "\xC3\xA4"}}),
      "0");
  std::string header = "{\"__metadata__\":{\"k\\\"\":\"\xC3\xA4\",\"z\":\"1\"},"
                       "\"b\":{\"dtype\":\"U8\",\"shape\":[2],"
                       "\"data_offsets\":[0,2]},"
                       "\"a\":{\"dtype\":\"I16\",\"shape\":[2],"
                       "\"data_offsets\":[2,6]}}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  EXPECT_EQ(readFile(path("a.safetensors")), safetensors(header, "xyabcd"));
}

TEST_F(SafetensorsTest, RoundTrip) {
  EXPECT_EQ(save({view("conv.weight", HFTA_F32, twoByThree, floats),
                  view("empty", HFTA_F64, empty, ""),
                  view("step", HFTA_I64, scalar, "abcdefgh"),
                  view("bool", HFTA_BOOL, two, std::string("\0\1", 2)),
                  view("\xC3\xA4 \"quoted\"", HFTA_BF16, two, "abcd")},
                 {{"identity", "abc"}, {"", "empty key"}}),
            "0");
  std::string message;
  Pointer file = load(path("a.safetensors"), message);
  ASSERT_TRUE(file) << message;
  ASSERT_EQ(hfta_safetensors_count(file.get()), 5u);
  const hfta_tensor_view *tensor =
      hfta_safetensors_find(file.get(), "conv.weight");
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(tensor, hfta_safetensors_at(file.get(), 0));
  EXPECT_EQ(tensor->type, HFTA_F32);
  EXPECT_EQ(tensor->rank, 2u);
  EXPECT_EQ(tensor->shape[1], 3);
  EXPECT_EQ(tensor->bytes, 24u);
  EXPECT_EQ(std::memcmp(tensor->data, floats.data(), 24), 0);
  EXPECT_EQ(hfta_safetensors_find(file.get(), "step")->rank, 0u);
  EXPECT_EQ(hfta_safetensors_find(file.get(), "empty")->bytes, 0u);
  EXPECT_NE(hfta_safetensors_find(file.get(), "\xC3\xA4 \"quoted\""), nullptr);
  EXPECT_EQ(hfta_safetensors_find(file.get(), "conv"), nullptr);
  EXPECT_STREQ(hfta_safetensors_metadata(file.get(), "identity"), "abc");
  EXPECT_STREQ(hfta_safetensors_metadata(file.get(), ""), "empty key");
  EXPECT_EQ(hfta_safetensors_metadata(file.get(), "other"), nullptr);
  EXPECT_EQ(list(), std::vector<std::string>{"a.safetensors"});
}

TEST_F(SafetensorsTest, NoTensors) {
  EXPECT_EQ(save({}), "0");
  std::string message;
  Pointer file = load(path("a.safetensors"), message);
  ASSERT_TRUE(file) << message;
  EXPECT_EQ(hfta_safetensors_count(file.get()), 0u);
  EXPECT_EQ(hfta_safetensors_find(file.get(), "a"), nullptr);
  EXPECT_EQ(hfta_safetensors_metadata(file.get(), "a"), nullptr);
}

TEST_F(SafetensorsTest, InPieces) {
  const std::string pair = "xy";
  hfta_tensor_view tensors[] = {view("a", HFTA_F32, twoByThree, floats),
                                view("b", HFTA_U8, two, pair)};
  ASSERT_EQ(save({tensors[0], tensors[1]}), "0");
  std::string whole = readFile(path("a.safetensors"));
  tensors[0].data = tensors[1].data = nullptr;
  hfta_safetensors_writer *writer = nullptr;
  std::string file = path("pieces");
  ASSERT_EQ(hfta_safetensors_begin(file.c_str(), tensors, 2, nullptr, 0,
                                   &writer, nullptr),
            HFTA_OK);
  std::string bytes = floats + pair;
  for (size_t at = 0; at < bytes.size(); at += 5)
    ASSERT_EQ(hfta_safetensors_append(writer, bytes.data() + at,
                                      std::min<size_t>(5, bytes.size() - at),
                                      nullptr),
              HFTA_OK);
  // The file has only its temporary name until it is finished.
  EXPECT_EQ(list().size(), 2u);
  EXPECT_EQ(list().back().find("pieces.tmp-"), 0u);
  ASSERT_EQ(hfta_safetensors_finish(writer, nullptr), HFTA_OK);
  EXPECT_EQ(readFile(file), whole);
}

TEST_F(SafetensorsTest, TooFewAndTooManyBytes) {
  hfta_tensor_view tensor = {"b", HFTA_U8, 1, two.data(), nullptr, 2};
  hfta_safetensors_writer *writer = nullptr;
  hfta_error error;
  for (bool finish : {true, false}) {
    ASSERT_EQ(hfta_safetensors_begin(path("p").c_str(), &tensor, 1, nullptr, 0,
                                     &writer, nullptr),
              HFTA_OK);
    EXPECT_EQ(hfta_safetensors_append(writer, "xyz", 3, &error), HFTA_INTERNAL);
    if (finish)
      EXPECT_EQ(hfta_safetensors_finish(writer, &error), HFTA_INTERNAL);
    else
      hfta_safetensors_abandon(writer);
    EXPECT_TRUE(list().empty());
  }
}

TEST_F(SafetensorsTest, ChecksumsCoverAllBytes) {
  const std::string pair = "xy";
  ASSERT_EQ(save({view("a", HFTA_U8, two, pair)},
                 {{"k", "v"}, {HFTA_SAFETENSORS_CHECKSUM, nullptr}}),
            "0");
  std::string file = path("a.safetensors"), bytes = readFile(file), message;
  Pointer good = load(file, message);
  ASSERT_TRUE(good) << message;
  EXPECT_EQ(hfta_safetensors_verify(good.get(), "FILE", nullptr), HFTA_OK);
  const std::string sum =
      hfta_safetensors_metadata(good.get(), HFTA_SAFETENSORS_CHECKSUM);
  EXPECT_EQ(sum.size(), 16u);
  // Saving the same tensors again gives the same bytes.
  ASSERT_EQ(save({view("a", HFTA_U8, two, pair)},
                 {{"k", "v"}, {HFTA_SAFETENSORS_CHECKSUM, nullptr}}),
            "0");
  EXPECT_EQ(readFile(file), bytes);
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string other = bytes;
    other[at] ^= 1;
    Pointer bad = load(write("b", other), message);
    hfta_error error = {};
    // If the flipped bit is in the key of the checksum, the file counts as one
    // without a checksum.
    if (!bad ||
        !hfta_safetensors_metadata(bad.get(), HFTA_SAFETENSORS_CHECKSUM))
      continue;
    EXPECT_EQ(hfta_safetensors_verify(bad.get(), "FILE", &error),
              HFTA_INVALID_INPUT)
        << at;
    EXPECT_EQ(std::string(error.message).find("'FILE' is damaged: "), 0u);
  }
}

TEST_F(SafetensorsTest, WriterRefuses) {
  const std::string pair = "xy";
  hfta_tensor_view a = view("a", HFTA_U8, two, pair);
  EXPECT_EQ(save({a, a}), "70: cannot write 'FILE': two tensors are named 'a'");
  EXPECT_EQ(save({a}, {{"k", "1"}, {"k", "2"}}),
            "70: cannot write 'FILE': metadata holds 'k' twice");
  EXPECT_EQ(save({view("__metadata__", HFTA_U8, two, "xy")}),
            "70: cannot write 'FILE': '__metadata__' is no tensor name");
  EXPECT_EQ(save({view("a", HFTA_F32, two, "xy")}),
            "70: cannot write 'FILE': shape and bytes of 'a' differ");
  EXPECT_TRUE(list().empty());
  hfta_error error;
  EXPECT_EQ(hfta_safetensors_write("/dev/full", &a, 1, nullptr, 0, &error),
            HFTA_CANNOT_WRITE);
  EXPECT_STREQ(error.message,
               "cannot write '/dev/full': No space left on device");
}

TEST_F(SafetensorsTest, ForeignAndTornFiles) {
  std::string message;
  load(write("a", "abc"), message);
  EXPECT_EQ(message, "1: 'FILE' is no whole safetensors file: it has fewer "
                     "than 8 bytes");
  load(write("a", "PK\x03\x04 something else"), message);
  EXPECT_EQ(message, "1: 'FILE' is no whole safetensors file: its header is "
                     "longer than the file allows");
  std::string header = "{\"a\":{\"dtype\":\"U8\",\"shape\":[2],"
                       "\"data_offsets\":[0,2]}}";
  EXPECT_EQ(openHeader(header, 2), "0");
  EXPECT_EQ(openHeader(header, 1), "1: 'FILE' is no whole safetensors file: "
                                   "tensor 'a' ends beyond the end of the "
                                   "file");
  EXPECT_EQ(openHeader(header, 3), "1: 'FILE' is no whole safetensors file: "
                                   "its tensors take 2 bytes, but 3 follow "
                                   "the header");
  EXPECT_EQ(openHeader("[]", 0), "1: 'FILE' is no whole safetensors file: byte "
                                 "1 of the header: expected an object");
  EXPECT_EQ(openHeader("{\"a\":", 0),
            "1: 'FILE' is no whole safetensors file: byte 5 of the header: "
            "text ends too early");
}

TEST_F(SafetensorsTest, FaultyHeaders) {
  auto tensor = [](const std::string &name, const std::string &type,
                   const std::string &shape, const std::string &offsets) {
    return "\"" + name + "\":{\"dtype\":\"" + type + "\",\"shape\":[" + shape +
           "],\"data_offsets\":[" + offsets + "]}";
  };
  auto open = [&](const std::string &inner, size_t bytes) {
    std::string message = openHeader("{" + inner + "}", bytes);
    std::string prefix = "1: 'FILE' is no whole safetensors file: ";
    return message.compare(0, prefix.size(), prefix) == 0
               ? message.substr(prefix.size())
               : message;
  };
  EXPECT_EQ(
      open(tensor("a", "U8", "2", "0,2") + "," + tensor("b", "U8", "2", "1,3"),
           3),
      "tensor 'b' overlaps another");
  EXPECT_EQ(
      open(tensor("a", "U8", "2", "0,2") + "," + tensor("b", "U8", "2", "3,5"),
           5),
      "tensor 'b' has a gap before it");
  EXPECT_EQ(
      open(tensor("a", "U8", "2", "0,2") + "," + tensor("a", "U8", "2", "2,4"),
           4),
      "tensor 'a' is there twice");
  EXPECT_EQ(open(tensor("a", "F32", "2", "0,2"), 2),
            "tensor 'a' has offsets that don't fit its shape");
  EXPECT_EQ(open(tensor("a", "U8", "2", "2,0"), 2),
            "tensor 'a' has offsets that don't fit its shape");
  EXPECT_EQ(open(tensor("a", "F64", "9223372036854775807,2", "0,0"), 0),
            "tensor 'a' is larger than 2^63 bytes");
  EXPECT_EQ(
      open(tensor("a", "U8", "1125899906842624", "0,1125899906842624"), 8),
      "tensor 'a' ends beyond the end of the file");
  EXPECT_EQ(open(tensor("a", "F8_E4M3", "2", "0,2"), 2),
            "3: 'FILE': tensor 'a' has the unsupported type 'F8_E4M3'");
  EXPECT_EQ(open("\"a\":{\"dtype\":\"U8\",\"shape\":[0]}", 0),
            "tensor 'a' lacks its type, shape or offsets");
  EXPECT_EQ(open(tensor("a", "U8", "-1", "0,0"), 0),
            "byte 30 of the header: expected a number that is not negative");
  EXPECT_EQ(open(tensor("a", "U8", "1.5", "0,0"), 0),
            "byte 31 of the header: expected a whole number");
  EXPECT_EQ(open(tensor("a", "U8", "0", "0,0,0"), 0),
            "byte 52 of the header: more numbers than expected");
  EXPECT_EQ(open(tensor("a", "U8", "0", "0"), 0),
            "byte 49 of the header: expected two 'data_offsets'");
  EXPECT_EQ(open("\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\"}", 0),
            "byte 27 of the header: unknown or repeated field of a tensor");
  EXPECT_EQ(open("\"a\\u0000b\":{}", 0),
            "byte 12 of the header: zero byte in a name");
  EXPECT_EQ(open("\"__metadata__\":{\"a\":1}", 0),
            "byte 22 of the header: expected a string in '__metadata__'");
  EXPECT_EQ(open("\"__metadata__\":{},\"__metadata__\":{}", 0),
            "byte 34 of the header: second '__metadata__'");
  EXPECT_EQ(open("\"a\":" + std::string(1000, '['), 0),
            "byte 6 of the header: expected an object for a tensor");
}

TEST_F(SafetensorsTest, HostileFiles) {
  ASSERT_EQ(save({view("a.weight", HFTA_F32, twoByThree, floats),
                  view("empty", HFTA_F64, empty, ""),
                  view("step", HFTA_I64, scalar, "abcdefgh")},
                 {{"identity", "\xC3\xA4"}}),
            "0");
  std::string good = readFile(path("a.safetensors"));
  auto check = [&](const std::string &bytes) {
    std::string message;
    Pointer file = load(write("damaged", bytes), message);
    if (!file) {
      EXPECT_NE(message.find("FILE"), std::string::npos) << message;
      return;
    }
    for (size_t i = 0; i < hfta_safetensors_count(file.get()); ++i) {
      const hfta_tensor_view *tensor = hfta_safetensors_at(file.get(), i);
      EXPECT_EQ(
          std::string(static_cast<const char *>(tensor->data), tensor->bytes)
              .size(),
          tensor->bytes);
      EXPECT_EQ(hfta_safetensors_find(file.get(), tensor->name), tensor);
    }
  };
  forEachTruncation(good, [&](const std::string &bytes) {
    std::string message;
    EXPECT_FALSE(load(write("damaged", bytes), message));
  });
  forEachCorruption(good, 10000, check);
}
