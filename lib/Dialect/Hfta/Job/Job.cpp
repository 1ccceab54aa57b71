//===- Job.cpp - A training job's settings on the module ------------------===//

#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"
#include "Hfta/Dialect/Hfta/Job/JobSearch.h"
#include "Hfta/Dialect/Hfta/Job/JobUpdates.h"
#include "Hfta/Dialect/Hfta/Job/Optimizers.h"
#include "Hfta/Dialect/Hfta/Job/Settings.h"

#include "hfta/settings.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::hfta;

std::vector<int64_t> Job::getCopiesOfOptimizer(int64_t kind) const {
  std::vector<int64_t> found;
  for (int64_t copy = 0; copy < copies; ++copy)
    if ((optimizerOfCopy.empty() ? 0 : optimizerOfCopy[copy]) == kind)
      found.push_back(copy);
  return found;
}

bool Job::hasOptimizer(StringRef name) const {
  return llvm::any_of(
      optimizers, [&](const OptimizerKind &kind) { return kind.name == name; });
}

const HyperParameter *Job::findHyperParameter(StringRef name) const {
  for (const HyperParameter &parameter : hyperParameters)
    if (parameter.name == name)
      return &parameter;
  return nullptr;
}

const Schedule *Job::getScheduleOf(StringRef name) const {
  if (name == "lr")
    return &schedule;
  if (name == "damping" && !preconditioner.empty())
    return &kfacDampingSchedule;
  for (const NamedSchedule &other : numberSchedules)
    if (other.name == name)
      return &other.schedule;
  for (const ParameterGroup &group : groupsOfParameters)
    if (group.optimizer >= 0 && group.makeName("lr") == name)
      return &schedule;
  return nullptr;
}

std::vector<std::string> DataSource::getPaths() const {
  std::vector<std::string> paths;
  if (!format.empty())
    paths.push_back(path);
  paths.insert(paths.end(), morePaths.begin(), morePaths.end());
  return paths;
}

//===----------------------------------------------------------------------===//
// One description of the dictionary serves writing and reading
//===----------------------------------------------------------------------===//

/// The key of a record's name. It is always written, and must be there.
static constexpr llvm::StringLiteral kName = "name";

namespace {

struct DescribeSchedule {
  template <typename Archive>
  void operator()(Archive &archive, Schedule &schedule) const {
    archive.field("kind", schedule.kind);
    archive.field("options", schedule.options);
    archive.field("milestones", schedule.milestones);
    archive.records("parts", schedule.parts, *this);
#define HFTA_SCHEDULE_PARAMETER(member, name, initial, range)                  \
  archive.field(#name, schedule.member);
#include "Hfta/Dialect/Hfta/Job/Settings.def"
  }
};

class Writer {
public:
  explicit Writer(MLIRContext *context) : builder(context) {}

  void field(StringRef key, const std::string &value) {
    add(key, builder.getStringAttr(value));
  }
  void field(StringRef key, int64_t value) {
    add(key, builder.getI64IntegerAttr(value));
  }
  void field(StringRef key, bool value) {
    add(key, builder.getBoolAttr(value));
  }
  void field(StringRef key, double value) {
    add(key, builder.getF64FloatAttr(value));
  }
  void field(StringRef key, int32_t value) {
    field(key, static_cast<int64_t>(value));
  }
  /// Writes the word whose index in `words` is `number`.
  void word(StringRef key, uint32_t number, ArrayRef<StringRef> words) {
    field(key, words[number].str());
  }
  void name(const std::string &value) { field(kName, value); }
  void field(StringRef key, const std::vector<double> &values) {
    add(key, builder.getDenseF64ArrayAttr(values));
  }
  void field(StringRef key, const std::vector<int64_t> &values) {
    add(key, builder.getDenseI64ArrayAttr(values));
  }
  void field(StringRef key, const std::vector<std::string> &values) {
    add(key, builder.getStrArrayAttr(
                 SmallVector<StringRef>(values.begin(), values.end())));
  }
  void field(StringRef key,
             const std::vector<std::vector<std::string>> &values) {
    SmallVector<Attribute> lists;
    for (const std::vector<std::string> &names : values)
      lists.push_back(builder.getStrArrayAttr(
          SmallVector<StringRef>(names.begin(), names.end())));
    add(key, builder.getArrayAttr(lists));
  }
  void field(StringRef key, const Schedule &value) {
    record(key, value, DescribeSchedule());
  }
  void setting(const SettingInfo &info, Job &job) {
    std::visit([&](auto *value) { field(info.name, *value); }, info.get(job));
  }
  template <typename Record, typename Describe>
  void record(StringRef key, const Record &value, Describe describe) {
    add(key, write(builder.getContext(), value, describe));
  }
  template <typename Record, typename Describe>
  void records(StringRef key, const std::vector<Record> &values,
               Describe describe) {
    SmallVector<Attribute> entries;
    for (const Record &value : values)
      entries.push_back(write(builder.getContext(), value, describe));
    add(key, builder.getArrayAttr(entries));
  }
  /// Returns the dictionary of a record: its name, if it has one, and the
  /// values that differ from those of a default-constructed record.
  template <typename Record, typename Describe>
  static DictionaryAttr write(MLIRContext *context, const Record &value,
                              Describe describe) {
    Record initial;
    Writer writer(context), initialWriter(context);
    describe(writer, const_cast<Record &>(value));
    describe(initialWriter, initial);
    SmallVector<NamedAttribute> differing;
    for (auto [entry, initialEntry] :
         llvm::zip_equal(writer.attributes, initialWriter.attributes))
      if (entry != initialEntry || entry.getName() == kName)
        differing.push_back(entry);
    return writer.builder.getDictionaryAttr(differing);
  }

private:
  void add(StringRef key, Attribute value) {
    attributes.push_back(builder.getNamedAttr(key, value));
  }
  Builder builder;
  SmallVector<NamedAttribute> attributes;
};

/// Reads what Writer writes, and remembers the first error. A value without an
/// entry keeps its initial value.
class Reader {
public:
  Reader(DictionaryAttr dictionary, std::string &error)
      : dictionary(dictionary), error(error) {}

  void field(StringRef key, std::string &value) {
    if (auto attribute = get<StringAttr>(key, "a string"))
      value = attribute.getValue().str();
  }
  void field(StringRef key, int64_t &value) {
    auto attribute = get<IntegerAttr>(key, "an i64");
    if (attribute && attribute.getType().isInteger(64))
      value = attribute.getInt();
    else if (attribute)
      fail(key, "an i64");
  }
  void field(StringRef key, int32_t &value) {
    int64_t wide = value;
    field(key, wide);
    if (!llvm::isInt<32>(wide))
      fail(key, "an i64 within the range of i32");
    else
      value = static_cast<int32_t>(wide);
  }
  void word(StringRef key, uint32_t &number, ArrayRef<StringRef> words) {
    std::string text = words[number].str();
    field(key, text);
    const StringRef *found = llvm::find(words, text);
    if (found == words.end())
      fail(key, "one of " + llvm::join(words, ", "));
    else
      number = static_cast<uint32_t>(found - words.begin());
  }
  /// Reads a record's name, without which there is an error.
  void name(std::string &value) {
    if (!dictionary.get(kName))
      fail(kName, "a string");
    field(kName, value);
  }
  void field(StringRef key, bool &value) {
    if (auto attribute = get<BoolAttr>(key, "true or false"))
      value = attribute.getValue();
  }
  void field(StringRef key, double &value) {
    auto attribute = get<FloatAttr>(key, "an f64");
    if (attribute && attribute.getType().isF64())
      value = attribute.getValueAsDouble();
    else if (attribute)
      fail(key, "an f64");
  }
  void field(StringRef key, std::vector<double> &values) {
    if (auto attribute = get<DenseF64ArrayAttr>(key, "array<f64: …>"))
      values = attribute.asArrayRef().vec();
  }
  void field(StringRef key, std::vector<int64_t> &values) {
    if (auto attribute = get<DenseI64ArrayAttr>(key, "array<i64: …>"))
      values = attribute.asArrayRef().vec();
  }
  void field(StringRef key, std::vector<std::string> &values) {
    auto attribute = get<ArrayAttr>(key, "an array of strings");
    if (!attribute)
      return;
    if (!append(attribute, values))
      fail(key, "an array of strings");
  }
  void field(StringRef key, std::vector<std::vector<std::string>> &values) {
    auto attribute = get<ArrayAttr>(key, "an array of arrays of strings");
    if (!attribute)
      return;
    for (Attribute entry : attribute) {
      auto names = dyn_cast<ArrayAttr>(entry);
      if (!names || !append(names, values.emplace_back()))
        return fail(key, "an array of arrays of strings");
    }
  }
  void field(StringRef key, Schedule &value) {
    record(key, value, DescribeSchedule());
  }
  void setting(const SettingInfo &info, Job &job) {
    std::visit([&](auto *value) { field(info.name, *value); }, info.get(job));
  }
  template <typename Record, typename Describe>
  void record(StringRef key, Record &value, Describe describe) {
    if (auto attribute = get<DictionaryAttr>(key, "a dictionary")) {
      Reader inner(attribute, error);
      describe(inner, value);
      inner.finish();
    }
  }
  /// Reports the first entry that hasn't been read.
  void finish() {
    for (NamedAttribute entry : dictionary)
      if (error.empty() && !known.contains(entry.getName().getValue()))
        error = ("'" + entry.getName().getValue() + "' is unknown").str();
  }
  template <typename Record, typename Describe>
  void records(StringRef key, std::vector<Record> &values, Describe describe) {
    auto attribute = get<ArrayAttr>(key, "an array of dictionaries");
    if (!attribute)
      return;
    for (Attribute entry : attribute) {
      auto inner = dyn_cast<DictionaryAttr>(entry);
      if (!inner)
        return fail(key, "an array of dictionaries");
      Reader reader(inner, error);
      describe(reader, values.emplace_back());
      reader.finish();
    }
  }

private:
  /// Appends the entries to `values`. Returns false if an entry isn't a string.
  static bool append(ArrayAttr entries, std::vector<std::string> &values) {
    for (Attribute entry : entries) {
      auto text = dyn_cast<StringAttr>(entry);
      if (!text)
        return false;
      values.push_back(text.getValue().str());
    }
    return true;
  }
  /// Returns the entry, or null if there is none. Reports an entry of another
  /// type and returns null.
  template <typename AttributeType>
  AttributeType get(StringRef key, StringRef expected) {
    known.insert(key);
    auto attribute = dictionary.getAs<AttributeType>(key);
    if (!attribute && dictionary.get(key))
      fail(key, expected);
    return attribute;
  }
  void fail(StringRef key, StringRef expected) {
    if (error.empty())
      error = ("'" + key + "' must be " + expected).str();
  }
  DictionaryAttr dictionary;
  std::string &error;
  llvm::StringSet<> known;
};

struct Describe {
  template <typename Archive>
  void operator()(Archive &archive, DataSource &source) const {
    archive.field("format", source.format);
    archive.field("path", source.path);
    archive.field("more_paths", source.morePaths);
    archive.field("array", source.array);
    archive.field("column", source.column);
    archive.field("column_names", source.columnNames);
    archive.field("column_numbers", source.columnNumbers);
    archive.word("header", source.header, getCsvHeaderNames());
    archive.word("separator", source.separator, getCsvSeparatorNames());
    archive.word("resize", source.resize, getImageResizeNames());
    archive.field("skip_damaged", source.skipDamaged);
    archive.field("cache", source.cache);
    archive.field("shift", source.shift);
    archive.field("stride", source.stride);
  }
  template <typename Archive>
  void operator()(Archive &archive, DataField &field) const {
    archive.name(field.name);
    archive.record("train", field.train, *this);
    archive.record("test", field.test, *this);
    archive.record("validation", field.validation, *this);
    archive.field("classes", field.classes);
    archive.field("augmentations", field.augmentations);
    archive.word("kind", field.kind, getFieldKindNames());
    archive.field("of", field.of);
  }
  template <typename Archive>
  void operator()(Archive &archive, JobMetric &metric) const {
    archive.name(metric.name);
    archive.word("kind", metric.kind, getMetricKindNames());
    archive.word("average", metric.average, getMetricAverageNames());
    archive.field("labeled", metric.isLabeled);
    archive.field("share", metric.isShare);
    archive.field("higher_better", metric.isHigherBetter);
    archive.field("classes", metric.classes);
  }
  template <typename Archive>
  void operator()(Archive &archive, HyperParameter &parameter) const {
    archive.name(parameter.name);
    archive.field("values", parameter.values);
  }
  template <typename Archive>
  void operator()(Archive &archive, NamedSchedule &named) const {
    archive.name(named.name);
    archive.field("schedule", named.schedule);
  }
  template <typename Archive>
  void operator()(Archive &archive, SearchSetting &setting) const {
    archive.name(setting.name);
    archive.word("distribution", setting.distribution, getDistributionNames());
    archive.field("low", setting.low);
    archive.field("high", setting.high);
    archive.field("step", setting.step);
    archive.field("choices", setting.choices);
    archive.field("labels", setting.labels);
    archive.field("zip", setting.zip);
    archive.field("packed", setting.isPacked);
    archive.field("own", setting.own);
  }
  template <typename Archive>
  void operator()(Archive &archive, OptimizerKind &kind) const {
    archive.name(kind.name);
    archive.field("options", kind.options);
  }
  template <typename Archive>
  void operator()(Archive &archive, ParameterGroup &group) const {
    archive.name(group.name);
    archive.field("numbers", group.numbers);
    archive.field("optimizer", group.optimizer);
    archive.field("ends_adaptive_clip", group.endsAdaptiveClip);
    archive.field("members", group.members);
  }
  template <typename Archive>
  void operator()(Archive &archive, JobTurn &turn) const {
    archive.name(turn.name);
    archive.field("repetition", turn.repetition);
    archive.field("times", turn.times);
  }
  template <typename Archive>
  void operator()(Archive &archive, SearchSampler &sampler) const {
    archive.field("kind", sampler.kind);
#define HFTA_SAMPLER_PARAMETER(type, member, name, initial, byDefault, range)  \
  archive.field(name, sampler.member);
#include "Hfta/Dialect/Hfta/Job/Settings.def"
  }
  template <typename Archive>
  void operator()(Archive &archive, SearchRule &rule) const {
    archive.field("kind", rule.kind);
#define HFTA_RULE_PARAMETER(type, member, name, initial, byDefault, range)     \
  archive.field(name, rule.member);
#include "Hfta/Dialect/Hfta/Job/Settings.def"
  }
  template <typename Archive>
  void operator()(Archive &archive, Search &search) const {
    archive.record("sampler", search.sampler, *this);
    archive.record("rule", search.rule, *this);
    archive.records("settings", search.settings, *this);
    archive.field("arrays", search.arrays);
    archive.field("array", search.array);
  }
  template <typename Archive>
  void operator()(Archive &archive, Precision &precision) const {
#define HFTA_PRECISION(member, bits, text)                                     \
  archive.field(#member, precision.member);
#include "Hfta/Dialect/Hfta/Job/Settings.def"
    archive.field("multiply", precision.multiply);
  }
  template <typename Archive>
  void operator()(Archive &archive, Job &job) const {
    archive.name(job.name);
    archive.field("training", job.training);
    archive.field("fuse", job.fuse);
    archive.records("optimizers", job.optimizers, *this);
    archive.field("optimizer_of_copy", job.optimizerOfCopy);
    archive.records("groups_of_parameters", job.groupsOfParameters, *this);
    archive.records("hyper_parameters", job.hyperParameters, *this);
    archive.field("average", job.average);
    archive.records("number_schedules", job.numberSchedules, *this);
    archive.record("precision", job.precision, *this);
    archive.field("keeps_types", job.keepsTypes);
    archive.field("preconditioner", job.preconditioner);
    archive.field("recomputed_stages", job.recomputedStages);
    archive.field("order_rows", job.orderRows);
    archive.field("stage_blocks", job.stageBlocks);
    archive.field("worker_places", job.workerPlaces);
    archive.records("turns", job.turns, *this);
    archive.records("data", job.data, *this);
    archive.records("metrics", job.metrics, *this);
    archive.field("scores_by_metric", job.scoresByMetric);
    archive.field("scores_are_external", job.scoresAreExternal);
    archive.field("external_is_higher_better", job.externalIsHigherBetter);
    archive.record("search", job.search, *this);
    for (const SettingInfo *setting : getSettings())
      archive.setting(*setting, job);
  }
};

} // namespace

template <typename T>
static size_t countValues(const T &) {
  return 1;
}
template <typename T>
static size_t countValues(const std::vector<T> &values) {
  return values.size();
}

bool Precision::accumulatesEnough() const {
  ArrayRef<StringRef> widest = getFloatTypeNames(64);
  return llvm::is_contained(widest, accumulate) ||
         !llvm::is_contained(widest, compute);
}

/// Checks the names of the types. Returns an error message, or an empty string.
static std::string checkPrecision(const Precision &precision) {
#define HFTA_PRECISION(member, bits, text)                                     \
  if (!llvm::is_contained(getFloatTypeNames(), precision.member))              \
    return "unknown precision '" + precision.member + "'";                     \
  if (!llvm::is_contained(getFloatTypeNames(bits), precision.member))          \
    return "'" #member "' has at least " #bits " bits, got '" +                \
           precision.member + "'";
#include "Hfta/Dialect/Hfta/Job/Settings.def"
  if (!precision.accumulatesEnough())
    return "'accumulate' is narrower than 'compute'";
  if (!precision.multiply.empty() &&
      !llvm::is_contained(getFactorTypeNames(), precision.multiply))
    return "unknown type of factors '" + precision.multiply + "'";
  if (!precision.multipliesInRange())
    return "'multiply' needs 'compute' and 'accumulate' to be 'f32'";
  return "";
}

/// Checks the rows of an order, each by itself. Returns an error message, or an
/// empty string.
static std::string checkOrderRows(const Job &job) {
  if (job.orderRows.empty())
    return job.getOrderFile().empty() ? "" : "'order_rows' must be given";
  if (job.getStageCount() == 1 ||
      static_cast<int64_t>(job.orderRows.size()) != job.getStageCount())
    return "'order_rows' must have a row for each of several stages";
  for (StringRef row : job.orderRows)
    if (row.empty() ||
        row.find_first_not_of("0123456789,FRBIW") != StringRef::npos)
      return "'order_rows' must be actions such as \"0F0,0B0\"";
  if (job.allForwardsFirst)
    return "'order_rows' and 'all_forwards_first' exclude each other";
  return "";
}

/// Checks the first blocks of the stages. Returns an error message, or an empty
/// string.
static std::string checkStageBlocks(const Job &job) {
  const std::vector<int64_t> &blocks = job.stageBlocks;
  if (blocks.empty())
    return "";
  if (job.chunks > 1)
    return "'stage_blocks' needs stages of one chunk";
  auto isNotBefore = std::greater_equal<int64_t>();
  bool areInOrder = std::adjacent_find(blocks.begin(), blocks.end(),
                                       isNotBefore) == blocks.end();
  if (static_cast<int64_t>(blocks.size()) != job.getStageCount() ||
      blocks.front() != 0 || !areInOrder)
    return "'stage_blocks' must be a first block for each stage, from 0 on, in "
           "order";
  return "";
}

/// Checks the places of the workers. Returns an error message, or an empty
/// string.
static std::string checkWorkerPlaces(const Job &job) {
  if (job.workerPlaces.empty())
    return "";
  if (job.getStageCount() == 1)
    return "'worker_places' needs several stages";
  int64_t workers = job.getWorkers();
  std::vector<int64_t> sorted = job.workerPlaces;
  llvm::sort(sorted);
  if (static_cast<int64_t>(sorted.size()) != workers ||
      !llvm::equal(sorted, llvm::seq<int64_t>(0, workers)))
    return "'worker_places' must be the numbers from 0 to " +
           std::to_string(workers - 1) + ", each once";
  return "";
}

/// Checks the stages and the order of their work. Returns an error message, or
/// an empty string.
static std::string checkPipeline(const Job &job) {
  for (const std::vector<std::string> &cut : job.cuts)
    if (cut.empty() || llvm::is_contained(cut, ""))
      return "each of 'cuts' must name a value";
  if (!findSetting("order")->takes(job.order))
    return "unknown order '" + job.order + "'";
  if (!findSetting("spill")->takes(job.spill))
    return "unknown place to spill to '" + job.spill + "'";
  if (job.chunks < 1 || (job.cuts.size() + 1) % job.chunks != 0)
    return "'cuts' must leave as many parts for each stage as there are "
           "'chunks'";
  auto stages = static_cast<size_t>(job.getStageCount());
  if ((!job.replicas.empty() && job.replicas.size() != stages) ||
      (!job.inFlight.empty() && job.inFlight.size() != stages))
    return "'replicas' and 'in_flight' must have a number for each of the " +
           std::to_string(stages) + " stages that 'cuts' leave";
  for (size_t stage = 0; stage < stages; ++stage)
    if (job.getReplicas(stage) < 1 ||
        job.getGroups(stage) < job.getReplicas(stage) ||
        job.getGroups(stage) > job.microBatches)
      return "'replicas' must be at most 'groups', and these at most "
             "'micro_batches'";
  if (llvm::any_of(job.inFlight, [&](int64_t count) {
        return count < 1 || count > job.microBatches;
      }))
    return "'in_flight' must be from 1 to 'micro_batches'";
  if (llvm::any_of(job.recomputedStages, [&](int64_t stage) {
        return stage < 0 || stage >= job.getStageCount();
      }))
    return "'recomputed_stages' must be stages, of which there are " +
           std::to_string(stages);
  if (std::string blocks = checkStageBlocks(job); !blocks.empty())
    return blocks;
  if (std::string places = checkWorkerPlaces(job); !places.empty())
    return places;
  return checkOrderRows(job);
}

/// Checks that a schedule has what its kind needs. Returns an error message, or
/// an empty string.
static std::string checkSchedule(const Job &job, const Schedule &schedule) {
  const ScheduleInfo *info = findSchedule(schedule.kind);
  if (!info)
    return "unknown schedule '" + schedule.kind + "'";
  auto copies = static_cast<size_t>(job.copies);
#define HFTA_SCHEDULE_PARAMETER(member, name, initial, range)                  \
  if (!schedule.member.empty() && schedule.member.size() != copies)            \
    return "'" #name "' of a schedule must have one value a copy";
#include "Hfta/Dialect/Hfta/Job/Settings.def"
  for (const std::string &option : schedule.options)
    if (!getScheduleOptionCode(option))
      return "unknown option '" + option + "' of a schedule";
  using Kind = ParameterInfo::Kind;
  size_t milestones = schedule.milestones.size() / copies;
  for (const ParameterInfo &parameter : info->parameters) {
    bool hasMilestones =
        milestones * copies == schedule.milestones.size() &&
        (schedule.parts.empty() || milestones + 1 == schedule.parts.size());
    if ((parameter.kind == Kind::milestones && !hasMilestones) ||
        (parameter.kind == Kind::schedules && schedule.parts.empty()))
      return "the schedule '" + schedule.kind + "' lacks a part or milestone";
  }
  for (const Schedule &part : schedule.parts)
    if (std::string error = checkSchedule(job, part); !error.empty())
      return error;
  return "";
}

/// Checks schedules and the kind of the preconditioner. Returns an error
/// message, or an empty string.
static std::string checkKinds(const Job &job) {
  for (const SettingInfo *setting : getSettings())
    if (setting->type == SettingType::Schedule) {
      const Schedule &schedule =
          *std::get<Schedule *>(setting->get(const_cast<Job &>(job)));
      if (std::string error = checkSchedule(job, schedule); !error.empty())
        return error;
    }
  for (const NamedSchedule &schedule : job.numberSchedules) {
    if (!job.findHyperParameter(schedule.name))
      return "no hyper-parameter is called '" + schedule.name +
             "', which has a schedule";
    if (std::string error = checkSchedule(job, schedule.schedule);
        !error.empty())
      return error;
  }
  if (job.preconditioner.empty())
    return "";
  if (job.preconditioner != Job::kKfac)
    return "unknown preconditioner '" + job.preconditioner + "'";
  for (const ParameterInfo &parameter : getKfacParameters())
    if (!job.findHyperParameter(parameter.name))
      return ("kfac needs the hyper-parameter '" + parameter.name + "'").str();
  return "";
}

/// Checks the kinds of optimizers, and which copies have them. Returns an error
/// message, or an empty string.
static std::string checkOptimizers(const Job &job) {
  if (!job.training)
    return "";
  for (const OptimizerKind &kind : job.optimizers) {
    const OptimizerInfo *info = findOptimizer(kind.name);
    if (!info)
      return "unknown optimizer '" + kind.name + "'";
    for (const std::string &option : kind.options)
      if (!info->hasOption(option))
        return "'" + kind.name + "' has no option '" + option + "'";
  }
  if (job.optimizers.empty())
    return "a training job needs one of 'optimizers'";
  for (const ParameterGroup &group : job.groupsOfParameters)
    for (const std::string &number : group.numbers)
      if (!job.findHyperParameter(group.makeName(number)))
        return "group '" + group.name + "' needs the hyper-parameter '" +
               group.makeName(number) + "'";
  auto isKind = [&](int64_t kind) {
    return kind >= 0 && kind < static_cast<int64_t>(job.optimizers.size());
  };
  for (const ParameterGroup &group : job.groupsOfParameters)
    if (group.optimizer != -1 && !isKind(group.optimizer))
      return "group '" + group.name + "' must have one of 'optimizers'";
  if (!job.optimizerOfCopy.empty())
    if (job.optimizerOfCopy.size() != static_cast<size_t>(job.copies) ||
        !llvm::all_of(job.optimizerOfCopy, isKind))
      return "'optimizer_of_copy' must have the number of one of 'optimizers' "
             "for each copy";
  return "";
}

/// Checks everything that readers of the job may rely on. Returns an error
/// message, or an empty string.
static std::string checkJob(const Job &job) {
  if (job.copies < 1)
    return "'copies' must be at least 1";
  if (job.microBatches < 1 || job.batch < 1 ||
      job.batch % job.microBatches != 0)
    return "'batch' must be a positive multiple of 'micro_batches'";
  std::string pipeline = checkPipeline(job);
  if (!pipeline.empty())
    return pipeline;
  auto fits = [&](size_t size) {
    return size == static_cast<size_t>(job.copies);
  };
  for (const HyperParameter &parameter : job.hyperParameters)
    if (!fits(parameter.values.size()))
      return "hyper-parameter '" + parameter.name +
             "' must have one value a copy";
  for (const DataField &field : job.data)
    if (!field.classes.empty() && field.classes.size() != 3)
      return "'classes' of field '" + field.name +
             "' must be empty or have three numbers";
  for (size_t i = 0; i < job.data.size(); ++i) {
    const DataField &field = job.data[i];
    bool isMade = field.kind != HFTA_DATA_FIELD_FILE;
    if (i > 0 && !isMade && job.data[i - 1].kind != HFTA_DATA_FIELD_FILE)
      return "field '" + field.name + "' follows a field without files";
    if (field.of < 0 || field.of >= static_cast<int64_t>(job.data.size()) ||
        job.data[field.of].kind != HFTA_DATA_FIELD_FILE)
      return "field '" + field.name + "' is of no field with files";
  }
  for (const SettingInfo *setting : getSettings())
    if (setting->isSwept()) {
      size_t size = std::visit([](auto *value) { return countValues(*value); },
                               setting->get(const_cast<Job &>(job)));
      if (size != 0 && !fits(size))
        return ("'" + setting->name + "' must have one value a copy").str();
    }
  for (const SettingInfo *setting : getSettings())
    if (setting->type == SettingType::Word) {
      const std::string &word =
          *std::get<std::string *>(setting->get(const_cast<Job &>(job)));
      if (!setting->takes(word))
        return ("'" + setting->name + "' must be " + setting->usage +
                ", not '" + word + "'")
            .str();
    }
  for (const DataField &field : job.data)
    for (const DataSource *source :
         {&field.train, &field.test, &field.validation})
      if (!getDataFormatCode(source->format))
        return "field '" + field.name + "' has the unknown format '" +
               source->format + "'";
  std::string type = checkPrecision(job.precision);
  if (!type.empty())
    return type;
  if (std::string kind = checkKinds(job); !kind.empty())
    return kind;
  if (std::string validation = checkValidation(job); !validation.empty())
    return validation;
  if (std::string search = checkSearch(job); !search.empty())
    return search;
  if (std::string optimizers = checkOptimizers(job); !optimizers.empty())
    return optimizers;
  return checkUpdates(job);
}

void Job::write(ModuleOp module) const {
  module->setAttr(HftaDialect::kJobAttrName,
                  Writer::write(module.getContext(), *this, Describe()));
}

FailureOr<Job> Job::read(ModuleOp module) {
  auto dictionary =
      module->getAttrOfType<DictionaryAttr>(HftaDialect::kJobAttrName);
  if (!dictionary)
    return module.emitError()
           << "module has no '" << HftaDialect::kJobAttrName << "' dictionary";
  Job job;
  std::string error;
  Reader reader(dictionary, error);
  Describe()(reader, job);
  reader.finish();
  if (error.empty())
    error = checkJob(job);
  if (!error.empty())
    return module.emitError()
           << "in '" << HftaDialect::kJobAttrName << "': " << error;
  return job;
}

FailureOr<Job> Job::readPlanned(ModuleOp module) {
  FailureOr<Job> job = read(module);
  if (succeeded(job) && !SegmentAttr::getTable(module))
    return module.emitError()
           << "module has no '" << HftaDialect::kSegmentsAttrName
           << "'; run hfta-plan-memory first";
  return job;
}
