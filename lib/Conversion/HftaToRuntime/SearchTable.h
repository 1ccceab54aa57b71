//===- SearchTable.h - Validation and search of a program -------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_HFTATORUNTIME_SEARCHTABLE_H
#define HFTA_LIB_CONVERSION_HFTATORUNTIME_SEARCHTABLE_H

#include "ConstantTables.h"

#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "hfta/search.h"

namespace mlir::hfta {

StructRecord<hfta_validation> makeValidationRecord(const Job &job);

/// Creates the table of the job's search, and returns null if it has none.
FlatSymbolRefAttr buildSearch(const Job &job, ConstantTables &tables);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_HFTATORUNTIME_SEARCHTABLE_H
