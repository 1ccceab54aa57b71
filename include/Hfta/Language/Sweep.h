//===- Sweep.h - Lists of values and the copies they make -------*- C++ -*-===//

#ifndef HFTA_LANGUAGE_SWEEP_H
#define HFTA_LANGUAGE_SWEEP_H

#include "Hfta/Language/Diagnostics.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::hfta {

/// A number of a job file; whole numbers keep all their digits.
struct Number {
  double value = 0;
  std::optional<int64_t> integer;

  static Number of(double value) { return {value, std::nullopt}; }
  static Number of(int64_t value) {
    return {static_cast<double>(value), value};
  }
};

/// The position of a list: lists form their cross product in ascending order of
/// it.
struct SweepPosition {
  unsigned clause = 0;
  const char *text = nullptr;
  bool operator<(const SweepPosition &other) const {
    return clause != other.clause ? clause < other.clause : text < other.text;
  }
};

/// The settings that may differ between copies. Every list is an axis of the
/// array of copies; the last one varies fastest. Lists that are paired share
/// an axis.
class Sweep {
public:
  /// Adds a setting with one value for all copies.
  void addValue(llvm::StringRef name, Number value);
  /// Adds a setting with a list of values. Lists with the same `group` (not
  /// null) are paired.
  void addList(llvm::StringRef name, std::vector<Number> values,
               llvm::SMRange range, SweepPosition position,
               const void *group = nullptr);
  bool contains(llvm::StringRef name) const { return find(name) != nullptr; }
  /// Returns the names of all settings that have a list.
  std::vector<llvm::StringRef> getListNames() const;

  /// Pairs the lists of the settings. Returns false, after reporting it, if one
  /// of them has no list.
  bool pair(llvm::ArrayRef<std::pair<llvm::StringRef, llvm::SMRange>> names,
            JobDiagnostics &diagnostics);

  /// Numbers the copies. Returns false, after reporting it, if lists don't fit.
  bool cross(JobDiagnostics &diagnostics);
  /// Returns the product of the axes' lengths; valid after `cross`.
  int64_t getCopies() const { return copies; }
  /// Makes `count` equal copies of the only one.
  void repeat(int64_t count) { copies = count; }
  /// Returns one value per copy; valid after `cross`.
  std::vector<Number> get(llvm::StringRef name) const;
  std::vector<double> getValues(llvm::StringRef name) const;

private:
  struct Setting {
    std::string name;
    std::vector<Number> values;
    bool isList = false;
    llvm::SMRange range;
    SweepPosition position;
    const void *group = nullptr;
    int64_t stride = 0; ///< number of copies between steps along the axis
  };
  const Setting *find(llvm::StringRef name) const;

  std::vector<Setting> settings;
  int64_t copies = 1;
};

} // namespace mlir::hfta

#endif // HFTA_LANGUAGE_SWEEP_H
