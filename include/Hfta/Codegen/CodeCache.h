//===- CodeCache.h - Cache of compiled kernels ------------------*- C++ -*-===//
//
// A job that is compiled again, with another learning rate or optimizer or one
// more layer, has mostly the kernels of the last time. Their objects are kept
// in a folder, under a hash of everything that determines them. The cache never
// changes hftac's output, and its functions never fail: an object that can't be
// read is compiled again, and one that can't be written isn't kept.
//===----------------------------------------------------------------------===//

#ifndef HFTA_CODEGEN_CODECACHE_H
#define HFTA_CODEGEN_CODECACHE_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace mlir::hfta {

/// A folder of objects. Several threads and several processes may use one
/// folder at a time.
class CodeCache {
public:
  /// Opens the folder that the environment variable HFTA_CACHE names, or else
  /// `hfta` in the user's cache folder, and creates it if necessary. With
  /// HFTA_CACHE=none, or if the folder can't be created, the cache stays empty.
  static CodeCache open();

  /// Returns the key of a kernel with this code: a SHA-256, in hexadecimal, of
  /// `code` and of this hftac with its shared libraries.
  std::string makeKey(llvm::StringRef code) const;
  /// Returns the object with this key; nothing if there is none or its file is
  /// damaged.
  std::optional<std::string> load(llvm::StringRef key) const;
  void store(llvm::StringRef key, llvm::StringRef object) const;
  /// Removes objects that weren't used for 30 days, then the least recently
  /// used ones beyond 512 MiB. Does nothing if the folder was pruned within the
  /// last hour.
  void prune() const;

private:
  std::string getPath(llvm::StringRef key) const;

  std::string folder;   ///< empty if there is no cache
  std::string compiler; ///< identifies this hftac and its libraries
};

} // namespace mlir::hfta

#endif // HFTA_CODEGEN_CODECACHE_H
