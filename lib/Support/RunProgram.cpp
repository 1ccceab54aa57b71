//===- RunProgram.cpp - Runs other programs -------------------------------===//

#include "Hfta/Support/RunProgram.h"
#include "Hfta/Support/TemporaryFile.h"

#include "llvm/Support/Program.h"

using namespace mlir;
using namespace mlir::hfta;

llvm::Error hfta::runProgram(llvm::ArrayRef<llvm::StringRef> arguments,
                             llvm::StringRef work, llvm::StringRef output) {
  auto fail = [&](const llvm::Twine &reason) {
    return llvm::createStringError("cannot " + work + ": " + reason);
  };
  llvm::Expected<TemporaryFile> log = TemporaryFile::create("log");
  if (!log)
    return fail(llvm::toString(log.takeError()));
  std::string message;
  int status = llvm::sys::ExecuteAndWait(
      arguments.front(), arguments, /*Env=*/std::nullopt,
      {llvm::StringRef(), output.empty() ? log->getPath() : output,
       log->getPath()},
      /*SecondsToWait=*/0, /*MemoryLimit=*/0, &message);
  if (status == 0)
    return llvm::Error::success();
  if (llvm::Expected<std::string> text = log->read())
    message += llvm::StringRef(*text).rtrim();
  else
    llvm::consumeError(text.takeError());
  return fail("'" + arguments.front() + "' failed\n" + message);
}

llvm::Expected<std::string> hfta::findCompiler() {
  for (const char *name : {"clang-22", "clang", "cc", "gcc"})
    if (llvm::ErrorOr<std::string> path = llvm::sys::findProgramByName(name))
      return *path;
  return llvm::createStringError(
      "cannot link: no clang-22, clang, cc or gcc on the path");
}
