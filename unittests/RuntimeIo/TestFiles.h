//===- TestFiles.h - Files that tests make and break ------------*- C++ -*-===//

#ifndef HFTA_UNITTESTS_RUNTIMEIO_TESTFILES_H
#define HFTA_UNITTESTS_RUNTIMEIO_TESTFILES_H

#include "hfta/data.h"
#include "hfta/status.h"

#include "gtest/gtest.h"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace hfta_test {

/// A test with a temporary folder of its own.
class FileTest : public ::testing::Test {
protected:
  void SetUp() override;
  void TearDown() override;

  /// Returns the path of a file in the test's folder.
  std::string path(const std::string &name) const;

  /// Writes a file in the test's folder and returns its path.
  std::string write(const std::string &name, const std::string &bytes) const;

  /// Returns the sorted names of the files in the test's folder.
  std::vector<std::string> list() const;

private:
  std::string folder;
};

std::string readFile(const std::string &path);

/// Returns the bytes, compressed as one gzip member.
std::string gzip(const std::string &bytes);

/// Returns the bytes of a zip archive of files, each a name and its bytes,
/// which are compressed or only stored.
std::string zip(const std::vector<std::pair<std::string, std::string>> &files,
                bool isCompressed);

/// Returns the bytes of the values, in the machine's byte order.
template <typename T>
std::string bytesOf(std::initializer_list<T> values) {
  return std::string(reinterpret_cast<const char *>(values.begin()),
                     values.size() * sizeof(T));
}

/// Returns the bytes of a PNG image of a color type and a number of bits.
/// `rows` has the rows of all passes, each with the byte of its filter.
std::string png(uint32_t width, uint32_t height, int color, int depth,
                const std::string &rows, const std::string &palette = "",
                bool isInterlaced = false);

/// Returns the bytes of an idx file with this type code, these extents and
/// these elements.
std::string idx(unsigned char type, std::initializer_list<uint32_t> extents,
                const std::string &elements);

/// Returns the bytes of an npy file of version 1.0 with this dictionary as its
/// header.
std::string npy(const std::string &dictionary, const std::string &elements);

/// Returns the bytes of a safetensors file with this header and these bytes of
/// data.
std::string safetensors(const std::string &header, const std::string &bytes);

struct DataCloser {
  void operator()(hfta_data *data) const { hfta_data_close(data); }
};
using DataPointer = std::unique_ptr<hfta_data, DataCloser>;

/// The arguments of a request to open a source of samples.
struct Request {
  std::string path;
  hfta_data_format format;
  hfta_element_type type;
  std::vector<int64_t> shape;
  uint32_t column = 0;
  uint64_t columns = 0;
  hfta_csv_header header = HFTA_CSV_HEADER_AUTO;
  hfta_csv_separator separator = HFTA_CSV_SEPARATOR_COMMA;
  std::string array = "";
  std::vector<std::string> names = {};
  std::vector<int64_t> numbers = {};
  hfta_image_resize resize = HFTA_IMAGE_RESIZE_NONE;
  bool skipsDamaged = false;
  int64_t cache = 0;
  int64_t shift = 0, stride = 0;
};

/// Opens a source. If it is refused, returns null and the reason in `error`.
DataPointer open(const Request &request, hfta_error &error);

/// Opens a source that must be refused. Returns "CODE: message".
std::string refusal(const Request &request);

/// Returns the bytes of all samples of a source, one after another.
std::string gatherAll(const hfta_data *data);

/// Returns "CODE: message" for an error, and "0" for success.
std::string describe(hfta_status status, const hfta_error &error);

/// Calls `check` with every proper prefix of `bytes`, including the empty one.
void forEachTruncation(const std::string &bytes,
                       const std::function<void(const std::string &)> &check);

/// Calls `check` `count` times with a copy of `bytes` in which one to four
/// random bits are flipped. The same bits are flipped in each run of the test.
void forEachCorruption(const std::string &bytes, int count,
                       const std::function<void(const std::string &)> &check);

} // namespace hfta_test

#endif // HFTA_UNITTESTS_RUNTIMEIO_TESTFILES_H
