//===- Settings.h - The settings of a job -----------------------*- C++ -*-===//
//
// The records of Settings.def as tables. They are the source of the parser's
// keywords, the analyzer's ranges and defaults, the command line's flags and
// help, the manual's tables, the dictionary that `Job` writes and reads, and
// the output of `info --json`.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_IR_SETTINGS_H
#define HFTA_DIALECT_HFTA_IR_SETTINGS_H

#include "Hfta/Dialect/Hfta/IR/Job.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <limits>
#include <optional>
#include <string>
#include <variant>

namespace mlir::hfta {

/// Prints a number as a user would write it: a whole one without an exponent,
/// others with the fewest digits that identify them.
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

  /// Whether the range has the number; `whole`: it was written as a whole
  /// number.
  bool contains(double value, bool whole) const;
  /// Describes the range for messages: "a whole number of at least 1".
  std::string describe() const;
};

/// An argument of an optimizer or schedule.
struct ParameterInfo {
  enum class Kind {
    number,   ///< one per copy, `initial` if not given
    required, ///< one per copy, must be given
    optional, ///< one per copy if given; there is none otherwise
    flag      ///< true or false, one for all copies; false if not given
  };

  llvm::StringLiteral name;
  NumberRange range;
  std::optional<double> initial;
  Kind kind = Kind::number;
  /// For a flag: the parameter that must be given with it; empty: none.
  llvm::StringLiteral needs = "";
};

/// Describes the parameter as the manual shows it: "name = 0.1".
std::string describeUsage(const ParameterInfo &parameter);

namespace setting_traits {
enum ClauseTraits : unsigned {
  None = 0,
  Required = 1u << 0,        ///< an argument that must be given
  Repeatable = 1u << 1,      ///< a block may hold several
  OfModel = 1u << 2,         ///< may also follow `onnx(...)`
  WithoutTraining = 1u << 3, ///< the flag says nothing about training
  Unlisted = 1u << 4,        ///< `info --json` reports it in another form
  Auto = 1u << 5,            ///< may be `auto`, which is Job::kAuto
  Call = 1u << 6             ///< arguments stand in parentheses after a name
};
} // namespace setting_traits

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
                 std::vector<std::string> *,
                 std::vector<std::vector<std::string>> *, Schedule *>;

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
  /// Returns the words that a Word may be. One that names a file is returned as
  /// file("NAME"), one with a number as part(F).
  llvm::SmallVector<llvm::StringRef> getWords() const;
  /// Whether a Word may have this value.
  bool takes(llvm::StringRef text) const;
  /// Whether a Word may be this followed by a number in parentheses.
  bool takesNumber(llvm::StringRef word) const;
  /// Whether a Word may be this followed by the name of a file or folder in
  /// parentheses.
  bool takesName(llvm::StringRef word) const;
  /// Whether each copy has a value of its own.
  bool isSwept() const {
    return type == SettingType::Numbers || type == SettingType::WholeNumbers;
  }
};

/// A clause that isn't derived from one setting's record.
struct ClauseInfo {
  llvm::StringLiteral name, usage, text, byDefault, example, flag, help;
  unsigned traits;
};

/// The table entry of one keyword or flag, for either kind of record.
struct KeywordInfo {
  llvm::StringRef name;
  llvm::StringRef flag, help;
  unsigned traits;
  const SettingInfo *setting; ///< null: a clause
  const ClauseInfo *clause;   ///< null: a setting
};

/// Returns all records in the order of Settings.def.
llvm::ArrayRef<KeywordInfo> getKeywords();
/// Finds a setting by its name; null if there is none.
const SettingInfo *findSetting(llvm::StringRef name);
const ClauseInfo *findClause(llvm::StringRef name);
/// Returns the settings that are arguments of a clause, first the one with the
/// clause's name.
llvm::SmallVector<const SettingInfo *> getSettingsOf(llvm::StringRef clause);
/// Returns the settings of all clauses.
llvm::SmallVector<const SettingInfo *> getSettings();

/// Returns the names of clauses that have all these traits.
llvm::SmallVector<llvm::StringRef> getClauseNames(unsigned traits = 0);

/// Adds one more setting while it lives, to test what is derived from a record.
/// It must be made before anything reads the tables, by a single thread.
class ScratchSetting {
public:
  explicit ScratchSetting(const SettingInfo &setting);
  ~ScratchSetting();
  ScratchSetting(const ScratchSetting &) = delete;
  ScratchSetting &operator=(const ScratchSetting &) = delete;
};

struct ScheduleInfo {
  llvm::StringLiteral name;
  uint32_t code; ///< hfta_learning_rate_kind
  llvm::StringLiteral rate;
  llvm::SmallVector<ParameterInfo, 3> parameters;
};

/// Returns the runtime's code of a data source's format ("" is none); nothing
/// if there is no such format.
std::optional<uint32_t> getDataFormatCode(llvm::StringRef name);
/// Returns the names of the formats that files may have.
llvm::ArrayRef<llvm::StringRef> getDataFormatNames();

/// Returns the element type of this name; null if there is none.
Type getNamedType(MLIRContext *context, llvm::StringRef name);
/// Returns the float type of this name; null if there is none.
FloatType getFloatType(MLIRContext *context, llvm::StringRef name);
/// Returns the names of element types, in the order of hfta_element_type.
llvm::ArrayRef<llvm::StringRef> getElementTypeNames();
/// Returns the names of float types that have at least `bits` bits.
llvm::ArrayRef<llvm::StringRef> getFloatTypeNames(unsigned bits = 16);
/// Returns the names of types that a whole job may be computed in, and of those
/// that products alone may be multiplied in.
llvm::ArrayRef<llvm::StringRef> getPrecisionNames();
/// Returns the names of types that operands of products may be rounded to
/// before they are multiplied.
llvm::ArrayRef<llvm::StringRef> getFactorTypeNames();
/// Returns the type of such a name. Values may be rounded to tf32, but none are
/// stored in it.
FloatType getFactorType(MLIRContext *context, llvm::StringRef name);

llvm::ArrayRef<ScheduleInfo> getSchedules();
const ScheduleInfo *findSchedule(llvm::StringRef name);
/// Returns the prefix of a schedule's parameters where lists are paired:
/// "damping_" for "damping_schedule", nothing for "schedule".
llvm::StringRef getSchedulePrefix(const SettingInfo &setting);
/// Returns the member of a schedule that holds the parameter of this name.
std::vector<double> &getScheduleParameter(Schedule &schedule,
                                          llvm::StringRef name);

/// Returns the numeric parameters of the preconditioner kfac, which have one
/// value per copy.
llvm::ArrayRef<ParameterInfo> getKfacParameters();

/// Finds a record of a table by its name; null if there is none.
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

#endif // HFTA_DIALECT_HFTA_IR_SETTINGS_H
