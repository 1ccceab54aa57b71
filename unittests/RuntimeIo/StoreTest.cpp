//===- StoreTest.cpp - Tests of stores and media --------------------------===//

#include "hfta/store.h"
#include "TestFiles.h"
#include "hfta/program.h"

extern "C" {
#include "store/crc32c.h"
#include "system/clock.h"
}

#include "gtest/gtest.h"

#include <cstring>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <vector>

namespace {

constexpr uint64_t kPage = HFTA_PAGE_BYTES;
constexpr uint64_t kPiece = HFTA_STORE_PIECE_BYTES;

using StorePointer = std::unique_ptr<hfta_store, void (*)(hfta_store *)>;

/// A buffer aligned to pages. Each byte depends on `seed` and on its offset, so
/// that bytes from a wrong extent or place are noticed.
class Buffer {
public:
  explicit Buffer(uint64_t size, unsigned seed = 0)
      : size(size),
        bytes(static_cast<unsigned char *>(aligned_alloc(kPage, size)), free) {
    for (uint64_t i = 0; i < size; ++i)
      bytes.get()[i] =
          static_cast<unsigned char>(seed * 31 + i * 7 + (i >> 12) * 13);
  }
  unsigned char *data() const { return bytes.get(); }
  bool operator==(const Buffer &other) const {
    return size == other.size && memcmp(data(), other.data(), size) == 0;
  }
  bool isZero() const {
    for (uint64_t i = 0; i < size; ++i)
      if (data()[i] != 0)
        return false;
    return true;
  }
  const uint64_t size;

private:
  std::unique_ptr<unsigned char, void (*)(void *)> bytes;
};

hfta_status open(const std::vector<uint64_t> &extents, const char *layers,
                 hfta_store **out, hfta_error *error, int threads = 2,
                 const char *directory = nullptr) {
  const hfta_store_options options = {
      {directory, 0, layers}, extents.data(), extents.size(), threads};
  return hfta_store_open(&options, out, error);
}

StorePointer make(const std::vector<uint64_t> &extents, const char *layers,
                  int threads = 2, const char *directory = nullptr) {
  hfta_store *store = nullptr;
  hfta_error error = {};
  EXPECT_EQ(open(extents, layers, &store, &error, threads, directory), HFTA_OK)
      << error.message;
  return {store, hfta_store_close};
}

/// Returns the status and the message of an operation as one text.
std::string messageOf(hfta_status status, const hfta_error &error) {
  return std::to_string(status) + ": " +
         (status == HFTA_OK ? "" : error.message);
}

/// Tests that run with a store in a file and with one in memory. The file is in
/// the build folder, because /tmp may be memory.
class Stores : public testing::TestWithParam<const char *> {
protected:
  StorePointer makeOne(const std::vector<uint64_t> &extents, int threads = 2) {
    return make(extents, GetParam(), threads, HFTA_DISK_FOLDER);
  }
};

INSTANTIATE_TEST_SUITE_P(Media, Stores, testing::Values("", "memory"),
                         [](const auto &info) {
                           return *info.param ? "memory" : "file";
                         });

const std::vector<uint64_t> kOddSizes = {kPage,  3 * kPage, 5 * kPiece + kPage,
                                         kPiece, 0,         kPiece - kPage,
                                         kPage,  9 * kPiece};

TEST_P(Stores, GiveBackWhatWasWritten) {
  for (int threads : {1, 2, 5}) {
    StorePointer store = makeOne(kOddSizes, threads);
    hfta_error error;
    for (size_t i = 0; i < kOddSizes.size(); ++i) {
      Buffer written(kOddSizes[i], unsigned(i));
      ASSERT_EQ(hfta_store_write(store.get(), i, 1, written.data(), &error),
                HFTA_OK)
          << error.message;
    }
    for (size_t i = 0; i < kOddSizes.size(); ++i) {
      Buffer written(kOddSizes[i], unsigned(i)), read(kOddSizes[i], 99);
      ASSERT_EQ(hfta_store_read(store.get(), i, 1, read.data(), &error),
                HFTA_OK)
          << error.message;
      EXPECT_TRUE(written == read) << i;
    }
    EXPECT_EQ(hfta_store_count(store.get()).read,
              hfta_store_count(store.get()).written);
  }
}

TEST_P(Stores, MoveNeighboursAtOnce) {
  StorePointer store = makeOne({kPage, 2 * kPage, 3 * kPiece, kPage});
  Buffer written(3 * kPage + 3 * kPiece, 3), read(written.size);
  hfta_error error;
  ASSERT_EQ(hfta_store_write(store.get(), 0, 3, written.data(), &error),
            HFTA_OK);
  ASSERT_EQ(hfta_store_read(store.get(), 0, 3, read.data(), &error), HFTA_OK);
  EXPECT_TRUE(written == read);
  Buffer second(2 * kPage);
  ASSERT_EQ(hfta_store_read(store.get(), 1, 1, second.data(), &error), HFTA_OK);
  EXPECT_EQ(memcmp(second.data(), written.data() + kPage, second.size), 0);
}

TEST_P(Stores, WhatWasNeverWrittenIsZeros) {
  StorePointer store = makeOne({kPage, 4 * kPiece, kPage});
  Buffer all(2 * kPage + 4 * kPiece, 1), second(4 * kPiece, 2);
  hfta_error error;
  ASSERT_EQ(hfta_store_read(store.get(), 0, 3, all.data(), &error), HFTA_OK);
  EXPECT_TRUE(all.isZero());
  EXPECT_EQ(hfta_store_count(store.get()).read, 0u);
  ASSERT_EQ(hfta_store_write(store.get(), 1, 1, second.data(), &error),
            HFTA_OK);
  ASSERT_EQ(hfta_store_read(store.get(), 0, 3, all.data(), &error), HFTA_OK);
  EXPECT_EQ(memcmp(all.data() + kPage, second.data(), second.size), 0);
  EXPECT_EQ(all.data()[0], 0);
  EXPECT_EQ(all.data()[all.size - 1], 0);
  hfta_store_forget(store.get());
  ASSERT_EQ(hfta_store_read(store.get(), 0, 3, all.data(), &error), HFTA_OK);
  EXPECT_TRUE(all.isZero());
}

TEST_P(Stores, ReadAndWriteAnyBytes) {
  StorePointer store = makeOne({kPage, 2 * kPiece + kPage});
  const uint64_t size = 2 * kPiece + kPage;
  Buffer expected(size, 4), read(size);
  hfta_error error;
  ASSERT_EQ(hfta_store_write(store.get(), 1, 1, expected.data(), &error),
            HFTA_OK);
  const struct {
    uint64_t offset, bytes;
  } parts[] = {{1, 1},        {kPiece - 3, 7}, {100, 2 * kPiece},
               {size - 5, 5}, {0, size},       {kPiece, kPiece},
               {17, 0}};
  for (auto [offset, bytes] : parts) {
    std::vector<unsigned char> other(bytes, static_cast<unsigned char>(offset));
    ASSERT_EQ(hfta_store_write_bytes(store.get(), 1, offset, other.data(),
                                     bytes, &error),
              HFTA_OK);
    memcpy(expected.data() + offset, other.data(), bytes);
    std::vector<unsigned char> back(bytes);
    ASSERT_EQ(hfta_store_read_bytes(store.get(), 1, offset, back.data(), bytes,
                                    &error),
              HFTA_OK);
    EXPECT_EQ(back, other);
    ASSERT_EQ(hfta_store_read(store.get(), 1, 1, read.data(), &error), HFTA_OK);
    EXPECT_TRUE(read == expected) << offset << ", " << bytes;
  }
}

TEST_P(Stores, ServeSeveralThreads) {
  constexpr int kThreads = 4, kRounds = 8;
  std::vector<uint64_t> extents(kThreads, 3 * kPiece + kPage);
  StorePointer store = makeOne(extents);
  std::vector<std::thread> threads;
  std::vector<int> wrong(kThreads, 0);
  for (int number = 0; number < kThreads; ++number)
    threads.emplace_back([&, number] {
      Buffer read(extents[0]);
      hfta_error error;
      for (int round = 0; round < kRounds; ++round) {
        Buffer written(extents[0], unsigned(number * kRounds + round));
        wrong[number] += hfta_store_write(store.get(), uint64_t(number), 1,
                                          written.data(), &error) != HFTA_OK;
        wrong[number] += hfta_store_read(store.get(), uint64_t(number), 1,
                                         read.data(), &error) != HFTA_OK;
        wrong[number] += !(written == read);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, std::vector<int>(kThreads, 0));
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

/// Makes three writes and three reads. Returns the message of the first one
/// that fails.
std::string run(const char *layers) {
  StorePointer store = make({2 * kPage, kPage}, layers);
  Buffer written(3 * kPage, 5), read(3 * kPage);
  hfta_error error = {};
  hfta_status status = HFTA_OK;
  for (int i = 0; i < 3 && status == HFTA_OK; ++i)
    status = hfta_store_write(store.get(), 0, 1, written.data(), &error);
  for (int i = 0; i < 3 && status == HFTA_OK; ++i)
    status = hfta_store_read(store.get(), 0, 1, read.data(), &error);
  return messageOf(status, error);
}

TEST(FaultyMedium, SaysWhatFails) {
  EXPECT_EQ(run("memory,faulty=io:100"), "0: ");
  EXPECT_EQ(
      run("memory,faulty=no_space:1"),
      "4: cannot write 8192 bytes of spilled data at byte 0: No space left "
      "on device");
  EXPECT_EQ(
      run("memory,faulty=io:2"),
      "4: cannot write 8192 bytes of spilled data at byte 0: Input/output "
      "error");
  EXPECT_EQ(run("memory,faulty=io:4"),
            "4: cannot read 8192 bytes of spilled data at byte 0: Input/output "
            "error");
  EXPECT_EQ(run("memory,faulty=short:5"),
            "4: cannot read 8192 bytes of spilled data at byte 0: the rest is "
            "missing");
}

TEST(FaultyMedium, AFlippedBitIsFound) {
  const std::string expected =
      "4: spilled data have changed: expected a checksum of ";
  EXPECT_EQ(run("memory,faulty=flip:3").substr(0, expected.size()), expected);
  EXPECT_EQ(run("memory,faulty=flip:6").substr(0, expected.size()), expected);
  // The first write is corrupted, but the same bytes are written again before
  // they are read.
  EXPECT_EQ(run("memory,faulty=flip:1"), "0: ");
}

/// After a failed write, reads of this extent fail too, whatever bytes the
/// medium has there. Other extents stay readable.
TEST(FaultyMedium, WhatWasNotWrittenIsNotRead) {
  const std::string expected =
      "4: cannot write 8192 bytes of spilled data at byte 0: No space left on "
      "device";
  StorePointer store = make({2 * kPage, kPage}, "memory,faulty=no_space:3", 1);
  Buffer first(2 * kPage, 5), second(2 * kPage, 6), read(2 * kPage, 7);
  hfta_error error = {};
  auto write = [&](uint64_t extent, const Buffer &from) {
    return hfta_store_write(store.get(), extent, 1, from.data(), &error);
  };
  auto readBack = [&](uint64_t extent) {
    return hfta_store_read(store.get(), extent, 1, read.data(), &error);
  };
  ASSERT_EQ(write(0, first), HFTA_OK);
  ASSERT_EQ(write(1, first), HFTA_OK);
  EXPECT_EQ(messageOf(write(0, second), error), expected);
  EXPECT_EQ(messageOf(readBack(0), error), expected);
  EXPECT_EQ(messageOf(hfta_store_write_bytes(store.get(), 0, 5, first.data(), 3,
                                             &error),
                      error),
            expected);
  ASSERT_EQ(readBack(1), HFTA_OK);
  EXPECT_EQ(memcmp(read.data(), first.data(), kPage), 0);
  // The extent becomes readable with the next successful write.
  ASSERT_EQ(write(0, second), HFTA_OK);
  ASSERT_EQ(readBack(0), HFTA_OK);
  EXPECT_TRUE(read == second);
}

TEST(FaultyMedium, WhatWasNotWrittenIsForgotten) {
  StorePointer store = make({2 * kPage}, "memory,faulty=io:1");
  Buffer bytes(2 * kPage, 5);
  hfta_error error = {};
  EXPECT_EQ(hfta_store_write(store.get(), 0, 1, bytes.data(), &error),
            HFTA_CANNOT_WRITE);
  hfta_store_forget(store.get());
  ASSERT_EQ(hfta_store_read(store.get(), 0, 1, bytes.data(), &error), HFTA_OK);
  EXPECT_TRUE(bytes.isZero());
}

std::string open(const char *layers, const char *directory, uint64_t bytes) {
  hfta_store *store = nullptr;
  hfta_error error = {};
  hfta_status status = open({bytes}, layers, &store, &error, 2, directory);
  EXPECT_EQ(store == nullptr, status != HFTA_OK);
  hfta_store_close(store);
  return messageOf(status, error);
}

TEST(Media, UnknownLayersAreRefused) {
  EXPECT_EQ(open("tape", HFTA_DISK_FOLDER, kPage),
            "2: store 'tape': expected memory, throttled=RATE or "
            "faulty=KIND:NUMBER");
  for (const char *text : {"faulty=io", "faulty=io:0", "faulty=:3",
                           "faulty=io:3x", "faulty=fire:1", "faulty"})
    EXPECT_EQ(
        open((std::string("memory,") + text).c_str(), ".", kPage).substr(0, 17),
        "2: store 'faulty=");
  for (const char *text : {"throttled=", "throttled=0", "throttled=-1",
                           "throttled=1e9:", "throttled=1e9:x", "throttled=inf",
                           "throttled=1e9:2e9:3e9"})
    EXPECT_EQ(
        open((std::string("memory,") + text).c_str(), ".", kPage).substr(0, 20),
        "2: store 'throttled=");
}

TEST(FileMedium, FoldersThatCannotBeUsedAreRefused) {
  EXPECT_EQ(open("", "/nowhere/at/all", kPage),
            "4: cannot spill in '/nowhere/at/all': No such file or directory");
  EXPECT_EQ(open("", HFTA_DISK_FOLDER "/cmake_install.cmake", kPage),
            "4: cannot spill in '" HFTA_DISK_FOLDER
            "/cmake_install.cmake': Not a directory");
  // The file system at /dev/shm is memory.
  EXPECT_EQ(open("", "/dev/shm", kPage),
            "3: cannot spill in '/dev/shm': its file system is memory itself; "
            "name a folder on a disk with --spill-dir");
}

TEST(FileMedium, ALengthPastTheLimitIsRefusedAtOnce) {
  struct rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  struct rlimit limited = before;
  limited.rlim_cur = 1 << 20;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limited), 0);
  std::string message = open("", HFTA_DISK_FOLDER, 2 << 20);
  EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(message, std::string("4: cannot spill 2097152 bytes in '") +
                         HFTA_DISK_FOLDER + "': File too large");
}

TEST(FileMedium, ADiskWithoutRoomShowsAtOnce) {
  std::string message = open("", HFTA_DISK_FOLDER, uint64_t(1) << 45);
  EXPECT_EQ(message, "4: cannot spill 35184372088832 bytes in "
                     "'" HFTA_DISK_FOLDER "': No space left on device");
}

TEST(ThrottledMedium, TakesAsLongAsTheRateSays) {
  // A transfer takes 0.1 s in each direction, whether the directions share a
  // channel or not.
  for (bool isShared : {false, true}) {
    StorePointer store =
        make({kPiece}, isShared ? "memory,throttled=2621440"
                                : "memory,throttled=2621440:2621440");
    Buffer bytes(kPiece);
    hfta_error error;
    double begin = hfta_now();
    ASSERT_EQ(hfta_store_write(store.get(), 0, 1, bytes.data(), &error),
              HFTA_OK);
    EXPECT_GE(hfta_now() - begin, 0.1);
    ASSERT_EQ(hfta_store_read(store.get(), 0, 1, bytes.data(), &error),
              HFTA_OK);
    EXPECT_GE(hfta_now() - begin, 0.2);
  }
}

//===----------------------------------------------------------------------===//
// Checksums
//===----------------------------------------------------------------------===//

TEST(Crc32c, IsThatOfTheStandard) {
  // These are the test vectors of RFC 3720, B.4.
  std::vector<unsigned char> bytes(32, 0);
  EXPECT_EQ(hfta_crc32c(bytes.data(), 32), 0x8A9136AAu);
  bytes.assign(32, 0xFF);
  EXPECT_EQ(hfta_crc32c(bytes.data(), 32), 0x62A8AB43u);
  for (int i = 0; i < 32; ++i)
    bytes[size_t(i)] = static_cast<unsigned char>(i);
  EXPECT_EQ(hfta_crc32c(bytes.data(), 32), 0x46DD794Eu);
  EXPECT_EQ(hfta_crc32c("123456789", 9), 0xE3069283u);
  EXPECT_EQ(hfta_crc32c("", 0), 0u);
}

TEST(Crc32c, IsTheSameWithoutAnInstruction) {
  Buffer bytes(kPage, 8);
  for (size_t size = 0; size < 100; ++size)
    EXPECT_EQ(hfta_crc32c(bytes.data() + size % 9, size),
              hfta_crc32c_by_table(bytes.data() + size % 9, size));
}

} // namespace
