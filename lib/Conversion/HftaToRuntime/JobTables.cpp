//===- JobTables.cpp - What a job says, as tables of its program ----------===//
//
// Data, scheduled numbers, settings, terms of the loss, modes and metrics.
//===----------------------------------------------------------------------===//

#include "ProgramBuilder.h"

#include "Hfta/Dialect/Hfta/IR/Modes.h"
#include "Hfta/Dialect/Hfta/Job/JobDraw.h"
#include "Hfta/Dialect/Hfta/Job/Settings.h"

using namespace mlir;
using namespace mlir::hfta;

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
