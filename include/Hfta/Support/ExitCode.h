//===- ExitCode.h - Exit codes of hftac -------------------------*- C++ -*-===//

#ifndef HFTA_SUPPORT_EXITCODE_H
#define HFTA_SUPPORT_EXITCODE_H

#include "llvm/ADT/StringRef.h"

namespace mlir::hfta {

/// The table of exit codes: X(name, value, text). The enum and the texts of
/// --help are made from it.
#define HFTA_EXIT_CODES(X)                                                     \
  X(done, 0, "done")                                                           \
  X(input, 1, "the input is wrong")                                            \
  X(usage, 2, "wrong usage")                                                   \
  X(unsupported, 3,                                                            \
    "something unsupported, or more memory needed than allowed")               \
  X(cannotWrite, 4, "cannot write or link the output")                         \
  X(internal, 70, "internal error")

enum class ExitCode : int {
#define HFTA_EXIT_CODE_ENUMERATOR(name, value, text) name = (value),
  HFTA_EXIT_CODES(HFTA_EXIT_CODE_ENUMERATOR)
#undef HFTA_EXIT_CODE_ENUMERATOR
};

/// The note that follows every message about an internal error.
inline constexpr llvm::StringLiteral kBugReport =
    "hftac: note: this is a bug in Hfta; please report it with the input and "
    "the command line";

} // namespace mlir::hfta

#endif // HFTA_SUPPORT_EXITCODE_H
