//===- Link.cpp - Links compiled code to programs -------------------------===//

#include "Hfta/Link/Link.h"
#include "Embedded.h"
#include "Hfta/Link/Lld.h"
#include "Hfta/Support/Output.h"
#include "Hfta/Support/RunProgram.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// The linkers
//===----------------------------------------------------------------------===//

/// The program that runs as lld after `kLldArgument`; empty if there is none.
static std::string &getLldProgram() {
  static std::string program;
  return program;
}

void hfta::setLldProgram(std::string path) {
  getLldProgram() = std::move(path);
}

llvm::StringRef hfta::getName(Linker linker) {
  return linker == Linker::lld ? "lld" : "cc";
}

llvm::SmallVector<Linker, 2> hfta::getLinkers() {
  // A runtime that calls a sanitizer's functions has no stubs of these.
  if (getLldProgram().empty() || getStubLibraries().empty())
    return {Linker::cc};
  return {Linker::lld, Linker::cc};
}

llvm::Error hfta::checkLinker(Linker linker) {
  return linker == Linker::cc ? findCompiler().takeError()
                              : llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

namespace {
/// The command that runs a linker, and the temporary files that it reads.
class LinkCommand {
public:
  void add(llvm::ArrayRef<llvm::StringRef> words) {
    for (llvm::StringRef word : words)
      arguments.push_back(word.str());
  }
  /// Adds the path of a file, in a form that isn't taken for an option or for a
  /// file with options.
  void addPath(llvm::StringRef path) {
    bool isPlain = !path.starts_with("-") && !path.starts_with("@");
    arguments.push_back((isPlain ? "" : "./") + path.str());
  }
  /// Adds a temporary file with these contents.
  llvm::Error addFile(llvm::StringRef suffix, llvm::StringRef contents);
  /// Adds a file for each of several contents.
  llvm::Error addFiles(llvm::StringRef suffix,
                       llvm::ArrayRef<llvm::StringRef> contents);
  /// Sets the file to which the linker writes.
  void setOutput(llvm::StringRef path) { output = path.str(); }
  llvm::Error run(llvm::StringRef work) const {
    llvm::SmallVector<llvm::StringRef> words(arguments.begin(),
                                             arguments.end());
    return runProgram(words, work, output);
  }

private:
  std::string output; ///< empty if the arguments name it
  std::vector<std::string> arguments;
  std::vector<TemporaryFile> files;
};
} // namespace

llvm::Error LinkCommand::addFile(llvm::StringRef suffix,
                                 llvm::StringRef contents) {
  llvm::Expected<TemporaryFile> file = TemporaryFile::create(suffix);
  if (!file)
    return file.takeError();
  if (llvm::Error error = file->write(contents))
    return error;
  addPath(file->getPath());
  files.push_back(std::move(*file));
  return llvm::Error::success();
}

llvm::Error LinkCommand::addFiles(llvm::StringRef suffix,
                                  llvm::ArrayRef<llvm::StringRef> contents) {
  for (llvm::StringRef file : contents)
    if (llvm::Error error = addFile(suffix, file))
      return error;
  return llvm::Error::success();
}

/// Begins a call of lld that writes to `output`. One thread is enough for files
/// of this size, and can be had where a process may begin no more. lld writes
/// to standard output, because it would replace each '%' in a path.
static void beginLld(LinkCommand &command, llvm::StringRef output) {
  command.add({getLldProgram(), kLldArgument, "--threads=1", "--gc-sections",
               "--hash-style=gnu", "--build-id", "--eh-frame-hdr", "-z",
               "relro", "-z", "now", "-z", "defs", "-m", "elf_x86_64", "-o",
               "-"});
  command.setOutput(output);
}

/// Adds what code may call that isn't in its objects or in the runtime.
static llvm::Error addLibraries(LinkCommand &command) {
  if (llvm::Error error = command.addFile("a", getLibgccArchive()))
    return error;
  command.add({"--as-needed"});
  return command.addFiles("so", getStubLibraries());
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

static llvm::Error addProgramByLld(LinkCommand &command, llvm::StringRef output,
                                   llvm::ArrayRef<llvm::StringRef> objects) {
  beginLld(command, output);
  command.add({"-pie", "-dynamic-linker", "/lib64/ld-linux-x86-64.so.2"});
  if (llvm::Error error = command.addFile("o", getStartObject()))
    return error;
  llvm::for_each(objects, [&](auto path) { command.addPath(path); });
  if (llvm::Error error = command.addFile("a", getRuntimeArchive()))
    return error;
  return addLibraries(command);
}

static llvm::Error
addProgramByCompiler(LinkCommand &command, llvm::StringRef output,
                     llvm::ArrayRef<llvm::StringRef> objects) {
  llvm::Expected<std::string> compiler = findCompiler();
  if (!compiler)
    return compiler.takeError();
  command.add({*compiler, "-o"});
  command.addPath(output);
  llvm::for_each(objects, [&](auto path) { command.addPath(path); });
  if (llvm::Error error = command.addFile("a", getRuntimeArchive()))
    return error;
  command.add({"-lm", "-lpthread", "-ldl", "-pie", "-Wl,--gc-sections"});
  for (llvm::StringRef flag :
       llvm::split(llvm::StringRef(HFTA_LINK_FLAGS), ' '))
    if (!flag.empty())
      command.add(flag);
  return llvm::Error::success();
}

llvm::Error hfta::linkProgram(llvm::ArrayRef<std::string> objects,
                              llvm::StringRef output, Linker linker) {
  llvm::Expected<OutputFile> program =
      OutputFile::create(output, /*executable=*/true);
  if (!program)
    return program.takeError();
  // Objects may be large, as they have the models' weights. There is room for
  // them beside the program rather than in the folder for temporary files.
  std::vector<OutputFile> parts;
  llvm::SmallVector<llvm::StringRef> paths;
  parts.reserve(objects.size());
  for (auto [index, object] : llvm::enumerate(objects)) {
    llvm::Expected<OutputFile> part = OutputFile::create(
        (program->getTemporaryPath() + "." + llvm::Twine(index) + ".o").str());
    if (!part)
      return part.takeError();
    if (llvm::Error error = part->write(object))
      return error;
    parts.push_back(std::move(*part));
    paths.push_back(parts.back().getTemporaryPath());
  }
  LinkCommand command;
  auto *addProgram =
      linker == Linker::lld ? addProgramByLld : addProgramByCompiler;
  if (llvm::Error error =
          addProgram(command, program->getTemporaryPath(), paths))
    return error;
  if (llvm::Error error = command.run("link"))
    return error;
  return program->keep();
}

//===----------------------------------------------------------------------===//
// Shared libraries
//===----------------------------------------------------------------------===//

llvm::Expected<TemporaryFile>
hfta::linkSharedLibrary(llvm::ArrayRef<std::string> objects,
                        llvm::StringRef work) {
  llvm::Expected<TemporaryFile> library = TemporaryFile::create("so");
  if (!library)
    return library.takeError();
  LinkCommand command;
  bool byLld = getLinkers().front() == Linker::lld;
  if (byLld) {
    beginLld(command, library->getPath());
    command.add({"-shared"});
  } else {
    llvm::Expected<std::string> compiler = findCompiler();
    if (!compiler)
      return compiler.takeError();
    command.add({*compiler, "-shared", "-o"});
    command.addPath(library->getPath());
  }
  for (const std::string &object : objects)
    if (llvm::Error error = command.addFile("o", object))
      return std::move(error);
  if (!byLld)
    command.add({"-lm"});
  else if (llvm::Error error = addLibraries(command))
    return std::move(error);
  if (llvm::Error error = command.run(work))
    return std::move(error);
  return library;
}
