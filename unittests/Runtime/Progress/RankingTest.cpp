//===- RankingTest.cpp - Copies from the best to the worst ----------------===//

#include "RuntimeTest.h"

extern "C" {
#include "progress/progress_table.h"
}

#include <cmath>
#include <cstdlib>

namespace {

/// A program with a number of copies and the metrics `mae` and `accuracy`.
struct Ranked {
  explicit Ranked(int64_t copies) {
    metrics[0].name = "mae";
    metrics[0].direction = HFTA_MINIMIZE;
    metrics[1].name = "accuracy";
    metrics[1].direction = HFTA_MAXIMIZE;
    metrics[0].classes = metrics[1].classes = 1;
    program.metrics = metrics;
    program.metric_count = 2;
    program.copies = copies;
  }

  std::vector<int64_t> rank(const hfta_ranking &ranking) {
    std::vector<int64_t> order(program.copies);
    scored = hfta_rank_copies(&program, &ranking, order.data());
    return order;
  }

  hfta_metric metrics[2] = {};
  hfta_program program = {};
  int64_t scored = 0;
};

using Order = std::vector<int64_t>;

const double inf = INFINITY;

TEST(Ranking, ObjectiveOfValidationComesFirst) {
  Ranked ranked(3);
  const double losses[] = {0.3, 0.1, 0.2}, metrics[] = {1, 2, 3, 0.5, 0.7, 0.9};
  const double tested[] = {1, 2, 3};
  hfta_ranking by =
      hfta_rank_by(&ranked.program, losses, metrics, tested, nullptr);
  EXPECT_EQ(ranked.rank(by), (Order{1, 2, 0}));
  ranked.program.validation.by_metric = 2;
  ranked.program.validation.direction = HFTA_MAXIMIZE;
  by = hfta_rank_by(&ranked.program, losses, metrics, tested, nullptr);
  EXPECT_EQ(ranked.rank(by), (Order{2, 1, 0}));
  EXPECT_EQ(ranked.scored, 3);
}

TEST(Ranking, WithoutValidationTheFirstMetricCounts) {
  Ranked ranked(3);
  const double losses[] = {0.3, 0.1, 0.2}, metrics[] = {1, 3, 2, 0.5, 0.7, 0.9};
  hfta_ranking by =
      hfta_rank_by(&ranked.program, nullptr, nullptr, losses, metrics);
  EXPECT_EQ(ranked.rank(by), (Order{0, 2, 1}));
  by = hfta_rank_by(&ranked.program, nullptr, nullptr, losses, nullptr);
  EXPECT_EQ(ranked.rank(by), (Order{1, 2, 0}));
}

TEST(Ranking, DivergedAndIdleCopiesComeLast) {
  Ranked ranked(6);
  const double losses[] = {NAN, 0.5, inf, 0.1, 0.5, 0.4};
  const bool live[] = {true, true, true, false, true, true};
  hfta_ranking by =
      hfta_rank_by(&ranked.program, losses, nullptr, nullptr, nullptr);
  by.live = live;
  EXPECT_EQ(ranked.rank(by), (Order{5, 1, 4, 0, 2, 3}));
  EXPECT_EQ(ranked.scored, 3);
}

TEST(Ranking, WithoutScoresNumbersDecide) {
  Ranked ranked(3);
  const double losses[] = {NAN, 0.5, 0.1};
  hfta_ranking by = {};
  by.losses = losses;
  EXPECT_EQ(ranked.rank(by), (Order{1, 2, 0}));
  EXPECT_EQ(ranked.scored, 0);
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

TEST(TerminalLine, IsCutByCharacters) {
  hfta_terminal terminal = {true, false, true};
  hfta_line line;
  hfta_line_begin(&line, &terminal, 5);
  hfta_line_add(&line, HFTA_STYLE_BAD, "%s", "a★é");
  hfta_line_add(&line, HFTA_STYLE_PLAIN, "%s", "\xff★★★");
  EXPECT_STREQ(line.text, "a★é\xff★");
  EXPECT_EQ(line.width, 5);
}

TEST(TerminalLine, StylesEndAndTakeNoWidth) {
  hfta_terminal terminal = {true, true, true};
  hfta_line line;
  hfta_line_begin(&line, &terminal, 4);
  hfta_line_add(&line, HFTA_STYLE_GOOD, "ab");
  hfta_line_add(&line, HFTA_STYLE_FAINT, "cdef");
  hfta_line_add(&line, HFTA_STYLE_BAD, "g");
  EXPECT_STREQ(line.text, "\x1b[32mab\x1b[0m\x1b[2mcd\x1b[0m");
  // Text that is longer than the line's memory ends within it.
  hfta_line_begin(&line, &terminal, 100000);
  for (int i = 0; i < 100; ++i)
    hfta_line_add(&line, HFTA_STYLE_GOOD, "%s", std::string(100, 'x').c_str());
  std::string text = line.text;
  EXPECT_EQ(text.substr(text.size() - 4), "\x1b[0m");
}

TEST(Terminal, ColorsFollowTheEnvironment) {
  auto hasColor = [](const char *none, const char *force, const char *color) {
    for (auto [name, value] :
         {std::pair("NO_COLOR", none), std::pair("CLICOLOR_FORCE", force),
          std::pair("CLICOLOR", color)})
      value ? setenv(name, value, 1) : unsetenv(name);
    // A descriptor that is no terminal.
    bool has = hfta_terminal_of(-1).has_color;
    for (const char *name : {"NO_COLOR", "CLICOLOR_FORCE", "CLICOLOR"})
      unsetenv(name);
    return has;
  };
  EXPECT_FALSE(hasColor(nullptr, nullptr, nullptr));
  EXPECT_TRUE(hasColor(nullptr, "1", nullptr));
  EXPECT_TRUE(hasColor("", "1", "0"));
  EXPECT_FALSE(hasColor("1", "1", nullptr));
  EXPECT_FALSE(hasColor(nullptr, "0", "1"));
}

TEST(Terminal, LocaleSaysWhetherThereIsUtf8) {
  auto isUtf8 = [](const char *all, const char *lang) {
    all ? setenv("LC_ALL", all, 1) : unsetenv("LC_ALL");
    unsetenv("LC_CTYPE");
    lang ? setenv("LANG", lang, 1) : unsetenv("LANG");
    return hfta_terminal_of(-1).is_utf8;
  };
  EXPECT_TRUE(isUtf8("C.UTF-8", nullptr));
  EXPECT_TRUE(isUtf8(nullptr, "de_DE.utf8@euro"));
  EXPECT_FALSE(isUtf8("C", "de_DE.UTF-8"));
  EXPECT_FALSE(isUtf8("", "de_DE.ISO-8859-1"));
  EXPECT_FALSE(isUtf8(nullptr, nullptr));
}

} // namespace
