//===- TransfersTest.cpp - Transfers of a store's file that go wrong ------===//
//
// The linker's option --wrap makes the runtime call this file's pread and
// pwrite instead of the system's.
//===----------------------------------------------------------------------===//

#include "hfta/program.h"
#include "hfta/store.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

/// Transfers at most a given number of bytes with the system's function.
using Real = std::function<ssize_t(size_t)>;

/// The function that is called instead of a transfer. Its arguments are the
/// file descriptor, the number of bytes, and the real transfer. If it is empty,
/// the real transfer is made.
std::function<ssize_t(int, size_t, const Real &)> replacement;

ssize_t transfer(int descriptor, size_t bytes, const Real &real) {
  return replacement ? replacement(descriptor, bytes, real) : real(bytes);
}

} // namespace

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): the linker prescribes the names.
ssize_t __real_pread(int, void *, size_t, off_t);
ssize_t __real_pwrite(int, const void *, size_t, off_t);
ssize_t __wrap_pread(int, void *, size_t, off_t);
ssize_t __wrap_pwrite(int, const void *, size_t, off_t);

ssize_t __wrap_pread(int descriptor, void *to, size_t bytes, off_t offset) {
  return transfer(descriptor, bytes, [=](size_t most) {
    return __real_pread(descriptor, to, most, offset);
  });
}

ssize_t __wrap_pwrite(int descriptor, const void *from, size_t bytes,
                      off_t offset) {
  return transfer(descriptor, bytes, [=](size_t most) {
    return __real_pwrite(descriptor, from, most, offset);
  });
}
// NOLINTEND(bugprone-reserved-identifier)
}

namespace {

constexpr uint64_t kPage = HFTA_PAGE_BYTES;
constexpr uint64_t kPiece = HFTA_STORE_PIECE_BYTES;

ssize_t failWith(int code) {
  errno = code;
  return -1;
}

/// Tests of a store in a file, with one extent of two pieces.
class FileTransfers : public testing::Test {
protected:
  static constexpr uint64_t kBytes = 2 * kPiece;
  using Memory = std::unique_ptr<unsigned char, void (*)(void *)>;

  void SetUp() override {
    const hfta_store_options options = {
        {HFTA_DISK_FOLDER, 0, nullptr}, &kExtent, 1, 2};
    ASSERT_EQ(hfta_store_open(&options, &store, &error), HFTA_OK)
        << error.message;
    for (uint64_t i = 0; i < kBytes; ++i)
      written.get()[i] = static_cast<unsigned char>(i * 7 + (i >> 12) * 13);
  }
  void TearDown() override {
    replacement = nullptr;
    hfta_store_close(store);
  }

  static Memory allocate() {
    return {static_cast<unsigned char *>(aligned_alloc(kPage, kBytes)), free};
  }
  std::string messageOf(hfta_status status) const {
    return std::to_string(status) + ": " +
           (status == HFTA_OK ? "" : error.message);
  }
  std::string write() {
    return messageOf(hfta_store_write(store, 0, 1, written.get(), &error));
  }
  /// Reads the extent and expects the written bytes. Returns the status and
  /// message.
  std::string read() {
    Memory found = allocate();
    memset(found.get(), 99, kBytes);
    std::string message =
        messageOf(hfta_store_read(store, 0, 1, found.get(), &error));
    if (message == "0: ")
      EXPECT_EQ(memcmp(found.get(), written.get(), kBytes), 0);
    return message;
  }

  static constexpr uint64_t kExtent = kBytes;
  hfta_store *store = nullptr;
  hfta_error error = {};
  Memory written = allocate();
};

/// Two threads turn from direct access to the page cache at the same time. Each
/// direct transfer is refused only after another one has begun, so the second
/// thread's transfer is refused when the first thread has already turned direct
/// access off.
TEST_F(FileTransfers, ThreadsThatTurnToTheCacheAtOnceGoOn) {
  std::mutex mutex;
  std::condition_variable begins;
  int calls = 0;
  replacement = [&](int descriptor, size_t bytes, const Real &real) {
    std::unique_lock<std::mutex> lock(mutex);
    int number = ++calls;
    begins.notify_all();
    if ((fcntl(descriptor, F_GETFL) & O_DIRECT) == 0)
      return real(bytes);
    begins.wait(lock, [&] { return calls > number; });
    return failWith(EINVAL);
  };
  EXPECT_EQ(write(), "0: ");
  EXPECT_EQ(read(), "0: ");
}

TEST_F(FileTransfers, WhatIsInvalidForAnotherReasonFails) {
  replacement = [](int, size_t, const Real &) { return failWith(EINVAL); };
  std::string message = write();
  EXPECT_NE(message.find("Invalid argument"), std::string::npos) << message;
}

/// After a short transfer of whole pages, direct access can go on; after one
/// that ends within a page, it can't.
TEST_F(FileTransfers, GoOnWhereOneHasStopped) {
  for (size_t most : {size_t(kPage), size_t(100000)}) {
    replacement = [most](int, size_t bytes, const Real &real) {
      return real(std::min(bytes, most));
    };
    EXPECT_EQ(write(), "0: ") << most;
    EXPECT_EQ(read(), "0: ") << most;
  }
}

TEST_F(FileTransfers, ADiskThatIsFullInTheMiddleSaysSo) {
  int calls = 0;
  std::mutex mutex;
  replacement = [&](int, size_t, const Real &real) {
    std::lock_guard<std::mutex> lock(mutex);
    return calls++ < 2 ? real(kPage) : failWith(ENOSPC);
  };
  std::string message = write();
  EXPECT_EQ(message.substr(0, 16), "4: cannot write ");
  EXPECT_NE(message.find("No space left on device"), std::string::npos)
      << message;
}

TEST_F(FileTransfers, AFileThatEndsEarlySaysWhere) {
  ASSERT_EQ(write(), "0: ");
  replacement = [](int, size_t bytes, const Real &real) {
    return bytes == kPiece ? real(kPage) : 0;
  };
  std::string message = read();
  EXPECT_NE(message.find("only 4096 were read"), std::string::npos) << message;
}

} // namespace
