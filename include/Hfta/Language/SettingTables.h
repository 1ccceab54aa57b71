//===- SettingTables.h - Tables of the settings of a job --------*- C++ -*-===//

#ifndef HFTA_LANGUAGE_SETTINGTABLES_H
#define HFTA_LANGUAGE_SETTINGTABLES_H

#include "mlir/Support/LLVM.h"

namespace mlir::hfta {

/// Prints, in Markdown, the tables of docs/language.md: clauses and their
/// arguments, element types, losses, optimizers, schedules and flags, each
/// under a heading with its name.
void printSettingTables(raw_ostream &os);

} // namespace mlir::hfta

#endif // HFTA_LANGUAGE_SETTINGTABLES_H
