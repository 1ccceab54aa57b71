//===- CodeCache.h - Objects of kernels compiled before ---------*- C++ -*-===//
//
// Most kernels of a job that is compiled again are those of the last time: a
// learning rate, another optimizer or one layer more leave the others as they
// are. Their objects are kept in a folder, by a hash of everything that they
// follow from. The cache never changes what hftac writes and never fails: what
// can't be read or written is compiled, as if it weren't there.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_DRIVER_CODECACHE_H
#define HFTA_LIB_DRIVER_CODECACHE_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace mlir::hfta {

/// Thread-safe: several threads, and several processes, may use one folder.
class CodeCache {
public:
  /// Opens the folder that HFTA_CACHE names, or else `hfta` in the user's cache
  /// folder. With HFTA_CACHE=none, or where there is no such folder and none
  /// can be made, nothing is ever found or kept.
  static CodeCache open();

  /// Returns the key of the object that this very hftac, with the libraries
  /// that it is linked with, makes of a kernel's code.
  std::string makeKey(llvm::StringRef code) const;
  /// Returns the object of this key. Nothing if it isn't there, or is damaged.
  std::optional<std::string> load(llvm::StringRef key) const;
  void store(llvm::StringRef key, llvm::StringRef object) const;
  /// Removes what wasn't used for long, and the oldest objects where there are
  /// more than half a gigabyte of them. Looks at most once an hour.
  void prune() const;

private:
  std::string getPath(llvm::StringRef key) const;

  std::string folder;   ///< empty: there is no cache
  std::string compiler; ///< identifies this hftac
};

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_CODECACHE_H
