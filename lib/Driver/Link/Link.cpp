//===- Link.cpp - Links programs ------------------------------------------===//

#include "Hfta/Driver/Link/Link.h"
#include "Hfta/Support/Output.h"
#include "Hfta/Support/RunProgram.h"

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
// The command
//===----------------------------------------------------------------------===//

namespace {
/// The folders with the files that every program is linked with: those of the C
/// library, and those of the C compiler's runtime library.
struct SystemFolders {
  std::string library, compiler;
};
} // namespace

static constexpr llvm::StringLiteral kDynamicLinker =
    "/lib64/ld-linux-x86-64.so.2";

/// Returns the folder of the newest GCC that has its start files (crtbeginS.o);
/// empty if there is none.
static std::string findCompilerFolder() {
  std::string newest;
  unsigned newestVersion = 0;
  std::error_code error;
  using Entries = llvm::sys::fs::directory_iterator;
  for (Entries kind("/usr/lib/gcc", error), end; !error && kind != end;
       kind.increment(error)) {
    if (!llvm::sys::path::filename(kind->path()).starts_with("x86_64-"))
      continue;
    std::error_code unreadable;
    for (Entries folder(kind->path(), unreadable); !unreadable && folder != end;
         folder.increment(unreadable)) {
      unsigned version = 0;
      llvm::sys::path::filename(folder->path()).consumeInteger(10, version);
      if (version > newestVersion &&
          llvm::sys::fs::exists(folder->path() + "/crtbeginS.o")) {
        newestVersion = version;
        newest = folder->path();
      }
    }
  }
  return newest;
}

/// Returns the folders if they are where GNU systems have them. Otherwise only
/// the C compiler knows where they are.
static std::optional<SystemFolders> findSystemFolders() {
  SystemFolders folders;
  for (const char *folder :
       {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"})
    if (llvm::sys::fs::exists(llvm::Twine(folder) + "/Scrt1.o")) {
      folders.library = folder;
      break;
    }
  folders.compiler = findCompilerFolder();
  if (folders.library.empty() || folders.compiler.empty() ||
      !llvm::sys::fs::exists(kDynamicLinker))
    return std::nullopt;
  return folders;
}

/// Returns the path in a form that no program takes for an option.
static std::string escapePath(llvm::StringRef path) {
  return (path.starts_with("-") ? "./" : "") + path.str();
}

/// Returns the command that links `inputs`. It calls LLVM's linker directly if
/// that and the system's files are found, because starting the compiler takes
/// longer than linking. Otherwise it calls the compiler.
static std::vector<std::string>
makeCommand(const std::string &compiler, llvm::StringRef output,
            llvm::ArrayRef<std::string> inputs) {
  std::vector<std::string> command;
  auto add = [&](std::initializer_list<std::string> arguments) {
    command.insert(command.end(), arguments);
  };
  std::string linker = findLld(compiler, output);
  std::optional<SystemFolders> folders;
  llvm::StringRef flags = HFTA_LINK_FLAGS;
  if (!linker.empty() && flags.empty())
    folders = findSystemFolders();
  if (!folders) {
    add({compiler, "-o", output.str()});
    llvm::append_range(command, inputs);
    add({"-lm", "-lpthread", "-ldl", "-pie", "-Wl,--gc-sections"});
    if (!linker.empty())
      add({"-fuse-ld=lld"});
    for (llvm::StringRef flag : llvm::split(flags, ' '))
      if (!flag.empty())
        add({flag.str()});
    return command;
  }
  std::string own = folders->compiler + "/", library = folders->library + "/";
  add({linker, "--hash-style=gnu", "--build-id", "--eh-frame-hdr", "-m",
       "elf_x86_64", "-pie", "-dynamic-linker", kDynamicLinker.str(), "-o",
       output.str(), library + "Scrt1.o", library + "crti.o",
       own + "crtbeginS.o", "-L" + own, "-L" + library});
  llvm::append_range(command, inputs);
  add({"-lm", "-lpthread", "-ldl", "--gc-sections", "-lc", "-lgcc",
       "--as-needed", "-lgcc_s", "--no-as-needed", own + "crtendS.o",
       library + "crtn.o"});
  return command;
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
  std::vector<std::string> inputs;
  for (auto [index, object] : llvm::enumerate(objects)) {
    llvm::Expected<OutputFile> part = OutputFile::create(
        (program->getTemporaryPath() + "." + llvm::Twine(index) + ".o").str());
    if (!part)
      return part.takeError();
    if (llvm::Error error = part->write(object))
      return error;
    inputs.push_back(escapePath(part->getTemporaryPath()));
    parts.push_back(std::move(*part));
  }
  inputs.push_back(*runtime);
  std::vector<std::string> command =
      makeCommand(*compiler, escapePath(program->getTemporaryPath()), inputs);
  if (llvm::Error error = runProgram(
          llvm::SmallVector<llvm::StringRef>(command.begin(), command.end()),
          "link"))
    return error;
  return program->keep();
}
