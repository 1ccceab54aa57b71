//===- Files.cpp - Paths and files that users name ------------------------===//

#include "Hfta/Language/Files.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;

std::string hfta::getPathFrom(llvm::StringRef folder, llvm::StringRef path) {
  if (llvm::sys::path::is_absolute(path))
    return path.str();
  llvm::SmallString<128> full(folder);
  llvm::sys::path::append(full, path);
  return full.str().str();
}

llvm::StringRef hfta::guessDataFormat(llvm::StringRef path) {
  if (path.ends_with(".npy"))
    return "npy";
  if (path.ends_with(".csv"))
    return "csv";
  if (path.ends_with(".raw") || path.ends_with(".bin"))
    return "raw";
  llvm::StringRef name = llvm::sys::path::filename(path);
  if (name.ends_with(".idx") || name.ends_with(".idx.gz") ||
      name.contains("-idx") || name.contains("ubyte"))
    return "idx";
  return "";
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
hfta::openText(llvm::StringRef path) {
  auto fail = [&](const llvm::Twine &why) {
    return llvm::createStringError("cannot read '" + path + "': " + why);
  };
  // Pipes are allowed, since a user may pass one on the command line.
  llvm::sys::fs::file_status status;
  if (!llvm::sys::fs::status(path, status) &&
      !llvm::sys::fs::is_regular_file(status) &&
      status.type() != llvm::sys::fs::file_type::fifo_file)
    return fail("expected a regular file");
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> file =
      llvm::MemoryBuffer::getFile(path);
  if (!file)
    return fail(file.getError().message());
  return std::move(*file);
}
