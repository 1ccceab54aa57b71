//===- UniqueFile.cpp - Creates files with unique names -------------------===//

#include "Hfta/Support/UniqueFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"

using namespace mlir;
using namespace mlir::hfta;

/// The most names that are tried. A name has eight random digits, so if all of
/// them exist already, the file system must be at fault.
static constexpr int kTries = 128;

llvm::ErrorOr<std::string> hfta::createUniqueFile(const llvm::Twine &begin,
                                                  const llvm::Twine &end,
                                                  unsigned mode) {
  std::error_code code;
  for (int i = 0; i < kTries; ++i) {
    std::string digits = llvm::utohexstr(llvm::sys::Process::GetRandomNumber(),
                                         /*LowerCase=*/true, /*Width=*/8);
    std::string path = (begin + digits + end).str();
    int descriptor = -1;
    code = llvm::sys::fs::openFileForWrite(path, descriptor,
                                           llvm::sys::fs::CD_CreateNew,
                                           llvm::sys::fs::OF_None, mode);
    if (code == std::errc::file_exists)
      continue;
    if (code)
      return code;
    llvm::sys::fs::file_t file =
        llvm::sys::fs::convertFDToNativeFile(descriptor);
    (void)llvm::sys::fs::closeFile(file);
    return path;
  }
  return code;
}
