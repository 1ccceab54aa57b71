//===- ScreenTest.cpp - Progress of several trainings at once -------------===//

#include "RuntimeTest.h"
#include "hfta/trainer.h"

extern "C" {
#include "progress/progress.h"
#include "system/clock.h"
}

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <regex>
#include <sys/ioctl.h>
#include <thread>
#include <unistd.h>

namespace {

/// Collects the text that is written to standard error, through a pipe or
/// through a terminal of a given size.
class Errors {
public:
  Errors() {
    int ends[2];
    if (pipe(ends) != 0)
      abort();
    begin(ends[0], ends[1]);
  }
  Errors(unsigned short rows, unsigned short columns,
         const char *kind = "xterm")
      : rows(rows), columns(columns) {
    setenv("TERM", kind, 1);
    setenv("LC_ALL", "C", 1);
    setenv("NO_COLOR", "1", 1);
    int other = posix_openpt(O_RDWR | O_NOCTTY);
    if (other < 0 || grantpt(other) != 0 || unlockpt(other) != 0)
      abort();
    int own = open(ptsname(other), O_RDWR | O_NOCTTY);
    winsize size = {rows, columns, 0, 0};
    if (own < 0 || ioctl(own, TIOCSWINSZ, &size) != 0)
      abort();
    begin(other, own);
  }
  ~Errors() { end(); }

  /// Ends the redirection of standard error and returns all text that was
  /// written.
  const std::string &end() {
    if (before < 0)
      return text;
    dup2(before, STDERR_FILENO);
    close(before);
    before = -1;
    reader.join();
    return text;
  }

  /// Interprets the terminal commands in the text, and returns all lines as a
  /// person would see them, including those that have scrolled away.
  std::vector<std::string> look() {
    std::vector<std::string> lines = {""};
    size_t row = 0;
    const std::string &all = end();
    for (size_t at = 0; at < all.size(); ++at) {
      if (all[at] == '\x1b') {
        at = obey(all, at, lines, row);
      } else if (all[at] == '\n') {
        EXPECT_LT(lines[row].size(), columns);
        if (++row == lines.size())
          lines.push_back("");
      } else if (all[at] != '\r') {
        lines[row] += all[at];
      }
    }
    EXPECT_EQ(lines.back(), "");
    lines.pop_back();
    return lines;
  }

private:
  void begin(int from, int to) {
    before = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    dup2(to, STDERR_FILENO);
    close(to);
    reader = std::thread([this, from] {
      char bytes[512];
      // A read from a terminal fails once its other end is closed.
      for (ssize_t size; (size = read(from, bytes, sizeof(bytes))) > 0;)
        text.append(bytes, size);
      close(from);
    });
  }

  /// Executes the terminal command at `at`: moves the cursor up, or clears all
  /// lines below. Returns the position of the command's last character.
  size_t obey(const std::string &all, size_t at,
              std::vector<std::string> &lines, size_t &row) {
    std::smatch match;
    std::string rest = all.substr(at, 16);
    if (!std::regex_search(rest, match, std::regex("^\x1b\\[([0-9]*)([AJ])"))) {
      ADD_FAILURE() << "another command";
      return at;
    }
    if (match[2] == "A") {
      size_t top = lines.size() > rows ? lines.size() - rows : 0;
      size_t up = std::stoul(match[1]);
      EXPECT_LE(up, row - top) << "the table is higher than the terminal";
      row = std::max(row - std::min(row, up), top);
    } else {
      lines.resize(row + 1);
      lines[row] = "";
    }
    return at + match.length() - 1;
  }

  unsigned short rows = 0, columns = 0;
  int before = -1;
  std::thread reader;
  std::string text;
};

/// A job that doesn't train but only reports progress.
struct Job {
  Job(const char *name, int64_t copies, int64_t steps)
      : steps(steps), losses(copies, 0.5) {
    program.name = name;
    accuracy.name = "accuracy";
    accuracy.is_share = 1;
    program.metrics = &accuracy;
    program.metric_count = 1;
    program.copies = copies;
  }

  void begin(hfta_screen *screen, int64_t block, int64_t lineEvery = 1) {
    hfta_progress_begin(&progress, &program, true, 0, steps, lineEvery);
    hfta_progress_join(&progress, screen, block);
  }

  void train(int64_t from, int64_t to) {
    for (int64_t step = from + 1; step <= to; ++step)
      hfta_progress_step(&progress, step, 1, losses.data());
  }

  hfta_metric accuracy = {};
  hfta_program program = {};
  hfta_progress progress = {};
  int64_t steps;
  std::vector<double> losses;
};

using ScreenPointer = std::unique_ptr<hfta_screen, void (*)(hfta_screen *)>;

ScreenPointer openScreen(const std::vector<const char *> &names,
                         bool shows = true) {
  hfta_screen *screen = nullptr;
  EXPECT_EQ(
      hfta_screen_open(names.data(), names.size(), shows, &screen, nullptr),
      HFTA_OK);
  return ScreenPointer(screen, hfta_screen_close);
}

/// Expects that each line matches the regular expression at its index. If one
/// doesn't, prints all lines.
void expectLines(const std::vector<std::string> &lines,
                 const std::vector<std::string> &expected) {
  std::string all;
  for (const std::string &line : lines)
    all += line + "\n";
  ASSERT_EQ(lines.size(), expected.size()) << all;
  for (size_t i = 0; i < lines.size(); ++i)
    EXPECT_TRUE(std::regex_match(lines[i], std::regex(expected[i])))
        << expected[i] << "\n"
        << all;
}

/// The end of the line about a job's state, in a terminal of 80 columns.
const std::string rate =
    R"(  epoch 1  [0-9.]+ steps/s  0:00 left(  [0-9]+ MiB)?)";
const std::string full = "(#+  )?100 %  ";
const std::string heading = "  copy  loss +";

//===----------------------------------------------------------------------===//
// On a terminal
//===----------------------------------------------------------------------===//

TEST(Screen, TwoJobsOfTwoThreadsHaveATable) {
  Errors errors(24, 80);
  ScreenPointer screen = openScreen({"a", "b", "c"});
  Job a("a", 2, 3000), b("b", 1, 2000);
  const double tested[] = {0.25}, metrics[] = {0.8125};
  std::thread first([&] {
    a.begin(screen.get(), 0);
    a.train(0, a.steps);
  });
  std::thread second([&] {
    b.begin(screen.get(), 1);
    b.train(0, b.steps);
    hfta_epoch_results results = {};
    results.epoch = 1;
    results.train_losses = b.losses.data();
    results.eval_losses = tested;
    results.eval_metrics = metrics;
    hfta_progress_epoch(&b.progress, b.steps, &results);
  });
  first.join();
  second.join();
  // The last numbers are drawn, even if the previous drawing was only just
  // before.
  expectLines(errors.look(),
              {"a  " + full + "step 3000/3000" + rate, heading, "  0     0.5 +",
               "  1     0.5 +", "b  " + full + "step 2000/2000" + rate,
               "  copy  loss        test loss   accuracy +",
               "  0     0.5         0.25        81.25 % +", "c  waiting"});
}

TEST(Screen, JobsSayWhatBecameOfThem) {
  Errors errors(24, 80);
  ScreenPointer screen = openScreen({"a", "b", "c", "d", "e"});
  Job a("a", 2, 4), b("b", 2, 4), c("c", 2, 4), d("d", 2, 4);
  a.begin(screen.get(), 0);
  a.train(0, 4);
  hfta_screen_finish(screen.get(), 0, HFTA_SCREEN_DONE, 4);
  b.begin(screen.get(), 1);
  b.train(0, 3);
  hfta_screen_finish(screen.get(), 1, HFTA_SCREEN_STOPPED, 3);
  hfta_screen_finish(screen.get(), 2, HFTA_SCREEN_FAILED, 0);
  d.begin(screen.get(), 3);
  hfta_progress_note(&d.progress, "is here");
  expectLines(errors.look(),
              {"d: is here", "a  done", "b  stopped after step 3", "c  failed",
               "d  starting", "e  waiting"});
}

TEST(Screen, NotesAndOutputStandAboveTheTable) {
  Errors errors(24, 80);
  ScreenPointer screen = openScreen({"a", "b"});
  Job a("a", 1, 4), b("b", 1, 4);
  a.begin(screen.get(), 0);
  a.train(0, 4);
  hfta_progress_note(&a.progress, "%d samples", 12);
  b.begin(screen.get(), 1);
  b.train(0, 4);
  hfta_screen_begin_output(screen.get());
  dprintf(STDERR_FILENO, "a table\nof results\n");
  hfta_screen_end_output(screen.get());
  hfta_progress_note(&b.progress, "late");
  expectLines(errors.look(),
              {"a: 12 samples", "a table", "of results", "b: late",
               "a  " + full + "step 4/4" + rate, heading, "  0     0.5 +",
               "b  " + full + "step 4/4" + rate, heading, "  0     0.5 +"});
}

TEST(Screen, BeforeTheFirstJobBeginsThereIsNoTable) {
  Errors errors(24, 80);
  ScreenPointer screen = openScreen({"a", "b"});
  hfta_screen_begin_output(screen.get());
  dprintf(STDERR_FILENO, "early\n");
  hfta_screen_end_output(screen.get());
  hfta_screen_finish(screen.get(), 0, HFTA_SCREEN_FAILED, 0);
  expectLines(errors.look(), {"early"});
}

TEST(Screen, JobsShareTheTerminalsHeight) {
  Errors errors(12, 80);
  ScreenPointer screen = openScreen({"a", "b"});
  Job a("a", 20, 4), b("b", 2, 4);
  a.begin(screen.get(), 0);
  a.train(0, 4);
  b.begin(screen.get(), 1);
  b.train(0, 4);
  // Rows that b doesn't need are used for a.
  expectLines(errors.look(),
              {"a  " + full + "step 4/4" + rate, heading, "  0     0.5 +",
               "  1     0.5 +", "  2     0.5 +", "  ... and 17 more",
               "b  " + full + "step 4/4" + rate, heading, "  0     0.5 +",
               "  1     0.5 +"});
}

TEST(Screen, OfALowTerminalJobsHaveALineEach) {
  Errors errors(7, 80);
  ScreenPointer screen = openScreen({"a", "b", "c"});
  Job a("a", 20, 4), b("b", 20, 4);
  a.begin(screen.get(), 0);
  a.train(0, 4);
  b.begin(screen.get(), 1);
  b.train(0, 4);
  expectLines(errors.look(), {"a  " + full + "step 4/4" + rate,
                              "b  " + full + "step 4/4" + rate, "c  waiting"});
}

TEST(Screen, JobsThatTrainAreShownBeforeOthers) {
  Errors errors(6, 80);
  ScreenPointer screen = openScreen({"a", "b", "c", "d", "e", "f"});
  Job c("c", 1, 4), f("f", 1, 4);
  c.begin(screen.get(), 2);
  c.train(0, 4);
  hfta_screen_finish(screen.get(), 0, HFTA_SCREEN_DONE, 4);
  f.begin(screen.get(), 5);
  f.train(0, 4);
  expectLines(errors.look(),
              {"a  done", "c  " + full + "step 4/4" + rate,
               "f  " + full + "step 4/4" + rate, "... and 3 more jobs"});
}

TEST(Screen, LinesAreCutToTheTerminalsWidth) {
  Errors errors(24, 20);
  ScreenPointer screen = openScreen({"a_long_name_of_a_job", "b"});
  Job a("a", 1, 4);
  a.begin(screen.get(), 1);
  a.train(0, 4);
  expectLines(errors.look(), {"a_long_name_of_a_jo", "b  100 %  step 4/4",
                              "  copy  loss       ", "  0     0.5        "});
}

TEST(Screen, TablesAreDrawnAFewTimesASecond) {
  Errors errors(24, 80);
  ScreenPointer screen = openScreen({"a"});
  Job a("a", 1, 1000000);
  a.begin(screen.get(), 0);
  double begin = a.progress.state.begin;
  a.train(0, 20000);
  double seconds = hfta_now() - begin;
  const std::string &text = errors.end();
  size_t drawn = 0;
  for (size_t at = 0; (at = text.find("[J", at)) != std::string::npos; ++at)
    ++drawn;
  EXPECT_LE(double(drawn), seconds / HFTA_REDRAW_SECONDS + 1);
}

//===----------------------------------------------------------------------===//
// Without a terminal, or on one whose lines can't be redrawn
//===----------------------------------------------------------------------===//

TEST(Screen, ADumbTerminalGetsLines) {
  Errors errors(24, 80, "dumb");
  ScreenPointer screen = openScreen({"a"});
  Job a("a", 2, 20);
  a.begin(screen.get(), 0);
  a.train(0, a.steps);
  hfta_screen_finish(screen.get(), 0, HFTA_SCREEN_DONE, a.steps);
  const std::string &text = errors.end();
  EXPECT_NE(text.find("a: step 20/20"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
}

TEST(Progress, ADumbTerminalGetsLines) {
  Errors errors(24, 80, "dumb");
  Job a("a", 2, 20);
  a.begin(nullptr, 0);
  a.train(0, a.steps);
  const std::string &text = errors.end();
  EXPECT_NE(text.find("step 20/20"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
}

TEST(Screen, LinesOfSeveralThreadsStayWhole) {
  Errors errors;
  ScreenPointer screen = openScreen({"a", "b"});
  Job a("a", 2, 500), b("b", 3, 400);
  auto train = [&](Job &job, int64_t block) {
    job.begin(screen.get(), block);
    hfta_progress_note(&job.progress, "%s is here", job.program.name);
    job.train(0, job.steps);
    const double *losses = job.losses.data();
    hfta_epoch_results results = {};
    results.epoch = 1;
    results.train_losses = losses;
    results.eval_losses = results.eval_metrics = losses;
    hfta_progress_epoch(&job.progress, job.steps, &results);
    hfta_screen_finish(screen.get(), block, HFTA_SCREEN_DONE, job.steps);
  };
  std::thread first(train, std::ref(a), 0), second(train, std::ref(b), 1);
  for (int i = 0; i < 100; ++i) {
    hfta_screen_begin_output(screen.get());
    dprintf(STDERR_FILENO, "one and ");
    dprintf(STDERR_FILENO, "two\n");
    hfta_screen_end_output(screen.get());
  }
  first.join();
  second.join();
  std::vector<std::string> lines = linesOf(errors.end());
  EXPECT_EQ(lines.size(), 502u + 402u + 100u);
  std::regex whole(
      "a: a is here|b: b is here|one and two|"
      "a: step [0-9]+/500  epoch 1  [0-9.]+ steps/s  [0-9:?]+ left"
      "  loss 0\\.5 to 0\\.5|"
      "b: step [0-9]+/400  epoch 1  [0-9.]+ steps/s  [0-9:?]+ left"
      "  loss 0\\.5 to 0\\.5|"
      "[ab]: epoch 1  train loss 0\\.5 to 0\\.5  test loss 0\\.5 to "
      "0\\.5  test accuracy 50\\.00 % to 50\\.00 %");
  for (const std::string &line : lines)
    EXPECT_TRUE(std::regex_match(line, whole)) << line;
}

TEST(Screen, OneThatIsToShowNothingShowsNothing) {
  Errors errors(24, 80);
  ScreenPointer screen = openScreen({"a"}, false);
  Job a("a", 1, 4);
  a.begin(screen.get(), 0);
  a.train(0, 4);
  hfta_progress_note(&a.progress, "note");
  hfta_screen_finish(screen.get(), 0, HFTA_SCREEN_DONE, 4);
  hfta_screen_begin_output(screen.get());
  hfta_screen_end_output(screen.get());
  EXPECT_EQ(errors.end(), "");
}

TEST(Screen, NoScreenIsAllowed) {
  hfta_screen_finish(nullptr, 0, HFTA_SCREEN_DONE, 0);
  hfta_screen_begin_output(nullptr);
  hfta_screen_end_output(nullptr);
  hfta_screen_close(nullptr);
}

TEST(Screen, ATrainingAloneNamesNoJob) {
  Errors errors(24, 80);
  Job a("a", 2, 4);
  a.begin(nullptr, 0);
  hfta_progress_note(&a.progress, "early");
  a.train(0, 1);
  hfta_progress_note(&a.progress, "late");
  a.train(1, 4);
  expectLines(errors.look(), {"early", "late", full + "step 4/4" + rate,
                              heading, "  0     0.5 +", "  1     0.5 +"});
}

//===----------------------------------------------------------------------===//
// Trainings
//===----------------------------------------------------------------------===//

TEST(Screen, TrainingsTellWhichJobTheyAre) {
  TemporaryFolder data;
  writeData(data.root);
  ProgramPointer program = makeProgram(defaultOptions());
  Errors errors;
  ScreenPointer screen = openScreen({"a", "b"});
  auto train = [&](int64_t block) {
    InstancePointer instance = makeInstance(program.get());
    hfta_train_options options = {};
    options.data_root = data.root.c_str();
    options.steps = 12;
    options.log_every = 4;
    options.progress = true;
    options.screen = screen.get();
    options.screen_block = block;
    hfta_train_result result;
    EXPECT_EQ(hfta_train(instance.get(), &options, &result), HFTA_OK);
    hfta_train_result_free(&result);
  };
  std::thread first(train, 0), second(train, 1);
  first.join();
  second.join();
  std::vector<std::string> lines = linesOf(errors.end());
  for (const std::string name : {"a", "b"}) {
    std::vector<std::string> own;
    std::copy_if(
        lines.begin(), lines.end(), std::back_inserter(own),
        [&](const std::string &line) { return line.find(name + ": ") == 0; });
    expectLines(own, {name + ": 3 copies, batch 8, 6 steps an epoch, .*",
                      name + ": data: .*", name + ": step 1/12 .*",
                      name + ": step 4/12 .*", name + ": epoch 1 .*",
                      name + ": step 8/12 .*", name + ": step 12/12 .*",
                      name + ": epoch 2 .*"});
  }
}

} // namespace
