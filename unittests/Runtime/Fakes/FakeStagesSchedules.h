//===- FakeStagesSchedules.h - Commands of FakeStages -----------*- C++ -*-===//

#ifndef HFTA_UNITTESTS_FAKE_STAGES_SCHEDULES_H
#define HFTA_UNITTESTS_FAKE_STAGES_SCHEDULES_H

#include "FakeStages.h"

/// The bytes of one copy's values. Sums are added up in blocks of this size.
inline constexpr uint64_t rowBytes = FakeStages::width * sizeof(double);

/// Returns the binding of an operand at `offset` bytes in a segment. `stride`
/// is the distance in bytes between copies; 0 if all copies use the same
/// values.
inline hfta_binding bindRow(uint32_t segment, uint64_t offset,
                            uint64_t stride) {
  hfta_binding binding = {};
  binding.segment = segment;
  binding.offset = offset;
  binding.copy_stride = stride;
  return binding;
}

// Numbers of queues.
enum : uint32_t {
  TASKS,
  UPLOADS,
  SUMS,
  SENDS,
  RECEIPTS,
  RECEIPTS_BACK, // a queue of its own, so that gradients don't wait behind
                 // messages that are received ahead
  QUEUES
};

// Numbers of events. Each may have up to `PER_EVENT` instances.
enum : uint32_t {
  UPLOADED,
  USED,
  CAME,
  CAME_BACK,
  COMPUTED,
  COMPUTED_BACK,
  SENT,
  SENT_BACK,
  FREE,
  DONE,
  SUMMED,
  EVENTS,
  PER_EVENT = 8
};

/// A schedule under construction. Its functions append commands.
struct FakeStages::Schedule {
  std::vector<hfta_command> &commands;

  hfta_command &add(uint32_t kind, uint32_t queue, uint32_t subject = 0) {
    hfta_command command = {};
    command.kind = kind;
    command.queue = queue;
    command.subject = subject;
    commands.push_back(command);
    return commands.back();
  }
  void run(uint32_t task) { add(HFTA_COMMAND_RUN, TASKS, task); }
  /// Appends a command for an event that has an instance for each of
  /// `instances` micro-batches.
  void event(uint32_t kind, uint32_t queue, uint32_t event,
             int64_t instances = 1) {
    add(kind, queue, event * PER_EVENT).bytes =
        static_cast<uint64_t>(instances);
  }
  void record(uint32_t queue, uint32_t event, int64_t instances = 1) {
    this->event(HFTA_COMMAND_RECORD, queue, event, instances);
  }
  void await(uint32_t queue, uint32_t event, int64_t instances = 1) {
    this->event(HFTA_COMMAND_AWAIT, queue, event, instances);
  }
  /// Makes `queue` wait for everything that `first` has been given so far.
  void after(uint32_t queue, uint32_t first, uint32_t event,
             int64_t instances = 1) {
    record(first, event, instances);
    await(queue, event, instances);
  }
  void message(uint32_t kind, uint32_t queue, uint32_t segment, int stage,
               uint64_t bytes) {
    hfta_command &command = add(kind, queue, static_cast<uint32_t>(stage));
    command.to = {HFTA_SPACE_SEGMENT, segment, 0, 0};
    command.bytes = bytes;
  }
  void transfer(uint32_t queue, hfta_place to, hfta_place from,
                uint64_t bytes) {
    hfta_command &command = add(HFTA_COMMAND_TRANSFER, queue);
    command.to = to;
    command.from = from;
    command.bytes = bytes;
  }
  size_t begin(uint32_t kind, uint32_t subject) {
    add(kind, TASKS, subject);
    return commands.size();
  }
  void end(size_t begin) {
    commands[begin - 1].length = static_cast<uint32_t>(commands.size() - begin);
  }
  void fill(uint32_t segment, uint64_t bytes) {
    hfta_command &command = add(HFTA_COMMAND_FILL, TASKS);
    command.to = {HFTA_SPACE_SEGMENT, segment, 0, 0};
    command.bytes = bytes;
  }
  void allReduce(uint32_t task, uint32_t segment, uint32_t received,
                 uint64_t bytes) {
    hfta_command &command = add(HFTA_COMMAND_ALL_REDUCE, SUMS, task);
    command.to = {HFTA_SPACE_SEGMENT, segment, 0, rowBytes};
    command.from = {HFTA_SPACE_SEGMENT, received, 0, 0};
    command.bytes = bytes;
  }
};

#endif // HFTA_UNITTESTS_FAKE_STAGES_SCHEDULES_H
