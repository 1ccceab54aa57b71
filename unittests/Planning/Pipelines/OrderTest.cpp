//===- OrderTest.cpp - The order of a pipeline's actions ------------------===//

#include "Pipelines/TestPipelines.h"

using namespace mlir::hfta::planning;

static const OrderKind kKinds[] = {
    OrderKind::allForwardsFirst, OrderKind::oneForwardOneBackward,
    OrderKind::interleaved,      OrderKind::zeroBubble,
    OrderKind::vShape,           OrderKind::list};

TEST(OrderTest, NamesAreReadBack) {
  for (OrderKind kind : kKinds)
    EXPECT_EQ(symbolizeOrderKind(stringifyOrderKind(kind)), kind);
  EXPECT_EQ(stringifyOrderKind(OrderKind::oneForwardOneBackward),
            "one_f_one_b");
  EXPECT_FALSE(symbolizeOrderKind("gpipe"));
}

TEST(OrderTest, ShapesDealMicroBatches) {
  PipelineShape shape = getShape(2, 8);
  shape.replicas = {2, 3};
  EXPECT_EQ(shape.getWorkers(), 5);
  EXPECT_EQ(shape.getPositionOfWorker(1), 0);
  EXPECT_EQ(shape.getPositionOfWorker(2), 1);
  EXPECT_EQ(shape.getMicroBatches(3), llvm::SmallVector<int64_t>({1, 4, 7}));
  // The first of three replicas has the groups 0, 3 and 6 of 8. Micro-batch 8
  // is in group 0.
  shape.groups = {8, 8};
  shape.microBatches = 9;
  EXPECT_EQ(shape.getMicroBatches(2), llvm::SmallVector<int64_t>({0, 3, 6, 8}));
}

TEST(OrderTest, ChunksAreInALoopOrAV) {
  PipelineShape shape = getShape(3, 1, 2);
  EXPECT_EQ(shape.getStage(0, 1), 3);
  EXPECT_EQ(shape.getPosition(5), 2);
  shape.placement = ChunkPlacement::v;
  EXPECT_EQ(shape.getStage(0, 1), 5);
  EXPECT_EQ(shape.getPosition(5), 0);
  EXPECT_EQ(shape.getPosition(3), 2);
}

TEST(OrderTest, ListsOfTheLiterature) {
  EXPECT_EQ(
      writeOrder(getOrder(OrderKind::oneForwardOneBackward, getShape(3, 4))),
      "0F0,0F1,0F2,0B0,0F3,0B1,0B2,0B3\n"
      "1F0,1F1,1B0,1F2,1B1,1F3,1B2,1B3\n"
      "2F0,2B0,2F1,2B1,2F2,2B2,2F3,2B3\n");
  EXPECT_EQ(writeOrder(getOrder(OrderKind::zeroBubble, getShape(3, 4))),
            "0F0,0F1,0F2,0I0,0W0,0F3,0I1,0W1,0I2,0W2,0I3,0W3\n"
            "1F0,1F1,1I0,1F2,1I1,1W0,1F3,1I2,1W1,1I3,1W2,1W3\n"
            "2F0,2I0,2F1,2I1,2F2,2I2,2W0,2F3,2I3,2W1,2W2,2W3\n");
  PipelineShape rounds = getShape(2, 4);
  rounds.inFlight = {2, 3};
  EXPECT_EQ(writeOrder(getOrder(OrderKind::allForwardsFirst, rounds)),
            "0F0,0F1,0B0,0B1,0F2,0F3,0B2,0B3\n"
            "1F0,1F1,1B0,1B1,1F2,1F3,1B2,1B3\n");
  EXPECT_EQ(
      writeOrder(getOrder(OrderKind::interleaved, getShape(2, 4, 2))),
      "0F0,0F1,2F0,2F1,0F2,2B0,0F3,2B1,2F2,0B0,2F3,0B1,2B2,2B3,0B2,0B3\n"
      "1F0,1F1,3F0,3B0,3F1,3B1,1F2,1B0,1F3,1B1,3F2,3B2,3F3,3B3,1B2,1B3\n");
}

TEST(OrderTest, ReplicasHaveEveryOtherMicroBatch) {
  PipelineShape shape = getShape(2, 6);
  shape.replicas = {2, 1};
  shape.inFlight = {2, 2};
  EXPECT_EQ(writeOrder(getOrder(OrderKind::oneForwardOneBackward, shape)),
            "0F0,0F2,0B0,0F4,0B2,0B4\n"
            "0F1,0F3,0B1,0F5,0B3,0B5\n"
            "1F0,1F1,1B0,1F2,1B1,1F3,1B2,1F4,1B3,1F5,1B4,1B5\n");
}

TEST(OrderTest, LaterStagesAreNoFurtherAheadThanEarlierOnes) {
  // Worker 0 does its second forward only after its first backward. If worker 1
  // had to do three forwards first, it would wait forever.
  PipelineShape shape = getShape(2, 4);
  shape.inFlight = {1, 3};
  EXPECT_EQ(writeOrder(getOrder(OrderKind::oneForwardOneBackward, shape)),
            "0F0,0B0,0F1,0B1,0F2,0B2,0F3,0B3\n"
            "1F0,1B0,1F1,1B1,1F2,1B2,1F3,1B3\n");
}

TEST(OrderTest, LimitsAreNoWish) {
  // With four micro-batches in flight, the last stage would begin its first
  // backward later than necessary.
  PipelineShape shape = getShape(4, 64);
  shape.inFlight = {4, 4, 4, 4};
  auto get = [&] {
    llvm::Expected<Order> order =
        makeLimitedOrder(OrderKind::oneForwardOneBackward, shape);
    if (!order) {
      ADD_FAILURE() << llvm::toString(order.takeError());
      return Order();
    }
    EXPECT_FALSE(verifyOrder(*order));
    return std::move(*order);
  };
  Order limited = get();
  EXPECT_EQ(getPeaks(limited), std::vector<int64_t>({4, 3, 2, 1}));
  EXPECT_EQ(simulateOrder(limited, getEqualWork(shape, {1, 1, 1})).getLength(),
            (64 + 3) * 3);
  // Limits that fall from stage to stage, as planners set them for uneven
  // times, don't lengthen the order for even times; so they are used in full.
  shape.inFlight = {9, 5, 3, 1};
  EXPECT_EQ(getPeaks(get()), std::vector<int64_t>({9, 5, 3, 1}));
  shape.inFlight = {2, 2, 2, 1};
  EXPECT_EQ(getPeaks(get()), std::vector<int64_t>({2, 2, 2, 1}));
  shape.inFlight.clear();
  EXPECT_EQ(getPeaks(get()), std::vector<int64_t>({4, 3, 2, 1}));
}

TEST(OrderTest, RecomputedRightBeforeBackward) {
  Order order = getOrder(OrderKind::zeroBubble, getShape(2, 2));
  insertRecompute(order, {true, false});
  EXPECT_EQ(writeOrder(order), "0F0,0F1,0R0,0I0,0W0,0R1,0I1,0W1\n"
                               "1F0,1I0,1F1,1I1,1W0,1W1\n");
  EXPECT_FALSE(verifyOrder(order));
  // Recomputations that are already there stay where they are.
  Order again = order;
  insertRecompute(again, {true, false});
  EXPECT_EQ(writeOrder(again), writeOrder(order));
  EXPECT_EQ(getRecomputed(order), std::vector<bool>({true, false}));
}

TEST(OrderTest, InstancesOfWhatIsRecomputed) {
  PipelineShape shape = getShape(2, 8);
  shape.inFlight = {4, 3};
  Order order = getOrder(OrderKind::zeroBubble, shape);
  std::vector<int64_t> inFlight = getInstances(order);
  EXPECT_EQ(inFlight, std::vector<int64_t>({4, 3}));
  // Nothing is recomputed, so a value lives from its forward on.
  EXPECT_EQ(getInstances(order, Span::fromRecompute), inFlight);
  EXPECT_EQ(getInstances(order, Span::recomputeToInput),
            std::vector<int64_t>({3, 1}));
  insertRecompute(order, {true, true});
  EXPECT_EQ(getInstances(order), inFlight);
  EXPECT_EQ(getInstances(order, Span::fromRecompute),
            std::vector<int64_t>({2, 3}));
  EXPECT_EQ(getInstances(order, Span::recomputeToInput),
            std::vector<int64_t>({1, 1}));
}

//===----------------------------------------------------------------------===//
// Orders that don't fit
//===----------------------------------------------------------------------===//

static std::string getRefusal(OrderKind kind, const PipelineShape &shape) {
  llvm::Expected<Order> order = makeOrder(kind, shape);
  return order ? "" : llvm::toString(order.takeError());
}

TEST(OrderTest, ShapesThatDontFit) {
  EXPECT_EQ(getRefusal(OrderKind::oneForwardOneBackward, getShape(2, 2, 2)),
            "one_f_one_b needs 1 chunk, got 2");
  EXPECT_EQ(getRefusal(OrderKind::zeroBubble, getShape(2, 2, 3)),
            "zero_bubble needs 1 chunk, got 3");
  EXPECT_EQ(getRefusal(OrderKind::interleaved, getShape(2, 2)),
            "interleaved needs 2 chunks or more, got 1");
  EXPECT_EQ(getRefusal(OrderKind::vShape, getShape(2, 2)),
            "v_shape needs 2 chunks, got 1");
  PipelineShape shape = getShape(4, 8, 2);
  shape.inFlight = {3, 3, 3, 3};
  EXPECT_EQ(getRefusal(OrderKind::vShape, shape),
            "v_shape needs 4 micro-batches in flight");
  shape.replicas = {2, 1, 1, 1};
  EXPECT_EQ(
      getRefusal(OrderKind::vShape, shape),
      "v_shape needs the same number of replicas and groups at each position");
}

static std::string getProblem(std::vector<ActionList> workers) {
  Order order{OrderKind::file, getShape(2, 2), std::move(workers)};
  std::optional<OrderProblem> problem = verifyOrder(order);
  return problem ? std::to_string(problem->worker) + ":" +
                       std::to_string(problem->index) + ": " + problem->message
                 : "";
}

/// Returns the actions of a list such as "0F0,0F1".
static ActionList getList(llvm::StringRef text) {
  ActionList list;
  while (!text.empty()) {
    auto [name, rest] = text.split(',');
    Action action;
    action.stage = name[0] - '0';
    action.microBatch = name[2] - '0';
    for (ActionKind kind :
         {ActionKind::forward, ActionKind::recompute, ActionKind::backward,
          ActionKind::backwardInput, ActionKind::backwardWeight}) {
      action.kind = kind;
      if (nameAction(action) == name)
        break;
    }
    list.push_back(action);
    text = rest;
  }
  return list;
}

TEST(OrderTest, WhatIsNoOrder) {
  ActionList first = getList("0F0,0F1,0B0,0B1");
  ActionList second = getList("1F0,1B0,1F1,1I1,1W1");
  EXPECT_EQ(getProblem({first, second}), "");
  EXPECT_EQ(getProblem({first}),
            "-1:-1: expected a list for each of 2 workers, got 1");
  auto getSecond = [&](llvm::StringRef text) {
    return getProblem({first, getList(text)});
  };
  EXPECT_EQ(getSecond("1F0,2F0"), "1:1: expected a stage below 2 in 2F0");
  EXPECT_EQ(getSecond("1F2"), "1:0: expected a micro-batch below 2 in 1F2");
  EXPECT_EQ(getSecond("0F0"), "1:0: expected 0F0 on worker 0, not on worker 1");
  EXPECT_EQ(getSecond("1F0,1B0,1F0"), "1:2: 1F0 is there twice");
  EXPECT_EQ(getSecond("1B0,1F0"), "1:0: 1B0 comes before 1F0");
  EXPECT_EQ(getSecond("1F0,1I0,1B0"), "1:2: 1B0 comes after 1I0");
  EXPECT_EQ(getSecond("1F0,1B0,1W0"), "1:2: 1W0 comes after 1B0");
  EXPECT_EQ(getSecond("1F0,1W0"), "1:1: 1W0 comes before 1I0");
  EXPECT_EQ(getSecond("1F0,1I0,1R0"), "1:2: 1R0 comes after 1I0");
  EXPECT_EQ(getSecond("1F0,1F1,1B1,1B0"),
            "1:3: 1B0 comes after 1B1, but a stage takes its micro-batches in "
            "order");
  EXPECT_EQ(getSecond("1F1,1F0"),
            "1:1: 1F0 comes after 1F1, but a stage takes its micro-batches in "
            "order");
  EXPECT_EQ(getSecond("1F0,1F1,1B0,1I1"), "1:-1: worker 1 has no 1W1");
  EXPECT_EQ(getSecond("1F0,1B0"), "1:-1: worker 1 has no 1F1");
}

TEST(OrderTest, WorkersOfAPositionDoTheSame) {
  Order order{OrderKind::file, getShape(1, 4), {}};
  order.shape.replicas = {2};
  order.workers = {getList("0F0,0B0,0F2,0B2"), getList("0F1,0F3,0B1,0B3")};
  std::optional<OrderProblem> problem = verifyOrder(order);
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->worker, 1);
  EXPECT_EQ(problem->index, 1);
  EXPECT_EQ(problem->message, "expected 0B1, got 0F3: all workers from 0 to 1 "
                              "have one order");
}

TEST(OrderTest, PositionsHaveOneList) {
  PipelineShape shape = getShape(2, 5);
  shape.replicas = {2, 1};
  shape.inFlight = {2, 3};
  Order order = getOrder(OrderKind::oneForwardOneBackward, shape);
  std::vector<ActionList> lists = getPositionLists(order);
  ASSERT_EQ(lists.size(), 2u);
  EXPECT_EQ(lists[0], getList("0F0,0F1,0B0,0F2,0B1,0B2"));
  EXPECT_EQ(getWorkerLists(shape, lists), order.workers);
  EXPECT_EQ(order.workers[1], getList("0F1,0F3,0B1,0B3"));
}

TEST(OrderTest, MoreInFlightThanAllowed) {
  Order order = getOrder(OrderKind::allForwardsFirst, getShape(2, 4));
  order.shape.inFlight = {4, 3};
  std::optional<OrderProblem> problem = verifyOrder(order);
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->worker, 1);
  EXPECT_EQ(problem->index, 3);
  EXPECT_EQ(problem->message, "expected at most 3 forwards before their "
                              "backwards, 1F3 is one more");
}

TEST(OrderTest, CirclesAreNamed) {
  EXPECT_EQ(
      getProblem({getList("0F0,0B0,0F1,0B1"), getList("1F0,1F1,1B0,1B1")}),
      "0:1: actions wait for each other: worker 0's 0B0 waits for the "
      "gradient of micro-batch 0 for stage 0 from worker 1 to worker 0, "
      "which is sent after worker 1's 1B0, which comes in its list after "
      "worker 1's 1F1, which waits for the value of micro-batch 1 for "
      "stage 1 from worker 0 to worker 1, which is sent after worker 0's "
      "0F1, which comes in its list after worker 0's 0B0");
}
