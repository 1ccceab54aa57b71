//===- ProgramTable.cpp - The hfta_program of a module --------------------===//
//
// Field order follows runtime/include/hfta/program.h to the letter.
//===----------------------------------------------------------------------===//

#include "ProgramTable.h"

#include "Hfta/Conversion/LowerKernels.h"
#include "Hfta/Dialect/Hfta/IR/Settings.h"
#include "Hfta/Dialect/Hfta/IR/Training.h"
#include "Hfta/Dialect/Hfta/IR/VariableNames.h"
#include "hfta/program.h"

using namespace mlir;
using namespace mlir::hfta;

static uint32_t getElementCode(Type type) {
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
    default:
      return HFTA_I64;
    }
  }
  if (type.isF16())
    return HFTA_F16;
  if (type.isBF16())
    return HFTA_BF16;
  return type.isF64() ? HFTA_F64 : HFTA_F32;
}

static uint32_t getFloatCode(StringRef name) {
  return llvm::StringSwitch<uint32_t>(name)
      .Case("f64", HFTA_F64)
      .Case("bf16", HFTA_BF16)
      .Case("f16", HFTA_F16)
      .Default(HFTA_F32);
}

namespace {

class ProgramBuilder {
public:
  ProgramBuilder(ModuleOp module, const Job &job, ArrayRef<TaskEntry> tasks,
                 int64_t scratchBytes)
      : module(module), job(job), tasks(tasks), scratchBytes(scratchBytes),
        tables(module) {}

  LogicalResult build(StringRef symbol);

private:
  void orderTensors();
  LogicalResult buildSegments();
  void buildTensors();
  void buildTasks();
  void buildData();
  uint32_t getFlags(VariableOp variable);
  uint32_t indexOf(StringRef name) const {
    auto known = tensorIndex.find(name);
    return known == tensorIndex.end() ? UINT32_MAX : known->second;
  }
  Record getSource(const DataSource &source);
  Field getSchedule();
  Field getRoles();
  Field getExportTemplate(DictionaryAttr model);
  void buildModels();
  std::string getAttribute(StringRef name) {
    auto text = module->getAttrOfType<StringAttr>(name);
    return text ? text.getValue().str() : std::string();
  }
  /// An attribute's text, empty where there is none.
  Field getText(DictionaryAttr attributes, StringRef name) {
    auto value = attributes.getAs<StringAttr>(name);
    return text(value ? value.getValue() : StringRef());
  }
  Field text(StringRef value) { return Field::pointer(tables.string(value)); }
  Field doubles(StringRef name, ArrayRef<double> values) {
    return Field::pointer(tables.doubles(name, values));
  }

  ModuleOp module;
  const Job &job;
  ArrayRef<TaskEntry> tasks;
  int64_t scratchBytes;
  ConstantTables tables;
  SmallVector<VariableOp> tensors;
  llvm::StringMap<uint32_t> tensorIndex;
  int64_t blocks = 1;
  Record program;
  FlatSymbolRefAttr segmentTable, tensorTable, taskTable, hyperTable,
      fieldTable, inputTable, outputTable, modelTable, copyTable;
  uint32_t segmentCount = 0, inputCount = 0, outputCount = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Segments, tensors, tasks
//===----------------------------------------------------------------------===//

/// Program order, but the optimizer's state and then the gradients' norms stand
/// at the end, in the order of the parameters: it is one copy's own, whatever
/// other copies there are.
void ProgramBuilder::orderTensors() {
  SmallVector<VariableOp> all(module.getOps<VariableOp>());
  llvm::StringMap<SmallVector<VariableOp>> ofParameter[2];
  auto getKind = [](VariableOp variable) -> std::optional<int> {
    if (variable.getRole() == Role::optimizer_state)
      return 0;
    if (names::isOfKind(variable.getSymName(), names::kNorm))
      return 1;
    return std::nullopt;
  };
  for (VariableOp variable : all) {
    if (std::optional<int> kind = getKind(variable))
      ofParameter[*kind][names::getSubject(variable.getSymName())].push_back(
          variable);
    else
      tensors.push_back(variable);
  }
  for (const auto &lists : ofParameter)
    for (VariableOp variable : all)
      if (auto list = lists.find(variable.getSymName()); list != lists.end())
        llvm::append_range(tensors, list->getValue());
  for (auto [index, variable] : llvm::enumerate(tensors))
    tensorIndex[variable.getSymName()] = index;
}

LogicalResult ProgramBuilder::buildSegments() {
  SmallVector<FlatSymbolRefAttr> images;
  if (failed(buildSegmentImages(module, tables, images)))
    return failure();
  std::vector<Record> rows;
  auto segments = module->getAttrOfType<ArrayAttr>("hfta.segments");
  auto add = [&](SegmentAttr segment, FlatSymbolRefAttr image) {
    std::string name = stringifyRole(segment.getRole()).str();
    if (segment.getBlock() >= 0)
      name += "." + std::to_string(segment.getBlock());
    if (SegmentAttr::livesWithinStep(segment.getRole()) &&
        segment.getCopyBytes() == 0)
      name += ".shared";
    rows.push_back(
        {text(name), Field::u32(static_cast<uint32_t>(segment.getRole())),
         Field::i32(segment.getBlock()), Field::u64(segment.getBytes()),
         Field::u64(segment.getCopyBytes()), Field::u64(64),
         Field::u32(segment.getInstances()), Field::u32(0),
         Field::pointer(image)});
  };
  for (auto [attribute, image] : llvm::zip(segments, images)) {
    auto segment = cast<SegmentAttr>(attribute);
    add(segment, image);
    blocks = std::max(blocks, segment.getBlock() + 1);
  }
  if (scratchBytes > 0)
    add(SegmentAttr::get(module.getContext(), Role::scratch, -1, scratchBytes,
                         1, 0),
        {});
  segmentCount = rows.size();
  segmentTable = tables.table("segments", rows);
  return success();
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
    if (tensorIndex.contains(
            names::getSymbol(names::kGradient, variable.getSymName())))
      flags |= HFTA_TENSOR_TRAINED;
    [[fallthrough]];
  case Role::statistics:
    return flags | HFTA_TENSOR_CHECKPOINT | HFTA_TENSOR_EXPORT;
  case Role::optimizer_state:
    return flags | HFTA_TENSOR_CHECKPOINT;
  default:
    return flags;
  }
}

void ProgramBuilder::buildTensors() {
  std::vector<Record> rows;
  for (VariableOp variable : tensors) {
    RankedTensorType type = variable.getTensorType();
    BindingAttr place = *variable.getLocation();
    rows.push_back({text(variable.getOwnName()), Field::u32(place.getSegment()),
                    Field::u32(getElementCode(type.getElementType())),
                    Field::u64(place.getOffset()),
                    Field::u64(place.getStride()),
                    Field::pointer(tables.integers("shape", type.getShape())),
                    Field::u32(type.getRank()), Field::u32(getFlags(variable)),
                    Field::u64(getLogicalBytes(type)),
                    Field::i32(variable.getCopy().value_or(-1)),
                    Field::u32(getTrainingRuleNumber(variable))});
  }
  tensorTable = tables.table("tensors", rows);
  auto ports = [&](StringRef kind, uint32_t &count) {
    std::vector<Record> found;
    for (auto [index, variable] : llvm::enumerate(tensors)) {
      if (!names::isOfKind(variable.getSymName(), kind))
        continue;
      std::string own = variable.getOwnName();
      StringRef name = names::getSubject(own);
      auto modelName = variable->getAttrOfType<StringAttr>("hfta.file_name");
      found.push_back({text(name), Field::u32(index), Field::u32(0),
                       text(modelName ? modelName.getValue() : name)});
    }
    count = found.size();
    return tables.table("ports", found);
  };
  inputTable = ports(names::kInferenceInput, inputCount);
  outputTable = ports(names::kOutput, outputCount);
}

void ProgramBuilder::buildTasks() {
  std::vector<Record> rows;
  for (const TaskEntry &entry : tasks)
    rows.push_back(
        {text(entry.name),
         Field::u32(static_cast<uint32_t>(entry.task.getKind())),
         Field::i32(entry.task.getBlock()), Field::pointer(entry.function),
         Field::pointer(tables.indices("reads", entry.reads)),
         Field::pointer(tables.indices("writes", entry.writes)),
         Field::u32(entry.reads.size()), Field::u32(entry.writes.size()),
         Field::u32(1), Field::u32(entry.flags)});
  taskTable = tables.table("tasks", rows);
}

//===----------------------------------------------------------------------===//
// Job
//===----------------------------------------------------------------------===//

Record ProgramBuilder::getSource(const DataSource &source) {
  uint32_t format = llvm::StringSwitch<uint32_t>(source.format)
                        .Case("idx", HFTA_DATA_IDX)
                        .Case("npy", HFTA_DATA_NPY)
                        .Case("csv", HFTA_DATA_CSV)
                        .Case("raw", HFTA_DATA_RAW)
                        .Default(HFTA_DATA_NONE);
  return {Field::u32(format), Field::u32(source.column), text(source.path)};
}

void ProgramBuilder::buildData() {
  std::vector<Record> fields;
  for (const DataField &field : job.data) {
    std::vector<int64_t> classes = field.classes;
    classes.resize(3);
    fields.push_back(
        {text(field.name),
         Field::u32(indexOf(names::getPortSymbol(names::kInput, field.name))),
         Field::u32(0), Field::record(getSource(field.train)),
         Field::record(getSource(field.test)), Field::i64(classes[0]),
         Field::i64(classes[1]), Field::i64(classes[2])});
  }
  fieldTable = tables.table("data_fields", fields);
  std::vector<Record> parameters;
  for (const HyperParameter &parameter : job.hyperParameters)
    parameters.push_back(
        {text(parameter.name), doubles("values", parameter.values)});
  hyperTable = tables.table("hyper_parameters", parameters);
}

Field ProgramBuilder::getSchedule() {
  const Schedule &schedule = job.schedule;
  // The runtime expects every array; neutral values where none is given.
  auto values = [&](ArrayRef<double> given, double neutral) {
    return doubles("schedule", given.empty()
                                   ? std::vector<double>(job.copies, neutral)
                                   : given.vec());
  };
  Record record = {Field::u32(findSchedule(schedule.kind)->code),
                   Field::u32(0)};
#define HFTA_SCHEDULE_PARAMETER(member, name, initial, neutral, range)         \
  record.push_back(values(schedule.member, neutral));
#include "Hfta/Dialect/Hfta/IR/Settings.def"
  return Field::record(record);
}

Field ProgramBuilder::getRoles() {
  uint32_t norm = UINT32_MAX;
  for (auto [index, variable] : llvm::enumerate(tensors))
    if (names::isOfKind(variable.getSymName(), names::kNorm))
      norm = std::min<uint32_t>(norm, index);
  Record roles;
  for (StringRef name :
       {names::kStep, names::kMicroBatch, names::kValidSamples,
        names::kLossScale, names::kLearningRate, names::kClipScale,
        names::kSeed, names::kLoss, names::kStepWeight, names::kEvaluationLoss,
        names::kEvaluationWeight, names::kEvaluationMetric})
    roles.push_back(Field::u32(indexOf(name)));
  roles.push_back(Field::u32(norm));
  return Field::record(roles);
}

Field ProgramBuilder::getExportTemplate(DictionaryAttr model) {
  auto data = [&](StringRef name) {
    auto text = model.getAs<StringAttr>(name);
    return text ? text.getValue() : StringRef();
  };
  StringRef header = data("export_header"), graph = data("export_graph");
  auto bytes = [&](StringRef name, StringRef data) {
    return Field::pointer(
        tables.bytes(name, ArrayRef(data.data(), data.size())));
  };
  return Field::record({bytes("export_header", header),
                        Field::u64(header.size()), bytes("export_graph", graph),
                        Field::u64(graph.size())});
}

/// The models as they were before they became an array; one without a name
/// where nothing describes them.
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
    rows.push_back({getText(model, "identity"),
                    getText(model, "identity_of_batch"),
                    getExportTemplate(model)});
    if (auto copies = model.getAs<DenseI64ArrayAttr>("copies"))
      for (int64_t copy : copies.asArrayRef())
        if (copy >= 0 && copy < job.copies)
          modelOfCopy[copy] = index;
  }
  modelTable = tables.table("models", rows);
  copyTable = tables.indices("model_of_copy", modelOfCopy);
}

LogicalResult ProgramBuilder::build(StringRef symbol) {
  orderTensors();
  if (failed(buildSegments()))
    return failure();
  buildTensors();
  buildTasks();
  buildData();
  buildModels();
  auto count = [](size_t size) { return Field::u32(size); };
  auto table = [](FlatSymbolRefAttr name) { return Field::pointer(name); };
  std::string plan = getAttribute("hfta.plan_json");
  TargetAttr target = TargetAttr::get(module);
  program = {Field::u32(HFTA_ABI_VERSION),
             Field::u32(0),
             text(job.name),
             text(job.training ? StringRef(job.optimizer) : ""),
             text(job.metric),
             text(target ? target.getFeatures() : ""),
             text(plan.empty() ? "{}" : plan),
             Field::i64(job.copies),
             Field::i64(job.batch),
             Field::i64(job.microBatches),
             Field::i64(blocks),
             Field::i64(job.epochs),
             Field::i64(job.steps),
             Field::i64(job.orderSeed),
             Field::u32(job.shuffle),
             Field::u32(getFloatCode(job.precision.compute)),
             Field::u32(job.allForwardsFirst),
             Field::u32(!job.clipNorm.empty()),
             doubles("clip_norm", job.clipNorm),
             getSchedule(),
             table(segmentTable),
             table(tensorTable),
             table(taskTable),
             table(hyperTable),
             table(fieldTable),
             table(inputTable),
             table(outputTable),
             count(segmentCount),
             count(tensors.size()),
             count(tasks.size()),
             count(job.hyperParameters.size()),
             count(job.data.size()),
             Field::u32(inputCount),
             Field::u32(outputCount),
             Field::u32(getCopyThreads(job.copies)),
             getRoles(),
             table(modelTable),
             table(copyTable)};
  tables.exported(symbol, program);
  return success();
}

LogicalResult hfta::buildProgramTable(ModuleOp module, const Job &job,
                                      ArrayRef<TaskEntry> tasks,
                                      int64_t scratchBytes, StringRef symbol) {
  return ProgramBuilder(module, job, tasks, scratchBytes).build(symbol);
}
