//===- RanksWorkers.c - Modes in which ranks have several workers ---------===//

#include "Ranks.h"
#include "communicator/worker_group.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 16 };

/// The workers of all ranks. Stage 0 has one worker, stage 1 has two, and so
/// on; the last stage has the workers that remain.
typedef struct team {
  hfta_communicator *ranks;
  hfta_worker_group *group;
  // The rank of each worker, and the number of workers of each stage.
  int of_worker[MOST], replicas[MOST];
  hfta_worker_map map;
} team;

/// Makes a team of this many workers, which are distributed evenly to ranks.
static team make_team(int workers, double timeout) {
  team self = {.ranks = ranks_open(timeout)};
  EXPECT(workers <= MOST);
  self.map = (hfta_worker_map){workers, NULL, 0, NULL, 20, timeout};
  for (int i = 0; i < workers; ++self.map.stages) {
    int count = self.map.stages + 1;
    count = count < workers - i ? count : workers - i;
    self.replicas[self.map.stages] = count;
    i += count;
  }
  for (int rank = 0, i = 0; rank < self.ranks->size; ++rank)
    for (; i < (rank + 1) * workers / self.ranks->size; ++i)
      self.of_worker[i] = rank;
  return self;
}

/// Creates the team's worker group. Afterwards the team mustn't be moved, as
/// its map points to its own arrays.
static void open_team(team *self) {
  hfta_error error;
  self->map.ranks = self->of_worker;
  self->map.replicas = self->replicas;
  if (hfta_worker_group_create(self->ranks, &self->map, &self->group, &error) !=
      HFTA_OK)
    ranks_fail(self->ranks, error.code, error.message);
}

static void close_team(team *self) {
  hfta_worker_group_free(self->group);
  hfta_communicator_close(self->ranks);
}

/// A worker of this rank, which runs in its own thread.
typedef struct worker {
  team *team;
  int number;
  pthread_t thread;
  hfta_error error;
} worker;

/// Runs this rank's workers, each in its own thread, until all have ended.
/// Returns their number.
static int run_workers(team *team, worker *workers, void *(*run)(void *)) {
  int count = 0;
  for (int i = 0; i < team->map.workers; ++i)
    if (team->of_worker[i] == team->ranks->rank)
      workers[count++] = (worker){.team = team, .number = i};
  for (int i = 0; i < count; ++i)
    EXPECT(pthread_create(&workers[i].thread, NULL, run, &workers[i]) == 0);
  for (int i = 0; i < count; ++i)
    pthread_join(workers[i].thread, NULL);
  return count;
}

//===----------------------------------------------------------------------===//
// Workers without failures
//===----------------------------------------------------------------------===//

/// Exchanges messages among the workers of a stage. `do_all` does the same
/// among all workers at the same time, with the same tags.
static void *do_stage(void *argument) {
  worker *self = argument;
  hfta_communicator *stage =
      hfta_worker_group_stage(self->team->group, self->number);
  ranks_exchange(stage, 100 + (uint64_t)stage->size);
  for (int i = 0; i < 5; ++i)
    ranks_sum_pieces(stage, 3);
  ranks_agree(stage);
  return NULL;
}

/// A worker's thread: exchanges messages among all workers, and in a second
/// thread among those of its stage.
static void *do_all(void *argument) {
  worker *self = argument;
  hfta_communicator *all =
      hfta_worker_group_all(self->team->group, self->number);
  EXPECT(all->rank == self->number && all->size == self->team->map.workers);
  EXPECT(all->local_size == all->size);
  pthread_t thread;
  EXPECT(pthread_create(&thread, NULL, do_stage, self) == 0);
  ranks_exchange(all, 5);
  for (int i = 0; i < 5; ++i)
    ranks_sum_pieces(all, 3);
  ranks_agree(all);
  pthread_join(thread, NULL);
  return NULL;
}

/// workers COUNT: distributes COUNT workers to the ranks, and tests the
/// communicators of all workers and of each stage.
void ranks_workers(const ranks_arguments *arguments) {
  worker workers[MOST];
  team team = make_team((int)ranks_number(arguments, 0), 60.0);
  open_team(&team);
  // The ranks' own communicator must work before and after its workers use it.
  ranks_agree(team.ranks);
  run_workers(&team, workers, do_all);
  ranks_agree(team.ranks);
  close_team(&team);
}

//===----------------------------------------------------------------------===//
// Workers that fail
//===----------------------------------------------------------------------===//

/// Waits for a message from a worker, which must fail.
static void await_letter(worker *self, int from) {
  hfta_communicator *all =
      hfta_worker_group_all(self->team->group, self->number);
  char byte = 0;
  hfta_posted *posted = ranks_post(all, "a letter", 0, from, false, &byte, 1);
  EXPECT(hfta_communicator_wait(all, posted, &self->error) != HFTA_OK);
}

/// A worker's thread. On rank 0, worker 0 waits for a worker of rank 1, worker
/// 2 waits for worker 0, and worker 1 fails.
static void *fail_alone(void *argument) {
  worker *self = argument;
  if (self->number == 0)
    await_letter(self, 5);
  else if (self->number == 2)
    await_letter(self, 0);
  else if (self->number == 1) {
    usleep(200000);
    hfta_communicator *all = hfta_worker_group_all(self->team->group, 1);
    hfta_communicator_give_up(all, HFTA_CANNOT_WRITE, "worker 1 fails");
    self->error.code = HFTA_CANNOT_WRITE;
    strcpy(self->error.message, "worker 1 fails");
  }
  return NULL;
}

/// Checks that all workers of rank 0 have the same error, and ends all ranks
/// with it. Other ranks sleep until then. `suffix` is appended to the message.
static void tell(team *team, worker *workers, int count, const char *suffix) {
  if (team->ranks->rank != 0) {
    sleep(100);
    return;
  }
  for (int i = 1; i < count; ++i) {
    EXPECT(workers[i].error.code == workers[0].error.code);
    EXPECT(strcmp(workers[i].error.message, workers[0].error.message) == 0);
  }
  char text[HFTA_ERROR_MESSAGE_BYTES + 32];
  snprintf(text, sizeof(text), "%s%s", workers[0].error.message, suffix);
  ranks_fail(team->ranks, workers[0].error.code, text);
}

/// gives-up TIMEOUT: one of rank 0's workers fails, and the others that wait
/// must get its error.
void ranks_gives_up(const ranks_arguments *arguments) {
  worker workers[MOST];
  team team = make_team(6, ranks_number(arguments, 0));
  open_team(&team);
  int count = run_workers(&team, workers, fail_alone);
  tell(&team, workers, count, "");
}

/// A worker's thread. On rank 0, each worker waits for the next one, and the
/// last worker for a worker of rank 1. Rank 1 stops itself.
static void *wait_in_turn(void *argument) {
  worker *self = argument;
  if (self->team->ranks->rank == 0)
    await_letter(self, self->number + 1);
  else if (self->number == 5)
    raise(SIGSTOP);
  return NULL;
}

/// lost TIMEOUT: rank 1 stops itself, and all workers of rank 0 must get an
/// error that names it.
void ranks_lost(const ranks_arguments *arguments) {
  worker workers[MOST];
  team team = make_team(6, ranks_number(arguments, 0));
  open_team(&team);
  int count = run_workers(&team, workers, wait_in_turn);
  tell(&team, workers, count, ", say 3 workers");
}
