//===- MatrixTask.h - An op on matrices as a compiled program ---*- C++ -*-===//

#ifndef HFTA_UNITTESTS_MATRICES_MATRIXTASK_H
#define HFTA_UNITTESTS_MATRICES_MATRIXTASK_H

#include "JitProgram.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace mlir::hfta {

/// A compiled program that runs one op. The op's operands and results are
/// variables of the program.
class MatrixTask {
public:
  /// A variable of the program. `type` is one copy's shape and element type,
  /// such as "2x36xf64".
  struct Variable {
    std::string name, type;
    bool isArrayed = true;
  };

  /// Compiles a program for the op named `op`, such as "spd_inverse", with
  /// `attributes` in braces, and this number of copies. Emits diagnostics and
  /// returns null if it doesn't compile.
  static std::unique_ptr<MatrixTask>
  compile(const std::string &op, const std::vector<Variable> &operands,
          const std::vector<Variable> &results, int64_t copies, int threads = 2,
          const std::string &attributes = "");
  ~MatrixTask();

  void run();
  /// Returns a pointer to one copy's elements of a variable, which the program
  /// owns.
  template <typename T>
  T *at(const std::string &name, int64_t copy) {
    return static_cast<T *>(getMemory(name, copy));
  }
  /// Returns the size in bytes of one copy's value of a variable, as the
  /// program's table states it.
  uint64_t getBytes(const std::string &name);

private:
  MatrixTask();
  void *getMemory(const std::string &name, int64_t copy);

  std::unique_ptr<JitProgram> program;
};

/// Returns pseudo-random numbers in [-1, 1). Equal seeds give equal numbers.
std::vector<double> makeNumbers(int64_t count, uint64_t seed);
/// Returns a random positive definite matrix as its packed lower triangle, row
/// by row. Its eigenvalues lie between 0.01 and about `rows`.
std::vector<double> makePacked(int64_t rows, uint64_t seed);
/// Returns an element of a packed symmetric matrix. `row` may be less than
/// `column`.
double getPacked(const std::vector<double> &packed, int64_t row,
                 int64_t column);

} // namespace mlir::hfta

#endif // HFTA_UNITTESTS_MATRICES_MATRIXTASK_H
