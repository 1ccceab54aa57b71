//===- OrderFileTest.cpp - Orders as tables of actions --------------------===//

#include "Pipelines/TestPipelines.h"

#include <random>

using namespace mlir::hfta::planning;

static std::string getError(llvm::StringRef text, const PipelineShape &shape) {
  llvm::Expected<Order> order = readOrder(text, "x.csv", shape);
  return order ? "" : llvm::toString(order.takeError());
}

/// Characters that have a meaning in an order file, and some that have none,
/// for random damage.
static constexpr llvm::StringLiteral kCharacters =
    "0123459,,,\n\nFBIWRX -\r\xff";

static const PipelineShape kTwoByTwo = getShape(2, 2);
static const char *const kValid = "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n";

TEST(OrderFileTest, IsWrittenAsItIsRead) {
  llvm::Expected<Order> order = readOrder(kValid, "x.csv", kTwoByTwo);
  ASSERT_TRUE(!!order) << llvm::toString(order.takeError());
  EXPECT_EQ(order->kind, OrderKind::file);
  EXPECT_EQ(writeOrder(*order), kValid);
}

TEST(OrderFileTest, SpaceAndWhatIsEmptyIsSkipped) {
  EXPECT_EQ(
      getError(" 0F0 ,,0F1,0B0 , 0B1\r\n,1F0,1B0,1F1,1B1,,\r\n\n\n", kTwoByTwo),
      "");
}

TEST(OrderFileTest, OrdersAreReadBack) {
  for (OrderKind kind : {OrderKind::allForwardsFirst, OrderKind::interleaved,
                         OrderKind::vShape}) {
    PipelineShape shape = getShape(3, 5, 2);
    Order order = getOrder(kind, shape);
    llvm::Expected<Order> read = readOrder(writeOrder(order), "x.csv", shape);
    ASSERT_TRUE(!!read) << llvm::toString(read.takeError());
    EXPECT_EQ(read->workers, order.workers);
    EXPECT_EQ(read->shape.placement, order.shape.placement);
  }
}

TEST(OrderFileTest, WhatIsNoAction) {
  EXPECT_EQ(getError("0F0,0F1,0X0,0B1\n", kTwoByTwo),
            "x.csv:1:9: expected an action such as 0F0, 0B0, 0I0 or 0W0, got "
            "'0X0'");
  for (const char *text : {"F0", "0F", "0F0F", "-1F0", "0F+1",
                           "0F99999999999999"
                           "999999",
                           "0 F0", "0f0", "\x01"})
    EXPECT_NE(getError(text, kTwoByTwo).find("x.csv:1:1: expected an action"),
              std::string::npos)
        << text;
  EXPECT_NE(getError("0F0,\n  \xff\xff" + std::string(99, 'a'), kTwoByTwo)
                .find("x.csv:2:3: expected an action such as 0F0, 0B0, 0I0 or "
                      "0W0, got '??aaaaaaaaaaaaaaaaaaaaaa...'"),
            std::string::npos);
}

TEST(OrderFileTest, RowsAreWorkers) {
  EXPECT_EQ(getError("", kTwoByTwo),
            "x.csv:1:1: expected a row for each of 2 workers, got 0");
  EXPECT_EQ(getError("0F0,0F1,0B0,0B1\n", kTwoByTwo),
            "x.csv:1:1: expected a row for each of 2 workers, got 1");
  EXPECT_EQ(getError(std::string(kValid) + "1F0\n", kTwoByTwo),
            "x.csv:3:1: expected a row for each of 2 workers, got 3");
}

TEST(OrderFileTest, ErrorsHaveTheirPlace) {
  EXPECT_EQ(getError("0F0,0F1,0B0,0B1\n1F0,1B0,0F1,1B1\n", kTwoByTwo),
            "x.csv:2:9: expected 0F1 on worker 0, not on worker 1");
  EXPECT_EQ(getError("0F0,0F1,0B0,0B1\n1F0,1B0,1F1\n", kTwoByTwo),
            "x.csv:2:1: worker 1 has no 1B1, or 1I1 and 1W1");
}

TEST(OrderFileTest, RowsMayBePositions) {
  PipelineShape shape = getShape(2, 3);
  shape.replicas = {2, 1};
  llvm::StringRef text = "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1,1F2,1B2\n";
  llvm::Expected<Order> order = readOrder(text, "x.csv", shape);
  ASSERT_TRUE(!!order) << llvm::toString(order.takeError());
  EXPECT_EQ(writeOrder(*order), "0F0,0F2,0B0,0B2\n0F1,0B1\n"
                                "1F0,1B0,1F1,1B1,1F2,1B2\n");
  EXPECT_EQ(
      getError("0F0,0F2,0B0,0B2\n1F0,1B0,1F1,1B1,1F2,1B2\n", shape),
      "x.csv:1:5: expected a micro-batch below 2 of the position's own in "
      "0F2");
  // Only worker 0 has a second micro-batch of its own, so the error is found in
  // its list.
  EXPECT_EQ(getError("0F0,0F1,0B1,0B0\n1F0,1B0,1F1,1B1,1F2,1B2\n", shape),
            "x.csv:1:13: 0B0 comes after 0B2, but a stage takes its micro-"
            "batches in order");
  shape.replicas = {1, 2};
  shape.microBatches = 4;
  EXPECT_EQ(
      getError("0F0,0F1,0B0,0B1,0F2,0F3,0B2,0B3\n1F0,1F1,1B0,1B1\n", shape)
          .substr(0, 41),
      "x.csv:1:9: actions wait for each other: w");
}

TEST(OrderFileTest, DamagedFilesAreRefusedOrOrders) {
  std::mt19937 random(3);
  int refused = 0, accepted = 0;
  for (int i = 0; i < 3000; ++i) {
    PipelineShape shape = getShape(1 + random() % 3, 1 + random() % 4);
    shape.replicas.back() = 1 + random() % 2;
    std::string text = writeOrder(getOrder(
        i % 2 == 0 ? OrderKind::zeroBubble : OrderKind::oneForwardOneBackward,
        shape));
    for (unsigned damage = random() % 3; damage > 0; --damage) {
      size_t at = random() % text.size();
      char c = kCharacters[random() % kCharacters.size()];
      if (random() % 2 == 0)
        text[at] = c;
      else if (random() % 2 == 0)
        text.insert(at, 1, c);
      else
        text.erase(at, std::min<size_t>(text.size() - 1, 1 + random() % 4));
    }
    llvm::Expected<Order> order = readOrder(text, "x.csv", shape);
    if (!order) {
      std::string message = llvm::toString(order.takeError());
      EXPECT_EQ(message.substr(0, 6), "x.csv:") << message;
      ++refused;
      continue;
    }
    EXPECT_FALSE(verifyOrder(*order));
    PipelineRun run =
        simulateOrder(*order, getEqualWork(order->shape, {1, 1, 1}));
    EXPECT_TRUE(run.result.hasEnded());
    ++accepted;
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(accepted, 1000);
}
