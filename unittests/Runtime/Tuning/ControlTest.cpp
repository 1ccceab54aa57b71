//===- ControlTest.cpp - Requests to a running search ---------------------===//

#include "TuningTest.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <sstream>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

namespace {

/// A client of a search, in the same process.
class Client {
public:
  explicit Client(const std::string &path) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT_EQ(connect(descriptor, reinterpret_cast<sockaddr *>(&address),
                      sizeof(address)),
              0);
  }
  ~Client() { close(descriptor); }

  void send(const std::string &line) {
    std::string text = line + "\n";
    EXPECT_EQ(write(descriptor, text.data(), text.size()),
              static_cast<ssize_t>(text.size()));
  }

  /// Reads what is there, and returns the answers among it.
  std::vector<std::string> readAnswers() {
    char buffer[4096];
    ssize_t count;
    while ((count = recv(descriptor, buffer, sizeof(buffer), MSG_DONTWAIT)) > 0)
      text.append(buffer, static_cast<size_t>(count));
    size_t end = text.rfind('\n') + 1;
    std::vector<std::string> answers;
    for (const std::string &line : linesOf(text.substr(0, end)))
      if (line.find("\"ok\":") != std::string::npos)
        answers.push_back(line);
      else
        events.push_back(line);
    text.erase(0, end);
    return answers;
  }

  std::vector<std::string> events;

private:
  int descriptor;
  std::string text;
};

} // namespace

/// Sends lines after some questions, and collects the answers.
class Control : public Tuning {
protected:
  SearchOutcome searchAnd(const SearchOptions &options,
                          const std::function<void(Client &, int64_t)> &then) {
    std::unique_ptr<Client> client;
    SearchRun run;
    run.folder = folder.path("search");
    run.control = folder.path("socket");
    run.then = [&](int64_t number) {
      if (!client)
        client = std::make_unique<Client>(run.control);
      for (std::string &answer : client->readAnswers())
        answers.push_back(std::move(answer));
      then(*client, number);
    };
    SearchOutcome outcome = search(options, run);
    for (std::string &answer : client->readAnswers())
      answers.push_back(std::move(answer));
    events = client->events;
    EXPECT_FALSE(exists(run.control));
    return outcome;
  }

  /// Returns whether there is an answer with this id and text.
  bool answered(int id, const std::string &text) const {
    std::string begin = "{\"id\":" + std::to_string(id) + ",";
    for (const std::string &answer : answers)
      if (answer.rfind(begin, 0) == 0)
        return answer.find(text) != std::string::npos;
    return false;
  }

  /// Expects that each trial with a file becomes the same alone, and that the
  /// journal leads to where the search is.
  void expectJournalIsTrue(const SearchOptions &options,
                           const SearchOutcome &outcome) {
    auto saved = files(folder.path("search"));
    std::string journal = readFile(folder.path("search/search.jsonl"));
    for (size_t trial = 0; trial < outcome.scores.size(); ++trial) {
      char name[32];
      snprintf(name, sizeof(name), "trial-%04zu.step", trial);
      auto found = saved.lower_bound(name);
      if (found == saved.end() || found->first.rfind(name, 0) != 0)
        continue;
      hfta_replay_result result =
          replay(options, folder.path("search"), static_cast<int64_t>(trial));
      EXPECT_EQ(result.different_epoch, 0) << "trial " << trial;
      EXPECT_TRUE(result.is_equal || !result.has_file) << "trial " << trial;
    }
    SearchRun again;
    again.folder = folder.path("search");
    again.resume = true;
    SearchOutcome second = search(options, again);
    ASSERT_EQ(second.status, HFTA_OK) << second.message;
    EXPECT_EQ(second.trainedSteps, 0);
    EXPECT_EQ(second.best, outcome.best);
    EXPECT_EQ(readFile(folder.path("search/search.jsonl")), journal);
    EXPECT_EQ(files(folder.path("search")), saved);
  }

  std::vector<std::string> answers, events;
};

TEST_F(Control, FollowsRequests) {
  SearchOptions options;
  options.trials = 5;
  options.rule.kind = HFTA_RULE_NONE;
  options.epochs = 4;
  SearchOutcome outcome = searchAnd(options, [](Client &client,
                                                int64_t number) {
    if (number == 0) {
      client.send(R"({"id":1,"command":"hold"})");
      client.send(R"({"id":2,"command":"status"})");
      client.send(R"({"id":3,"command":"stop","trials":[1]})");
      client.send(R"({"id":4,"command":"pause","trials":[2,4]})");
      client.send(R"({"id":5,"command":"set","trials":[0],"set":{"lr":1}})");
      client.send(R"({"id":6,"command":"clone","trial":0,"set":{"lr":0.5}})");
      client.send(R"({"id":7,"command":"clone","trial":0,"warm":false,)"
                  R"("set":{"seed":7}})");
      client.send(R"({"id":8,"command":"save"})");
    }
    if (number == 60) {
      client.send(R"({"id":9,"command":"resume","trials":[2,4]})");
      client.send(R"({"id":10,"command":"more","count":2})");
      client.send(R"({"id":11,"command":"add","settings":)"
                  R"([{"lr":0.1,"seed":1},{"lr":0.2,"seed":2}]})");
    }
    if (number == 150) {
      client.send(R"({"id":13,"command":"clone","trial":3,"set":{"lr":0.5}})");
      client.send(R"({"id":12,"command":"end"})");
    }
  });
  ASSERT_EQ(outcome.status, HFTA_OK) << outcome.message;
  for (int id = 1; id <= 12; ++id)
    EXPECT_TRUE(answered(id, "\"ok\":true")) << id;
  EXPECT_TRUE(answered(13, "trial 3 has done all 4 epochs"));
  EXPECT_TRUE(answered(6, "\"trials\":[5]"));
  EXPECT_TRUE(answered(7, "\"trials\":[6]"));
  EXPECT_TRUE(answered(10, "\"trials\":[7,8]"));
  EXPECT_TRUE(answered(11, "\"trials\":[9,10]"));
  ASSERT_EQ(outcome.scores.size(), 11u);
  EXPECT_FALSE(events.empty());
  expectJournalIsTrue(options, outcome);
}

TEST_F(Control, RefusesWhatCantBeFollowed) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"", "expected an object"},
      {"{", "malformed JSON"},
      {"[]", "expected an object"},
      {"{} {}", "malformed JSON"},
      {R"({"id":0})", "'command' is missing, expected one of: status, add"},
      {R"({"id":0,"command":"stpo"})", "no command 'stpo'"},
      {R"({"id":0,"command":7})", "'command': expected a word"},
      {R"({"id":0,"command":"stop"})", "'stop' needs 'trials'"},
      {R"({"id":0,"command":"stop","trials":[]})", "at least one number"},
      {R"({"id":0,"command":"stop","trials":[-1]})", "numbers of trials"},
      {R"({"id":0,"command":"stop","trials":[99]})", "there is no trial 99"},
      {R"({"id":0,"command":"stop","trials":[0,0]})", "trial 0 is there twice"},
      {R"({"id":0,"command":"stop","trials":"all"})", "a list of numbers"},
      {R"({"id":0,"command":"stop","trials":[0],"now":true})",
       "'stop' has no field 'now'"},
      {R"({"id":0,"command":"stop","who":[0]})", "no field 'who'"},
      {R"({"id":0,"id":1,"command":"status"})", "'id' is there twice"},
      {R"({"id":{},"command":"status"})", "'id': expected"},
      {R"({"id":0,"command":"resume","trials":[0]})", "isn't paused"},
      {R"({"id":0,"command":"set","trials":[0],"set":{"rate":1}})",
       "no setting 'rate', expected one of: lr, seed"},
      {R"({"id":0,"command":"set","trials":[0],"set":{"lr":2}})",
       "'lr': expected a number from 0.01 to 1, got 2"},
      {R"({"id":0,"command":"set","trials":[0],"set":{"seed":1.5}})",
       "'seed': expected a whole number from 1 to 50"},
      {R"({"id":0,"command":"set","trials":[0],"set":{"lr":"big"}})",
       "'lr': expected a number"},
      {R"({"id":0,"command":"set","trials":[0],"set":{}})", "changes nothing"},
      {R"({"id":0,"command":"clone","trial":0,"set":{}})", "changes nothing"},
      {R"({"id":0,"command":"add","settings":[{"lr":0.1}]})",
       "'seed' is missing in number 0"},
      {R"({"id":0,"command":"add","settings":[]})", "at least one object"},
      {R"({"id":0,"command":"more","count":0})", "at least 1"},
      {R"({"id":0,"command":"ask"})", "'ask' needs 'count'"},
      {R"({"id":0,"command":"tell","trial":0,"at":1})", "'tell' needs 'score'"},
      {R"({"id":0,"command":"tell","trial":0,"at":0,"score":1})",
       "'at': expected a whole number of epochs"},
      {R"({"id":0,"command":"tell","trial":0,"at":1,"score":"good"})",
       "'score': expected a number"},
      {R"({"id":0,"command":"tell","trial":0,"at":1,"score":1})",
       "the search finds its scores itself"},
      {R"({"id":0,"command":"end","now":1})", "true or false"}};
  SearchOptions options;
  options.trials = 3;
  options.rule.kind = HFTA_RULE_NONE;
  options.epochs = 2;
  const std::string hold = R"({"id":1000,"command":"hold"})",
                    end = R"({"id":1001,"command":"end"})";
  std::thread writer;
  SearchOutcome outcome =
      searchAnd(options, [&](Client &client, int64_t number) {
        if (number > 0)
          return;
        client.send(hold);
        for (const auto &row : rows)
          client.send(row.first);
        // The search reads between epochs, so that a long line takes a while.
        writer = std::thread(
            [&] { client.send(std::string(2000000, 'x') + "\n" + end); });
      });
  writer.join();
  ASSERT_EQ(outcome.status, HFTA_OK) << outcome.message;
  ASSERT_EQ(answers.size(), rows.size() + 3);
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::string &answer = answers[i + 1];
    EXPECT_NE(answer.find("\"ok\":false"), std::string::npos) << i;
    EXPECT_NE(answer.find(rows[i].second), std::string::npos)
        << rows[i].first << " gives " << answer;
  }
  EXPECT_NE(answers[rows.size() + 1].find("a line has at most"),
            std::string::npos);
  EXPECT_TRUE(answered(1001, "\"ok\":true"));
  EXPECT_EQ(outcome.scores.size(), 3u);
  expectJournalIsTrue(options, outcome);
}

TEST_F(Control, FollowsManyRandomRequestsOfTwoClients) {
  for (uint32_t rule : {HFTA_RULE_NONE, HFTA_RULE_HALVING, HFTA_RULE_PERCENTILE,
                        HFTA_RULE_ASHA, HFTA_RULE_POPULATION}) {
    SCOPED_TRACE("rule " + std::to_string(rule));
    SearchOptions options;
    options.rule.kind = rule;
    options.epochs = 6;
    options.diverges = true;
    std::mt19937 random(rule);
    auto draw = [&](int below) {
      return std::to_string(random() % static_cast<unsigned>(below));
    };
    int sent = 0;
    std::unique_ptr<Client> second;
    SearchOutcome outcome = searchAnd(options, [&](Client &first, int64_t) {
      if (!second)
        second = std::make_unique<Client>(folder.path("socket"));
      for (std::string &answer : second->readAnswers())
        answers.push_back(std::move(answer));
      Client &client = random() % 2 ? first : *second;
      if (sent == 0)
        client.send(R"({"command":"hold"})");
      if (sent == 100)
        client.send(R"({"command":"end"})");
      if (sent++ >= 100)
        return;
      static const char *const words[] = {"stop", "pause", "resume"};
      std::string trials = "[" + draw(14) + "]";
      std::string set =
          R"("set":{"lr":0.)" + draw(9) + "5,\"seed\":" + draw(60) + "}";
      switch (random() % 8) {
      case 0:
      case 1:
      case 2:
        client.send(R"({"command":")" + std::string(words[random() % 3]) +
                    R"(","trials":)" + trials + "}");
        break;
      case 3:
        client.send(R"({"command":"set","trials":)" + trials + "," + set + "}");
        break;
      case 4:
        client.send(R"({"command":"clone","trial":)" + draw(14) + "," + set +
                    "}");
        break;
      case 5:
        client.send(R"({"command":"status"})");
        break;
      case 6:
        client.send(R"({"command":"add","settings":[{"lr":0.)" + draw(9) +
                    R"(5,"seed":3}]})");
        break;
      default:
        // Paused trials come back, so that the search can end.
        for (int trial = 0; trial < 14; ++trial)
          client.send(R"({"command":"resume","trials":[)" +
                      std::to_string(trial) + "]}");
      }
    });
    EXPECT_EQ(outcome.status, HFTA_OK) << outcome.message;
    EXPECT_GT(answers.size(), 100u);
    expectJournalIsTrue(options, outcome);
    removeAll(folder.path("search"));
    answers.clear();
  }
}

/// A score from outside, which no loss leads to.
static double outsideScore(int trial, int epoch) {
  return trial == 4 ? NAN : trial * 3 % 5 + epoch / 100.0;
}

TEST_F(Control, TakesSettingsAndScoresFromOutside) {
  SearchOptions options;
  options.trials = 5;
  options.epochs = 4;
  options.rule.eta = 2;
  options.sampler.kind = HFTA_SAMPLER_EXTERNAL;
  options.validation.is_external = 1;
  options.validation.direction = options.rule.direction = HFTA_MAXIMIZE;
  size_t seen = 0;
  std::vector<std::pair<int, int>> told;
  SearchOutcome outcome = searchAnd(options, [&](Client &client,
                                                 int64_t number) {
    if (number == 0) {
      client.send(R"({"id":1,"command":"add","settings":)"
                  R"([{"lr":0.1,"seed":1},{"lr":0.2,"seed":2}]})");
      client.send(R"({"id":2,"command":"more","count":1})");
      client.send(R"({"id":3,"command":"ask","count":1})");
      client.send(R"({"id":4,"command":"tell","trial":0,"at":1,"score":1})");
      client.send(R"({"id":5,"command":"add","settings":)"
                  R"([{"lr":0.3,"seed":1},{"lr":0.4,"seed":2},)"
                  R"({"lr":0.5,"seed":1},{"lr":0.6,"seed":2}]})");
      client.send(R"({"id":6,"command":"add","settings":)"
                  R"([{"lr":0.3,"seed":1},{"lr":0.4,"seed":2},)"
                  R"({"lr":0.5,"seed":1}]})");
    }
    for (; seen < client.events.size(); ++seen) {
      const std::string &event = client.events[seen];
      int epoch = 0;
      size_t list = event.find("\"trials\":[");
      if (sscanf(event.c_str(), R"({"event":"evaluated","fold":0,"epoch":%d)",
                 &epoch) != 1)
        continue;
      std::stringstream trials(event.substr(list + 10));
      int trial;
      for (char next = ','; next == ',' && trials >> trial; trials >> next) {
        double score = outsideScore(trial, epoch);
        std::string text =
            std::isnan(score) ? "\"nan\"" : std::to_string(score);
        std::string tell =
            R"("command":"tell","trial":)" + std::to_string(trial) +
            ",\"at\":" + std::to_string(epoch) + ",\"score\":" + text + "}";
        // Nobody is asked for scores between the levels 1, 2 and 4.
        if (epoch == 3) {
          client.send(R"({"id":7,)" + tell);
          continue;
        }
        client.send("{" + tell);
        client.send(R"({"id":9,)" + tell);
        told.emplace_back(trial, epoch);
      }
    }
  });
  ASSERT_EQ(outcome.status, HFTA_OK) << outcome.message;
  EXPECT_TRUE(answered(1, "\"trials\":[0,1]"));
  EXPECT_TRUE(answered(2, "the sampler is external"));
  EXPECT_TRUE(answered(3, "the sampler is external"));
  EXPECT_TRUE(answered(4, "trial 0 doesn't wait for a score after epoch 1"));
  EXPECT_TRUE(answered(7, "trial 3 doesn't wait for a score after epoch 3"));
  EXPECT_TRUE(answered(5, "3 trials wait for settings, got 4"));
  EXPECT_TRUE(answered(6, "\"trials\":[2,3,4]"));
  EXPECT_TRUE(answered(9, "doesn't wait for a score"));
  // The scores are 0, 3, 1, 4 and NaN: the best two go on, then the best one.
  std::vector<std::pair<int, int>> expected = {{0, 1}, {1, 1}, {2, 1}, {3, 1},
                                               {4, 1}, {1, 2}, {3, 2}, {3, 4}};
  std::sort(expected.begin(), expected.end());
  std::sort(told.begin(), told.end());
  told.erase(std::unique(told.begin(), told.end()), told.end());
  EXPECT_EQ(told, expected);
  EXPECT_EQ(outcome.best, 3);
  expectJournalIsTrue(options, outcome);
}

TEST_F(Control, AsksForTrialsBeforeTheyBegin) {
  SearchOptions options;
  options.trials = 3;
  options.epochs = 2;
  bool begun = false;
  size_t seen = 0;
  SearchOutcome outcome = searchAnd(options, [&](Client &client,
                                                 int64_t number) {
    if (number == 0) {
      client.send(R"({"id":1,"command":"hold"})");
      client.send(R"({"id":2,"command":"ask","count":2})");
    }
    if (answers.size() == 2 && !begun) {
      begun = true;
      client.send(R"({"id":3,"command":"set","trials":[3],"set":{"lr":0.25}})");
      client.send(R"({"id":4,"command":"resume","trials":[3]})");
      client.send(R"({"id":5,"command":"stop","trials":[4]})");
    }
    for (; seen < client.events.size(); ++seen)
      if (client.events[seen].find(R"("epoch":2,"trials":[3])") !=
          std::string::npos)
        client.send(R"({"id":6,"command":"end"})");
  });
  ASSERT_EQ(outcome.status, HFTA_OK) << outcome.message;
  EXPECT_TRUE(answered(2, R"("trials":[3,4],"settings":[{"lr":)"));
  for (int id = 3; id <= 6; ++id)
    EXPECT_TRUE(answered(id, "\"ok\":true")) << id;
  ASSERT_EQ(outcome.scores.size(), 5u);
  EXPECT_TRUE(std::isfinite(outcome.scores[3]));
  EXPECT_TRUE(std::isnan(outcome.scores[4]));
  expectJournalIsTrue(options, outcome);
}

TEST_F(Control, StopsWhereNobodyCanGiveWhatIsMissing) {
  SearchOptions options;
  options.trials = 2;
  options.epochs = 2;
  options.validation.is_external = 1;
  SearchRun run;
  run.folder = folder.path("search");
  SearchOutcome outcome = search(options, run);
  ASSERT_EQ(outcome.status, HFTA_OK) << outcome.message;
  EXPECT_EQ(outcome.best, HFTA_NO_TRIAL);
  EXPECT_GT(outcome.trainedSteps, 0);
  run.resume = true;
  EXPECT_EQ(search(options, run).trainedSteps, 0);
}

TEST_F(Control, GivesMoreTrialsToASavedSearch) {
  SearchOptions options;
  options.trials = 4;
  options.epochs = 3;
  SearchRun run;
  run.folder = folder.path("search");
  ASSERT_EQ(search(options, run).status, HFTA_OK);
  run.resume = true;
  run.trials = 7;
  SearchOutcome outcome = search(options, run);
  ASSERT_EQ(outcome.status, HFTA_OK) << outcome.message;
  EXPECT_EQ(outcome.scores.size(), 7u);
  EXPECT_GT(outcome.trainedSteps, 0);
  EXPECT_EQ(search(options, run).trainedSteps, 0);
  run.trials = 5;
  SearchOutcome fewer = search(options, run);
  EXPECT_EQ(fewer.status, HFTA_USAGE);
  EXPECT_NE(fewer.message.find("has 7 trials already"), std::string::npos)
      << fewer.message;
}
