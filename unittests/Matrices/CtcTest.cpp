//===- CtcTest.cpp - Tests of hfta.ctc_loss -------------------------------===//
//
// Compares losses and gradients with sums over all alignments, one by one, and
// those of long sequences with a recursion over plain probabilities.
//===----------------------------------------------------------------------===//

#include "MatrixTask.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir::hfta;

namespace {

using Numbers = std::vector<double>;
using Label = std::vector<int64_t>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The sizes of all sequences of a program.
struct Shape {
  int64_t steps, classes, elements, blank;
  bool hasLengths = false;
  bool zeroInfinity = false;
};

/// One sequence: the logarithms of probabilities [steps, classes], and the
/// label, which is filled up with `filler`.
struct Sequence {
  Numbers scores;
  Label label;
  int64_t length = 0; ///< the number of steps, where the program takes it
  int64_t filler = 0;
};

struct Answer {
  double loss = 0;
  Numbers gradient;
};

/// Computes all sequences in element type T. Sequence i belongs to copy i / n,
/// where n is the number of sequences per copy.
template <typename T>
std::vector<Answer> run(const Shape &shape,
                        const std::vector<Sequence> &sequences,
                        int64_t copies = 1) {
  int64_t count = sequences.size() / copies;
  int64_t size = shape.steps * shape.classes;
  std::string element = sizeof(T) == 8 ? "xf64" : "xf32";
  std::string batch = std::to_string(count);
  std::string grid = batch + "x" + std::to_string(shape.steps) + "x" +
                     std::to_string(shape.classes) + element;
  std::vector<MatrixTask::Variable> operands = {
      {"scores", grid},
      {"labels", batch + "x" + std::to_string(shape.elements) + "xi64"},
      {"lengths", batch + "xi32"}};
  if (shape.hasLengths)
    operands.push_back({"steps", batch + "xi64"});
  auto task = MatrixTask::compile(
      "ctc_loss", operands, {{"losses", batch + element}, {"gradient", grid}},
      copies, /*threads=*/2,
      "{blank = " + std::to_string(shape.blank) + " : i64" +
          (shape.zeroInfinity ? ", zero_infinity}" : "}"));
  std::vector<Answer> answers(sequences.size());
  if (!task) {
    ADD_FAILURE() << "doesn't compile";
    return answers;
  }
  for (int64_t i = 0; i < static_cast<int64_t>(sequences.size()); ++i) {
    const Sequence &from = sequences[i];
    int64_t copy = i / count, row = i % count;
    T *scores = task->at<T>("scores", copy) + row * size;
    std::copy(from.scores.begin(), from.scores.end(), scores);
    int64_t *label = task->at<int64_t>("labels", copy) + row * shape.elements;
    std::fill_n(label, shape.elements, from.filler);
    std::copy(from.label.begin(), from.label.end(), label);
    task->at<int32_t>("lengths", copy)[row] =
        static_cast<int32_t>(from.label.size());
    if (shape.hasLengths)
      task->at<int64_t>("steps", copy)[row] = from.length;
  }
  task->run();
  for (int64_t i = 0; i < static_cast<int64_t>(sequences.size()); ++i) {
    int64_t copy = i / count, row = i % count;
    answers[i].loss = task->at<T>("losses", copy)[row];
    T *gradient = task->at<T>("gradient", copy) + row * size;
    answers[i].gradient.assign(gradient, gradient + size);
  }
  return answers;
}

/// Joins equal neighbours of an alignment and leaves out blanks.
Label collapse(const Label &alignment, int64_t blank) {
  Label label;
  for (size_t i = 0; i < alignment.size(); ++i)
    if (alignment[i] != blank && (i == 0 || alignment[i] != alignment[i - 1]))
      label.push_back(alignment[i]);
  return label;
}

/// Adds up the probabilities of all alignments.
Answer enumerate(const Shape &shape, const Sequence &sequence) {
  int64_t steps = shape.hasLengths ? sequence.length : shape.steps;
  double total = 0;
  Numbers shares(shape.steps * shape.classes);
  Label alignment(steps, 0);
  for (bool isLast = false; !isLast;) {
    if (collapse(alignment, shape.blank) == sequence.label) {
      double logarithm = 0;
      for (int64_t step = 0; step < steps; ++step)
        logarithm += sequence.scores[step * shape.classes + alignment[step]];
      total += std::exp(logarithm);
      for (int64_t step = 0; step < steps; ++step)
        shares[step * shape.classes + alignment[step]] += std::exp(logarithm);
    }
    isLast = true;
    for (int64_t step = 0; isLast && step < steps; ++step) {
      alignment[step] = (alignment[step] + 1) % shape.classes;
      isLast = alignment[step] == 0;
    }
  }
  for (double &share : shares)
    share = total > 0 ? -share / total : 0;
  return {-std::log(total), shares};
}

Numbers makeScores(const Shape &shape, uint64_t seed) {
  Numbers scores = makeNumbers(shape.steps * shape.classes, seed);
  for (double &score : scores)
    score = 2 * score - 1;
  return scores;
}

void expectNear(const Answer &mine, const Answer &theirs, double tolerance) {
  EXPECT_NEAR(mine.loss, theirs.loss, tolerance * (1 + std::abs(theirs.loss)));
  ASSERT_EQ(mine.gradient.size(), theirs.gradient.size());
  for (size_t i = 0; i < mine.gradient.size(); ++i)
    EXPECT_NEAR(mine.gradient[i], theirs.gradient[i], tolerance)
        << "element " << i;
}

/// Compares both element types with all alignments.
void check(const Shape &shape, const std::vector<Label> &labels,
           const Label &lengths = {}) {
  std::vector<Sequence> sequences;
  for (size_t i = 0; i < labels.size(); ++i)
    sequences.push_back({makeScores(shape, i + 1), labels[i],
                         lengths.empty() ? shape.steps : lengths[i]});
  std::vector<Answer> exact = run<double>(shape, sequences);
  std::vector<Answer> rounded = run<float>(shape, sequences);
  for (size_t i = 0; i < labels.size(); ++i) {
    SCOPED_TRACE("sequence " + std::to_string(i));
    Answer expected = enumerate(shape, sequences[i]);
    expectNear(exact[i], expected, 1e-13);
    expectNear(rounded[i], expected, 2e-6);
  }
}

TEST(Ctc, OneStep) { check({1, 3, 1, 0}, {{}, {1}, {2}}); }

TEST(Ctc, Labels) {
  check({5, 4, 3, 0},
        {{}, {2}, {1, 2}, {1, 1}, {3, 3, 3}, {1, 2, 1}, {3, 1, 1}});
}

TEST(Ctc, LastClassIsBlank) {
  check({5, 4, 3, 3}, {{}, {0}, {0, 0}, {2, 0, 1}, {1, 1, 0}});
}

TEST(Ctc, BlankBetweenClasses) { check({4, 3, 2, 1}, {{0, 2}, {2, 2}}); }

TEST(Ctc, Lengths) {
  check({5, 3, 2, 0, /*hasLengths=*/true}, {{}, {1}, {1, 2}, {2, 2}, {2, 1}},
        {1, 1, 2, 3, 4});
}

TEST(Ctc, ManyElementsInVectors) {
  Label label;
  for (int64_t i = 0; i < 9; ++i)
    label.push_back(i % 2 + 1);
  check({10, 3, 9, 0}, {label, {1, 1, 2}});
}

//===----------------------------------------------------------------------===//
// Labels without alignments
//===----------------------------------------------------------------------===//

TEST(Ctc, NoAlignment) {
  Shape shape{3, 3, 3, 0};
  std::vector<Sequence> sequences = {{makeScores(shape, 1), {1, 1, 2}},
                                     {makeScores(shape, 2), {1, 2}}};
  std::vector<Answer> answers = run<double>(shape, sequences);
  EXPECT_EQ(answers[0].loss, kInfinity);
  EXPECT_TRUE(std::isnan(answers[0].gradient[1]));
  expectNear(answers[1], enumerate(shape, sequences[1]), 1e-13);
  shape.zeroInfinity = true;
  answers = run<double>(shape, sequences);
  EXPECT_EQ(answers[0].loss, 0);
  EXPECT_EQ(answers[0].gradient, Numbers(9));
  expectNear(answers[1], enumerate(shape, sequences[1]), 1e-13);
}

TEST(Ctc, ImpossibleClasses) {
  Shape shape{4, 3, 1, 0};
  Sequence sequence = {makeScores(shape, 1), {1}};
  for (int64_t step = 0; step < 3; ++step)
    sequence.scores[step * 3 + 1] = -kInfinity;
  expectNear(run<double>(shape, {sequence})[0], enumerate(shape, sequence),
             1e-13);
  sequence.scores[5] = std::nan("");
  EXPECT_FALSE(std::isnan(run<double>(shape, {sequence})[0].loss));
  sequence.scores[4] = std::nan("");
  EXPECT_TRUE(std::isnan(run<double>(shape, {sequence})[0].loss));
}

//===----------------------------------------------------------------------===//
// Numbers out of range
//===----------------------------------------------------------------------===//

TEST(Ctc, NumbersOutOfRange) {
  Shape shape{4, 3, 2, 0, /*hasLengths=*/true};
  Numbers scores = makeScores(shape, 1);
  auto compute = [&](const Label &label, int64_t length) {
    return run<double>(shape, {{scores, label, length}})[0];
  };
  Answer inside = compute({1, 2}, 4), beyond = compute({1, 1000000}, 1000000);
  EXPECT_EQ(beyond.loss, inside.loss);
  EXPECT_EQ(beyond.gradient, inside.gradient);
  EXPECT_EQ(compute({}, -5).loss, compute({}, 1).loss);
  EXPECT_TRUE(std::isfinite(compute({2, -1000000}, 4).loss));
}

TEST(Ctc, ElementsBehindTheLabelAreNotRead) {
  Shape shape{4, 3, 2, 0};
  Numbers scores = makeScores(shape, 1);
  Answer zeros = run<float>(shape, {{scores, {2}, 0, 0}})[0];
  Answer others = run<float>(shape, {{scores, {2}, 0, -100}})[0];
  EXPECT_EQ(zeros.loss, others.loss);
  EXPECT_EQ(zeros.gradient, others.gradient);
}

//===----------------------------------------------------------------------===//
// Long sequences, and several copies
//===----------------------------------------------------------------------===//

/// Computes the loss by a recursion over probabilities that are scaled in each
/// step.
double findLoss(const Shape &shape, const Sequence &sequence) {
  int64_t states = 2 * sequence.label.size() + 1;
  auto getClass = [&](int64_t state) {
    return state % 2 ? sequence.label[state / 2] : shape.blank;
  };
  Numbers ways(states);
  double loss = 0;
  for (int64_t step = 0; step < shape.steps; ++step) {
    Numbers next(states);
    double sum = 0;
    for (int64_t state = 0; state < states; ++state) {
      double before = step ? ways[state] : state < 2;
      if (step && state > 0)
        before += ways[state - 1];
      if (step && state > 1 && getClass(state) != getClass(state - 2))
        before += ways[state - 2];
      double score = sequence.scores[step * shape.classes + getClass(state)];
      sum += next[state] = before * std::exp(score);
    }
    for (double &way : next)
      way /= sum;
    loss -= std::log(sum);
    ways = next;
  }
  return loss -
         std::log(ways[states - 1] + (states > 1 ? ways[states - 2] : 0));
}

TEST(Ctc, LongSequences) {
  Shape shape{70, 12, 25, 0};
  std::vector<Sequence> sequences;
  for (uint64_t i = 0; i < 6; ++i) {
    Label label;
    for (uint64_t j = 0; j < 4 * i + 5; ++j)
      label.push_back(static_cast<int64_t>(1 + (j * j + i) % 11));
    sequences.push_back({makeScores(shape, i), label});
  }
  std::vector<Answer> exact = run<double>(shape, sequences);
  std::vector<Answer> rounded = run<float>(shape, sequences);
  for (size_t i = 0; i < sequences.size(); ++i) {
    double expected = findLoss(shape, sequences[i]);
    EXPECT_NEAR(exact[i].loss, expected, 1e-12);
    EXPECT_NEAR(rounded[i].loss, expected, 2e-5);
    // An alignment has one class in each step.
    for (int64_t step = 0; step < shape.steps; ++step) {
      double sum = 0;
      for (int64_t own = 0; own < shape.classes; ++own)
        sum += exact[i].gradient[step * shape.classes + own];
      EXPECT_NEAR(sum, -1, 1e-11);
    }
  }
}

TEST(Ctc, CopiesHaveTheBitsThatTheyHaveAlone) {
  Shape shape{20, 7, 6, 6};
  std::vector<Sequence> sequences;
  for (uint64_t i = 0; i < 6; ++i)
    sequences.push_back({makeScores(shape, i), {0, 1, 1, 5}});
  std::vector<Answer> together = run<float>(shape, sequences, /*copies=*/3);
  for (size_t i = 0; i < sequences.size(); ++i) {
    Answer alone = run<float>(shape, {sequences[i]})[0];
    EXPECT_EQ(together[i].loss, alone.loss);
    EXPECT_EQ(together[i].gradient, alone.gradient);
  }
}

} // namespace
