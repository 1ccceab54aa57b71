//===- FakeStagesSchedules.cpp - Schedules of the fake pipeline -----------===//

#include "FakeStagesSchedules.h"

/// Sends the first stage's weight to the last stage, which keeps a copy of it.
void FakeStages::writeSharedWeight(Schedule &to, int stage) {
  if (options.isUncut)
    return;
  if (stage == 0) {
    to.after(SENDS, TASKS, DONE);
    to.message(HFTA_COMMAND_SEND, SENDS, weights[0], count - 1,
               copies * rowBytes);
  }
  if (stage == count - 1) {
    to.after(RECEIPTS, TASKS, DONE);
    to.message(HFTA_COMMAND_RECEIVE, RECEIPTS, weights[0], 0,
               copies * rowBytes);
  }
}

void FakeStages::writeInitialize(Schedule &to, int stage) {
  to.run(init[stage]);
  writeSharedWeight(to, stage);
}

/// Receives the input of a micro-batch's forward into a free instance; `ahead`
/// says how many micro-batches ahead.
void FakeStages::writeReceive(Schedule &to, int stage, int32_t ahead) {
  const uint64_t all = copies * rowBytes;
  size_t begin = to.commands.size();
  to.await(RECEIPTS, FREE, options.inFlight);
  to.message(HFTA_COMMAND_RECEIVE, RECEIPTS, cuts[stage], stage - 1, all);
  if (stage == count - 1 && count > 2)
    to.message(HFTA_COMMAND_RECEIVE, RECEIPTS, cuts[1], 0, all);
  to.record(RECEIPTS, CAME, options.inFlight);
  for (size_t i = begin; i < to.commands.size(); ++i)
    to.commands[i].ahead = ahead;
}

/// Appends the commands of a micro-batch's forward: its messages and its task.
void FakeStages::writeForward(Schedule &to, int stage, bool receivesAhead) {
  const uint64_t all = copies * rowBytes;
  int64_t inFlight = options.inFlight;
  if (stage == 0) {
    to.await(UPLOADS, FREE, inFlight);
    to.transfer(UPLOADS, {HFTA_SPACE_SEGMENT, input, 0, 0},
                {HFTA_SPACE_FIELD, 0, 0, 0}, rowBytes);
    to.after(TASKS, UPLOADS, UPLOADED, inFlight);
  } else {
    if (!receivesAhead)
      writeReceive(to, stage, 0);
    to.await(TASKS, CAME, inFlight);
    if (receivesAhead)
      writeReceive(to, stage, 1);
  }
  if (stage < count - 1)
    to.await(TASKS, SENT, inFlight);
  to.run(forward[stage]);
  if (stage == count - 1)
    return;
  to.after(SENDS, TASKS, COMPUTED, inFlight);
  to.message(HFTA_COMMAND_SEND, SENDS, cuts[stage + 1], stage + 1, all);
  if (stage == 0 && count > 2)
    to.message(HFTA_COMMAND_SEND, SENDS, cuts[1], count - 1, all);
  to.record(SENDS, SENT, inFlight);
}

void FakeStages::writeBackward(Schedule &to, int stage) {
  const uint64_t all = copies * rowBytes;
  int64_t inFlight = options.inFlight;
  if (stage < count - 1) {
    to.await(RECEIPTS_BACK, FREE, inFlight);
    to.message(HFTA_COMMAND_RECEIVE, RECEIPTS_BACK, differences[stage + 1],
               stage + 1, all);
    to.after(TASKS, RECEIPTS_BACK, CAME_BACK, inFlight);
  }
  if (stage > 0)
    to.await(TASKS, SENT_BACK, inFlight);
  to.run(backward[stage]);
  if (stage > 0) {
    to.after(SENDS, TASKS, COMPUTED_BACK, inFlight);
    to.message(HFTA_COMMAND_SEND, SENDS, differences[stage], stage - 1, all);
    to.record(SENDS, SENT_BACK, inFlight);
  }
  to.record(TASKS, FREE, inFlight);
}

void FakeStages::writeUpdate(Schedule &to, int stage) {
  bool isLast = stage == count - 1;
  to.after(SUMS, TASKS, DONE);
  to.allReduce(combine[stage], gradients[stage], received[stage],
               copies * rowBytes);
  if (isLast)
    to.allReduce(combineResults, results, receivedResults, rowBytes);
  to.after(TASKS, SUMS, SUMMED);
  to.run(update[stage]);
  if (isLast)
    to.transfer(TASKS, {HFTA_SPACE_HOST, results, 0, 0},
                {HFTA_SPACE_SEGMENT, results, 0, 0}, rowBytes);
  writeSharedWeight(to, stage);
}

void FakeStages::addSchedules(int stage) {
  auto add = [&](const char *name) {
    commands.emplace_back();
    hfta_schedule schedule = {};
    schedule.name = name;
    schedule.stage = options.isUncut ? -1 : stage;
    schedules.push_back(schedule);
    Schedule to = {commands.back()};
    to.transfer(TASKS, {HFTA_SPACE_SEGMENT, scalars, 0, 0},
                {HFTA_SPACE_HOST, scalars, 0, 0}, segments[scalars].bytes);
    return to;
  };
  int64_t last = stage == count - 1;
  Schedule initialize = add("initialize");
  writeInitialize(initialize, stage);
  Schedule step = add("step");
  if (last)
    step.fill(results, rowBytes);
  size_t outer = step.begin(HFTA_COMMAND_ACTIONS, static_cast<uint32_t>(stage));
  size_t inner = step.begin(HFTA_COMMAND_CASE, FORWARD);
  writeForward(step, stage, options.receivesAhead);
  step.end(inner);
  inner = step.begin(HFTA_COMMAND_CASE, BACKWARD);
  writeBackward(step, stage);
  step.end(inner);
  if (stage > 0) {
    inner = step.begin(HFTA_COMMAND_CASE, RECEIVE);
    writeReceive(step, stage, 0);
    step.end(inner);
  }
  step.end(outer);
  writeUpdate(step, stage);
  Schedule evaluation = add("evaluate");
  if (last)
    evaluation.fill(results, rowBytes);
  outer = evaluation.begin(HFTA_COMMAND_REPEAT, HFTA_REPEAT_MICRO_BATCHES);
  writeForward(evaluation, stage, false);
  if (last)
    evaluation.commands.back().subject = evaluate;
  evaluation.record(TASKS, FREE, options.inFlight);
  evaluation.end(outer);
  if (last) {
    evaluation.after(SUMS, TASKS, DONE);
    evaluation.allReduce(combineResults, results, receivedResults, rowBytes);
    evaluation.after(TASKS, SUMS, SUMMED);
    evaluation.transfer(TASKS, {HFTA_SPACE_HOST, results, 0, 0},
                        {HFTA_SPACE_SEGMENT, results, 0, 0}, rowBytes);
  }
}

void FakeStages::addUncutSchedules() {
  for (const char *name : {"initialize", "step", "evaluate"}) {
    commands.emplace_back();
    hfta_schedule schedule = {};
    schedule.name = name;
    schedule.stage = -1;
    schedules.push_back(schedule);
  }
  for (std::vector<hfta_command> &list : commands)
    Schedule{list}.transfer(TASKS, {HFTA_SPACE_SEGMENT, scalars, 0, 0},
                            {HFTA_SPACE_HOST, scalars, 0, 0},
                            segments[scalars].bytes);
  Schedule initialize = {commands[0]}, step = {commands[1]},
           evaluation = {commands[2]};
  for (int i = 0; i < count; ++i)
    writeInitialize(initialize, i);
  for (Schedule *to : {&step, &evaluation}) {
    to->fill(results, rowBytes);
    size_t begin = to->begin(HFTA_COMMAND_REPEAT, HFTA_REPEAT_MICRO_BATCHES);
    to->transfer(TASKS, {HFTA_SPACE_SEGMENT, input, 0, 0},
                 {HFTA_SPACE_FIELD, 0, 0, 0}, rowBytes);
    for (int i = 0; i < count - 1; ++i)
      to->run(forward[i]);
    to->run(to == &step ? forward[count - 1] : evaluate);
    for (int i = count - 1; i >= 0 && to == &step; --i)
      to->run(backward[i]);
    to->end(begin);
  }
  for (int i = 0; i < count; ++i)
    writeUpdate(step, i);
  evaluation.after(SUMS, TASKS, DONE);
  evaluation.allReduce(combineResults, results, receivedResults, rowBytes);
  evaluation.after(TASKS, SUMS, SUMMED);
  evaluation.transfer(TASKS, {HFTA_SPACE_HOST, results, 0, 0},
                      {HFTA_SPACE_SEGMENT, results, 0, 0}, rowBytes);
}
