//===- Commands.cpp - The table of hftac's commands -----------------------===//

#include "Commands/Commands.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::hfta;

static const CommandInfo kCommands[] = {
    {"new", "[-o FILE.hfta] MODEL.onnx DATA...",
     "write a job file for a model and data: files or folders of images",
     createJob},
    {"check", "[--json] [options] <input>...",
     "tell what is wrong with a job; --json: a line for each message",
     checkJob},
    {"fmt", "[--check] FILE...",
     "lay out job files; --check: only name those that would change",
     formatFiles},
    {"completions", "bash|zsh|fish",
     "print a script for a shell that completes arguments", printCompletions},
    {"man", "", "print the manual page hftac(1)", printManPage},
};

llvm::ArrayRef<CommandInfo> hfta::getCommands() { return kCommands; }

const CommandInfo *hfta::findCommand(llvm::StringRef name) {
  const CommandInfo *found =
      llvm::find_if(kCommands, [&](auto &info) { return info.name == name; });
  return found == std::end(kCommands) ? nullptr : found;
}
