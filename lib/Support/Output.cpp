//===- Output.cpp - Writes files atomically -------------------------------===//

#include "Hfta/Support/Output.h"
#include "Hfta/Support/UniqueFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::hfta;

static llvm::Error makeError(llvm::StringRef path, std::error_code code) {
  return llvm::createStringError(code, "cannot write '%s': %s",
                                 path.str().c_str(), code.message().c_str());
}

/// Writes to an open file and closes it. The error contains the system's
/// message.
static llvm::Error writeAndClose(int descriptor, llvm::StringRef path,
                                 llvm::StringRef contents) {
  llvm::raw_fd_ostream os(descriptor, /*shouldClose=*/true);
  os << contents;
  os.close();
  if (!os.has_error())
    return llvm::Error::success();
  std::error_code code = os.error();
  os.clear_error();
  return makeError(path, code);
}

bool hfta::isSpecialFile(llvm::StringRef path) {
  llvm::sys::fs::file_status status;
  return !llvm::sys::fs::status(path, status) &&
         status.type() != llvm::sys::fs::file_type::regular_file &&
         status.type() != llvm::sys::fs::file_type::directory_file;
}

//===----------------------------------------------------------------------===//
// OutputFile
//===----------------------------------------------------------------------===//

llvm::Expected<OutputFile> OutputFile::create(llvm::StringRef destination,
                                              bool executable) {
  if (llvm::sys::fs::is_directory(destination))
    return makeError(destination,
                     std::make_error_code(std::errc::is_a_directory));
  if (isSpecialFile(destination))
    return llvm::createStringError("cannot write '%s': expected a regular "
                                   "file, got a device, pipe or socket",
                                   destination.str().c_str());
  unsigned mode = llvm::sys::fs::all_read | llvm::sys::fs::all_write;
  if (executable)
    mode |= llvm::sys::fs::all_exe;
  llvm::ErrorOr<std::string> path =
      createUniqueFile(destination + ".tmp-", "", mode);
  if (!path)
    return makeError(destination, path.getError());
  OutputFile output;
  output.destination = destination.str();
  output.temporary = std::move(*path);
  llvm::sys::RemoveFileOnSignal(output.temporary);
  return std::move(output);
}

OutputFile::OutputFile(OutputFile &&other)
    : destination(std::move(other.destination)),
      temporary(std::move(other.temporary)) {
  other.temporary.clear();
}

OutputFile::~OutputFile() {
  if (temporary.empty())
    return;
  (void)llvm::sys::fs::remove(temporary);
  llvm::sys::DontRemoveFileOnSignal(temporary);
}

llvm::Error OutputFile::write(llvm::StringRef contents) {
  int descriptor = -1;
  if (std::error_code code = llvm::sys::fs::openFileForWrite(
          temporary, descriptor, llvm::sys::fs::CD_OpenExisting))
    return makeError(destination, code);
  return writeAndClose(descriptor, destination, contents);
}

llvm::Error OutputFile::keep() {
  if (std::error_code code = llvm::sys::fs::rename(temporary, destination))
    return makeError(destination, code);
  llvm::sys::DontRemoveFileOnSignal(temporary);
  temporary.clear();
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// writeOutput
//===----------------------------------------------------------------------===//

static llvm::Error writeToStandardOutput(llvm::StringRef contents) {
  llvm::raw_fd_ostream &os = llvm::outs();
  os << contents;
  os.flush();
  if (!os.has_error())
    return llvm::Error::success();
  std::error_code code = os.error();
  os.clear_error();
  return makeError("standard output", code);
}

llvm::Error hfta::writeOutput(llvm::StringRef destination,
                              llvm::StringRef contents) {
  if (destination == "-")
    return writeToStandardOutput(contents);
  if (isSpecialFile(destination)) {
    int descriptor = -1;
    if (std::error_code code = llvm::sys::fs::openFileForWrite(
            destination, descriptor, llvm::sys::fs::CD_OpenExisting))
      return makeError(destination, code);
    return writeAndClose(descriptor, destination, contents);
  }
  llvm::Expected<OutputFile> file = OutputFile::create(destination);
  if (!file)
    return file.takeError();
  if (llvm::Error error = file->write(contents))
    return error;
  return file->keep();
}
