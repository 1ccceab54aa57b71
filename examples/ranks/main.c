// An MPI program that trains a compiled job on all ranks, and exchanges its own
// messages at the same time. See README.md.

#include "curve.h"

#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

// The number of copies and the batch size, which must be those of the job file.
enum { COPIES = 3, BATCH = 128 };

// The size of a micro-batch: a call of `infer` takes this many points.
enum { POINTS = BATCH / 8 };

enum { STEPS = 400, PRINT_EVERY = 100 };

typedef struct samples {
  float x[BATCH];
  float y[BATCH];
} samples;

/// Returns a pseudorandom number in [0, 1). Its sequence is the same in every
/// run of the program.
static double draw(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 40) / 16777216.0;
}

/// Makes points of the curve y = sin(3 x).
static void make_batch(uint64_t *state, samples *out) {
  for (int i = 0; i < BATCH; ++i) {
    double x = 2.0 * draw(state) - 1.0;
    out->x[i] = (float)x;
    out->y[i] = (float)sin(3.0 * x);
  }
}

/// Returns whether a call has succeeded; otherwise prints its error message.
static bool check(hfta_status status, const char *what, const char *message) {
  if (status != HFTA_OK)
    fprintf(stderr, "fit: %s: %s\n", what, message);
  return status == HFTA_OK;
}

/// Makes a batch on rank 0, and starts to broadcast it to all ranks. `request`
/// is complete when `batch` has arrived.
static void send_batch(int rank, uint64_t *state, samples *batch,
                       MPI_Request *request) {
  if (rank == 0)
    make_batch(state, batch);
  MPI_Ibcast(batch, 2 * BATCH, MPI_FLOAT, 0, MPI_COMM_WORLD, request);
}

/// Trains for STEPS steps. Every rank passes the whole batch to `step`, which
/// computes only this rank's micro-batches. The next batch is broadcast
/// meanwhile (double buffering).
static bool train(curve *training, int rank) {
  uint64_t state = 1;
  samples batches[2];
  double losses[COPIES];
  MPI_Request request;
  send_batch(rank, &state, &batches[0], &request);
  for (int step = 0; step < STEPS; ++step) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    const samples *batch = &batches[step % 2];
    if (step + 1 < STEPS)
      send_batch(rank, &state, &batches[(step + 1) % 2], &request);
    const void *inputs[] = {batch->x, batch->y};
    if (!check(curve_step(training, inputs, losses), "step",
               curve_message(training)))
      return false;
    // `losses` is the same on all ranks: the losses of the whole batch.
    if (rank == 0 && (step + 1) % PRINT_EVERY == 0)
      printf("step %3d: losses %.17g %.17g %.17g\n", step + 1, losses[0],
             losses[1], losses[2]);
  }
  return true;
}

/// Prints the largest error of each copy's predictions. The points are divided
/// among the ranks. Returns false if a call fails.
static bool compare(curve *training, int rank, int ranks) {
  enum { ROUNDS = 12 };
  double own[COPIES] = {0}, all[COPIES];
  for (int round = rank; round < ROUNDS; round += ranks) {
    float x[POINTS];
    for (int i = 0; i < POINTS; ++i)
      x[i] = 2.0f * (float)(round * POINTS + i) / (ROUNDS * POINTS) - 1.0f;
    const void *inputs[] = {x};
    if (!check(curve_infer(training, inputs), "infer", curve_message(training)))
      return false;
    for (int copy = 0; copy < COPIES; ++copy) {
      hfta_tensor_info y;
      if (!check(curve_tensor(training, copy, "output/y", &y), "tensor",
                 curve_message(training)))
        return false;
      for (int i = 0; i < POINTS; ++i)
        own[copy] =
            fmax(own[copy], fabs(((const float *)y.data)[i] - sin(3.0 * x[i])));
    }
  }
  MPI_Allreduce(own, all, COPIES, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0)
    printf("largest errors: %.17g %.17g %.17g\n", all[0], all[1], all[2]);
  return true;
}

int main(int argc, char **argv) {
  // The runtime calls MPI from its own thread while this thread also calls MPI,
  // so MPI_THREAD_MULTIPLE is needed.
  int level, rank, ranks;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  curve *training = NULL;
  hfta_error error;
  hfta_options options = {.threads = 1, .error = &error};
  bool done =
      check(curve_create(&options, &training), "create", error.message) &&
      curve_copies(training) == COPIES && curve_batch(training) == BATCH &&
      train(training, rank) && compare(training, rank, ranks) &&
      (argc < 2 ||
       check(curve_save(training, argv[1]), "save", curve_message(training)));
  // End all ranks, as others may be waiting for this one.
  if (!done)
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  curve_destroy(training);
  MPI_Finalize();
  return EXIT_SUCCESS;
}
