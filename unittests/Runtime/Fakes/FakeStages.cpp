//===- FakeStages.cpp - A hand-written pipeline for tests -----------------===//

#include "FakeStagesSchedules.h"

#include "hfta/abi.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace {

constexpr int64_t width = FakeStages::width;

double at(const void *memory, int64_t index) {
  return static_cast<const double *>(memory)[index];
}

double &to(void *memory, int64_t index) {
  return static_cast<double *>(memory)[index];
}

/// Sets the initial weight. Buffer: weight.
void runInit(void *const *buffers, int64_t, void *) {
  for (int64_t i = 0; i < width; ++i)
    to(buffers[0], i) = 0.7 + 0.13 * static_cast<double>(i);
}

/// Multiplies the input by the weight. Buffers: input, weight, output.
void runForward(void *const *buffers, int64_t, void *) {
  for (int64_t i = 0; i < width; ++i)
    to(buffers[2], i) = at(buffers[0], i) * at(buffers[1], i);
}

/// Computes the last stage's output, its loss, and the gradient by its output.
/// Buffers: input, weight, skipped value, skipped value's weight, gradient
/// (called difference), sum of losses.
void runLast(void *const *buffers, int64_t, void *) {
  for (int64_t i = 0; i < width; ++i) {
    double value = at(buffers[0], i) * at(buffers[1], i) +
                   at(buffers[2], i) * at(buffers[3], i);
    to(buffers[4], i) = value / (1.0 + std::fabs(value));
    to(buffers[5], 0) += std::log1p(value * value);
  }
}

/// Adds the last stage's loss and the count of samples in an evaluation.
/// Buffers: input, weight, skipped value, skipped value's weight, loss, count.
void runEvaluateLast(void *const *buffers, int64_t, void *) {
  for (int64_t i = 0; i < width; ++i)
    to(buffers[4], 0) += std::fabs(at(buffers[0], i) * at(buffers[1], i) +
                                   at(buffers[2], i) * at(buffers[3], i));
  to(buffers[5], 0) += 1.0;
}

/// Computes the gradients by the weight, which are added up, and by the input.
/// Buffers: gradient by the output, input, weight, gradient by the weight,
/// gradient by the input.
void runBackward(void *const *buffers, int64_t, void *) {
  for (int64_t i = 0; i < width; ++i) {
    to(buffers[3], i) += at(buffers[0], i) * at(buffers[1], i);
    to(buffers[4], i) = at(buffers[0], i) * at(buffers[2], i);
  }
}

/// Updates the weight and clears its gradient. Buffers: weight, gradient,
/// learning rate.
void runUpdate(void *const *buffers, int64_t, void *) {
  for (int64_t i = 0; i < width; ++i) {
    to(buffers[0], i) -= at(buffers[2], 0) * at(buffers[1], i);
    to(buffers[1], i) = 0.0;
  }
}

/// Adds a value to a sum. Buffers: sum, value.
void runCombine(void *const *buffers, int64_t, void *) {
  for (int64_t i = 0; i < width; ++i)
    to(buffers[0], i) += at(buffers[1], i);
}

hfta_binding bind(uint32_t segment, uint64_t offset = 0,
                  uint64_t stride = rowBytes) {
  return bindRow(segment, offset, stride);
}

} // namespace

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

uint32_t FakeStages::addSegment(const std::string &name, uint32_t role,
                                int stage, int64_t instances, uint64_t bytes) {
  names.push_back(name);
  hfta_segment segment = {};
  segment.name = names.back().c_str();
  segment.role = role;
  segment.block = stage;
  segment.bytes = bytes;
  segment.alignment = 64;
  segment.instances = static_cast<uint32_t>(instances);
  segment.stage = options.isUncut ? -1 : stage;
  segments.push_back(segment);
  return static_cast<uint32_t>(segments.size() - 1);
}

uint32_t FakeStages::addTensor(const std::string &name, uint32_t segment,
                               uint64_t offset, int64_t rows, int64_t columns,
                               bool isShared, uint32_t flags) {
  names.push_back(name);
  shapes.push_back({rows, columns});
  hfta_tensor tensor = {};
  tensor.name = names.back().c_str();
  tensor.segment = segment;
  tensor.type = HFTA_F64;
  tensor.offset = offset;
  tensor.shape = shapes.back().data();
  tensor.rank = 2;
  tensor.bytes = sizeof(double) * static_cast<uint64_t>(rows * columns);
  tensor.copy_stride = isShared ? 0 : tensor.bytes;
  tensor.flags = flags;
  tensor.copy = -1;
  tensors.push_back(tensor);
  return static_cast<uint32_t>(tensors.size() - 1);
}

/// Adds a task, which reads all segments that its operands are in.
uint32_t FakeStages::addTask(const std::string &name, hfta_kernel kernel,
                             const std::vector<hfta_binding> &operands,
                             const std::vector<uint32_t> &writes,
                             bool isPerCopy) {
  names.push_back(name);
  bindings.push_back(operands);
  lists.emplace_back();
  for (const hfta_binding &binding : operands)
    lists.back().push_back(binding.segment);
  hfta_launch launch = {};
  launch.kernel = kernel;
  launch.name = names.back().c_str();
  launch.bindings = bindings.back().data();
  launch.binding_count = static_cast<uint32_t>(operands.size());
  launch.per_copy = isPerCopy;
  launch.copy = -1;
  launch.items = 1;
  launches.push_back(launch);
  hfta_task task = {};
  task.name = names.back().c_str();
  task.launches = &launches.back();
  task.launch_count = 1;
  task.reads = lists.back().data();
  task.read_count = static_cast<uint32_t>(lists.back().size());
  lists.push_back(writes);
  task.writes = lists.back().data();
  task.write_count = static_cast<uint32_t>(writes.size());
  tasks.push_back(task);
  return static_cast<uint32_t>(tasks.size() - 1);
}

void FakeStages::addSegments() {
  const uint64_t all = copies * rowBytes;
  int64_t inFlight = options.isUncut ? 1 : options.inFlight;
  input = addSegment("input", HFTA_SEGMENT_INPUT, 0, inFlight + 1, rowBytes);
  for (int i = 0; i < count; ++i) {
    std::string number = std::to_string(i);
    int64_t groups = stages[options.isUncut ? 0 : i].groups;
    weights.push_back(
        addSegment("parameters." + number, HFTA_SEGMENT_PARAMETERS, i, 1, all));
    addTensor("weight." + number, weights.back(), 0, 1, width, false,
              HFTA_TENSOR_TRAINED | HFTA_TENSOR_CHECKPOINT);
    gradients.push_back(addSegment("gradients." + number,
                                   HFTA_SEGMENT_GRADIENTS, i, groups, all));
    received.push_back(addSegment("received." + number, HFTA_SEGMENT_RECEIVED,
                                  i, groups, all));
    // The input of stage i, and the gradient by this input.
    cuts.push_back(i == 0 ? input
                          : addSegment("cut." + number, HFTA_SEGMENT_CUT, i,
                                       inFlight, all));
    differences.push_back(
        addSegment("difference." + number, HFTA_SEGMENT_CUT, i, inFlight, all));
  }
  differences.push_back(
      addSegment("difference", HFTA_SEGMENT_SAVED, count - 1, inFlight, all));
  int64_t groups = stages.back().groups;
  results =
      addSegment("results", HFTA_SEGMENT_RESULTS, count - 1, groups, rowBytes);
  receivedResults = addSegment("received.results", HFTA_SEGMENT_RECEIVED,
                               count - 1, groups, rowBytes);
  scalars = addSegment("scalars", HFTA_SEGMENT_SCALARS, -1, 1,
                       2 * copies * sizeof(double));
}

void FakeStages::addStage(int i) {
  std::string number = std::to_string(i);
  bool isLast = i == count - 1;
  hfta_binding from = i == 0 ? bind(cuts[0], 0, 0) : bind(cuts[i]);
  init.push_back(addTask("init." + number, runInit, {bind(weights[i])},
                         {weights[i]}, true));
  if (isLast)
    forward.push_back(
        addTask("forward." + number, runLast,
                {from, bind(weights[i]), bind(cuts[1]), bind(weights[0]),
                 bind(differences[count]), bind(results, 0, sizeof(double))},
                {differences[count], results}, true));
  else
    forward.push_back(addTask("forward." + number, runForward,
                              {from, bind(weights[i]), bind(cuts[i + 1])},
                              {cuts[i + 1]}, true));
  backward.push_back(addTask("backward." + number, runBackward,
                             {bind(differences[i + 1]), from, bind(weights[i]),
                              bind(gradients[i]), bind(differences[i])},
                             {gradients[i], differences[i]}, true));
  combine.push_back(
      addTask("combine." + number, runCombine,
              {bind(gradients[i], 0, rowBytes), bind(received[i], 0, rowBytes)},
              {gradients[i]}, true));
  update.push_back(addTask(
      "update." + number, runUpdate,
      {bind(weights[i]), bind(gradients[i]), bind(scalars, 0, sizeof(double))},
      {weights[i], gradients[i]}, true));
}

void FakeStages::addTasks() {
  for (int i = 0; i < count; ++i)
    addStage(i);
  combineResults =
      addTask("combine_results", runCombine,
              {bind(results, 0, rowBytes), bind(receivedResults, 0, rowBytes)},
              {results}, true);
  evaluate =
      addTask("evaluate", runEvaluateLast,
              {bind(cuts[count - 1]), bind(weights[count - 1]), bind(cuts[1]),
               bind(weights[0]), bind(results, 0, sizeof(double)),
               bind(results, copies * sizeof(double), sizeof(double))},
              {results}, true);
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

void FakeStages::finish() {
  for (size_t i = 0; i < schedules.size(); ++i) {
    schedules[i].commands = commands[i].data();
    schedules[i].command_count = static_cast<uint32_t>(commands[i].size());
  }
  for (const std::vector<hfta_action> &list : actions)
    orders.push_back({list.data(), list.size()});
  field.name = "x";
  field.tensor = addTensor("x", input, 0, 1, width, true, 0);
  rate = {"lr", rates};
  model.identity = "stages";
  program.abi_version = hfta_abi_version();
  program.target = "cpu";
  program.name = options.isUncut ? "uncut" : "stages";
  program.optimizer = "sgd";
  program.cpu_features = program.plan_json = "";
  program.copies = copies;
  program.batch = program.micro_batches = options.microBatches;
  program.blocks = count;
  program.precision = HFTA_F64;
  program.segments = segments.data();
  program.segment_count = static_cast<uint32_t>(segments.size());
  program.tasks = tasks.data();
  program.task_count = static_cast<uint32_t>(tasks.size());
  program.schedules = schedules.data();
  program.schedule_count = static_cast<uint32_t>(schedules.size());
  program.orders = orders.data();
  program.order_count = static_cast<uint32_t>(orders.size());
  program.stages = stages.data();
  program.stage_count = static_cast<uint32_t>(stages.size());
  for (const hfta_stage &stage : stages)
    program.workers += stage.replicas;
  if (!options.isUncut && !options.places.empty())
    program.worker_places = options.places.data();
  program.hyper_parameters = &rate;
  program.hyper_parameter_count = 1;
  program.data_fields = &field;
  program.data_field_count = 1;
  program.event_count = EVENTS * PER_EVENT;
  program.queue_count = QUEUES;
  program.models = &model;
  program.model_of_copy = modelOfCopy;
  // No role has a tensor yet.
  std::memset(&program.roles, 0xff, sizeof(program.roles));
  program.roles.learning_rate = addTensor("lr", scalars, 0, 1, 1, false, 0);
  program.roles.loss = addTensor("loss", results, 0, 1, 1, false, 0);
  program.roles.loss_sum = program.roles.loss;
  program.roles.loss_weight =
      addTensor("weight", results, copies * sizeof(double), 1, 1, false, 0);
  program.tensors = tensors.data();
  program.tensor_count = static_cast<uint32_t>(tensors.size());
}

/// Returns the order one forward, one backward of `count` micro-batches.
static std::vector<hfta_action> makeOrder(int64_t count, int64_t inFlight) {
  std::vector<hfta_action> order;
  for (int64_t i = 0; i < count + inFlight - 1; ++i) {
    if (i < count)
      order.push_back({FORWARD, static_cast<uint32_t>(i)});
    if (i >= inFlight - 1)
      order.push_back({BACKWARD, static_cast<uint32_t>(i - inFlight + 1)});
  }
  return order;
}

FakeStages::FakeStages(const StagesOptions &given)
    : options(given), count(static_cast<int>(given.replicas.size())) {
  for (int64_t replicas : options.replicas)
    stages.push_back({replicas, options.groups ? options.groups : replicas,
                      options.inFlight});
  if (options.isUncut)
    stages = {{1, options.groups ? options.groups : 1, 1}};
  addSegments();
  addTasks();
  if (options.isUncut)
    addUncutSchedules();
  for (int i = 0; i < count && !options.isUncut; ++i) {
    int64_t replicas = options.replicas[i];
    int64_t own = (options.microBatches + replicas - 1) / replicas;
    int64_t ahead = count - i; // with more in flight, stages would deadlock
    if (options.orders.empty())
      actions.push_back(
          makeOrder(own, std::min({own, options.inFlight, ahead})));
    else
      actions.push_back(options.orders[i]);
    if (options.receivesAhead && i > 0)
      actions.back().insert(actions.back().begin(), {RECEIVE, 0});
    addSchedules(i);
  }
  // The commands `run` and `export` use schedules of the uncut chain.
  if (!options.isUncut) {
    commands.emplace_back();
    Schedule whole = {commands.back()};
    for (uint32_t task : init)
      whole.run(task);
    hfta_schedule schedule = {};
    schedule.name = "initialize";
    schedule.stage = -1;
    schedules.push_back(schedule);
  }
  finish();
}

std::vector<double> FakeStages::makeBatch(int key) const {
  std::vector<double> batch;
  for (int64_t i = 0; i < options.microBatches * width; ++i)
    batch.push_back(std::sin(static_cast<double>(i * 7 + key * 13 + 1)) + 0.1);
  return batch;
}
