//===- BulkCopiesTest.cpp - Tests of bulk copies and mbarriers ------------===//

#include "BulkCopies.h"
#include "Fibers.h"
#include "TensorMaps.h"

#include "gtest/gtest.h"

#include <cstring>
#include <functional>
#include <numeric>
#include <string>

namespace {

constexpr unsigned kThreads = 64, kElements = 1024;
/// The number of elements of a box, and its size in bytes.
constexpr unsigned kBox = 64, kBoxBytes = kBox * sizeof(uint16_t);

/// A thread block whose threads all run one function, with their number as
/// argument. They copy boxes of 64 consecutive elements of a tensor into shared
/// memory. Element i of the tensor is i + 1.
struct Block {
  alignas(64) unsigned char map[tensor_maps::kBytes];
  alignas(128) uint16_t shared[4][kBox];
  alignas(16) uint16_t tensor[kElements];
  uint64_t barriers[4] = {};
  std::function<void(Block &, unsigned)> body;
  unsigned next = 0;

  Block() : map(), shared(), tensor() {
    std::iota(tensor, tensor + kElements, uint16_t(1));
    tensor_maps::Map own = {};
    own.address = reinterpret_cast<uint64_t>(tensor);
    own.elementBytes = 2;
    own.rank = 1;
    own.sizes[0] = kElements;
    own.strides[0] = 2;
    own.box[0] = kBox;
    own.steps[0] = 1;
    EXPECT_TRUE(tensor_maps::encode(own, map));
  }

  /// Runs the block. Returns why it failed: the emulation's message, or "stuck"
  /// if threads waited forever. Returns an empty text if it didn't fail.
  std::string run(std::function<void(Block &, unsigned)> ofThread,
                  unsigned threads = kThreads) {
    body = std::move(ofThread);
    bulk_copies::forget();
    count = threads;
    bool works = fibers::run(threads, runThread, chooseThread, this);
    const char *failure = fibers::getFailure();
    return works ? "" : failure ? failure : "stuck";
  }

  /// Begins the copy of the box from element `first` on to shared[place].
  void begin(unsigned place, int32_t first, unsigned barrier = 0) {
    bulk_copies::begin(shared[place], map, &barriers[barrier], 1, first, 0, 0,
                       0, 0);
  }

  static void runThread(void *argument) {
    auto &block = *static_cast<Block *>(argument);
    block.body(block, fibers::getThread());
  }
  static unsigned chooseThread(void *argument) {
    auto &block = *static_cast<Block *>(argument);
    return block.next++ % block.count;
  }

  unsigned count = kThreads;
};

TEST(Mbarriers, LetParityOnePassAtFirst) {
  Block block;
  EXPECT_EQ(block.run(
                [](Block &own, unsigned) {
                  bulk_copies::initialise(own.barriers, 1);
                  bulk_copies::wait(own.barriers, 1);
                  bulk_copies::arrive(own.barriers, 1);
                  bulk_copies::wait(own.barriers, 0);
                  bulk_copies::arrive(own.barriers, 1);
                  bulk_copies::wait(own.barriers, 1);
                },
                1),
            "");
}

TEST(Mbarriers, WaitForAllArrivals) {
  Block block;
  unsigned arrived = 0;
  EXPECT_EQ(block.run([&](Block &own, unsigned thread) {
    if (thread == 0)
      bulk_copies::initialise(own.barriers, kThreads + 2);
    fibers::wait();
    for (unsigned phase = 0; phase < 3; ++phase) {
      arrived += thread == 7 ? 3 : 1;
      bulk_copies::arrive(own.barriers, thread == 7 ? 3 : 1);
      bulk_copies::wait(own.barriers, phase % 2);
      EXPECT_EQ(arrived, (phase + 1) * (kThreads + 2));
      fibers::wait();
    }
  }),
            "");
}

TEST(Mbarriers, AreStuckWithoutAnArrival) {
  Block block;
  EXPECT_EQ(block.run([](Block &own, unsigned thread) {
    if (thread == 0)
      bulk_copies::initialise(own.barriers, 2);
    fibers::wait();
    if (thread == 0)
      bulk_copies::arrive(own.barriers, 1);
    bulk_copies::wait(own.barriers, 0);
  }),
            "stuck");
}

TEST(Mbarriers, CountNoMoreThanAPhase) {
  Block block;
  EXPECT_EQ(block.run(
                [](Block &own, unsigned) {
                  bulk_copies::initialise(own.barriers, 3);
                  bulk_copies::arrive(own.barriers, 2);
                  bulk_copies::arrive(own.barriers, 2);
                },
                1),
            "has more arrivals at an mbarrier than a phase has");
  // Here all arrivals of the phase have been made, but its bytes are missing. A
  // further arrival is still too many.
  EXPECT_EQ(block.run(
                [](Block &own, unsigned) {
                  bulk_copies::initialise(own.barriers, 1);
                  bulk_copies::arriveExpecting(own.barriers, 16);
                  bulk_copies::arrive(own.barriers, 1);
                },
                1),
            "has more arrivals at an mbarrier than a phase has");
}

TEST(Mbarriers, AreInitialisedFirst) {
  Block block;
  std::string expected = "uses an mbarrier that isn't initialised";
  auto run = [&](std::function<void(Block &, unsigned)> body) {
    return block.run(std::move(body), 1);
  };
  EXPECT_EQ(
      run([](Block &own, unsigned) { bulk_copies::wait(own.barriers, 1); }),
      expected);
  EXPECT_EQ(run([](Block &own, unsigned) {
              bulk_copies::initialise(own.barriers, 1);
              bulk_copies::arrive(own.barriers + 1, 1);
            }),
            expected);
  EXPECT_EQ(run([](Block &own, unsigned) {
              bulk_copies::arriveExpecting(own.barriers, 16);
            }),
            expected);
  EXPECT_EQ(run([](Block &own, unsigned) { own.begin(0, 0); }), expected);
}

TEST(Mbarriers, CantBeAnywhere) {
  Block block;
  EXPECT_NE(block.run(
                [](Block &own, unsigned) {
                  bulk_copies::initialise(
                      reinterpret_cast<char *>(own.barriers) + 4, 1);
                },
                1),
            "");
  EXPECT_NE(
      block.run([](Block &own,
                   unsigned) { bulk_copies::initialise(own.barriers, 0); },
                1),
      "");
}

/// After an arrival, all other threads run before the one that arrived. So if a
/// kernel's thread arrives too early, others read or write too early, and the
/// kernel's result is wrong.
TEST(Mbarriers, WhoArrivesGoesOnLast) {
  Block block;
  block.shared[0][0] = 1;
  EXPECT_EQ(block.run([](Block &own, unsigned thread) {
    if (thread == 0)
      bulk_copies::initialise(own.barriers, 1);
    fibers::wait();
    if (thread == 5) {
      bulk_copies::arrive(own.barriers, 1);
      EXPECT_EQ(own.shared[0][0], 2);
      return;
    }
    bulk_copies::wait(own.barriers, 0);
    own.shared[0][0] = 2;
  }),
            "");
}

TEST(BulkCopies, AreMadeWhenNobodyElseGoesOn) {
  Block block;
  EXPECT_EQ(block.run([](Block &own, unsigned thread) {
    if (thread == 0) {
      bulk_copies::initialise(own.barriers, 1);
      bulk_copies::arriveExpecting(own.barriers, kBoxBytes);
      own.begin(0, 10);
    }
    fibers::wait();
    EXPECT_EQ(own.shared[0][0], 0xFFFF);
    EXPECT_EQ(own.shared[0][kBox - 1], 0xFFFF);
    if (thread == 40) {
      // The copy is made only once all threads wait, so it reads the element
      // that this thread is about to write.
      fibers::waitForWarp();
      EXPECT_EQ(own.shared[0][0], 0xFFFF);
      own.tensor[10] = 77;
    } else if (thread >= 32) {
      fibers::waitForWarp();
    }
    bulk_copies::wait(own.barriers, 0);
    EXPECT_EQ(own.shared[0][0], 77);
    EXPECT_EQ(own.shared[0][kBox - 1], 10 + kBox);
  }),
            "");
  EXPECT_TRUE(bulk_copies::areMade());
}

TEST(BulkCopies, AreThoseOfTheirMbarrier) {
  Block block;
  EXPECT_EQ(block.run(
                [](Block &own, unsigned) {
                  for (unsigned i = 0; i < 2; ++i)
                    bulk_copies::initialise(own.barriers + i, 1);
                  for (unsigned i = 0; i < 4; ++i)
                    own.begin(i, int32_t(i) * 100, i / 2);
                  for (unsigned i = 0; i < 2; ++i)
                    bulk_copies::arriveExpecting(own.barriers + i,
                                                 2 * kBoxBytes);
                  bulk_copies::wait(own.barriers + 1, 0);
                  EXPECT_EQ(own.shared[0][0], 0xFFFF);
                  EXPECT_EQ(own.shared[1][0], 0xFFFF);
                  EXPECT_EQ(own.shared[2][0], 201);
                  EXPECT_EQ(own.shared[3][0], 301);
                  EXPECT_FALSE(bulk_copies::areMade());
                  bulk_copies::wait(own.barriers, 0);
                  EXPECT_EQ(own.shared[0][0], 1);
                  EXPECT_EQ(own.shared[1][0], 101);
                },
                1),
            "");
  EXPECT_TRUE(bulk_copies::areMade());
}

/// Tests double buffering: one thread fills two stages ahead of the second
/// warp, which reads them. The mbarriers `full` and `empty` synchronize both.
TEST(BulkCopies, GoAheadOfThoseWhoRead) {
  Block block;
  constexpr unsigned kSteps = 7, kStages = 2;
  EXPECT_EQ(block.run([](Block &own, unsigned thread) {
    uint64_t *full = own.barriers, *empty = own.barriers + kStages;
    for (unsigned stage = 0; thread == 0 && stage < kStages; ++stage) {
      bulk_copies::initialise(full + stage, 1);
      bulk_copies::initialise(empty + stage, 1);
    }
    fibers::wait();
    for (unsigned step = 0; step < kSteps; ++step) {
      unsigned stage = step % kStages, parity = step / kStages % 2;
      if (thread == 0) {
        bulk_copies::wait(empty + stage, 1 - parity);
        bulk_copies::arriveExpecting(full + stage, kBoxBytes);
        own.begin(stage, int32_t(step) * 20, stage);
      } else if (thread >= 32) {
        bulk_copies::wait(full + stage, parity);
        EXPECT_EQ(own.shared[stage][0], step * 20 + 1);
        fibers::waitForWarp();
        if (thread == 32)
          bulk_copies::arrive(empty + stage, 1);
      }
    }
  }),
            "");
  EXPECT_TRUE(bulk_copies::areMade());
}

TEST(BulkCopies, BringAsManyBytesAsAreExpected) {
  Block block;
  auto run = [&](uint32_t bytes) {
    return block.run(
        [bytes](Block &own, unsigned) {
          bulk_copies::initialise(own.barriers, 1);
          bulk_copies::arriveExpecting(own.barriers, bytes);
          own.begin(0, 0);
          bulk_copies::wait(own.barriers, 0);
        },
        1);
  };
  EXPECT_EQ(run(kBoxBytes), "");
  EXPECT_EQ(run(kBoxBytes - 2), "copies more bytes than an mbarrier expects");
  EXPECT_EQ(run(kBoxBytes + 2), "stuck");
  // At the tensor's end, the elements outside the tensor count as copied bytes,
  // too.
  EXPECT_EQ(block.run(
                [](Block &own, unsigned) {
                  bulk_copies::initialise(own.barriers, 1);
                  bulk_copies::arriveExpecting(own.barriers, kBoxBytes);
                  own.begin(0, int32_t(kElements) - 1);
                  bulk_copies::wait(own.barriers, 0);
                  EXPECT_EQ(own.shared[0][0], kElements);
                  EXPECT_EQ(own.shared[0][1], 0);
                },
                1),
            "");
}

TEST(BulkCopies, ThatNobodyWaitsForArentMade) {
  Block block;
  EXPECT_EQ(block.run(
                [](Block &own, unsigned) {
                  bulk_copies::initialise(own.barriers, 1);
                  bulk_copies::arriveExpecting(own.barriers, kBoxBytes);
                  own.begin(0, 0);
                },
                1),
            "");
  EXPECT_FALSE(bulk_copies::areMade());
}

TEST(BulkCopies, NeedAMapAndAPlace) {
  Block block;
  EXPECT_EQ(block.run(
                [](Block &own, unsigned) {
                  bulk_copies::initialise(own.barriers, 1);
                  bulk_copies::begin(own.shared[0], own.tensor, own.barriers, 1,
                                     0, 0, 0, 0, 0);
                },
                1),
            "copies by what is no tensor map");
  EXPECT_EQ(block.run(
                [](Block &own, unsigned) {
                  bulk_copies::initialise(own.barriers, 1);
                  bulk_copies::begin(own.shared[0], own.map, own.barriers, 2, 0,
                                     0, 0, 0, 0);
                },
                1),
            "copies with fewer or more coordinates than a tensor has");
  EXPECT_EQ(block.run(
                [](Block &own, unsigned) {
                  bulk_copies::initialise(own.barriers, 1);
                  bulk_copies::begin(own.shared[0] + 8, own.map, own.barriers,
                                     1, 0, 0, 0, 0, 0);
                },
                1),
            "copies a box to a place that isn't aligned to 128 bytes");
}

} // namespace
