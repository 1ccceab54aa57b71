//===- TimelineTest.cpp - Drawings of timelines ---------------------------===//

#include "Hfta/Planning/Common/Timeline.h"
#include "Hfta/Planning/Kfac/KfacSimulation.h"

#include "Kfac/TestKfacModels.h"
#include "Pipelines/TestPipelines.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::hfta::planning;

static std::string getSvg(const Timeline &timeline) {
  std::string text;
  llvm::raw_string_ostream os(text);
  writeSvg(timeline, os);
  return text;
}

/// Returns whether elements are nested properly, and the text contains no other
/// markup characters.
static bool isWellFormed(llvm::StringRef text) {
  std::vector<llvm::StringRef> open;
  while (!text.empty()) {
    size_t begin = text.find('<'), end = text.find('>');
    if (begin == llvm::StringRef::npos)
      return open.empty() && text.trim().empty() && !text.contains('>');
    if (end == llvm::StringRef::npos || end < begin)
      return false;
    llvm::StringRef tag = text.slice(begin + 1, end);
    text = text.drop_front(end + 1);
    if (tag.count('"') % 2 != 0 || tag.contains('<'))
      return false;
    if (tag.consume_front("/")) {
      if (open.empty() || open.back() != tag)
        return false;
      open.pop_back();
    } else if (!tag.ends_with("/")) {
      open.push_back(tag.split(' ').first);
    }
  }
  return open.empty();
}

static Timeline getExample(OrderKind kind, const PipelineShape &shape) {
  PipelineWork work = getEqualWork(shape, {1, 1, 1});
  for (StageWork &stage : work.stages) {
    stage.sums = {{1, 20}};
    stage.update = 0.5;
  }
  for (StageMessage &message : work.messages)
    message.forwardBytes = message.backwardBytes = 1;
  WorkerPlaces places;
  places.cluster = Cluster();
  places.cluster->devices.assign(shape.getWorkers(), 1);
  places.cluster->network = 10;
  return getTimeline(simulateOrder(getOrder(kind, shape), work, places),
                     stringifyOrderKind(kind));
}

TEST(TimelineTest, EveryActionHasABar) {
  Timeline timeline = getExample(OrderKind::zeroBubble, getShape(4, 8));
  EXPECT_EQ(timeline.rows.size(), 4u);
  auto count = [&](BarKind kind) {
    return llvm::count_if(timeline.bars, [&](const TimelineBar &bar) {
      return bar.kind == kind;
    });
  };
  EXPECT_EQ(count(BarKind::forward), 32);
  EXPECT_EQ(count(BarKind::backwardInput), 32);
  EXPECT_EQ(count(BarKind::backwardWeight), 32);
  EXPECT_EQ(count(BarKind::value), 24);
  EXPECT_EQ(count(BarKind::gradient), 24);
  EXPECT_EQ(count(BarKind::update), 4);
  EXPECT_EQ(count(BarKind::sum), 0) << "each stage has one worker";
  const TimelineBar &first = timeline.bars.front();
  EXPECT_EQ(first.label, "0");
  EXPECT_EQ(first.title, "0F0, stage 0, micro-batch 0");
  EXPECT_EQ(first.end, 1);
}

TEST(TimelineTest, SumsAreDrawnToo) {
  PipelineShape shape = getShape(2, 4);
  shape.replicas = {1, 3};
  Timeline timeline = getExample(OrderKind::oneForwardOneBackward, shape);
  EXPECT_TRUE(llvm::any_of(timeline.bars, [](const TimelineBar &bar) {
    return bar.kind == BarKind::sum &&
           bar.title == "part of a sum of stage 1 to worker 2";
  }));
  EXPECT_TRUE(isWellFormed(getSvg(timeline)));
}

/// Rank 0 has the layer whose factors have 4 and 2 rows, rank 1 the one with 3
/// and 1 rows.
TEST(TimelineTest, StepsOfKfacHaveABarForEachRank) {
  KfacModel model = makeTwoLayers();
  KfacCosts costs = makeSimpleCosts();
  KfacPlan plan =
      makeTwoLayersPlan(model, costs, KfacPlacement::fraction, {1, 2});
  KfacRun run = simulateStep(model, costs, plan, KfacStep::inverses);
  Timeline timeline = getTimeline(run, 2, "two layers");
  EXPECT_EQ(timeline.rows, std::vector<std::string>({"rank 0", "rank 1"}));
  auto count = [&](BarKind kind, size_t row) {
    return llvm::count_if(timeline.bars, [&](const TimelineBar &bar) {
      return bar.kind == kind && bar.row == row;
    });
  };
  for (size_t rank : {0, 1}) {
    EXPECT_EQ(count(BarKind::forward, rank), 2);
    EXPECT_EQ(count(BarKind::backward, rank), 2);
    EXPECT_EQ(count(BarKind::sum, rank), 2);
    EXPECT_EQ(count(BarKind::factorSum, rank), 3);
    EXPECT_EQ(count(BarKind::invert, rank), 2);
    EXPECT_EQ(count(BarKind::inverse, rank), 0) << "of its column alone";
    EXPECT_EQ(count(BarKind::precondition, rank), 1);
    EXPECT_EQ(count(BarKind::direction, rank), 1);
    EXPECT_EQ(count(BarKind::update, rank), 1);
  }
  double end = 0;
  for (const TimelineBar &bar : timeline.bars)
    end = std::max(end, bar.end);
  EXPECT_EQ(end, run.seconds);
  EXPECT_TRUE(llvm::any_of(timeline.bars, [](const TimelineBar &bar) {
    return bar.row == 0 && bar.label == "4" && bar.title == "invert, 4 rows";
  }));
  EXPECT_TRUE(isWellFormed(getSvg(timeline)));
}

TEST(TimelineTest, DrawingsAreWholeAndTheSameEachTime) {
  for (OrderKind kind :
       {OrderKind::allForwardsFirst, OrderKind::interleaved, OrderKind::vShape})
    for (int64_t positions : {4, 16}) {
      PipelineShape shape = getShape(positions, 4 * positions, 2);
      std::string svg = getSvg(getExample(kind, shape));
      EXPECT_TRUE(isWellFormed(svg));
      EXPECT_EQ(svg, getSvg(getExample(kind, shape)));
      EXPECT_NE(svg.find(">worker " + std::to_string(positions - 1) + "<"),
                std::string::npos);
      EXPECT_NE(svg.find(">values sent<"), std::string::npos);
      EXPECT_EQ(svg.find("nan"), std::string::npos);
    }
}

TEST(TimelineTest, NothingAndNoTimeAreDrawn) {
  EXPECT_TRUE(isWellFormed(getSvg(Timeline())));
  Timeline timeline;
  timeline.rows = {"worker 0"};
  timeline.bars = {{0, BarKind::forward, 0, 0, 0, "0", ""}};
  EXPECT_TRUE(isWellFormed(getSvg(timeline)));
}

TEST(TimelineTest, TextIsNoMarkup) {
  Timeline timeline;
  timeline.title = "a<b>&\"c\" \x01 \xff";
  timeline.rows = {"<script>"};
  timeline.bars = {{0, BarKind::other, 0, 1, 0, "<&>", "\"><x>"}};
  std::string svg = getSvg(timeline);
  EXPECT_TRUE(isWellFormed(svg));
  EXPECT_NE(svg.find("a&lt;b&gt;&amp;&quot;c&quot;"), std::string::npos);
  EXPECT_EQ(svg.find('\x01'), std::string::npos);
  EXPECT_EQ(svg.find('\xff'), std::string::npos);
  EXPECT_NE(svg.find("\xef\xbf\xbd"), std::string::npos);
}

//===----------------------------------------------------------------------===//
// Traces
//===----------------------------------------------------------------------===//

static std::string getTraceError(llvm::StringRef text) {
  llvm::Expected<Timeline> timeline = readTrace(text, "t.json");
  return timeline ? "" : llvm::toString(timeline.takeError());
}

static const char *const kTrace = R"json({"traceEvents": [
  {"name": "process_name", "ph": "M", "pid": 0, "tid": 0, "args": {}},
  {"name": "thread_name", "ph": "M", "pid": 0, "tid": 2,
   "args": {"name": "compute"}},
  {"name": "thread_name", "ph": "M", "pid": 1, "tid": 2,
   "args": {"name": "compute"}},
  {"name": "thread_name", "ph": "M", "pid": 1, "tid": 3,
   "args": {"name": "messages (sums)"}},
  {"name": "thread_name", "ph": "M", "pid": 1, "tid": 6,
   "args": {"name": "messages (transfers)"}},
  {"name": "copy to input", "ph": "X", "pid": 1, "tid": 5, "ts": 141, "dur": 2},
  {"name": "step", "ph": "X", "pid": 0, "tid": 0, "ts": 0, "dur": 50},
  {"name": "forward.0", "ph": "X", "pid": 0, "tid": 2, "ts": 10, "dur": 20,
   "args": {"micro_batch": 0}},
  {"name": "step", "ph": "X", "pid": 0, "tid": 0, "ts": 100, "dur": 100},
  {"name": "step", "ph": "X", "pid": 1, "tid": 0, "ts": 101, "dur": 98},
  {"name": "forward.0", "ph": "X", "pid": 0, "tid": 2, "ts": 110, "dur": 20,
   "args": {"micro_batch": 3}},
  {"name": "await", "ph": "X", "pid": 1, "tid": 4, "ts": 101, "dur": 30},
  {"name": "backward.1", "ph": "X", "pid": 1, "tid": 2, "ts": 140, "dur": 10},
  {"name": "sums of gradient.0", "ph": "X", "pid": 1, "tid": 3, "ts": 150,
   "dur": 10, "args": {"sends": [{"to": 0, "bytes": 8}], "receives": []}},
  {"name": "cut.1", "ph": "X", "pid": 1, "tid": 6, "ts": 152, "dur": 9,
   "args": {"sends": [{"to": 0, "bytes": 8}], "receives": [], "micro_batch": 3}},
  {"name": "cut.0", "ph": "X", "pid": 1, "tid": 6, "ts": 162, "dur": 9,
   "args": {"sends": [], "receives": [{"from": 0, "bytes": 8}]}},
  {"name": "update.0", "ph": "X", "pid": 1, "tid": 2, "ts": 165, "dur": 10}
]})json";

TEST(TimelineTest, TracesAreLaidBeside) {
  llvm::Expected<Timeline> measured = readTrace(kTrace, "t.json");
  ASSERT_TRUE(!!measured) << llvm::toString(measured.takeError());
  EXPECT_EQ(measured->rows, std::vector<std::string>({"rank 0", "rank 1"}));
  ASSERT_EQ(measured->bars.size(), 5u) << "of the last step, without waiting";
  const TimelineBar &forward = measured->bars[0];
  EXPECT_EQ(forward.kind, BarKind::forward);
  EXPECT_EQ(forward.label, "3");
  EXPECT_NEAR(forward.begin, 10e-6, 1e-12);
  EXPECT_NEAR(forward.end, 30e-6, 1e-12);
  EXPECT_EQ(measured->bars[1].kind, BarKind::backward);
  EXPECT_EQ(measured->bars[1].row, 1u);
  EXPECT_EQ(measured->bars[2].kind, BarKind::sum);
  EXPECT_EQ(measured->bars[3].kind, BarKind::gradient);
  EXPECT_EQ(measured->bars[3].title, "cut.1, micro-batch 3");

  EXPECT_EQ(measured->bars[4].kind, BarKind::update);
  Timeline simulated = getExample(OrderKind::allForwardsFirst, getShape(2, 2));
  Timeline both = layBeside(simulated, *measured);
  EXPECT_EQ(both.rows.size(), 4u);
  EXPECT_EQ(both.rows.back(), "measured: rank 1");
  EXPECT_EQ(both.bars.size(), simulated.bars.size() + 5);
  EXPECT_EQ(both.bars.back().row, 3u);
  EXPECT_TRUE(isWellFormed(getSvg(both)));
}

TEST(TimelineTest, WorkersOfOneRankHaveRowsOfTheirOwn) {
  llvm::Expected<Timeline> measured = readTrace(R"json({"traceEvents": [
    {"name": "thread_name", "ph": "M", "pid": 0, "tid": 2,
     "args": {"name": "worker 0: compute"}},
    {"name": "thread_name", "ph": "M", "pid": 0, "tid": 14,
     "args": {"name": "worker 1: compute"}},
    {"name": "thread_name", "ph": "M", "pid": 0, "tid": 18,
     "args": {"name": "worker 1: messages (sends)"}},
    {"name": "step", "ph": "X", "pid": 0, "tid": 0, "ts": 0, "dur": 50},
    {"name": "backward.1", "ph": "X", "pid": 0, "tid": 14, "ts": 9, "dur": 2},
    {"name": "cut.1", "ph": "X", "pid": 0, "tid": 18, "ts": 12, "dur": 9,
     "args": {"sends": [{"to": 0, "bytes": 8}], "micro_batch": 3}},
    {"name": "backward_weight.0", "ph": "X", "pid": 0, "tid": 2, "ts": 5,
     "dur": 2}
  ]})json",
                                                "t.json");
  ASSERT_TRUE(!!measured) << llvm::toString(measured.takeError());
  EXPECT_EQ(measured->rows, std::vector<std::string>({"worker 0", "worker 1"}));
  ASSERT_EQ(measured->bars.size(), 3u);
  EXPECT_EQ(measured->bars[0].kind, BarKind::backwardWeight);
  EXPECT_EQ(measured->bars[1].kind, BarKind::backwardInput);
  EXPECT_EQ(measured->bars[1].row, 1u);
  EXPECT_EQ(measured->bars[2].kind, BarKind::gradient);
}

TEST(TimelineTest, TracesTellWhatIsDoneForKfac) {
  llvm::Expected<Timeline> measured = readTrace(R"json({"traceEvents": [
    {"name": "thread_name", "ph": "M", "pid": 0, "tid": 2,
     "args": {"name": "compute"}},
    {"name": "thread_name", "ph": "M", "pid": 0, "tid": 3,
     "args": {"name": "sums"}},
    {"name": "thread_name", "ph": "M", "pid": 0, "tid": 4,
     "args": {"name": "messages (sums)"}},
    {"name": "step", "ph": "X", "pid": 0, "tid": 0, "ts": 0, "dur": 50},
    {"name": "forward_moments.1", "ph": "X", "pid": 0, "tid": 2, "ts": 1,
     "dur": 1},
    {"name": "backward_moments.1", "ph": "X", "pid": 0, "tid": 2, "ts": 2,
     "dur": 1},
    {"name": "combine_moments.0", "ph": "X", "pid": 0, "tid": 3, "ts": 3,
     "dur": 1},
    {"name": "sums of moment.0.shared", "ph": "X", "pid": 0, "tid": 4, "ts": 4,
     "dur": 1, "args": {"sends": [{"to": 1, "bytes": 8}], "receives": []}},
    {"name": "invert.0.on_0", "ph": "X", "pid": 0, "tid": 2, "ts": 5, "dur": 1},
    {"name": "a share of curvature.0", "ph": "X", "pid": 0, "tid": 4, "ts": 6,
     "dur": 1, "args": {"sends": [{"to": 1, "bytes": 8}], "receives": []}},
    {"name": "another's share of curvature.1", "ph": "X", "pid": 0, "tid": 4,
     "ts": 7, "dur": 1,
     "args": {"sends": [], "receives": [{"from": 1, "bytes": 8}]}},
    {"name": "precondition.0", "ph": "X", "pid": 0, "tid": 2, "ts": 8,
     "dur": 1},
    {"name": "a share of gradient.0", "ph": "X", "pid": 0, "tid": 4, "ts": 9,
     "dur": 1, "args": {"sends": [{"to": 1, "bytes": 8}], "receives": []}}
  ]})json",
                                                "t.json");
  ASSERT_TRUE(!!measured) << llvm::toString(measured.takeError());
  std::vector<BarKind> kinds;
  for (const TimelineBar &bar : measured->bars)
    kinds.push_back(bar.kind);
  EXPECT_EQ(kinds, std::vector<BarKind>(
                       {BarKind::forward, BarKind::backward, BarKind::factorSum,
                        BarKind::factorSum, BarKind::invert, BarKind::inverse,
                        BarKind::precondition, BarKind::direction}));
}

TEST(TimelineTest, WhatIsNoTrace) {
  EXPECT_EQ(getTraceError("[]"),
            "t.json: expected an object with an array 'traceEvents'");
  EXPECT_EQ(getTraceError("{\"traceEvents\": [1, {}, {\"ph\": \"X\"}]}"),
            "t.json: expected an activity 'step' of some rank");
  EXPECT_NE(getTraceError("{").find("t.json: "), std::string::npos);
}
