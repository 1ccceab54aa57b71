//===- SettingTables.h - What a job may say, as tables ----------*- C++ -*-===//

#ifndef HFTA_LANGUAGE_SETTINGTABLES_H
#define HFTA_LANGUAGE_SETTINGTABLES_H

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mlir::hfta {

/// Tables in Markdown of clauses, losses, optimizers, schedules and flags, each
/// under a heading of its name. docs/language.md holds the same.
void printSettingTables(llvm::raw_ostream &os);

} // namespace mlir::hfta

#endif // HFTA_LANGUAGE_SETTINGTABLES_H
