//===- Columns.h - Which columns are inputs and which the label -*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_NEWJOB_COLUMNS_H
#define HFTA_LIB_DRIVER_NEWJOB_COLUMNS_H

#include "NewJob/Fields.h"

namespace mlir::hfta {

/// Adds fields from tables, at most one for each part: the columns for the
/// inputs `ports`, and a label if `needsLabel`. The label's columns are those
/// that are called so, or else the last ones, as many as the output has
/// numbers; but one if it can be a class number. See findFields for `outputs`
/// and `folder`.
llvm::Error addColumns(llvm::ArrayRef<DataTable> tables,
                       llvm::ArrayRef<const OnnxPort *> ports, bool needsLabel,
                       int64_t outputs, llvm::StringRef folder,
                       NewFields &fields);

/// Returns whether a field or column of this name is probably the label.
bool isLabelName(llvm::StringRef name);

/// Returns the path as the job file in `folder` writes it, in quotes.
std::string quotePath(llvm::StringRef path, llvm::StringRef folder);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_NEWJOB_COLUMNS_H
