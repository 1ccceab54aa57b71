//===- InputFiles.h - The files that a compilation reads --------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_INPUT_INPUTFILES_H
#define HFTA_LIB_DRIVER_INPUT_INPUTFILES_H

#include "Input/Input.h"

namespace mlir::hfta {

/// Returns the input of the compilation that writing `output` would overwrite,
/// also if its path differs (a link, for example); nothing if there is none.
/// The inputs are the files of the command line, the models that the module was
/// imported from with their external data, and the data, plan and order files
/// that the job names.
std::optional<std::string> findReplacedInput(llvm::StringRef output,
                                             const DriverOptions &options,
                                             const LoadedModule &loaded);

/// Returns the folder to which relative paths of data files refer.
std::string getDataFolder(const DriverOptions &options);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_INPUT_INPUTFILES_H
