//===- TaskTables.cpp - Tasks and schedules as tables ---------------------===//

#include "TaskTables.h"

#include "Hfta/Dialect/Hfta/IR/VariableNames.h"
#include "Hfta/Target/Target.h"
#include "hfta/program.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

TaskTables::TaskTables(ModuleOp module, const Job &job, ConstantTables &tables)
    : module(module), job(job), tables(tables), symbols(module),
      segments(SegmentAttr::getTable(module)) {}

SegmentAttr TaskTables::getSegment(int64_t number) const {
  bool isKnown = number >= 0 && number < static_cast<int64_t>(segments.size());
  return isKnown ? cast<SegmentAttr>(segments[number]) : SegmentAttr();
}

bool TaskTables::hasSlabs(int64_t segment) const {
  SegmentAttr known = getSegment(segment);
  return known && known.getCopyBytes() > 0;
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
    ArrayRef<int64_t> only;
    if (SegmentAttr segment = getSegment(place.getSegment()))
      only = segment.getOnly();
    int64_t position = only.empty()
                           ? place.getCopy()
                           : llvm::find(only, place.getCopy()) - only.begin();
    offset += position * stride;
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
          .set(&hfta_launch::reserved, 0)
          .set(&hfta_launch::places,
               tables.places(job.copies,
                             launch.getOnly().value_or(ArrayRef<int64_t>()))));
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

/// Returns the task's flags. If the job multiplies pairs of bf16, all tasks
/// flush denormals, so that it doesn't matter which ops share a kernel, or a
/// task, with products.
uint32_t TaskTables::getFlags(TaskOp task) const {
  uint32_t flags = task.getByCopies() ? HFTA_TASK_BY_COPIES : 0;
  const Target *target = Target::read(module);
  if (target && target->getForming().pairsFactors &&
      job.precision.multiply == "bf16")
    flags |= HFTA_TASK_FLUSHES_DENORMALS;
  return flags;
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
            .set(&hfta_task::flags, getFlags(task))
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

static hfta_replicas getReplicas(ReplicasAttr replicas) {
  return {static_cast<uint32_t>(replicas.getFirst()),
          static_cast<uint32_t>(replicas.getCount()),
          static_cast<uint32_t>(replicas.getStride()), 0};
}

static StructRecord<hfta_replicas> getRecord(const hfta_replicas &replicas) {
  return StructRecord<hfta_replicas>()
      .set(&hfta_replicas::first, replicas.first)
      .set(&hfta_replicas::count, replicas.count)
      .set(&hfta_replicas::stride, replicas.stride)
      .set(&hfta_replicas::reserved, 0);
}

StructRecord<hfta_replicas> hfta::getReplicasRecord(ReplicasAttr replicas) {
  return getRecord(replicas ? getReplicas(replicas) : hfta_replicas());
}

static StructRecord<hfta_command> getRecord(const hfta_command &row) {
  return StructRecord<hfta_command>()
      .set(&hfta_command::kind, row.kind)
      .set(&hfta_command::device, row.device)
      .set(&hfta_command::queue, row.queue)
      .set(&hfta_command::subject, row.subject)
      .set(&hfta_command::length, row.length)
      .set(&hfta_command::ahead, row.ahead)
      .set(&hfta_command::to, getRecord(row.to))
      .set(&hfta_command::from, getRecord(row.from))
      .set(&hfta_command::bytes, row.bytes)
      .set(&hfta_command::replicas, getRecord(row.replicas))
      .set(&hfta_command::receivers, getRecord(row.receivers));
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

uint32_t TaskTables::addOrder(ArrayRef<int64_t> order) {
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

/// Returns the position of a hyper-parameter that gives periods.
FailureOr<uint32_t> TaskTables::findPeriod(Operation *op, StringRef name) {
  auto known =
      llvm::find_if(job.hyperParameters, [&](const HyperParameter &parameter) {
        return parameter.name == name;
      });
  if (known == job.hyperParameters.end())
    return op->emitError("the job has no hyper-parameter '") << name << "'";
  return known - job.hyperParameters.begin();
}

/// Sets the member of a row that an attribute of the command is for.
LogicalResult TaskTables::setField(ScheduleCommandOpInterface op,
                                   hfta_command_field_kind kind,
                                   Attribute value, hfta_command &row) {
  auto number = dyn_cast<IntegerAttr>(value);
  auto place = dyn_cast<PlaceAttr>(value);
  switch (kind) {
  case HFTA_FIELD_TASK: {
    auto task = taskNumbers.find(cast<FlatSymbolRefAttr>(value).getValue());
    if (task == taskNumbers.end())
      return op->emitOpError("names no task: ") << value;
    row.subject = task->second;
    break;
  }
  case HFTA_FIELD_EVENT:
  case HFTA_FIELD_STAGE:
  case HFTA_FIELD_CASE:
  case HFTA_FIELD_GROUP:
    row.subject = number.getInt();
    break;
  case HFTA_FIELD_REPEAT_KIND:
    row.subject = getRepeatCode(cast<RepeatKindAttr>(value).getValue());
    break;
  case HFTA_FIELD_PERIOD: {
    FailureOr<uint32_t> period =
        findPeriod(op, cast<StringAttr>(value).getValue());
    if (failed(period))
      return failure();
    row.subject = *period;
    break;
  }
  case HFTA_FIELD_ORDER:
    row.subject = addOrder(cast<DenseI64ArrayAttr>(value).asArrayRef());
    break;
  case HFTA_FIELD_CONTENTS:
    row.subject = getContentsCode(cast<ContentsAttr>(value).getValue());
    break;
  case HFTA_FIELD_AHEAD:
    row.ahead = number.getInt();
    break;
  case HFTA_FIELD_FROM:
  case HFTA_FIELD_RECEIVED:
    row.from = getPlace(place);
    break;
  case HFTA_FIELD_TO:
  case HFTA_FIELD_AT:
  case HFTA_FIELD_AT_COPIES:
  case HFTA_FIELD_SUMS:
    row.to = getPlace(place);
    break;
  case HFTA_FIELD_SEGMENT:
    row.to = {HFTA_SPACE_SEGMENT, static_cast<uint32_t>(number.getInt()), 0, 0};
    break;
  case HFTA_FIELD_ADDRESS:
    row.from = {HFTA_SPACE_ARENA, 0, static_cast<uint64_t>(number.getInt()), 0};
    break;
  case HFTA_FIELD_BYTES:
  case HFTA_FIELD_EVENTS:
  case HFTA_FIELD_PLACES:
  case HFTA_FIELD_COPIES:
    row.bytes = number.getInt();
    break;
  case HFTA_FIELD_DUE:
    row.bytes = getDueCode(cast<DueKindAttr>(value).getValue());
    break;
  case HFTA_FIELD_REPLICAS:
    row.replicas = getReplicas(cast<ReplicasAttr>(value));
    break;
  case HFTA_FIELD_RECEIVERS:
    row.receivers = getReplicas(cast<ReplicasAttr>(value));
    break;
  }
  return success();
}

/// Returns the row of a command, as its record describes it. Members that
/// aren't in the record, and those of attributes that the op hasn't got, are 0.
FailureOr<hfta_command> TaskTables::getRow(ScheduleCommandOpInterface op) {
  hfta_command row = {};
  row.kind = op.getRecord().kind;
  if (std::optional<CommandQueue> queue = op.findQueue()) {
    row.device = queue->first;
    row.queue = queue->second;
    queueCount = std::max<uint32_t>(queueCount, row.queue + 1);
  }
  if (std::optional<CommandEvent> event = op.findEvent())
    eventCount =
        std::max<uint32_t>(eventCount, event->number + event->instances);
  for (const CommandField &field : op.getRecord().fields)
    if (Attribute value = field.getValue(op);
        value && failed(setField(op, field.kind, value, row)))
      return failure();
  return row;
}

/// Adds a command, followed by those that it contains, in order.
LogicalResult TaskTables::addCommand(ScheduleCommandOpInterface op,
                                     std::vector<Record> &commands) {
  FailureOr<hfta_command> row = getRow(op);
  if (failed(row))
    return failure();
  size_t place = commands.size();
  commands.emplace_back();
  if (Block *inner = op.getCommands())
    for (auto command : inner->getOps<ScheduleCommandOpInterface>())
      if (failed(addCommand(command, commands)))
        return failure();
  row->length = commands.size() - place - 1;
  commands[place] = getRecord(*row);
  return success();
}

LogicalResult TaskTables::buildSchedules() {
  std::vector<Record> rows;
  for (auto schedule : module.getOps<ScheduleOp>()) {
    std::vector<Record> commands;
    for (auto command : schedule.getBody().getOps<ScheduleCommandOpInterface>())
      if (failed(addCommand(command, commands)))
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
