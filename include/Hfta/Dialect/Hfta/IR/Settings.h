//===- Settings.h - What can be said in a job -------------------*- C++ -*-===//
//
// The records of Settings.def as tables. The parser takes its keywords from
// them, the analyzer ranges and defaults, the command line flags and help, the
// manual its tables, `Job` what it writes and reads, and the program what
// `info --json` shows.
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

/// A number as a user would write it: a whole one without an exponent, others
/// with as few digits as tell them from each other.
std::string printNumber(double value);

/// The numbers that a setting may have.
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

  /// `whole`: whether the number was written as a whole one.
  bool contains(double value, bool whole) const;
  /// "a whole number of at least 1": for messages.
  std::string describe() const;
};

/// An argument of an optimizer or schedule.
struct ParameterInfo {
  enum class Kind {
    number,   ///< one a copy, `initial` if not given
    required, ///< one a copy, must be given
    optional, ///< one a copy if given; else there is none
    flag      ///< true or false, one for all copies; false if not given
  };

  llvm::StringLiteral name;
  NumberRange range;
  std::optional<double> initial;
  Kind kind = Kind::number;
  /// A flag's: the parameter that must be given with it; empty: none.
  llvm::StringLiteral needs = "";
};

/// "name = 0.1" as the manual shows it.
std::string describeUsage(const ParameterInfo &parameter);

namespace setting_traits {
enum ClauseTraits : unsigned {
  None = 0,
  Required = 1u << 0,        ///< an argument that must be given
  Repeatable = 1u << 1,      ///< a block may hold several
  OfModel = 1u << 2,         ///< may also follow `onnx(...)`
  WithoutTraining = 1u << 3, ///< the flag says nothing about training
  Unlisted = 1u << 4,        ///< `info --json` tells it in another way
  Auto = 1u << 5,            ///< may be `auto`, which is Job::kAuto
  Call = 1u << 6             ///< arguments stand in parentheses behind a name
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

/// Where a job holds a setting.
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
  /// A Word's words. One that names a file stands as file("NAME"), one with a
  /// number as part(F).
  llvm::SmallVector<llvm::StringRef> getWords() const;
  /// Whether a Word may be this.
  bool takes(llvm::StringRef text) const;
  /// Whether a Word may be this with a number behind it, in parentheses.
  bool takesNumber(llvm::StringRef word) const;
  /// The same with the name of a file or folder.
  bool takesName(llvm::StringRef word) const;
  /// Whether each copy has a value of its own.
  bool isSwept() const {
    return type == SettingType::Numbers || type == SettingType::WholeNumbers;
  }
};

/// A clause that isn't made from a setting's record alone.
struct ClauseInfo {
  llvm::StringLiteral name, usage, text, byDefault, example, flag, help;
  unsigned traits;
};

/// What a table holds of one keyword or flag, whichever kind of record it is
/// from.
struct KeywordInfo {
  llvm::StringRef name;
  llvm::StringRef flag, help;
  unsigned traits;
  const SettingInfo *setting; ///< null: a clause
  const ClauseInfo *clause;   ///< null: a setting
};

/// All records in the order of Settings.def.
llvm::ArrayRef<KeywordInfo> getKeywords();
/// Null if there is none.
const SettingInfo *findSetting(llvm::StringRef name);
const ClauseInfo *findClause(llvm::StringRef name);
/// The settings that are arguments of a clause, the one of its own name first.
llvm::SmallVector<const SettingInfo *> getSettingsOf(llvm::StringRef clause);
/// Settings of all clauses.
llvm::SmallVector<const SettingInfo *> getSettings();

/// Names of clauses that have all these traits.
llvm::SmallVector<llvm::StringRef> getClauseNames(unsigned traits = 0);

/// One more setting while it lives: for tests of what follows from a record.
/// Made before anything reads the tables, by one thread alone.
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

/// The runtime's number of a data source's format ("" is none); nothing if
/// there is no such format.
std::optional<uint32_t> getDataFormatCode(llvm::StringRef name);
/// Names of the formats that files have.
llvm::ArrayRef<llvm::StringRef> getDataFormatNames();

/// The element type of this name; null if there is none.
Type getNamedType(MLIRContext *context, llvm::StringRef name);
/// The same for floats alone.
FloatType getFloatType(MLIRContext *context, llvm::StringRef name);
/// Names of element types, in the order of hfta_element_type.
llvm::ArrayRef<llvm::StringRef> getElementTypeNames();
/// Those of floats that have at least so many bits.
llvm::ArrayRef<llvm::StringRef> getFloatTypeNames(unsigned bits = 16);
/// What a job may be computed in, all at once, and what products may multiply.
llvm::ArrayRef<llvm::StringRef> getPrecisionNames();
/// What operands of products may be rounded to before they are multiplied.
llvm::ArrayRef<llvm::StringRef> getFactorTypeNames();
/// One of these; tf32 is a type of values, of which none are stored.
FloatType getFactorType(MLIRContext *context, llvm::StringRef name);

llvm::ArrayRef<ScheduleInfo> getSchedules();
const ScheduleInfo *findSchedule(llvm::StringRef name);
/// What stands before a schedule's parameters where lists are paired:
/// "damping_" of "damping_schedule", nothing of "schedule".
llvm::StringRef getSchedulePrefix(const SettingInfo &setting);
/// Where a schedule holds the parameter of this name.
std::vector<double> &getScheduleParameter(Schedule &schedule,
                                          llvm::StringRef name);

/// Numbers of the preconditioner kfac, of which each copy has its own.
llvm::ArrayRef<ParameterInfo> getKfacParameters();

/// The records of a table by name; null if there is none.
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
