//===- CheckpointTest.cpp - Saved trainings -------------------------------===//

#include "hfta/checkpoint.h"
#include "RuntimeTest.h"
#include "hfta/safetensors.h"

#include <cmath>
#include <cstring>
#include <sys/stat.h>

static void steps(hfta_instance *instance, int first, int count) {
  for (int i = first; i < first + count; ++i) {
    Batch batch(i);
    ASSERT_EQ(hfta_instance_step(instance, batch.inputs, nullptr), HFTA_OK);
  }
}

TEST(Checkpoint, GoesOnWhereItWasSaved) {
  TemporaryFolder folder;
  ProgramPointer program = makeProgram(defaultOptions());
  InstancePointer whole = makeInstance(program.get());
  steps(whole.get(), 0, 7);
  ASSERT_EQ(hfta_instance_save(whole.get(), folder.path("a/b").c_str()),
            HFTA_OK)
      << hfta_instance_message(whole.get());
  steps(whole.get(), 7, 5);

  InstancePointer resumed = makeInstance(program.get());
  ASSERT_EQ(hfta_instance_load(resumed.get(), folder.path("a/b").c_str()),
            HFTA_OK)
      << hfta_instance_message(resumed.get());
  EXPECT_EQ(hfta_instance_steps(resumed.get()), 7);
  steps(resumed.get(), 7, 5);
  for (int copy = 0; copy < 3; ++copy)
    EXPECT_EQ(stateOf(resumed.get(), copy), stateOf(whole.get(), copy));
}

TEST(Checkpoint, EqualStateGivesEqualFiles) {
  TemporaryFolder folder;
  ProgramPointer program = makeProgram(defaultOptions());
  hfta_epoch_losses losses[3] = {
      {1.5, 3}, {std::nan("1"), 1}, {-std::nan("2"), 0}};
  for (const char *name : {"one", "two"}) {
    InstancePointer instance = makeInstance(program.get());
    steps(instance.get(), 0, 3);
    ASSERT_EQ(
        hfta_checkpoint_save(instance.get(), folder.path(name).c_str(), losses),
        HFTA_OK);
    losses[1].sum = -losses[1].sum;
  }
  EXPECT_EQ(listFolder(folder.path("one")),
            std::vector<std::string>{"step-00000003"});
  std::vector<std::string> files = {"copy-0000.safetensors",
                                    "copy-0001.safetensors",
                                    "copy-0002.safetensors"};
  EXPECT_EQ(listFolder(folder.path("one/step-00000003")), files);
  for (const std::string &file : files)
    EXPECT_EQ(readFile(folder.path("one/step-00000003/" + file)),
              readFile(folder.path("two/step-00000003/" + file)));
}

TEST(Checkpoint, HoldsWeightsStateAndIdentity) {
  TemporaryFolder folder;
  ProgramPointer program = makeProgram(defaultOptions());
  InstancePointer instance = makeInstance(program.get());
  steps(instance.get(), 0, 2);
  ASSERT_EQ(hfta_instance_save(instance.get(), folder.root.c_str()), HFTA_OK);
  hfta_safetensors *file = nullptr;
  std::string path = folder.path("step-00000002/copy-0001.safetensors");
  ASSERT_EQ(hfta_safetensors_open(path.c_str(), &file, nullptr), HFTA_OK);
  EXPECT_EQ(hfta_safetensors_count(file), 4u);
  EXPECT_NE(hfta_safetensors_find(file, "second.weight.momentum"), nullptr);
  EXPECT_STREQ(hfta_safetensors_metadata(file, "identity"), "identity-mlp");
  EXPECT_STREQ(hfta_safetensors_metadata(file, "step"), "2");
  EXPECT_STREQ(hfta_safetensors_metadata(file, "version"), "2");
  hfta_safetensors_close(file);
}

TEST(Checkpoint, EpochLossesSurvive) {
  TemporaryFolder folder;
  ProgramPointer program = makeProgram(defaultOptions());
  InstancePointer instance = makeInstance(program.get());
  steps(instance.get(), 0, 4);
  hfta_epoch_losses losses[3] = {{1.0 / 3, 4}, {INFINITY, 0}, {NAN, -1}};
  hfta_epoch_losses loaded[3];
  ASSERT_EQ(hfta_checkpoint_save(instance.get(), folder.root.c_str(), losses),
            HFTA_OK);
  ASSERT_EQ(hfta_checkpoint_load(instance.get(), folder.root.c_str(), loaded),
            HFTA_OK);
  EXPECT_EQ(loaded[0].sum, losses[0].sum);
  EXPECT_EQ(loaded[1].sum, losses[1].sum);
  EXPECT_TRUE(std::isnan(loaded[2].sum));
  for (int copy = 0; copy < 3; ++copy)
    EXPECT_EQ(loaded[copy].steps, losses[copy].steps);
}

TEST(Checkpoint, TheNewestIsTaken) {
  TemporaryFolder folder;
  ProgramPointer program = makeProgram(defaultOptions());
  InstancePointer instance = makeInstance(program.get());
  EXPECT_EQ(hfta_checkpoint_newest(folder.path("none").c_str()), -1);
  for (int i = 0; i < 3; ++i) {
    steps(instance.get(), i, 1);
    ASSERT_EQ(hfta_instance_save(instance.get(), folder.root.c_str()), HFTA_OK);
  }
  mkdir(folder.path("step-12").c_str(), 0777);
  mkdir(folder.path("step-00000100x").c_str(), 0777);
  EXPECT_EQ(hfta_checkpoint_newest(folder.root.c_str()), 3);
  InstancePointer other = makeInstance(program.get());
  ASSERT_EQ(
      hfta_instance_load(other.get(), folder.path("step-00000002/").c_str()),
      HFTA_OK);
  EXPECT_EQ(hfta_instance_steps(other.get()), 2);
}

TEST(Checkpoint, AnEqualStepIsReplaced) {
  TemporaryFolder folder;
  ProgramPointer program = makeProgram(defaultOptions());
  InstancePointer instance = makeInstance(program.get());
  ASSERT_EQ(hfta_instance_save(instance.get(), folder.root.c_str()), HFTA_OK);
  writeFile(folder.path("step-00000000/stray"), "x");
  ASSERT_EQ(hfta_instance_save(instance.get(), folder.root.c_str()), HFTA_OK);
  EXPECT_EQ(listFolder(folder.root), std::vector<std::string>{"step-00000000"});
  EXPECT_EQ(listFolder(folder.path("step-00000000")).size(), 3u);
}

TEST(Checkpoint, PruningKeepsTheNewestUpToTheStep) {
  TemporaryFolder folder;
  for (const char *name : {"step-00000001", "step-00000005", "step-00000009",
                           "step-00000020", "other"})
    mkdir(folder.path(name).c_str(), 0777);
  ASSERT_EQ(hfta_checkpoint_prune(folder.root.c_str(), 9, 2, nullptr), HFTA_OK);
  EXPECT_EQ(listFolder(folder.root),
            (std::vector<std::string>{"other", "step-00000005", "step-00000009",
                                      "step-00000020"}));
}

//===----------------------------------------------------------------------===//
// Refusals
//===----------------------------------------------------------------------===//

namespace {
/// Saves a checkpoint of two steps, in which each test plants a fault. Loading
/// it must fail with a message and leave the instance unchanged.
class Refusal : public testing::Test {
protected:
  Refusal() : program(makeProgram(defaultOptions())) {
    InstancePointer saved = makeInstance(program.get());
    steps(saved.get(), 0, 2);
    EXPECT_EQ(hfta_instance_save(saved.get(), folder.root.c_str()), HFTA_OK);
  }

  std::string file(int copy) const {
    return folder.path("step-00000002/copy-000" + std::to_string(copy) +
                       ".safetensors");
  }

  void expect(const hfta_program *reader, const std::string &message) {
    InstancePointer instance = makeInstance(reader);
    std::string before = stateOf(instance.get(), 0);
    EXPECT_EQ(hfta_instance_load(instance.get(), folder.root.c_str()),
              HFTA_INVALID_INPUT);
    EXPECT_EQ(hfta_instance_message(instance.get()), message);
    EXPECT_EQ(stateOf(instance.get(), 0), before);
    EXPECT_EQ(hfta_instance_steps(instance.get()), 0);
  }

  TemporaryFolder folder;
  ProgramPointer program;
};
} // namespace

TEST_F(Refusal, TornFile) {
  std::string bytes = readFile(file(2));
  writeFile(file(2), bytes.substr(0, bytes.size() - 10));
  InstancePointer instance = makeInstance(program.get());
  std::string before = stateOf(instance.get(), 0);
  EXPECT_EQ(hfta_instance_load(instance.get(), folder.root.c_str()),
            HFTA_INVALID_INPUT);
  EXPECT_NE(std::string(hfta_instance_message(instance.get())).find(file(2)),
            std::string::npos);
  EXPECT_EQ(stateOf(instance.get(), 0), before);
}

TEST_F(Refusal, AnyOtherByte) {
  const std::string bytes = readFile(file(1));
  InstancePointer instance = makeInstance(program.get());
  std::string before = stateOf(instance.get(), 1);
  for (size_t at = 0; at < bytes.size(); ++at)
    for (int mask : {1, 0xA0}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ mask);
      writeFile(file(1), changed);
      hfta_status status =
          hfta_instance_load(instance.get(), folder.root.c_str());
      EXPECT_TRUE(status == HFTA_INVALID_INPUT || status == HFTA_UNSUPPORTED)
          << at;
      EXPECT_NE(
          std::string(hfta_instance_message(instance.get())).find(file(1)),
          std::string::npos);
    }
  EXPECT_EQ(stateOf(instance.get(), 1), before);
}

TEST_F(Refusal, FlippedByte) {
  std::string bytes = readFile(file(1));
  size_t at = bytes.find("\"checksum\":\"") + 12;
  std::string sum = bytes.substr(at, 16);
  bytes.back() ^= 1;
  writeFile(file(1), bytes);
  expect(program.get(),
         "'" + file(1) + "' is damaged: its bytes don't have the checksum '" +
             sum + "' that they were written with");
}

/// Replaces a text in the header of a safetensors file by `to`, which may be
/// shorter. Pads the header with spaces, so that its length stays.
static void editHeader(const std::string &path, const std::string &from,
                       std::string to) {
  std::string bytes = readFile(path);
  size_t at = bytes.find(from), end = bytes.find("}}", at);
  ASSERT_LE(to.size(), from.size());
  ASSERT_NE(end, std::string::npos);
  // JSON allows white space between members.
  to.append(from.size() - to.size(), ' ');
  writeFile(path, bytes.replace(at, from.size(), to));
}

TEST_F(Refusal, NoChecksum) {
  std::string bytes = readFile(file(1));
  editHeader(file(1), bytes.substr(bytes.find("\"checksum\""), 30), "");
  expect(program.get(), "'" + file(1) + "' is damaged: it lacks its checksum");
}

TEST_F(Refusal, NotOfAFileWithoutChecksum) {
  InstancePointer checked = makeInstance(program.get());
  InstancePointer unchecked = makeInstance(program.get());
  ASSERT_EQ(hfta_instance_load(checked.get(), folder.root.c_str()), HFTA_OK);
  for (int copy = 0; copy < 3; ++copy) {
    std::string bytes = readFile(file(copy));
    editHeader(file(copy), bytes.substr(bytes.find("\"checksum\""), 30), "");
    editHeader(file(copy), R"("version":"2")", R"("version":"1")");
  }
  ASSERT_EQ(hfta_instance_load(unchecked.get(), folder.root.c_str()), HFTA_OK)
      << hfta_instance_message(unchecked.get());
  for (int copy = 0; copy < 3; ++copy)
    EXPECT_EQ(stateOf(unchecked.get(), copy), stateOf(checked.get(), copy));
}

TEST_F(Refusal, MissingCopy) {
  remove(file(1).c_str());
  expect(program.get(), "checkpoint '" + folder.path("step-00000002") +
                            "' is incomplete: copy-0001.safetensors is "
                            "missing");
}

TEST_F(Refusal, ForeignModel) {
  fake_options options = defaultOptions();
  options.foreign = 1;
  ProgramPointer other = makeProgram(options);
  expect(other.get(), "'" + file(0) +
                          "' belongs to another model or optimizer (identity "
                          "identity-mlp, expected identity-other)");
}

TEST(Checkpoint, OfAFormerIdentity) {
  TemporaryFolder folder;
  ProgramPointer program = makeProgram(defaultOptions());
  InstancePointer instance = makeInstance(program.get());
  steps(instance.get(), 0, 2);
  ASSERT_EQ(hfta_instance_save(instance.get(), folder.root.c_str()), HFTA_OK);
  fake_options options = defaultOptions();
  options.former = 1;
  ProgramPointer later = makeProgram(options);
  InstancePointer other = makeInstance(later.get());
  ASSERT_EQ(hfta_instance_load(other.get(), folder.root.c_str()), HFTA_OK);
  EXPECT_EQ(stateOf(other.get(), 0), stateOf(instance.get(), 0));
  // A program accepts its former identity when it loads a checkpoint, but saves
  // its present one.
  ASSERT_EQ(hfta_instance_save(other.get(), folder.path("own").c_str()),
            HFTA_OK);
  EXPECT_NE(hfta_instance_load(instance.get(), folder.path("own").c_str()),
            HFTA_OK);
}

TEST_F(Refusal, ForeignFile) {
  float value = 1;
  int64_t shape[1] = {1};
  hfta_tensor_view view = {"x", HFTA_F32, 1, shape, &value, 4};
  ASSERT_EQ(
      hfta_safetensors_write(file(0).c_str(), &view, 1, nullptr, 0, nullptr),
      HFTA_OK);
  expect(program.get(),
         "'" + file(0) + "' is not a checkpoint of a training binary");
}

TEST_F(Refusal, RenamedStep) {
  rename(folder.path("step-00000002").c_str(),
         folder.path("step-00000003").c_str());
  expect(program.get(), "'" + folder.path("step-00000003") +
                            "/copy-0000.safetensors' belongs to step '2', not "
                            "to the step of this checkpoint");
}

TEST_F(Refusal, OtherShape) {
  int64_t shape[] = {FAKE_HIDDEN, FAKE_FEATURES};
  const_cast<hfta_tensor *>(program->tensors)[0].shape = shape;
  expect(program.get(), "'" + file(0) +
                            "': tensor 'first.weight' is f32 6x5, expected "
                            "f32 5x6");
}

TEST_F(Refusal, OtherTensors) {
  const_cast<hfta_tensor *>(program->tensors)[0].flags &=
      ~uint32_t(HFTA_TENSOR_CHECKPOINT);
  expect(program.get(), "'" + file(0) + "' holds 4 tensors, expected 3");
}

TEST(Checkpoint, AbsentFolders) {
  TemporaryFolder folder;
  ProgramPointer program = makeProgram(defaultOptions());
  InstancePointer instance = makeInstance(program.get());
  EXPECT_EQ(hfta_instance_load(instance.get(), folder.root.c_str()),
            HFTA_INVALID_INPUT);
  EXPECT_EQ(std::string(hfta_instance_message(instance.get())),
            "folder '" + folder.root + "' holds no checkpoint");
  EXPECT_EQ(hfta_instance_load(instance.get(), folder.path("no").c_str()),
            HFTA_INVALID_INPUT);
  EXPECT_EQ(std::string(hfta_instance_message(instance.get())),
            "checkpoint folder '" + folder.path("no") + "' doesn't exist");
}
