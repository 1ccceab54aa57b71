//===- TemporaryFile.cpp - Files for other programs -----------------------===//

#include "Hfta/Support/TemporaryFile.h"
#include "Hfta/Support/UniqueFile.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <utility>

using namespace mlir;
using namespace mlir::hfta;

llvm::Expected<TemporaryFile> TemporaryFile::create(llvm::StringRef suffix) {
  llvm::SmallString<128> begin;
  llvm::sys::path::system_temp_directory(/*erasedOnReboot=*/true, begin);
  llvm::sys::path::append(begin, "hftac-");
  llvm::ErrorOr<std::string> path =
      createUniqueFile(begin, "." + suffix,
                       llvm::sys::fs::owner_read | llvm::sys::fs::owner_write);
  if (!path)
    return llvm::createStringError(path.getError(),
                                   "cannot create a temporary file: " +
                                       path.getError().message());
  llvm::sys::RemoveFileOnSignal(*path);
  return TemporaryFile(*path);
}

TemporaryFile::TemporaryFile(TemporaryFile &&other)
    : path(std::exchange(other.path, "")) {}

TemporaryFile::~TemporaryFile() {
  if (path.empty())
    return;
  (void)llvm::sys::fs::remove(path);
  llvm::sys::DontRemoveFileOnSignal(path);
}

llvm::Error TemporaryFile::write(llvm::StringRef text) const {
  std::error_code code;
  llvm::raw_fd_ostream os(path, code);
  if (!code) {
    os << text;
    os.close();
    code = os.error();
  }
  os.clear_error();
  return code ? llvm::createStringError(code, "cannot write '" + path +
                                                  "': " + code.message())
              : llvm::Error::success();
}

llvm::Expected<std::string> TemporaryFile::read() const {
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer =
      llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return llvm::createStringError(buffer.getError(),
                                   "cannot read '" + path + "'");
  return (*buffer)->getBuffer().str();
}
