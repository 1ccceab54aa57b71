//===- SettingTables.h - What a job may say, as tables ----------*- C++ -*-===//

#ifndef HFTA_LANGUAGE_SETTINGTABLES_H
#define HFTA_LANGUAGE_SETTINGTABLES_H

#include "mlir/Support/LLVM.h"

namespace mlir::hfta {

/// Tables in Markdown of clauses, losses, optimizers, schedules and flags, each
/// under a heading of its name. docs/language.md holds the same.
void printSettingTables(raw_ostream &os);

} // namespace mlir::hfta

#endif // HFTA_LANGUAGE_SETTINGTABLES_H
