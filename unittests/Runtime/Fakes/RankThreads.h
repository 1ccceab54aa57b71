//===- RankThreads.h - Ranks of a test as threads ---------------*- C++ -*-===//

#ifndef HFTA_UNITTESTS_RANK_THREADS_H
#define HFTA_UNITTESTS_RANK_THREADS_H

#include "RuntimeTest.h"

#include <functional>
#include <thread>

extern "C" {
#include "communicator/worker_group.h"
#include "schedule/create.h"
#include "workload/workload.h"
}

/// Several ranks, each of which is a thread of this process.
class Ranks {
public:
  explicit Ranks(int count) : count(count) {
    hfta_rank_options options = {HFTA_RANKS_ONE, nullptr, 60.0};
    EXPECT_EQ(hfta_communicator_open(&options, &process, nullptr), HFTA_OK);
    std::vector<int> places(count, 0);
    hfta_worker_map map = {count, places.data(), 1, &count, 600, 60.0};
    // The ranks are workers of one group, so that their messages have separate
    // tags.
    hfta_error error = {};
    EXPECT_EQ(hfta_worker_group_create(process, &map, &group, &error), HFTA_OK)
        << error.message;
  }
  ~Ranks() {
    hfta_worker_group_free(group);
    hfta_communicator_close(process);
  }

  void run(const std::function<void(hfta_communicator *)> &function) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < count; ++rank)
      threads.emplace_back(function, hfta_worker_group_all(group, rank));
    for (std::thread &thread : threads)
      thread.join();
  }

private:
  int count;
  hfta_communicator *process = nullptr;
  hfta_worker_group *group = nullptr;
};

/// Creates an instance on a rank, for all schedules and copies of the program.
inline InstancePointer createOnRank(const hfta_program &program,
                                    hfta_communicator *rank) {
  hfta_error error = {};
  hfta_options options = {};
  options.threads = 1;
  options.error = &error;
  hfta_workload workload = hfta_workload_of_all(&program);
  workload.communicator = rank;
  hfta_instance *instance = nullptr;
  EXPECT_EQ(hfta_instance_create_for(&program, &workload, &options, &instance),
            HFTA_OK)
      << error.message;
  return InstancePointer(instance, hfta_instance_destroy);
}

#endif // HFTA_UNITTESTS_RANK_THREADS_H
