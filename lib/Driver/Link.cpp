//===- Link.cpp - Programs from an object ---------------------------------===//

#include "Hfta/Driver/Link.h"
#include "Hfta/Driver/Output.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// What is needed
//===----------------------------------------------------------------------===//

llvm::Expected<std::string> hfta::findRuntime() {
  static int anchor = 0;
  std::string program = llvm::sys::fs::getMainExecutable(nullptr, &anchor);
  llvm::SmallString<256> path(llvm::sys::path::parent_path(program));
  llvm::sys::path::append(path, "..", "lib", "libhfta_runtime.a");
  llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/true);
  if (!llvm::sys::fs::exists(path))
    return llvm::createStringError("no runtime library '%s'", path.c_str());
  return std::string(path);
}

/// The first C compiler on the path; it knows where the C library lies.
static llvm::Expected<std::string> findCompiler() {
  for (const char *name : {"clang-22", "clang", "cc", "gcc"})
    if (llvm::ErrorOr<std::string> path = llvm::sys::findProgramByName(name))
      return *path;
  return llvm::createStringError(
      "cannot link: no clang-22, clang, cc or gcc on the path");
}

/// Whether `compiler` is a clang that has LLVM's linker beside it or on the
/// path. It links in a fraction of the time.
static bool canUseLld(llvm::StringRef compiler) {
  if (!llvm::sys::path::filename(compiler).starts_with("clang"))
    return false;
  llvm::SmallString<256> real;
  if (llvm::sys::fs::real_path(compiler, real))
    return false;
  return bool(llvm::sys::findProgramByName(
             "ld.lld", {llvm::sys::path::parent_path(real)})) ||
         bool(llvm::sys::findProgramByName("ld.lld"));
}

//===----------------------------------------------------------------------===//
// Linking
//===----------------------------------------------------------------------===//

/// Runs a program; its output is part of the error.
static llvm::Error run(llvm::ArrayRef<llvm::StringRef> arguments) {
  llvm::SmallString<128> log;
  if (std::error_code code =
          llvm::sys::fs::createTemporaryFile("hftac-link", "log", log))
    return llvm::createStringError(code, "cannot link: %s",
                                   code.message().c_str());
  llvm::FileRemover remover(log);
  std::string message;
  int status = llvm::sys::ExecuteAndWait(
      arguments.front(), arguments, /*Env=*/std::nullopt,
      {llvm::StringRef(), llvm::StringRef(log), llvm::StringRef(log)},
      /*SecondsToWait=*/0, /*MemoryLimit=*/0, &message);
  if (status == 0)
    return llvm::Error::success();
  if (llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> text =
          llvm::MemoryBuffer::getFile(log))
    message += (*text)->getBuffer().rtrim();
  return llvm::createStringError("cannot link: '%s' failed\n%s",
                                 arguments.front().str().c_str(),
                                 message.c_str());
}

llvm::Error hfta::linkProgram(llvm::ArrayRef<std::string> objects,
                              llvm::StringRef output) {
  llvm::Expected<std::string> runtime = findRuntime();
  if (!runtime)
    return runtime.takeError();
  llvm::Expected<std::string> compiler = findCompiler();
  if (!compiler)
    return compiler.takeError();
  llvm::Expected<OutputFile> program =
      OutputFile::create(output, /*executable=*/true);
  if (!program)
    return program.takeError();
  std::vector<OutputFile> parts;
  llvm::SmallVector<llvm::StringRef> arguments = {*compiler, "-o",
                                                  program->getTemporaryPath()};
  for (auto [index, object] : llvm::enumerate(objects)) {
    llvm::Expected<OutputFile> part = OutputFile::create(
        (program->getTemporaryPath() + "." + llvm::Twine(index) + ".o").str());
    if (!part)
      return part.takeError();
    if (llvm::Error error = part->write(object))
      return error;
    parts.push_back(std::move(*part));
  }
  for (const OutputFile &part : parts)
    arguments.push_back(part.getTemporaryPath());
  arguments.append(
      {*runtime, "-lm", "-lpthread", "-ldl", "-pie", "-Wl,--gc-sections"});
  if (canUseLld(*compiler))
    arguments.push_back("-fuse-ld=lld");
  for (llvm::StringRef flag : llvm::split(HFTA_LINK_FLAGS, ' '))
    if (!flag.empty())
      arguments.push_back(flag);
  if (llvm::Error error = run(arguments))
    return error;
  return program->keep();
}
