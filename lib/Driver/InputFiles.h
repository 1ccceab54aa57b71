//===- InputFiles.h - The files that a compilation reads --------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_INPUTFILES_H
#define HFTA_LIB_DRIVER_INPUTFILES_H

#include "Input.h"

namespace mlir::hfta {

/// Returns the input of the compilation that `output` would replace, perhaps
/// under another name, if there is one. The inputs are the files of the command
/// line, the models that the module was imported from with their external data,
/// and the data, the plan and the order that the job names.
std::optional<std::string> findReplacedInput(llvm::StringRef output,
                                             const DriverOptions &options,
                                             const LoadedModule &loaded);

/// Returns the folder in which relative names of data files are looked up.
std::string getDataFolder(const DriverOptions &options);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_INPUTFILES_H
