//===- Output.h - Files that appear whole or not at all ---------*- C++ -*-===//

#ifndef HFTA_SUPPORT_OUTPUT_H
#define HFTA_SUPPORT_OUTPUT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mlir::hfta {

/// Returns whether the path exists and is neither a regular file nor a folder,
/// but for example a pipe or a device. Such a file must not be replaced.
bool isSpecialFile(llvm::StringRef path);

/// A temporary file in the folder of its destination. `keep` renames it to the
/// destination, so that a reader never sees a partial file. If `keep` isn't
/// called, the destructor removes the file, and so does a signal that ends the
/// process.
class OutputFile {
public:
  /// Creates the file. `executable` says whether it gets permission to be
  /// executed. Fails if the destination is a folder or special file.
  static llvm::Expected<OutputFile> create(llvm::StringRef destination,
                                           bool executable = false);
  OutputFile(OutputFile &&other);
  OutputFile &operator=(OutputFile &&) = delete;
  ~OutputFile();

  /// Returns the path of the temporary file, for tools that write the contents.
  llvm::StringRef getTemporaryPath() const { return temporary; }
  llvm::Error write(llvm::StringRef contents);
  /// Replaces the destination by the temporary file.
  llvm::Error keep();

private:
  OutputFile() = default;

  std::string destination;
  std::string temporary;
};

/// Writes a file completely or not at all, by an OutputFile. "-" means standard
/// output. Special files, such as pipes and devices, are written to directly.
llvm::Error writeOutput(llvm::StringRef destination, llvm::StringRef contents);

} // namespace mlir::hfta

#endif // HFTA_SUPPORT_OUTPUT_H
