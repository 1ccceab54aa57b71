//===- SearchReport.h - What a job's search will do -------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_PLAN_SEARCHREPORT_H
#define HFTA_LIB_DRIVER_PLAN_SEARCHREPORT_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::hfta {

/// Writes a line about the sizes of the job's search to `os`, with `label` in
/// front. Writes nothing for a job without a search. The module is planned.
/// Fails, with an error at the module, if the search isn't valid.
LogicalResult reportSearch(ModuleOp module, llvm::StringRef label,
                           llvm::raw_ostream &os);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_PLAN_SEARCHREPORT_H
