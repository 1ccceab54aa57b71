//===- TemporaryFile.h - Files for other programs ---------------*- C++ -*-===//

#ifndef HFTA_SUPPORT_TEMPORARYFILE_H
#define HFTA_SUPPORT_TEMPORARYFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mlir::hfta {

/// A file in the system's folder for temporary files. The destructor removes
/// it, and so does a signal that ends the process.
class TemporaryFile {
public:
  /// Creates an empty file whose name ends with ".SUFFIX".
  static llvm::Expected<TemporaryFile> create(llvm::StringRef suffix);
  TemporaryFile(TemporaryFile &&other);
  TemporaryFile &operator=(TemporaryFile &&) = delete;
  ~TemporaryFile();

  llvm::StringRef getPath() const { return path; }
  llvm::Error write(llvm::StringRef text) const;
  llvm::Expected<std::string> read() const;

private:
  explicit TemporaryFile(llvm::StringRef path) : path(path) {}

  std::string path; ///< empty once the object is moved from
};

} // namespace mlir::hfta

#endif // HFTA_SUPPORT_TEMPORARYFILE_H
