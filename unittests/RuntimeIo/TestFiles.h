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

/// A test with a folder of its own, which is removed at the end.
class FileTest : public ::testing::Test {
protected:
  void SetUp() override;
  void TearDown() override;

  /// Returns a path in the test's folder.
  std::string path(const std::string &name) const;

  /// Writes a file into the folder and returns its path.
  std::string write(const std::string &name, const std::string &bytes) const;

  /// Returns the names in the folder, sorted.
  std::vector<std::string> list() const;

private:
  std::string folder;
};

std::string readFile(const std::string &path);

/// Packs bytes as one gzip member.
std::string gzip(const std::string &bytes);

/// Returns the bytes of a value in the machine's byte order.
template <typename T>
std::string bytesOf(std::initializer_list<T> values) {
  return std::string(reinterpret_cast<const char *>(values.begin()),
                     values.size() * sizeof(T));
}

/// Returns an idx file: type code, extents, elements.
std::string idx(unsigned char type, std::initializer_list<uint32_t> extents,
                const std::string &elements);

/// Returns an npy file of version 1.0 with this dictionary.
std::string npy(const std::string &dictionary, const std::string &elements);

/// Returns a safetensors file with this header.
std::string safetensors(const std::string &header, const std::string &bytes);

struct DataCloser {
  void operator()(hfta_data *data) const { hfta_data_close(data); }
};
using DataPointer = std::unique_ptr<hfta_data, DataCloser>;

/// The arguments of a request to open a source.
struct Request {
  std::string path;
  hfta_data_format format;
  hfta_element_type type;
  std::vector<int64_t> shape;
  uint32_t column = 0;
  uint64_t columns = 0;
  hfta_csv_header header = HFTA_CSV_HEADER_AUTO;
};

/// Opens a source; NULL, with the reason in `error`, if it is refused.
DataPointer open(const Request &request, hfta_error &error);

/// Opens a source that must be refused; returns "CODE: message".
std::string refusal(const Request &request);

/// Returns all samples of a source, one after another.
std::string gatherAll(const hfta_data *data);

/// Returns "1: message" for a status and its error.
std::string describe(hfta_status status, const hfta_error &error);

/// Calls `check` with every proper prefix of `bytes`.
void forEachTruncation(const std::string &bytes,
                       const std::function<void(const std::string &)> &check);

/// Calls `check` `count` times with one to four bits of `bytes` flipped; every
/// run flips the same bits.
void forEachCorruption(const std::string &bytes, int count,
                       const std::function<void(const std::string &)> &check);

} // namespace hfta_test

#endif // HFTA_UNITTESTS_RUNTIMEIO_TESTFILES_H
