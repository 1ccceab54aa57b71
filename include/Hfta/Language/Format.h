//===- Format.h - The layout of job files -----------------------*- C++ -*-===//

#ifndef HFTA_LANGUAGE_FORMAT_H
#define HFTA_LANGUAGE_FORMAT_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir::hfta {

/// Returns the text of a job file in the one layout that `hftac fmt` knows. It
/// keeps the author's lines, tokens and comments, and decides on the spaces
/// between them:
///
///  - Lines are indented by two spaces for each open brace, and by four more
///    within parentheses or brackets that an earlier line has opened. Clauses
///    of a model that is a file are indented by two.
///  - What follows the first word of a clause, or of `train`, `test` and
///    `validation` in a block of data, begins in one column for all of the
///    block, and so do lines that go on with it after a comma.
///  - Comments behind text begin in one column for lines that follow each
///    other.
///  - At most one empty line follows another line; none is at the beginning or
///    end of the file or of a block.
///
/// The text must have been parsed without an error. Formatting twice gives the
/// same text as formatting once.
std::string formatJobText(llvm::StringRef text);

} // namespace mlir::hfta

#endif // HFTA_LANGUAGE_FORMAT_H
