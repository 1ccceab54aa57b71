//===- AsyncCopiesTest.cpp - Tests of asynchronous copies (cp.async) ------===//

#include "AsyncCopies.h"
#include "Fibers.h"

#include "gtest/gtest.h"

#include <cstring>

namespace {

/// Byte of a destination before its copy is made: a NaN's.
constexpr unsigned char kNothing = 0xFF;

/// The sources and destinations of three copies. The sources consist of the
/// bytes 1, 2 and 3, the destinations of zeros.
struct Places {
  unsigned char from[3][async_copies::kBytes], to[3][async_copies::kBytes];

  Places() {
    for (unsigned i = 0; i < 3; ++i)
      std::memset(from[i], int(i) + 1, sizeof(from[i]));
    std::memset(to, 0, sizeof(to));
  }
  /// Checks the first byte of each destination.
  void expect(unsigned char first, unsigned char second, unsigned char third) {
    EXPECT_EQ(to[0][0], first);
    EXPECT_EQ(to[1][0], second);
    EXPECT_EQ(to[2][0], third);
  }
};

unsigned chooseOnly(void * /*argument*/) { return 0; }

void run(void (*body)(void *), Places &places) {
  async_copies::forget();
  ASSERT_TRUE(fibers::run(1, body, chooseOnly, &places));
}

/// Begins the three copies, each as a group of its own.
void beginAll(Places &places) {
  for (unsigned i = 0; i < 3; ++i) {
    async_copies::begin(places.to[i], places.from[i], async_copies::kBytes);
    async_copies::commit();
  }
}

TEST(AsyncCopies, NothingIsCopiedBeforeTheWaitThatCoversIt) {
  Places places;
  run(
      [](void *argument) {
        auto &places = *static_cast<Places *>(argument);
        beginAll(places);
        places.expect(kNothing, kNothing, kNothing);
        async_copies::wait(2);
        places.expect(1, kNothing, kNothing);
        async_copies::wait(0);
        places.expect(1, 2, 3);
      },
      places);
}

TEST(AsyncCopies, WhatNoGroupHasIsNotWaitedFor) {
  Places places;
  run(
      [](void *argument) {
        auto &places = *static_cast<Places *>(argument);
        async_copies::begin(places.to[0], places.from[0], async_copies::kBytes);
        async_copies::wait(0);
        places.expect(kNothing, 0, 0);
        async_copies::commit();
        async_copies::wait(0);
        places.expect(1, 0, 0);
      },
      places);
}

TEST(AsyncCopies, ZerosComeBehindWhatIsRead) {
  Places places;
  run(
      [](void *argument) {
        auto &places = *static_cast<Places *>(argument);
        async_copies::begin(places.to[0], places.from[0], 5);
        async_copies::begin(places.to[1], nullptr, 0);
        async_copies::commit();
        async_copies::wait(0);
        for (unsigned i = 0; i < async_copies::kBytes; ++i) {
          EXPECT_EQ(places.to[0][i], i < 5 ? 1 : 0);
          EXPECT_EQ(places.to[1][i], 0);
        }
      },
      places);
}

TEST(AsyncCopies, AnotherBlockBeginsWithNone) {
  Places places;
  run([](void *argument) { beginAll(*static_cast<Places *>(argument)); },
      places);
  run(
      [](void *argument) {
        auto &places = *static_cast<Places *>(argument);
        async_copies::commit();
        async_copies::wait(0);
        places.expect(kNothing, kNothing, kNothing);
      },
      places);
}

} // namespace
