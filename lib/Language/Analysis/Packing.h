//===- Packing.h - Searches over what programs hold constant ----*- C++ -*-===//
//
// A number that differs between copies of an array can vary in a search. What a
// program holds as a constant, such as the batch size, the size of a layer or
// the element type, can't: each of its values needs an array of its own. So a
// train block with choices of such values becomes several jobs, one for each
// combination of the choices. They have one search in common, whose trials go
// to the array that has their values.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_LANGUAGE_ANALYSIS_PACKING_H
#define HFTA_LIB_LANGUAGE_ANALYSIS_PACKING_H

#include "Analysis/JobAnalyzer.h"

namespace mlir::hfta::language {

/// The arrays of one train block.
class Packing {
public:
  /// Finds the choices of a train block. Errors in them go to the diagnostics.
  Packing(const ast::JobFile &file,
          const ast::Positioned<ast::TrainDeclaration> &train,
          JobDiagnostics &diagnostics);

  /// Returns the number of arrays; 1 for a block without such choices. The last
  /// choice varies fastest.
  int64_t getArrayCount() const;

  /// Returns a copy of the file in which each choice is replaced by its first
  /// value, if it has one, for a train block whose choices are wrong: it may
  /// have other errors.
  ast::JobFile takeFirst() const;

  /// Returns a copy of the file in which each choice is replaced by the value
  /// that it has in an array, and notes these values as what the job's search
  /// varies. The file has the train block at the same index as the original.
  ast::JobFile takeArray(int64_t array, JobInfo &info) const;

private:
  const ast::JobFile &file;
  std::string train;
  std::vector<SearchedRange> choices;
};

/// Returns a job's name with the choices of its array, if there are several:
/// "tune (batch = 64)".
std::string getTitle(const Job &job);

/// Checks that two arrays have the same search: what is chosen in one may vary
/// other settings.
void checkSameSearch(const JobInfo &first, const JobInfo &other,
                     JobDiagnostics &diagnostics);

} // namespace mlir::hfta::language

#endif // HFTA_LIB_LANGUAGE_ANALYSIS_PACKING_H
