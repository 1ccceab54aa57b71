//===- ProgramTable.cpp - The hfta_program of a module --------------------===//
//
// Fills the structs of runtime/include/hfta/program.h, member by member.
//===----------------------------------------------------------------------===//

#include "ProgramTable.h"
#include "ProgramBuilder.h"
#include "SearchTable.h"

#include "Hfta/Conversion/HftaToRuntime.h"
#include "Hfta/Conversion/LowerKernels.h"
#include "Hfta/Dialect/Hfta/IR/ParameterKinds.h"
#include "Hfta/Dialect/Hfta/IR/SampleMixing.h"
#include "Hfta/Dialect/Hfta/IR/Training.h"
#include "Hfta/Dialect/Hfta/IR/Turns.h"
#include "Hfta/Dialect/Hfta/Job/Averages.h"
#include "Hfta/Dialect/Hfta/Job/Optimizers.h"
#include "Hfta/Target/TargetModel.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::hfta;

/// Returns the code of an element type, or nothing if programs can't store the
/// type. Unsigned integers of 32 and 64 bits have the codes of signed ones.
static std::optional<uint32_t> getElementCode(Type type) {
  if (type.isInteger(1))
    return HFTA_BOOL;
  if (auto integer = dyn_cast<IntegerType>(type)) {
    bool isUnsigned = integer.isUnsigned();
    switch (integer.getWidth()) {
    case 8:
      return isUnsigned ? HFTA_U8 : HFTA_I8;
    case 16:
      return isUnsigned ? HFTA_U16 : HFTA_I16;
    case 32:
      return HFTA_I32;
    case 64:
      return HFTA_I64;
    default:
      return std::nullopt;
    }
  }
  if (type.isF16())
    return HFTA_F16;
  if (type.isBF16())
    return HFTA_BF16;
  if (type.isF32())
    return HFTA_F32;
  if (type.isF64())
    return HFTA_F64;
  return std::nullopt;
}

static uint32_t getRoleCode(Role role) {
  switch (role) {
  case Role::constant:
    return HFTA_SEGMENT_CONSTANTS;
  case Role::parameter:
    return HFTA_SEGMENT_PARAMETERS;
  case Role::gradient:
    return HFTA_SEGMENT_GRADIENTS;
  case Role::optimizer_state:
    return HFTA_SEGMENT_OPTIMIZER_STATE;
  case Role::statistics:
    return HFTA_SEGMENT_STATISTICS;
  case Role::saved:
    return HFTA_SEGMENT_SAVED;
  case Role::cut:
    return HFTA_SEGMENT_CUT;
  case Role::workspace:
    return HFTA_SEGMENT_WORKSPACE;
  case Role::scratch:
    return HFTA_SEGMENT_SCRATCH;
  case Role::input:
    return HFTA_SEGMENT_INPUT;
  case Role::output:
    return HFTA_SEGMENT_OUTPUT;
  case Role::scalar:
    return HFTA_SEGMENT_SCALARS;
  case Role::result:
    return HFTA_SEGMENT_RESULTS;
  case Role::exchange:
    return HFTA_SEGMENT_EXCHANGE;
  case Role::received:
    return HFTA_SEGMENT_RECEIVED;
  case Role::curvature:
    return HFTA_SEGMENT_CURVATURE;
  case Role::moment:
    return HFTA_SEGMENT_MOMENTS;
  }
  llvm_unreachable("all roles have a code");
}

static uint32_t getResidencyCode(Residency residency) {
  switch (residency) {
  case Residency::resident:
    return HFTA_RESIDENT;
  case Residency::transient:
    return HFTA_TRANSIENT;
  case Residency::spilled:
    return HFTA_SPILLED;
  }
  llvm_unreachable("all residencies have a code");
}

//===----------------------------------------------------------------------===//
// Segments, tensors, tasks
//===----------------------------------------------------------------------===//

/// Orders the tensors as the module does, but moves the optimizer's state to
/// the end, in the order of the parameters. So the order of a copy's tensors
/// doesn't depend on which other copies there are.
void ProgramBuilder::orderTensors() {
  SmallVector<VariableOp> all(module.getOps<VariableOp>());
  DenseMap<StringAttr, SmallVector<VariableOp>> states;
  for (VariableOp variable : all)
    if (variable.isFor(Purpose::state))
      states[variable.getPurposeAttr().getOf().getAttr()].push_back(variable);
    else
      tensors.push_back(variable);
  SmallVector<StringRef> order = getStateOrder();
  auto getRank = [&](VariableOp state) {
    return llvm::find(order, state.getPurposeAttr().getName().getValue());
  };
  for (VariableOp variable : all) {
    SmallVector<VariableOp> own = states.lookup(variable.getSymNameAttr());
    llvm::stable_sort(own, [&](VariableOp one, VariableOp other) {
      return getRank(one) < getRank(other);
    });
    llvm::append_range(tensors, own);
  }
  for (auto [index, variable] : llvm::enumerate(tensors))
    tensorIndex[variable] = index;
}

LogicalResult ProgramBuilder::buildSegments() {
  SmallVector<FlatSymbolRefAttr> images;
  if (failed(buildSegmentImages(module, tables, images)))
    return failure();
  std::vector<Record> rows;
  auto segments = SegmentAttr::getTable(module);
  auto add = [&](SegmentAttr segment, FlatSymbolRefAttr image) {
    rows.push_back(
        StructRecord<hfta_segment>()
            .set(&hfta_segment::name, text(makeSegmentName(segment, segments)))
            .set(&hfta_segment::role, getRoleCode(segment.getRole()))
            .set(&hfta_segment::block, segment.getBlock())
            .set(&hfta_segment::bytes, segment.getBytes())
            .set(&hfta_segment::places,
                 tables.places(job.copies, segment.getOnly()))
            .set(&hfta_segment::copy_bytes, segment.getCopyBytes())
            .set(&hfta_segment::alignment, 64)
            .set(&hfta_segment::instances, segment.getInstances())
            .set(&hfta_segment::stage, job.getStage(segment.getBlock()))
            .set(&hfta_segment::holders,
                 getReplicasRecord(segment.getHolders()))
            .set(&hfta_segment::image, image)
            .set(&hfta_segment::residency,
                 getResidencyCode(segment.getResidency()))
            .set(&hfta_segment::reserved, 0));
  };
  for (auto [attribute, image] : llvm::zip(segments, images)) {
    auto segment = cast<SegmentAttr>(attribute);
    add(segment, image);
    blocks = std::max(blocks, segment.getBlock() + 1);
  }
  if (tasks.scratchBytes > 0)
    add(SegmentAttr::get(module.getContext(), Role::scratch, -1,
                         tasks.scratchBytes, 1, 0),
        {});
  segmentCount = rows.size();
  segmentTable = tables.table("segments", rows);
  return success();
}

/// Returns a variable's own name, found by symbol lookups.
/// `VariableOp::getOwnName` would search for the variable that this one belongs
/// to.
std::string ProgramBuilder::getOwnName(VariableOp variable) const {
  PurposeAttr purpose = variable.getPurposeAttr();
  if (!purpose || !purpose.getOf())
    return variable.getOwnName();
  auto of = symbols.lookup<VariableOp>(purpose.getOf().getValue());
  return purpose.makeOwnName(getOwnName(of));
}

static uint32_t getTrainingRuleNumber(VariableOp variable) {
  return variable.getRole() == Role::parameter
             ? static_cast<uint32_t>(getTrainingRule(variable))
             : 0;
}

uint32_t ProgramBuilder::getFlags(VariableOp variable) {
  uint32_t flags = 0;
  if (!isArrayed(variable.getType()) && !variable.getCopy())
    flags |= HFTA_TENSOR_SHARED;
  switch (variable.getRole()) {
  case Role::parameter:
    if (variables.lookupOf(variable, Purpose::gradient))
      flags |= HFTA_TENSOR_TRAINED;
    [[fallthrough]];
  case Role::statistics:
    return flags | HFTA_TENSOR_CHECKPOINT |
           (isServed(variable) ? HFTA_TENSOR_EXPORT : 0);
  case Role::optimizer_state:
    if (variable.isFor(Purpose::state) &&
        variable.getPurposeAttr().getName() == kAverageOffsetState)
      flags |= HFTA_TENSOR_OFFSET;
    [[fallthrough]];
  case Role::curvature:
    return flags | HFTA_TENSOR_CHECKPOINT;
  default:
    return flags;
  }
}

/// Returns the names of a variable's groups of parameters; null if it has none.
FlatSymbolRefAttr ProgramBuilder::getGroups(VariableOp variable) {
  SmallVector<StringRef> names;
  for (int64_t index : getParameterGroups(variable))
    names.push_back(job.groupsOfParameters[index].name);
  return names.empty() ? FlatSymbolRefAttr() : text(llvm::join(names, ", "));
}

/// Returns 1 + the index of a parameter's average, or of the offset from which
/// it follows, or 0. No job has both.
uint32_t ProgramBuilder::getAverage(VariableOp variable) {
  if (variable.getRole() == Role::parameter)
    for (StringRef state : kAverageStates)
      if (VariableOp average =
              variables.lookupOf(variable, Purpose::state, state))
        return 1 + tensorIndex.lookup(average);
  return 0;
}

LogicalResult ProgramBuilder::buildTensors() {
  std::vector<Record> rows;
  for (VariableOp variable : tensors) {
    RankedTensorType type = variable.getTensorType();
    std::optional<uint32_t> code = getElementCode(type.getElementType());
    if (!code)
      return variable.emitError("programs don't store elements of type ")
             << type.getElementType();
    BindingAttr place = *variable.getLocation();
    rows.push_back(
        StructRecord<hfta_tensor>()
            .set(&hfta_tensor::name, text(getOwnName(variable)))
            .set(&hfta_tensor::segment, place.getSegment())
            .set(&hfta_tensor::type, *code)
            .set(&hfta_tensor::offset, place.getOffset())
            .set(&hfta_tensor::copy_stride, place.getStride())
            .set(&hfta_tensor::shape, tables.integers("shape", type.getShape()))
            .set(&hfta_tensor::rank, type.getRank())
            .set(&hfta_tensor::flags, getFlags(variable))
            .set(&hfta_tensor::bytes, getLogicalBytes(type))
            .set(&hfta_tensor::copy, variable.getCopy().value_or(-1))
            .set(&hfta_tensor::training_rule, getTrainingRuleNumber(variable))
            .set(&hfta_tensor::places,
                 tables.places(job.copies, variable.getOnly().value_or(
                                               ArrayRef<int64_t>())))
            .set(&hfta_tensor::groups, getGroups(variable))
            .set(&hfta_tensor::layer_distance,
                 static_cast<int32_t>(getLayerDistance(variable)))
            .set(&hfta_tensor::average, getAverage(variable)));
  }
  tensorTable = tables.table("tensors", rows);
  auto ports = [&](Purpose purpose, uint32_t &count) {
    std::vector<Record> found;
    for (auto [index, variable] : llvm::enumerate(tensors)) {
      if (!variable.isFor(purpose))
        continue;
      StringRef name = variable.getPurposeAttr().getName();
      auto modelName = variable->getAttrOfType<StringAttr>("hfta.file_name");
      found.push_back(StructRecord<hfta_port>()
                          .set(&hfta_port::name, text(name))
                          .set(&hfta_port::tensor, index)
                          .set(&hfta_port::reserved, 0)
                          .set(&hfta_port::model_name,
                               text(modelName ? modelName.getValue() : name)));
    }
    count = found.size();
    return tables.table("ports", found);
  };
  inputTable = ports(Purpose::input, inputCount);
  outputTable = ports(Purpose::output, outputCount);
  return success();
}

//===----------------------------------------------------------------------===//
// Job
//===----------------------------------------------------------------------===//

StructRecord<hfta_roles> ProgramBuilder::getRoles() {
  // The roles of an evaluation are those of the first term.
  StringRef first =
      lossTerms.empty() ? StringRef() : StringRef(lossTerms.front().name);
  return StructRecord<hfta_roles>()
      .set(&hfta_roles::step, indexOf(Purpose::step))
      .set(&hfta_roles::micro_batch, indexOf(Purpose::micro_batch))
      .set(&hfta_roles::valid_samples, indexOf(Purpose::valid_samples))
      .set(&hfta_roles::learning_rate, indexOf(Purpose::learning_rate))
      .set(&hfta_roles::seed, indexOf(Purpose::seed))
      .set(&hfta_roles::loss, indexOf(getLossPurpose()))
      .set(&hfta_roles::loss_sum, indexOf(Purpose::evaluation_loss, first))
      .set(&hfta_roles::loss_weight, indexOf(Purpose::evaluation_weight, first))
      .set(&hfta_roles::kl_scale, indexOf(Purpose::kl_scale))
      .set(&hfta_roles::skipped, indexOf(Purpose::curvature_count, "skipped"))
      .set(&hfta_roles::retried, indexOf(Purpose::curvature_count, "retried"))
      .set(&hfta_roles::kept, indexOf(Purpose::curvature_count, "kept"))
      .set(&hfta_roles::accumulations, indexOf(Purpose::accumulations))
      .set(&hfta_roles::loss_scale,
           indexOf(Purpose::loss_scale_result, "factor"))
      .set(&hfta_roles::skipped_steps,
           indexOf(Purpose::loss_scale_result, "skipped_steps"));
}

StructRecord<hfta_export_template>
ProgramBuilder::getExportTemplate(DictionaryAttr model) {
  auto data = [&](StringRef name) {
    auto text = model.getAs<StringAttr>(name);
    return text ? text.getValue() : StringRef();
  };
  StringRef header = data("export_header"), graph = data("export_graph");
  auto bytes = [&](StringRef name, StringRef data) {
    return tables.bytes(name, ArrayRef(data.data(), data.size()));
  };
  return StructRecord<hfta_export_template>()
      .set(&hfta_export_template::header, bytes("export_header", header))
      .set(&hfta_export_template::header_bytes, header.size())
      .set(&hfta_export_template::graph, bytes("export_graph", graph))
      .set(&hfta_export_template::graph_bytes, graph.size());
}

/// Lists the job's distinct models and each copy's model. If the module
/// describes no models, the list has a single one without a name.
void ProgramBuilder::buildModels() {
  std::vector<Record> rows;
  std::vector<uint32_t> modelOfCopy(job.copies, 0);
  auto models = module->getAttrOfType<ArrayAttr>("hfta.models");
  SmallVector<DictionaryAttr> described;
  if (models)
    llvm::append_range(described, models.getAsRange<DictionaryAttr>());
  if (described.empty())
    described.push_back(DictionaryAttr::get(module.getContext()));
  for (auto [index, model] : llvm::enumerate(described)) {
    rows.push_back(
        StructRecord<hfta_model>()
            .set(&hfta_model::identity, getText(model, "identity"))
            .set(&hfta_model::identity_of_batch,
                 getText(model, "identity_of_batch"))
            .set(&hfta_model::export_template, getExportTemplate(model)));
    if (auto copies = model.getAs<DenseI64ArrayAttr>("copies"))
      for (int64_t copy : copies.asArrayRef())
        if (copy >= 0 && copy < job.copies)
          modelOfCopy[copy] = index;
  }
  modelTable = tables.table("models", rows);
  copyTable = tables.indices("model_of_copy", modelOfCopy);
}

FlatSymbolRefAttr ProgramBuilder::getStages() {
  std::vector<Record> rows;
  for (int64_t stage = 0; stage < job.getStageCount(); ++stage)
    rows.push_back(StructRecord<hfta_stage>()
                       .set(&hfta_stage::replicas, job.getReplicas(stage))
                       .set(&hfta_stage::groups, job.getGroups(stage))
                       .set(&hfta_stage::in_flight, job.getInFlight(stage)));
  return tables.table("stages", rows);
}

/// Returns what users see of each kind of optimizer: its name and, if several
/// kinds have the same name, what distinguishes them.
std::vector<std::string> ProgramBuilder::getOptimizers() const {
  std::vector<std::string> names;
  if (!job.training)
    return names;
  for (const OptimizerKind &kind : job.optimizers) {
    names.push_back(kind.name);
    bool isAlone =
        llvm::count_if(job.optimizers, [&](const OptimizerKind &other) {
          return other.name == kind.name;
        }) == 1;
    for (const std::string &option : kind.options)
      if (!isAlone)
        names.back() += " " + option;
  }
  return names;
}

/// Returns the name of each copy's optimizer, if they differ.
FlatSymbolRefAttr ProgramBuilder::getOptimizerOfCopy() {
  std::vector<std::string> names = getOptimizers();
  std::vector<Record> rows;
  for (int64_t kind : job.optimizerOfCopy)
    rows.push_back({Field::pointer(text(names[kind]))});
  return tables.table("optimizers", rows);
}

/// Sets the job's values that the runtime uses.
void ProgramBuilder::setJob() {
  std::string plan = getAttribute("hfta.plan_json");
  program.set(&hfta_program::name, text(job.name))
      .set(&hfta_program::optimizer, text(llvm::join(getOptimizers(), ", ")))
      .set(&hfta_program::optimizers, getOptimizerOfCopy())
      .set(&hfta_program::cpu_features,
           text(TargetModel::get(module).getProcessor().getFeatures()))
      .set(&hfta_program::target, text(target.getName()))
      .set(&hfta_program::images, target.hasImages()
                                      ? tables.external(kImagesSymbol)
                                      : FlatSymbolRefAttr())
      .set(&hfta_program::plan_json, text(plan.empty() ? "{}" : plan))
      .set(&hfta_program::loss_mixed_by,
           text(getAttribute(kLossMixedByAttrName)))
      .set(&hfta_program::output_mixed_by,
           text(getAttribute(kOutputMixedByAttrName)))
      .set(&hfta_program::copies, job.copies)
      .set(&hfta_program::batch, job.batch)
      .set(&hfta_program::micro_batches, job.microBatches)
      .set(&hfta_program::workers, job.getWorkers())
      .set(&hfta_program::stages, getStages())
      .set(&hfta_program::worker_places,
           tables.integers("worker_places", job.workerPlaces))
      .set(&hfta_program::stage_count, job.getStageCount())
      .set(&hfta_program::epochs, job.epochs)
      .set(&hfta_program::steps, job.steps)
      .set(&hfta_program::order_seed, job.orderSeed)
      .set(&hfta_program::shuffle, job.shuffle)
      .set(&hfta_program::precision,
           *getElementCode(
               getFloatType(module.getContext(), job.precision.compute)))
      .set(&hfta_program::learning_rate, getSchedule(job.schedule));
}

/// Sets the memory that the job may use and the memory that its schedules need,
/// in bytes.
void ProgramBuilder::setMemory() {
  auto arena = module->getAttrOfType<IntegerAttr>(HftaDialect::kArenaAttrName);
  auto seconds =
      module->getAttrOfType<FloatAttr>(HftaDialect::kStepSecondsAttrName);
  // A least time on a well-known device is no estimate for the user's.
  if (!target.getRates().empty())
    seconds = {};
  program.set(&hfta_program::arena_bytes, arena ? arena.getInt() : 0)
      .set(&hfta_program::device_bytes, job.memoryDevice)
      .set(&hfta_program::memory_threads,
           job.hasBudget() ? job.memoryThreads : 0)
      .set(&hfta_program::spill_directory, text(job.getSpillFolder()))
      .set(&hfta_program::step_seconds,
           seconds ? seconds.getValueAsDouble() : 0.0);
}

LogicalResult ProgramBuilder::build(StringRef symbol) {
  orderTensors();
  if (failed(tasks.build()) || failed(buildSegments()))
    return failure();
  if (failed(buildTensors()))
    return failure();
  buildData();
  buildScheduledNumbers();
  buildModels();
  buildSettings();
  buildLossTerms();
  buildModalNodes();
  buildMetrics();
  setJob();
  setMemory();
  auto made = llvm::count_if(job.data, [](const DataField &field) {
    return field.kind != HFTA_DATA_FIELD_FILE;
  });
  program.set(&hfta_program::abi_version, hfta_abi_version())
      .set(&hfta_program::blocks, blocks)
      .set(&hfta_program::segments, segmentTable)
      .set(&hfta_program::tensors, tensorTable)
      .set(&hfta_program::tasks, tasks.taskTable)
      .set(&hfta_program::schedules, tasks.scheduleTable)
      .set(&hfta_program::orders, tasks.orderTable)
      .set(&hfta_program::hyper_parameters, hyperTable)
      .set(&hfta_program::scheduled_numbers, scheduledTable)
      .set(&hfta_program::data_fields, fieldTable)
      .set(&hfta_program::inputs, inputTable)
      .set(&hfta_program::outputs, outputTable)
      .set(&hfta_program::settings, settingTable)
      .set(&hfta_program::segment_count, segmentCount)
      .set(&hfta_program::tensor_count, tensors.size())
      .set(&hfta_program::task_count, tasks.taskCount)
      .set(&hfta_program::schedule_count, tasks.scheduleCount)
      .set(&hfta_program::order_count, tasks.orderCount)
      .set(&hfta_program::event_count, tasks.eventCount)
      .set(&hfta_program::queue_count, tasks.queueCount)
      .set(&hfta_program::hyper_parameter_count, job.hyperParameters.size())
      .set(&hfta_program::scheduled_number_count, scheduledCount)
      .set(&hfta_program::data_field_count, job.data.size() - made)
      .set(&hfta_program::made_field_count, made)
      .set(&hfta_program::input_count, inputCount)
      .set(&hfta_program::output_count, outputCount)
      .set(&hfta_program::setting_count, settingCount)
      .set(&hfta_program::roles, getRoles())
      .set(&hfta_program::validation, makeValidationRecord(job))
      .set(&hfta_program::search, buildSearch(job, tables))
      .set(&hfta_program::models, modelTable)
      .set(&hfta_program::model_of_copy, copyTable);
  tables.exported(symbol, program);
  return success();
}

LogicalResult hfta::buildProgramTable(ModuleOp module, const Job &job,
                                      StringRef symbol) {
  const Target *target = Target::read(module);
  return target ? ProgramBuilder(module, job, *target).build(symbol)
                : failure();
}
