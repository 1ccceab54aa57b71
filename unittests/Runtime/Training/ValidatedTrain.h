//===- ValidatedTrain.h - Trainings that go by their scores -----*- C++ -*-===//

#ifndef HFTA_UNITTESTS_RUNTIME_TRAINING_VALIDATEDTRAIN_H
#define HFTA_UNITTESTS_RUNTIME_TRAINING_VALIDATEDTRAIN_H

#include "RuntimeTest.h"
#include "hfta/trainer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <regex>
#include <sstream>

/// Trainings of the fake program with 42 training samples, so with 5 steps an
/// epoch, which go by the accuracy on 11 samples.
class ValidatedTrain : public Train {
protected:
  static constexpr int kPerEpoch = 5, kEpochs = 12;
  const std::string validation = "validation_percent=20 by_metric ";

  Outcome runWith(const std::string &more, std::vector<std::string> arguments) {
    RunOptions options;
    options.fake = validation + more;
    return run(std::move(arguments), options);
  }

  /// Returns the options of a program that is validated in the same way.
  static fake_options validatedOptions() {
    fake_options fake = defaultOptions();
    fake.validation.share = 0.2;
    fake.validation.by_metric = 1;
    fake.validation.direction = HFTA_MAXIMIZE;
    return fake;
  }

  /// Trains in this process, and stops when the trainer has asked `stop` times
  /// whether to.
  void trainUntil(const fake_options &fake, const std::string &checkpoint,
                  int stop) {
    ProgramPointer program = makeProgram(fake);
    InstancePointer instance = makeInstance(program.get());
    hfta_train_options train = {};
    hfta_train_result result;
    std::string path = folder.path(checkpoint);
    train.data_root = data.root.c_str();
    train.epochs = kEpochs;
    train.checkpoint = path.c_str();
    train.should_stop_argument = &stop;
    train.should_stop = [](void *argument) {
      return --*static_cast<int *>(argument) <= 0;
    };
    ASSERT_EQ(hfta_train(instance.get(), &train, &result), HFTA_OK)
        << hfta_instance_message(instance.get());
    EXPECT_EQ(hfta_instance_live_count(instance.get()), 3);
    hfta_train_result_free(&result);
  }

  /// Returns the values of a list in each epoch event of a log; NaN for null.
  std::vector<std::vector<double>> listsOf(const std::string &log,
                                           const std::string &key) {
    std::vector<std::vector<double>> lists;
    for (const std::string &line : events(log)) {
      std::smatch match;
      std::regex list("\"" + key + "\":\\[([^\\]]*)\\]");
      if (!std::regex_search(line, match, list))
        continue;
      std::istringstream items(match[1]);
      lists.emplace_back();
      for (std::string item; std::getline(items, item, ',');)
        lists.back().push_back(item == "null" ? NAN : std::stod(item));
    }
    return lists;
  }

  /// Returns the bytes of a copy's tensors in a checkpoint.
  std::string tensorsOf(const std::string &checkpoint, int copy) {
    std::string file = copyFile(checkpoint, copy);
    uint64_t header = 0;
    EXPECT_GT(file.size(), sizeof(header));
    memcpy(&header, file.data(), sizeof(header));
    return file.substr(sizeof(header) + header);
  }

  static std::string nameOf(const std::string &folder, int step) {
    char name[32];
    snprintf(name, sizeof(name), "/step-%08d", step);
    return folder + name;
  }

  /// Returns the lines of a log without start events.
  std::vector<std::string> withoutStarts(const std::string &log) {
    std::vector<std::string> lines = events(log);
    lines.erase(std::remove_if(lines.begin(), lines.end(),
                               [](const std::string &line) {
                                 return line.find("\"start\"") !=
                                        std::string::npos;
                               }),
                lines.end());
    return lines;
  }
};

#endif // HFTA_UNITTESTS_RUNTIME_TRAINING_VALIDATEDTRAIN_H
