//===- Settings.h - The settings of a job -----------------------*- C++ -*-===//
//
// The records of Settings.def as tables. From these tables follow the parser's
// keywords, the analyzer's ranges and defaults, the command line's flags and
// help, the manual's tables, the dictionary that `Job` writes and reads, and
// the output of `info --json`.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_JOB_SETTINGS_H
#define HFTA_DIALECT_HFTA_JOB_SETTINGS_H

#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <limits>
#include <optional>
#include <string>
#include <variant>

namespace mlir::hfta {

/// Returns a number as a user would write it: whole numbers below 1e15 without
/// an exponent, others with the fewest digits that identify the double.
std::string printNumber(double value);

/// The numbers that a setting may take.
struct NumberRange {
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  double least = 0;
  double most = kInfinity;
  bool includesLeast = true;
  bool includesMost = true;
  bool isWhole = false;

  static constexpr NumberRange any() { return {-kInfinity}; }
  static constexpr NumberRange nonNegative() { return {}; }
  static constexpr NumberRange positive() { return {0, kInfinity, false}; }
  static constexpr NumberRange unit() { return {0, 1}; }
  static constexpr NumberRange belowOne() { return {0, 1, true, false}; }
  static constexpr NumberRange whole(double least, double most) {
    return {least, most, true, true, true};
  }
  static constexpr NumberRange wholeFrom(double least) {
    return whole(least, kInfinity);
  }
  static constexpr NumberRange anyWhole() { return wholeFrom(-kInfinity); }

  /// Returns whether the number is in the range. `whole` says whether it was
  /// written as a whole number, without a point or exponent.
  bool contains(double value, bool whole) const;
  /// Returns a description for messages, such as "a whole number of at least
  /// 1".
  std::string describe() const;
};

/// An argument of an optimizer or schedule.
struct ParameterInfo {
  enum class Kind {
    number,     ///< one per copy, `initial` if not given
    required,   ///< one per copy, must be given
    optional,   ///< one per copy if given; absent otherwise
    flag,       ///< true or false, one for all copies; if not given, true
                ///< with `initial`, else false
    word,       ///< one of `words` for all copies; the first one if not given
    milestones, ///< an ascending list of steps, or one per copy; must be given
    schedules   ///< a list of schedules; must be given
  };

  llvm::StringLiteral name;
  NumberRange range;
  std::optional<double> initial;
  Kind kind = Kind::number;
  /// For a flag: another parameter that must be given together with it; empty
  /// if there is none.
  llvm::StringLiteral needs = "";
  /// For a word: all words, as one|other.
  llvm::StringRef words = "";

  /// Returns whether a job must give the parameter.
  bool isRequired() const {
    return kind == Kind::required || kind == Kind::milestones ||
           kind == Kind::schedules;
  }
};

/// Returns the parameter as the manual shows it, such as "name = 0.1".
std::string describeUsage(const ParameterInfo &parameter);

namespace setting_traits {
/// Properties of clauses and settings, combined by `|`.
enum ClauseTraits : unsigned {
  None = 0,
  Required = 1u << 0,        ///< the argument must be given
  Repeatable = 1u << 1,      ///< a train block may have several such clauses
  OfModel = 1u << 2,         ///< the clause may also follow `onnx(...)`
  WithoutTraining = 1u << 3, ///< a command line with the flag needn't train
  Unlisted = 1u << 4,        ///< `info --json` reports it in another form
  Auto = 1u << 5,            ///< the value may be `auto`, which is Job::kAuto
  Call = 1u << 6,            ///< arguments are those of a call: `kfac(...)`
  Nested = 1u << 7           ///< clauses in braces follow the arguments
};
} // namespace setting_traits

/// The type of a setting's value; Settings.def describes each.
enum class SettingType {
  Integer,
  Size,
  Flag,
  Number,
  Counts,
  Word,
  Names,
  NameLists,
  Numbers,
  WholeNumbers,
  Schedule
};

/// A pointer to the member of Job that holds a setting.
using SettingRef =
    std::variant<int64_t *, bool *, double *, std::string *,
                 std::vector<double> *, std::vector<int64_t> *,
                 std::vector<std::string> *, NameLists *, Schedule *>;

/// A record HFTA_SETTING; Settings.def describes the members.
struct SettingInfo {
  SettingType type;
  llvm::StringLiteral name;
  std::optional<double> initial;
  NumberRange range;
  llvm::StringLiteral clause;
  llvm::StringLiteral usage, text, byDefault;
  llvm::StringLiteral flag, help;
  unsigned traits;
  SettingRef (*get)(Job &job);

  bool isClause() const { return name == clause; }
  /// Returns the name of the argument: the setting's name, without a prefix
  /// CLAUSE_.
  llvm::StringRef getArgument() const;
  /// Returns the values that a Word may have. A word with the name of a file is
  /// returned as file("NAME"), a word with a number as part(F).
  llvm::SmallVector<llvm::StringRef> getWords() const;
  /// Returns whether `text` is a valid value of a Word.
  bool takes(llvm::StringRef text) const;
  /// Returns whether a value of a Word may be `word` followed by a number in
  /// parentheses.
  bool takesNumber(llvm::StringRef word) const;
  /// Returns whether a value of a Word may be `word` followed by the name of a
  /// file or folder in parentheses.
  bool takesName(llvm::StringRef word) const;
  /// Returns whether each copy has its own value.
  bool isSwept() const {
    return type == SettingType::Numbers || type == SettingType::WholeNumbers;
  }
};

/// A record HFTA_CLAUSE: a clause that isn't the record of a single setting.
struct ClauseInfo {
  llvm::StringLiteral name, usage, text, byDefault, example, flag, help;
  unsigned traits;
};

/// The entry of a clause, setting or flag in the table of all keywords. It
/// refers to a record of one of the two kinds.
struct KeywordInfo {
  llvm::StringRef name;
  llvm::StringRef flag, help;
  unsigned traits;
  const SettingInfo *setting; ///< null for an HFTA_CLAUSE
  const ClauseInfo *clause;   ///< null for an HFTA_SETTING
};

/// Returns all records in the order of Settings.def.
llvm::ArrayRef<KeywordInfo> getKeywords();
/// Returns the setting of this name, or null.
const SettingInfo *findSetting(llvm::StringRef name);
/// Returns the clause of this name that is an HFTA_CLAUSE, or null.
const ClauseInfo *findClause(llvm::StringRef name);
/// Returns the settings that are arguments of a clause. The setting with the
/// clause's own name, if there is one, is first.
llvm::SmallVector<const SettingInfo *> getSettingsOf(llvm::StringRef clause);
/// Returns the settings of all clauses.
llvm::SmallVector<const SettingInfo *> getSettings();

/// Returns the names of all clauses that have all of these traits.
llvm::SmallVector<llvm::StringRef> getClauseNames(unsigned traits = 0);

/// Adds a setting to the tables as long as it exists. Unit tests use it to test
/// code that is derived from the tables. It must be created by a single thread,
/// before the tables are read.
class ScratchSetting {
public:
  explicit ScratchSetting(const SettingInfo &setting);
  ~ScratchSetting();
  ScratchSetting(const ScratchSetting &) = delete;
  ScratchSetting &operator=(const ScratchSetting &) = delete;
};

/// A record HFTA_SCHEDULE; Settings.def describes the members.
struct ScheduleInfo {
  llvm::StringLiteral name;
  uint32_t code; ///< a value of hfta_number_schedule_kind
  llvm::StringLiteral factor;
  llvm::SmallVector<ParameterInfo, 3> parameters;
};

/// Returns the runtime's code of a file format, HFTA_DATA_NONE for "", or
/// nothing if there is no such format.
std::optional<uint32_t> getDataFormatCode(llvm::StringRef name);
/// Returns the names of the formats that data files may have.
llvm::ArrayRef<llvm::StringRef> getDataFormatNames();

/// Returns the element type of this name, such as "f32", or null.
Type getNamedType(MLIRContext *context, llvm::StringRef name);
/// Returns the float type of this name, or null if it isn't one.
FloatType getFloatType(MLIRContext *context, llvm::StringRef name);
/// Returns the names of all element types. A name's index is its number in the
/// enum hfta_element_type.
llvm::ArrayRef<llvm::StringRef> getElementTypeNames();
/// Returns the names of float types that have at least `bits` bits.
llvm::ArrayRef<llvm::StringRef> getFloatTypeNames(unsigned bits = 16);
/// Returns the values of the clause `precision`: types in which a whole job may
/// be computed, then those to which only the operands of products are rounded.
llvm::ArrayRef<llvm::StringRef> getPrecisionNames();
/// Returns the names of types that operands of products may be rounded to
/// before they are multiplied.
llvm::ArrayRef<llvm::StringRef> getFactorTypeNames();
/// Returns the type of a name in getFactorTypeNames(). No values are stored in
/// the type tf32.
FloatType getFactorType(MLIRContext *context, llvm::StringRef name);

llvm::ArrayRef<ScheduleInfo> getSchedules();
const ScheduleInfo *findSchedule(llvm::StringRef name);
/// Returns the prefix of a schedule's parameters in the clause `zip`:
/// "damping_" for "damping_schedule", and "" for "schedule".
llvm::StringRef getSchedulePrefix(const SettingInfo &setting);
/// Returns the member of `schedule` that holds the parameter of this name.
std::vector<double> &getScheduleParameter(Schedule &schedule,
                                          llvm::StringRef name);
/// Returns the prefix of the parameters of a part of a sequence whose own
/// prefix is `prefix`.
std::string getPartPrefix(llvm::StringRef prefix, size_t part);
/// Returns whether a schedule has a parameter of this name, which includes
/// `prefix` and those of the parts of sequences.
bool hasScheduleParameter(const Schedule &schedule, llvm::StringRef prefix,
                          llvm::StringRef name);
/// Returns the runtime's code of an entry of Schedule::options, or nothing if
/// there is no such option.
std::optional<uint32_t> getScheduleOptionCode(llvm::StringRef name);

/// A parameter of a sampler or rule of a search; Settings.def describes the
/// members.
struct SearchParameterInfo {
  SettingType type;
  llvm::StringLiteral name, byDefault;
  NumberRange range;
};

/// A record HFTA_SAMPLER or HFTA_RULE.
struct SearchKindInfo {
  llvm::StringLiteral name;
  uint32_t code; ///< a value of hfta_sampler_kind or hfta_rule_kind
  llvm::StringLiteral text;
  llvm::SmallVector<SearchParameterInfo, 5> parameters;
};

llvm::ArrayRef<SearchKindInfo> getSamplers();
llvm::ArrayRef<SearchKindInfo> getRules();

/// A pointer to the member of SearchSampler or SearchRule that holds a
/// parameter.
using SearchRef = std::variant<int64_t *, double *, std::vector<double> *>;
/// Returns the place of the parameter of this name.
SearchRef getParameter(SearchSampler &sampler, llvm::StringRef name);
SearchRef getParameter(SearchRule &rule, llvm::StringRef name);

/// A record HFTA_DISTRIBUTION.
struct DistributionInfo {
  llvm::StringLiteral name, usage, text;
};
llvm::ArrayRef<DistributionInfo> getDistributions();

/// Returns the numeric parameters of the preconditioner kfac, which have one
/// value per copy.
llvm::ArrayRef<ParameterInfo> getKfacParameters();

/// Returns the record with this name in a table, or null.
template <typename Table>
auto findByName(const Table &table, llvm::StringRef name)
    -> decltype(&*table.begin()) {
  for (const auto &record : table)
    if (record.name == name)
      return &record;
  return nullptr;
}

template <typename Table>
llvm::SmallVector<llvm::StringRef> getRecordNames(const Table &table) {
  llvm::SmallVector<llvm::StringRef> names;
  for (const auto &record : table)
    names.push_back(record.name);
  return names;
}

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_JOB_SETTINGS_H
