//===- mpi_process.c - The start and end of the process' engine -----------===//

#include "communicator/mpi_engine.h"
#include "system/clock.h"
#include "system/thread.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// The engine of the process. MPI belongs to the process as a whole, so there
/// is one engine for all who open communicators.
static struct {
  pthread_mutex_t mutex; // protects `engine` and `users`
  hfta_engine *engine;
  int users; // the number of hfta_engine_acquire calls that weren't released
             // yet
  pid_t process; // the process that has started the engine; a child made by
                 // fork has no such thread
} the_process = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/// The least number of seconds that MPI gets to start, whatever the timeout: a
/// machine with other work may be slow.
static const double least_start = 5.0;

/// The duration of an election among failing ranks: much longer than a
/// heartbeat takes to reach all ranks.
static const useconds_t election_microseconds = 500000;
/// The longest wait, in seconds, for the launcher to end this process.
static const unsigned abort_seconds = 10;

//===----------------------------------------------------------------------===//
// Failing
//===----------------------------------------------------------------------===//

/// Returns whether this rank is the one that reports an error. If this rank has
/// already heard of another failing rank, that one reports; among several ranks
/// that fail at the same time, the lowest one does.
static bool win_election(hfta_engine *self) {
  pthread_mutex_lock(&self->mutex);
  bool is_candidate = !self->fails && self->failing_rank < 0;
  self->fails |= is_candidate;
  self->is_urgent = true;
  pthread_cond_signal(&self->changed);
  pthread_mutex_unlock(&self->mutex);
  if (!is_candidate)
    return false;
  usleep(election_microseconds);
  pthread_mutex_lock(&self->mutex);
  bool wins =
      self->failing_rank < 0 || self->failing_rank > self->heartbeats.rank;
  pthread_mutex_unlock(&self->mutex);
  return wins;
}

/// Sleeps until the launcher ends the process, for at most `abort_seconds`.
/// Signals that the launcher sends first interrupt a sleep, so the remaining
/// time is slept again.
static void sleep_until_ended(void) {
  unsigned left = abort_seconds;
  while (left != 0)
    left = sleep(left);
}

void hfta_engine_fail(hfta_engine *self, hfta_status code, const char *line) {
  // If another rank reports the error, it ends this rank too.
  if (!win_election(self))
    sleep_until_ended();
  fprintf(stderr, "%s\n", line);
  pthread_mutex_lock(&self->mutex);
  bool can_abort = self->state != HFTA_ENGINE_ENDED;
  self->abort_code = code;
  self->aborts = true;
  self->is_urgent = true;
  pthread_cond_signal(&self->changed);
  pthread_mutex_unlock(&self->mutex);
  if (can_abort)
    sleep_until_ended();
  _exit(code);
}

//===----------------------------------------------------------------------===//
// Ending the engine
//===----------------------------------------------------------------------===//

/// Returns whether to wait until the engine's thread ends. After a failure this
/// is needed only if the host program owns MPI: it may finalize MPI, and the
/// thread must not call MPI after that. The caller holds the mutex.
static bool awaits_end(const hfta_engine *self) {
  return self->state != HFTA_ENGINE_ENDED &&
         (self->is_hosts || self->error.code == HFTA_OK);
}

/// Asks the engine to end, and returns when all ranks have ended or a failure
/// has occurred. Returns the engine's failure, if there was one.
static hfta_status end_engine(hfta_engine *self, hfta_error *error) {
  pthread_mutex_lock(&self->mutex);
  if (awaits_end(self)) {
    self->state = HFTA_ENGINE_ENDS;
    self->is_urgent = true;
    pthread_cond_signal(&self->changed);
    while (awaits_end(self))
      pthread_cond_wait(&self->ended, &self->mutex);
  }
  hfta_status status = self->error.code;
  if (status != HFTA_OK)
    hfta_fail(error, status, "%s", self->error.message);
  bool has_ended = self->state == HFTA_ENGINE_ENDED;
  pthread_mutex_unlock(&self->mutex);
  if (has_ended)
    pthread_join(self->thread, NULL);
  return status;
}

/// The function that `exit` calls. If the exit code is 0, waits for the ends of
/// all ranks, and reports an error that occurs. Otherwise the launcher ends the
/// other ranks.
static void handle_exit(int code, void *argument) {
  hfta_engine *self = argument;
  hfta_error error;
  if (code != 0 || the_process.process != getpid() ||
      end_engine(self, &error) == HFTA_OK)
    return;
  char line[HFTA_ERROR_MESSAGE_BYTES + 320];
  snprintf(line, sizeof(line), "%.256s: rank %d: error: %s",
           program_invocation_short_name, self->heartbeats.rank, error.message);
  hfta_engine_fail(self, error.code, line);
}

//===----------------------------------------------------------------------===//
// Starting the engine
//===----------------------------------------------------------------------===//

static void free_engine(hfta_engine *self) {
  hfta_heartbeats_free(&self->heartbeats);
  pthread_cond_destroy(&self->ended);
  pthread_cond_destroy(&self->changed);
  pthread_mutex_destroy(&self->mutex);
  free(self);
}

static hfta_engine *make_engine(void) {
  hfta_engine *self = calloc(1, sizeof(*self));
  if (!self)
    return NULL;
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_mutex_init(&self->mutex, NULL);
  pthread_cond_init(&self->changed, &attributes);
  pthread_cond_init(&self->ended, &attributes);
  pthread_condattr_destroy(&attributes);
  self->posted_end = &self->posted;
  self->contexts.bits[0] = 1;
  self->failing_rank = -1;
  hfta_launcher launcher;
  hfta_launcher_find(&launcher);
  self->launched = launcher.size;
  return self;
}

/// Waits until MPI is initialised, which happens when all ranks have called its
/// initialisation. After the timeout, records the failure HFTA_LOST.
static void await_start(hfta_engine *self, double timeout) {
  double seconds = timeout > least_start ? timeout : least_start;
  struct timespec until = hfta_clock_after(seconds);
  pthread_mutex_lock(&self->mutex);
  while (self->state == HFTA_ENGINE_STARTS && self->error.code == HFTA_OK)
    if (pthread_cond_timedwait(&self->ended, &self->mutex, &until) == ETIMEDOUT)
      hfta_engine_break(self, HFTA_LOST,
                        "MPI has not started: not all ranks of the launcher "
                        "have opened it in time");
  // After a failure the host program may finalize MPI, and the thread must not
  // call MPI after that. So wait until the thread has ended.
  while (self->state == HFTA_ENGINE_STARTS && self->is_hosts)
    pthread_cond_wait(&self->ended, &self->mutex);
  pthread_mutex_unlock(&self->mutex);
}

/// Starts the engine of the process. An engine that can't start stays in the
/// process, because a second attempt would find MPI already initialised; its
/// error is in the engine.
static hfta_status start_engine(const hfta_rank_options *options,
                                hfta_error *error) {
  hfta_mpi mpi;
  hfta_status status = hfta_mpi_load(options->library, &mpi, error);
  if (status != HFTA_OK)
    return status;
  hfta_engine *self = make_engine();
  if (!self)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "not enough memory for a communicator");
  self->mpi = mpi;
  self->interval = 1.0;
  int code = hfta_thread_start(&self->thread, hfta_engine_main, self);
  if (code != 0) {
    free_engine(self);
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "cannot start a communicator's thread: %s",
                     strerror(code));
  }
  the_process.engine = self;
  the_process.process = getpid();
  await_start(self, options->timeout);
  pthread_mutex_lock(&self->mutex);
  hfta_engine_state state = self->state;
  pthread_mutex_unlock(&self->mutex);
  if (state == HFTA_ENGINE_ENDED)
    pthread_join(self->thread, NULL);
  else if (state == HFTA_ENGINE_RUNS && !self->is_hosts)
    on_exit(handle_exit, self);
  return HFTA_OK;
}

hfta_status hfta_engine_acquire(const hfta_rank_options *options,
                                hfta_engine **out, hfta_error *error) {
  pthread_mutex_lock(&the_process.mutex);
  hfta_status status = HFTA_OK;
  if (!the_process.engine)
    status = start_engine(options, error);
  hfta_engine *self = the_process.engine;
  if (status == HFTA_OK) {
    pthread_mutex_lock(&self->mutex);
    if (options->timeout > self->timeout)
      self->timeout = options->timeout;
    double interval = options->timeout / 8.0;
    if (interval < self->interval)
      self->interval = interval;
    status = self->error.code;
    if (status != HFTA_OK)
      hfta_fail(error, status, "%s", self->error.message);
    pthread_mutex_unlock(&self->mutex);
  }
  if (status == HFTA_OK) {
    ++the_process.users;
    *out = self;
  }
  pthread_mutex_unlock(&the_process.mutex);
  return status;
}

void hfta_engine_release(hfta_engine *self) {
  pthread_mutex_lock(&the_process.mutex);
  if (--the_process.users == 0 && self->is_hosts &&
      end_engine(self, NULL) == HFTA_OK) {
    free_engine(self);
    the_process.engine = NULL;
  }
  pthread_mutex_unlock(&the_process.mutex);
}
