//===- mpi_engine.c - The thread that calls MPI ---------------------------===//

#include "communicator/mpi_engine.h"
#include "system/clock.h"
#include "system/computing.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/// The rule for how long the engine's thread sleeps between two tests of its
/// posts: `part` times the time since a message last ended, but at least
/// `shortest` and at most `longest` seconds.
typedef struct pace {
  double part, shortest, longest;
} pace;

/// The pace while the process doesn't compute, or one of its threads waits for
/// another (see computing.h).
static const pace waiting_pace = {1.0 / 20.0, 50e-6, 500e-6};
/// The paces while the process computes, when each test takes time from the
/// computation. Messages to be sent use the shorter one, since another process
/// may be waiting for them. So do messages to and from other hosts, which
/// advance only inside calls of MPI. Other messages to be received use the
/// longer one, since no thread waits for them yet.
static const pace sending_pace = {1.0 / 8.0, 100e-6, 500e-6},
                  receiving_pace = {1.0 / 4.0, 200e-6, 2e-3};
/// The longest sleep, in seconds, while no post is active; a new post ends it.
static const double idle_sleep = 50e-3;

/// The seconds, after a failure, in which active posts may still end, because
/// the sending ranks may complete their messages.
static const double settling_time = 0.5;
/// The seconds, after a failure, after which threads that wait for posts to end
/// assume that the engine's thread is stuck in a call of MPI. Counted from the
/// first thread's wait.
static const double longest_settling = 4 * settling_time;

/// The most seconds between two rounds that the engine's clock counts. If this
/// process was stopped for longer, other ranks must not be blamed for that
/// time.
static const double longest_step = 0.5;

void hfta_engine_break(hfta_engine *self, hfta_status code,
                       const char *message) {
  if (self->error.code == HFTA_OK)
    hfta_fail(&self->error, code, "%s", message);
  pthread_cond_broadcast(&self->ended);
}

/// Checks the result of a call of MPI; returns true if the call has succeeded.
static bool check(hfta_engine *self, int code, const char *what) {
  if (code == HFTA_MPI_SUCCESS)
    return true;
  char reason[1024] = "", text[1280];
  int length = 0;
  self->mpi.error_string(code, reason, &length);
  snprintf(text, sizeof(text), "MPI: %s: %s", what, reason);
  pthread_mutex_lock(&self->mutex);
  hfta_engine_break(self, HFTA_INTERNAL, text);
  pthread_mutex_unlock(&self->mutex);
  return false;
}

//===----------------------------------------------------------------------===//
// Starting MPI
//===----------------------------------------------------------------------===//

/// Returns whether the start was given up, after an error or because the
/// process is about to end all ranks.
static bool is_given_up(hfta_engine *self) {
  pthread_mutex_lock(&self->mutex);
  bool result = self->error.code != HFTA_OK || self->aborts;
  pthread_mutex_unlock(&self->mutex);
  return result;
}

/// Creates an MPI communicator of all ranks, separate from the one that the
/// host program uses. If the start is given up, MPI may still write the
/// communicator's handle to the engine later, so the engine must never be
/// freed.
static hfta_status duplicate_world(hfta_engine *self, hfta_error *error) {
  void *request = NULL;
  int flag = 0;
  int code =
      self->mpi.comm_idup(self->mpi.world, &self->communicator, &request);
  while (code == HFTA_MPI_SUCCESS && !flag) {
    hfta_mpi_status status;
    code = self->mpi.test(&request, &flag, &status);
    if (code != HFTA_MPI_SUCCESS || flag)
      break;
    if (is_given_up(self))
      return hfta_fail(error, HFTA_LOST, "MPI's start was given up");
    usleep((useconds_t)(1e6 * waiting_pace.shortest));
  }
  return code == HFTA_MPI_SUCCESS
             ? HFTA_OK
             : hfta_fail(error, HFTA_INTERNAL,
                         "MPI can't duplicate the communicator of all ranks");
}

/// Initialises MPI, unless the host program has done so. If this thread
/// initialises MPI, no other thread calls MPI, so the level MPI_THREAD_FUNNELED
/// is enough. If the host program has initialised MPI, its threads call MPI
/// too, so MPI_THREAD_MULTIPLE is needed.
static hfta_status initialize(hfta_engine *self, hfta_error *error) {
  const hfta_mpi *mpi = &self->mpi;
  int flag = 0, level = 0;
  mpi->initialized(&flag);
  if (!flag) {
    self->communicator = mpi->world;
    return mpi->init_thread(NULL, NULL, HFTA_MPI_THREAD_FUNNELED, &level) ==
                   HFTA_MPI_SUCCESS
               ? HFTA_OK
               : hfta_fail(error, HFTA_UNSUPPORTED, "MPI can't be initialised");
  }
  pthread_mutex_lock(&self->mutex);
  self->is_hosts = true;
  pthread_mutex_unlock(&self->mutex);
  mpi->finalized(&flag);
  if (flag)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "the program has finalized MPI already");
  mpi->query_thread(&level);
  if (level < HFTA_MPI_THREAD_MULTIPLE)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "the program has initialised MPI with thread level %d, "
                     "where another thread can't call it: MPI_THREAD_MULTIPLE "
                     "is needed",
                     level);
  return duplicate_world(self, error);
}

static hfta_status check_world(hfta_engine *self, hfta_error *error) {
  const hfta_mpi *mpi = &self->mpi;
  hfta_heartbeats *heartbeats = &self->heartbeats;
  mpi->comm_set_errhandler(self->communicator, mpi->errors_return);
  mpi->comm_size(self->communicator, &heartbeats->size);
  mpi->comm_rank(self->communicator, &heartbeats->rank);
  if (heartbeats->size != self->launched)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "the launcher has started %d ranks, but the MPI library "
                     "sees %d: it isn't the launcher's own",
                     self->launched, heartbeats->size);
  int needed = hfta_mpi_tag(HFTA_MAX_CONTEXTS, 0) - 1;
  int *greatest = NULL, flag = 0;
  mpi->comm_get_attr(mpi->world, HFTA_MPI_TAG_UB, &greatest, &flag);
  if (!flag || *greatest < needed)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "the MPI library has tags up to %d; %d are needed",
                     flag ? *greatest : 0, needed);
  return HFTA_OK;
}

static bool start(hfta_engine *self) {
  hfta_error error;
  hfta_status status = initialize(self, &error);
  if (status == HFTA_OK)
    status = check_world(self, &error);
  if (status == HFTA_OK)
    status = hfta_heartbeats_begin(&self->heartbeats, &self->mpi,
                                   self->communicator, 0.0, &error);
  pthread_mutex_lock(&self->mutex);
  if (status != HFTA_OK)
    hfta_engine_break(self, status, error.message);
  // If the host program owns MPI and its call of `open` has failed before the
  // start succeeded, nobody will ask the thread to end later. So the thread
  // ends now.
  bool runs =
      status == HFTA_OK && (!self->is_hosts || self->error.code == HFTA_OK);
  if (status == HFTA_OK && !runs)
    hfta_heartbeats_cancel(&self->heartbeats);
  if (self->aborts)
    self->mpi.abort(self->mpi.world, self->abort_code);
  self->state = runs ? HFTA_ENGINE_RUNS : HFTA_ENGINE_ENDED;
  pthread_cond_broadcast(&self->ended);
  pthread_mutex_unlock(&self->mutex);
  return runs;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

static const hfta_mpi_communicator *communicator_of(const hfta_posted *posted) {
  return (const hfta_mpi_communicator *)posted->communicator;
}

static bool is_remote(const hfta_transfer *transfer) {
  return transfer->message.peer != transfer->posted->communicator->rank;
}

static int peer_of(const hfta_transfer *transfer) {
  return communicator_of(transfer->posted)->world[transfer->message.peer];
}

static bool start_transfer(hfta_engine *self, hfta_transfer *transfer) {
  const hfta_message *message = &transfer->message;
  const hfta_posted *posted = transfer->posted;
  int tag = hfta_mpi_tag(communicator_of(posted)->context, posted->label.tag);
  int count = (int)message->bytes, peer = peer_of(transfer);
  int code = message->sends
                 ? self->mpi.isend(message->memory, count, self->mpi.byte, peer,
                                   tag, self->communicator, &transfer->request)
                 : self->mpi.irecv(message->memory, count, self->mpi.byte, peer,
                                   tag, self->communicator, &transfer->request);
  return check(self, code, posted->label.what);
}

/// Appends new posts to the list of active ones, in their order, and starts
/// their transfers with other ranks. Returns whether MPI has accepted all of
/// them.
static bool start_posts(hfta_engine *self, hfta_posted *first) {
  hfta_posted **end = &self->active;
  while (*end)
    end = &(*end)->next;
  *end = first;
  for (hfta_posted *posted = first; posted; posted = posted->next)
    for (uint32_t i = 0; i < posted->count; ++i)
      if (is_remote(&posted->transfers[i]) &&
          !start_transfer(self, &posted->transfers[i]))
        return false;
  return true;
}

/// Records the failure that a received message has another length than its
/// receiver expects. `count` is the received length in bytes, -1 if it is
/// greater than expected.
static void report_length(hfta_engine *self, const hfta_transfer *transfer,
                          int count) {
  char text[512], came[64] = "more came";
  if (count >= 0)
    snprintf(came, sizeof(came), "%d came", count);
  const hfta_posted *posted = transfer->posted;
  snprintf(text, sizeof(text), "%.300s%s: %llu bytes expected from rank %d, %s",
           posted->label.what, hfta_describe_micro_batch(&posted->label).text,
           (unsigned long long)transfer->message.bytes, peer_of(transfer),
           came);
  pthread_mutex_lock(&self->mutex);
  hfta_engine_break(self, HFTA_INTERNAL, text);
  pthread_mutex_unlock(&self->mutex);
}

/// Tests a transfer that has started. Returns whether it has ended,
/// successfully or not.
static bool test_transfer(hfta_engine *self, hfta_transfer *transfer) {
  hfta_mpi_status status;
  int flag = 0, count = -1;
  int code = self->mpi.test(&transfer->request, &flag, &status);
  if (code == HFTA_MPI_SUCCESS && !flag)
    return false;
  transfer->request = NULL;
  if (transfer->message.sends) {
    check(self, code, transfer->posted->label.what);
    return true;
  }
  if (code == HFTA_MPI_SUCCESS)
    self->mpi.get_count(&status, self->mpi.byte, &count);
  else if (code != HFTA_MPI_ERR_TRUNCATE)
    check(self, code, transfer->posted->label.what);
  if (count < 0 || (uint64_t)count != transfer->message.bytes)
    report_length(self, transfer, count);
  // Only receives count as a peer's progress: a short send may end although its
  // receiver is no longer alive.
  self->heartbeats.peers[peer_of(transfer)].progressed = self->now;
  return true;
}

/// Marks all transfers of a post with other ranks as ended, so that MPI no
/// longer uses its memory, and wakes waiting threads.
static void end_post(hfta_engine *self, hfta_posted *posted) {
  pthread_mutex_lock(&self->mutex);
  posted->left -= posted->remote;
  posted->remote = 0;
  pthread_cond_broadcast(&self->ended);
  pthread_mutex_unlock(&self->mutex);
}

/// Tests all active posts, and removes those that have ended. Returns whether
/// any transfer has ended.
static bool test_posts(hfta_engine *self) {
  bool moved = false;
  for (hfta_posted **link = &self->active; *link;) {
    hfta_posted *posted = *link;
    uint32_t ended = 0;
    for (uint32_t i = 0; i < posted->count; ++i)
      if (posted->transfers[i].request)
        ended += test_transfer(self, &posted->transfers[i]);
    moved |= ended != 0;
    posted->running -= ended;
    if (posted->running != 0) {
      link = &posted->next;
      continue;
    }
    *link = posted->next;
    end_post(self, posted);
  }
  if (moved)
    atomic_fetch_add_explicit(&self->counter, 1, memory_order_relaxed);
  return moved;
}

//===----------------------------------------------------------------------===//
// After a failure
//===----------------------------------------------------------------------===//

/// Cancels all active receives. This ends those for which no message has
/// arrived. It doesn't end receives whose message is arriving; sends can't be
/// cancelled.
static void cancel_receives(hfta_engine *self) {
  for (hfta_posted *posted = self->active; posted; posted = posted->next)
    for (uint32_t i = 0; i < posted->count; ++i) {
      hfta_transfer *transfer = &posted->transfers[i];
      if (transfer->request && !transfer->message.sends)
        self->mpi.cancel(&transfer->request);
    }
}

/// Tests the transfers of a post after a failure. Returns whether all of them
/// have ended, successfully or not.
static bool has_ended(const hfta_engine *self, hfta_posted *posted) {
  bool ended = true;
  for (uint32_t i = 0; i < posted->count; ++i) {
    hfta_transfer *transfer = &posted->transfers[i];
    hfta_mpi_status status;
    int flag = 0;
    if (transfer->request &&
        self->mpi.test(&transfer->request, &flag, &status) ==
            HFTA_MPI_SUCCESS &&
        !flag)
      ended = false;
    else
      transfer->request = NULL;
  }
  return ended;
}

/// Ends as many posts as possible after a failure; called repeatedly until none
/// is active. The posts in the list `posted` haven't started and end at once,
/// without being started.
static void take_back(hfta_engine *self, hfta_posted *posted) {
  while (posted) {
    hfta_posted *next = posted->next;
    end_post(self, posted);
    posted = next;
  }
  if (self->broken == 0.0) {
    self->broken = hfta_now();
    cancel_receives(self);
  }
  for (hfta_posted **link = &self->active; *link;) {
    hfta_posted *own = *link;
    if (!has_ended(self, own)) {
      link = &own->next;
      continue;
    }
    *link = own->next;
    end_post(self, own);
  }
  pthread_mutex_lock(&self->mutex);
  self->keeps_memory = self->active != NULL;
  self->is_settled |=
      !self->active || hfta_now() - self->broken > settling_time;
  pthread_cond_broadcast(&self->ended);
  pthread_mutex_unlock(&self->mutex);
}

/// Calls take_back until no post is active or `settling_time` is over. Called
/// before the thread ends after a failure, because a host program may go on
/// using MPI and the memory of its posts.
static void take_all_back(hfta_engine *self) {
  take_back(self, NULL);
  while (!self->is_settled) {
    usleep((useconds_t)(1e6 * waiting_pace.longest));
    take_back(self, NULL);
  }
  hfta_heartbeats_cancel(&self->heartbeats);
}

bool hfta_engine_settle(hfta_engine *self) {
  if (!self->settles) {
    self->settles = true;
    self->settles_until = hfta_clock_after(longest_settling);
  }
  self->is_urgent = true;
  pthread_cond_signal(&self->changed);
  while (!self->is_settled && self->state != HFTA_ENGINE_ENDED)
    if (pthread_cond_timedwait(&self->ended, &self->mutex,
                               &self->settles_until) == ETIMEDOUT)
      return true;
  return self->keeps_memory;
}

//===----------------------------------------------------------------------===//
// Lost ranks
//===----------------------------------------------------------------------===//

static const char *describe_silence(const hfta_engine *self, int rank,
                                    double timeout) {
  if (self->heartbeats.peers[rank].last.state == HFTA_RANK_ENDS)
    return "has ended and sent nothing";
  return hfta_heartbeats_answers(&self->heartbeats, rank, self->now, timeout)
             ? "has made no progress"
             : "has not answered";
}

static void report_lost(hfta_engine *self, const hfta_posted *posted, int rank,
                        int peer) {
  double timeout = communicator_of(posted)->timeout;
  char text[512], through[64] = "";
  if (peer != rank)
    snprintf(through, sizeof(through), " with rank %d, which waits for it",
             peer);
  snprintf(text, sizeof(text), "rank %d %s for %g s, in %.300s%s%s", rank,
           describe_silence(self, rank, timeout), timeout, posted->label.what,
           hfta_describe_micro_batch(&posted->label).text, through);
  hfta_engine_break(self, HFTA_LOST, text);
}

/// Returns whether a post that a thread waits for will never end, because a
/// rank is lost; if so, records the failure. The caller holds the mutex.
static bool is_lost(hfta_engine *self, const hfta_posted *posted) {
  double timeout = communicator_of(posted)->timeout;
  for (uint32_t i = 0; i < posted->count; ++i) {
    const hfta_transfer *transfer = &posted->transfers[i];
    if (!transfer->request)
      continue;
    int peer = peer_of(transfer);
    int rank = hfta_heartbeats_blame(&self->heartbeats, peer, posted->began,
                                     self->now, timeout);
    if (rank < 0)
      continue;
    report_lost(self, posted, rank, peer);
    return true;
  }
  return false;
}

/// Sets `out->waits_for` to a rank that a thread of this rank waits for, and
/// `out->idle` to the seconds since any awaited rank last made progress. If no
/// thread waits, `waits_for` becomes -1. The caller holds the mutex.
static void find_awaited(const hfta_engine *self, hfta_own_state *out) {
  out->waits_for = -1;
  for (const hfta_posted *posted = self->active; posted; posted = posted->next)
    for (uint32_t i = 0; posted->is_waited_for && i < posted->count; ++i) {
      if (!posted->transfers[i].request)
        continue;
      int peer = peer_of(&posted->transfers[i]);
      double idle = hfta_heartbeats_idle(&self->heartbeats, peer, self->now);
      if (out->waits_for < 0) {
        out->waits_for = peer;
        out->idle = idle;
      }
      out->idle = idle < out->idle ? idle : out->idle;
    }
}

static void find_lost(hfta_engine *self) {
  for (const hfta_posted *posted = self->active; posted; posted = posted->next)
    if (posted->is_waited_for && is_lost(self, posted))
      return;
}

//===----------------------------------------------------------------------===//
// The thread
//===----------------------------------------------------------------------===//

/// The input of one round of the thread's loop: the requests of other threads,
/// copied under the mutex, and the state that this rank sends to the others.
typedef struct round {
  hfta_posted *posted;
  hfta_own_state own;
  bool aborts, is_broken;
  double timeout;
} round;

static round begin_round(hfta_engine *self, double *last) {
  pthread_mutex_lock(&self->mutex);
  double time = hfta_now(), step = time - *last;
  *last = time;
  self->now += step < longest_step ? step : longest_step;
  self->failing_rank = self->heartbeats.failing;
  self->heartbeats.interval = self->interval;
  if (self->error.code == HFTA_OK)
    find_lost(self);
  round out = {.posted = self->posted,
               .aborts = self->aborts,
               .is_broken = self->error.code != HFTA_OK,
               .timeout = self->timeout};
  find_awaited(self, &out.own);
  out.own.counter = atomic_load(&self->counter);
  if (self->fails)
    out.own.state = HFTA_RANK_FAILS;
  else if (self->state == HFTA_ENGINE_ENDS)
    out.own.state = HFTA_RANK_ENDS;
  self->posted = NULL;
  self->posted_end = &self->posted;
  pthread_mutex_unlock(&self->mutex);
  return out;
}

/// Chooses the pace for the active posts while the process computes.
static const pace *choose_pace(const hfta_engine *self) {
  bool sends = false;
  for (const hfta_posted *posted = self->active; posted; posted = posted->next)
    for (uint32_t i = 0; i < posted->count; ++i) {
      const hfta_transfer *transfer = &posted->transfers[i];
      if (!transfer->request)
        continue;
      const bool *is_far = posted->communicator->is_far;
      if (is_far && is_far[transfer->message.peer])
        return &sending_pace;
      sends |= transfer->message.sends;
    }
  return sends ? &sending_pace : &receiving_pace;
}

static double choose_sleep(const hfta_engine *self, double quiet) {
  if (!self->active && self->state == HFTA_ENGINE_RUNS)
    return idle_sleep;
  const pace *pace = self->is_patient ? choose_pace(self) : &waiting_pace;
  double seconds = quiet * pace->part;
  seconds = seconds < pace->shortest ? pace->shortest : seconds;
  return seconds > pace->longest ? pace->longest : seconds;
}

/// Sleeps until something is posted, the process stops computing, or the next
/// test is due. Returns whether the process has stopped computing during the
/// sleep.
static bool sleep_a_while(hfta_engine *self, double quiet) {
  pthread_mutex_lock(&self->mutex);
  bool is_patient = self->active && hfta_is_computing();
  self->is_patient = is_patient;
  struct timespec until = hfta_clock_after(choose_sleep(self, quiet));
  if (!self->posted && !self->is_urgent)
    pthread_cond_timedwait(&self->changed, &self->mutex, &until);
  self->is_urgent = false;
  bool is_waited_for = is_patient && !self->is_patient;
  self->is_patient = false;
  pthread_mutex_unlock(&self->mutex);
  return is_waited_for;
}

/// Wakes the thread from a sleep that was chosen for a computing process.
/// Called when the process stops computing.
static void end_patience(void *engine) {
  hfta_engine *self = engine;
  pthread_mutex_lock(&self->mutex);
  if (self->is_patient)
    pthread_cond_signal(&self->changed);
  self->is_patient = false;
  pthread_mutex_unlock(&self->mutex);
}

/// Returns whether this rank has ended and another rank, which hasn't, has not
/// answered for the timeout; if so, records the failure.
static bool has_lost_end(hfta_engine *self, double timeout) {
  for (int i = 0; i < self->heartbeats.size; ++i) {
    const hfta_peer *peer = &self->heartbeats.peers[i];
    if (i == self->heartbeats.rank || peer->last.state == HFTA_RANK_ENDS ||
        self->now - peer->heard < timeout)
      continue;
    char text[128];
    snprintf(text, sizeof(text),
             "rank %d has not answered for %g s; this rank has ended", i,
             timeout);
    pthread_mutex_lock(&self->mutex);
    hfta_engine_break(self, HFTA_LOST, text);
    pthread_mutex_unlock(&self->mutex);
    return true;
  }
  return false;
}

/// Returns whether a rank that is to end may do so without waiting for the ends
/// of all other ranks. If the host program owns MPI, that is the case after a
/// failure, once the last heartbeats are sent, or when another rank is lost.
static bool may_leave(hfta_engine *self, const round *now) {
  if (now->is_broken && !self->is_hosts)
    return false;
  if (now->is_broken && hfta_heartbeats_have_told(&self->heartbeats))
    return true;
  return has_lost_end(self, now->timeout) && self->is_hosts;
}

static void run(hfta_engine *self) {
  double last = hfta_now(), moved = last;
  for (;;) {
    round now = begin_round(self, &last);
    if (now.aborts)
      self->mpi.abort(self->mpi.world, self->abort_code);
    if (!check(self,
               hfta_heartbeats_tick(&self->heartbeats, self->now, &now.own),
               "heartbeats"))
      return;
    bool ends = now.own.state == HFTA_RANK_ENDS;
    if (ends && hfta_heartbeats_are_over(&self->heartbeats))
      return;
    // The host program, if it owns MPI, goes on after this thread has left.
    // Otherwise the thread must stay, since this rank has an error to report.
    if (ends && may_leave(self, &now))
      return;
    // After a failure no messages are started, but heartbeats are still sent.
    bool moves = false;
    if (now.is_broken)
      take_back(self, now.posted);
    else if (now.posted)
      moves = start_posts(self, now.posted);
    if (!now.is_broken)
      moves |= test_posts(self);
    if (moves || sleep_a_while(self, last - moved))
      moved = last;
  }
}

void *hfta_engine_main(void *engine) {
  hfta_engine *self = engine;
  if (!start(self))
    return NULL;
  hfta_computing_listen(end_patience, self);
  run(self);
  hfta_computing_listen(NULL, NULL);
  pthread_mutex_lock(&self->mutex);
  bool is_broken = self->error.code != HFTA_OK;
  pthread_mutex_unlock(&self->mutex);
  if (is_broken)
    take_all_back(self);
  else if (self->is_hosts)
    self->mpi.comm_free(&self->communicator);
  else
    self->mpi.finalize();
  pthread_mutex_lock(&self->mutex);
  self->state = HFTA_ENGINE_ENDED;
  pthread_cond_broadcast(&self->ended);
  pthread_mutex_unlock(&self->mutex);
  return NULL;
}
