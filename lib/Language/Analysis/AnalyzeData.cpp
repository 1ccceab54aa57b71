//===- AnalyzeData.cpp - Data blocks --------------------------------------===//

#include "Analysis/JobAnalyzer.h"
#include "Hfta/Language/Files.h"

#include "hfta/data.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

static constexpr int64_t kMaxSampleElements = int64_t(1) << 32;
static constexpr int64_t kMaxBatchElements = int64_t(1) << 36;
static constexpr size_t kMaxSampleRank = 7;

static hfta_data_format getFormat(llvm::StringRef name) {
  return static_cast<hfta_data_format>(*getDataFormatCode(name));
}

static bool hasHeader(const DataSource &source) {
  return source.format == "idx" || source.format == "npy";
}

bool FieldInfo::isFloat() const {
  return llvm::is_contained(getFloatTypeNames(), element);
}

bool FieldInfo::isPreparedAsFloat() const {
  return isFloat() || llvm::any_of(steps, [](const PrepareStep &step) {
           return step.kind == PrepareStep::Kind::divide ||
                  step.kind == PrepareStep::Kind::divideInto ||
                  step.kind == PrepareStep::Kind::normalize ||
                  llvm::any_of(step.numbers, [](const Number &number) {
                    return !number.integer;
                  });
         });
}

static bool areEqual(llvm::ArrayRef<Number> a, llvm::ArrayRef<Number> b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(),
                    [](const Number &x, const Number &y) {
                      return x.value == y.value && x.integer == y.integer;
                    });
}

bool PrepareStep::equals(const PrepareStep &other) const {
  return kind == other.kind && areEqual(numbers, other.numbers) &&
         areEqual(deviations, other.deviations);
}

//===----------------------------------------------------------------------===//
// Files and arithmetic
//===----------------------------------------------------------------------===//

/// Returns the format that a file's name suggests; empty if it suggests none.
static llvm::StringRef guessFormat(llvm::StringRef path) {
  if (path.ends_with(".npy"))
    return "npy";
  if (path.ends_with(".csv"))
    return "csv";
  if (path.ends_with(".raw") || path.ends_with(".bin"))
    return "raw";
  llvm::StringRef name = llvm::sys::path::filename(path);
  if (name.ends_with(".idx") || name.ends_with(".idx.gz") ||
      name.contains("-idx") || name.contains("ubyte"))
    return "idx";
  return "";
}

static constexpr ParameterSpec kFile[] = {{"file", true}};
static constexpr ParameterSpec kCsv[] = {
    {"file", true}, {"column"}, {"header"}};

bool JobAnalyzer::analyzeSource(const ast::Expression &expression,
                                DataSource &source, llvm::SMRange &range) {
  if (!source.format.empty()) {
    diagnostics.error(
        expression.getRange(), "second file in one field",
        "a field's value is one file and arithmetic with numbers");
    return false;
  }
  range = expression.getRange();
  if (auto *string = llvm::dyn_cast<ast::StringExpression>(&expression)) {
    source.path = string->value;
    source.format = guessFormat(string->value).str();
    if (!source.format.empty())
      return true;
    diagnostics.error(range, "the format of '" + string->value + "' is unknown",
                      "name it: idx(\"...\"), npy(\"...\"), csv(\"...\") or "
                      "raw(\"...\")");
    return false;
  }
  const auto &call = llvm::cast<ast::CallExpression>(expression);
  llvm::StringRef format = call.callee.name;
  if (!llvm::is_contained(getDataFormatNames(), format)) {
    static const llvm::StringRef known[] = {"idx", "npy", "csv", "raw",
                                            "normalize"};
    diagnostics.error(call.callee.range,
                      "unknown data function '" + format + "'",
                      suggest(format, known, "data functions are"));
    return false;
  }
  bool isCsv = format == "csv";
  std::optional<BoundArguments> arguments =
      bindArguments({format, isCsv ? llvm::ArrayRef<ParameterSpec>(kCsv)
                                   : llvm::ArrayRef<ParameterSpec>(kFile)},
                    call.arguments, call.getRange(), diagnostics);
  if (!arguments)
    return false;
  source.format = format.str();
  std::optional<std::string> path =
      constants.readString(*arguments->get("file"), "file");
  if (!path)
    return false;
  source.path = *path;
  if (const ast::Expression *column = arguments->get("column"))
    source.column = static_cast<int32_t>(
        constants.readInteger(*column, "column", 0, 1 << 20).value_or(0));
  if (const ast::Expression *header = arguments->get("header")) {
    llvm::ArrayRef<llvm::StringRef> names = getCsvHeaderNames();
    if (std::optional<llvm::StringRef> word =
            constants.readWord(*header, "header", names))
      source.header =
          static_cast<uint32_t>(llvm::find(names, *word) - names.begin());
  }
  return true;
}

static constexpr ParameterSpec kNormalize[] = {
    {"data", true}, {"mean", true}, {"std", true}};

bool JobAnalyzer::analyzeNormalize(const ast::CallExpression &call,
                                   DataSource &source,
                                   llvm::SMRange &sourceRange,
                                   std::vector<PrepareStep> &steps) {
  std::optional<BoundArguments> arguments = bindArguments(
      {"normalize", kNormalize}, call.arguments, call.getRange(), diagnostics);
  if (!arguments ||
      !analyzePreparation(*arguments->get("data"), source, sourceRange, steps))
    return false;
  PrepareStep step{PrepareStep::Kind::normalize, {}, {}, call.getRange()};
  std::optional<std::vector<Number>> mean =
      constants.readNumbers(*arguments->get("mean"), "mean");
  std::optional<std::vector<Number>> deviation =
      constants.readNumbers(*arguments->get("std"), "std");
  if (!mean || !deviation)
    return false;
  if (mean->size() != deviation->size()) {
    diagnostics.error(
        call.getRange(),
        "'mean' has " + llvm::Twine(mean->size()) + " values, but 'std' has " +
            llvm::Twine(deviation->size()),
        "give both one value for each channel, or both one number");
    return false;
  }
  for (const Number &number : *deviation) {
    if (number.value > 0)
      continue;
    diagnostics.error(arguments->get("std")->getRange(),
                      "'std' is out of range, got " + printNumber(number.value),
                      "it is a number above 0");
    return false;
  }
  step.numbers = std::move(*mean);
  step.deviations = std::move(*deviation);
  steps.push_back(std::move(step));
  return true;
}

/// Returns whether an expression, or a part of it, reads a file.
static bool readsFile(const ast::Expression &expression) {
  if (auto *negation = llvm::dyn_cast<ast::NegationExpression>(&expression))
    return readsFile(*negation->operand);
  if (auto *binary = llvm::dyn_cast<ast::BinaryExpression>(&expression))
    return readsFile(*binary->lhs) || readsFile(*binary->rhs);
  return llvm::isa<ast::StringExpression, ast::CallExpression>(expression);
}

bool JobAnalyzer::analyzePreparation(const ast::Expression &expression,
                                     DataSource &source,
                                     llvm::SMRange &sourceRange,
                                     std::vector<PrepareStep> &steps) {
  using Kind = PrepareStep::Kind;
  if (auto *call = llvm::dyn_cast<ast::CallExpression>(&expression);
      call && call->callee.name == "normalize")
    return analyzeNormalize(*call, source, sourceRange, steps);
  if (llvm::isa<ast::CallExpression, ast::StringExpression>(expression))
    return analyzeSource(expression, source, sourceRange);
  if (auto *negation = llvm::dyn_cast<ast::NegationExpression>(&expression)) {
    if (!analyzePreparation(*negation->operand, source, sourceRange, steps))
      return false;
    steps.push_back({Kind::negate, {}, {}, expression.getRange()});
    return true;
  }
  auto *binary = llvm::dyn_cast<ast::BinaryExpression>(&expression);
  if (!binary || !readsFile(expression)) {
    diagnostics.error(expression.getRange(), "a field's value reads no file",
                      "for example idx(\"images.gz\") / 255");
    return false;
  }
  bool onLeft = readsFile(*binary->lhs);
  if (onLeft && readsFile(*binary->rhs)) {
    diagnostics.error(
        binary->rhs->getRange(), "second file in one field",
        "a field's value is one file and arithmetic with numbers");
    return false;
  }
  const ast::Expression &inner = onLeft ? *binary->lhs : *binary->rhs;
  const ast::Expression &other = onLeft ? *binary->rhs : *binary->lhs;
  std::optional<Number> number = constants.readNumber(other, "operand");
  if (!analyzePreparation(inner, source, sourceRange, steps) || !number)
    return false;
  Kind kind = Kind::add;
  if (binary->operation == '-')
    kind = onLeft ? Kind::subtract : Kind::subtractFrom;
  else if (binary->operation == '*')
    kind = Kind::multiply;
  else if (binary->operation == '/')
    kind = onLeft ? Kind::divide : Kind::divideInto;
  if (kind == Kind::divide && number->value == 0) {
    diagnostics.error(other.getRange(), "division by 0",
                      "divide by another number");
    return false;
  }
  steps.push_back({kind, {*number}, {}, expression.getRange()});
  return true;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static llvm::SmallVector<int64_t> withoutOnes(llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> result;
  llvm::copy_if(shape, std::back_inserter(result),
                [](int64_t size) { return size != 1; });
  return result;
}

/// Returns the number of elements of a sample; nothing if there are too many.
static std::optional<int64_t> countSample(llvm::ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t size : shape)
    if (llvm::MulOverflow(elements, size, elements) ||
        elements > kMaxSampleElements)
      return std::nullopt;
  return elements;
}

static std::string printType(const FieldInfo &field) {
  return field.element + (field.shape.empty() ? "" : printShape(field.shape));
}

bool JobAnalyzer::applyType(const ast::TypeSpec &type, FieldInfo &field) {
  if (!llvm::is_contained(getElementTypeNames(), type.element.name)) {
    diagnostics.error(
        type.element.range, "unknown element type '" + type.element.name + "'",
        suggest(type.element.name, getElementTypeNames(), "types are"));
    return false;
  }
  FieldInfo declared;
  declared.element = type.element.name;
  for (const ast::Dimension &dimension : type.dimensions) {
    if (dimension.name) {
      diagnostics.error(dimension.range,
                        "a field's type is that of one sample, its sizes are "
                        "numbers",
                        "leave the batch out: u8[28, 28]");
      return false;
    }
    declared.shape.push_back(dimension.size);
  }
  if (!countSample(declared.shape)) {
    diagnostics.error(type.range,
                      "a sample of more than " +
                          llvm::Twine(kMaxSampleElements) + " elements",
                      "the type is that of one sample");
    return false;
  }
  if (!field.element.empty() &&
      (field.element != declared.element || field.shape != declared.shape)) {
    diagnostics.error(type.range,
                      "field '" + field.name + "' is declared as " +
                          printType(declared) + " and as " + printType(field),
                      "declare it once");
    return false;
  }
  field.element = declared.element;
  field.shape = declared.shape;
  return true;
}

/// Checks that a field's type is declared. This is needed if no header of its
/// file contains the type.
bool JobAnalyzer::requireType(const DataSource &source, llvm::StringRef path,
                              llvm::SMRange range, const FieldInfo &field) {
  if (!field.element.empty())
    return true;
  llvm::StringRef type = source.format == "csv" ? "f32[4]"
                         : field.steps.empty()  ? "u8"
                                                : "u8[28, 28]";
  std::string example = ("declare the type of one sample, for example '" +
                         field.name + ": " + type + "'")
                            .str();
  if (hasHeader(source))
    diagnostics.error(range, "no such file: '" + path + "'",
                      example + ", or pass --data DIR");
  else
    diagnostics.error(
        range, source.format + " files don't say the type of their samples",
        example);
  return false;
}

/// Sets a field's type to that in the header of its file, or if the type is
/// declared, checks that both agree.
bool JobAnalyzer::applyHeader(const FieldInfo &found, llvm::StringRef path,
                              llvm::SMRange range, FieldInfo &field) {
  if (field.element.empty()) {
    field.element = found.element;
    field.shape = found.shape;
    if (found.shape.size() <= kMaxSampleRank &&
        llvm::none_of(found.shape, [](int64_t size) { return size < 1; }) &&
        countSample(found.shape))
      return true;
    diagnostics.error(range,
                      "samples of type " + printType(found) + " in '" + path +
                          "' can't be trained on",
                      "a sample has at most " + llvm::Twine(kMaxSampleRank) +
                          " axes, none of length 0, and at most " +
                          llvm::Twine(kMaxSampleElements) + " elements");
    return false;
  }
  if (field.element == found.element &&
      withoutOnes(field.shape) == withoutOnes(found.shape))
    return true;
  diagnostics.error(range,
                    "'" + path + "' holds samples of type " + printType(found) +
                        ", but field '" + field.name + "' is " +
                        printType(field),
                    "shapes may differ only in axes of length 1");
  return false;
}

bool JobAnalyzer::refuseFile(llvm::SMRange range, const hfta_error &error) {
  diagnostics.error(range, error.message,
                    "hftac reads the type of a field's samples from its file, "
                    "if that exists");
  info.unsupportedFiles += error.code == HFTA_UNSUPPORTED;
  return false;
}

/// Checks the first line of a csv file as the compiled program will, and notes
/// whether it had to guess that the line isn't a header.
bool JobAnalyzer::probeCsv(const DataSource &source, const std::string &path,
                           llvm::SMRange range) {
  hfta_data_request request = {};
  request.path = path.c_str();
  request.column = static_cast<uint32_t>(source.column);
  request.header = static_cast<hfta_csv_header>(source.header);
  bool guesses;
  hfta_error error;
  if (hfta_data_probe_csv(&request, &guesses, &error) != HFTA_OK)
    return refuseFile(range, error);
  if (guesses)
    info.guessedHeaders.push_back({path, range});
  return true;
}

bool JobAnalyzer::probe(const DataSource &source, llvm::SMRange range,
                        FieldInfo &field) {
  std::string path = getPathFrom(
      options.dataDirectory.empty() ? file.directory : options.dataDirectory,
      source.path);
  bool exists = llvm::sys::fs::exists(path);
  if (!hasHeader(source) || !exists)
    return requireType(source, path, range, field) &&
           (source.format != "csv" || !exists || probeCsv(source, path, range));
  hfta_data_info header;
  hfta_error error;
  if (hfta_data_probe(path.c_str(), getFormat(source.format), &header,
                      &error) != HFTA_OK)
    return refuseFile(range, error);
  FieldInfo found;
  found.element = getElementTypeNames()[header.type].str();
  found.shape.assign(header.sample_shape,
                     header.sample_shape + header.sample_rank);
  return applyHeader(found, path, range, field);
}

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

const ast::Binding *
JobAnalyzer::findField(const std::vector<ast::Binding> &fields,
                       llvm::StringRef name) const {
  for (const ast::Binding &field : fields)
    if (field.name.name == name)
      return &field;
  return nullptr;
}

/// Reads a field's file in the part `test` or `validation` to `source`. Sets
/// `ok` to false after an error.
void JobAnalyzer::analyzeOtherPart(llvm::StringRef name,
                                   const ast::DataPart &part,
                                   const ast::Binding &train, FieldInfo &field,
                                   DataSource &source, llvm::SMRange &range,
                                   bool &ok) {
  const ast::Binding *other = findField(part.fields, field.name);
  if (!other) {
    if (part.range.isValid())
      diagnostics.error(part.range,
                        "no " + name + " file for field '" + field.name + "'",
                        "'" + name + "' must have every field of 'train'");
    return;
  }
  std::vector<PrepareStep> steps;
  ok &= analyzePreparation(*other->value, source, range, steps);
  bool same = llvm::equal(
      steps, field.steps,
      [](const PrepareStep &a, const PrepareStep &b) { return a.equals(b); });
  if (!ok || same)
    return;
  diagnostics.error(other->value->getRange(),
                    "field '" + field.name +
                        "' has different arithmetic for training and for " +
                        (name == "test" ? "testing" : "validation"),
                    "write the same arithmetic in both");
  diagnostics.note(train.value->getRange(),
                   "the arithmetic for training is here");
}

void JobAnalyzer::analyzeField(const ast::DataDeclaration &data,
                               const ast::Binding &field) {
  FieldInfo result;
  result.name = field.name.name;
  result.range = field.name.range;
  bool ok = true;
  if (const ast::Binding *declared = findField(data.declarations, result.name))
    ok &= applyType(*declared->type, result);
  if (field.type)
    ok &= applyType(*field.type, result);
  for (const ast::DataPart *part : {&data.test, &data.validation})
    if (const ast::Binding *other = findField(part->fields, result.name);
        other && other->type)
      ok &= applyType(*other->type, result);

  llvm::SMRange ranges[3];
  ok &= analyzePreparation(*field.value, result.train, ranges[0], result.steps);
  analyzeOtherPart("test", data.test, field, result, result.test, ranges[1],
                   ok);
  analyzeOtherPart("validation", data.validation, field, result,
                   result.validation, ranges[2], ok);
  const DataSource *sources[] = {&result.train, &result.test,
                                 &result.validation};
  for (auto [source, range] : llvm::zip_equal(sources, ranges))
    ok = ok && (source->format.empty() || probe(*source, range, result));
  // The number of elements of a sample is bounded, so that the product fits
  // into 64 bits.
  if (ok && *countSample(result.shape) > kMaxBatchElements / info.job.batch)
    diagnostics.error(info.batchRange,
                      "a batch of field '" + result.name + "' has more than " +
                          llvm::Twine(kMaxBatchElements) + " elements",
                      "take a smaller batch");
  if (ok)
    compareHeaders(result);
  info.fields.push_back(std::move(result));
}

/// Returns whether two paths are equal apart from steps `./`.
static bool isSamePath(llvm::StringRef left, llvm::StringRef right) {
  llvm::SmallString<128> paths[] = {left, right};
  for (llvm::SmallString<128> &path : paths)
    llvm::sys::path::remove_dots(path);
  return paths[0] == paths[1];
}

namespace {
/// A file of a field.
struct FieldFile {
  const FieldInfo *field;
  llvm::StringRef part;
  const DataSource *source;
};
} // namespace

static llvm::SmallVector<FieldFile, 3> getFiles(const FieldInfo &field) {
  return {{&field, "train", &field.train},
          {&field, "test", &field.test},
          {&field, "validation", &field.validation}};
}

/// Checks that all fields that are read from the same csv file, in any part,
/// agree on whether it has a header.
void JobAnalyzer::compareHeaders(const FieldInfo &field) {
  std::vector<FieldFile> before;
  for (const FieldInfo &other : info.fields)
    llvm::append_range(before, getFiles(other));
  llvm::ArrayRef<llvm::StringRef> names = getCsvHeaderNames();
  for (const FieldFile &file : getFiles(field)) {
    for (const FieldFile &known : before) {
      if (file.source->format != "csv" || known.source->format != "csv" ||
          file.source->header == known.source->header ||
          !isSamePath(file.source->path, known.source->path))
        continue;
      auto describe = [&](const FieldFile &one) {
        return "field '" + one.field->name + "'" +
               (file.part == known.part ? ""
                                        : (" in '" + one.part + "'").str());
      };
      diagnostics.error(
          field.range,
          describe(file) + " has header = " + names[file.source->header] +
              " for '" + file.source->path + "', but " + describe(known) +
              " has header = " + names[known.source->header],
          "line 1 is a header for all fields of a file or for none: give both "
          "the same 'header'");
      return;
    }
    before.push_back(file);
  }
}

void JobAnalyzer::analyzeFields(const ast::DataDeclaration &data) {
  info.validationRange = data.validation.range;
  if (!data.train.range.isValid() && !diagnostics.hasErrors())
    diagnostics.error(data.name.range,
                      "data block '" + data.name.name +
                          "' has no training data",
                      "for example: train image = idx(\"images.gz\")");
  for (const std::vector<ast::Binding> *part :
       {&data.declarations, &data.train.fields, &data.test.fields,
        &data.validation.fields}) {
    llvm::StringMap<llvm::SMRange> seen;
    for (const ast::Binding &field : *part) {
      auto [first, inserted] =
          seen.try_emplace(field.name.name, field.name.range);
      if (!inserted) {
        diagnostics.error(field.name.range,
                          "second field called '" + field.name.name + "'",
                          "give it another name");
        diagnostics.note(first->second, "the first one is here");
      } else if (part == &data.train.fields) {
        analyzeField(data, field);
      } else if (data.train.range.isValid() &&
                 !findField(data.train.fields, field.name.name)) {
        std::vector<llvm::StringRef> names;
        names.reserve(data.train.fields.size());
        for (const ast::Binding &other : data.train.fields)
          names.emplace_back(other.name.name);
        diagnostics.error(field.name.range,
                          "no training file for field '" + field.name.name +
                              "'",
                          suggest(field.name.name, names, "fields are"));
      }
    }
  }
}

static constexpr ParameterSpec kData[] = {{"data", true}};

void JobAnalyzer::analyzeData(const Clause &clause) {
  if (std::optional<BoundArguments> arguments = readSettings(clause, kData))
    info.batchRange = arguments->get("batch")->getRange();
  const ast::Argument &first = clause.arguments.front();
  auto *name = llvm::dyn_cast<ast::NameExpression>(first.value.get());
  if (first.name)
    return;
  if (!name) {
    diagnostics.error(first.getRange(), "expected a data block's name",
                      "for example: data mnist, batch = 64");
    return;
  }
  std::vector<llvm::StringRef> known;
  for (const auto &data : file.data) {
    if (data.declaration.name.name == name->name)
      return analyzeFields(data.declaration);
    known.emplace_back(data.declaration.name.name);
  }
  diagnostics.error(first.getRange(), "no data block '" + name->name + "'",
                    suggest(name->name, known, "data blocks are"));
}
