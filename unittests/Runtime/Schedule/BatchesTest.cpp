//===- BatchesTest.cpp - Tests of batches that are offered ahead ----------===//

#include "RuntimeTest.h"

#include <algorithm>
#include <deque>
#include <ostream>

namespace {
struct Case {
  const char *device;
  int micro_batches;
  int all_forwards_first;
};

/// Prints a case for the names of tests.
void PrintTo(const Case &parameter, std::ostream *os) {
  *os << parameter.device << ", " << parameter.micro_batches
      << (parameter.all_forwards_first ? " forwards first" : " micro-batches");
}

/// Tests on devices that transfer offered batches as early as events allow, and
/// on devices that transfer them as late as possible.
class Batches : public testing::TestWithParam<Case> {
protected:
  Batches() : program(nullptr, nullptr) {
    fake_options options = defaultOptions();
    options.micro_batches = GetParam().micro_batches;
    options.all_forwards_first = GetParam().all_forwards_first;
    program = makeProgram(options);
  }
  InstancePointer make(const char *device = GetParam().device) const {
    return makeInstance(program.get(), 1, device);
  }
  static std::vector<std::string> statesOf(hfta_instance *instance) {
    std::vector<std::string> states;
    for (int64_t copy = 0; copy < 3; ++copy)
      states.push_back(stateOf(instance, copy));
    return states;
  }
  /// Returns the states after steps on batches 0, 1, 2, ... that weren't
  /// offered.
  std::vector<std::string> trainPlainly(int steps) const {
    InstancePointer instance = make("cpu");
    for (int i = 0; i < steps; ++i)
      step(instance.get(), Batch(i));
    return statesOf(instance.get());
  }
  static void step(hfta_instance *instance, const Batch &batch) {
    EXPECT_EQ(hfta_instance_step(instance, batch.inputs, nullptr), HFTA_OK);
  }

  /// Writes another batch into the memory of `batch`.
  static void refill(Batch &batch, unsigned number) {
    Batch other(number);
    std::copy(other.images.begin(), other.images.end(), batch.images.begin());
    std::copy(other.labels.begin(), other.labels.end(), batch.labels.begin());
  }

  ProgramPointer program;
};
} // namespace

INSTANTIATE_TEST_SUITE_P(
    Devices, Batches,
    testing::Values(Case{"cpu", 1, 0}, Case{"cpu", 4, 0}, Case{"cpu", 4, 1},
                    Case{"shuffled:0", 1, 0}, Case{"shuffled:0", 2, 0},
                    Case{"shuffled:0", 4, 1}, Case{"shuffled:1", 1, 0},
                    Case{"shuffled:1", 2, 0}, Case{"shuffled:1", 4, 1},
                    Case{"shuffled:2", 2, 0}, Case{"shuffled:3", 4, 0}));

TEST_P(Batches, OffersDontChangeResults) {
  InstancePointer instance = make();
  std::deque<Batch> batches;
  for (unsigned i = 0; i < 7; ++i)
    batches.emplace_back(i);
  for (int i = 0; i < 7; ++i) {
    if (i < 6 && i != 3)
      hfta_instance_offer(instance.get(), batches[i + 1].inputs);
    step(instance.get(), batches[i]);
    // A batch that was already transferred isn't read from the host's memory
    // again.
    if (i < 6 && i != 3 && GetParam().micro_batches == 1)
      std::fill(batches[i + 1].images.begin(), batches[i + 1].images.end(), 0);
  }
  EXPECT_EQ(statesOf(instance.get()), trainPlainly(7));
}

TEST_P(Batches, AnotherBatchThanTheOfferedOneIsBrought) {
  InstancePointer instance = make();
  Batch first(0), second(1), third(2), other(77);
  hfta_instance_offer(instance.get(), other.inputs);
  step(instance.get(), first);
  step(instance.get(), second);
  hfta_instance_offer(instance.get(), other.inputs);
  hfta_instance_offer(instance.get(), nullptr);
  step(instance.get(), third);
  EXPECT_EQ(statesOf(instance.get()), trainPlainly(3));
}

TEST_P(Batches, AWithdrawnBatchIsBroughtAgain) {
  InstancePointer instance = make();
  Batch first(0), second(77);
  hfta_instance_offer(instance.get(), second.inputs);
  step(instance.get(), first);
  // The offer of the second batch, which was already transferred, is withdrawn.
  // Then its memory gets another batch.
  hfta_instance_offer(instance.get(), nullptr);
  refill(second, 1);
  step(instance.get(), second);
  EXPECT_EQ(statesOf(instance.get()), trainPlainly(2));
}

TEST_P(Batches, EvaluationsBetweenDontDisturb) {
  InstancePointer instance = make(), plain = make("cpu");
  Batch first(0), second(1), test(5);
  int64_t valid = hfta_instance_batch(instance.get()) - 1;
  double losses[3], expected[3];
  hfta_instance_offer(instance.get(), second.inputs);
  step(instance.get(), first);
  hfta_instance_offer(instance.get(), second.inputs);
  ASSERT_EQ(hfta_instance_evaluate(instance.get(), test.inputs, valid, losses,
                                   nullptr),
            HFTA_OK);
  step(plain.get(), first);
  ASSERT_EQ(hfta_instance_evaluate(plain.get(), test.inputs, valid, expected,
                                   nullptr),
            HFTA_OK);
  for (int copy = 0; copy < 3; ++copy)
    EXPECT_EQ(losses[copy], expected[copy]);
  step(instance.get(), second);
  EXPECT_EQ(statesOf(instance.get()), trainPlainly(2));
}

TEST_P(Batches, AResetForgetsThem) {
  InstancePointer instance = make();
  Batch first(77), second(1);
  hfta_instance_offer(instance.get(), first.inputs);
  step(instance.get(), second);
  ASSERT_EQ(hfta_instance_reset(instance.get()), HFTA_OK);
  refill(first, 0);
  step(instance.get(), first);
  step(instance.get(), second);
  EXPECT_EQ(statesOf(instance.get()), trainPlainly(2));
}

TEST_P(Batches, AStepOnWaitingGradientsBringsItsBatch) {
  auto states = [&](const char *device, bool offers) {
    InstancePointer instance = make(device);
    Batch first(0), second(1), third(2);
    if (offers)
      hfta_instance_offer(instance.get(), second.inputs);
    EXPECT_EQ(hfta_instance_accumulate(instance.get(), first.inputs, nullptr),
              HFTA_OK);
    if (offers)
      hfta_instance_offer(instance.get(), third.inputs);
    step(instance.get(), second);
    step(instance.get(), third);
    return statesOf(instance.get());
  };
  EXPECT_EQ(states(GetParam().device, true), states("cpu", false));
}

TEST_P(Batches, AFailedCallWithdrawsTheOffer) {
  InstancePointer instance = make();
  Batch first(0), second(77);
  hfta_instance_offer(instance.get(), second.inputs);
  EXPECT_EQ(hfta_instance_evaluate(instance.get(), first.inputs, -1, nullptr,
                                   nullptr),
            HFTA_USAGE);
  step(instance.get(), first);
  refill(second, 1);
  step(instance.get(), second);
  EXPECT_EQ(statesOf(instance.get()), trainPlainly(2));
}

TEST_P(Batches, PartsOfABatchAreEvaluated) {
  int64_t batch = hfta_instance_batch(make("cpu").get());
  auto losses = [&](const char *device, bool offers) {
    InstancePointer instance = make(device);
    std::vector<double> results(9);
    Batch first(0), second(1), third(2);
    const Batch *batches[] = {&first, &second, &third};
    // Only one sample of the second batch is valid.
    for (int i = 0; i < 3; ++i) {
      if (offers && i < 2)
        hfta_instance_offer(instance.get(), batches[i + 1]->inputs);
      EXPECT_EQ(hfta_instance_evaluate(instance.get(), batches[i]->inputs,
                                       i == 1 ? 1 : batch, &results[3 * i],
                                       nullptr),
                HFTA_OK);
    }
    return results;
  };
  EXPECT_EQ(losses(GetParam().device, true), losses("cpu", false));
}

TEST_P(Batches, FieldsArentKept) {
  InstancePointer instance = make();
  hfta_tensor_info info;
  EXPECT_EQ(hfta_instance_tensor(instance.get(), 0, "image", &info),
            HFTA_USAGE);
  EXPECT_STREQ(
      hfta_instance_message(instance.get()),
      "tensor 'image' isn't kept: other batches use its memory in turn");
}
