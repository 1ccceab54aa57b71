//===- CommandTest.cpp - Options, messages and exit codes -----------------===//

#include "RuntimeTest.h"
#include "hfta/abi.h"
#include "hfta/json.h"
#include "hfta/npy.h"

#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>

//===----------------------------------------------------------------------===//
// Misuse
//===----------------------------------------------------------------------===//

namespace {
struct Misuse {
  std::vector<std::string> arguments;
  const char *message; ///< after "fake: error: "
};
} // namespace

TEST(Command, MisuseHasOneClearMessage) {
  const Misuse cases[] = {
      {{"train", "--foo"}, "unknown option '--foo'"},
      {{"train", "--foo=1"}, "unknown option '--foo'"},
      {{"train", "-x"}, "unknown option '-x'"},
      {{"train", "now"}, "unexpected argument 'now'"},
      {{"train", "--epochs"}, "option '--epochs' needs a value: --epochs N"},
      {{"train", "--epochs", "0"},
       "option '--epochs': '0' is not a whole number of at least 1"},
      {{"train", "--epochs=-3"},
       "option '--epochs': '-3' is not a whole number of at least 1"},
      {{"train", "--epochs", "2.5"},
       "option '--epochs': '2.5' is not a whole number of at least 1"},
      {{"train", "--steps", ""},
       "option '--steps': '' is not a whole number of at least 1"},
      {{"train", "--steps", "99999999999999999999"},
       "option '--steps': '99999999999999999999' is not a whole number of at "
       "least 1"},
      {{"train", "--epochs", "1", "--epochs", "2"},
       "option '--epochs' is given twice"},
      {{"train", "--epochs", "1", "--steps", "2"},
       "give '--epochs' or '--steps', not both"},
      {{"train", "--resume"}, "option '--resume' needs --checkpoint DIR"},
      {{"train", "--every", "5"}, "option '--every' needs --checkpoint DIR"},
      {{"train", "--keep", "5"}, "option '--keep' needs --checkpoint DIR"},
      {{"train", "--resume=yes"}, "option '--resume' takes no value"},
      {{"train", "--log", ""}, "option '--log': the value is empty"},
      {{"train", "--threads", "0"},
       "option '--threads': '0' is not a whole number from 1 to 256"},
      {{"train", "--threads", "two"},
       "option '--threads': 'two' is not a whole number from 1 to 256"},
      {{"export", "-o", "x.onnx"}, "'export' needs --copy K"},
      {{"export", "--copy", "1"}, "'export' needs -o FILE.onnx"},
      {{"export", "--copy", "3", "-o", "x"},
       "option '--copy': '3' is not a whole number from 0 to 2"},
      {{"run"}, "'run' needs --output DIR"},
      {{"info", "--steps", "3"}, "unknown option '--steps'"},
      {{"bench", "--steps", "x"},
       "option '--steps': 'x' is not a whole number from 1 to 1000000000"},
      {{"eval", "--copy", "1"}, "unknown option '--copy'"},
  };
  for (const Misuse &misuse : cases) {
    Outcome outcome = runBinary(misuse.arguments);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, std::string("fake: error: ") + misuse.message +
                               "\nfake: note: 'fake " + misuse.arguments[0] +
                               " --help' lists the options\n");
  }
}

TEST(Command, UnknownCommands) {
  Outcome outcome = runBinary({"trian"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(
      outcome.err,
      "fake: error: unknown command 'trian': expected train, eval, "
      "run, info, report, log or bench\nfake: note: 'fake --help' explains "
      "them\n");
  outcome = runBinary({"--foo"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err.find("fake: error: unknown option '--foo': expected"),
            0u);
  outcome = runBinary({});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err.find("fake: error: no command is given\nusage: fake "),
            0u);
}

TEST(Command, DevicesAndCpus) {
  Outcome outcome = runBinary({"bench", "--device", "cuda:0"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.err, "fake: error: device 'cuda:0' is not available: this "
                         "program was compiled for cpu\n");
  RunOptions options;
  options.fake = "impossible_cpu";
  outcome = runBinary({"bench"}, options);
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.err,
            "fake: error: this CPU lacks quantum, which 'fake' was compiled "
            "for; compile it with a --cpu that this machine has\n");
  EXPECT_EQ(runBinary({"info"}, options).code, 0);
}

TEST(Command, InferenceProgramsDontTrain) {
  RunOptions options;
  options.fake = "inference_only copies=1";
  Outcome outcome = runBinary({"train"}, options);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err, "fake: error: 'fake' was compiled for inference only: "
                         "the job had no loss\n");
  outcome = runBinary({"eval"}, options);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err,
            "fake: error: 'fake' was compiled without test data\n");
  EXPECT_EQ(runBinary({"bench", "--steps", "3"}, options).code, 0);
  EXPECT_EQ(runBinary({"info"}, options).code, 0);
}

TEST(Command, ALengthIsNeeded) {
  TemporaryFolder folder;
  writeData(folder.root);
  RunOptions options;
  options.fake = "no_length";
  Outcome outcome = runBinary({"train", "--data", folder.root}, options);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err, "fake: error: the job doesn't say how long to train: "
                         "give --epochs or --steps\n");
}

TEST(Command, FullStandardOutput) {
  RunOptions options;
  options.closedOutput = true;
  Outcome outcome = runBinary({"info"}, options);
  EXPECT_EQ(outcome.code, 4);
  EXPECT_EQ(outcome.err, "fake: error: cannot write to standard output: No "
                         "space left on device\n");
}

//===----------------------------------------------------------------------===//
// Help
//===----------------------------------------------------------------------===//

TEST(Command, HelpIsComplete) {
  Outcome all = runBinary({"--help"});
  EXPECT_EQ(all.code, 0);
  EXPECT_EQ(all.err, "");
  for (const char *command : {"train", "eval", "run", "info", "bench"}) {
    EXPECT_NE(all.out.find(std::string("\n  ") + command + " "),
              std::string::npos);
    Outcome one = runBinary({command, "--help"});
    EXPECT_EQ(one.code, 0);
    EXPECT_EQ(one.out.find(std::string("usage: fake ") + command), 0u);
    // Every option that a command's own help explains also appears in the
    // summary of all commands.
    for (size_t at = 0; (at = one.out.find("\n  -", at)) != std::string::npos;
         ++at) {
      std::string option = one.out.substr(at + 3);
      option = option.substr(0, option.find(' '));
      EXPECT_NE(all.out.find(option), std::string::npos) << option;
    }
  }
  EXPECT_EQ(runBinary({"-h"}).out, all.out);
}

/// Returns the commands that the help of a program with the options `fake`
/// lists.
static std::string offeredBy(const char *fake) {
  RunOptions options;
  options.fake = fake;
  std::string help = runBinary({"--help"}, options).out, found;
  EXPECT_EQ(help.find("cuda"), std::string::npos);
  for (const char *command :
       {"train", "eval", "export", "run", "info", "bench"})
    if (help.find(std::string("\n  ") + command + " ") != std::string::npos)
      found += std::string(command) + " ";
  return found;
}

TEST(Command, HelpOffersWhatTheProgramCanDo) {
  // `export` is missing because the program has no template of an exported
  // model.
  EXPECT_EQ(offeredBy(""), "train eval run info bench ");
  EXPECT_EQ(offeredBy("inference_only copies=1"), "run info bench ");
  for (const char *command : {"train", "eval", "run", "bench"})
    EXPECT_EQ(runBinary({command, "--help"}).out.find("cuda"),
              std::string::npos)
        << command;
}

TEST(Command, Version) {
  Outcome outcome = runBinary({"--version"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "fake (Hfta " HFTA_VERSION ", ABI " +
                             std::to_string(hfta_abi_version()) + ")\n");
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

/// Returns the number after the first "key": in JSON text; -1 if there is none.
static double numberOf(const std::string &json, const std::string &key) {
  size_t at = json.find("\"" + key + "\":");
  return at == std::string::npos ? -1
                                 : std::stod(json.substr(at + key.size() + 3));
}

static bool isJson(const std::string &text) {
  hfta_json_reader reader;
  hfta_json_read(&reader, text.data(), text.size());
  hfta_json_event event;
  do
    event = hfta_json_next(&reader);
  while (event != HFTA_JSON_ERROR && event != HFTA_JSON_END);
  hfta_json_read_end(&reader);
  return event == HFTA_JSON_END;
}

TEST(Command, InfoAndBenchAgreeOnThePeak) {
  Outcome info = runBinary({"info", "--json", "--threads", "3"});
  Outcome bench =
      runBinary({"bench", "--json", "--threads", "3", "--steps", "4"});
  ASSERT_EQ(info.code, 0) << info.err;
  ASSERT_EQ(bench.code, 0) << bench.err;
  EXPECT_TRUE(isJson(info.out)) << info.out;
  EXPECT_TRUE(isJson(bench.out)) << bench.out;
  EXPECT_EQ(numberOf(bench.out, "copies"), 3);
  EXPECT_EQ(numberOf(bench.out, "copies_at_once"), 3);
  EXPECT_EQ(numberOf(bench.out, "batch"), 8);
  EXPECT_EQ(numberOf(bench.out, "steps"), 4);
  EXPECT_GT(numberOf(bench.out, "seconds"), 0);
  EXPECT_NEAR(numberOf(bench.out, "samples_per_second") *
                  numberOf(bench.out, "seconds"),
              3 * 8 * 4, 1e-6);
  EXPECT_GT(numberOf(bench.out, "peak_bytes"), 0);
  EXPECT_EQ(numberOf(bench.out, "peak_bytes"),
            numberOf(info.out, "peak_bytes"));
  EXPECT_NE(info.out.find(R"("plan":{"layers":[]})"), std::string::npos);
  // The job's settings consist of those that all copies share and those of each
  // copy.
  for (const char *text : {R"("micro_batches":1,"shuffle":true,"blocks")",
                           R"({"copy":0,"clip_norm":0.05,"hyper_parameters")",
                           R"({"copy":1,"clip_norm":"inf","hyper_parameters")"})
    EXPECT_NE(info.out.find(text), std::string::npos) << text << info.out;
}

TEST(Command, InfoPrintsBothSetsAndThePlan) {
  Outcome info = runBinary({"info", "--threads", "2"});
  ASSERT_EQ(info.code, 0);
  for (const char *text :
       {"trained: 45 a copy\n  first.weight  f32 6x5: by default\n",
        "frozen: 0 a copy\n", "  peak ", "backward.1",
        "all copies: weight_decay 0\n"})
    EXPECT_NE(info.out.find(text), std::string::npos) << text << info.out;
}

TEST(Command, EvalRepeatsTheTrainingsNumbers) {
  TemporaryFolder folder;
  writeData(folder.root);
  RunOptions options;
  options.folder = folder.root;
  Outcome train = runBinary(
      {"train", "--epochs", "3", "--checkpoint", "c", "--no-progress"},
      options);
  ASSERT_EQ(train.code, 0) << train.err;
  Outcome eval = runBinary({"eval", "--checkpoint", "c"}, options);
  ASSERT_EQ(eval.code, 0) << eval.err;
  EXPECT_EQ(eval.out.substr(eval.out.rfind("  ")),
            train.out.substr(train.out.rfind("  ")));
  EXPECT_EQ(eval.out.find("train loss"), std::string::npos);
  EXPECT_NE(runBinary({"eval"}, options).out, eval.out);
  Outcome step =
      runBinary({"eval", "--checkpoint", "c/step-00000018"}, options);
  EXPECT_EQ(step.out, eval.out);
  Outcome none = runBinary({"eval", "--checkpoint", "d"}, options);
  EXPECT_EQ(none.code, 1);
  EXPECT_EQ(none.err, "fake: error: checkpoint folder 'd' doesn't exist\n");
}

TEST(Command, ExportNeedsATemplate) {
  Outcome outcome = runBinary({"export", "--copy", "0", "-o", "x.onnx"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.err.find("fake: error: cannot write 'x.onnx': "), 0u);
}

//===----------------------------------------------------------------------===//
// run
//===----------------------------------------------------------------------===//

namespace {
class Run : public testing::Test {
protected:
  Run() { options.folder = folder.root; }

  void writeImages(const char *name, std::vector<int64_t> shape,
                   hfta_element_type type = HFTA_U8) {
    uint64_t bytes = 0;
    ASSERT_TRUE(hfta_shape_bytes(type, shape.data(), shape.size(), &bytes));
    std::string data(bytes, 0);
    for (size_t i = 0; i < data.size(); ++i)
      data[i] = static_cast<char>(i * 37);
    hfta_tensor_view view = {"",           type,        uint32_t(shape.size()),
                             shape.data(), data.data(), bytes};
    ASSERT_EQ(hfta_npy_write(folder.path(name).c_str(), &view, nullptr),
              HFTA_OK);
  }

  /// Checks the shape of the output file and returns its logits as raw bytes.
  std::string logits(const char *output, int64_t samples) {
    hfta_npy file;
    std::string path = folder.path(std::string(output) + "/net_logits_0.npy");
    EXPECT_EQ(hfta_npy_open(path.c_str(), &file, nullptr), HFTA_OK);
    EXPECT_EQ(file.header.rank, 2u);
    EXPECT_EQ(file.header.shape[0], samples);
    EXPECT_EQ(file.header.shape[1], FAKE_CLASSES);
    std::string bytes(static_cast<const char *>(file.data),
                      file.header.data_bytes);
    hfta_npy_close(&file);
    return bytes;
  }

  TemporaryFolder folder;
  RunOptions options;
};
} // namespace

TEST_F(Run, AnyNumberOfSamples) {
  writeImages("eight.npy", {8, FAKE_FEATURES});
  writeImages("many.npy", {21, 1, FAKE_FEATURES, 1});
  writeImages("one.npy", {1, FAKE_FEATURES});
  for (const char *name : {"eight", "many", "one"}) {
    Outcome outcome =
        runBinary({"run", "--input", std::string("image=") + name + ".npy",
                   "--output", name, "--copy", "1"},
                  options);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
  std::string many = logits("many", 21);
  EXPECT_EQ(logits("eight", 8), many.substr(0, 8 * 3 * 4));
  EXPECT_EQ(logits("one", 1), many.substr(0, 3 * 4));
  EXPECT_NE(many.substr(0, 12), many.substr(12, 12));
}

TEST_F(Run, CopiesDiffer) {
  writeImages("eight.npy", {8, FAKE_FEATURES});
  for (const char *copy : {"0", "2"})
    ASSERT_EQ(runBinary({"run", "--input", "image=eight.npy", "--output", copy,
                         "--copy", copy},
                        options)
                  .code,
              0);
  EXPECT_NE(logits("0", 8), logits("2", 8));
}

TEST_F(Run, TheModelsNamesOfInputs) {
  writeImages("eight.npy", {8, FAKE_FEATURES});
  for (const char *name : {"image", "pixels"})
    ASSERT_EQ(runBinary({"run", "--input", std::string(name) + "=eight.npy",
                         "--output", name},
                        options)
                  .code,
              0)
        << name;
  EXPECT_EQ(logits("pixels", 8), logits("image", 8));
}

TEST_F(Run, Misuse) {
  writeImages("eight.npy", {8, FAKE_FEATURES});
  writeImages("wide.npy", {8, 7});
  writeImages("real.npy", {8, FAKE_FEATURES}, HFTA_F32);
  writeImages("none.npy", {0, FAKE_FEATURES});
  const struct {
    std::vector<std::string> inputs;
    int code;
    const char *message;
  } cases[] = {
      {{}, 2, "input 'pixels' is not given: --input pixels=FILE.npy"},
      {{"image"}, 2, "option '--input': 'image' is not NAME=FILE.npy"},
      {{"label=eight.npy"},
       2,
       "'label=eight.npy': the model has no input of this name; its inputs "
       "are 'pixels' or 'image'"},
      {{"image=eight.npy", "image=eight.npy"},
       2,
       "input 'pixels' is given twice"},
      {{"image=eight.npy", "pixels=eight.npy"},
       2,
       "input 'pixels' is given twice"},
      {{"image=wide.npy"},
       1,
       "input 'pixels' has shape 8x6, but its file holds 8x7"},
      {{"image=real.npy"}, 1, "input 'pixels' is u8, but its file holds f32"},
      {{"image=none.npy"}, 1, "input 'pixels' holds no samples"},
  };
  for (const auto &misuse : cases) {
    std::vector<std::string> arguments = {"run", "--output", "o"};
    for (const std::string &input : misuse.inputs)
      arguments.insert(arguments.end(), {"--input", input});
    Outcome outcome = runBinary(arguments, options);
    EXPECT_EQ(outcome.code, misuse.code);
    EXPECT_EQ(outcome.err,
              std::string("fake: error: ") + misuse.message + "\n");
    EXPECT_FALSE(exists(folder.path("o")));
  }
  writeFile(folder.path("file"), "x");
  Outcome outcome = runBinary(
      {"run", "--input", "image=eight.npy", "--output", "file"}, options);
  EXPECT_EQ(outcome.code, 4);
  EXPECT_EQ(outcome.err,
            "fake: error: cannot make folder 'file': File exists\n");
}

//===----------------------------------------------------------------------===//
// Files that change while they are read
//===----------------------------------------------------------------------===//

namespace {
/// Returns the expected message about a file that was cut to nothing, having
/// had `bytes` bytes, or that was written to (0).
std::string changed(const std::string &path, size_t bytes) {
  return "fake: error: '" + path + "' was changed while it was read: " +
         (bytes == 0
              ? "it was written to\n"
              : "it had " + std::to_string(bytes) + " bytes, and has 0 now\n");
}

/// Sets a file's time far back, because the clocks of file systems are too
/// coarse to tell two writes within a test apart.
void makeOld(const std::string &path) {
  timespec times[2] = {{1, 0}, {1, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}
} // namespace

TEST_F(Run, ChangedArraysAreNamed) {
  std::vector<std::string> arguments = {"run", "--input", "image=image.npy",
                                        "--output", "out"};
  for (const char *how : {"cut", "write"}) {
    writeImages("image.npy", {2000, FAKE_FEATURES});
    makeOld(folder.path("image.npy"));
    size_t bytes = readFile(folder.path("image.npy")).size();
    options.change = std::string(how) + " 1 image.npy";
    Outcome outcome = runBinary(arguments, options);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.err, changed("image.npy", *how == 'c' ? bytes : 0));
    EXPECT_EQ(listFolder(folder.path("out")), std::vector<std::string>());
  }
}

TEST(Command, ChangedCheckpointsAreNamed) {
  TemporaryFolder folder;
  writeData(folder.root);
  RunOptions options;
  options.folder = folder.root;
  ASSERT_EQ(
      runBinary({"train", "--steps", "3", "--checkpoint", "c", "--no-progress"},
                options)
          .code,
      0);
  std::string name = "c/step-00000003/copy-0001.safetensors";
  std::string whole = readFile(folder.path(name));
  std::vector<std::vector<std::string>> commands = {
      {"eval", "--checkpoint", "c"},
      {"train", "--steps", "5", "--checkpoint", "c", "--resume",
       "--no-progress"}};
  // A checkpoint's file is mapped once to be checked, and again to be copied.
  for (const auto &command : commands)
    for (const char *how : {"cut 1 ", "cut 2 ", "write 1 ", "write 2 "}) {
      writeFile(folder.path(name), whole);
      makeOld(folder.path(name));
      options.change = how + name;
      Outcome outcome = runBinary(command, options);
      EXPECT_EQ(outcome.code, 1) << how;
      EXPECT_EQ(outcome.err, changed(name, *how == 'c' ? whole.size() : 0))
          << how;
      EXPECT_EQ(listFolder(folder.path("c")),
                std::vector<std::string>{"step-00000003"});
    }
}
