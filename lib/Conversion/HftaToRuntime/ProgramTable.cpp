//===- ProgramTable.cpp - The hfta_program of a module --------------------===//
//
// Fills the structs of runtime/include/hfta/program.h, member by member.
//===----------------------------------------------------------------------===//

#include "ProgramTable.h"
#include "SearchTable.h"
#include "TaskTables.h"

#include "Hfta/Conversion/HftaToRuntime.h"
#include "Hfta/Conversion/LowerKernels.h"
#include "Hfta/Dialect/Hfta/IR/Modes.h"
#include "Hfta/Dialect/Hfta/IR/ParameterKinds.h"
#include "Hfta/Dialect/Hfta/IR/SampleMixing.h"
#include "Hfta/Dialect/Hfta/IR/Training.h"
#include "Hfta/Dialect/Hfta/IR/Turns.h"
#include "Hfta/Dialect/Hfta/IR/VariableIndex.h"
#include "Hfta/Dialect/Hfta/Job/Averages.h"
#include "Hfta/Dialect/Hfta/Job/JobDraw.h"
#include "Hfta/Dialect/Hfta/Job/LossTerms.h"
#include "Hfta/Dialect/Hfta/Job/Optimizers.h"
#include "Hfta/Dialect/Hfta/Job/Settings.h"
#include "Hfta/Target/Target.h"
#include "Hfta/Target/TargetModel.h"
#include "hfta/abi.h"

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

namespace {

class ProgramBuilder {
public:
  ProgramBuilder(ModuleOp module, const Job &job, const Target &target)
      : module(module), job(job), target(target), tables(module),
        tasks(module, job, tables), symbols(module), variables(module),
        lossTerms(readLossTerms(module).value_or(std::vector<LossTerm>())) {}

  LogicalResult build(StringRef symbol);

private:
  void orderTensors();
  LogicalResult buildSegments();
  LogicalResult buildTensors();
  void buildData();
  void buildScheduledNumbers();
  uint32_t getFlags(VariableOp variable);
  /// Returns the index of a variable in the program's tensors; UINT32_MAX if
  /// there is no such variable.
  uint32_t indexOf(Purpose purpose, StringRef name = {}) const {
    VariableOp variable = variables.lookup(purpose, name);
    return variable ? tensorIndex.lookup(variable) : UINT32_MAX;
  }
  std::string getOwnName(VariableOp variable) const;
  /// Returns the table of some strings; null if there are none.
  FlatSymbolRefAttr texts(StringRef name,
                          const std::vector<std::string> &values);
  /// Returns whether samples are drawn by the classes of the field.
  bool isDrawnBy(const DataField &field);
  StructRecord<hfta_data_source> getSource(const DataSource &source);
  StructRecord<hfta_number_schedule> getSchedule(const Schedule &schedule);
  FlatSymbolRefAttr getStages();
  void setMemory();
  Purpose getLossPurpose(StringRef term = {});
  void buildLossTerms();
  void buildModalNodes();
  void buildMetrics();
  StructRecord<hfta_roles> getRoles();
  StructRecord<hfta_export_template> getExportTemplate(DictionaryAttr model);
  void buildSettings();
  std::vector<std::string> getOptimizers() const;
  FlatSymbolRefAttr getOptimizerOfCopy();
  FlatSymbolRefAttr getGroups(VariableOp variable);
  uint32_t getAverage(VariableOp variable);
  void setJob();
  void buildModels();
  std::string getAttribute(StringRef name) {
    auto text = module->getAttrOfType<StringAttr>(name);
    return text ? text.getValue().str() : std::string();
  }
  /// Returns an attribute's text, which is empty if the attribute is missing.
  FlatSymbolRefAttr getText(DictionaryAttr attributes, StringRef name) {
    auto value = attributes.getAs<StringAttr>(name);
    return text(value ? value.getValue() : StringRef());
  }
  FlatSymbolRefAttr text(StringRef value) { return tables.string(value); }

  ModuleOp module;
  const Job &job;
  const Target &target;
  ConstantTables tables;
  TaskTables tasks;
  SymbolTable symbols;
  VariableIndex variables;
  std::vector<LossTerm> lossTerms;
  SmallVector<VariableOp> tensors;
  DenseMap<Operation *, uint32_t> tensorIndex;
  int64_t blocks = 1;
  StructRecord<hfta_program> program;
  FlatSymbolRefAttr segmentTable, tensorTable, hyperTable, scheduledTable,
      fieldTable, inputTable, outputTable, modelTable, copyTable, settingTable;
  uint32_t segmentCount = 0, scheduledCount = 0, inputCount = 0,
           outputCount = 0, settingCount = 0;
};

} // namespace

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

/// Returns 1 + the index of a parameter's average, or 0.
uint32_t ProgramBuilder::getAverage(VariableOp variable) {
  VariableOp average =
      variable.getRole() == Role::parameter
          ? variables.lookupOf(variable, Purpose::state, kAverageState)
          : VariableOp();
  return average ? 1 + tensorIndex.lookup(average) : 0;
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

FlatSymbolRefAttr
ProgramBuilder::texts(StringRef name, const std::vector<std::string> &values) {
  std::vector<Record> rows;
  for (const std::string &value : values)
    rows.push_back({Field::pointer(text(value))});
  return tables.table(name, rows);
}

StructRecord<hfta_data_source>
ProgramBuilder::getSource(const DataSource &source) {
  return StructRecord<hfta_data_source>()
      .set(&hfta_data_source::format, *getDataFormatCode(source.format))
      .set(&hfta_data_source::column, source.column)
      .set(&hfta_data_source::header, source.header)
      .set(&hfta_data_source::separator, source.separator)
      .set(&hfta_data_source::path, text(source.path))
      .set(&hfta_data_source::more_paths, texts("paths", source.morePaths))
      .set(&hfta_data_source::array, text(source.array))
      .set(&hfta_data_source::column_names,
           texts("column_names", source.columnNames))
      .set(&hfta_data_source::column_numbers,
           source.columnNumbers.empty()
               ? FlatSymbolRefAttr()
               : tables.integers("column_numbers", source.columnNumbers))
      .set(&hfta_data_source::more_path_count,
           static_cast<uint32_t>(source.morePaths.size()))
      .set(&hfta_data_source::column_count,
           static_cast<uint32_t>(source.columnNames.size() +
                                 source.columnNumbers.size()))
      .set(&hfta_data_source::resize, source.resize)
      .set(&hfta_data_source::skips_damaged, source.skipDamaged)
      .set(&hfta_data_source::cache, source.cache)
      .set(&hfta_data_source::shift, source.shift)
      .set(&hfta_data_source::stride, source.stride);
}

bool ProgramBuilder::isDrawnBy(const DataField &field) {
  VariableOp variable = variables.lookup(Purpose::field, field.name);
  if (!drawsByClasses(job) || field.classes.empty() || !variable)
    return false;
  auto type = cast<RankedTensorType>(variable.getType());
  return type.getNumElements() == type.getDimSize(0);
}

void ProgramBuilder::buildData() {
  std::vector<Record> fields;
  for (const DataField &field : job.data) {
    std::vector<int64_t> classes = field.classes;
    classes.resize(3);
    fields.push_back(
        StructRecord<hfta_data_field>()
            .set(&hfta_data_field::name, text(field.name))
            .set(&hfta_data_field::tensor, indexOf(Purpose::field, field.name))
            .set(&hfta_data_field::balances, isDrawnBy(field))
            .set(&hfta_data_field::train, getSource(field.train))
            .set(&hfta_data_field::test, getSource(field.test))
            .set(&hfta_data_field::validation, getSource(field.validation))
            .set(&hfta_data_field::classes, classes[0])
            .set(&hfta_data_field::first_class, classes[1])
            .set(&hfta_data_field::ignored_class, classes[2])
            .set(&hfta_data_field::augmentations, text(field.augmentations))
            .set(&hfta_data_field::kind, field.kind)
            .set(&hfta_data_field::of, static_cast<uint32_t>(field.of)));
  }
  fieldTable = tables.table("data_fields", fields);
  std::vector<Record> parameters;
  parameters.reserve(job.hyperParameters.size());
  for (const HyperParameter &parameter : job.hyperParameters)
    parameters.push_back(
        StructRecord<hfta_hyper_parameter>()
            .set(&hfta_hyper_parameter::name, text(parameter.name))
            .set(&hfta_hyper_parameter::values,
                 tables.doubles("values", parameter.values)));
  hyperTable = tables.table("hyper_parameters", parameters);
}

/// Lists the numbers that follow schedules, but for the learning rate.
void ProgramBuilder::buildScheduledNumbers() {
  std::vector<Record> rows;
  auto add = [&](unsigned index, const Schedule &schedule) {
    StringRef name = job.hyperParameters[index].name;
    rows.push_back(
        StructRecord<hfta_scheduled_number>()
            .set(&hfta_scheduled_number::hyper_parameter, index)
            .set(&hfta_scheduled_number::tensor,
                 indexOf(Purpose::hyper_parameter, name))
            .set(&hfta_scheduled_number::schedule, getSchedule(schedule)));
  };
  // The damping comes first.
  for (bool isDamping : {true, false})
    for (auto [index, parameter] : llvm::enumerate(job.hyperParameters))
      if (parameter.name != "lr" && (parameter.name == "damping") == isDamping)
        if (const Schedule *schedule = job.getScheduleOf(parameter.name))
          add(index, *schedule);
  scheduledTable = tables.table("scheduled_numbers", rows);
  scheduledCount = rows.size();
}

StructRecord<hfta_number_schedule>
ProgramBuilder::getSchedule(const Schedule &schedule) {
  uint32_t options = 0;
  for (const std::string &option : schedule.options)
    options |= *getScheduleOptionCode(option);
  std::vector<Record> parts;
  for (const Schedule &part : schedule.parts)
    parts.push_back(getSchedule(part));
  auto values = [&](ArrayRef<double> given) {
    return given.empty() ? FlatSymbolRefAttr()
                         : tables.doubles("schedule", given);
  };
  StructRecord<hfta_number_schedule> record;
  record.set(&hfta_number_schedule::kind, findSchedule(schedule.kind)->code)
      .set(&hfta_number_schedule::options, options)
      .set(&hfta_number_schedule::parts,
           parts.empty() ? FlatSymbolRefAttr()
                         : tables.table("schedule_parts", parts))
      .set(&hfta_number_schedule::milestones, values(schedule.milestones))
      .set(&hfta_number_schedule::part_count, parts.size())
      .set(&hfta_number_schedule::milestone_count,
           schedule.milestones.size() / job.copies);
#define HFTA_SCHEDULE_PARAMETER(member, name, initial, range)                  \
  record.set(&hfta_number_schedule::name, values(schedule.member));
#include "Hfta/Dialect/Hfta/Job/Settings.def"
  return record;
}

static uint32_t getSettingCode(SettingType type) {
  switch (type) {
  case SettingType::Integer:
  case SettingType::Size:
    return HFTA_SETTING_INTEGER;
  case SettingType::Flag:
    return HFTA_SETTING_FLAG;
  case SettingType::Numbers:
    return HFTA_SETTING_NUMBERS;
  case SettingType::Counts:
    return HFTA_SETTING_COUNTS;
  case SettingType::WholeNumbers:
    return HFTA_SETTING_WHOLE_NUMBERS;
  case SettingType::Number:
  case SettingType::Word:
  case SettingType::Names:
  case SettingType::NameLists:
  case SettingType::Schedule:
    llvm_unreachable("these are Unlisted");
  }
  llvm_unreachable("all types are listed");
}

/// Lists all settings of the job, for the command `info`.
void ProgramBuilder::buildSettings() {
  std::vector<Record> rows;
  Job values = job;
  // Stages may have different numbers of groups, which the table of stages
  // lists.
  if (job.getStageCount() == 1)
    values.groups = job.getGroups();
  for (const SettingInfo *setting : getSettings()) {
    if (setting->traits & setting_traits::Unlisted)
      continue;
    SettingRef value = setting->get(values);
    int64_t shared = 0;
    FlatSymbolRefAttr perCopy;
    if (auto *integer = std::get_if<int64_t *>(&value))
      shared = **integer;
    else if (auto *flag = std::get_if<bool *>(&value))
      shared = **flag;
    else if (auto *numbers = std::get_if<std::vector<double> *>(&value))
      perCopy = tables.doubles("setting", **numbers);
    else
      perCopy =
          tables.integers("setting", *std::get<std::vector<int64_t> *>(value));
    if (setting->type == SettingType::Counts)
      shared = std::get<std::vector<int64_t> *>(value)->size();
    rows.push_back(StructRecord<hfta_setting>()
                       .set(&hfta_setting::name, text(setting->name))
                       .set(&hfta_setting::type, getSettingCode(setting->type))
                       .set(&hfta_setting::reserved, 0)
                       .set(&hfta_setting::value, shared)
                       .set(&hfta_setting::values, perCopy));
  }
  settingCount = rows.size();
  settingTable = tables.table("settings", rows);
}

/// Returns the purpose of the mean loss of a step, of a term or of all.
Purpose ProgramBuilder::getLossPurpose(StringRef term) {
  return variables.lookup(Purpose::mean_loss, term) ? Purpose::mean_loss
                                                    : Purpose::loss;
}

void ProgramBuilder::buildLossTerms() {
  std::vector<Record> rows;
  for (const LossTerm &term : lossTerms) {
    uint32_t weight = term.weight.empty()
                          ? UINT32_MAX
                          : indexOf(Purpose::hyper_parameter, term.weight);
    rows.push_back(StructRecord<hfta_loss_term>()
                       .set(&hfta_loss_term::name, text(term.name))
                       .set(&hfta_loss_term::loss,
                            indexOf(getLossPurpose(term.name), term.name))
                       .set(&hfta_loss_term::weight, weight)
                       .set(&hfta_loss_term::loss_sum,
                            indexOf(Purpose::evaluation_loss, term.name))
                       .set(&hfta_loss_term::loss_weight,
                            indexOf(Purpose::evaluation_weight, term.name)));
  }
  program.set(&hfta_program::loss_term_count, rows.size())
      .set(&hfta_program::loss_terms, tables.table("loss_terms", rows));
}

/// Lists the nodes of the model that have a mode.
void ProgramBuilder::buildModalNodes() {
  std::vector<Record> rows;
  for (const ModalNode &node : getModalNodes(module))
    rows.push_back(
        StructRecord<hfta_modal_node>()
            .set(&hfta_modal_node::name, text(node.name))
            .set(&hfta_modal_node::copies,
                 node.copies.empty() ? FlatSymbolRefAttr()
                                     : text(describeCopies(node.copies)))
            .set(&hfta_modal_node::kind, static_cast<uint32_t>(node.kind))
            .set(&hfta_modal_node::rule, static_cast<uint32_t>(node.rule)));
  program.set(&hfta_program::modal_node_count, rows.size())
      .set(&hfta_program::modal_nodes, tables.table("modal_nodes", rows));
}

void ProgramBuilder::buildMetrics() {
  std::vector<Record> rows;
  for (const JobMetric &metric : job.metrics) {
    auto find = [&](MetricColumn column) {
      return indexOf(Purpose::evaluation_metric,
                     getMetricColumnName(metric, column));
    };
    uint32_t weights = find(MetricColumn::weights);
    VariableOp variable =
        variables.lookup(Purpose::evaluation_metric,
                         getMetricColumnName(metric, MetricColumn::weights));
    int64_t elements =
        variable ? variable.getTensorType().getNumElements() / job.batch : 0;
    rows.push_back(
        StructRecord<hfta_metric>()
            .set(&hfta_metric::name, text(metric.name))
            .set(&hfta_metric::kind, metric.kind)
            .set(&hfta_metric::average, metric.average)
            .set(&hfta_metric::is_share, metric.isShare)
            .set(&hfta_metric::is_labeled, metric.isLabeled)
            .set(&hfta_metric::direction,
                 metric.isHigherBetter ? HFTA_MAXIMIZE : HFTA_MINIMIZE)
            .set(&hfta_metric::labels, find(MetricColumn::labels))
            .set(&hfta_metric::guesses,
                 metric.isMean() ? UINT32_MAX : find(MetricColumn::guesses))
            .set(&hfta_metric::weights, weights)
            .set(&hfta_metric::elements, elements)
            .set(&hfta_metric::classes, metric.classes));
  }
  program.set(&hfta_program::metric_count, rows.size())
      .set(&hfta_program::metrics, tables.table("metrics", rows));
}

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
