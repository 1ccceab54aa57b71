// A C program that trains two compiled jobs in its own loop: two instances of
// `sine`, and one of `rings`. See README.md.

#include "rings.h"
#include "sine.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Copies and batch sizes, which must be those of the job files.
enum { SINE_COPIES = 3, SINE_BATCH = 64, RINGS_COPIES = 2, RINGS_BATCH = 128 };

enum { STEPS = 600, PRINT_EVERY = 100 };

typedef struct trainings {
  sine *first;
  sine *second;
  rings *third;
} trainings;

/// The last loss of each copy of the three instances.
typedef struct losses {
  double first[SINE_COPIES];
  double second[SINE_COPIES];
  double third[RINGS_COPIES];
} losses;

//===----------------------------------------------------------------------===//
// Batches
//===----------------------------------------------------------------------===//

typedef struct sine_samples {
  float x[SINE_BATCH];
  float y[SINE_BATCH];
} sine_samples;

typedef struct rings_samples {
  uint8_t point[RINGS_BATCH][2];
  uint8_t ring[RINGS_BATCH];
} rings_samples;

/// Returns a pseudorandom number in [0, 1). Its sequence is the same in every
/// run of the program.
static double draw(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 40) / 16777216.0;
}

/// Makes points of the curve y = sin(3 x).
static void make_sine_batch(uint64_t *state, sine_samples *out) {
  for (int i = 0; i < SINE_BATCH; ++i) {
    double x = 2.0 * draw(state) - 1.0;
    out->x[i] = (float)x;
    out->y[i] = (float)sin(3.0 * x);
  }
}

/// Makes random points of a square, with the number of the ring in which each
/// point lies.
static void make_rings_batch(uint64_t *state, rings_samples *out) {
  for (int i = 0; i < RINGS_BATCH; ++i) {
    double across = 256.0 * draw(state), down = 256.0 * draw(state);
    double radius = hypot(across - 128.0, down - 128.0);
    out->point[i][0] = (uint8_t)across;
    out->point[i][1] = (uint8_t)down;
    out->ring[i] = radius < 48.0 ? 0 : radius < 96.0 ? 1 : 2;
  }
}

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

/// Returns whether a call has succeeded; otherwise prints its error message.
static bool check(hfta_status status, const char *what, const char *message) {
  if (status != HFTA_OK)
    fprintf(stderr, "embed: %s: %s\n", what, message);
  return status == HFTA_OK;
}

/// Creates the three instances. Returns false if that fails, or if a job has
/// other sizes than this program expects.
static bool create(trainings *out) {
  hfta_error error;
  // Each instance gets one thread, as its model is too small for more.
  hfta_options options = {.threads = 1, .error = &error};
  return check(sine_create(&options, &out->first), "sine", error.message) &&
         check(sine_create(&options, &out->second), "sine", error.message) &&
         check(rings_create(&options, &out->third), "rings", error.message) &&
         sine_copies(out->first) == SINE_COPIES &&
         sine_batch(out->first) == SINE_BATCH &&
         rings_copies(out->third) == RINGS_COPIES &&
         rings_batch(out->third) == RINGS_BATCH;
}

static void destroy(trainings *self) {
  sine_destroy(self->first);
  sine_destroy(self->second);
  rings_destroy(self->third);
}

/// Runs one step of each instance. The first and third call `step`, which
/// computes the gradients of one batch and updates the weights. The second
/// calls `accumulate` for two batches, and then `update`.
static bool step(trainings *self, uint64_t *state, losses *out) {
  sine_samples curve, other;
  rings_samples points;
  make_sine_batch(state, &curve);
  make_sine_batch(state, &other);
  make_rings_batch(state, &points);

  // A batch is an array of pointers, one for each field of the job's data
  // block, in the order of the fields.
  const void *curve_inputs[] = {curve.x, curve.y};
  const void *other_inputs[] = {other.x, other.y};
  const void *points_inputs[] = {points.point, points.ring};
  return check(sine_step(self->first, curve_inputs, out->first), "first",
               sine_message(self->first)) &&
         check(sine_accumulate(self->second, curve_inputs, NULL), "second",
               sine_message(self->second)) &&
         check(sine_accumulate(self->second, other_inputs, out->second),
               "second", sine_message(self->second)) &&
         check(sine_update(self->second), "second",
               sine_message(self->second)) &&
         check(rings_step(self->third, points_inputs, out->third), "third",
               rings_message(self->third));
}

static void print_losses(const char *name, int count, const double *values) {
  printf("  %s", name);
  for (int i = 0; i < count; ++i)
    printf(" %.5f", values[i]);
}

/// Returns whether every copy's last loss is less than half of its first loss.
static bool has_learnt(int count, const double *first, const double *last) {
  for (int i = 0; i < count; ++i)
    if (!(last[i] < 0.5 * first[i]))
      return false;
  return true;
}

static bool train(trainings *self, uint64_t *state) {
  losses begin = {0}, now = {0};
  for (int i = 1; i <= STEPS; ++i) {
    if (!step(self, state, &now))
      return false;
    if (i == 1)
      begin = now;
    if (i > 1 && i % PRINT_EVERY != 0)
      continue;
    printf("step %3d", i);
    print_losses("sine", SINE_COPIES, now.first);
    print_losses("sine", SINE_COPIES, now.second);
    print_losses("rings", RINGS_COPIES, now.third);
    printf("\n");
  }
  bool learnt = has_learnt(SINE_COPIES, begin.first, now.first) &&
                has_learnt(SINE_COPIES, begin.second, now.second) &&
                has_learnt(RINGS_COPIES, begin.third, now.third);
  if (!learnt)
    fprintf(stderr, "embed: a loss has not fallen to its half\n");
  return learnt;
}

//===----------------------------------------------------------------------===//
// After the training
//===----------------------------------------------------------------------===//

/// Prints the loss and accuracy of `rings` on new points.
static bool evaluate(trainings *self, uint64_t *state) {
  rings_samples points;
  make_rings_batch(state, &points);
  const void *inputs[] = {points.point, points.ring};
  double loss[RINGS_COPIES], accuracy[RINGS_COPIES];
  if (!check(rings_evaluate(self->third, inputs, RINGS_BATCH, loss, accuracy),
             "evaluate", rings_message(self->third)))
    return false;
  for (int copy = 0; copy < RINGS_COPIES; ++copy)
    printf("rings, copy %d: loss %.5f, accuracy %.2f %% on new points\n", copy,
           loss[copy], 100.0 * accuracy[copy]);
  return true;
}

/// Prints each copy's prediction, in the first instance of `sine`, for x = 0.5.
static bool infer(trainings *self) {
  float x[SINE_BATCH] = {0.5f};
  const void *inputs[] = {x};
  if (!check(sine_infer(self->first, inputs), "infer",
             sine_message(self->first)))
    return false;
  for (int copy = 0; copy < SINE_COPIES; ++copy) {
    hfta_tensor_info y;
    if (!check(sine_tensor(self->first, copy, "output/y", &y), "tensor",
               sine_message(self->first)))
      return false;
    printf("sine, copy %d: sin(1.5) is %.3f, the model says %.3f\n", copy,
           sin(1.5), ((const float *)y.data)[0]);
  }
  return true;
}

/// Returns whether a tensor has equal bytes in both instances of `sine`, in all
/// copies.
static bool equal(trainings *self, const char *name) {
  for (int copy = 0; copy < SINE_COPIES; ++copy) {
    hfta_tensor_info left, right;
    if (!check(sine_tensor(self->first, copy, name, &left), name,
               sine_message(self->first)) ||
        !check(sine_tensor(self->second, copy, name, &right), name,
               sine_message(self->second)) ||
        memcmp(left.data, right.data, left.bytes) != 0)
      return false;
  }
  return true;
}

/// Saves the first instance of `sine` and loads this checkpoint into the second
/// one. Then one step on the same batch must give both the same weights, bit by
/// bit.
static bool hand_over(trainings *self, const char *folder, uint64_t *state) {
  if (equal(self, "deep.weight") ||
      !check(sine_save(self->first, folder), "save",
             sine_message(self->first)) ||
      !check(sine_load(self->second, folder), "load",
             sine_message(self->second)))
    return false;
  sine_samples curve;
  make_sine_batch(state, &curve);
  const void *inputs[] = {curve.x, curve.y};
  if (!check(sine_step(self->first, inputs, NULL), "first",
             sine_message(self->first)) ||
      !check(sine_step(self->second, inputs, NULL), "second",
             sine_message(self->second)))
    return false;
  bool same = equal(self, "deep.weight") && equal(self, "y.bias");
  printf("after step %lld from one checkpoint, the two sines are %s\n",
         (long long)sine_steps(self->second), same ? "equal" : "different");
  return same;
}

int main(int argc, char **argv) {
  const char *folder = argc > 1 ? argv[1] : "checkpoints";
  trainings all = {NULL, NULL, NULL};
  uint64_t state = 1;
  bool done = create(&all) && train(&all, &state) && evaluate(&all, &state) &&
              infer(&all) && hand_over(&all, folder, &state);
  destroy(&all);
  return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
