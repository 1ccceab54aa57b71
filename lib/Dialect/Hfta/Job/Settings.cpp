//===- Settings.cpp - The settings of a job -------------------------------===//

#include "Hfta/Dialect/Hfta/Job/Settings.h"

#include "hfta/program.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::setting_traits;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

std::string hfta::printNumber(double value) {
  llvm::SmallString<24> text;
  constexpr double kMostPlain = 1e15;
  if (std::abs(value) < kMostPlain && value == std::trunc(value))
    return std::to_string(static_cast<int64_t>(value));
  for (unsigned digits = 1; digits <= 17; ++digits) {
    text.clear();
    llvm::raw_svector_ostream os(text);
    os << llvm::format("%.*g", static_cast<int>(digits), value);
    double back;
    if (!text.str().getAsDouble(back) && back == value)
      break;
  }
  return text.str().str();
}

bool NumberRange::contains(double value, bool whole) const {
  return (includesLeast ? value >= least : value > least) &&
         (includesMost ? value <= most : value < most) && (!isWhole || whole);
}

std::string NumberRange::describe() const {
  std::string text = isWhole ? "a whole number" : "a number";
  if (least != -kInfinity)
    text += (includesLeast ? " of at least " : " above ") + printNumber(least);
  if (most != kInfinity)
    text +=
        (includesMost ? " and at most " : " and below ") + printNumber(most);
  return text;
}

std::string hfta::describeUsage(const ParameterInfo &parameter) {
  std::string name = parameter.name.str();
  if (parameter.kind == ParameterInfo::Kind::flag)
    return name + (parameter.initial ? " = true" : " = false");
  if (parameter.kind == ParameterInfo::Kind::word)
    return (name + " = " + parameter.words.split('|').first).str();
  return parameter.initial ? name + " = " + printNumber(*parameter.initial)
                           : name;
}

//===----------------------------------------------------------------------===//
// Clauses and settings
//===----------------------------------------------------------------------===//

StringRef SettingInfo::getArgument() const {
  StringRef argument = name;
  bool isPrefixed = !isClause() && argument.consume_front(clause) &&
                    argument.consume_front("_");
  return isPrefixed ? argument : StringRef(name);
}

SmallVector<StringRef> SettingInfo::getWords() const {
  SmallVector<StringRef> words;
  StringRef(usage).split(words, '|');
  return words;
}

bool SettingInfo::takes(StringRef text) const {
  auto [name, inner] = text.split('(');
  if (takesNumber(name) && inner.consume_back(")")) {
    double number;
    return !inner.getAsDouble(number) && range.contains(number, false);
  }
  return llvm::any_of(getWords(), [&](StringRef word) {
    size_t quote = word.find('"');
    return quote == StringRef::npos
               ? text == word && !word.contains('(')
               : text.starts_with(word.take_front(quote + 1)) &&
                     text.ends_with("\")");
  });
}

bool SettingInfo::takesNumber(StringRef word) const {
  return llvm::any_of(getWords(), [&](StringRef known) {
    return known.consume_front(word) && known.starts_with("(") &&
           !known.starts_with("(\"");
  });
}

bool SettingInfo::takesName(StringRef word) const {
  return llvm::any_of(getWords(), [&](StringRef known) {
    return known.consume_front(word) && known.starts_with("(\"");
  });
}

namespace {

/// A row of Settings.def, with the row's arguments: exactly one of its members
/// is set.
struct Row {
  std::optional<SettingInfo> setting;
  std::optional<ClauseInfo> clause;
};

/// Returns the initial value of a setting if that is a number.
static std::optional<double> getInitial(std::optional<double> number) {
  return number;
}
template <size_t length>
static std::optional<double> getInitial(const char (&)[length]) {
  return std::nullopt;
}

/// The rows of Settings.def, and indices into them.
class Tables {
public:
  Tables() {
    // Each record of Settings.def is expanded to a statement that appends a
    // row.
#define HFTA_CLAUSE(handler, name, usage, text, byDefault, example, flag,      \
                    help, traits)                                              \
  rows.push_back({std::nullopt, ClauseInfo{name, usage, text, byDefault,       \
                                           example, flag, help, traits}});
#define HFTA_SETTING(type, member, name, initial, range, clause, usage, text,  \
                     byDefault, flag, help, traits)                            \
  rows.push_back(                                                              \
      {SettingInfo{SettingType::type, name, getInitial(initial), range,        \
                   clause, usage, text, byDefault, flag, help, traits,         \
                   [](Job &job) -> SettingRef { return &job.member; }},        \
       std::nullopt});
#include "Hfta/Dialect/Hfta/Job/Settings.def"
    index();
  }

  void add(const SettingInfo &setting) {
    rows.push_back({setting, std::nullopt});
    index();
  }
  void removeLast() {
    rows.pop_back();
    index();
  }

  std::vector<KeywordInfo> keywords;

private:
  void index() {
    keywords.clear();
    for (const Row &row : rows) {
      if (row.setting)
        keywords.push_back({row.setting->name, row.setting->flag,
                            row.setting->help, row.setting->traits,
                            &*row.setting, nullptr});
      else
        keywords.push_back({row.clause->name, row.clause->flag,
                            row.clause->help, row.clause->traits, nullptr,
                            &*row.clause});
    }
  }

  std::vector<Row> rows;
};

} // namespace

static Tables &getTables() {
  static Tables tables;
  return tables;
}

ArrayRef<KeywordInfo> hfta::getKeywords() { return getTables().keywords; }

ScratchSetting::ScratchSetting(const SettingInfo &setting) {
  getTables().add(setting);
}
ScratchSetting::~ScratchSetting() { getTables().removeLast(); }

const SettingInfo *hfta::findSetting(StringRef name) {
  const KeywordInfo *found = findByName(getKeywords(), name);
  return found ? found->setting : nullptr;
}

const ClauseInfo *hfta::findClause(StringRef name) {
  const KeywordInfo *found = findByName(getKeywords(), name);
  return found ? found->clause : nullptr;
}

SmallVector<const SettingInfo *> hfta::getSettings() {
  SmallVector<const SettingInfo *> settings;
  for (const KeywordInfo &keyword : getKeywords())
    if (keyword.setting)
      settings.push_back(keyword.setting);
  return settings;
}

SmallVector<const SettingInfo *> hfta::getSettingsOf(StringRef clause) {
  SmallVector<const SettingInfo *> settings;
  for (const SettingInfo *setting : getSettings())
    if (setting->clause == clause)
      settings.insert(setting->isClause() ? settings.begin() : settings.end(),
                      setting);
  return settings;
}

SmallVector<StringRef> hfta::getClauseNames(unsigned traits) {
  SmallVector<StringRef> names;
  for (const KeywordInfo &keyword : getKeywords())
    if ((keyword.traits & traits) == traits &&
        (keyword.clause || keyword.setting->isClause()))
      names.push_back(keyword.name);
  return names;
}

//===----------------------------------------------------------------------===//
// Formats and element types
//===----------------------------------------------------------------------===//

std::optional<uint32_t> hfta::getDataFormatCode(StringRef name) {
  if (name.empty())
    return HFTA_DATA_NONE;
#define HFTA_DATA_FORMAT(identifier, number, word)                             \
  if (name == (word))                                                          \
    return (number);
  HFTA_DATA_FORMATS
#undef HFTA_DATA_FORMAT
  return std::nullopt;
}

ArrayRef<StringRef> hfta::getDataFormatNames() {
  static const StringRef names[] = {
#define HFTA_DATA_FORMAT(identifier, number, word) word,
      HFTA_DATA_FORMATS
#undef HFTA_DATA_FORMAT
  };
  return names;
}

ArrayRef<StringRef> hfta::getCsvHeaderNames() {
  static const StringRef names[] = {
#define HFTA_CSV_HEADER(identifier, number, word) word,
      HFTA_CSV_HEADERS
#undef HFTA_CSV_HEADER
  };
  return names;
}

ArrayRef<StringRef> hfta::getFieldKindNames() {
  static const StringRef names[] = {
#define HFTA_DATA_FIELD_KIND(identifier, number, word) word,
      HFTA_DATA_FIELD_KINDS
#undef HFTA_DATA_FIELD_KIND
  };
  return names;
}

ArrayRef<StringRef> hfta::getCsvSeparatorNames() {
  static const StringRef names[] = {
#define HFTA_CSV_SEPARATOR(identifier, number, word, character) word,
      HFTA_CSV_SEPARATORS
#undef HFTA_CSV_SEPARATOR
  };
  return names;
}

ArrayRef<StringRef> hfta::getImageResizeNames() {
  static const StringRef names[] = {
#define HFTA_IMAGE_RESIZE(identifier, number, word) word,
      HFTA_IMAGE_RESIZES
#undef HFTA_IMAGE_RESIZE
  };
  return names;
}

/// The names of element types, indexed by hfta_element_type. Floats come last,
/// in order of width.
static constexpr StringRef kElementTypes[] = {"bool", "u8",  "i8",  "u16",
                                              "i16",  "i32", "i64", "f16",
                                              "bf16", "f32", "f64"};
static constexpr size_t kFirstFloat = 7, kFirstOf32Bits = 9,
                        kFirstOf64Bits = 10;

ArrayRef<StringRef> hfta::getElementTypeNames() { return kElementTypes; }

ArrayRef<StringRef> hfta::getFloatTypeNames(unsigned bits) {
  size_t first = bits <= 16   ? kFirstFloat
                 : bits <= 32 ? kFirstOf32Bits
                              : kFirstOf64Bits;
  return getElementTypeNames().drop_front(first);
}

/// The names of precisions. Those for a whole job come first, followed by those
/// for operands of products only.
static constexpr StringRef kPrecisions[] = {"f32", "f64", "tf32", "bf16",
                                            "f16"};
static constexpr size_t kFirstFactor = 2;

ArrayRef<StringRef> hfta::getPrecisionNames() { return kPrecisions; }

ArrayRef<StringRef> hfta::getFactorTypeNames() {
  return getPrecisionNames().drop_front(kFirstFactor);
}

FloatType hfta::getFactorType(MLIRContext *context, StringRef name) {
  if (name == "tf32")
    return FloatTF32Type::get(context);
  return getFloatType(context, name);
}

Type hfta::getNamedType(MLIRContext *context, StringRef name) {
  Builder builder(context);
  return llvm::StringSwitch<Type>(name)
      .Case("bool", builder.getI1Type())
      .Case("u8", builder.getIntegerType(8, /*isSigned=*/false))
      .Case("i8", builder.getIntegerType(8))
      .Case("u16", builder.getIntegerType(16, /*isSigned=*/false))
      .Case("i16", builder.getIntegerType(16))
      .Case("i32", builder.getI32Type())
      .Case("i64", builder.getI64Type())
      .Case("f16", builder.getF16Type())
      .Case("bf16", builder.getBF16Type())
      .Case("f32", builder.getF32Type())
      .Case("f64", builder.getF64Type())
      .Default(Type());
}

FloatType hfta::getFloatType(MLIRContext *context, StringRef name) {
  return dyn_cast_or_null<FloatType>(getNamedType(context, name));
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// The initial value of a number that the runtime derives.
static constexpr double kDerived = std::numeric_limits<double>::quiet_NaN();
static constexpr NumberRange kFromOne = {1};

/// Returns the parameter of a number's record.
static ParameterInfo makeNumber(llvm::StringLiteral name, NumberRange range,
                                std::optional<double> initial) {
  if (!initial)
    return {name, range, initial, ParameterInfo::Kind::required};
  if (std::isnan(*initial))
    return {name, range, std::nullopt, ParameterInfo::Kind::optional};
  return {name, range, initial};
}

/// Returns the parameter of a record, "name" or "name=default".
static ParameterInfo getScheduleParameterInfo(StringRef record) {
  using Kind = ParameterInfo::Kind;
  auto [wanted, byDefault] = record.split('=');
#define HFTA_SCHEDULE_PARAMETER(member, name, initial, range)                  \
  if (wanted == #name) {                                                       \
    double given;                                                              \
    if (!record.contains('='))                                                 \
      return makeNumber(#name, range, initial);                                \
    if (byDefault.getAsDouble(given))                                          \
      return makeNumber(#name, range, std::nullopt);                           \
    return makeNumber(#name, range, given);                                    \
  }
#define HFTA_SCHEDULE_WORD(name)                                               \
  if (wanted == #name)                                                         \
    return {#name,        {},                                                  \
            std::nullopt, byDefault == "false" ? Kind::flag : Kind::word,      \
            "",           byDefault};
#define HFTA_SCHEDULE_LIST(name, kind)                                         \
  if (wanted == #name)                                                         \
    return {#name, NumberRange::wholeFrom(1), std::nullopt, Kind::kind};
#include "Hfta/Dialect/Hfta/Job/Settings.def"
  llvm_unreachable("a schedule's parameter that Settings.def lacks");
}

static ScheduleInfo makeSchedule(llvm::StringLiteral name, uint32_t code,
                                 llvm::StringLiteral factor,
                                 std::initializer_list<StringRef> parameters) {
  ScheduleInfo info{name, code, factor, {}};
  for (StringRef parameter : parameters)
    info.parameters.push_back(getScheduleParameterInfo(parameter));
  return info;
}

ArrayRef<ScheduleInfo> hfta::getSchedules() {
  static const ScheduleInfo schedules[] = {
#define HFTA_SCHEDULE(name, code, factor, ...)                                 \
  makeSchedule(#name, HFTA_NUMBER_SCHEDULE_##code, factor, {__VA_ARGS__}),
#include "Hfta/Dialect/Hfta/Job/Settings.def"
  };
  return schedules;
}

const ScheduleInfo *hfta::findSchedule(StringRef name) {
  return findByName(getSchedules(), name);
}

StringRef hfta::getSchedulePrefix(const SettingInfo &setting) {
  return StringRef(setting.name).drop_back(StringRef("schedule").size());
}

std::vector<double> &hfta::getScheduleParameter(Schedule &schedule,
                                                StringRef name) {
  // A copy is needed because the macro's parameter is called `name`, too.
  StringRef wanted = name;
#define HFTA_SCHEDULE_PARAMETER(member, name, initial, range)                  \
  if (wanted == #name)                                                         \
    return schedule.member;
#include "Hfta/Dialect/Hfta/Job/Settings.def"
  llvm_unreachable("a schedule's parameter that Settings.def lacks");
}

std::string hfta::getPartPrefix(StringRef prefix, size_t part) {
  return (prefix + "part" + llvm::Twine(part) + "_").str();
}

bool hfta::hasScheduleParameter(const Schedule &schedule, StringRef prefix,
                                StringRef name) {
  for (const ParameterInfo &parameter : findSchedule(schedule.kind)->parameters)
    if (name == (prefix + parameter.name).str())
      return true;
  for (auto [index, part] : llvm::enumerate(schedule.parts))
    if (hasScheduleParameter(part, getPartPrefix(prefix, index), name))
      return true;
  return false;
}

std::optional<uint32_t> hfta::getScheduleOptionCode(StringRef name) {
  // A copy is needed because the macro's parameter is called `name`, too.
  StringRef wanted = name;
#define HFTA_SCHEDULE_OPTION(identifier, bit, name)                            \
  if (wanted == name)                                                          \
    return HFTA_SCHEDULE_##identifier;
  HFTA_SCHEDULE_OPTIONS
#undef HFTA_SCHEDULE_OPTION
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Preconditioners
//===----------------------------------------------------------------------===//

ArrayRef<ParameterInfo> hfta::getKfacParameters() {
  static constexpr ParameterInfo parameters[] = {
#define HFTA_KFAC_PARAMETER(name, initial, range, text, byDefault)             \
  {#name, range, initial},
#include "Hfta/Dialect/Hfta/Job/Settings.def"
  };
  return parameters;
}

//===----------------------------------------------------------------------===//
// Searches
//===----------------------------------------------------------------------===//

static SearchKindInfo makeSearchKind(llvm::StringLiteral name, uint32_t code,
                                     llvm::StringLiteral text,
                                     ArrayRef<SearchParameterInfo> parameters,
                                     std::initializer_list<StringRef> taken) {
  SearchKindInfo info{name, code, text, {}};
  for (StringRef parameter : taken)
    info.parameters.push_back(*findByName(parameters, parameter));
  return info;
}

ArrayRef<SearchKindInfo> hfta::getSamplers() {
  static constexpr SearchParameterInfo parameters[] = {
#define HFTA_SAMPLER_PARAMETER(type, member, name, initial, byDefault, range)  \
  {SettingType::type, name, byDefault, range},
#include "Hfta/Dialect/Hfta/Job/Settings.def"
  };
  static const SearchKindInfo samplers[] = {
#define HFTA_SAMPLER(name, code, text, ...)                                    \
  makeSearchKind(name, HFTA_SAMPLER_##code, text, parameters, {__VA_ARGS__}),
#include "Hfta/Dialect/Hfta/Job/Settings.def"
  };
  return samplers;
}

ArrayRef<SearchKindInfo> hfta::getRules() {
  static constexpr SearchParameterInfo parameters[] = {
#define HFTA_RULE_PARAMETER(type, member, name, initial, byDefault, range)     \
  {SettingType::type, name, byDefault, range},
#include "Hfta/Dialect/Hfta/Job/Settings.def"
  };
  static const SearchKindInfo rules[] = {
#define HFTA_RULE(name, code, text, ...)                                       \
  makeSearchKind(name, HFTA_RULE_##code, text, parameters, {__VA_ARGS__}),
#include "Hfta/Dialect/Hfta/Job/Settings.def"
  };
  return rules;
}

SearchRef hfta::getParameter(SearchSampler &sampler, StringRef wanted) {
#define HFTA_SAMPLER_PARAMETER(type, member, name, initial, byDefault, range)  \
  if (wanted == name)                                                          \
    return &sampler.member;
#include "Hfta/Dialect/Hfta/Job/Settings.def"
  llvm_unreachable("a sampler's parameter that Settings.def lacks");
}

SearchRef hfta::getParameter(SearchRule &rule, StringRef wanted) {
#define HFTA_RULE_PARAMETER(type, member, name, initial, byDefault, range)     \
  if (wanted == name)                                                          \
    return &rule.member;
#include "Hfta/Dialect/Hfta/Job/Settings.def"
  llvm_unreachable("a rule's parameter that Settings.def lacks");
}

ArrayRef<DistributionInfo> hfta::getDistributions() {
  static constexpr DistributionInfo distributions[] = {
#define HFTA_DISTRIBUTION(name, usage, text) {name, usage, text},
#include "Hfta/Dialect/Hfta/Job/Settings.def"
  };
  return distributions;
}

ArrayRef<StringRef> hfta::getDistributionNames() {
  static constexpr StringRef names[] = {"uniform", "log_uniform", "integers",
                                        "log_integers", "choice"};
  static_assert(std::size(names) == HFTA_CHOICE + 1);
  return names;
}
