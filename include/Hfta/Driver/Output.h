//===- Output.h - Files that appear whole or not at all ---------*- C++ -*-===//

#ifndef HFTA_DRIVER_OUTPUT_H
#define HFTA_DRIVER_OUTPUT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mlir::hfta {

/// Whether the path is a pipe or a device, which must not be replaced by
/// another file.
bool isSpecialFile(llvm::StringRef path);

/// A temporary file next to its destination, which `keep` replaces. Without
/// `keep` the file is removed, also when a signal ends the process.
class OutputFile {
public:
  /// Creates the file; `executable` says whether it may be run.
  static llvm::Expected<OutputFile> create(llvm::StringRef destination,
                                           bool executable = false);
  OutputFile(OutputFile &&other);
  OutputFile &operator=(OutputFile &&) = delete;
  ~OutputFile();

  /// Returns the path to which the contents are to be written.
  llvm::StringRef getTemporaryPath() const { return temporary; }
  llvm::Error write(llvm::StringRef contents);
  llvm::Error keep();

private:
  OutputFile() = default;

  std::string destination;
  std::string temporary;
};

/// Writes a file completely or not at all; "-" is standard output. A
/// destination that isn't a regular file (a pipe, a device) is written to
/// directly.
llvm::Error writeOutput(llvm::StringRef destination, llvm::StringRef contents);

} // namespace mlir::hfta

#endif // HFTA_DRIVER_OUTPUT_H
