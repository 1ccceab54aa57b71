//===- FakeProgram.c - A hand-written program for tests -------------------===//

#include "FakeProgram.h"
#include "hfta/abi.h"

#include "FakeKernels.h"
#include "FakeSchedules.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COPIES = 8 };

/// Everything that the program's table points to, in one allocation.
typedef struct fake {
  hfta_program program;
  hfta_model model;
  uint32_t model_of_copy[MAX_COPIES];
  _Alignas(64) fake_constants constants;
  hfta_segment segments[FAKE_SEGMENT_COUNT];
  hfta_tensor tensors[FAKE_TENSOR_COUNT];
  hfta_binding bindings[FAKE_KERNEL_COUNT][FAKE_MAX_OPERANDS];
  hfta_launch launches[FAKE_KERNEL_COUNT];
  hfta_task tasks[FAKE_TASK_COUNT];
  fake_schedules schedules;
  hfta_hyper_parameter hyper_parameters[6];
  hfta_scheduled_number damping;
  double momenta[MAX_COPIES];
  hfta_setting settings[4];
  hfta_data_field fields[2];
  hfta_port inputs[1];
  hfta_port outputs[1];
  int64_t image_shape[2];
  int64_t label_shape[1];
  int64_t logits_shape[2];
  int64_t hidden_shape[2];
} fake;

static const double rates[MAX_COPIES] = {0.1, 0.3, 1.0, 0.01,
                                         0.2, 0.5, 2.0, 0.05};
static const double diverging_rates[MAX_COPIES] = {0.1, 1e30, 1.0, 0.01,
                                                   0.2, 0.5,  2.0, 0.05};
static const double momenta[MAX_COPIES] = {0, 0.9, 0.5, 0.9, 0, 0, 0.3, 0.1};
static const double seeds[MAX_COPIES] = {1, 1, 20000001, 3, 4, 5, 6, 7};
static const double clip_norms[MAX_COPIES] = {0.05, INFINITY, 0.1, 1,
                                              0.2,  0.3,      0.4, 0.5};
static const double warmups[MAX_COPIES] = {0, 2, 3, 0, 1, 5, 0, 0};
static const double minima[MAX_COPIES] = {0, 0.1, 0, 0, 0, 0, 0, 0};
static const double decay[MAX_COPIES] = {0};
static const double dampings[MAX_COPIES] = {0.5,   0.25, 0.125,  1,
                                            0.375, 2,    0.0625, 4};
static const double periods[MAX_COPIES] = {3, 1, 10, 4, 2, 16, 5, 3};
static const double step_sizes[MAX_COPIES] = {4, 4, 2, 4, 4, 4, 4, 4};
static const double gammas[MAX_COPIES] = {0.5, 1, 0.5, 1, 1, 1, 1, 1};
static const double fours[MAX_COPIES] = {4, 4, 4, 4, 4, 4, 4, 4};
static const double halves[MAX_COPIES] = {.5, .5, .5, .5, .5, .5, .5, .5};

static const int64_t scalar_shape[1] = {1};
static const int64_t norm_shape[1] = {2};
static const int64_t batch_shape[1] = {FAKE_BATCH};

static const hfta_metric fake_metric = {.name = "accuracy",
                                        .kind = HFTA_METRIC_MEAN,
                                        .is_share = 1,
                                        .direction = HFTA_MAXIMIZE,
                                        .labels = FAKE_METRIC_SUMS,
                                        .guesses = UINT32_MAX,
                                        .weights = FAKE_METRIC_WEIGHTS,
                                        .elements = 1,
                                        .classes = 1};
static const int64_t w0_shape[2] = {FAKE_FEATURES, FAKE_HIDDEN};
static const int64_t w1_shape[2] = {FAKE_HIDDEN, FAKE_CLASSES};

static uint64_t element_bytes(uint32_t type) {
  switch (type) {
  case HFTA_U8:
    return 1;
  case HFTA_F32:
    return 4;
  default:
    return 8;
  }
}

/// Appends a tensor to a segment, aligned to 64 bytes. An arrayed tensor has a
/// place for each copy, a shared one has a single place.
static void add_tensor(fake *self, int index, const char *name, int segment,
                       uint32_t type, const int64_t *shape, uint32_t rank,
                       uint32_t flags) {
  uint64_t bytes = element_bytes(type);
  for (uint32_t i = 0; i < rank; ++i)
    bytes *= (uint64_t)shape[i];
  uint64_t stride = (flags & HFTA_TENSOR_SHARED) ? 0 : (bytes + 63) / 64 * 64;
  uint64_t *end = &self->segments[segment].bytes;
  self->tensors[index] = (hfta_tensor){
      .name = name,
      .segment = (uint32_t)segment,
      .type = type,
      .offset = *end,
      .copy_stride = stride,
      .shape = shape,
      .rank = rank,
      .flags = flags,
      .bytes = bytes,
      .copy = -1,
      .training_rule = (flags & HFTA_TENSOR_TRAINED) ? HFTA_TRAINING_parameter
                                                     : HFTA_TRAINING_none};
  *end +=
      stride ? stride * (uint64_t)self->program.copies : (bytes + 63) / 64 * 64;
}

/// Returns the residency that a segment has in a program that spills.
static uint32_t residency_of(uint32_t segment) {
  switch (segment) {
  case FAKE_SEGMENT_PARAMETERS:
  case FAKE_SEGMENT_STATE:
    return HFTA_SPILLED;
  case FAKE_SEGMENT_GRADIENTS:
  case FAKE_SEGMENT_SAVED:
  case FAKE_SEGMENT_CUT:
    return HFTA_TRANSIENT;
  default:
    return HFTA_RESIDENT;
  }
}

static void add_segments(fake *self, const fake_options *options) {
  static const struct {
    const char *name;
    uint32_t role;
    int32_t block;
  } rows[FAKE_SEGMENT_COUNT] = {
      {"constants", HFTA_SEGMENT_CONSTANTS, -1},
      {"parameters", HFTA_SEGMENT_PARAMETERS, -1},
      {"gradients", HFTA_SEGMENT_GRADIENTS, -1},
      {"state", HFTA_SEGMENT_OPTIMIZER_STATE, -1},
      {"saved", HFTA_SEGMENT_SAVED, 1},
      {"cut", HFTA_SEGMENT_CUT, -1},
      {"scratch", HFTA_SEGMENT_SCRATCH, -1},
      {"input", HFTA_SEGMENT_INPUT, -1},
      {"output", HFTA_SEGMENT_OUTPUT, -1},
      {"scalars", HFTA_SEGMENT_SCALARS, -1},
      {"scalars.batches", HFTA_SEGMENT_SCALARS, -1},
      {"results", HFTA_SEGMENT_RESULTS, -1},
  };
  for (int i = 0; i < FAKE_SEGMENT_COUNT; ++i) {
    bool kept = rows[i].role == HFTA_SEGMENT_SAVED ||
                rows[i].role == HFTA_SEGMENT_CUT ||
                rows[i].role == HFTA_SEGMENT_INPUT;
    self->segments[i] = (hfta_segment){
        .name = rows[i].name,
        .role = rows[i].role,
        .block = rows[i].block,
        .alignment = 64,
        .residency =
            options->spilled_copies ? residency_of((uint32_t)i) : HFTA_RESIDENT,
        .instances = kept && options->all_forwards_first
                         ? (uint32_t)options->micro_batches
                         : 1};
  }
  // One more instance of the input is for the next batch.
  ++self->segments[FAKE_SEGMENT_INPUT].instances;
  self->segments[FAKE_SEGMENT_BATCH_SCALARS].instances =
      (uint32_t)options->micro_batches;
  self->segments[FAKE_SEGMENT_CONSTANTS].bytes = sizeof(fake_constants);
  self->segments[FAKE_SEGMENT_CONSTANTS].image = &self->constants;
  self->segments[FAKE_SEGMENT_SCRATCH].bytes = 64;
}

/// Divides a segment into slabs, each with one copy's tensors. Unless the
/// segment is resident, slabs consist of whole pages.
static void make_slabs(fake *self, uint32_t segment) {
  uint64_t bytes = 0;
  for (int i = 0; i < FAKE_TENSOR_COUNT; ++i) {
    hfta_tensor *tensor = &self->tensors[i];
    if (tensor->segment != segment || tensor->copy_stride == 0)
      continue;
    tensor->offset = bytes;
    bytes += tensor->copy_stride;
  }
  if (self->segments[segment].residency != HFTA_RESIDENT)
    bytes = (bytes + HFTA_PAGE_BYTES - 1) / HFTA_PAGE_BYTES * HFTA_PAGE_BYTES;
  for (int i = 0; i < FAKE_TENSOR_COUNT; ++i) {
    hfta_tensor *tensor = &self->tensors[i];
    if (tensor->segment != segment || tensor->copy_stride == 0)
      continue;
    tensor->copy_stride = bytes;
  }
  self->segments[segment].copy_bytes = bytes;
  self->segments[segment].bytes = bytes * (uint64_t)self->program.copies;
}

/// Makes an arena in which all segments that aren't resident have places side
/// by side.
static void make_spilled(fake *self) {
  make_slabs(self, FAKE_SEGMENT_PARAMETERS);
  make_slabs(self, FAKE_SEGMENT_STATE);
  for (uint32_t i = 0; i < FAKE_SEGMENT_COUNT; ++i)
    if (self->segments[i].residency != HFTA_RESIDENT)
      self->program.arena_bytes +=
          self->segments[i].bytes * self->segments[i].instances;
}

static void add_parameters(fake *self) {
  const uint32_t weight =
      HFTA_TENSOR_TRAINED | HFTA_TENSOR_CHECKPOINT | HFTA_TENSOR_EXPORT;
  add_tensor(self, FAKE_W0, "first.weight", FAKE_SEGMENT_PARAMETERS, HFTA_F32,
             w0_shape, 2, weight);
  add_tensor(self, FAKE_W1, "second.weight", FAKE_SEGMENT_PARAMETERS, HFTA_F32,
             w1_shape, 2, weight);
  add_tensor(self, FAKE_G0, "first.weight.gradient", FAKE_SEGMENT_GRADIENTS,
             HFTA_F32, w0_shape, 2, 0);
  add_tensor(self, FAKE_G1, "second.weight.gradient", FAKE_SEGMENT_GRADIENTS,
             HFTA_F32, w1_shape, 2, 0);
  add_tensor(self, FAKE_M0, "first.weight.momentum", FAKE_SEGMENT_STATE,
             HFTA_F32, w0_shape, 2, HFTA_TENSOR_CHECKPOINT);
  add_tensor(self, FAKE_M1, "second.weight.momentum", FAKE_SEGMENT_STATE,
             HFTA_F32, w1_shape, 2, HFTA_TENSOR_CHECKPOINT);
}

static void add_activations(fake *self) {
  add_tensor(self, FAKE_HIDDEN_ACTIVATION, "hidden", FAKE_SEGMENT_CUT, HFTA_F32,
             self->hidden_shape, 2, 0);
  add_tensor(self, FAKE_PROBABILITIES, "probabilities", FAKE_SEGMENT_SAVED,
             HFTA_F32, self->logits_shape, 2, 0);
  add_tensor(self, FAKE_HIDDEN_GRADIENT, "hidden.gradient", FAKE_SEGMENT_CUT,
             HFTA_F32, self->hidden_shape, 2, 0);
  add_tensor(self, FAKE_IMAGE, "image", FAKE_SEGMENT_INPUT, HFTA_U8,
             self->image_shape, 2, HFTA_TENSOR_SHARED);
  add_tensor(self, FAKE_LABEL, "label", FAKE_SEGMENT_INPUT, HFTA_U8,
             self->label_shape, 1, HFTA_TENSOR_SHARED);
  add_tensor(self, FAKE_LOGITS, "net/logits:0", FAKE_SEGMENT_OUTPUT, HFTA_F32,
             self->logits_shape, 2, 0);
}

static void add_scalars(fake *self) {
  static const struct {
    int index;
    const char *name;
    int segment;
    uint32_t type;
    uint32_t flags;
  } rows[] = {
      {FAKE_LOSS, "loss", FAKE_SEGMENT_RESULTS, HFTA_F32, 0},
      {FAKE_LOSS_SUM, "loss_sum", FAKE_SEGMENT_RESULTS, HFTA_F64, 0},
      {FAKE_LOSS_WEIGHT, "loss_weight", FAKE_SEGMENT_RESULTS, HFTA_F64, 0},
      {FAKE_STEP, "step", FAKE_SEGMENT_SCALARS, HFTA_I64, HFTA_TENSOR_SHARED},
      {FAKE_MICRO_BATCH, "micro_batch", FAKE_SEGMENT_BATCH_SCALARS, HFTA_I64,
       HFTA_TENSOR_SHARED},
      {FAKE_VALID, "valid_samples", FAKE_SEGMENT_BATCH_SCALARS, HFTA_I64,
       HFTA_TENSOR_SHARED},
      {FAKE_RATE, "learning_rate", FAKE_SEGMENT_SCALARS, HFTA_F32, 0},
      {FAKE_CLIP, "clip_scale", FAKE_SEGMENT_OUTPUT, HFTA_F32, 0},
      {FAKE_SEED, "seed", FAKE_SEGMENT_SCALARS, HFTA_I64, 0},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i)
    add_tensor(self, rows[i].index, rows[i].name, rows[i].segment, rows[i].type,
               scalar_shape, 0, rows[i].flags);
  add_tensor(self, FAKE_METRIC_SUMS, "accuracy/sums", FAKE_SEGMENT_RESULTS,
             HFTA_F64, batch_shape, 1, 0);
  add_tensor(self, FAKE_METRIC_WEIGHTS, "weight_sums", FAKE_SEGMENT_RESULTS,
             HFTA_F64, batch_shape, 1, 0);
  add_tensor(self, FAKE_NORM, "norm", FAKE_SEGMENT_OUTPUT, HFTA_F64, norm_shape,
             1, 0);
}

static void add_curvature(fake *self) {
  static const struct {
    int index;
    const char *name;
    int segment;
    uint32_t type;
  } rows[] = {
      {FAKE_DUE, "due", FAKE_SEGMENT_STATE, HFTA_F64},
      {FAKE_OTHERS, "others", FAKE_SEGMENT_STATE, HFTA_F64},
      {FAKE_ANY, "any", FAKE_SEGMENT_STATE, HFTA_F64},
      {FAKE_NONE, "none", FAKE_SEGMENT_STATE, HFTA_F64},
      {FAKE_DAMPING, "damping", FAKE_SEGMENT_SCALARS, HFTA_F32},
      {FAKE_KL_SCALE, "kl_scale", FAKE_SEGMENT_RESULTS, HFTA_F64},
      {FAKE_SKIPPED, "skipped", FAKE_SEGMENT_RESULTS, HFTA_F64},
      {FAKE_RETRIED, "retried", FAKE_SEGMENT_RESULTS, HFTA_F64},
      {FAKE_KEPT, "kept", FAKE_SEGMENT_RESULTS, HFTA_F64},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i)
    add_tensor(self, rows[i].index, rows[i].name, rows[i].segment, rows[i].type,
               scalar_shape, 0, 0);
}

/// Gives tensors their places in the image of the segment of constants.
static void add_constants(fake *self) {
  self->tensors[FAKE_ROWS] = (hfta_tensor){.name = "rows",
                                           .segment = FAKE_SEGMENT_CONSTANTS,
                                           .type = HFTA_I64,
                                           .shape = scalar_shape,
                                           .bytes = 8,
                                           .copy = -1,
                                           .flags = HFTA_TENSOR_SHARED};
  static const struct {
    int index;
    const char *name;
    uint64_t offset;
  } rows[] = {
      {FAKE_MOMENTUM, "momentum", offsetof(fake_constants, momentum)},
      {FAKE_CLIP_NORM, "clip_norm", offsetof(fake_constants, clip_norm)},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i)
    self->tensors[rows[i].index] =
        (hfta_tensor){.name = rows[i].name,
                      .segment = FAKE_SEGMENT_CONSTANTS,
                      .type = HFTA_F64,
                      .offset = rows[i].offset,
                      .copy_stride = 8,
                      .shape = scalar_shape,
                      .bytes = 8,
                      .copy = -1};
}

static void add_launches(fake *self) {
  for (int i = 0; i < FAKE_KERNEL_COUNT; ++i) {
    const fake_kernel *kernel = &fake_kernels[i];
    for (int j = 0; j < kernel->count; ++j) {
      const hfta_tensor *tensor = &self->tensors[kernel->tensors[j]];
      self->bindings[i][j] = (hfta_binding){
          .segment = tensor->segment,
          .in_slabs = self->segments[tensor->segment].copy_bytes > 0,
          .offset = tensor->offset,
          .copy_stride = tensor->copy_stride,
          .bytes = tensor->bytes};
    }
    self->launches[i] =
        (hfta_launch){.kernel = kernel->function,
                      .name = kernel->name,
                      .bindings = self->bindings[i],
                      .binding_count = (uint32_t)kernel->count,
                      .per_copy = 1,
                      .copy = -1,
                      .items = kernel->by_row ? self->constants.shape.rows : 1,
                      .scratch_bytes = sizeof(float) * FAKE_FEATURES};
  }
}

/// Returns how many spilled segments a task writes: 2 (parameters and state), 1
/// (parameters), or 0.
static uint32_t spilled_writes(int task) {
  bool updates = task == FAKE_UPDATE_0 || task == FAKE_UPDATE_1;
  return updates ? 2 : task == FAKE_INIT ? 1 : 0;
}

static void add_tasks(fake *self, const fake_options *options) {
  static const uint32_t all[] = {FAKE_SEGMENT_PARAMETERS, FAKE_SEGMENT_INPUT,
                                 FAKE_SEGMENT_SCALARS};
  static const uint32_t spilled[] = {FAKE_SEGMENT_PARAMETERS,
                                     FAKE_SEGMENT_STATE};
  static const char *const names[FAKE_TASK_COUNT] = {
      "init",       "evaluate",   "infer",  "forward.0", "forward.1",
      "backward.0", "backward.1", "norm.0", "norm.1",    "clip",
      "update.0",   "update.1",   "due.0",  "others.0",  "any.0",
      "none.0",     "scale"};
  for (int i = FAKE_KERNEL_COUNT - 1; i >= 0; --i) {
    hfta_task *task = &self->tasks[fake_kernels[i].task];
    task->launches = &self->launches[i];
    ++task->launch_count;
  }
  for (int i = 0; i < FAKE_TASK_COUNT; ++i) {
    hfta_task *task = &self->tasks[i];
    task->name = names[i];
    task->reads = task->writes = all;
    task->read_count = 3;
    task->write_count = 1;
    if (options->spilled_copies) {
      task->writes = spilled;
      task->write_count = spilled_writes(i);
    }
    task->flags = options->takes_turns ? HFTA_TASK_BY_COPIES : 0;
  }
}

static void add_data(fake *self, const fake_options *options) {
  self->fields[0] = (hfta_data_field){
      .name = "image",
      .tensor = FAKE_IMAGE,
      .train = {.format = HFTA_DATA_IDX, .path = "train-images.idx"},
      .test = {.format = HFTA_DATA_IDX, .path = "test-images.idx"}};
  self->fields[1] = (hfta_data_field){
      .name = "label",
      .tensor = FAKE_LABEL,
      .train = {.format = HFTA_DATA_IDX, .path = "train-labels.idx"},
      .test = {.format = HFTA_DATA_IDX, .path = "test-labels.idx"}};
  if (options->validation_files) {
    self->fields[0].validation = (hfta_data_source){
        .format = HFTA_DATA_IDX, .path = "validation-images.idx"};
    self->fields[1].validation = (hfta_data_source){
        .format = HFTA_DATA_IDX, .path = "validation-labels.idx"};
  }
  self->program.validation = options->validation;
  if (options->validation.every == 0)
    self->program.validation.every = 1;
  self->inputs[0] = (hfta_port){
      .name = "image", .tensor = FAKE_IMAGE, .model_name = "pixels"};
  self->outputs[0] = (hfta_port){.name = "net/logits:0",
                                 .tensor = FAKE_LOGITS,
                                 .model_name = "net/logits:0"};
}

static void add_job(fake *self, const fake_options *options) {
  hfta_program *program = &self->program;
  int64_t first = options->first_copy;
  const double *lr = options->diverging ? diverging_rates : rates;
  const hfta_hyper_parameter rows[] = {{"lr", lr + first},
                                       {"momentum", self->momenta},
                                       {"weight_decay", decay + first},
                                       {"seed", seeds + first},
                                       {"damping", dampings + first},
                                       {"factor_every", periods + first}};
  memcpy(self->hyper_parameters, rows, sizeof(rows));
  for (int64_t copy = 0; copy < options->copies; ++copy)
    self->momenta[copy] = momenta[first + (options->alike ? 0 : copy)];
  for (int64_t copy = 0; copy < options->copies; ++copy) {
    self->constants.momentum[copy] =
        momenta[first + (options->alike ? 0 : copy)];
    self->constants.clip_norm[copy] =
        options->clipping ? clip_norms[first + copy] : INFINITY;
  }
  program->hyper_parameters = self->hyper_parameters;
  program->hyper_parameter_count = options->curvature ? 6 : 4;
  const hfta_setting settings[] = {
      {"micro_batches", HFTA_SETTING_INTEGER, 0, options->micro_batches, NULL},
      {"shuffle", HFTA_SETTING_FLAG, 0, 1, NULL},
      {"clip_norm", HFTA_SETTING_NUMBERS, 0, 0, clip_norms + first},
      {"seed", HFTA_SETTING_WHOLE_NUMBERS, 0, 0, NULL}};
  memcpy(self->settings, settings, sizeof(settings));
  program->settings = self->settings;
  program->setting_count = 4;
  program->name = "fake";
  self->model.identity =
      options->foreign || options->former ? "identity-other" : "identity-mlp";
  self->model.identity_of_batch =
      options->former ? "identity-mlp" : "identity-other-4";
  program->models = &self->model;
  program->model_of_copy = self->model_of_copy;
  program->optimizer = options->inference_only ? "" : "sgd";
  program->metrics = &fake_metric;
  program->metric_count = options->inference_only ? 0 : 1;
  program->cpu_features = options->cpu_features ? options->cpu_features : "";
  program->plan_json = "{\"layers\":[]}";
  program->blocks = 2;
  program->epochs = options->no_length ? 0 : 3;
  program->order_seed = 7;
  program->shuffle = 1;
  program->precision = HFTA_F32;
  if (options->cosine)
    program->learning_rate = (hfta_number_schedule){
        .kind = HFTA_NUMBER_SCHEDULE_COSINE,
        .warmup = options->alike ? fours : warmups + first,
        .minimum = options->alike ? halves : minima + first};
  self->damping = (hfta_scheduled_number){
      .hyper_parameter = 4,
      .tensor = FAKE_DAMPING,
      .schedule = {.kind = HFTA_NUMBER_SCHEDULE_STEP,
                   .step_size = options->alike ? fours : step_sizes + first,
                   .gamma = options->alike ? halves : gammas + first}};
  program->scheduled_numbers = &self->damping;
  program->scheduled_number_count = options->curvature ? 1 : 0;
}

static void add_roles(hfta_program *program, const fake_options *options) {
  program->roles = (hfta_roles){.step = FAKE_STEP,
                                .micro_batch = FAKE_MICRO_BATCH,
                                .valid_samples = FAKE_VALID,
                                .learning_rate = FAKE_RATE,
                                .seed = FAKE_SEED,
                                .loss = FAKE_LOSS,
                                .loss_sum = FAKE_LOSS_SUM,
                                .loss_weight = FAKE_LOSS_WEIGHT,
                                .kl_scale = UINT32_MAX,
                                .skipped = UINT32_MAX,
                                .retried = UINT32_MAX,
                                .kept = UINT32_MAX,
                                .accumulations = UINT32_MAX,
                                .loss_scale = UINT32_MAX,
                                .skipped_steps = UINT32_MAX};
  if (!options->curvature)
    return;
  program->roles.kl_scale = FAKE_KL_SCALE;
  program->roles.skipped = FAKE_SKIPPED;
  program->roles.retried = FAKE_RETRIED;
  program->roles.kept = FAKE_KEPT;
}

hfta_program *fake_program_make(const fake_options *options) {
  fake *self = aligned_alloc(64, (sizeof(*self) + 63) / 64 * 64);
  memset(self, 0, sizeof(*self));
  hfta_program *program = &self->program;
  int64_t rows = FAKE_BATCH / options->micro_batches;
  program->abi_version = hfta_abi_version();
  program->target = "cpu";
  program->copies = options->copies;
  program->batch = FAKE_BATCH;
  static const hfta_stage stage = {1, 1, 1};
  program->stages = &stage;
  program->stage_count = 1;
  program->workers = 1;
  program->micro_batches = options->micro_batches;
  self->constants.shape =
      (fake_shape){.rows = rows, .loss_scale = 1.0f / FAKE_BATCH};
  self->image_shape[0] = self->label_shape[0] = rows;
  self->logits_shape[0] = self->hidden_shape[0] = rows;
  self->image_shape[1] = FAKE_FEATURES;
  self->logits_shape[1] = FAKE_CLASSES;
  self->hidden_shape[1] = FAKE_HIDDEN;
  add_segments(self, options);
  add_parameters(self);
  add_activations(self);
  add_scalars(self);
  add_constants(self);
  if (options->curvature)
    add_curvature(self);
  make_slabs(self, FAKE_SEGMENT_SAVED);
  make_slabs(self, FAKE_SEGMENT_CUT);
  make_slabs(self, FAKE_SEGMENT_GRADIENTS);
  if (options->spilled_copies)
    make_spilled(self);
  add_launches(self);
  add_tasks(self, options);
  add_data(self, options);
  add_job(self, options);
  add_roles(program, options);
  program->segments = self->segments;
  program->tensors = self->tensors;
  program->tasks = self->tasks;
  program->data_fields = self->fields;
  program->inputs = self->inputs;
  program->outputs = self->outputs;
  program->segment_count = FAKE_SEGMENT_COUNT;
  program->tensor_count =
      options->curvature ? FAKE_TENSOR_COUNT : FAKE_PLAIN_TENSOR_COUNT;
  program->task_count =
      options->curvature ? FAKE_TASK_COUNT : FAKE_PLAIN_TASK_COUNT;
  program->schedules = self->schedules.rows;
  program->schedule_count = options->inference_only   ? 2
                            : options->spilled_copies ? 4
                                                      : FAKE_SCHEDULE_COUNT;
  program->event_count = 5;
  program->queue_count = options->spilled_copies ? 4 : 2;
  program->data_field_count = options->inference_only ? 0 : 2;
  program->input_count = 1;
  program->output_count = 1;
  fake_schedules_make(&self->schedules, program, options);
  return program;
}

void fake_program_free(hfta_program *program) { free(program); }
