//===- Commands.h - The table of hftac's commands ---------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_COMMANDS_COMMANDS_H
#define HFTA_LIB_DRIVER_COMMANDS_COMMANDS_H

#include "Hfta/Driver/CommandLine/CommandLine.h"

namespace mlir::hfta {

/// Returns all commands, in the order of --help.
llvm::ArrayRef<CommandInfo> getCommands();

/// Returns the command of this name; null if there is none.
const CommandInfo *findCommand(llvm::StringRef name);

/// Writes a job file for an ONNX model and data files.
ExitCode createJob(llvm::ArrayRef<llvm::StringRef> arguments,
                   llvm::raw_ostream &errors);
/// Reports what is wrong with a job, without compiling it; with `--json`, as an
/// object on a line for each message.
ExitCode checkJob(llvm::ArrayRef<llvm::StringRef> arguments,
                  llvm::raw_ostream &errors);
/// Does so for a text, as if it were in the job file of its name.
ExitCode checkJobText(const JobText &job, llvm::raw_ostream &errors);
/// Rewrites job files in the layout of Hfta/Language/Format.h.
ExitCode formatFiles(llvm::ArrayRef<llvm::StringRef> arguments,
                     llvm::raw_ostream &errors);
/// Prints a script by which a shell completes hftac's arguments.
ExitCode printCompletions(llvm::ArrayRef<llvm::StringRef> arguments,
                          llvm::raw_ostream &errors);
/// Prints hftac's manual page, for roff.
ExitCode printManPage(llvm::ArrayRef<llvm::StringRef> arguments,
                      llvm::raw_ostream &errors);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_COMMANDS_COMMANDS_H
