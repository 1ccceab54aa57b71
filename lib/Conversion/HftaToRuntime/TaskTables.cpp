//===- TaskTables.cpp - Tasks and schedules as tables ---------------------===//

#include "TaskTables.h"

#include "Hfta/Dialect/Hfta/IR/VariableNames.h"
#include "hfta/program.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

TaskTables::TaskTables(ModuleOp module, const Job &job, ConstantTables &tables)
    : module(module), job(job), tables(tables), symbols(module),
      segments(SegmentAttr::getTable(module)) {}

bool TaskTables::hasSlabs(int64_t segment) const {
  return segment >= 0 && segment < static_cast<int64_t>(segments.size()) &&
         cast<SegmentAttr>(segments[segment]).getCopyBytes() > 0;
}

/// Returns the record of one operand. The runtime finds a copy's own value in
/// that copy's slab, wherever the slab is. A value of another copy, which the
/// launch names, has a fixed place.
Record TaskTables::getBinding(LaunchOp launch, size_t number,
                              int64_t bytes) const {
  auto place = cast<BindingAttr>(launch.getBindings()[number]);
  int64_t offset = place.getOffset(), stride = place.getStride();
  bool inSlabs = hasSlabs(place.getSegment());
  if (place.getCopy() >= 0 && place.getCopy() != launch.getCopy()) {
    offset += place.getCopy() * stride;
    stride = 0;
    inSlabs = false;
  }
  uint32_t access = 0;
  if (number < launch.getInputs())
    access |= HFTA_ACCESS_READ;
  if (llvm::is_contained(launch.getWritten(), number))
    access |= HFTA_ACCESS_WRITE;
  return StructRecord<hfta_binding>()
      .set(&hfta_binding::segment, place.getSegment())
      .set(&hfta_binding::in_slabs, inSlabs && stride != 0)
      .set(&hfta_binding::offset, offset)
      .set(&hfta_binding::copy_stride, stride)
      .set(&hfta_binding::bytes, bytes)
      .set(&hfta_binding::access, access)
      .set(&hfta_binding::reserved, 0);
}

/// Returns an integer attribute, if it is in [0, 2^31) and thus fits the
/// tables' 32-bit fields; else nothing.
static std::optional<int64_t> getNumber(DictionaryAttr of, StringRef name) {
  auto number = of.getAs<IntegerAttr>(name);
  bool fits = number && number.getType().isInteger(64) &&
              number.getInt() >= 0 &&
              number.getInt() <= std::numeric_limits<int32_t>::max();
  return fits ? std::optional(number.getInt()) : std::nullopt;
}

/// Returns the record of a tensor map; nothing if its description is incomplete
/// or out of range.
std::optional<Record> TaskTables::getMap(DictionaryAttr map) {
  std::optional<int64_t> argument = getNumber(map, "argument");
  std::optional<int64_t> bytes = getNumber(map, "element_bytes");
  SmallVector<ArrayRef<int64_t>> numbers;
  constexpr int64_t wide = std::numeric_limits<int64_t>::max(),
                    narrow = std::numeric_limits<int32_t>::max();
  for (auto [name, most] :
       {std::pair("sizes", wide), std::pair("strides", wide),
        std::pair("box", narrow), std::pair("steps", narrow)}) {
    auto own = map.getAs<DenseI64ArrayAttr>(name);
    auto isBeyond = [most = most](int64_t number) {
      return number <= 0 || number > most;
    };
    if (!own || llvm::any_of(own.asArrayRef(), isBeyond) ||
        (!numbers.empty() && own.asArrayRef().size() != numbers.front().size()))
      return std::nullopt;
    numbers.push_back(own.asArrayRef());
  }
  if (!argument || !bytes)
    return std::nullopt;
  std::vector<Record> dimensions;
  for (size_t i = 0; i < numbers.front().size(); ++i)
    dimensions.push_back(StructRecord<hfta_map_dimension>()
                             .set(&hfta_map_dimension::size, numbers[0][i])
                             .set(&hfta_map_dimension::stride, numbers[1][i])
                             .set(&hfta_map_dimension::box, numbers[2][i])
                             .set(&hfta_map_dimension::step, numbers[3][i]));
  return Record(StructRecord<hfta_tensor_map>()
                    .set(&hfta_tensor_map::binding, *argument)
                    .set(&hfta_tensor_map::element_bytes, *bytes)
                    .set(&hfta_tensor_map::rank, dimensions.size())
                    .set(&hfta_tensor_map::reserved, 0)
                    .set(&hfta_tensor_map::dimensions,
                         tables.table("map_dimensions", dimensions)));
}

/// Returns the records of all tensor maps of a launch; nothing if one is
/// malformed.
std::optional<std::vector<Record>> TaskTables::getMaps(DictionaryAttr launch) {
  auto all = launch.getAs<ArrayAttr>("hfta.tensor_maps");
  if (!all)
    return std::nullopt;
  std::vector<Record> maps;
  for (Attribute one : all) {
    auto map = dyn_cast<DictionaryAttr>(one);
    std::optional<Record> row = map ? getMap(map) : std::nullopt;
    if (!row)
      return std::nullopt;
    maps.push_back(std::move(*row));
  }
  return maps;
}

/// Returns the table of a kernel's launch parameters for chips with warp
/// groups; null if the parameters are the same on all chips. Emits an error if
/// the attribute is malformed.
FailureOr<FlatSymbolRefAttr> TaskTables::getWarpGroups(Operation *kernel) {
  Attribute attribute = kernel->getAttr("hfta.warp_group_launch");
  if (!attribute)
    return FlatSymbolRefAttr();
  auto launch = dyn_cast<DictionaryAttr>(attribute);
  std::optional<int64_t> threads, bytes;
  std::optional<std::vector<Record>> maps;
  if (launch) {
    threads = getNumber(launch, "hfta.block_threads");
    bytes = getNumber(launch, "hfta.shared_bytes");
    maps = getMaps(launch);
  }
  if (!threads || !bytes || !maps)
    return kernel->emitError(
               "expected hfta.warp_group_launch to have hfta.block_threads, "
               "hfta.shared_bytes and hfta.tensor_maps, got ")
           << attribute;
  return tables.table(
      "warp_groups",
      {StructRecord<hfta_warp_group_launch>()
           .set(&hfta_warp_group_launch::maps, tables.table("maps", *maps))
           .set(&hfta_warp_group_launch::map_count, maps->size())
           .set(&hfta_warp_group_launch::block_threads, *threads)
           .set(&hfta_warp_group_launch::shared_bytes, *bytes)
           .set(&hfta_warp_group_launch::reserved, 0)});
}

FailureOr<Record> TaskTables::getLaunch(LaunchOp launch) {
  auto *kernel = symbols.lookup(launch.getKernel());
  auto items = kernel->getAttrOfType<IntegerAttr>("hfta.items");
  auto scratch = kernel->getAttrOfType<IntegerAttr>("hfta.scratch_bytes");
  auto bytes = kernel->getAttrOfType<DenseI64ArrayAttr>("hfta.operand_bytes");
  if (!items || !scratch || !bytes)
    return launch.emitError("kernel ")
           << launch.getKernelAttr()
           << " isn't lowered; run the kernel lowering first";
  auto lanes = kernel->getAttrOfType<IntegerAttr>("hfta.lanes");
  if (bytes.size() != static_cast<int64_t>(launch.getBindings().size()))
    return launch.emitError("kernel ")
           << launch.getKernelAttr() << " has " << bytes.size()
           << " operands, the launch binds " << launch.getBindings().size();
  size_t operands =
      launch.getBindings().size() * (lanes ? lanes.getInt() : size_t(1));
  if (operands > HFTA_MAX_BINDINGS)
    return launch.emitError("kernel ")
           << launch.getKernelAttr() << " has " << operands
           << " operands, at most " << HFTA_MAX_BINDINGS << " are supported";
  scratchBytes = std::max(scratchBytes, scratch.getInt());
  std::vector<Record> bindings;
  for (auto [number, size] : llvm::enumerate(bytes.asArrayRef()))
    bindings.push_back(getBinding(launch, number, size));
  FailureOr<FlatSymbolRefAttr> warpGroups = getWarpGroups(kernel);
  if (failed(warpGroups))
    return failure();
  StringRef name = launch.getKernel();
  auto threads = kernel->getAttrOfType<IntegerAttr>("hfta.block_threads");
  auto symbol = kernel->getAttrOfType<StringAttr>("hfta.gpu_entry");
  FlatSymbolRefAttr entry;
  if (!symbol)
    entry =
        FlatSymbolRefAttr::get(module.getContext(), (name + "/entry").str());
  name.consume_front(names::kKernelPrefix);
  return Record(
      StructRecord<hfta_launch>()
          .set(&hfta_launch::kernel, entry)
          .set(&hfta_launch::name, tables.string(name))
          .set(&hfta_launch::symbol,
               symbol ? tables.string(symbol) : FlatSymbolRefAttr())
          .set(&hfta_launch::bindings, tables.table("bindings", bindings))
          .set(&hfta_launch::warp_groups, *warpGroups)
          .set(&hfta_launch::binding_count, bindings.size())
          .set(&hfta_launch::per_copy, launch.getPerCopy())
          .set(&hfta_launch::copy, launch.getCopy().value_or(-1))
          .set(&hfta_launch::joins, launch.getJoins())
          .set(&hfta_launch::items, items.getInt())
          .set(&hfta_launch::lanes, lanes ? lanes.getInt() : 0)
          .set(&hfta_launch::scratch_bytes, scratch.getInt())
          .set(&hfta_launch::block_threads, threads ? threads.getInt() : 0)
          .set(&hfta_launch::reserved, 0));
}

FlatSymbolRefAttr TaskTables::getSegments(ArrayRef<int64_t> numbers) {
  return tables.indices("segments",
                        SmallVector<uint32_t>(numbers.begin(), numbers.end()));
}

std::vector<Record> TaskTables::getWorkspaces(TaskOp task) const {
  std::vector<Record> rows;
  std::optional<ArrayRef<int64_t>> needed = task.getWorkspace();
  for (auto [index, number] : llvm::enumerate(task.findWorkspaces())) {
    int64_t all = cast<SegmentAttr>(segments[number]).getUnitBytes();
    rows.push_back(
        StructRecord<hfta_extent>()
            .set(&hfta_extent::segment, number)
            .set(&hfta_extent::reserved, 0)
            .set(&hfta_extent::bytes, needed ? (*needed)[index] : all));
  }
  return rows;
}

LogicalResult TaskTables::buildTasks() {
  std::vector<Record> rows;
  for (auto task : module.getOps<TaskOp>()) {
    std::vector<Record> launches;
    for (auto launch : task.getBody().getOps<LaunchOp>()) {
      FailureOr<Record> row = getLaunch(launch);
      if (failed(row))
        return failure();
      launches.push_back(std::move(*row));
    }
    std::vector<Record> workspaces = getWorkspaces(task);
    taskNumbers[task.getSymName()] = rows.size();
    rows.push_back(
        StructRecord<hfta_task>()
            .set(&hfta_task::name, tables.string(task.getTaskName()))
            .set(&hfta_task::launches, tables.table("launches", launches))
            .set(&hfta_task::reads, getSegments(task.getReads()))
            .set(&hfta_task::writes, getSegments(task.getWrites()))
            .set(&hfta_task::workspaces, tables.table("workspaces", workspaces))
            .set(&hfta_task::launch_count, launches.size())
            .set(&hfta_task::read_count, task.getReads().size())
            .set(&hfta_task::write_count, task.getWrites().size())
            .set(&hfta_task::flags,
                 task.getByCopies() ? HFTA_TASK_BY_COPIES : 0)
            .set(&hfta_task::workspace_count, workspaces.size())
            .set(&hfta_task::reserved, 0));
  }
  taskCount = rows.size();
  taskTable = tables.table("tasks", rows);
  return success();
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

static uint32_t getSpaceCode(Space space) {
  switch (space) {
  case Space::segment:
    return HFTA_SPACE_SEGMENT;
  case Space::host:
    return HFTA_SPACE_HOST;
  case Space::field:
    return HFTA_SPACE_FIELD;
  case Space::port:
    return HFTA_SPACE_PORT;
  }
  llvm_unreachable("all spaces have a code");
}

static uint32_t getContentsCode(Contents contents) {
  switch (contents) {
  case Contents::stored:
    return HFTA_CONTENTS_STORED;
  case Contents::zeros:
    return HFTA_CONTENTS_ZEROS;
  case Contents::undefined:
    return HFTA_CONTENTS_UNDEFINED;
  }
  llvm_unreachable("all contents have a code");
}

static StructRecord<hfta_place> getRecord(const hfta_place &place) {
  return StructRecord<hfta_place>()
      .set(&hfta_place::space, place.space)
      .set(&hfta_place::index, place.index)
      .set(&hfta_place::offset, place.offset)
      .set(&hfta_place::copy_stride, place.copy_stride);
}

static hfta_place getPlace(PlaceAttr place) {
  return {getSpaceCode(place.getSpace()),
          static_cast<uint32_t>(place.getNumber()),
          static_cast<uint64_t>(place.getOffset()),
          static_cast<uint64_t>(place.getStride())};
}

static hfta_place getSegment(int64_t number) {
  return {HFTA_SPACE_SEGMENT, static_cast<uint32_t>(number), 0, 0};
}

StructRecord<hfta_replicas> hfta::getReplicasRecord(ReplicasAttr replicas) {
  return StructRecord<hfta_replicas>()
      .set(&hfta_replicas::first, replicas ? replicas.getFirst() : 0)
      .set(&hfta_replicas::count, replicas ? replicas.getCount() : 0)
      .set(&hfta_replicas::stride, replicas ? replicas.getStride() : 0)
      .set(&hfta_replicas::reserved, 0);
}

/// The fields of an hfta_command, apart from its length.
struct TaskTables::Command {
  uint32_t kind = 0;
  int64_t device = 0, queue = 0;
  uint32_t subject = 0;
  int64_t ahead = 0;
  hfta_place to = {}, from = {};
  int64_t bytes = 0;
  ReplicasAttr replicas, receivers;

  Record get(uint32_t length) const {
    return StructRecord<hfta_command>()
        .set(&hfta_command::kind, kind)
        .set(&hfta_command::device, device)
        .set(&hfta_command::queue, queue)
        .set(&hfta_command::subject, subject)
        .set(&hfta_command::length, length)
        .set(&hfta_command::ahead, ahead)
        .set(&hfta_command::to, getRecord(to))
        .set(&hfta_command::from, getRecord(from))
        .set(&hfta_command::bytes, bytes)
        .set(&hfta_command::replicas, getReplicasRecord(replicas))
        .set(&hfta_command::receivers, getReplicasRecord(receivers));
  }
};

void TaskTables::addCommand(const Command &command,
                            std::vector<Record> &commands) {
  queueCount = std::max<uint32_t>(queueCount, command.queue + 1);
  if (command.kind == HFTA_COMMAND_RECORD || command.kind == HFTA_COMMAND_AWAIT)
    eventCount =
        std::max<uint32_t>(eventCount, command.subject + command.bytes);
  commands.push_back(command.get(/*length=*/0));
}

/// Adds a command, followed by those in its region, in order.
LogicalResult TaskTables::addCommand(Operation &op,
                                     std::vector<Record> &commands) {
  Command command;
  auto start = [&](uint32_t kind, auto typed) {
    command.kind = kind;
    command.device = typed.getDevice();
    command.queue = typed.getQueue();
  };
  auto setEvent = [&](auto typed) {
    command.subject = typed.getEvent();
    command.ahead = typed.getAhead();
    command.bytes = typed.getInstances();
  };
  if (auto run = dyn_cast<RunOp>(op)) {
    start(HFTA_COMMAND_RUN, run);
    command.subject = taskNumbers.lookup(run.getTask());
  } else if (auto transfer = dyn_cast<TransferOp>(op)) {
    start(HFTA_COMMAND_TRANSFER, transfer);
    command.ahead = transfer.getAhead();
    command.to = getPlace(transfer.getTo());
    command.from = getPlace(transfer.getFrom());
    command.bytes = transfer.getBytes();
  } else if (auto fill = dyn_cast<FillOp>(op)) {
    start(HFTA_COMMAND_FILL, fill);
    command.to = getPlace(fill.getTo());
    command.bytes = fill.getBytes();
  } else if (auto reduce = dyn_cast<AllReduceOp>(op)) {
    start(HFTA_COMMAND_ALL_REDUCE, reduce);
    command.subject = taskNumbers.lookup(reduce.getTask());
    command.to = getPlace(reduce.getAt());
    command.from = getPlace(reduce.getThrough());
    command.bytes = reduce.getBytes();
  } else if (auto gather = dyn_cast<AllGatherOp>(op)) {
    start(HFTA_COMMAND_ALL_GATHER, gather);
    command.to = getPlace(gather.getAt());
    command.bytes = gather.getBytes();
  } else if (auto broadcast = dyn_cast<BroadcastBytesOp>(op)) {
    start(HFTA_COMMAND_BROADCAST, broadcast);
    command.to = getPlace(broadcast.getAt());
    command.bytes = broadcast.getBytes();
    command.replicas = broadcast.getFrom();
    command.receivers = broadcast.getTo();
  } else if (auto take = dyn_cast<TakeGroupOp>(op)) {
    start(HFTA_COMMAND_TAKE_GROUP, take);
    command.subject = take.getGroup();
    command.to = getPlace(take.getAt());
    command.bytes = take.getBytes();
  } else if (auto send = dyn_cast<SendOp>(op)) {
    start(HFTA_COMMAND_SEND, send);
    command.subject = send.getStage();
    command.to = getPlace(send.getAt());
    command.bytes = send.getBytes();
  } else if (auto receive = dyn_cast<ReceiveOp>(op)) {
    start(HFTA_COMMAND_RECEIVE, receive);
    command.subject = receive.getStage();
    command.ahead = receive.getAhead();
    command.to = getPlace(receive.getAt());
    command.bytes = receive.getBytes();
  } else if (auto fetch = dyn_cast<FetchOp>(op)) {
    start(HFTA_COMMAND_FETCH, fetch);
    command.subject = getContentsCode(fetch.getContents());
    command.ahead = fetch.getAhead();
    command.to = getSegment(fetch.getSegment());
    command.from = {HFTA_SPACE_ARENA, 0, fetch.getAddress(), 0};
    command.bytes = fetch.getInstances();
  } else if (auto evict = dyn_cast<EvictOp>(op)) {
    start(HFTA_COMMAND_EVICT, evict);
    command.ahead = evict.getAhead();
    command.to = getSegment(evict.getSegment());
  } else if (auto drop = dyn_cast<DropOp>(op)) {
    start(HFTA_COMMAND_DROP, drop);
    command.ahead = drop.getAhead();
    command.to = getSegment(drop.getSegment());
  } else if (auto record = dyn_cast<RecordOp>(op)) {
    start(HFTA_COMMAND_RECORD, record);
    setEvent(record);
  } else if (auto await = dyn_cast<AwaitOp>(op)) {
    start(HFTA_COMMAND_AWAIT, await);
    setEvent(await);
  } else {
    return addBody(op, commands);
  }
  addCommand(command, commands);
  return success();
}

static uint32_t getRepeatCode(RepeatKind kind) {
  switch (kind) {
  case RepeatKind::micro_batches:
    return HFTA_REPEAT_MICRO_BATCHES;
  case RepeatKind::turns:
    return HFTA_REPEAT_TURNS;
  case RepeatKind::all_micro_batches:
    return HFTA_REPEAT_ALL_MICRO_BATCHES;
  }
  llvm_unreachable("all kinds have a code");
}

static uint32_t getDueCode(DueKind kind) {
  switch (kind) {
  case DueKind::due:
    return HFTA_DUE;
  case DueKind::others:
    return HFTA_DUE_OTHERS;
  case DueKind::any:
    return HFTA_DUE_ANY;
  case DueKind::none:
    return HFTA_DUE_NONE;
  }
  llvm_unreachable("all kinds have a code");
}

uint32_t TaskTables::addOrder(ActionsOp actions) {
  ArrayRef<int64_t> order = actions.getOrder();
  std::vector<Record> rows;
  for (size_t i = 0; i < order.size(); i += 2)
    rows.push_back(StructRecord<hfta_action>()
                       .set(&hfta_action::which, order[i])
                       .set(&hfta_action::place, order[i + 1]));
  orders.push_back(
      StructRecord<hfta_action_list>()
          .set(&hfta_action_list::actions, tables.table("actions", rows))
          .set(&hfta_action_list::count, rows.size()));
  return orders.size() - 1;
}

/// Adds a command that repeats or chooses commands, then the commands of its
/// body.
LogicalResult TaskTables::addBody(Operation &op,
                                  std::vector<Record> &commands) {
  Command command;
  if (auto repeat = dyn_cast<RepeatOp>(op)) {
    command.kind = HFTA_COMMAND_REPEAT;
    command.subject = getRepeatCode(repeat.getOver());
    command.bytes = repeat.getCopies().value_or(0);
  } else if (auto only = dyn_cast<OnlyOp>(op)) {
    command.kind = HFTA_COMMAND_ONLY;
    command.replicas = only.getReplicas();
  } else if (auto actions = dyn_cast<ActionsOp>(op)) {
    command.kind = HFTA_COMMAND_ACTIONS;
    command.subject = addOrder(actions);
  } else if (auto number = dyn_cast<CaseOp>(op)) {
    command.kind = HFTA_COMMAND_CASE;
    command.subject = number.getNumber();
  } else {
    auto every = cast<EveryOp>(op);
    auto known = llvm::find_if(job.hyperParameters,
                               [&](const HyperParameter &parameter) {
                                 return parameter.name == every.getPeriod();
                               });
    if (known == job.hyperParameters.end())
      return every.emitError("the job has no hyper-parameter '")
             << every.getPeriod() << "'";
    command.kind = HFTA_COMMAND_EVERY;
    command.bytes = getDueCode(every.getWhich());
    command.subject = known - job.hyperParameters.begin();
  }
  size_t place = commands.size();
  commands.emplace_back();
  for (Operation &inner : op.getRegion(0).front())
    if (failed(addCommand(inner, commands)))
      return failure();
  commands[place] = command.get(commands.size() - place - 1);
  return success();
}

LogicalResult TaskTables::buildSchedules() {
  std::vector<Record> rows;
  for (auto schedule : module.getOps<ScheduleOp>()) {
    std::vector<Record> commands;
    for (Operation &op : schedule.getBody().front())
      if (failed(addCommand(op, commands)))
        return failure();
    rows.push_back(
        StructRecord<hfta_schedule>()
            .set(&hfta_schedule::name, tables.string(schedule.getKind()))
            .set(&hfta_schedule::commands, tables.table("commands", commands))
            .set(&hfta_schedule::keeps, getSegments(schedule.getKeeps()))
            .set(&hfta_schedule::command_count, commands.size())
            .set(&hfta_schedule::keep_count, schedule.getKeeps().size())
            .set(&hfta_schedule::stage, schedule.getStage())
            .set(&hfta_schedule::reserved, 0));
  }
  scheduleCount = rows.size();
  scheduleTable = tables.table("schedules", rows);
  orderCount = orders.size();
  orderTable = tables.table("orders", orders);
  return success();
}

LogicalResult TaskTables::build() {
  return success(succeeded(buildTasks()) && succeeded(buildSchedules()));
}
