//===- CheckpointPartsTest.cpp - Checkpoints in parts on several ranks ----===//

#include "FakeStages.h"
#include "RankThreads.h"
#include "RuntimeTest.h"
#include "hfta/checkpoint.h"

#include <cstring>

extern "C" {
#include "checkpoint/checkpoint_parts.h"
}

namespace {

void train(const FakeStages &program, hfta_instance *instance, int count) {
  for (int i = 0; i < count; ++i) {
    std::vector<double> batch =
        program.makeBatch(static_cast<int>(hfta_instance_steps(instance)));
    const void *inputs[] = {batch.data()};
    EXPECT_EQ(hfta_instance_step(instance, inputs, nullptr), HFTA_OK)
        << hfta_instance_message(instance);
  }
}

/// Returns `folder` for rank 0, and a folder that doesn't exist for the others,
/// because only rank 0 may access the checkpoint's folder.
std::string folderOf(hfta_communicator *rank, const std::string &folder) {
  return rank->rank == 0 ? folder : "/nowhere";
}

void save(hfta_instance *instance, hfta_communicator *rank,
          const std::string &folder) {
  hfta_epoch_losses losses[] = {{1.5, 0}, {2.5, 1}};
  EXPECT_EQ(
      hfta_checkpoint_save(instance, folderOf(rank, folder).c_str(), losses),
      HFTA_OK)
      << hfta_instance_message(instance);
}

std::string filesOf(const std::string &folder, int step) {
  std::string all;
  for (int copy = 0; copy < 2; ++copy)
    all += readFile(folder + "/step-0000000" + std::to_string(step) +
                    "/copy-000" + std::to_string(copy) + ".safetensors");
  EXPECT_NE(all, "");
  return all;
}

/// Returns the files that the program of one stage saves after four steps on
/// one worker.
std::string saveUncut(StagesOptions options) {
  TemporaryFolder folder;
  options.isUncut = true;
  FakeStages program(options);
  Ranks ranks(1);
  ranks.run([&](hfta_communicator *rank) {
    InstancePointer instance = createOnRank(*program.get(), rank);
    train(program, instance.get(), 4);
    save(instance.get(), rank, folder.root);
  });
  return filesOf(folder.root, 4);
}

StagesOptions makeOptions(const std::vector<int64_t> &replicas) {
  StagesOptions options;
  options.replicas = replicas;
  options.microBatches = 6;
  options.groups = 6;
  return options;
}

int countWorkers(const FakeStages &program) {
  return static_cast<int>(program.get()->workers);
}

/// Trains four steps on each possible number of ranks, and expects that the
/// saved files have the bytes `expected`.
void expectSavedOnAnyRanks(const StagesOptions &options,
                           const std::string &expected) {
  FakeStages program(options);
  for (int count = 1; count <= countWorkers(program); ++count) {
    TemporaryFolder folder;
    Ranks ranks(count);
    ranks.run([&](hfta_communicator *rank) {
      InstancePointer instance = createOnRank(*program.get(), rank);
      train(program, instance.get(), 4);
      save(instance.get(), rank, folder.root);
    });
    EXPECT_EQ(listFolder(folder.root),
              std::vector<std::string>{"step-00000004"});
    EXPECT_TRUE(filesOf(folder.root, 4) == expected) << count << " ranks";
  }
}

/// Runs two stages on two ranks for two steps, then calls `function` on each
/// rank.
void runTwoRanks(
    const std::function<void(hfta_instance *, hfta_communicator *)> &function) {
  FakeStages program(makeOptions({1, 1}));
  Ranks ranks(2);
  ranks.run([&](hfta_communicator *rank) {
    InstancePointer instance = createOnRank(*program.get(), rank);
    train(program, instance.get(), 2);
    function(instance.get(), rank);
  });
}

std::string weightOf(hfta_instance *instance, int stage) {
  hfta_tensor_info info;
  std::string name = "weight." + std::to_string(stage);
  EXPECT_EQ(hfta_instance_tensor(instance, 0, name.c_str(), &info), HFTA_OK)
      << hfta_instance_message(instance);
  return std::string(static_cast<const char *>(info.data), info.bytes);
}

/// Cuts tensors of many sizes, which are held by different ranks, into chunks.
class Chunks : public testing::Test {
protected:
  Chunks() {
    const uint64_t chunk = HFTA_CHUNK_BYTES;
    sizes = {0, 3, 5, chunk, 0, chunk + 1, 4 * chunk + 7, 2, 2, 2, 0};
    segments = {0, 0, 0, 1, 1, 1, 1, 2, 2, 0, 0};
    for (size_t i = 0; i < sizes.size(); ++i) {
      hfta_tensor tensor = {};
      tensor.segment = segments[i];
      tensor.bytes = sizes[i];
      tensor.flags = HFTA_TENSOR_CHECKPOINT;
      tensor.copy = -1;
      tensors.push_back(tensor);
    }
    program.tensors = tensors.data();
    program.tensor_count = static_cast<uint32_t>(tensors.size());
    program.segment_count = 3;
    instance.program = &program;
    list.resize(tensors.size());
    ranks.size = 2;
    parts.instance = &instance;
    parts.ranks = &ranks;
    parts.holds = holds;
    parts.owners = owners;
    parts.tensors = list.data();
  }

  std::vector<uint64_t> sizes;
  std::vector<uint32_t> segments, list;
  std::vector<hfta_tensor> tensors;
  hfta_program program = {};
  hfta_instance instance = {};
  hfta_communicator ranks = {};
  bool holds[6] = {true, true, false, true, false, false};
  int owners[3] = {0, 0, 0};
  hfta_checkpoint_parts parts = {};
};
} // namespace

TEST_F(Chunks, CoverAllBytesInOrder) {
  hfta_checkpoint_parts_list(&parts, 0);
  ASSERT_EQ(parts.count, tensors.size());
  hfta_chunk chunk = {};
  uint64_t place = 0, end = 0;
  int count = 0;
  for (uint64_t size : sizes)
    end += size;
  for (;; ++count) {
    chunk = hfta_checkpoint_parts_next(&parts, &chunk);
    if (chunk.bytes == 0)
      break;
    ASSERT_LE(chunk.bytes, uint64_t(HFTA_CHUNK_BYTES));
    uint64_t begin = chunk.offset;
    for (uint32_t i = 0; i < chunk.first; ++i)
      begin += sizes[i];
    ASSERT_EQ(begin, place);
    ASSERT_LT(chunk.offset, sizes[chunk.first]);
    place += chunk.bytes;
    // All tensors in a chunk are held by the same ranks.
    uint64_t rest = chunk.offset + chunk.bytes;
    for (uint32_t i = chunk.first; rest > 0; ++i) {
      EXPECT_EQ(segments[i], segments[chunk.first]);
      rest -= std::min(rest, sizes[i]);
    }
  }
  EXPECT_EQ(place, end);
  EXPECT_EQ(count, 1 + 7 + 1 + 1);
}

TEST_F(Chunks, NeedNothingThatNobodyHolds) {
  hfta_checkpoint_parts_list_needed(&parts, 0);
  EXPECT_EQ(parts.count, 9u); // without segment 2, which no rank holds
  tensors[1].flags |= HFTA_TENSOR_SHARED;
  hfta_checkpoint_parts_list_needed(&parts, 1);
  EXPECT_EQ(parts.count, 8u);
}

TEST(CheckpointParts, AnyRanksSaveTheSame) {
  for (const std::vector<int64_t> &replicas : std::vector<std::vector<int64_t>>{
           {1, 1}, {2, 1}, {1, 3}, {1, 1, 1, 1}, {2, 1, 2}}) {
    StagesOptions options = makeOptions(replicas);
    expectSavedOnAnyRanks(options, saveUncut(options));
  }
}

TEST(CheckpointParts, WhereverWorkersAreRanksSaveTheSame) {
  StagesOptions options = makeOptions({2, 1, 3});
  std::string expected = saveUncut(options);
  for (const std::vector<int64_t> &places : std::vector<std::vector<int64_t>>{
           {5, 4, 3, 2, 1, 0}, {0, 3, 1, 2, 5, 4}, {2, 4, 0, 1, 5, 3}}) {
    options.places = places;
    expectSavedOnAnyRanks(options, expected);
  }
}

TEST(CheckpointParts, OtherRanksAndStagesGoOn) {
  TemporaryFolder folder;
  StagesOptions options = makeOptions({1, 1, 1});
  std::string expected = saveUncut(options);
  FakeStages first(options);
  Ranks three(3);
  three.run([&](hfta_communicator *rank) {
    InstancePointer instance = createOnRank(*first.get(), rank);
    train(first, instance.get(), 2);
    save(instance.get(), rank, folder.root);
  });
  for (const std::vector<int64_t> &replicas :
       std::vector<std::vector<int64_t>>{{1, 1, 1}, {2, 1, 3}, {3, 2, 2}}) {
    FakeStages program(makeOptions(replicas));
    for (int count = 1; count <= countWorkers(program); ++count) {
      TemporaryFolder end;
      Ranks ranks(count);
      ranks.run([&](hfta_communicator *rank) {
        InstancePointer instance = createOnRank(*program.get(), rank);
        train(program, instance.get(), 1);
        hfta_epoch_losses losses[2] = {};
        ASSERT_EQ(hfta_checkpoint_load(instance.get(),
                                       folderOf(rank, folder.root).c_str(),
                                       losses),
                  HFTA_OK)
            << hfta_instance_message(instance.get());
        EXPECT_EQ(losses[1].sum, 2.5);
        EXPECT_EQ(losses[1].steps, 1);
        EXPECT_EQ(hfta_instance_steps(instance.get()), 2);
        train(program, instance.get(), 2);
        save(instance.get(), rank, end.root);
      });
      EXPECT_TRUE(filesOf(end.root, 4) == expected) << count << " ranks";
    }
  }
}

TEST(CheckpointParts, AllRanksLearnThatNothingIsSaved) {
  TemporaryFolder folder;
  writeFile(folder.path("file"), "in the way");
  runTwoRanks([&](hfta_instance *instance, hfta_communicator *rank) {
    std::string file = folder.path("file");
    EXPECT_EQ(hfta_instance_save(instance, folderOf(rank, file).c_str()),
              HFTA_CANNOT_WRITE);
    EXPECT_NE(std::string(hfta_instance_message(instance)).find(file),
              std::string::npos)
        << hfta_instance_message(instance);
    // After the failure, the ranks still agree and can save.
    save(instance, rank, folder.path("folder"));
  });
  EXPECT_NE(filesOf(folder.path("folder"), 2), "");
}

TEST(CheckpointParts, ADamagedOneLeavesAllRanksAsTheyWere) {
  TemporaryFolder folder;
  runTwoRanks([&](hfta_instance *instance, hfta_communicator *rank) {
    save(instance, rank, folder.root);
    FakeStages program(makeOptions({1, 1}));
    train(program, instance, 1);
    std::string before = weightOf(instance, rank->rank);
    std::string file = folder.path("step-00000002/copy-0001.safetensors");
    if (rank->rank == 0) {
      std::string bytes = readFile(file);
      bytes.back() ^= 1;
      writeFile(file, bytes);
    }
    EXPECT_EQ(hfta_instance_load(instance, folderOf(rank, folder.root).c_str()),
              HFTA_INVALID_INPUT);
    EXPECT_NE(std::string(hfta_instance_message(instance)).find(file),
              std::string::npos)
        << hfta_instance_message(instance);
    EXPECT_EQ(hfta_instance_steps(instance), 3);
    EXPECT_EQ(weightOf(instance, rank->rank), before);
    train(program, instance, 1);
  });
}

TEST(CheckpointParts, ATensorOfAnotherRankIsRefused) {
  runTwoRanks([&](hfta_instance *instance, hfta_communicator *rank) {
    hfta_tensor_info info;
    EXPECT_EQ(hfta_instance_tensor(instance, 0, "weight.1", &info),
              rank->rank == 1 ? HFTA_OK : HFTA_USAGE);
    if (rank->rank == 0) {
      EXPECT_STREQ(hfta_instance_message(instance),
                   "tensor 'weight.1' is on another rank: it belongs to stage "
                   "1");
    }
  });
}
