//===- Link.cpp - Programs from an object ---------------------------------===//

#include "Hfta/Driver/Link.h"
#include "Hfta/Driver/Output.h"
#include "RunProgram.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Finding the runtime
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

//===----------------------------------------------------------------------===//
// Linking
//===----------------------------------------------------------------------===//

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
  if (llvm::Error error = runProgram(arguments, "link"))
    return error;
  return program->keep();
}
