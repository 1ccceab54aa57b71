//===- TurnsTest.cpp - Tests of the search for the size of turns ----------===//

#include "gtest/gtest.h"

#include <functional>
#include <vector>

extern "C" {
#include "instance/instance_impl.h"
}

using Clock = std::function<double(int64_t width)>;

/// Makes calls that take as long as `seconds` says for their width, that is,
/// the number of copies per turn. Returns the widths.
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
  // If the clock stands still, the width doesn't change.
  turns = begin(2);
  settle(turns, [](int64_t) { return 0.0; });
  EXPECT_EQ(turns.width, 2);
}

TEST(Turns, TheBestOfThreeCallsAfterTheFirstCounts) {
  // Neither the fast first call with a width counts nor slow calls.
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
  // The pause before the next search doubles each time.
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

/// Returns the number of copies in each turn.
static std::vector<int64_t> findTurns(int64_t copies, int64_t most) {
  std::vector<int64_t> turns;
  int64_t first = 0;
  for (int64_t i = 0; i < hfta_turn_count(copies, most); ++i) {
    hfta_turn turn = hfta_find_turn(copies, most, i);
    EXPECT_EQ(turn.first, first);
    turns.push_back(turn.copies);
    first += turn.copies;
  }
  EXPECT_EQ(first, copies);
  return turns;
}

TEST(TurnsOfCopies, AreFewAndMuchAlike) {
  using Copies = std::vector<int64_t>;
  EXPECT_EQ(findTurns(8, 0), Copies({8}));
  EXPECT_EQ(findTurns(8, 8), Copies({8}));
  EXPECT_EQ(findTurns(8, 7), Copies({4, 4}));
  EXPECT_EQ(findTurns(8, 3), Copies({3, 3, 2}));
  EXPECT_EQ(findTurns(10, 4), Copies({4, 4, 2}));
  EXPECT_EQ(findTurns(3, 1), Copies({1, 1, 1}));
  EXPECT_EQ(findTurns(1, 5), Copies({1}));
  for (int64_t copies = 1; copies < 40; ++copies)
    for (int64_t most = 1; most <= copies; ++most)
      for (int64_t turn : findTurns(copies, most))
        EXPECT_TRUE(turn >= 1 && turn <= most) << copies << ", " << most;
}
