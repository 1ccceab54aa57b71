//===- Job.cpp - A training job's settings on the module ------------------===//

#include "Hfta/Dialect/Hfta/IR/Job.h"
#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::hfta;

const HyperParameter *Job::findHyperParameter(StringRef name) const {
  for (const HyperParameter &parameter : hyperParameters)
    if (parameter.name == name)
      return &parameter;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// One description of the dictionary serves writing and reading
//===----------------------------------------------------------------------===//

namespace {

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
  void field(StringRef key, const std::vector<double> &values) {
    add(key, builder.getDenseF64ArrayAttr(values));
  }
  void field(StringRef key, const std::vector<int64_t> &values) {
    add(key, builder.getDenseI64ArrayAttr(values));
  }
  template <typename Record, typename Describe>
  void record(StringRef key, const Record &value, Describe describe) {
    Writer inner(builder.getContext());
    describe(inner, const_cast<Record &>(value));
    add(key, inner.get());
  }
  template <typename Record, typename Describe>
  void records(StringRef key, const std::vector<Record> &values,
               Describe describe) {
    SmallVector<Attribute> entries;
    for (const Record &value : values) {
      Writer inner(builder.getContext());
      describe(inner, const_cast<Record &>(value));
      entries.push_back(inner.get());
    }
    add(key, builder.getArrayAttr(entries));
  }
  DictionaryAttr get() { return builder.getDictionaryAttr(attributes); }

private:
  void add(StringRef key, Attribute value) {
    attributes.push_back(builder.getNamedAttr(key, value));
  }
  Builder builder;
  SmallVector<NamedAttribute> attributes;
};

/// Reads what Writer wrote; remembers the first error.
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
  void field(StringRef key, bool &value) {
    if (auto attribute = get<BoolAttr>(key, "true or false"))
      value = attribute.getValue();
  }
  void field(StringRef key, std::vector<double> &values) {
    if (auto attribute = get<DenseF64ArrayAttr>(key, "array<f64: …>"))
      values = attribute.asArrayRef().vec();
  }
  void field(StringRef key, std::vector<int64_t> &values) {
    if (auto attribute = get<DenseI64ArrayAttr>(key, "array<i64: …>"))
      values = attribute.asArrayRef().vec();
  }
  template <typename Record, typename Describe>
  void record(StringRef key, Record &value, Describe describe) {
    if (auto attribute = get<DictionaryAttr>(key, "a dictionary")) {
      Reader inner(attribute, error);
      describe(inner, value);
    }
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
    }
  }

private:
  template <typename AttributeType>
  AttributeType get(StringRef key, StringRef expected) {
    auto attribute = dictionary.getAs<AttributeType>(key);
    if (!attribute)
      fail(key, expected);
    return attribute;
  }
  void fail(StringRef key, StringRef expected) {
    if (error.empty())
      error = ("'" + key + "' must be " + expected).str();
  }
  DictionaryAttr dictionary;
  std::string &error;
};

struct Describe {
  template <typename Archive>
  void operator()(Archive &archive, DataSource &source) const {
    archive.field("format", source.format);
    archive.field("path", source.path);
    archive.field("column", source.column);
  }
  template <typename Archive>
  void operator()(Archive &archive, DataField &field) const {
    archive.field("name", field.name);
    archive.record("train", field.train, *this);
    archive.record("test", field.test, *this);
    archive.field("classes", field.classes);
  }
  template <typename Archive>
  void operator()(Archive &archive, HyperParameter &parameter) const {
    archive.field("name", parameter.name);
    archive.field("values", parameter.values);
  }
  template <typename Archive>
  void operator()(Archive &archive, Schedule &schedule) const {
    archive.field("kind", schedule.kind);
    archive.field("warmup", schedule.warmup);
    archive.field("step_size", schedule.stepSize);
    archive.field("gamma", schedule.gamma);
    archive.field("minimum", schedule.minimum);
  }
  template <typename Archive>
  void operator()(Archive &archive, Precision &precision) const {
    archive.field("parameters", precision.parameters);
    archive.field("compute", precision.compute);
    archive.field("accumulate", precision.accumulate);
    archive.field("gradients", precision.gradients);
    archive.field("state", precision.state);
  }
  template <typename Archive>
  void operator()(Archive &archive, Job &job) const {
    archive.field("name", job.name);
    archive.field("copies", job.copies);
    archive.field("batch", job.batch);
    archive.field("micro_batches", job.microBatches);
    archive.field("epochs", job.epochs);
    archive.field("steps", job.steps);
    archive.field("training", job.training);
    archive.field("fuse", job.fuse);
    archive.field("all_forwards_first", job.allForwardsFirst);
    archive.field("shuffle", job.shuffle);
    archive.field("order_seed", job.orderSeed);
    archive.field("optimizer", job.optimizer);
    archive.field("nesterov", job.nesterov);
    archive.records("hyper_parameters", job.hyperParameters, *this);
    archive.field("clip_norm", job.clipNorm);
    archive.field("seeds", job.seeds);
    archive.record("schedule", job.schedule, *this);
    archive.record("precision", job.precision, *this);
    archive.records("data", job.data, *this);
    archive.field("metric", job.metric);
  }
};

} // namespace

/// What a reader of the job may rely on; returns an error or nothing.
static std::string checkJob(const Job &job) {
  if (job.copies < 1)
    return "'copies' must be at least 1";
  if (job.microBatches < 1 || job.batch < 1 ||
      job.batch % job.microBatches != 0)
    return "'batch' must be a positive multiple of 'micro_batches'";
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
  if (!job.clipNorm.empty() && !fits(job.clipNorm.size()))
    return "'clip_norm' must have one value a copy";
  if (!job.seeds.empty() && !fits(job.seeds.size()))
    return "'seeds' must have one value a copy";
  return "";
}

void Job::write(ModuleOp module) const {
  Writer writer(module.getContext());
  Describe()(writer, const_cast<Job &>(*this));
  module->setAttr(HftaDialect::kJobAttrName, writer.get());
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
  if (error.empty())
    error = checkJob(job);
  if (!error.empty())
    return module.emitError()
           << "in '" << HftaDialect::kJobAttrName << "': " << error;
  return job;
}
