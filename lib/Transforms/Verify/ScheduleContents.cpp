//===- ScheduleContents.cpp - The contents of segments --------------------===//

#include "Verify/ScheduleContents.h"

#include "Hfta/Dialect/Hfta/IR/VariableIndex.h"
#include "Hfta/Support/TaskNames.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

void ByteSet::add(int64_t begin, int64_t end) {
  remove(begin, end);
  ends[begin] = end;
}

void ByteSet::remove(int64_t begin, int64_t end) {
  std::map<int64_t, int64_t> left;
  for (auto [from, to] : ends) {
    if (from < begin)
      left[from] = std::min(to, begin);
    if (to > end)
      left[std::max(from, end)] = to;
  }
  ends.swap(left);
}

bool ByteSet::hasAll(int64_t begin, int64_t end) const {
  for (auto [from, to] : ends)
    if (from <= begin && begin < to)
      begin = to;
  return begin >= end;
}

bool ByteSet::hasSome(int64_t begin, int64_t end) const {
  return llvm::any_of(ends,
                      [&](const std::pair<const int64_t, int64_t> &range) {
                        return range.first < end && begin < range.second;
                      });
}

//===----------------------------------------------------------------------===//
// Instances
//===----------------------------------------------------------------------===//

int64_t mlir::hfta::getInstance(SegmentAttr segment, const Moment &moment,
                                int64_t ahead) {
  int64_t number = moment.place + ahead;
  if (segment.getRole() == Role::input)
    number += moment.first;
  else if (segment.isOfGroups() || segment.getRole() == Role::scalar ||
           segment.getRole() == Role::exchange)
    number = moment.number;
  return number % std::max<int64_t>(segment.getInstances(), 1);
}

/// Returns whether a scalar has a value for each micro-batch.
static bool isOfMicroBatch(VariableOp variable) {
  return variable.isFor(Purpose::micro_batch) ||
         variable.isFor(Purpose::first_sample) ||
         variable.isFor(Purpose::valid_samples);
}

LogicalResult mlir::hfta::verifyInstances(ModuleOp module, const Job &job) {
  std::set<int64_t> ofMicroBatches;
  for (auto variable : module.getOps<VariableOp>())
    if (std::optional<BindingAttr> place = variable.getLocation();
        place && isOfMicroBatch(variable))
      ofMicroBatches.insert(place->getSegment());
  for (auto [index, segment] : llvm::enumerate(
           SegmentAttr::getTable(module).getAsRange<SegmentAttr>())) {
    int64_t expected = 1;
    int64_t stage = std::max<int64_t>(job.getStage(segment.getBlock()), 0);
    ReplicasAttr holders = segment.getHolders();
    if (holders && holders.getLast() >= job.getReplicas(stage))
      return module.emitError("segment ")
             << index << " is held by replicas " << holders
             << ", but its stage has only " << job.getReplicas(stage);
    switch (segment.getRole()) {
    case Role::saved:
    case Role::cut:
    case Role::workspace:
    case Role::scratch:
    case Role::input: // as many instances as the commands need
      continue;
    case Role::result: // results computed from complete sums have no groups
      if (segment.getInstances() == 1)
        continue;
      [[fallthrough]];
    case Role::gradient:
    case Role::moment:
      expected = job.getGroups(stage);
      break;
    case Role::received:
      expected = job.getMostGroups();
      break;
    case Role::exchange:
      expected = job.microBatches;
      break;
    case Role::scalar:
      if (ofMicroBatches.count(static_cast<int64_t>(index)))
        expected = job.microBatches;
      break;
    case Role::constant:
    case Role::parameter:
    case Role::optimizer_state:
    case Role::curvature:
    case Role::statistics:
    case Role::output:
      break;
    }
    if (segment.getInstances() != expected)
      return module.emitError("segment ")
             << index << " of role " << stringifyRole(segment.getRole())
             << " must have " << expected << " instances, got "
             << segment.getInstances();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The start and the end of a call
//===----------------------------------------------------------------------===//

ScheduleContents::ScheduleContents(ModuleOp module, const SymbolTable &symbols,
                                   const Job &job, StageRank rank)
    : module(module), symbols(symbols), job(job), rank(rank),
      segments(SegmentAttr::getTable(module)) {
  findVariables();
  VariableIndex variables(module);
  for (const DataField &field : job.data)
    fields.push_back(
        locate(variables.lookup(Purpose::field, field.name), field.name));
  for (auto variable : module.getOps<VariableOp>())
    if (variable.isFor(Purpose::input))
      ports.push_back(locate(variable, variable.getSymName()));
  if (VariableOp samples = variables.lookup(Purpose::valid_samples))
    ofEvaluations.push_back(locate(samples, "valid samples"));
  beginCall();
}

/// Returns the place of a variable, or an empty range if there is none.
ScheduleContents::Given ScheduleContents::locate(VariableOp variable,
                                                 StringRef name) const {
  std::optional<BindingAttr> place;
  if (variable)
    place = variable.getLocation();
  if (!place)
    return {-1, 0, 0, name.str()};
  return {place->getSegment(), place->getOffset(),
          place->getOffset() + getLogicalBytes(variable.getTensorType()),
          name.str(), place->getStride()};
}

/// Returns whether an operand of the task begins in the given range.
bool ScheduleContents::reads(TaskOp task, const Given &given) {
  std::set<Place> &places = operands[task];
  if (places.empty())
    for (auto launch : task.getBody().getOps<LaunchOp>())
      for (Attribute operand : launch.getBindings()) {
        auto binding = cast<BindingAttr>(operand);
        places.insert({binding.getSegment(), binding.getOffset()});
      }
  return llvm::any_of(places, [&](const Place &place) {
    return place.first == given.segment && given.begin <= place.second &&
           place.second < given.end;
  });
}

/// Finds the places that a task reads before any of its launches has written
/// them, so that their values come from other tasks, and the places that it
/// writes.
const ScheduleContents::Left &ScheduleContents::getLeft(TaskOp task) {
  auto [known, isNew] = leftFor.try_emplace(task);
  Left &left = known->second;
  if (!isNew)
    return left;
  for (auto launch : task.getBody().getOps<LaunchOp>()) {
    auto getPlaceOf = [&](int64_t operand) -> Place {
      auto binding = cast<BindingAttr>(launch.getBindings()[operand]);
      return {binding.getSegment(), binding.getOffset()};
    };
    for (int64_t i = 0; i < static_cast<int64_t>(launch.getInputs()); ++i)
      if (!left.written.count(getPlaceOf(i)))
        left.found.insert(getPlaceOf(i));
    for (int64_t i : launch.getWritten())
      left.written.insert(getPlaceOf(i));
  }
  return left;
}

/// Resets the state at the beginning of a call. Gradients may remain from
/// earlier calls; results are those of the last call.
void ScheduleContents::beginCall() {
  sums.clear();
  lastAdded.clear();
  exchanged.clear();
  brought.clear();
  broughtPorts.clear();
  taken.clear();
  given.clear();
  received.clear();
  readAsItWas.clear();
  addedMoments.clear();
  takenMoments.clear();
  undelivered.clear();
  for (auto [index, segment] :
       llvm::enumerate(segments.getAsRange<SegmentAttr>()))
    if (SegmentAttr::isSummed(segment.getRole()))
      sums[static_cast<int64_t>(index)].open.add(0, segment.getBytes());
}

LogicalResult
ScheduleContents::finishCall(ScheduleOp schedule,
                             llvm::function_ref<bool(RunOp)> isRun) {
  for (auto &[number, ofSegment] : sums)
    if (getSegment(number).getRole() == Role::result && hasGroups(number) &&
        !ofSegment.open.isEmpty())
      return schedule.emitOpError("leaves sums in segment ")
             << number << " that no hfta.all_reduce has added up";
  for (auto &[number, bytes] : undelivered)
    if (!bytes.isEmpty())
      return schedule.emitOpError("leaves results in segment ")
             << number << " that no hfta.transfer copies to the host";
  for (auto [index, segment] :
       llvm::enumerate(segments.getAsRange<SegmentAttr>())) {
    if (schedule.getKind() != schedules::kInitialize ||
        segment.getRole() != Role::scalar)
      continue;
    auto number = static_cast<int64_t>(index);
    for (int64_t instance = 0; instance < segment.getInstances(); ++instance)
      if (!brought[{number, instance}].hasAll(0, segment.getBytes()))
        return schedule.emitOpError("leaves instance ")
               << instance << " of segment " << number
               << " without scalars, which no hfta.transfer copies from the "
                  "host";
  }
  if (failed(checkReceived(schedule, isRun)) || failed(checkOthers(schedule)))
    return failure();
  if (!takenMoments.empty())
    return schedule.emitOpError("leaves moments in segment ")
           << *takenMoments.begin()
           << " that running means have taken, but that nothing clears";
  beginCall();
  return success();
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

/// Checks that a task reads the fields of the micro-batch for which it runs.
LogicalResult ScheduleContents::readFields(RunOp run, TaskOp task,
                                           int64_t segment,
                                           const Moment &moment) {
  Place place = getPlace(segment, moment);
  int64_t expected = moment.first + moment.place;
  for (auto &[key, number] : fieldsOf)
    if (key.first == place && number != expected)
      return run.emitOpError("runs for micro-batch ")
             << expected << ", but segment " << segment
             << " holds the fields of micro-batch " << number;
  for (const Given &field : fields)
    if (field.segment == segment && reads(task, field) &&
        !fieldsOf.count({place, field.begin}))
      return run.emitOpError("reads field '")
             << field.name << "' of micro-batch " << expected
             << ", which no hfta.transfer has copied";
  for (auto [number, port] : llvm::enumerate(ports))
    if (port.segment == segment && reads(task, port) &&
        !broughtPorts.count(static_cast<int64_t>(number)))
      return run.emitOpError("reads input '")
             << port.name
             << "', which no hfta.transfer of this call has copied";
  return success();
}

/// Checks that scalars have been uploaded in this call. If they have a value
/// per micro-batch, this is only checked for an evaluation's number of valid
/// samples.
LogicalResult ScheduleContents::readScalars(RunOp run, TaskOp task,
                                            int64_t segment,
                                            const Moment &moment) {
  const ByteSet &bytes = brought[getPlace(segment, moment)];
  bool isThere = getSegment(segment).getInstances() > 1 ||
                 bytes.hasAll(0, getBytes(segment));
  for (const Given &scalar : ofEvaluations)
    if (scalar.segment == segment && reads(task, scalar))
      isThere = isThere && bytes.hasAll(scalar.begin, scalar.end);
  if (isThere)
    return success();
  return run.emitOpError("reads scalars in segment ")
         << segment << ", which no hfta.transfer of this call has copied";
}

/// Checks that the values of a micro-batch with which statistics are updated
/// come from a task of the same step, unless the task itself computes them.
LogicalResult ScheduleContents::readExchanged(RunOp run, int64_t segment,
                                              const Moment &moment) {
  Exchanged &own = exchanged[getPlace(segment, moment)];
  if (!own.written.hasAll(0, getBytes(segment)))
    return run.emitOpError("reads the values of micro-batch ")
           << moment.number << " in segment " << segment
           << ", but nothing has written them";
  if (own.microBatch == moment.number)
    return success();
  return run.emitOpError("runs for micro-batch ")
         << moment.number << ", but segment " << segment
         << " holds the values of micro-batch " << own.microBatch;
}

/// Checks that sums are read outside of micro-batches only after the sums of
/// all groups have been added up.
LogicalResult ScheduleContents::readSums(Operation *op, int64_t segment,
                                         int64_t begin, int64_t end) {
  if (!hasGroups(segment) || !sums[segment].open.hasSome(begin, end))
    return success();
  return op->emitOpError("reads sums in segment ")
         << segment << " that no hfta.all_reduce has added up";
}

/// Checks that values which tasks of a micro-batch pass on belong to this
/// micro-batch: those that tasks have written or, otherwise, those that were
/// received.
LogicalResult ScheduleContents::readSaved(RunOp run, TaskOp task,
                                          int64_t segment,
                                          const Moment &moment) {
  Place place = getPlace(segment, moment);
  int64_t expected = moment.first + moment.place;
  std::optional<int64_t> holds = expected;
  for (const Place &found : getLeft(task).found) {
    if (found.first != segment)
      continue;
    auto written = savedAt.find({place, found.second});
    auto known = savedOf.find(place);
    if (written != savedAt.end() && written->second != expected)
      holds = written->second;
    else if (known == savedOf.end())
      holds = std::nullopt;
    else if (known->second != expected)
      holds = known->second;
  }
  if (holds == expected)
    return success();
  InFlightDiagnostic error = run.emitOpError("runs for micro-batch ")
                             << expected << ", but segment " << segment
                             << " holds ";
  if (!holds)
    return error << "nothing";
  return error << "the values of micro-batch " << *holds;
}

LogicalResult ScheduleContents::read(RunOp run, TaskOp task, int64_t segment,
                                     const Moment &moment) {
  bool isOwn = llvm::is_contained(task.getWrites(), segment);
  switch (getSegment(segment).getRole()) {
  case Role::input:
    return readFields(run, task, segment, moment);
  case Role::scalar:
    return readScalars(run, task, segment, moment);
  case Role::exchange:
    return isOwn ? success() : readExchanged(run, segment, moment);
  case Role::gradient:
  case Role::moment:
  case Role::result:
    return moment.isInMicroBatches
               ? success()
               : readSums(run, segment, 0, getBytes(segment));
  case Role::saved:
  case Role::cut:
    return readSaved(run, task, segment, moment);
  default:
    return success();
  }
}

/// Checks that a micro-batch may add to the sums of its group.
LogicalResult ScheduleContents::addToSums(RunOp run, int64_t segment,
                                          const Moment &moment) {
  Sums &ofSegment = sums[segment];
  ofSegment.isAddedTo = true;
  if (!moment.isInMicroBatches)
    return success();
  // The order in which a group's micro-batches are added determines the bits of
  // the result.
  int64_t &last =
      lastAdded[{run, moment.turn, moment.number % getGroups(segment)}];
  if (moment.number < last)
    return run.emitOpError("adds micro-batch ")
           << moment.number << " to sums in segment " << segment
           << " that already contain the later micro-batch " << last
           << " of its group";
  last = moment.number;
  if (!ofSegment.open.hasAll(0, getBytes(segment)))
    return run.emitOpError("adds to sums in segment ")
           << segment << " that are already complete, or were not cleared";
  int64_t instances = getSegment(segment).getInstances();
  int64_t groups = getGroups(segment);
  if (instances == groups)
    return success();
  return run.emitOpError("adds to ")
         << groups << " groups' sums in segment " << segment << ", which has "
         << instances << " instances";
}

LogicalResult ScheduleContents::write(RunOp run, TaskOp task, int64_t segment,
                                      const Moment &moment) {
  Place place = getPlace(segment, moment);
  int64_t bytes = getBytes(segment);
  switch (getSegment(segment).getRole()) {
  case Role::result:
    undelivered[segment].add(0, bytes);
    return addToSums(run, segment, moment);
  case Role::gradient:
  case Role::moment:
    return addToSums(run, segment, moment);
  case Role::exchange: {
    Exchanged &own = exchanged[place];
    if (own.given.hasSome(0, bytes))
      return run.emitOpError("overwrites the values of micro-batch ")
             << own.microBatch << " in segment " << segment
             << ", which were already sent to other ranks";
    own.microBatch = moment.number;
    own.written.add(0, bytes);
    return success();
  }
  case Role::saved:
  case Role::cut:
    savedOf[place] = moment.first + moment.place;
    for (const Place &written : getLeft(task).written)
      if (written.first == segment)
        savedAt[{place, written.second}] = moment.first + moment.place;
    return success();
  default:
    return success();
  }
}

/// Checks that moments are used once: after running means have taken them, they
/// must be cleared, by the same tasks or, if several tasks or other stages take
/// them, by commands.
void ScheduleContents::noteMoments(TaskOp task) {
  bool takes = task.getPart() == parts::kCurvature;
  auto isMoment = [&](int64_t segment) {
    return getSegment(segment).getRole() == Role::moment;
  };
  for (int64_t segment : task.getReads())
    if (takes && isMoment(segment) && !received.count(segment))
      takeMoments(segment);
  for (int64_t segment : task.getWrites())
    if (isMoment(segment) && takes)
      takenMoments.erase(segment);
    else if (isMoment(segment))
      addedMoments.insert(segment);
}

void ScheduleContents::takeMoments(int64_t segment) {
  addedMoments.erase(segment);
  takenMoments.insert(segment);
}

LogicalResult ScheduleContents::clearMoments(FillOp fill) {
  int64_t segment = fill.getAt().getNumber();
  if (addedMoments.count(segment))
    return fill.emitOpError("clears moments in segment ")
           << segment << " that running means have not taken yet";
  takenMoments.erase(segment);
  return success();
}

LogicalResult ScheduleContents::run(RunOp run, const Moment &moment) {
  auto task = symbols.lookup<TaskOp>(run.getTask());
  if (failed(readOthers(run, task)))
    return failure();
  for (int64_t segment : task.getReads())
    if (failed(readReceived(run, segment)) ||
        failed(read(run, task, segment, moment)))
      return failure();
  for (int64_t segment : task.getWrites()) {
    if (given.count(segment))
      return run.emitOpError("writes to segment ")
             << segment << ", which was already sent to other stages";
    if (failed(write(run, task, segment, moment)))
      return failure();
  }
  noteMoments(task);
  return success();
}

//===----------------------------------------------------------------------===//
// Transfers from and to the host
//===----------------------------------------------------------------------===//

/// Checks that the caller's arrays are copied to the places of their variables.
LogicalResult ScheduleContents::checkPlace(TransferOp transfer, StringRef what,
                                           ArrayRef<Given> all) {
  PlaceAttr from = transfer.getFrom(), to = transfer.getTo();
  if (from.getNumber() >= static_cast<int64_t>(all.size()))
    return transfer.emitOpError("copies ")
           << what << " " << from.getNumber() << ", but there are only "
           << all.size();
  const Given &given = all[from.getNumber()];
  auto bytes = static_cast<int64_t>(transfer.getBytes());
  if (given.segment == to.getNumber() && given.begin == to.getOffset() &&
      given.end - given.begin == bytes && to.getStride() == given.stride &&
      from.getOffset() == 0 && from.getStride() == 0)
    return success();
  return transfer.emitOpError("must copy the ")
         << given.end - given.begin << " bytes of " << what << " '"
         << given.name << "' to byte " << given.begin << " of segment "
         << given.segment << ", got " << bytes << " to " << to;
}

/// Checks an upload of a field. The runtime finds a micro-batch's part of a
/// field by the number of bytes.
LogicalResult ScheduleContents::bringField(TransferOp transfer,
                                           const Moment &moment) {
  PlaceAttr to = transfer.getTo();
  if (failed(checkPlace(transfer, "field", fields)))
    return failure();
  auto ahead = static_cast<int64_t>(transfer.getAhead());
  fieldsOf[{getPlace(to.getNumber(), moment, ahead), to.getOffset()}] =
      moment.first + moment.place + ahead;
  return success();
}

LogicalResult ScheduleContents::bringPort(TransferOp transfer) {
  broughtPorts.insert(transfer.getFrom().getNumber());
  return checkPlace(transfer, "input", ports);
}

/// Checks an upload of scalars, the only other data that the host sends
/// repeatedly.
LogicalResult ScheduleContents::upload(TransferOp transfer,
                                       const Moment &moment) {
  PlaceAttr to = transfer.getTo();
  SegmentAttr segment = getSegment(to.getNumber());
  if (segment.getRole() != Role::scalar)
    return transfer.emitOpError("copies the host's scalars to segment ")
           << to.getNumber() << ", whose role is "
           << stringifyRole(segment.getRole());
  brought[getPlace(to.getNumber(), moment)].add(
      to.getOffset(),
      to.getOffset() + static_cast<int64_t>(transfer.getBytes()));
  return success();
}

/// Checks a download. The host reads the first instance of results, which
/// contains the sums of all groups.
LogicalResult ScheduleContents::download(TransferOp transfer,
                                         const Moment &moment) {
  PlaceAttr from = transfer.getFrom();
  int64_t segment = from.getNumber(), begin = from.getOffset();
  auto end = begin + static_cast<int64_t>(transfer.getBytes());
  Role role = getSegment(segment).getRole();
  if (role != Role::result)
    return transfer.emitOpError(
               "may copy only results to the host, not segment ")
           << segment << ", whose role is " << stringifyRole(role);
  if (hasGroups(segment) && moment.isInMicroBatches)
    return transfer.emitOpError(
               "copies only one group's sums to the host, from "
               "segment ")
           << segment;
  undelivered[segment].remove(begin, end);
  if (failed(readOthers(transfer, segment, {begin, end})))
    return failure();
  return readSums(transfer, segment, begin, end);
}

LogicalResult ScheduleContents::transfer(TransferOp transfer,
                                         const Moment &moment) {
  PlaceAttr from = transfer.getFrom(), to = transfer.getTo();
  if (from.getSpace() == Space::field)
    return bringField(transfer, moment);
  if (transfer.getAhead() != 0)
    return transfer.emitOpError("may copy only fields ahead, not ") << from;
  if (from.getSpace() == Space::port)
    return bringPort(transfer);
  // The host's image of a segment has the same offsets as the segment.
  if (from.getNumber() != to.getNumber() ||
      from.getOffset() != to.getOffset() || from.getStride() != 0 ||
      to.getStride() != 0)
    return transfer.emitOpError("must copy to the same place as ")
           << from << ", got " << to;
  if (to.getSpace() == Space::host)
    return download(transfer, moment);
  if (from.getSpace() == Space::host)
    return upload(transfer, moment);
  return success();
}

LogicalResult ScheduleContents::fill(FillOp fill) {
  PlaceAttr to = fill.getAt();
  for (Range range : findCovered(to, fill.getBytes()))
    old[to.getNumber()].remove(range.begin, range.end);
  SegmentAttr segment = getSegment(to.getNumber());
  if (segment.getRole() == Role::moment)
    return clearMoments(fill);
  if (segment.getRole() != Role::result)
    return fill.emitOpError("may clear only results and moments, not segment ")
           << to.getNumber() << ", whose role is "
           << stringifyRole(segment.getRole());
  Sums &ofSegment = sums[to.getNumber()];
  if (ofSegment.isAddedTo)
    return fill.emitOpError("clears sums in segment ")
           << to.getNumber() << " to which tasks have already added";
  ofSegment.open.add(to.getOffset(),
                     to.getOffset() + static_cast<int64_t>(fill.getBytes()));
  return success();
}
