//===- RanksFaults.c - Modes in which ranks fail, stop or are slow --------===//

#include "Ranks.h"
#include "hfta/pool.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/// Sends a message from each rank to the previous one (from rank 0 to the
/// last), and waits until both its own message and that of the next rank have
/// arrived.
static void go_round(hfta_communicator *c) {
  int number = c->rank, got = -1, size = c->size;
  hfta_posted *sent = ranks_post(c, "a round", 4, (c->rank + size - 1) % size,
                                 true, &number, sizeof(number));
  hfta_posted *posted = ranks_post(c, "a round", 4, (c->rank + 1) % size, false,
                                   &got, sizeof(got));
  ranks_wait_or_fail(c, posted);
  ranks_wait_or_fail(c, sent);
  EXPECT(got == (c->rank + 1) % size);
}

/// kill RANK: this rank kills itself (SIGKILL) while it exchanges messages.
void ranks_kill(const ranks_arguments *arguments) {
  hfta_communicator *c = ranks_open(60.0);
  for (int round = 0; round < 100; ++round) {
    if (round == 50 && c->rank == (int)ranks_number(arguments, 0))
      raise(SIGKILL);
    go_round(c);
  }
}

/// stop RANK TIMEOUT SIGNAL: after some messages, this rank stops itself
/// (SIGSTOP) if SIGNAL is 1. If SIGNAL is 0, it sleeps, so that it still sends
/// heartbeats but makes no progress.
void ranks_stop(const ranks_arguments *arguments) {
  hfta_communicator *c = ranks_open(ranks_number(arguments, 1));
  for (int round = 0; round < 20; ++round)
    go_round(c);
  if (c->rank == (int)ranks_number(arguments, 0)) {
    if (ranks_number(arguments, 2) != 0)
      raise(SIGSTOP);
    else
      sleep(100);
  }
  for (int round = 0; round < 20; ++round)
    go_round(c);
}

/// slow TIMEOUT: rank 0 computes for 2.5 times the timeout, and reports
/// progress meanwhile. Rank 1 waits for rank 0, and rank 2 for rank 1. No rank
/// may fail.
void ranks_slow(const ranks_arguments *arguments) {
  double timeout = ranks_number(arguments, 0);
  hfta_communicator *c = ranks_open(timeout);
  char token = 0;
  if (c->rank > 0)
    ranks_wait_or_fail(c, ranks_post(c, "token", 0, c->rank - 1, false, &token,
                                     sizeof(token)));
  for (int i = 0; c->rank == 0 && i < 25; ++i) {
    usleep((useconds_t)(1e5 * timeout));
    hfta_communicator_progress(c);
  }
  if (c->rank + 1 < c->size)
    ranks_wait_or_fail(
        c, ranks_post(c, "token", 0, c->rank + 1, true, &token, sizeof(token)));
  hfta_communicator_close(c);
}

/// Waits for a token from a rank.
static void await_token(hfta_communicator *c, int from) {
  char token = 0;
  ranks_wait_or_fail(
      c, ranks_post(c, "token", 0, from, false, &token, sizeof(token)));
}

static void *await_in_thread(void *communicator) {
  await_token(communicator, 1);
  return NULL;
}

/// slow-circle TIMEOUT: rank 2 computes for 3.5 times the timeout, and reports
/// progress. Rank 0 waits for rank 2 and, in another thread, for rank 1, which
/// waits for rank 0. Though ranks 0 and 1 wait for each other in a cycle, no
/// rank may fail.
void ranks_slow_circle(const ranks_arguments *arguments) {
  double timeout = ranks_number(arguments, 0);
  hfta_communicator *c = ranks_open(timeout);
  char token = 0;
  pthread_t thread;
  for (int i = 0; c->rank == 2 && i < 35; ++i) {
    usleep((useconds_t)(1e5 * timeout));
    hfta_communicator_progress(c);
  }
  if (c->rank == 0)
    EXPECT(pthread_create(&thread, NULL, await_in_thread, c) == 0);
  if (c->rank == 0)
    await_token(c, 2);
  if (c->rank == 1)
    await_token(c, 0);
  int to = (c->rank + 1) % 2;
  ranks_wait_or_fail(c, ranks_post(c, "token", 0, c->rank == 2 ? 0 : to, true,
                                   &token, sizeof(token)));
  if (c->rank == 0)
    pthread_join(thread, NULL);
  hfta_communicator_close(c);
}

/// end TIMEOUT STOPS: all ranks close their communicators. If STOPS is 0, the
/// last rank then ends later than the others by 1.5 times the timeout; if it is
/// 1, the last rank stops itself.
void ranks_end(const ranks_arguments *arguments) {
  double timeout = ranks_number(arguments, 0);
  hfta_communicator *c = ranks_open(timeout);
  go_round(c);
  bool is_last = c->rank == c->size - 1;
  hfta_communicator_close(c);
  if (is_last && ranks_number(arguments, 1) != 0)
    raise(SIGSTOP);
  if (is_last)
    usleep((useconds_t)(1.5e6 * timeout));
}

/// ended TIMEOUT: rank 0 ends, and the other ranks wait for a message from it.
void ranks_ended(const ranks_arguments *arguments) {
  hfta_communicator *c = ranks_open(ranks_number(arguments, 0));
  char byte = 0;
  if (c->rank != 0)
    ranks_wait_or_fail(c, ranks_post(c, "a letter", 0, 0, false, &byte, 1));
}

/// deadlock TIMEOUT: each rank waits for a message from the next rank.
void ranks_deadlock(const ranks_arguments *arguments) {
  hfta_communicator *c = ranks_open(ranks_number(arguments, 0));
  char byte = 0;
  ranks_wait_or_fail(c, ranks_post(c, "a letter", 0, (c->rank + 1) % c->size,
                                   false, &byte, 1));
}

/// absent TIMEOUT: rank 1 never opens a communicator.
void ranks_absent(const ranks_arguments *arguments) {
  hfta_launcher launcher;
  hfta_launcher_find(&launcher);
  if (launcher.rank == 1)
    sleep(100);
  ranks_open(ranks_number(arguments, 0));
}

/// fail CODE: all ranks fail at the same time, with this exit code.
void ranks_fail_at_once(const ranks_arguments *arguments) {
  hfta_communicator *c = ranks_open(60.0);
  int64_t value = 0;
  EXPECT(hfta_communicator_max(c, "a start", &value, NULL) == HFTA_OK);
  ranks_fail(c, (hfta_status)ranks_number(arguments, 0), "it fails");
}

/// own TIMEOUT: rank 0 waits for a message from itself, which it never sends.
void ranks_own(const ranks_arguments *arguments) {
  hfta_communicator *c = ranks_open(ranks_number(arguments, 0));
  char byte = 0;
  go_round(c);
  if (c->rank == 0)
    ranks_wait_or_fail(c, ranks_post(c, "a letter", 0, 0, false, &byte, 1));
  sleep(30);
}

/// lengths SENT RECEIVED: rank 0 sends a message of SENT bytes, for which rank
/// 1 expects RECEIVED bytes.
void ranks_lengths(const ranks_arguments *arguments) {
  hfta_communicator *c = ranks_open(60.0);
  char memory[1000] = "";
  bool sends = c->rank == 0;
  uint64_t bytes = (uint64_t)ranks_number(arguments, sends ? 0 : 1);
  ranks_wait_or_fail(c,
                     ranks_post(c, "lengths", 0, sends, sends, memory, bytes));
  // Rank 1 fails, and ends rank 0 meanwhile.
  sleep(30);
}

//===----------------------------------------------------------------------===//
// Launchers, and programs that use MPI themselves
//===----------------------------------------------------------------------===//

/// Finds a symbol of a library and copies its address to `out`.
static void find(void *library, const char *name, void *out) {
  void *symbol = dlsym(library, name);
  EXPECT(symbol);
  memcpy(out, &symbol, sizeof(symbol));
}

/// embedded LEVEL: initialises MPI itself, with this level of thread support
/// (0 to 3), and calls MPI while a communicator's message is in flight.
void ranks_embedded(const ranks_arguments *arguments) {
  void *library = dlopen("libmpi.so.40", RTLD_NOW | RTLD_GLOBAL);
  EXPECT(library);
  int (*init)(int *, char ***, int, int *), (*finalize)(void);
  int (*allgather)(const void *, int, void *, void *, int, void *, void *);
  void *world, *byte;
  int level = 0;
  find(library, "MPI_Init_thread", &init);
  find(library, "MPI_Finalize", &finalize);
  find(library, "MPI_Allgather", &allgather);
  find(library, "ompi_mpi_comm_world", &world);
  find(library, "ompi_mpi_byte", &byte);
  EXPECT(init(NULL, NULL, (int)ranks_number(arguments, 0), &level) == 0);
  for (int i = 0; i < 2; ++i) {
    hfta_communicator *c = ranks_open(60.0);
    hfta_posted *posted =
        ranks_post(c, "a round of it", 0, (c->rank + c->size - 1) % c->size,
                   true, &level, sizeof(level));
    char own = (char)c->rank, all[64];
    EXPECT(allgather(&own, 1, byte, all, 1, byte, world) == 0);
    EXPECT(all[c->size - 1] == c->size - 1);
    int got = -1;
    ranks_wait(c, ranks_post(c, "a round of it", 0, (c->rank + 1) % c->size,
                             false, &got, sizeof(got)));
    ranks_wait(c, posted);
    EXPECT(got == level);
    hfta_communicator_close(c);
  }
  EXPECT(finalize() == 0);
}

/// launched: prints this process' rank, the number of ranks in all and on this
/// host, the kind of the communicator, and whether an MPI library is loaded.
void ranks_launched(const ranks_arguments *arguments) {
  (void)arguments;
  hfta_launcher launcher;
  hfta_launcher_find(&launcher);
  hfta_communicator *c = ranks_open(60.0);
  EXPECT(c->rank == launcher.rank && c->size == launcher.size);
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[4096];
  bool has_library = false;
  while (maps && fgets(line, sizeof(line), maps))
    has_library |= strstr(line, "libmpi") != NULL;
  printf("rank %d of %d, %d here, %s, %s libmpi\n", c->rank, c->size,
         launcher.local_size, c->functions->kind, has_library ? "with" : "no");
  EXPECT(hfta_pool_default_threads() >= 1);
  hfta_communicator_close(c);
}
