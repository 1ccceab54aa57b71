//===- AnalyzeData.cpp - Data blocks --------------------------------------===//

#include "Analysis/JobAnalyzer.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

static constexpr int64_t kMaxSampleElements = int64_t(1) << 32;
static constexpr int64_t kMaxBatchElements = int64_t(1) << 36;
static constexpr size_t kMaxSampleRank = 7;

bool FieldInfo::isFloat() const {
  return llvm::is_contained(getFloatTypeNames(), element);
}

bool FieldInfo::isPreparedAsFloat() const {
  return isFloat() || llvm::any_of(steps, [](const PrepareStep &step) {
           return step.kind == PrepareStep::Kind::divide ||
                  step.kind == PrepareStep::Kind::divideInto ||
                  step.kind == PrepareStep::Kind::normalize ||
                  (step.kind == PrepareStep::Kind::call &&
                   step.call.givesFloats()) ||
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
         areEqual(deviations, other.deviations) && call.equals(other.call);
}

//===----------------------------------------------------------------------===//
// Files and arithmetic
//===----------------------------------------------------------------------===//

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
  PrepareStep step{PrepareStep::Kind::normalize, {}, {}, call.getRange(), {}};
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
  if (auto *list = llvm::dyn_cast<ast::ListExpression>(&expression))
    return !list->elements.empty() && readsFile(*list->elements.front());
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
  if (auto *call = llvm::dyn_cast<ast::CallExpression>(&expression))
    if (const FieldFunction *function = findFieldFunction(call->callee.name))
      return analyzeFieldFunction(*function, *call, source, sourceRange, steps);
  if (llvm::isa<ast::CallExpression, ast::StringExpression>(expression) ||
      (llvm::isa<ast::ListExpression>(expression) && readsFile(expression)))
    return analyzeSource(expression, source, sourceRange);
  if (auto *negation = llvm::dyn_cast<ast::NegationExpression>(&expression)) {
    if (!analyzePreparation(*negation->operand, source, sourceRange, steps))
      return false;
    steps.push_back({Kind::negate, {}, {}, expression.getRange(), {}});
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
  steps.push_back({kind, {*number}, {}, expression.getRange(), {}});
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

std::string language::printFieldType(const FieldInfo &field) {
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
                          printFieldType(declared) + " and as " +
                          printFieldType(field),
                      "declare it once");
    return false;
  }
  field.element = declared.element;
  field.shape = declared.shape;
  return true;
}

/// Sets a field's type to that in the header of its file, or if the type is
/// declared, checks that both agree.
bool JobAnalyzer::applyHeader(const FieldInfo &found, llvm::StringRef path,
                              llvm::SMRange range, FieldInfo &field) {
  if (field.element.empty()) {
    field.typeFile = path;
    field.element = found.element;
    field.shape = found.shape;
    if (found.shape.size() <= kMaxSampleRank &&
        llvm::none_of(found.shape, [](int64_t size) { return size < 1; }) &&
        countSample(found.shape))
      return true;
    diagnostics.error(range,
                      "samples of type " + printFieldType(found) + " in '" +
                          path + "' can't be trained on",
                      "a sample has at most " + llvm::Twine(kMaxSampleRank) +
                          " axes, none of length 0, and at most " +
                          llvm::Twine(kMaxSampleElements) + " elements");
    return false;
  }
  if (field.element == found.element &&
      withoutOnes(field.shape) == withoutOnes(found.shape))
    return true;
  diagnostics.error(
      range,
      "'" + path + "' holds samples of type " + printFieldType(found) +
          ", but field '" + field.name + "' is " + printFieldType(field) +
          (field.typeFile.empty() ? "" : ", as in '" + field.typeFile + "'"),
      "shapes may differ only in axes of length 1");
  return false;
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
  ok &= analyzePreparation(*other->value, source, range, steps) &&
        refuseAugmentations(name, steps);
  auto isPlain = [](const PrepareStep &step) { return !step.isRandom(); };
  bool same = llvm::equal(
      steps, llvm::make_filter_range(field.steps, isPlain),
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
    ok = ok &&
         (source->format.empty() || (probe(*source, range, result) &&
                                     checkColumns(*source, range, result)));
  ok = ok && findPreparedShape(result);
  // The number of elements of a sample is bounded, so that the product fits
  // into 64 bits.
  if (ok &&
      std::max(*countSample(result.shape),
               countSample(result.preparedShape).value_or(kMaxBatchElements)) >
          kMaxBatchElements / info.job.batch)
    diagnostics.error(info.batchRange,
                      "a batch of field '" + result.name + "' has more than " +
                          llvm::Twine(kMaxBatchElements) + " elements",
                      "take a smaller batch");
  info.fields.push_back(std::move(result));
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
  if (!diagnostics.hasErrors())
    compareCsvFiles();
  if (!diagnostics.hasErrors())
    checkMixtures();
}

static constexpr ParameterSpec kData[] = {{"data", true}};

void JobAnalyzer::analyzeData(const Clause &clause) {
  if (std::optional<BoundArguments> arguments = readSettings(clause, kData)) {
    info.batchRange = arguments->get("batch")->getRange();
    if (const ast::Expression *draw = arguments->get("draw"))
      info.drawRange = draw->getRange();
  }
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
