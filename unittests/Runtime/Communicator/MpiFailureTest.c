//===- MpiFailureTest.c - Memory of messages after a failure --------------===//
//
// Tests a host program that has initialised MPI itself and goes on after the
// runtime has failed. Each case runs in a process of its own.
//===----------------------------------------------------------------------===//

#include "FakeOpenMpi.h"
#include "hfta/communicator.h"
#include "system/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BYTES = 1 << 20 };

static void expect(bool holds, const char *what) {
  if (holds)
    return;
  fprintf(stderr, "expected: %s\n", what);
  exit(1);
}

static hfta_communicator *open_ranks(void) {
  hfta_communicator *communicator = NULL;
  hfta_error error;
  if (hfta_communicator_open(NULL, &communicator, &error) == HFTA_OK)
    return communicator;
  fprintf(stderr, "%s\n", error.message);
  exit(1);
}

static char *map(void) {
  char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  expect(memory != MAP_FAILED, "memory");
  return memory;
}

static hfta_posted *post(hfta_communicator *communicator, bool sends,
                         char *memory) {
  hfta_message message = {1, sends, memory, BYTES};
  const hfta_post own = {{"numbers", -1, 5}, &message, 1};
  hfta_posted *posted = NULL;
  expect(hfta_communicator_post(communicator, &own, &posted, NULL) == HFTA_OK,
         "a post");
  return posted;
}

/// Makes the communicator fail, and then waits for a post, which must return
/// the error of this failure.
static void fail_and_wait(hfta_communicator *communicator,
                          hfta_posted *posted) {
  hfta_error error;
  usleep(20000); // by now messages have usually started
  hfta_communicator_give_up(communicator, HFTA_CANNOT_WRITE, "planted");
  expect(hfta_communicator_wait(communicator, posted, &error) ==
                 HFTA_CANNOT_WRITE &&
             strcmp(error.message, "planted") == 0,
         "the first error");
}

static void work_well(void) {
  hfta_communicator *communicator = open_ranks();
  expect(communicator->size == 2, "two ranks");
  char *from = map(), *to = map();
  memset(from, 7, BYTES);
  hfta_posted *sending = post(communicator, true, from);
  hfta_posted *receiving = post(communicator, false, to);
  expect(hfta_communicator_wait(communicator, receiving, NULL) == HFTA_OK &&
             hfta_communicator_wait(communicator, sending, NULL) == HFTA_OK,
         "success");
  expect(memcmp(from, to, BYTES) == 0, "what was sent");
  expect(!hfta_communicator_keeps_memory(communicator), "all memory");
  hfta_communicator_close(communicator);
}

/// After a failure, the host program may free its memory: a message that is
/// sent later doesn't reach it, whether its post was waited for or not.
static void come_late(void) {
  hfta_communicator *communicator = open_ranks();
  fake.is_silent = true;
  char *first = map(), *second = map();
  hfta_posted *posted = post(communicator, false, first);
  post(communicator, false, second);
  fail_and_wait(communicator, posted);
  munmap(first, BYTES);
  expect(!hfta_communicator_keeps_memory(communicator), "all memory");
  munmap(second, BYTES);
  fake_mpi_deliver();
  hfta_communicator_close(communicator);
}

/// A message that is already arriving can't be cancelled, so its memory must
/// stay until it has arrived.
static void come_in_the_middle(void) {
  hfta_communicator *communicator = open_ranks();
  fake.is_silent = fake.is_sending = true;
  char *memory = map();
  fail_and_wait(communicator, post(communicator, false, memory));
  expect(hfta_communicator_keeps_memory(communicator), "memory that stays");
  char *other = malloc(16);
  hfta_communicator_free(communicator, other);
  other[0] = 1;
  fake_mpi_deliver();
  while (hfta_communicator_keeps_memory(communicator))
    usleep(1000);
  munmap(memory, BYTES);
  hfta_communicator_close(communicator);
}

static void go_in_the_middle(void) {
  hfta_communicator *communicator = open_ranks();
  fake.is_reading = true;
  char *memory = map();
  fail_and_wait(communicator, post(communicator, true, memory));
  expect(hfta_communicator_keeps_memory(communicator), "memory that stays");
  hfta_communicator_close(communicator);
}

/// If the thread that calls MPI is stuck, only the first wait for the end of
/// messages takes time; later waits return at once.
static void hang(void) {
  enum { POSTS = 10 };
  hfta_communicator *communicator = open_ranks();
  fake.is_silent = true;
  hfta_posted *posted[POSTS];
  for (int i = 0; i < POSTS; ++i)
    posted[i] = post(communicator, false, map());
  fake.hangs = true;
  double begin = hfta_now();
  fail_and_wait(communicator, posted[0]);
  double first = hfta_now() - begin;
  for (int i = 1; i < POSTS; ++i) {
    expect(hfta_communicator_wait(communicator, posted[i], NULL) ==
               HFTA_CANNOT_WRITE,
           "the first error");
    expect(hfta_communicator_keeps_memory(communicator), "memory that stays");
  }
  expect(hfta_now() - begin < 3.0 * first, "no further waiting");
  fake.hangs = false;
  while (hfta_communicator_keeps_memory(communicator))
    usleep(1000);
  hfta_communicator_close(communicator);
}

/// After `open` has failed because other ranks haven't come, the runtime makes
/// no more calls of MPI.
static void wait_for_others(void) {
  fake.is_absent = true;
  hfta_rank_options options = {.timeout = 0.1};
  hfta_communicator *communicator = NULL;
  for (int i = 0; i < 2; ++i) {
    expect(hfta_communicator_open(&options, &communicator, NULL) == HFTA_LOST,
           "a lost rank");
    int tests = atomic_load(&fake.tests);
    usleep(50000);
    expect(atomic_load(&fake.tests) == tests, "no call of MPI");
  }
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(void);
  } cases[] = {{"success", work_well},
               {"late", come_late},
               {"coming", come_in_the_middle},
               {"going", go_in_the_middle},
               {"hanging", hang},
               {"start", wait_for_others}};
  setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
  setenv("OMPI_COMM_WORLD_RANK", "0", 1);
  setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "2", 1);
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); ++i)
    if (argc == 2 && strcmp(argv[1], cases[i].name) == 0) {
      cases[i].run();
      return 0;
    }
  fprintf(stderr, "expected a case's name\n");
  return 2;
}
