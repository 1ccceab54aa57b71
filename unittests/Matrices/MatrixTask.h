//===- MatrixTask.h - An op on matrices as a compiled program ---*- C++ -*-===//

#ifndef HFTA_UNITTESTS_MATRICES_MATRIXTASK_H
#define HFTA_UNITTESTS_MATRICES_MATRIXTASK_H

#include "JitProgram.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace mlir::hfta {

/// A program of one op whose operands and results are variables.
class MatrixTask {
public:
  /// A variable; its type is its shape and element type, e.g. "2x36xf64".
  struct Variable {
    std::string name, type;
    bool isArrayed = true;
  };

  /// Compiles a program of `op`, e.g. "spd_inverse". Null, with diagnostics, if
  /// it doesn't compile.
  static std::unique_ptr<MatrixTask>
  compile(const std::string &op, const std::vector<Variable> &operands,
          const std::vector<Variable> &results, int64_t copies,
          int threads = 2);
  ~MatrixTask();

  void run();
  /// Returns one copy's elements.
  template <typename T>
  T *at(const std::string &name, int64_t copy) {
    return static_cast<T *>(getMemory(name, copy));
  }
  /// Returns a variable's size for one copy, as the program's table states it.
  uint64_t getBytes(const std::string &name);

private:
  MatrixTask();
  void *getMemory(const std::string &name, int64_t copy);

  std::unique_ptr<JitProgram> program;
};

/// Returns numbers in [-1, 1) that follow from `seed`.
std::vector<double> makeNumbers(int64_t count, uint64_t seed);
/// Returns a packed positive definite matrix with eigenvalues in about [0.01,
/// n].
std::vector<double> makePacked(int64_t rows, uint64_t seed);
/// Returns a packed matrix' element, from either triangle.
double getPacked(const std::vector<double> &packed, int64_t row,
                 int64_t column);

} // namespace mlir::hfta

#endif // HFTA_UNITTESTS_MATRICES_MATRIXTASK_H
