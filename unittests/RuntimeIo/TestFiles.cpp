//===- TestFiles.cpp - Files that tests make and break --------------------===//

#include "TestFiles.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <zlib.h>

using namespace hfta_test;

void FileTest::SetUp() {
  std::string pattern =
      (std::filesystem::temp_directory_path() / "hfta-io-XXXXXX").string();
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  folder = pattern;
}

void FileTest::TearDown() {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

std::string FileTest::path(const std::string &name) const {
  return folder + "/" + name;
}

std::string FileTest::write(const std::string &name,
                            const std::string &bytes) const {
  std::ofstream(path(name), std::ios::binary) << bytes;
  return path(name);
}

std::vector<std::string> FileTest::list() const {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string hfta_test::readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/// Compresses bytes, with the number of bits of the window by which zlib is
/// told the format.
static std::string compress(const std::string &bytes, int bits) {
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, bytes.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef *>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string hfta_test::gzip(const std::string &bytes) {
  return compress(bytes, 16 + MAX_WBITS);
}

std::string
hfta_test::zip(const std::vector<std::pair<std::string, std::string>> &files,
               bool isCompressed) {
  auto number = [](uint64_t value, int bytes) {
    return std::string(reinterpret_cast<const char *>(&value), bytes);
  };
  std::string archive, directory;
  for (const auto &[name, bytes] : files) {
    std::string packed = isCompressed ? compress(bytes, -MAX_WBITS) : bytes;
    uint64_t crc = crc32(0, reinterpret_cast<const Bytef *>(bytes.data()),
                         static_cast<uInt>(bytes.size()));
    // The version, flags, the method, the time, the checksum, the sizes, and
    // the lengths of the name and of extra fields.
    std::string facts =
        number(20, 2) + number(0, 2) + number(isCompressed ? 8 : 0, 2) +
        number(0, 4) + number(crc, 4) + number(packed.size(), 4) +
        number(bytes.size(), 4) + number(name.size(), 2) + number(0, 2);
    directory += "PK\1\2" + number(20, 2) + facts + number(0, 2) +
                 number(0, 2) + number(0, 2) + number(0, 4) +
                 number(archive.size(), 4) + name;
    archive += "PK\3\4" + facts + name + packed;
  }
  return archive + directory + "PK\5\6" + number(0, 4) +
         number(files.size(), 2) + number(files.size(), 2) +
         number(directory.size(), 4) + number(archive.size(), 4) + number(0, 2);
}

std::string hfta_test::png(uint32_t width, uint32_t height, int color,
                           int depth, const std::string &rows,
                           const std::string &palette, bool isInterlaced) {
  auto number = [](uint64_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8)
      bytes += static_cast<char>(value >> shift & 0xFF);
    return bytes;
  };
  auto chunk = [&](const std::string &type, const std::string &data) {
    std::string part = type + data;
    return number(data.size()) + part +
           number(crc32(0, reinterpret_cast<const Bytef *>(part.data()),
                        static_cast<uInt>(part.size())));
  };
  std::string header = number(width) + number(height);
  header += static_cast<char>(depth);
  header += static_cast<char>(color);
  header += std::string({0, 0, isInterlaced ? '\1' : '\0'});
  std::string packed = compress(rows, MAX_WBITS);
  // The pixels may be divided into any number of chunks.
  size_t half = packed.size() / 2;
  return "\x89PNG\r\n\x1A\n" + chunk("IHDR", header) +
         (palette.empty() ? "" : chunk("PLTE", palette)) +
         chunk("tEXt", "made for a test") +
         chunk("IDAT", packed.substr(0, half)) +
         chunk("IDAT", packed.substr(half)) + chunk("IEND", "");
}

std::string hfta_test::idx(unsigned char type,
                           std::initializer_list<uint32_t> extents,
                           const std::string &elements) {
  std::string out = {0, 0, static_cast<char>(type),
                     static_cast<char>(extents.size())};
  for (uint32_t extent : extents)
    for (int shift = 24; shift >= 0; shift -= 8)
      out += static_cast<char>(extent >> shift & 0xFF);
  return out + elements;
}

std::string hfta_test::npy(const std::string &dictionary,
                           const std::string &elements) {
  std::string out = "\x93NUMPY";
  out += '\x01';
  out += '\0';
  out += static_cast<char>(dictionary.size() & 0xFF);
  out += static_cast<char>(dictionary.size() >> 8);
  return out + dictionary + elements;
}

std::string hfta_test::safetensors(const std::string &header,
                                   const std::string &bytes) {
  return bytesOf<uint64_t>({header.size()}) + header + bytes;
}

DataPointer hfta_test::open(const Request &request, hfta_error &error) {
  hfta_data_request inner = {};
  inner.path = request.path.c_str();
  inner.format = request.format;
  inner.column = request.column;
  inner.columns = request.columns;
  inner.header = request.header;
  inner.separator = request.separator;
  inner.resize = request.resize;
  inner.skips_damaged = request.skipsDamaged;
  inner.cache = request.cache;
  inner.shift = request.shift;
  inner.stride = request.stride;
  inner.array = request.array.c_str();
  std::vector<const char *> names;
  for (const std::string &name : request.names)
    names.push_back(name.c_str());
  if (!names.empty())
    inner.column_names = names.data();
  if (!request.numbers.empty())
    inner.column_numbers = request.numbers.data();
  inner.column_count =
      static_cast<uint32_t>(names.size() + request.numbers.size());
  inner.type = request.type;
  inner.sample_shape = request.shape.data();
  inner.sample_rank = static_cast<uint32_t>(request.shape.size());
  error = {HFTA_OK, ""};
  hfta_data *data = nullptr;
  hfta_status status = hfta_data_open(&inner, &data, &error);
  EXPECT_EQ(status, error.code);
  EXPECT_EQ(status == HFTA_OK, data != nullptr);
  return DataPointer(data);
}

std::string hfta_test::refusal(const Request &request) {
  hfta_error error;
  DataPointer data = open(request, error);
  return describe(error.code, error);
}

std::string hfta_test::gatherAll(const hfta_data *data) {
  std::vector<int64_t> indices(static_cast<size_t>(hfta_data_count(data)));
  for (size_t i = 0; i < indices.size(); ++i)
    indices[i] = static_cast<int64_t>(i);
  std::string out(indices.size() * hfta_data_sample_bytes(data), '\0');
  EXPECT_EQ(hfta_data_gather(data, indices.data(), hfta_data_count(data),
                             out.data(), nullptr),
            HFTA_OK);
  return out;
}

std::string hfta_test::describe(hfta_status status, const hfta_error &error) {
  if (status == HFTA_OK)
    return "0";
  return std::to_string(status) + ": " + error.message;
}

void hfta_test::forEachTruncation(
    const std::string &bytes,
    const std::function<void(const std::string &)> &check) {
  for (size_t size = 0; size < bytes.size(); ++size)
    check(bytes.substr(0, size));
}

void hfta_test::forEachCorruption(
    const std::string &bytes, int count,
    const std::function<void(const std::string &)> &check) {
  std::mt19937 random(20240229);
  for (int i = 0; i < count; ++i) {
    std::string copy = bytes;
    for (unsigned flips = 1 + random() % 4; flips > 0; --flips) {
      size_t bit = random() % (copy.size() * 8);
      copy[bit / 8] = static_cast<char>(copy[bit / 8] ^ 1 << bit % 8);
    }
    check(copy);
  }
}
