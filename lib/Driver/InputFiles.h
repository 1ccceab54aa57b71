//===- InputFiles.h - What a compilation reads ------------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_INPUTFILES_H
#define HFTA_LIB_DRIVER_INPUTFILES_H

#include "Input.h"

namespace mlir::hfta {

/// The file among a compilation's inputs that `output` is, perhaps under
/// another name, or nothing. Inputs are the files of the command line, the
/// models that the module was imported from with the external data beside them,
/// and the data, the plan and the order that its job names.
std::optional<std::string> findReplacedInput(llvm::StringRef output,
                                             const DriverOptions &options,
                                             const LoadedModule &loaded);

/// Where relative names of data files are looked up.
std::string getDataFolder(const DriverOptions &options);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_INPUTFILES_H
