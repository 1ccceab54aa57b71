//===- TurnsTest.cpp - How many copies make a turn ------------------------===//

#include "gtest/gtest.h"

#include <functional>
#include <vector>

extern "C" {
#include "schedule/turns.h"
}

using Clock = std::function<double(int64_t width)>;

/// The widths of the next calls.
static std::vector<int64_t> call(hfta_turns &turns, int calls,
                                 const Clock &seconds) {
  std::vector<int64_t> widths;
  for (int i = 0; i < calls; ++i) {
    widths.push_back(turns.width);
    hfta_turns_took(&turns, seconds(turns.width));
  }
  return widths;
}

static std::vector<int64_t> settle(hfta_turns &turns, const Clock &seconds) {
  std::vector<int64_t> widths;
  while (!turns.is_settled)
    for (int64_t width : call(turns, 1, seconds))
      widths.push_back(width);
  return widths;
}

static hfta_turns begin(int64_t most) {
  hfta_turns turns;
  hfta_turns_begin(&turns, most);
  return turns;
}

TEST(Turns, NothingIsTriedWithOneCopyOrThread) {
  hfta_turns turns = begin(1);
  EXPECT_TRUE(turns.is_settled);
  for (int64_t width : call(turns, 5000, [](int64_t) { return 1.0; }))
    EXPECT_EQ(width, 1);
}

TEST(Turns, NarrowerOnesAreTriedWhileTheyAreFaster) {
  hfta_turns turns = begin(8);
  Clock narrowIsFast = [](int64_t width) { return 1.0 + double(width); };
  EXPECT_EQ(
      settle(turns, narrowIsFast),
      std::vector<int64_t>({8, 8, 8, 8, 4, 4, 4, 4, 2, 2, 2, 2, 1, 1, 1, 1}));
  EXPECT_EQ(turns.width, 1);

  turns = begin(6);
  Clock threeIsFast = [](int64_t width) { return width == 3 ? 1.0 : 2.0; };
  EXPECT_EQ(settle(turns, threeIsFast),
            std::vector<int64_t>({6, 6, 6, 6, 3, 3, 3, 3, 1, 1, 1, 1}));
  EXPECT_EQ(turns.width, 3);

  turns = begin(8);
  Clock wideIsFast = [](int64_t width) { return 10.0 - double(width); };
  EXPECT_EQ(settle(turns, wideIsFast),
            std::vector<int64_t>({8, 8, 8, 8, 4, 4, 4, 4}));
  EXPECT_EQ(turns.width, 8);
}

TEST(Turns, ALittleFasterIsNotEnough) {
  hfta_turns turns = begin(2);
  settle(turns, [](int64_t width) { return width == 2 ? 1.0 : 0.98; });
  EXPECT_EQ(turns.width, 2);
  turns = begin(2);
  settle(turns, [](int64_t width) { return width == 2 ? 1.0 : 0.96; });
  EXPECT_EQ(turns.width, 1);
  // A clock that stands still tells nothing.
  turns = begin(2);
  settle(turns, [](int64_t) { return 0.0; });
  EXPECT_EQ(turns.width, 2);
}

TEST(Turns, TheBestOfThreeCallsAfterTheFirstCounts) {
  // A fast first call of each width is no merit, slow ones no fault.
  const double wide[] = {0.1, 9.0, 1.0, 9.0}, narrow[] = {0.1, 9.0, 9.0, 2.0};
  hfta_turns turns = begin(2);
  int calls = 0;
  settle(turns, [&](int64_t width) {
    return (width == 2 ? wide : narrow)[calls++ % 4];
  });
  EXPECT_EQ(turns.width, 2);
  turns = begin(2);
  settle(turns, [&](int64_t width) {
    return (width == 2 ? narrow : wide)[calls++ % 4];
  });
  EXPECT_EQ(turns.width, 1);
}

TEST(Turns, ABadMomentIsNotForEver) {
  hfta_turns turns = begin(2);
  Clock wideIsSlow = [](int64_t width) { return width == 2 ? 5.0 : 2.0; };
  Clock wideIsFast = [](int64_t width) { return width == 2 ? 1.0 : 2.0; };
  settle(turns, wideIsSlow);
  // The pauses between searches double.
  for (int64_t expected : {1, 2, 2}) {
    const int pause = turns.pause;
    for (int64_t width : call(turns, pause, wideIsFast))
      EXPECT_EQ(width, expected);
    EXPECT_FALSE(turns.is_settled);
    EXPECT_EQ(turns.pause, 2 * pause);
    EXPECT_EQ(settle(turns, wideIsFast),
              std::vector<int64_t>({2, 2, 2, 2, 1, 1, 1, 1}));
  }
}
