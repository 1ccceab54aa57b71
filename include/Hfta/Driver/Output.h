//===- Output.h - Files that appear whole or not at all ---------*- C++ -*-===//

#ifndef HFTA_DRIVER_OUTPUT_H
#define HFTA_DRIVER_OUTPUT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mlir::hfta {

/// A file that must not be replaced by another one: a pipe, a device.
bool isSpecialFile(llvm::StringRef path);

/// A temporary file beside its destination, which `keep` replaces. Without
/// `keep` it is removed, also when a signal ends the process.
class OutputFile {
public:
  /// `executable`: whether it may be run.
  static llvm::Expected<OutputFile> create(llvm::StringRef destination,
                                           bool executable = false);
  OutputFile(OutputFile &&other);
  OutputFile &operator=(OutputFile &&) = delete;
  ~OutputFile();

  /// Where the contents are to be written.
  llvm::StringRef getTemporaryPath() const { return temporary; }
  llvm::Error write(llvm::StringRef contents);
  llvm::Error keep();

private:
  OutputFile() = default;

  std::string destination;
  std::string temporary;
};

/// Writes a file whole or not at all; "-" is the standard output, and what is
/// no regular file (a pipe, a device) is written to directly.
llvm::Error writeOutput(llvm::StringRef destination, llvm::StringRef contents);

} // namespace mlir::hfta

#endif // HFTA_DRIVER_OUTPUT_H
