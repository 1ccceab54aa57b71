//===- FakeReplicas.cpp - Hand-written replicas that share work -----------===//

#include "FakeReplicas.h"

#include <algorithm>

static constexpr int64_t width = FakeStages::width;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static double &at(void *memory, int64_t index) {
  return static_cast<double *>(memory)[index];
}

/// Adds the squares of the input to the moment. Buffers: input, moment.
static void runMoment(void *const *buffers, int64_t, void *) {
  for (int64_t i = 0; i < width; ++i)
    at(buffers[1], i) += at(buffers[0], i) * at(buffers[0], i);
}

/// Updates the factor, a running mean, and clears the moment. Buffers: factor,
/// moment.
static void runCurvature(void *const *buffers, int64_t, void *) {
  for (int64_t i = 0; i < width; ++i) {
    at(buffers[0], i) = 0.5 * at(buffers[0], i) + at(buffers[1], i);
    at(buffers[1], i) = 0.0;
  }
}

/// Computes the inverse of 1 + factor. Buffers: inverse, factor.
static void runInvert(void *const *buffers, int64_t, void *) {
  for (int64_t i = 0; i < width; ++i)
    at(buffers[0], i) = 1.0 / (1.0 + at(buffers[1], i));
}

/// Multiplies the gradient by the inverse. Buffers: gradient, inverse.
static void runPrecondition(void *const *buffers, int64_t, void *) {
  for (int64_t i = 0; i < width; ++i)
    at(buffers[0], i) *= at(buffers[1], i);
}

/// Adds a value to a sum. Buffers: sum, value.
static void runAdd(void *const *buffers, int64_t, void *) {
  for (int64_t i = 0; i < width; ++i)
    at(buffers[0], i) += at(buffers[1], i);
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

static hfta_binding bindRows(uint32_t segment) {
  return bindRow(segment, 0, rowBytes);
}

static StagesOptions makeStages(const ReplicasOptions &options) {
  StagesOptions stages;
  stages.replicas = {options.replicas, 2};
  stages.isUncut = !options.isStaged;
  stages.microBatches = stages.groups = options.groups;
  return stages;
}

static bool holds(const std::vector<hfta_command> &list, uint32_t task) {
  return std::any_of(list.begin(), list.end(), [&](const hfta_command &it) {
    return it.kind == HFTA_COMMAND_RUN && it.subject == task;
  });
}

FakeReplicas::FakeReplicas(const ReplicasOptions &given)
    : FakeStages(makeStages(given)), given(given) {
  if (!given.isStaged)
    stages[0].replicas = program.workers = given.replicas;
  addMemory();
  addWork();
  for (std::vector<hfta_command> &list : commands)
    if (holds(list, update[0]))
      list = extend(list);
  for (size_t i = 0; i < schedules.size(); ++i) {
    schedules[i].commands = commands[i].data();
    schedules[i].command_count = static_cast<uint32_t>(commands[i].size());
  }
  program.segments = segments.data();
  program.segment_count = static_cast<uint32_t>(segments.size());
  program.tasks = tasks.data();
  program.task_count = static_cast<uint32_t>(tasks.size());
  program.tensors = tensors.data();
  program.tensor_count = static_cast<uint32_t>(tensors.size());
}

hfta_replicas FakeReplicas::getOwners() const {
  if (given.placement == Placement::grid)
    return {given.owner, getReplicas() / given.columns, given.columns, 0};
  return {given.owner, 1, 1, 0};
}

void FakeReplicas::addMemory() {
  const uint64_t all = copies * rowBytes;
  moments = addSegment("moments", HFTA_SEGMENT_MOMENTS, 0, given.groups, all);
  receivedMoments = addSegment("received.moments", HFTA_SEGMENT_RECEIVED, 0,
                               given.groups, all);
  factor = addSegment("factor", HFTA_SEGMENT_CURVATURE, 0, 1, all);
  inverse = addSegment("inverse", HFTA_SEGMENT_CURVATURE, 0, 1, all);
  bool isHeld =
      given.placement == Placement::grid || given.placement == Placement::local;
  if (isHeld)
    segments[factor].holders = segments[inverse].holders = getOwners();
  addTensor("factor", factor, 0, 1, width, false, HFTA_TENSOR_CHECKPOINT);
  addTensor("inverse", inverse, 0, 1, width, false, HFTA_TENSOR_CHECKPOINT);
}

void FakeReplicas::addWork() {
  moment = addTask("moment", runMoment,
                   {bindRow(input, 0, 0), bindRows(moments)}, {moments}, true);
  curvature =
      addTask("curvature", runCurvature, {bindRows(factor), bindRows(moments)},
              {factor, moments}, true);
  invert = addTask("invert", runInvert, {bindRows(inverse), bindRows(factor)},
                   {inverse}, true);
  precondition = addTask("precondition", runPrecondition,
                         {bindRows(gradients[0]), bindRows(inverse)},
                         {gradients[0]}, true);
  combineMoments =
      addTask("combine_moments", runAdd,
              {bindRows(moments), bindRows(receivedMoments)}, {moments}, true);
}

std::vector<hfta_command>
FakeReplicas::extend(const std::vector<hfta_command> &list) {
  std::vector<hfta_command> extended;
  Schedule to = {extended};
  for (size_t i = 0; i < list.size(); ++i) {
    bool runs = list[i].kind == HFTA_COMMAND_RUN;
    if (runs && list[i].subject == update[0])
      writePreconditioning(to);
    extended.push_back(list[i]);
    if (!runs || list[i].subject != forward[0])
      continue;
    // The inserted command lengthens the commands whose bodies contain command
    // i. All of them precede it and have the same numbers in both lists.
    for (size_t outer = 0; outer < i; ++outer)
      extended[outer].length += outer + list[outer].length >= i;
    to.run(moment);
  }
  return extended;
}

void FakeReplicas::only(Schedule &to, hfta_replicas replicas,
                        const std::function<void()> &body) {
  size_t begin = to.begin(HFTA_COMMAND_ONLY, 0);
  to.commands.back().replicas = replicas;
  body();
  to.end(begin);
}

void FakeReplicas::broadcast(Schedule &to, uint32_t segment, uint64_t stride) {
  to.after(SUMS, TASKS, DONE);
  hfta_command &command = to.add(HFTA_COMMAND_BROADCAST, SUMS);
  command.to = {HFTA_SPACE_SEGMENT, segment, 0, stride};
  command.bytes = stride ? rowBytes : copies * rowBytes;
  command.replicas = getOwners();
  command.receivers = {0, getReplicas(), 1, 0};
  to.after(TASKS, SUMS, SUMMED);
}

void FakeReplicas::takeMoments(Schedule &to) {
  if (given.placement == Placement::local) {
    hfta_command &command = to.add(HFTA_COMMAND_TAKE_GROUP, TASKS, given.group);
    command.to = {HFTA_SPACE_SEGMENT, moments, 0, rowBytes};
    command.bytes = rowBytes;
    return;
  }
  to.after(SUMS, TASKS, DONE);
  to.allReduce(combineMoments, moments, receivedMoments, copies * rowBytes);
  to.after(TASKS, SUMS, SUMMED);
}

void FakeReplicas::runWithFactor(Schedule &to) {
  only(to, getOwners(), [&] {
    to.run(curvature);
    to.run(invert);
    to.run(precondition);
  });
}

void FakeReplicas::writePreconditioning(Schedule &to) {
  takeMoments(to);
  switch (given.placement) {
  case Placement::all:
    to.run(curvature);
    to.run(invert);
    to.run(precondition);
    return;
  case Placement::balanced:
    to.run(curvature);
    only(to, getOwners(), [&] { to.run(invert); });
    broadcast(to, inverse, /*stride=*/0);
    to.run(precondition);
    return;
  case Placement::grid:
    runWithFactor(to);
    // Replicas without the factor don't run `curvature`, which clears the
    // moments, so all replicas clear them here.
    to.fill(moments, copies * rowBytes);
    broadcast(to, gradients[0], rowBytes);
    return;
  case Placement::local:
    runWithFactor(to);
    broadcast(to, gradients[0], rowBytes);
    return;
  }
}
