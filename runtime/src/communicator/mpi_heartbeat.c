//===- mpi_heartbeat.c - Heartbeats between ranks -------------------------===//

#include "communicator/mpi_heartbeat.h"

#include <stdlib.h>

/// The tag of heartbeats. They use context 0, in which no other message has
/// this tag.
enum { HEARTBEAT_TAG = 0 };

static int receive_next(hfta_heartbeats *self) {
  if (self->working == 0)
    return HFTA_MPI_SUCCESS;
  return self->mpi->irecv(&self->incoming, sizeof(self->incoming),
                          self->mpi->byte, HFTA_MPI_ANY_SOURCE, HEARTBEAT_TAG,
                          self->communicator, &self->request);
}

hfta_status hfta_heartbeats_begin(hfta_heartbeats *self, const hfta_mpi *mpi,
                                  void *communicator, double now,
                                  hfta_error *error) {
  self->mpi = mpi;
  self->communicator = communicator;
  self->peers = calloc((size_t)self->size, sizeof(*self->peers));
  if (!self->peers)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for %d ranks",
                     self->size);
  for (int i = 0; i < self->size; ++i) {
    self->peers[i].last.waits_for = -1;
    self->peers[i].heard = self->peers[i].progressed = now;
  }
  self->own = (hfta_heartbeat){.rank = self->rank, .waits_for = -1};
  self->working = self->size - 1;
  self->failing = -1;
  self->next = self->progressed = now;
  if (receive_next(self) != HFTA_MPI_SUCCESS)
    return hfta_fail(error, HFTA_INTERNAL, "MPI can't receive");
  return HFTA_OK;
}

void hfta_heartbeats_free(hfta_heartbeats *self) {
  free(self->peers);
  self->peers = NULL;
}

void hfta_heartbeats_cancel(hfta_heartbeats *self) {
  hfta_mpi_status status;
  int flag = 0;
  if (!self->request)
    return;
  self->mpi->cancel(&self->request);
  self->mpi->test(&self->request, &flag, &status);
  self->request = NULL;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

static void take(hfta_heartbeats *self, double now) {
  const hfta_heartbeat *incoming = &self->incoming;
  if (incoming->rank < 0 || incoming->rank >= self->size)
    return;
  hfta_peer *peer = &self->peers[incoming->rank];
  if (incoming->counter != peer->last.counter)
    peer->progressed = now;
  if (incoming->state == HFTA_RANK_ENDS && peer->last.state != HFTA_RANK_ENDS)
    --self->working;
  if (incoming->state == HFTA_RANK_FAILS &&
      (self->failing < 0 || incoming->rank < self->failing))
    self->failing = incoming->rank;
  peer->heard = now;
  peer->last = *incoming;
}

static int take_all(hfta_heartbeats *self, double now) {
  while (self->request) {
    hfta_mpi_status status;
    int flag = 0;
    int code = self->mpi->test(&self->request, &flag, &status);
    if (code != HFTA_MPI_SUCCESS || !flag)
      return code;
    self->request = NULL;
    take(self, now);
    code = receive_next(self);
    if (code != HFTA_MPI_SUCCESS)
      return code;
  }
  return HFTA_MPI_SUCCESS;
}

/// Sends the latest heartbeat to a rank, unless the previous one is still in
/// flight. Otherwise heartbeats to a stopped rank would pile up.
static int send_to(hfta_heartbeats *self, int rank) {
  hfta_peer *peer = &self->peers[rank];
  if (peer->request) {
    hfta_mpi_status status;
    int flag = 0;
    int code = self->mpi->test(&peer->request, &flag, &status);
    if (code != HFTA_MPI_SUCCESS || !flag)
      return code;
    peer->request = NULL;
  }
  if (peer->has_latest)
    return HFTA_MPI_SUCCESS;
  peer->has_latest = true;
  peer->sent = self->own;
  return self->mpi->isend(&peer->sent, sizeof(peer->sent), self->mpi->byte,
                          rank, HEARTBEAT_TAG, self->communicator,
                          &peer->request);
}

/// Fills in the heartbeat that is sent to all ranks from now on, and sets the
/// time of the next one.
static void renew(hfta_heartbeats *self, double now,
                  const hfta_own_state *own) {
  self->next = now + self->interval;
  double idle = now - self->progressed;
  self->own.counter = own->counter;
  self->own.waits_for = own->waits_for;
  self->own.idle =
      (float)(own->waits_for >= 0 && own->idle < idle ? own->idle : idle);
  self->own.state = (int32_t)own->state;
  for (int i = 0; i < self->size; ++i)
    self->peers[i].has_latest = i == self->rank;
}

int hfta_heartbeats_tick(hfta_heartbeats *self, double now,
                         const hfta_own_state *own) {
  int code = take_all(self, now);
  if (own->counter != self->counter) {
    self->counter = own->counter;
    self->progressed = now;
  }
  // After the heartbeat that says that this rank has ended, only one that
  // reports an error may follow.
  bool has_ended =
      self->own.state == HFTA_RANK_ENDS && own->state != HFTA_RANK_FAILS;
  // The interval may have become shorter since `next` was set.
  bool is_due = now + self->interval < self->next || now >= self->next;
  if (!has_ended && (is_due || (int)own->state != self->own.state))
    renew(self, now, own);
  for (int i = 0; i < self->size && code == HFTA_MPI_SUCCESS; ++i)
    if (!self->peers[i].has_latest || self->peers[i].request)
      code = send_to(self, i);
  return code;
}

bool hfta_heartbeats_have_told(const hfta_heartbeats *self) {
  bool told = self->own.state == HFTA_RANK_ENDS;
  for (int i = 0; i < self->size && told; ++i)
    told = self->peers[i].has_latest && !self->peers[i].request;
  return told;
}

bool hfta_heartbeats_are_over(const hfta_heartbeats *self) {
  return self->working == 0 && hfta_heartbeats_have_told(self);
}

//===----------------------------------------------------------------------===//
// Finding the rank to blame
//===----------------------------------------------------------------------===//

bool hfta_heartbeats_answers(const hfta_heartbeats *self, int rank, double now,
                             double timeout) {
  return now - self->peers[rank].heard < timeout / 2.0;
}

static double still_since(const hfta_heartbeats *self, int rank, double began) {
  double progressed = self->peers[rank].progressed;
  return progressed > began ? progressed : began;
}

double hfta_heartbeats_idle(const hfta_heartbeats *self, int rank, double now) {
  const hfta_peer *peer = &self->peers[rank];
  double own = now - peer->progressed;
  double said = (double)peer->last.idle + now - peer->heard;
  return said < own ? said : own;
}

int hfta_heartbeats_blame(const hfta_heartbeats *self, int peer, double began,
                          double now, double timeout) {
  // Follow the chain from each rank to the one that it waits for. The ranks
  // that wait directly for the last rank of the chain notice first that it
  // makes no progress. So this rank waits twice as long if others are between
  // it and the last one.
  int last = peer;
  double patience = timeout;
  for (int hops = 0; hops < self->size; ++hops) {
    int next = self->peers[last].last.waits_for;
    bool waits = next >= 0 && next < self->size &&
                 hfta_heartbeats_answers(self, last, now, timeout);
    if (!waits)
      return now - still_since(self, last, began) > patience ? last : -1;
    patience = 2.0 * timeout;
    if (next == self->rank)
      break;
    last = next;
  }
  // The chain is a cycle: its ranks seem to wait for each other. Some of them
  // may also wait for a rank outside the cycle that makes progress. This rank
  // learns of that progress through the `idle` times in heartbeats, which pass
  // it on by one rank per interval.
  double idle = hfta_heartbeats_idle(self, peer, now);
  idle = idle < now - began ? idle : now - began;
  return idle > patience + self->interval * self->size ? peer : -1;
}
