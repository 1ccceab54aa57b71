//===- Sweep.h - Lists of values and the copies they make -------*- C++ -*-===//

#ifndef HFTA_LANGUAGE_SWEEP_H
#define HFTA_LANGUAGE_SWEEP_H

#include "Hfta/Language/Diagnostics.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::hfta {

/// A number in a job file. A whole number also keeps its exact value.
struct Number {
  double value = 0;
  std::optional<int64_t> integer;

  static Number of(double value) { return {value, std::nullopt}; }
  static Number of(int64_t value) {
    return {static_cast<double>(value), value};
  }
};

/// The position of a list in the job. Lists form a cross product in ascending
/// order of their positions.
struct SweepPosition {
  unsigned clause = 0;
  const char *text = nullptr;
  bool operator<(const SweepPosition &other) const {
    return clause != other.clause ? clause < other.clause : text < other.text;
  }
};

/// The settings that may differ between copies. Copies form an array in which
/// every list is an axis; the last axis varies fastest. Paired lists share an
/// axis.
class Sweep {
public:
  struct Setting {
    std::string name;
    std::vector<Number> values;
    bool isList = false;
    llvm::SMRange range;
    SweepPosition position;
    const void *group = nullptr; ///< settings of a group are paired
    int64_t stride = 0;          ///< consecutive copies with the same element
  };

  /// Adds a setting with one value for all copies.
  void addValue(llvm::StringRef name, Number value);
  /// Adds a setting with a list of values. Lists with the same `group`, if it
  /// isn't null, are paired.
  void addList(llvm::StringRef name, std::vector<Number> values,
               llvm::SMRange range, SweepPosition position,
               const void *group = nullptr);
  bool contains(llvm::StringRef name) const { return find(name) != nullptr; }
  /// Returns the settings with lists in the order of their axes, which is that
  /// of their positions. Pointers are valid until a setting is added.
  std::vector<const Setting *> getLists() const;
  llvm::ArrayRef<Setting> getSettings() const { return settings; }
  /// Returns the names of all settings with a list.
  std::vector<llvm::StringRef> getListNames() const;

  /// Pairs the lists of these settings. If one of them has no list, reports an
  /// error and returns false.
  bool pair(llvm::ArrayRef<std::pair<llvm::StringRef, llvm::SMRange>> names,
            JobDiagnostics &diagnostics);

  /// Checks that paired lists are equally long. If not, reports an error and
  /// returns false.
  bool checkPairs(JobDiagnostics &diagnostics) const;
  /// Gives a setting a value for each copy, in place of its value or list.
  void assign(llvm::StringRef name, std::vector<Number> values);

  /// Computes each list's stride, and so the number of copies. If paired lists
  /// have different lengths, or there are too many copies, reports an error and
  /// returns false.
  bool cross(JobDiagnostics &diagnostics);
  /// Returns the product of the axes' lengths; valid after `cross`.
  int64_t getCopies() const { return copies; }
  /// Sets the number of copies of a sweep without lists: all are equal.
  void repeat(int64_t count) { copies = count; }
  /// Returns the value of a setting for each copy. Valid after `cross`.
  std::vector<Number> get(llvm::StringRef name) const;
  std::vector<double> getValues(llvm::StringRef name) const;

private:
  const Setting *find(llvm::StringRef name) const;
  static const Setting *findAxis(llvm::ArrayRef<const Setting *> lists,
                                 const Setting &list);

  std::vector<Setting> settings;
  int64_t copies = 1;
};

} // namespace mlir::hfta

#endif // HFTA_LANGUAGE_SWEEP_H
