//===- ReplicasTest.cpp - Replicas that share work and memory -------------===//

#include "FakeReplicas.h"
#include "RankThreads.h"
#include "RuntimeTest.h"
#include "hfta/checkpoint.h"

extern "C" {
#include "instance/instance_impl.h"
#include "workload/memory_plan.h"
}

namespace {

constexpr int64_t width = FakeStages::width;

//===----------------------------------------------------------------------===//
// Trainings
//===----------------------------------------------------------------------===//

struct Result {
  std::vector<double> losses, weights;
  std::string files;
  bool operator==(const Result &other) const {
    return losses == other.losses && weights == other.weights &&
           files == other.files;
  }
};

void takeSteps(const FakeStages &program, hfta_instance *instance, int count,
               std::vector<double> *losses) {
  double ofStep[FakeStages::copies] = {};
  for (int i = 0; i < count; ++i) {
    std::vector<double> batch =
        program.makeBatch(static_cast<int>(hfta_instance_steps(instance)));
    const void *inputs[] = {batch.data()};
    EXPECT_EQ(hfta_instance_step(instance, inputs, ofStep), HFTA_OK)
        << hfta_instance_message(instance);
    if (losses)
      losses->insert(losses->end(), ofStep, ofStep + FakeStages::copies);
  }
}

std::vector<double> readTensor(hfta_instance *instance, const char *name,
                               int64_t copy) {
  hfta_tensor_info info;
  EXPECT_EQ(hfta_instance_tensor(instance, copy, name, &info), HFTA_OK)
      << hfta_instance_message(instance);
  if (!info.data)
    return {};
  const double *values = static_cast<const double *>(info.data);
  return std::vector<double>(values, values + width);
}

void save(hfta_instance *instance, hfta_communicator *rank,
          const std::string &folder) {
  hfta_epoch_losses losses[FakeStages::copies] = {};
  EXPECT_EQ(hfta_checkpoint_save(instance,
                                 rank->rank == 0 ? folder.c_str() : "/nowhere",
                                 losses),
            HFTA_OK)
      << hfta_instance_message(instance);
}

std::string readFiles(const std::string &folder, int step) {
  std::string all;
  for (int64_t copy = 0; copy < FakeStages::copies; ++copy)
    all += readFile(folder + "/step-0000000" + std::to_string(step) +
                    "/copy-000" + std::to_string(copy) + ".safetensors");
  EXPECT_NE(all, "");
  return all;
}

/// Trains all copies for three steps and the last copy for two more, then saves
/// a checkpoint.
void trainOnRank(const FakeStages &program, hfta_communicator *rank,
                 const std::string &folder, Result &result) {
  InstancePointer instance = createOnRank(*program.get(), rank);
  takeSteps(program, instance.get(), 3, &result.losses);
  const int32_t last = FakeStages::copies - 1;
  EXPECT_EQ(hfta_instance_set_live(instance.get(), &last, 1), HFTA_OK);
  takeSteps(program, instance.get(), 2, nullptr);
  bool isWhole = program.get()->stage_count == 1;
  for (int64_t copy = 0; isWhole && copy < FakeStages::copies; ++copy)
    for (const char *name : {"weight.0", "weight.1"})
      for (double value : readTensor(instance.get(), name, copy))
        result.weights.push_back(value);
  save(instance.get(), rank, folder);
}

/// Returns the results of a training on `count` ranks. All ranks must have the
/// same losses and weights.
Result train(const FakeStages &program, int count) {
  TemporaryFolder folder;
  std::vector<Result> results(count);
  Ranks ranks(count);
  ranks.run([&](hfta_communicator *rank) {
    trainOnRank(program, rank, folder.root, results[rank->rank]);
  });
  for (const Result &result : results)
    EXPECT_EQ(result, results[0]);
  results[0].files = readFiles(folder.root, 5);
  return results[0];
}

ReplicasOptions makeOptions(Placement placement, uint32_t owner) {
  ReplicasOptions options;
  options.placement = placement;
  options.owner = owner;
  return options;
}

//===----------------------------------------------------------------------===//
// Broadcasts
//===----------------------------------------------------------------------===//

hfta_command makeBroadcast(hfta_replicas from, hfta_replicas to) {
  hfta_command command = {};
  command.kind = HFTA_COMMAND_BROADCAST;
  command.replicas = from;
  command.receivers = to;
  return command;
}

std::vector<int> findSources(int64_t replicas, int ranks,
                             const hfta_command &command) {
  const hfta_stage stage = {replicas, replicas, 1};
  std::vector<int> sources;
  for (int rank = 0; rank < ranks; ++rank)
    sources.push_back(hfta_broadcast_source(&stage, ranks, rank, &command));
  return sources;
}

TEST(Replicas, ARankHasConsecutiveOnes) {
  const hfta_stage stage = {6, 6, 1};
  const hfta_replicas some = {1, 2, 3, 0}; // replicas 1 and 4
  EXPECT_EQ(hfta_rank_first_of(&stage, 6, 0, &some), -1);
  EXPECT_EQ(hfta_rank_first_of(&stage, 6, 4, &some), 4);
  EXPECT_EQ(hfta_rank_first_of(&stage, 3, 0, &some), 1);
  EXPECT_EQ(hfta_rank_first_of(&stage, 3, 1, &some), -1);
  EXPECT_EQ(hfta_rank_first_of(&stage, 3, 2, &some), 4);
  EXPECT_EQ(hfta_rank_first_of(&stage, 1, 0, &some), 1);
}

TEST(Replicas, AColumnOfAGridGivesEachItsRow) {
  // The grid has the rows 0 1 2 and 3 4 5. The middle column sends along the
  // rows.
  hfta_command command = makeBroadcast({1, 2, 3, 0}, {0, 6, 1, 0});
  EXPECT_EQ(findSources(6, 6, command), (std::vector{1, -1, 1, 4, -1, 4}));
  // Three ranks have the replicas 0 1, 2 3 and 4 5. The first one sends to the
  // second one; the last one has both a sender and a receiver itself.
  EXPECT_EQ(findSources(6, 3, command), (std::vector{-1, 0, -1}));
  EXPECT_EQ(findSources(6, 2, command), (std::vector{-1, -1}));
  // Four ranks have the replicas 0, 1 2, 3 and 4 5.
  EXPECT_EQ(findSources(6, 4, command), (std::vector{1, -1, 3, -1}));
}

TEST(Replicas, OneGivesToSomeOrAll) {
  hfta_command toAll = makeBroadcast({2, 1, 4, 0}, {0, 4, 1, 0});
  EXPECT_EQ(findSources(4, 4, toAll), (std::vector{2, 2, -1, 2}));
  EXPECT_EQ(findSources(4, 3, toAll), (std::vector{2, 2, -1}));
  hfta_command toColumn = makeBroadcast({3, 1, 4, 0}, {1, 2, 2, 0});
  EXPECT_EQ(findSources(4, 4, toColumn), (std::vector{-1, 3, -1, -1}));
  EXPECT_EQ(findSources(4, 2, toColumn), (std::vector{1, -1}));
}

//===----------------------------------------------------------------------===//
// Equal bytes on any number of ranks
//===----------------------------------------------------------------------===//

/// Trains on each possible number of ranks, which divide the replicas
/// differently, and expects the same results.
void expectSameOnAnyRanks(const ReplicasOptions &options,
                          const Result &expected) {
  FakeReplicas program(options);
  for (int count = 1; count <= options.replicas; ++count)
    EXPECT_EQ(train(program, count), expected) << count << " ranks";
}

TEST(Replicas, OneInvertsForAll) {
  FakeReplicas all(makeOptions(Placement::all, 0));
  Result expected = train(all, 1);
  for (uint32_t owner = 0; owner < 4; ++owner)
    expectSameOnAnyRanks(makeOptions(Placement::balanced, owner), expected);
}

TEST(Replicas, AColumnPreconditionsForItsRows) {
  FakeReplicas all(makeOptions(Placement::all, 0));
  Result expected = train(all, 1);
  for (uint32_t columns : {1, 2, 4})
    for (uint32_t owner = 0; owner < columns; ++owner) {
      ReplicasOptions options = makeOptions(Placement::grid, owner);
      options.columns = columns;
      expectSameOnAnyRanks(options, expected);
    }
}

TEST(Replicas, ALayersMomentsAreOneGroups) {
  FakeReplicas all(makeOptions(Placement::all, 0));
  for (uint32_t group = 0; group < 6; ++group) {
    ReplicasOptions options = makeOptions(Placement::local, group % 4);
    options.group = group;
    FakeReplicas program(options);
    Result expected = train(program, 1);
    EXPECT_FALSE(expected.weights == train(all, 1).weights);
    expectSameOnAnyRanks(options, expected);
  }
}

/// The replicas of one stage of a pipeline are workers, of which a rank has one
/// or several. They give the same results as ranks of one replica each.
TEST(Replicas, WorkersOfAStageDoAsRanks) {
  for (Placement placement :
       {Placement::balanced, Placement::grid, Placement::local}) {
    ReplicasOptions options = makeOptions(placement, 1);
    options.group = 5;
    FakeReplicas whole(options);
    Result expected = train(whole, 1);
    options.isStaged = true;
    FakeReplicas program(options);
    ASSERT_EQ(program.get()->workers, 6);
    for (int count = 1; count <= 6; ++count) {
      Result result = train(program, count);
      EXPECT_EQ(result.losses, expected.losses) << count << " ranks";
      EXPECT_TRUE(result.files == expected.files) << count << " ranks";
    }
  }
}

TEST(Replicas, AGroupsMomentsAreItsMicroBatchs) {
  ReplicasOptions options = makeOptions(Placement::local, 1);
  options.group = 5;
  FakeReplicas program(options);
  std::vector<double> batch = program.makeBatch(0);
  Ranks ranks(4);
  ranks.run([&](hfta_communicator *rank) {
    InstancePointer instance = createOnRank(*program.get(), rank);
    takeSteps(program, instance.get(), 1, nullptr);
    if (rank->rank != 1)
      return;
    for (int64_t copy = 0; copy < FakeStages::copies; ++copy) {
      std::vector<double> factor = readTensor(instance.get(), "factor", copy);
      for (int64_t i = 0; i < width; ++i) {
        double value = batch[5 * width + i];
        EXPECT_EQ(factor[i], value * value);
      }
    }
  });
}

//===----------------------------------------------------------------------===//
// Memory, tensors and checkpoints
//===----------------------------------------------------------------------===//

TEST(Replicas, ARankAllocatesWhatItHolds) {
  ReplicasOptions options = makeOptions(Placement::grid, 1);
  options.groups = 4;            // each replica has the moments of one group
  FakeReplicas program(options); // replicas 1 and 3 hold the factor
  uint64_t held = 2 * FakeStages::copies * rowBytes;
  uint64_t none = hfta_rank_memory(program.get(), 0, 4, 1).curvature;
  for (int rank = 0; rank < 4; ++rank)
    EXPECT_EQ(hfta_rank_memory(program.get(), rank, 4, 1).curvature,
              none + (rank % 2) * held);
  // Three ranks have the replicas 0, 1, and 2 3.
  const hfta_program *all = program.get();
  EXPECT_EQ(hfta_rank_memory(all, 0, 3, 1).curvature, none);
  EXPECT_EQ(hfta_rank_memory(all, 1, 3, 1).curvature, none + held);
  EXPECT_EQ(hfta_rank_memory(all, 2, 3, 1).curvature,
            none + held + FakeStages::copies * rowBytes);
  EXPECT_EQ(hfta_stage_memory(program.get(), 0, 1).curvature, none + held);
}

TEST(Replicas, ATensorIsThereWhereItIsHeld) {
  FakeReplicas program(makeOptions(Placement::local, 2));
  Ranks ranks(4);
  ranks.run([&](hfta_communicator *rank) {
    InstancePointer instance = createOnRank(*program.get(), rank);
    hfta_tensor_info info;
    hfta_status status =
        hfta_instance_tensor(instance.get(), 0, "inverse", &info);
    EXPECT_EQ(status, rank->rank == 2 ? HFTA_OK : HFTA_USAGE);
    if (rank->rank != 2)
      EXPECT_STREQ(hfta_instance_message(instance.get()),
                   "tensor 'inverse' is on another rank: replica 2 holds it");
  });
}

TEST(Replicas, CheckpointsGoOnOnOtherRanks) {
  for (Placement placement :
       {Placement::balanced, Placement::grid, Placement::local}) {
    ReplicasOptions options = makeOptions(placement, 1);
    options.group = 1;
    FakeReplicas program(options);
    std::string expected = train(program, 1).files;
    for (int before : {1, 2, 4})
      for (int after : {1, 3, 4}) {
        TemporaryFolder folder;
        Ranks first(before), second(after);
        first.run([&](hfta_communicator *rank) {
          InstancePointer instance = createOnRank(*program.get(), rank);
          takeSteps(program, instance.get(), 3, nullptr);
          save(instance.get(), rank, folder.root);
        });
        second.run([&](hfta_communicator *rank) {
          InstancePointer instance = createOnRank(*program.get(), rank);
          EXPECT_EQ(hfta_checkpoint_load(instance.get(),
                                         rank->rank == 0 ? folder.root.c_str()
                                                         : "/nowhere",
                                         nullptr),
                    HFTA_OK)
              << hfta_instance_message(instance.get());
          const int32_t last = FakeStages::copies - 1;
          EXPECT_EQ(hfta_instance_set_live(instance.get(), &last, 1), HFTA_OK);
          takeSteps(program, instance.get(), 2, nullptr);
          save(instance.get(), rank, folder.root);
        });
        EXPECT_TRUE(readFiles(folder.root, 5) == expected)
            << before << " and " << after << " ranks";
      }
  }
}

//===----------------------------------------------------------------------===//
// Unsound programs
//===----------------------------------------------------------------------===//

hfta_command &findCommand(FakeReplicas &program, uint32_t kind) {
  for (std::vector<hfta_command> &list : program.commands)
    for (hfta_command &command : list)
      if (command.kind == kind)
        return command;
  ADD_FAILURE() << "no command " << kind;
  return program.commands[0][0];
}

std::string checkProgram(const FakeReplicas &program) {
  hfta_error error = {};
  return hfta_program_check(program.get(), &error) == HFTA_OK ? ""
                                                              : error.message;
}

TEST(Replicas, UnsoundCommandsAreRefused) {
  const std::string expected = "program 'uncut': schedule 'step' is invalid";
  auto expectUnsound = [&](uint32_t kind, auto damage) {
    FakeReplicas program(makeOptions(Placement::local, 3));
    EXPECT_EQ(checkProgram(program), "");
    damage(findCommand(program, kind));
    EXPECT_EQ(checkProgram(program), expected);
  };
  expectUnsound(HFTA_COMMAND_ONLY, [](auto &it) { it.replicas.count = 2; });
  expectUnsound(HFTA_COMMAND_ONLY, [](auto &it) { it.replicas.count = 0; });
  expectUnsound(HFTA_COMMAND_ONLY, [](auto &it) { it.replicas.first = ~0u; });
  expectUnsound(HFTA_COMMAND_ONLY, [](auto &it) { it.length = 100; });
  expectUnsound(HFTA_COMMAND_ONLY, [](auto &it) { it.length = 8; });
  expectUnsound(HFTA_COMMAND_BROADCAST, [](auto &it) { it.queue = 0; });
  expectUnsound(HFTA_COMMAND_BROADCAST, [](auto &it) { it.bytes += 8; });
  expectUnsound(HFTA_COMMAND_BROADCAST,
                [](auto &it) { it.to.copy_stride = ~0ull; });
  expectUnsound(HFTA_COMMAND_BROADCAST,
                [](auto &it) { it.replicas.stride = 0; });
  expectUnsound(HFTA_COMMAND_BROADCAST,
                [](auto &it) { it.receivers.count = 5; });
  expectUnsound(HFTA_COMMAND_TAKE_GROUP, [](auto &it) { it.to.index = 0; });
  expectUnsound(HFTA_COMMAND_TAKE_GROUP, [](auto &it) { it.subject = 6; });
  expectUnsound(HFTA_COMMAND_TAKE_GROUP, [](auto &it) { it.bytes = 0; });
}

TEST(Replicas, HoldersThatAreNotThereAreRefused) {
  FakeReplicas program(makeOptions(Placement::local, 3));
  program.segments[program.factor].holders.first = 4;
  EXPECT_EQ(
      checkProgram(program),
      "program 'uncut': segment 'factor' is held by 1 replicas from 4 on, "
      "1 apart, but its stage has fewer");
}

} // namespace
