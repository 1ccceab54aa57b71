//===- FakeKernels.c - The fake program's tasks ---------------------------===//

#include "FakeKernels.h"

#include "FakeProgram.h"

#include <math.h>
#include <string.h>

enum { D = FAKE_FEATURES, H = FAKE_HIDDEN, C = FAKE_CLASSES };

static float draw(uint64_t seed, uint64_t index) {
  uint64_t x = seed * 0x9E3779B97F4A7C15u + index * 0xBF58476D1CE4E5B9u + 1;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return (float)((double)(x >> 40) / 16777216.0 - 0.5);
}

static void init(void *const *b, int64_t item, void *scratch) {
  (void)item, (void)scratch;
  const int64_t *seed = b[0];
  float *w0 = b[1], *w1 = b[2];
  for (int i = 0; i < D * H; ++i)
    w0[i] = draw((uint64_t)*seed, (uint64_t)i);
  for (int i = 0; i < H * C; ++i)
    w1[i] = draw((uint64_t)*seed, (uint64_t)(1000 + i));
}

static void hidden_row(const unsigned char *x, const float *w0, float *scratch,
                       float *out) {
  for (int i = 0; i < D; ++i)
    scratch[i] = (float)x[i] / 255.0f;
  for (int j = 0; j < H; ++j) {
    float sum = 0;
    for (int i = 0; i < D; ++i)
      sum += scratch[i] * w0[i * H + j];
    out[j] = sum > 0 ? sum : 0;
  }
}

static void logits_row(const float *hidden, const float *w1, float *out) {
  for (int j = 0; j < C; ++j) {
    out[j] = 0;
    for (int i = 0; i < H; ++i)
      out[j] += hidden[i] * w1[i * C + j];
  }
}

static void softmax(float *row) {
  float most = row[0], sum = 0;
  for (int j = 1; j < C; ++j)
    most = row[j] > most ? row[j] : most;
  for (int j = 0; j < C; ++j)
    sum += row[j] = expf(row[j] - most);
  for (int j = 0; j < C; ++j)
    row[j] /= sum;
}

static void hidden(void *const *b, int64_t row, void *scratch) {
  const unsigned char *image = b[0];
  hidden_row(image + row * D, b[1], scratch, (float *)b[2] + row * H);
}

static void probabilities(void *const *b, int64_t row, void *scratch) {
  (void)scratch;
  float *out = (float *)b[2] + row * C;
  logits_row((const float *)b[0] + row * H, b[1], out);
  softmax(out);
}

static void loss(void *const *b, int64_t item, void *scratch) {
  (void)item, (void)scratch;
  const fake_shape *shape = b[0];
  const float *p = b[1];
  const unsigned char *label = b[2];
  float *out = b[3];
  for (int64_t row = 0; row < shape->rows; ++row)
    *out += -logf(p[row * C + label[row]]) * shape->loss_scale;
}

static void gradient1(void *const *b, int64_t item, void *scratch) {
  (void)item, (void)scratch;
  const fake_shape *shape = b[0];
  const float *h = b[1], *p = b[2], *w1 = b[4];
  const unsigned char *label = b[3];
  float *g1 = b[5], *dh = b[6];
  for (int64_t row = 0; row < shape->rows; ++row)
    for (int i = 0; i < H; ++i) {
      float sum = 0;
      for (int j = 0; j < C; ++j) {
        float d = (p[row * C + j] - (label[row] == j)) * shape->loss_scale;
        g1[i * C + j] += h[row * H + i] * d;
        sum += d * w1[i * C + j];
      }
      dh[row * H + i] = h[row * H + i] > 0 ? sum : 0;
    }
}

static void gradient0(void *const *b, int64_t item, void *scratch) {
  (void)item, (void)scratch;
  const fake_shape *shape = b[0];
  const unsigned char *x = b[1];
  const float *dh = b[2];
  float *g0 = b[3];
  for (int64_t row = 0; row < shape->rows; ++row)
    for (int i = 0; i < D; ++i)
      for (int j = 0; j < H; ++j)
        g0[i * H + j] += (float)x[row * D + i] / 255.0f * dh[row * H + j];
}

static double squares(const float *values, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i)
    sum += (double)values[i] * (double)values[i];
  return sum;
}

static void norm0(void *const *b, int64_t item, void *scratch) {
  (void)item, (void)scratch;
  ((double *)b[1])[0] = squares(b[0], D * H);
}

static void norm1(void *const *b, int64_t item, void *scratch) {
  (void)item, (void)scratch;
  ((double *)b[1])[1] = squares(b[0], H * C);
}

static void clip(void *const *b, int64_t item, void *scratch) {
  (void)item, (void)scratch;
  const double *squares = b[0], *limit = b[1];
  double scale = *limit / (sqrt(squares[0] + squares[1]) + 1e-6);
  *(float *)b[2] = (float)(isinf(*limit) || scale > 1 ? 1 : scale);
}

static void update(void *const *b, int count) {
  float *w = b[0], *g = b[1], *m = b[2];
  const float *rate = b[3], *clip = b[4];
  const double *momentum = b[5];
  for (int i = 0; i < count; ++i) {
    m[i] = (float)*momentum * m[i] + g[i] * *clip;
    w[i] -= *rate * m[i];
    g[i] = 0;
  }
}

static void update0(void *const *b, int64_t item, void *scratch) {
  (void)item, (void)scratch;
  update(b, D * H);
}

static void update1(void *const *b, int64_t item, void *scratch) {
  (void)item, (void)scratch;
  update(b, H * C);
}

static void count(void *const *b, int64_t item, void *scratch) {
  (void)item, (void)scratch;
  ++*(double *)b[0];
}

/// Reports events for the copies, by seed: in the fourth step, one skipped
/// statistic unless the seed is 1, and in the sixth step, two retried inverses
/// if it is 1.
static void scale(void *const *b, int64_t item, void *scratch) {
  (void)item, (void)scratch;
  const float *damping = b[0];
  const int64_t *step = b[1], *seed = b[2];
  *(double *)b[3] = 2.0 * (double)*damping;
  *(double *)b[4] = *step == 3 && *seed != 1 ? 1.0 : 0.0;
  *(double *)b[5] = *step == 5 && *seed == 1 ? 2.0 : 0.0;
  *(double *)b[6] = 0.0;
}

static void evaluate(void *const *b, int64_t item, void *scratch) {
  (void)item;
  const unsigned char *x = b[0], *label = b[1];
  const int64_t *valid = b[2];
  double *loss_sum = b[5], *weight = b[6];
  // The rows of the micro-batch's samples among those of the batch.
  const int64_t first = *(const int64_t *)b[9] * *(const int64_t *)b[10];
  double *metric = (double *)b[7] + first, *weights = (double *)b[8] + first;
  for (int64_t row = 0; row < *valid; ++row) {
    float h[H], p[C];
    int best = 0;
    hidden_row(x + row * D, b[3], scratch, h);
    logits_row(h, b[4], p);
    softmax(p);
    for (int j = 1; j < C; ++j)
      best = p[j] > p[best] ? j : best;
    *loss_sum -= (double)logf(p[label[row]]);
    *weight += 1;
    metric[row] += best == label[row];
    weights[row] += 1;
  }
}

static void infer(void *const *b, int64_t row, void *scratch) {
  float h[H];
  hidden_row((const unsigned char *)b[0] + row * D, b[1], scratch, h);
  logits_row(h, b[2], (float *)b[3] + row * C);
}

const fake_kernel fake_kernels[FAKE_KERNEL_COUNT] = {
    {FAKE_INIT, "init", init, 0, 3, {FAKE_SEED, FAKE_W0, FAKE_W1}},
    {FAKE_EVALUATE,
     "evaluate",
     evaluate,
     0,
     11,
     {FAKE_IMAGE, FAKE_LABEL, FAKE_VALID, FAKE_W0, FAKE_W1, FAKE_LOSS_SUM,
      FAKE_LOSS_WEIGHT, FAKE_METRIC_SUMS, FAKE_METRIC_WEIGHTS, FAKE_MICRO_BATCH,
      FAKE_ROWS}},
    {FAKE_INFER,
     "infer",
     infer,
     1,
     4,
     {FAKE_IMAGE, FAKE_W0, FAKE_W1, FAKE_LOGITS}},
    {FAKE_FORWARD_0,
     "hidden",
     hidden,
     1,
     3,
     {FAKE_IMAGE, FAKE_W0, FAKE_HIDDEN_ACTIVATION}},
    {FAKE_FORWARD_1,
     "probabilities",
     probabilities,
     1,
     3,
     {FAKE_HIDDEN_ACTIVATION, FAKE_W1, FAKE_PROBABILITIES}},
    {FAKE_FORWARD_1,
     "loss",
     loss,
     0,
     4,
     {FAKE_ROWS, FAKE_PROBABILITIES, FAKE_LABEL, FAKE_LOSS}},
    {FAKE_BACKWARD_0,
     "gradient0",
     gradient0,
     0,
     4,
     {FAKE_ROWS, FAKE_IMAGE, FAKE_HIDDEN_GRADIENT, FAKE_G0}},
    {FAKE_BACKWARD_1,
     "gradient1",
     gradient1,
     0,
     7,
     {FAKE_ROWS, FAKE_HIDDEN_ACTIVATION, FAKE_PROBABILITIES, FAKE_LABEL,
      FAKE_W1, FAKE_G1, FAKE_HIDDEN_GRADIENT}},
    {FAKE_NORM_0, "norm0", norm0, 0, 2, {FAKE_G0, FAKE_NORM}},
    {FAKE_NORM_1, "norm1", norm1, 0, 2, {FAKE_G1, FAKE_NORM}},
    {FAKE_CLIPS, "clip", clip, 0, 3, {FAKE_NORM, FAKE_CLIP_NORM, FAKE_CLIP}},
    {FAKE_UPDATE_0,
     "update0",
     update0,
     0,
     6,
     {FAKE_W0, FAKE_G0, FAKE_M0, FAKE_RATE, FAKE_CLIP, FAKE_MOMENTUM}},
    {FAKE_UPDATE_1,
     "update1",
     update1,
     0,
     6,
     {FAKE_W1, FAKE_G1, FAKE_M1, FAKE_RATE, FAKE_CLIP, FAKE_MOMENTUM}},
    {FAKE_COUNT_DUE, "count", count, 0, 1, {FAKE_DUE}},
    {FAKE_COUNT_OTHERS, "count", count, 0, 1, {FAKE_OTHERS}},
    {FAKE_COUNT_ANY, "count", count, 0, 1, {FAKE_ANY}},
    {FAKE_COUNT_NONE, "count", count, 0, 1, {FAKE_NONE}},
    {FAKE_SCALES,
     "scale",
     scale,
     0,
     7,
     {FAKE_DAMPING, FAKE_STEP, FAKE_SEED, FAKE_KL_SCALE, FAKE_SKIPPED,
      FAKE_RETRIED, FAKE_KEPT}},
};
