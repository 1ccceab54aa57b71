//===- CommunicatorWorkersTest.cpp - Workers that share a process ---------===//

#include "hfta/communicator.h"

extern "C" {
#include "communicator/posted.h"
#include "communicator/worker_group.h"
#include "communicator/worker_tags.h"
}

#include "gtest/gtest.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {
using Sizes = std::vector<int>;

/// The workers of one process, and their communicators.
class Workers {
public:
  explicit Workers(const Sizes &replicas, double timeout = 60.0)
      : count(std::accumulate(replicas.begin(), replicas.end(), 0)) {
    hfta_rank_options options = {HFTA_RANKS_ONE, nullptr, timeout};
    EXPECT_EQ(hfta_communicator_open(&options, &ranks, nullptr), HFTA_OK);
    Sizes places(count, 0);
    hfta_worker_map map = {
        count, places.data(), int(replicas.size()), replicas.data(),
        20,    timeout};
    EXPECT_EQ(hfta_worker_group_create(ranks, &map, &group, nullptr), HFTA_OK);
  }
  ~Workers() {
    hfta_worker_group_free(group);
    hfta_communicator_close(ranks);
  }

  hfta_communicator *all(int worker) {
    return hfta_worker_group_all(group, worker);
  }
  hfta_communicator *stage(int worker) {
    return hfta_worker_group_stage(group, worker);
  }

  /// Runs `function` for each worker in a thread of its own, and waits for all.
  void run(const std::function<void(int)> &function) {
    std::vector<std::thread> threads;
    for (int worker = 0; worker < count; ++worker)
      threads.emplace_back(function, worker);
    for (std::thread &thread : threads)
      thread.join();
  }

  const int count;
  hfta_communicator *ranks = nullptr;

private:
  hfta_worker_group *group = nullptr;
};

hfta_posted *post(hfta_communicator *c, int tag,
                  const std::vector<hfta_message> &messages) {
  hfta_post all = {
      {"numbers", 3, tag}, messages.data(), uint32_t(messages.size())};
  hfta_posted *posted = nullptr;
  hfta_error error = {};
  EXPECT_EQ(hfta_communicator_post(c, &all, &posted, &error), HFTA_OK)
      << error.message;
  return posted;
}

void wait(hfta_communicator *c, hfta_posted *posted) {
  hfta_error error = {};
  EXPECT_EQ(hfta_communicator_wait(c, posted, &error), HFTA_OK)
      << error.message;
}

/// A random message between two workers. All workers see the same list.
struct Drawn {
  int from, to, tag;
  bool inStage;
  std::vector<unsigned char> sent, received;
};

/// Draws messages with random bytes, some between any two workers and some
/// within a stage.
std::vector<Drawn> draw(std::mt19937 &random, const Sizes &replicas) {
  static const size_t sizes[] = {0, 1, 7, 4096, 100003};
  int workers = std::accumulate(replicas.begin(), replicas.end(), 0);
  std::vector<Drawn> messages(60);
  for (Drawn &drawn : messages) {
    drawn.inStage = random() % 2;
    int first = 0, count = workers;
    if (drawn.inStage) {
      size_t stage = random() % replicas.size();
      first = std::accumulate(replicas.begin(), replicas.begin() + stage, 0);
      count = replicas[stage];
    }
    drawn.from = first + int(random() % count);
    drawn.to = first + int(random() % count);
    drawn.tag = random() % 4 == 0 ? HFTA_TAG_WISH : int(random() % 3);
    drawn.sent.resize(sizes[random() % 5]);
    for (unsigned char &byte : drawn.sent)
      byte = random();
    drawn.received.resize(drawn.sent.size());
  }
  return messages;
}

int firstOfStage(const Sizes &replicas, int worker) {
  int first = 0;
  for (int count : replicas) {
    if (worker < first + count)
      return first;
    first += count;
  }
  return first;
}

/// A post that a worker still has to wait for.
struct Waiting {
  hfta_communicator *communicator;
  hfta_posted *posted;
};

/// Posts one worker's sends and receives of these messages in order, and then
/// waits for the posts in random order.
void exchange(Workers &workers, const Sizes &replicas,
              std::vector<Drawn> &messages, int worker, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Waiting> posted;
  for (Drawn &drawn : messages) {
    hfta_communicator *c =
        drawn.inStage ? workers.stage(worker) : workers.all(worker);
    int first = drawn.inStage ? firstOfStage(replicas, worker) : 0;
    std::vector<hfta_message> ends;
    if (drawn.to == worker)
      ends.push_back({drawn.from - first, false, drawn.received.data(),
                      drawn.received.size()});
    if (drawn.from == worker)
      ends.push_back(
          {drawn.to - first, true, drawn.sent.data(), drawn.sent.size()});
    if (random() % 2)
      std::reverse(ends.begin(), ends.end());
    if (!ends.empty())
      posted.push_back({c, post(c, drawn.tag, ends)});
  }
  std::shuffle(posted.begin(), posted.end(), random);
  for (const Waiting &waiting : posted)
    wait(waiting.communicator, waiting.posted);
}

/// Sums numbers over all ranks in pieces: exchanges them, so that rank q gets
/// all ranks' piece q of 100 q numbers, adds these up, and gathers the sums.
void sumPieces(hfta_communicator *c, int tag) {
  int size = c->size, own = c->rank;
  std::vector<uint64_t> offsets(size + 1, 0);
  for (int q = 0; q < size; ++q)
    offsets[q + 1] = offsets[q] + q * 100 * sizeof(int);
  std::vector<int> memory(offsets[size] / sizeof(int) + 1);
  for (size_t i = 0; i < memory.size(); ++i)
    memory[i] = int(i) * (own + 1);
  std::vector<int> received(size * own * 100 + 1);
  hfta_label label = {"pieces", -1, tag};
  hfta_posted *posted = nullptr;
  ASSERT_EQ(hfta_communicator_post_exchange(c, &label, memory.data(),
                                            offsets.data(), received.data(),
                                            &posted, nullptr),
            HFTA_OK);
  wait(c, posted);
  int *piece = memory.data() + offsets[own] / sizeof(int);
  for (int i = 0; i < own * 100; ++i) {
    piece[i] = 0;
    for (int peer = 0; peer < size; ++peer)
      piece[i] += received[peer * own * 100 + i];
  }
  ASSERT_EQ(hfta_communicator_post_gather(c, &label, memory.data(),
                                          offsets.data(), &posted, nullptr),
            HFTA_OK);
  wait(c, posted);
  for (size_t i = 0; i + 1 < memory.size(); ++i)
    ASSERT_EQ(memory[i], int(i) * size * (size + 1) / 2);
}

void agree(hfta_communicator *c) {
  for (int root = 0; root < c->size; ++root) {
    int number = c->rank == root ? 40 + root : 0;
    hfta_label label = {"number", -1, 7};
    hfta_posted *posted = nullptr;
    ASSERT_EQ(hfta_communicator_post_broadcast(
                  c, &label, root, &number, sizeof(number), &posted, nullptr),
              HFTA_OK);
    wait(c, posted);
    EXPECT_EQ(number, 40 + root);
  }
  int64_t value = 100 - c->rank;
  EXPECT_EQ(hfta_communicator_max(c, "max", &value, nullptr), HFTA_OK);
  EXPECT_EQ(value, 100);
  int different = 0, last = c->size - 1;
  const char *text = last > 0 && c->rank == last ? "abd" : "abc";
  EXPECT_EQ(hfta_communicator_compare(c, "text", text, 3, &different, nullptr),
            HFTA_OK);
  EXPECT_EQ(different, last > 0 ? last : -1);
}

const std::vector<Sizes> layouts = {{1},    {1, 1},       {2},
                                    {2, 1}, {1, 3, 2, 2}, {4, 4}};

/// Makes all workers except the last one receive from the next worker, which
/// never sends. Then the last worker calls `end`, which must fail. Returns the
/// error that each worker got.
std::vector<hfta_error> failAll(
    Workers &workers,
    const std::function<hfta_status(hfta_communicator *, hfta_error *)> &end) {
  std::vector<hfta_error> errors(workers.count);
  std::atomic<int> waiting = 0;
  workers.run([&](int worker) {
    hfta_communicator *c = workers.all(worker);
    if (worker == workers.count - 1) {
      while (waiting.load() != worker)
        std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      EXPECT_NE(end(c, &errors[worker]), HFTA_OK);
      return;
    }
    int number = 0;
    hfta_posted *posted =
        post(c, 1, {{worker + 1, false, &number, sizeof(number)}});
    ++waiting;
    EXPECT_NE(hfta_communicator_wait(c, posted, &errors[worker]), HFTA_OK);
  });
  return errors;
}

void expectAll(const std::vector<hfta_error> &errors, hfta_status code,
               const std::string &message) {
  for (const hfta_error &error : errors) {
    EXPECT_EQ(error.code, code);
    EXPECT_EQ(error.message, message);
  }
}
} // namespace

TEST(WorkerTags, AreDistinct) {
  for (int most : {1, 2, 3, 5}) {
    hfta_worker_tags tags;
    int schedules = 40;
    ASSERT_EQ(hfta_worker_tags_create(schedules, most, &tags, nullptr),
              HFTA_OK);
    std::set<int> seen;
    size_t count = 0;
    for (int tag = 0; tag <= HFTA_TAG_SPLIT; ++tag) {
      if (!hfta_worker_tags_have(&tags, tag))
        continue;
      for (int kind = 0; kind < 2; ++kind)
        for (int pair = 0; pair < most * most; ++pair, ++count)
          seen.insert(
              hfta_worker_tag(&tags, kind, pair / most, pair % most, tag));
    }
    EXPECT_EQ(seen.size(), count);
    EXPECT_GE(count, size_t(2 * most * most) * (schedules + 9));
    EXPECT_GE(*seen.begin(), 0);
    EXPECT_LT(*seen.rbegin(), HFTA_TAG_FIRST_OWN);
  }
}

TEST(WorkerTags, SufficeOrAreRefused) {
  hfta_worker_tags tags;
  hfta_error error = {};
  EXPECT_EQ(hfta_worker_tags_create(100000, 1, &tags, nullptr), HFTA_OK);
  EXPECT_EQ(hfta_worker_tags_create(1000, 16, &tags, nullptr), HFTA_OK);
  ASSERT_EQ(hfta_worker_tags_create(1000, 17, &tags, &error), HFTA_UNSUPPORTED);
  EXPECT_EQ(std::string(error.message),
            "17 workers on a rank, of a program with 1000 segments of memory, "
            "need 589560 tags of messages; 524272 are possible: start more "
            "ranks");
  // Searches for the largest number of segments for which the tags still
  // suffice.
  for (int most = 1; most < 100; ++most) {
    int schedules = 0;
    for (int bit = 1 << 20; bit > 0; bit /= 2)
      if (hfta_worker_tags_create(schedules + bit, most, &tags, nullptr) ==
          HFTA_OK)
        schedules += bit;
    if (schedules == 0)
      continue;
    hfta_worker_tags_create(schedules, most, &tags, nullptr);
    for (int tag : {0, schedules - 1, int(HFTA_TAG_SPLIT)})
      EXPECT_LT(hfta_worker_tag(&tags, true, most - 1, most - 1, tag),
                HFTA_TAG_FIRST_OWN);
  }
}

TEST(Workers, ExchangeRandomMessages) {
  std::mt19937 random(7);
  for (int round = 0; round < 24; ++round) {
    const Sizes &replicas = layouts[round % layouts.size()];
    Workers workers(replicas);
    std::vector<Drawn> messages = draw(random, replicas);
    workers.run([&](int worker) {
      exchange(workers, replicas, messages, worker, round * 100 + worker);
    });
    for (const Drawn &drawn : messages)
      EXPECT_EQ(drawn.sent, drawn.received);
  }
}

TEST(Workers, OneThreadPostsForAll) {
  Workers workers({1, 1});
  int from[] = {1, 2, 3}, to[] = {0, 0, 0};
  // Receives are posted before sends. Messages with the same tag match in
  // order.
  hfta_posted *receives =
      post(workers.all(1), 5,
           {{0, false, &to[0], sizeof(int)}, {0, false, &to[1], sizeof(int)}});
  hfta_posted *other =
      post(workers.all(0), 6, {{1, true, &from[2], sizeof(int)}});
  EXPECT_EQ(to[0], 0);
  hfta_posted *sends = post(
      workers.all(0), 5,
      {{1, true, &from[0], sizeof(int)}, {1, true, &from[1], sizeof(int)}});
  wait(workers.all(1), receives);
  wait(workers.all(0), sends);
  EXPECT_EQ(to[0], 1);
  EXPECT_EQ(to[1], 2);
  wait(workers.all(1),
       post(workers.all(1), 6, {{0, false, &to[2], sizeof(int)}}));
  wait(workers.all(0), other);
  EXPECT_EQ(to[2], 3);
  wait(workers.all(0), post(workers.all(0), 0, {}));
}

TEST(Workers, CommunicatorsKnowTheirWorkers) {
  Workers workers({1, 3, 2});
  for (int worker = 0; worker < 6; ++worker) {
    hfta_communicator *all = workers.all(worker),
                      *stage = workers.stage(worker);
    EXPECT_STREQ(all->functions->kind, "workers");
    EXPECT_EQ(all->rank, worker);
    EXPECT_EQ(all->size, 6);
    EXPECT_EQ(all->local_size, 6);
    int stageSize = worker == 0 ? 1 : worker < 4 ? 3 : 2;
    EXPECT_EQ(stage->size, stageSize);
    EXPECT_EQ(stage->rank, worker == 0  ? 0
                           : worker < 4 ? worker - 1
                                        : worker - 4);
    hfta_communicator *part = nullptr;
    EXPECT_EQ(hfta_communicator_split(all, 0, 0, &part, nullptr),
              HFTA_UNSUPPORTED);
    hfta_communicator_close(all);
    hfta_communicator_progress(stage);
  }
}

TEST(Workers, DoTogetherWhatRanksDo) {
  for (const Sizes &replicas : layouts) {
    Workers workers(replicas);
    workers.run([&](int worker) {
      for (int round = 0; round < 5; ++round) {
        // Two communicators use one tag at the same time.
        std::thread stage([&] { sumPieces(workers.stage(worker), 2); });
        sumPieces(workers.all(worker), 2);
        stage.join();
      }
      agree(workers.stage(worker));
      agree(workers.all(worker));
    });
  }
}

TEST(Workers, ThreadsOfAWorkerWaitByThemselves) {
  Workers workers({2});
  workers.run([&](int worker) {
    std::vector<std::thread> queues;
    for (int queue = 0; queue < 3; ++queue)
      queues.emplace_back([&, queue] {
        for (int round = 0; round < 100; ++round) {
          int sent = round * 10 + queue, received = -1;
          hfta_communicator *c = workers.all(worker);
          wait(c, post(c, queue,
                       {{1 - worker, true, &sent, sizeof(sent)},
                        {1 - worker, false, &received, sizeof(received)}}));
          ASSERT_EQ(received, sent);
        }
      });
    for (std::thread &queue : queues)
      queue.join();
  });
}

TEST(Workers, OneThatGivesUpWakesAll) {
  for (int round = 0; round < 20; ++round) {
    Workers workers({2, 2});
    auto giveUp = [](hfta_communicator *c, hfta_error *error) {
      hfta_communicator_give_up(c, HFTA_CANNOT_WRITE, "the disk is full");
      hfta_communicator_give_up(c, HFTA_INTERNAL, "too late");
      hfta_post nothing = {{"nothing", -1, 0}, nullptr, 0};
      return hfta_communicator_complete(c, &nothing, error);
    };
    expectAll(failAll(workers, giveUp), HFTA_CANNOT_WRITE, "the disk is full");
    // The error also ends the ranks' communicator, where other threads may be
    // sleeping.
    hfta_error error = {};
    hfta_post nothing = {{"nothing", -1, 0}, nullptr, 0};
    EXPECT_EQ(hfta_communicator_complete(workers.ranks, &nothing, &error),
              HFTA_CANNOT_WRITE);
    EXPECT_STREQ(error.message, "the disk is full");
  }
}

TEST(Workers, LengthsThatDifferEndAll) {
  Workers workers({3});
  auto send = [](hfta_communicator *c, hfta_error *error) {
    char bytes[8] = "";
    hfta_message message = {1, true, bytes, sizeof(bytes)};
    hfta_post post = {{"numbers", 3, 1}, &message, 1};
    return hfta_communicator_complete(c, &post, error);
  };
  expectAll(failAll(workers, send), HFTA_INTERNAL,
            "numbers: worker 2 sends 8 bytes to worker 1, which receives 4");
}

TEST(Workers, ATagThatThereIsNotEndsAll) {
  Workers workers({2});
  auto send = [](hfta_communicator *c, hfta_error *error) {
    hfta_post post = {{"numbers", 3, 20}, nullptr, 0};
    return hfta_communicator_complete(c, &post, error);
  };
  expectAll(failAll(workers, send), HFTA_INTERNAL,
            "numbers: tag 20, expected 0 to 19");
}

TEST(Workers, DoNotWaitForeverForEachOther) {
  Workers workers({2}, 0.05);
  int numbers[2];
  std::vector<hfta_error> errors(2);
  workers.run([&](int worker) {
    hfta_communicator *c = workers.all(worker);
    hfta_posted *posted =
        post(c, 1, {{1 - worker, false, &numbers[worker], sizeof(int)}});
    EXPECT_EQ(hfta_communicator_wait(c, posted, &errors[worker]), HFTA_LOST);
  });
  EXPECT_STREQ(errors[0].message, errors[1].message);
  std::string message = errors[0].message;
  EXPECT_EQ(message.replace(7, 1, "?"),
            "worker ? has waited for another one of its process, which has "
            "made no progress for 0.05 s: numbers of micro-batch 3");
}

TEST(Workers, OneThatWorksIsWaitedFor) {
  Workers workers({2}, 0.2);
  workers.run([&](int worker) {
    hfta_communicator *c = workers.all(worker);
    int number = 5;
    for (int i = 0; worker == 0 && i < 40; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      hfta_communicator_progress(c);
    }
    wait(c, post(c, 1, {{1 - worker, worker == 0, &number, sizeof(number)}}));
  });
}

/// Tries to create a group of `count` workers that are all on the first rank.
/// Returns the status.
static hfta_status createOnFirst(hfta_communicator *ranks, int count,
                                 hfta_error *error) {
  Sizes places(count, 0);
  hfta_worker_map map = {count, places.data(), 1, &count, 100, 0.0};
  hfta_worker_group *group = nullptr;
  hfta_status status = hfta_worker_group_create(ranks, &map, &group, error);
  EXPECT_EQ(group != nullptr, status == HFTA_OK);
  hfta_worker_group_free(group);
  return status;
}

TEST(Workers, TooManyAreRefused) {
  Workers ranks({2});
  hfta_error error = {};
  EXPECT_EQ(createOnFirst(ranks.ranks, HFTA_MAX_RANKS + 1, &error),
            HFTA_UNSUPPORTED);
  EXPECT_STREQ(error.message, "1025 workers: at most 1024 are possible");
  // Tags are needed only if there are other ranks.
  EXPECT_EQ(createOnFirst(ranks.ranks, HFTA_MAX_RANKS, &error), HFTA_OK);
  EXPECT_EQ(createOnFirst(ranks.all(0), 40, &error), HFTA_OK);
  EXPECT_EQ(createOnFirst(ranks.all(0), 50, &error), HFTA_UNSUPPORTED);
  EXPECT_NE(std::string(error.message).find("50 workers on a rank"),
            std::string::npos)
      << error.message;
}
