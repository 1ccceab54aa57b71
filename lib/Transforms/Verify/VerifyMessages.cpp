//===- VerifyMessages.cpp - Checks messages for deadlocks -----------------===//
//
// Transports buffer small messages and so hide a wrong order, which then blocks
// a larger model, or blocks on another network. Here, nothing is buffered: a
// send ends only when its receive has begun, and a queue runs one command at a
// time. A schedule that ends here also ends on every transport that serializes
// nothing but the commands of a queue and the messages between two workers, if
// queues can hold all commands that they are given.
//===----------------------------------------------------------------------===//

#include "Verify/VerifyMessages.h"

#include "Hfta/Support/TaskNames.h"
#include "Schedule/ScheduleTraversal.h"

#include <map>

using namespace mlir;
using namespace mlir::hfta;

namespace {

/// A command of a queue that may have to wait for others.
struct Step {
  enum Kind { record, await, send, receive, meet } kind;
  Operation *op;
  int64_t number = 0;      ///< an event, or the other worker of a message
  int64_t count = 0;       ///< await: the number of records to wait for
  int64_t microBatch = -1; ///< the micro-batch of a message; -1: none
};

struct Queue {
  std::vector<Step> steps;
  size_t done = 0;
  const Step *getHead() const {
    return done < steps.size() ? &steps[done] : nullptr;
  }
};

/// The queues of one worker. A traversal of a schedule collects their steps.
class Worker : public ScheduleTraversal {
public:
  Worker(const Job &job, int64_t stage, int64_t replica, int64_t microBatches,
         const std::set<StringRef> &idlePeriods)
      : Worker(job, stage, replica, microBatches,
               StageRank(job.getReplicas(stage), replica,
                         job.getReplicas(stage))) {
    idle = idlePeriods;
  }

  LogicalResult collect(ScheduleOp schedule) {
    return traverse(schedule.getBody().front());
  }
  std::string describe() const {
    std::string text = "stage " + std::to_string(stage);
    if (job.getReplicas(stage) > 1)
      text += ", replica " + std::to_string(replica);
    return text;
  }

  std::map<int64_t, Queue> queues;
  std::map<int64_t, int64_t> happened; ///< how often each event was recorded

private:
  Worker(const Job &job, int64_t stage, int64_t replica, int64_t microBatches,
         StageRank rank)
      : ScheduleTraversal(rank,
                          getMicroBatchesOf(job, stage, rank, microBatches),
                          microBatches),
        job(job), stage(stage), replica(replica) {}

  LogicalResult visit(ScheduleCommandOpInterface command) override;
  void addMessage(ScheduleCommandOpInterface command, CommandMessage message,
                  Queue &queue);
  void addEvent(ScheduleCommandOpInterface command, bool isRecord,
                Queue &queue);

  const Job &job;
  int64_t stage, replica;
  std::map<int64_t, int64_t> recorded;
};

/// All workers that take part in a call.
class Team {
public:
  Team(const Job &job, int64_t microBatches, const std::set<StringRef> &idle) {
    for (int64_t stage = 0; stage < job.getStageCount(); ++stage) {
      firsts.push_back(static_cast<int64_t>(workers.size()));
      for (int64_t replica = 0; replica < job.getReplicas(stage); ++replica)
        workers.emplace_back(job, stage, replica, microBatches, idle);
    }
    firsts.push_back(static_cast<int64_t>(workers.size()));
  }

  LogicalResult collect(ArrayRef<ScheduleOp> ofStages) {
    for (size_t stage = 0; stage < ofStages.size(); ++stage)
      for (int64_t worker = firsts[stage]; worker < firsts[stage + 1]; ++worker)
        if (failed(workers[worker].collect(ofStages[stage])))
          return failure();
    return success();
  }
  LogicalResult run();

private:
  FailureOr<bool> advance(int64_t worker, Queue &queue);
  FailureOr<bool> sendTo(int64_t worker, Queue &queue);
  bool meet(int64_t worker, int64_t number);
  bool isExpected(int64_t worker, const Step &message) const;
  LogicalResult checkAllDone();

  std::vector<Worker> workers;
  SmallVector<int64_t> firsts; ///< the first worker of each stage, and the end
};

} // namespace

//===----------------------------------------------------------------------===//
// One worker
//===----------------------------------------------------------------------===//

/// Adds a message. A message for a micro-batch is exchanged with the worker of
/// the other stage that has the same micro-batch. Other messages go from
/// replica i mod r of a stage with r replicas to each replica i of the other
/// stage.
void Worker::addMessage(ScheduleCommandOpInterface command,
                        CommandMessage message, Queue &queue) {
  Step::Kind kind = message.isSent ? Step::send : Step::receive;
  int64_t other = message.stage, ahead = command.getMicroBatchesAhead();
  int64_t first = 0;
  for (int64_t before = 0; before < other; ++before)
    first += job.getReplicas(before);
  int64_t replicas = job.getReplicas(other);
  if (now.isInMicroBatches) {
    if (isPastLast(ahead))
      return;
    int64_t number = own[now.place + ahead];
    int64_t peer = number % job.getGroups(other) % replicas;
    queue.steps.push_back({kind, command, first + peer, 0, number});
    return;
  }
  if (kind == Step::receive) {
    queue.steps.push_back({kind, command, first + replica % replicas});
    return;
  }
  for (int64_t peer = 0; peer < replicas; ++peer)
    if (peer % job.getReplicas(stage) == replica)
      queue.steps.push_back({kind, command, first + peer});
}

void Worker::addEvent(ScheduleCommandOpInterface command, bool isRecord,
                      Queue &queue) {
  std::optional<int64_t> event = findEvent(command);
  if (!event)
    return;
  int64_t &count = recorded[*event];
  if (isRecord)
    ++count;
  queue.steps.push_back(
      {isRecord ? Step::record : Step::await, command, *event, count});
}

LogicalResult Worker::visit(ScheduleCommandOpInterface command) {
  Queue &queue = queues[command.findQueue()->second];
  if (std::optional<CommandMessage> message = command.findMessage()) {
    if (message->stage >= job.getStageCount())
      return command->emitOpError("names stage ")
             << message->stage << ", but there are only "
             << job.getStageCount();
    addMessage(command, *message, queue);
  } else if (std::optional<CommandEvent> event = command.findEvent()) {
    addEvent(command, event->isRecord, queue);
  } else if (command.meetsOthers()) {
    queue.steps.push_back({Step::meet, command});
  }
  return success();
}

//===----------------------------------------------------------------------===//
// All workers
//===----------------------------------------------------------------------===//

static PlaceAttr getPlace(const Step &step) {
  return cast<ScheduleCommandOpInterface>(step.op).findMessage()->place;
}

static std::string describeMessage(const Step &step) {
  CommandMessage message =
      *cast<ScheduleCommandOpInterface>(step.op).findMessage();
  std::string text = std::to_string(message.bytes) + " bytes of segment " +
                     std::to_string(message.place.getNumber());
  if (step.microBatch >= 0)
    text += " of micro-batch " + std::to_string(step.microBatch);
  return text;
}

/// Completes a send together with its receive, and returns whether the receive
/// has begun. Messages of one segment, which always contain all of it, are
/// paired in their order between the two workers.
FailureOr<bool> Team::sendTo(int64_t worker, Queue &queue) {
  const Step &sent = *queue.getHead();
  Worker &peer = workers[sent.number];
  for (auto &[number, other] : peer.queues) {
    const Step *head = other.getHead();
    if (!head || head->kind != Step::receive || head->number != worker ||
        getPlace(*head).getNumber() != getPlace(sent).getNumber())
      continue;
    if (head->microBatch != sent.microBatch)
      return sent.op->emitOpError("sends ")
             << describeMessage(sent) << ", but " << peer.describe()
             << " receives " << describeMessage(*head);
    ++other.done;
    ++queue.done;
    return true;
  }
  return false;
}

/// Completes a collective command if it is the next one of this queue in all
/// replicas of the stage. Returns whether it is.
bool Team::meet(int64_t worker, int64_t number) {
  const auto *end = llvm::upper_bound(firsts, worker);
  auto replicas = llvm::seq(*(end - 1), *end);
  auto isThere = [&](int64_t replica) {
    const Step *own = workers[worker].queues[number].getHead();
    const Step *head = workers[replica].queues[number].getHead();
    return head && head->kind == Step::meet && head->op == own->op;
  };
  if (!llvm::all_of(replicas, isThere))
    return false;
  for (int64_t replica : replicas)
    ++workers[replica].queues[number].done;
  return true;
}

/// Runs the commands of a queue until one has to wait. Returns whether any has
/// run.
FailureOr<bool> Team::advance(int64_t worker, Queue &queue) {
  bool hasAdvanced = false;
  while (const Step *head = queue.getHead()) {
    Worker &own = workers[worker];
    if (head->kind == Step::record) {
      ++own.happened[head->number];
    } else if (head->kind == Step::await) {
      if (own.happened[head->number] < head->count)
        break;
    } else if (head->kind == Step::send) {
      FailureOr<bool> sent = sendTo(worker, queue);
      if (failed(sent))
        return failure();
      if (!*sent)
        break;
      hasAdvanced = true;
      continue;
    } else if (head->kind == Step::meet) {
      auto number = llvm::find_if(own.queues, [&](auto &entry) {
                      return &entry.second == &queue;
                    })->first;
      if (!meet(worker, number))
        break;
      hasAdvanced = true;
      continue;
    } else { // a receive, which its send completes
      break;
    }
    ++queue.done;
    hasAdvanced = true;
  }
  return hasAdvanced;
}

/// Returns whether the other worker of a message still has to send or receive
/// it.
bool Team::isExpected(int64_t worker, const Step &message) const {
  auto counterpart = message.kind == Step::send ? Step::receive : Step::send;
  return llvm::any_of(workers[message.number].queues, [&](const auto &entry) {
    const Queue &queue = entry.second;
    return std::any_of(queue.steps.begin() + queue.done, queue.steps.end(),
                       [&](const Step &step) {
                         return step.kind == counterpart &&
                                step.number == worker &&
                                step.microBatch == message.microBatch &&
                                getPlace(step) == getPlace(message);
                       });
  });
}

/// Reports a command that never ends, if there is one: preferably a message
/// without a counterpart, for which others may be waiting, else the first
/// command of a cycle.
LogicalResult Team::checkAllDone() {
  std::optional<std::pair<int64_t, Step>> found;
  bool isCause = false;
  for (auto [index, worker] : llvm::enumerate(workers))
    for (auto &[number, queue] : worker.queues) {
      const Step *head = queue.getHead();
      if (!head || head->kind == Step::await)
        continue;
      bool isMessage = head->kind != Step::meet;
      bool isAlone = isMessage && !isExpected(index, *head);
      if (!found || (isAlone && !isCause))
        found = {static_cast<int64_t>(index), *head};
      isCause |= isAlone;
    }
  if (!found)
    return success();
  auto &[worker, step] = *found;
  InFlightDiagnostic error = step.op->emitOpError("of ")
                             << workers[worker].describe() << " never ends";
  if (step.kind == Step::meet)
    return error << ": not all replicas reach it";
  return error << ": " << workers[step.number].describe()
               << (step.kind == Step::send ? " never receives "
                                           : " never sends ")
               << describeMessage(step);
}

LogicalResult Team::run() {
  bool hasAdvanced = true;
  while (hasAdvanced) {
    hasAdvanced = false;
    for (auto [index, worker] : llvm::enumerate(workers))
      for (auto &[number, queue] : worker.queues) {
        FailureOr<bool> more = advance(static_cast<int64_t>(index), queue);
        if (failed(more))
          return failure();
        hasAdvanced |= *more;
      }
  }
  return checkAllDone();
}

/// Returns the sets of periods for which no copy may be due: all subsets of the
/// periods by which a schedule chooses copies.
static std::vector<std::set<StringRef>>
listIdle(ArrayRef<ScheduleOp> schedules) {
  std::set<StringRef> periods;
  for (ScheduleOp schedule : schedules)
    for (StringRef period : findPeriods(schedule))
      periods.insert(period);
  std::vector<std::set<StringRef>> all = {{}};
  for (StringRef period : periods)
    for (size_t i = 0, count = all.size(); i < count; ++i) {
      all.push_back(all[i]);
      all.back().insert(period);
    }
  return all;
}

LogicalResult hfta::verifyMessages(ModuleOp module, const Job &job) {
  if (job.getStageCount() == 1)
    return success();
  SymbolTable symbols(module);
  for (StringRef kind : schedules::kAll) {
    SmallVector<ScheduleOp> ofStages;
    for (int64_t stage = 0; stage < job.getStageCount(); ++stage)
      if (auto schedule =
              symbols.lookup<ScheduleOp>(ScheduleOp::makeName(kind, stage)))
        ofStages.push_back(schedule);
    if (ofStages.empty())
      continue;
    if (static_cast<int64_t>(ofStages.size()) != job.getStageCount())
      return ofStages.front().emitOpError("exists for only ")
             << ofStages.size() << " of " << job.getStageCount() << " stages";
    // The last batch of an evaluation may have fewer micro-batches.
    SmallVector<int64_t> counts = {job.microBatches};
    if (kind == schedules::kEvaluate && job.microBatches > 1)
      counts.append({1, job.microBatches - 1});
    for (int64_t count : counts)
      for (const std::set<StringRef> &idle : listIdle(ofStages)) {
        Team team(job, count, idle);
        if (failed(team.collect(ofStages)) || failed(team.run()))
          return failure();
      }
  }
  return success();
}
