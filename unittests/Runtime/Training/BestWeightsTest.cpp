//===- BestWeightsTest.cpp - Trainings that keep the best weights ---------===//

#include "ValidatedTrain.h"

extern "C" {
#include "hfta/npy.h"
#include "hfta/safetensors.h"
}

#include <map>

namespace {

class BestWeights : public ValidatedTrain {
protected:
  /// Returns the bytes of a file's parameters by their names.
  std::map<std::string, std::string> weightsOf(const std::string &checkpoint,
                                               const std::string &file) {
    std::map<std::string, std::string> weights;
    std::string path = folder.path(checkpoint + "/" + file + ".safetensors");
    hfta_safetensors *tensors = nullptr;
    hfta_error error;
    EXPECT_EQ(hfta_safetensors_open(path.c_str(), &tensors, &error), HFTA_OK)
        << error.message;
    for (const char *name : {"first.weight", "second.weight"}) {
      const hfta_tensor_view *view =
          tensors ? hfta_safetensors_find(tensors, name) : nullptr;
      if (view)
        weights[name].assign(static_cast<const char *>(view->data),
                             view->bytes);
    }
    EXPECT_EQ(weights.size(), 2u) << path;
    hfta_safetensors_close(tensors);
    return weights;
  }

  static std::string number(const char *name, int copy) {
    return name + std::string("-000") + std::to_string(copy);
  }

  /// Trains without best weights, with a checkpoint after each epoch, and
  /// returns the step of each copy's best evaluation.
  std::vector<int> findBest() {
    EXPECT_EQ(runWith("", {"--epochs", "12", "--log", "free.log",
                           "--checkpoint", "free", "--every", "5"})
                  .code,
              0);
    std::vector<std::vector<double>> scores =
        listsOf("free.log", "validation_accuracy");
    EXPECT_EQ(scores.size(), size_t(kEpochs));
    std::vector<int> best(3, 0);
    for (int copy = 0; copy < 3; ++copy)
      for (int epoch = 1; epoch <= kEpochs; ++epoch)
        if (best[copy] == 0 ||
            scores[epoch - 1][copy] > scores[best[copy] / kPerEpoch - 1][copy])
          best[copy] = epoch * kPerEpoch;
    return best;
  }

  Outcome command(const std::string &fake, std::vector<std::string> arguments,
                  const std::string &checkpoint) {
    RunOptions options;
    options.fake = validation + fake;
    options.folder = folder.root;
    arguments.insert(arguments.end(), {"--checkpoint", checkpoint});
    if (arguments[0] == "eval")
      arguments.insert(arguments.end(), {"--data", data.root});
    return runBinary(arguments, options);
  }

  /// Expects that two checkpoints have the same files, but for the seconds that
  /// training took.
  void expectSame(const std::string &one, const std::string &two) {
    std::vector<std::string> files = listFolder(folder.path(one));
    EXPECT_EQ(files, listFolder(folder.path(two)));
    for (const std::string &file : files)
      if (file != "training.safetensors")
        EXPECT_TRUE(readFile(folder.path(one + "/" + file)) ==
                    readFile(folder.path(two + "/" + file)))
            << one << " " << file;
  }

  /// Returns a row of a table, as its words.
  static std::vector<std::string> wordsOf(const Outcome &outcome, int row) {
    std::istringstream line(linesOf(outcome.out).at(row));
    std::vector<std::string> words;
    for (std::string word; line >> word;)
      words.push_back(word);
    return words;
  }
};

} // namespace

TEST_F(BestWeights, EachCopyEndsWithItsBestWeights) {
  std::vector<int> best = findBest();
  EXPECT_TRUE(best[0] != best[1] || best[1] != best[2])
      << "all copies are best after the same epoch";
  EXPECT_LT(*std::min_element(best.begin(), best.end()), 60);
  Outcome outcome = runWith(
      "keeps_best", {"--epochs", "12", "--log", "log", "--checkpoint", "c"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(listFolder(folder.path("c")),
            std::vector<std::string>{"step-00000060"});
  EXPECT_TRUE(std::regex_search(
      outcome.out,
      std::regex("^copy  lr  .*train loss  best step  validation loss  "
                 "validation accuracy  test loss  test accuracy\n")))
      << outcome.out;
  std::vector<std::vector<double>> steps = listsOf("log", "best_step"),
                                   tested = listsOf("log", "eval_loss");
  ASSERT_EQ(steps.size(), 1u);
  Outcome evaluated = command("keeps_best", {"eval"}, "c"),
          validated = command("keeps_best", {"eval", "--validation"}, "c");
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  for (int copy = 0; copy < 3; ++copy) {
    // The training itself is that of a job without best weights.
    EXPECT_EQ(tensorsOf("c/step-00000060", copy),
              tensorsOf("free/step-00000060", copy));
    EXPECT_EQ(weightsOf("c/step-00000060", number("best", copy)),
              weightsOf(nameOf("free", best[copy]), number("copy", copy)));
    EXPECT_EQ(steps[0][copy], best[copy]);
    Outcome expected = command("", {"eval"}, nameOf("free", best[copy]));
    std::vector<std::string> row = wordsOf(expected, copy + 1),
                             got = wordsOf(evaluated, copy + 1),
                             shown = wordsOf(outcome, copy + 1),
                             other = wordsOf(validated, copy + 1);
    const std::vector<std::string> last(row.end() - 3, row.end());
    EXPECT_EQ(std::vector<std::string>(got.end() - 3, got.end()), last);
    EXPECT_EQ(std::vector<std::string>(shown.end() - 3, shown.end()), last);
    EXPECT_EQ(got[got.size() - 4], std::to_string(best[copy]));
    EXPECT_EQ(shown[shown.size() - 7], std::to_string(best[copy]));
    EXPECT_EQ(std::vector<std::string>(other.end() - 3, other.end()),
              std::vector<std::string>(shown.end() - 6, shown.end() - 3));
  }
  EXPECT_EQ(listsOf("log", "train_loss"), listsOf("free.log", "train_loss"));
  EXPECT_EQ(listsOf("log", "validation_loss"),
            listsOf("free.log", "validation_loss"));
}

TEST_F(BestWeights, CommandsAboutOneCopyTakeThem) {
  std::vector<int> best = findBest();
  ASSERT_EQ(runWith("keeps_best", {"--epochs", "12", "--checkpoint", "c"}).code,
            0);
  const int64_t shape[] = {8, FAKE_FEATURES};
  std::string images(8 * FAKE_FEATURES, 0);
  for (size_t i = 0; i < images.size(); ++i)
    images[i] = static_cast<char>(i * 37);
  hfta_tensor_view view = {"", HFTA_U8, 2, shape, images.data(), images.size()};
  ASSERT_EQ(hfta_npy_write(folder.path("x.npy").c_str(), &view, nullptr),
            HFTA_OK);
  auto apply = [&](const std::string &fake, const std::string &checkpoint,
                   int copy, const std::string &message) {
    Outcome outcome = command(fake,
                              {"run", "--input", "image=x.npy", "--output",
                               "out", "--copy", std::to_string(copy)},
                              checkpoint);
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.err, message);
    return readFile(folder.path("out/net_logits_0.npy"));
  };
  for (int copy = 0; copy < 3; ++copy) {
    std::string message = "fake: copy " + std::to_string(copy) +
                          " has its best weights, those of step " +
                          std::to_string(best[copy]) + "\n";
    EXPECT_TRUE(apply("keeps_best", "c", copy, message) ==
                apply("", nameOf("free", best[copy]), copy, ""))
        << copy;
    // A program that doesn't keep best weights takes the last ones.
    EXPECT_TRUE(apply("", "c", copy, "") == apply("", "free", copy, ""))
        << copy;
  }
}

TEST_F(BestWeights, ResumedTrainingsKeepTheSame) {
  for (const std::string &more :
       std::vector<std::string>{"", " patience=2", " validation_every=2"}) {
    std::string fake = "keeps_best" + more, whole = "whole" + more.substr(0, 5);
    Outcome expected =
        runWith(fake, {"--epochs", "12", "--checkpoint", whole, "--log",
                       whole + ".log", "--log-every", "1"});
    ASSERT_EQ(expected.code, 0) << expected.err;
    std::string final = listFolder(folder.path(whole))[0];
    for (const char *first : {"3", "5", "12", "20", "31"}) {
      std::string name = whole + first;
      ASSERT_EQ(runWith(fake, {"--steps", first, "--checkpoint", name, "--log",
                               name + ".log", "--log-every", "1"})
                    .code,
                0);
      std::vector<std::string> more = {
          "--epochs", "12", "--checkpoint", name,          "--resume",
          "--keep",   "1",  "--log",        name + ".log", "--log-every",
          "1"};
      Outcome outcome = runWith(fake, more);
      ASSERT_EQ(outcome.code, 0) << outcome.err;
      EXPECT_EQ(outcome.out, expected.out);
      EXPECT_EQ(listFolder(folder.path(name)), std::vector<std::string>{final});
      expectSame(name + "/" + final, whole + "/" + final);
      // A run that ends with an epoch logs more about it.
      EXPECT_TRUE(std::stoi(first) % kPerEpoch == 0 ||
                  withoutStarts(name + ".log") == withoutStarts(whole + ".log"))
          << name;
      // There is nothing left to do, and the results are the same.
      outcome = runWith(fake, more);
      EXPECT_EQ(outcome.out, expected.out);
      expectSame(name + "/" + final, whole + "/" + final);
    }
  }
}

TEST_F(BestWeights, InterruptedEvaluationsAreMadeUp) {
  ASSERT_EQ(runWith("keeps_best", {"--epochs", "12", "--checkpoint", "c"}).code,
            0);
  for (int stop : {5, 6, 7, 13, 14, 20, 82, 83, 84, 85, 86, 87, 88, 89}) {
    std::string name = "stop" + std::to_string(stop);
    fake_options fake = validatedOptions();
    fake.validation.keeps_best = 1;
    trainUntil(fake, name, stop);
    std::vector<std::string> resume = {
        "--epochs", "12", "--checkpoint", name, "--resume", "--keep", "1"};
    ASSERT_EQ(runWith("keeps_best", resume).code, 0);
    expectSame(name + "/step-00000060", "c/step-00000060");
  }
}

TEST_F(BestWeights, ACopyOfNanKeepsItsLastWeights) {
  for (const char *by : {"", " by_metric"}) {
    RunOptions options;
    options.fake =
        std::string("validation_percent=20 diverging keeps_best") + by;
    std::string name = std::string("c") + (*by ? "m" : "l");
    Outcome outcome = run({"--epochs", "3", "--checkpoint", name}, options);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(listFolder(folder.path(name + "/step-00000015")),
              (std::vector<std::string>{
                  "best-0000.safetensors", "best-0002.safetensors",
                  "copy-0000.safetensors", "copy-0001.safetensors",
                  "copy-0002.safetensors", "training.safetensors"}));
    std::vector<std::string> row = wordsOf(outcome, 2);
    EXPECT_EQ(row[row.size() - 7], "-") << outcome.out;
    options.folder = folder.root;
    Outcome evaluated =
        runBinary({"eval", "--checkpoint", name, "--data", data.root}, options);
    EXPECT_EQ(evaluated.code, 0) << evaluated.err;
    Outcome shown = runBinary({"train", "--data", data.root, "--epochs", "3",
                               "--checkpoint", name, "--resume"},
                              options);
    EXPECT_NE(shown.err.find("keeps each copy's best weights, by its "
                             "validation " +
                             std::string(*by ? "accuracy" : "loss") + "\n"),
              std::string::npos)
        << shown.err;
    EXPECT_NE(shown.err.find("copies without a finite score, whose results "
                             "are those of their last weights: 1\n"),
              std::string::npos)
        << shown.err;
  }
}

TEST_F(BestWeights, CopiesThatTakeTurnsKeepTheSame) {
  std::vector<std::string> expected;
  for (int64_t spilled : {-1, 0, 1, 2}) {
    fake_options fake = validatedOptions();
    fake.takes_turns = spilled >= 0;
    fake.spilled_copies = spilled > 0 ? spilled : 0;
    fake.validation.keeps_best = 1;
    ProgramPointer program = makeProgram(fake);
    InstancePointer instance = makeInstance(program.get());
    hfta_train_options train = {};
    hfta_train_result result;
    train.data_root = data.root.c_str();
    train.epochs = kEpochs;
    ASSERT_EQ(hfta_train(instance.get(), &train, &result), HFTA_OK)
        << hfta_instance_message(instance.get());
    std::vector<std::string> states;
    for (int copy = 0; copy < 3; ++copy) {
      states.push_back(stateOf(instance.get(), copy));
      states.push_back(std::to_string(result.best_steps[copy]));
      states.push_back(std::to_string(result.eval_losses[copy]));
      states.push_back(std::to_string(result.best_losses[copy]));
    }
    hfta_train_result_free(&result);
    if (expected.empty())
      expected = states;
    EXPECT_EQ(states, expected) << spilled;
  }
}

TEST_F(BestWeights, CopiesThatDoNotRunKeepTheirs) {
  ASSERT_EQ(runWith("keeps_best", {"--epochs", "4", "--checkpoint", "c"}).code,
            0);
  Outcome outcome = runWith("keeps_best", {"--epochs", "12", "--checkpoint",
                                           "c", "--resume", "--only", "1"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(wordsOf(outcome, 1).back(), "-");
  std::vector<int> best = findBest();
  EXPECT_EQ(weightsOf("c/step-00000060", "best-0001"),
            weightsOf(nameOf("free", best[1]), "copy-0001"));
  for (int copy : {0, 2})
    EXPECT_EQ(weightsOf("c/step-00000060", number("best", copy)),
              weightsOf("c/step-00000020", number("best", copy)));
}

TEST_F(BestWeights, DamagedFilesAreNamed) {
  const std::string best = "c/step-00000015/best-0001.safetensors";
  ASSERT_EQ(runWith("keeps_best", {"--epochs", "3", "--checkpoint", "c"}).code,
            0);
  const std::string whole = readFile(folder.path(best));
  const std::string other =
      readFile(folder.path("c/step-00000015/best-0000.safetensors"));
  const std::string last =
      readFile(folder.path("c/step-00000015/copy-0001.safetensors"));
  std::string flipped = whole;
  flipped.back() = static_cast<char>(flipped.back() ^ 1);
  const struct {
    std::string bytes, text;
  } rows[] = {{"", "best-0001.safetensors' is no whole safetensors file"},
              {whole.substr(0, whole.size() - 4), "best-0001.safetensors'"},
              {flipped, "best-0001.safetensors' is damaged"},
              {last, "best-0001.safetensors' doesn't hold best weights"}};
  auto expectRefused = [&](const std::string &text) {
    for (const Outcome &outcome :
         {command("keeps_best", {"eval"}, "c"),
          command("keeps_best", {"export", "--copy", "0", "-o", "x.onnx"}, "c"),
          runWith("keeps_best",
                  {"--epochs", "4", "--checkpoint", "c", "--resume"})}) {
      EXPECT_EQ(outcome.code, 1);
      EXPECT_NE(outcome.err.find(text), std::string::npos)
          << outcome.err << text;
    }
  };
  for (const auto &row : rows) {
    writeFile(folder.path(best), row.bytes);
    expectRefused(row.text);
  }
  removeAll(folder.path(best));
  expectRefused("checkpoint 'c/step-00000015' is incomplete: "
                "best-0001.safetensors is missing");
  writeFile(folder.path(best), whole);
  removeAll(folder.path("c/step-00000015/training.safetensors"));
  Outcome outcome =
      runWith("keeps_best", {"--epochs", "4", "--checkpoint", "c", "--resume"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err,
            "fake: error: 'c/step-00000015/training.safetensors' is missing, "
            "or doesn't belong to best-0000.safetensors\n");
}

TEST_F(BestWeights, GoesOnFromOtherTrainings) {
  ASSERT_EQ(runWith("patience=9", {"--epochs", "3", "--checkpoint", "c"}).code,
            0);
  Outcome outcome =
      runWith("keeps_best", {"--epochs", "4", "--checkpoint", "c", "--resume"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find(
                "'c/step-00000015' was saved by a training without 'keep "
                "best': the best weights of copy 0, those of step "),
            std::string::npos)
      << outcome.err;
  // Without scores, the best ones are those from now on.
  ASSERT_EQ(runWith("", {"--epochs", "3", "--checkpoint", "d"}).code, 0);
  Outcome last = command("", {"eval"}, "d");
  EXPECT_EQ(command("keeps_best", {"eval"}, "d").out, last.out);
  EXPECT_EQ(
      runWith("keeps_best", {"--epochs", "4", "--checkpoint", "d", "--resume"})
          .code,
      0);
  EXPECT_TRUE(exists(folder.path("d/step-00000020/best-0002.safetensors")));
  EXPECT_EQ(
      runWith("", {"--epochs", "5", "--checkpoint", "d", "--resume"}).code, 0);
  EXPECT_FALSE(exists(folder.path("d/step-00000025/best-0002.safetensors")));
}

TEST_F(BestWeights, RefusesWhatItCannotDo) {
  RunOptions options;
  options.fake = "keeps_best";
  Outcome outcome = run({"--epochs", "2"}, options);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err, "fake: error: keep best needs validation data, which "
                         "'fake' doesn't have\n");
  fake_options fake = validatedOptions();
  fake.validation.keeps_best = 1;
  ProgramPointer program = makeProgram(fake);
  for (uint32_t i = 0; i < program->tensor_count; ++i)
    if (std::string(program->tensors[i].name) == "second.weight.momentum")
      const_cast<hfta_tensor &>(program->tensors[i]).flags |=
          HFTA_TENSOR_SHARED | HFTA_TENSOR_EXPORT;
  InstancePointer instance = makeInstance(program.get());
  hfta_train_options train = {};
  hfta_train_result result;
  train.data_root = data.root.c_str();
  train.epochs = 2;
  EXPECT_EQ(hfta_train(instance.get(), &train, &result), HFTA_UNSUPPORTED);
  EXPECT_STREQ(hfta_instance_message(instance.get()),
               "'fake' can't keep the best weights of each copy, as all copies "
               "share 'second.weight.momentum', which training changes");
  hfta_train_result_free(&result);
}

TEST_F(BestWeights, InfoDescribesThem) {
  RunOptions options;
  options.fake = validation + "keeps_best";
  Outcome outcome = runBinary({"info"}, options);
  EXPECT_NE(outcome.out.find("\nkeeps each copy's best weights, by its "
                             "validation accuracy, in 0.0 MiB of the host's "
                             "memory\n"),
            std::string::npos)
      << outcome.out;
}
