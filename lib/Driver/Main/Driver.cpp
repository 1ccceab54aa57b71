//===- Driver.cpp - hftac's main function ---------------------------------===//

#include "Hfta/Driver/Main/Driver.h"
#include "Commands/Commands.h"
#include "Compile/Compiler.h"
#include "Hfta/Driver/Gradients/CheckGradients.h"
#include "Hfta/Driver/Plan/PlanProfile.h"
#include "Hfta/Driver/Plan/SimulateWorkload.h"
#include "Hfta/InitAll.h"
#include "Hfta/Language/SettingTables.h"
#include "Hfta/Link/Lld.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <csignal>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Internal errors
//===----------------------------------------------------------------------===//

/// Ends the process after a failed allocation, and removes files that were
/// begun. Calls only functions that a signal handler may call.
[[noreturn]] static void exitWithoutMemory() {
  // Several threads may come here. Only the first one prints, the others wait.
  static std::atomic_flag isTold;
  while (isTold.test_and_set())
    pause();
  static const char text[] = "hftac: error: not enough memory\n";
  (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
  llvm::sys::RunInterruptHandlers();
  _exit(static_cast<int>(ExitCode::unsupported));
}

/// Returns whether the process can't get a few more megabytes. If so, a crash
/// was probably a stack that couldn't grow.
static bool isMemoryShort() {
  constexpr size_t kBytes = 8 << 20;
  void *memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return true;
  munmap(memory, kBytes);
  return false;
}

/// Ends the process after a crash. Calls only functions that a signal handler
/// may call. LLVM has already removed temporary files.
static void exitAfterSignal(void *) {
  if (isMemoryShort())
    exitWithoutMemory();
  static const char text[] = "hftac: error: internal error: crashed\n";
  (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
  (void)!write(STDERR_FILENO, kBugReport.data(), kBugReport.size());
  (void)!write(STDERR_FILENO, "\n", 1);
  _exit(static_cast<int>(ExitCode::internal));
}

static void exitAfterFatalError(void *, const char *reason, bool) {
  // LLVM reports this fatal error if there is no memory for a thread.
  if (llvm::StringRef(reason).starts_with("pthread_create failed"))
    exitWithoutMemory();
  llvm::errs() << "hftac: error: internal error: " << reason << '\n'
               << kBugReport << '\n';
  llvm::sys::RunInterruptHandlers();
  _exit(static_cast<int>(ExitCode::internal));
}

static void installHandlers() {
  llvm::sys::AddSignalHandler(exitAfterSignal, nullptr);
  llvm::install_fatal_error_handler(exitAfterFatalError);
  llvm::install_bad_alloc_error_handler(
      [](void *, const char *, bool) { exitWithoutMemory(); });
  std::set_new_handler(exitWithoutMemory);
  // Without SIGPIPE, writing to a pipe that nobody reads any more returns an
  // error.
  std::signal(SIGPIPE, SIG_IGN);
  // Without SIGXFSZ, writing beyond the limit on file sizes returns an error,
  // as on a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
}

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

/// Checks that all of the standard output was written. Returns `code`, unless
/// this is its first failure.
static ExitCode flushOutput(ExitCode code) {
  llvm::outs().flush();
  if (!llvm::outs().has_error())
    return code;
  llvm::errs() << "hftac: error: cannot write to standard output: "
               << llvm::outs().error().message() << '\n';
  llvm::outs().clear_error();
  return code == ExitCode::done ? ExitCode::cannotWrite : code;
}

static ExitCode act(const DriverOptions &options) {
  switch (options.action) {
  case Action::compile:
    if (options.checkGradients)
      return checkGradients(options, llvm::errs());
    if (!options.workload.empty())
      return simulateWorkload(options, llvm::errs());
    return options.profile.empty() ? compile(options, llvm::errs())
                                   : planProfile(options, llvm::errs());
  case Action::help:
    printHelp(llvm::outs(), getCommands());
    break;
  case Action::version:
    printVersion(llvm::outs());
    break;
  case Action::listSupportedOps:
    printSupportedOps(llvm::outs());
    break;
  case Action::listTargets:
    printTargets(llvm::outs());
    break;
  case Action::listSettings:
    printSettingTables(llvm::outs());
    break;
  }
  return flushOutput(ExitCode::done);
}

/// Prints the help of a command.
static void printCommandHelp(const CommandInfo &command) {
  llvm::outs() << "usage: hftac " << command.name
               << (command.synopsis.empty() ? "" : " ") << command.synopsis
               << "\n\n"
               << command.help
               << "\n\ndocs/hftac.md, \"Commands\", says more.\n";
}

int hfta::runDriver(int argc, const char *const *argv) {
  auto arguments = llvm::ArrayRef(argv, argc).drop_front(argc > 0);
  if (!arguments.empty() && arguments.front() == kLldArgument)
    return runLld(arguments.drop_front());
  installHandlers();
  registerAllTargets();
  static int anchor = 0;
  setLldProgram(
      llvm::sys::fs::getMainExecutable(argc > 0 ? argv[0] : nullptr, &anchor));
  if (const CommandInfo *command =
          arguments.empty() ? nullptr : findCommand(arguments.front())) {
    llvm::SmallVector<llvm::StringRef> rest(arguments.drop_front());
    ExitCode code = ExitCode::done;
    if (llvm::is_contained(rest, "--help") || llvm::is_contained(rest, "-h"))
      printCommandHelp(*command);
    else
      code = command->run(rest, llvm::errs());
    return static_cast<int>(flushOutput(code));
  }
  DriverOptions options;
  ExitCode code = parseCommandLine(arguments, options, llvm::errs());
  if (code == ExitCode::done)
    code = act(options);
  return static_cast<int>(code);
}
