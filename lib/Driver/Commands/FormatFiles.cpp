//===- FormatFiles.cpp - hftac fmt ----------------------------------------===//

#include "Commands/Commands.h"

#include "Hfta/Language/Files.h"
#include "Hfta/Language/Format.h"
#include "Hfta/Language/Lexer.h"
#include "Hfta/Language/Parser.h"
#include "Hfta/Support/Output.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::hfta;

static ExitCode fail(llvm::raw_ostream &errors, ExitCode code,
                     const llvm::Twine &message) {
  errors << "hftac: error: " << message << '\n';
  return code;
}

/// Returns whether two texts have the same tokens.
static bool haveSameTokens(llvm::StringRef one, llvm::StringRef other) {
  Lexer left(one, nullptr), right(other, nullptr);
  while (true) {
    Token mine = left.lex(), theirs = right.lex();
    if (mine.kind != theirs.kind || mine.text != theirs.text)
      return false;
    if (mine.is(TokenKind::endOfFile))
      return true;
  }
}

static llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> readStandardInput() {
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> text =
      llvm::MemoryBuffer::getSTDIN();
  if (!text)
    return llvm::createStringError("cannot read standard input: " +
                                   text.getError().message());
  return std::move(*text);
}

/// Formats one file. `changes` receives whether the layout differs from the
/// file's, in which case the file was rewritten unless `isCheck`.
static ExitCode formatFile(llvm::StringRef path, bool isCheck, bool &changes,
                           llvm::raw_ostream &errors) {
  llvm::SourceMgr sources;
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> file =
      path == "-" ? readStandardInput() : openText(path);
  if (!file)
    return fail(errors, ExitCode::input, llvm::toString(file.takeError()));
  unsigned buffer = sources.AddNewSourceBuffer(std::move(*file), llvm::SMLoc());
  JobDiagnostics diagnostics(sources, errors);
  parseJobFile(buffer, diagnostics);
  if (diagnostics.hasErrors())
    return ExitCode::input;
  llvm::StringRef text = sources.getMemoryBuffer(buffer)->getBuffer();
  std::string formatted = formatJobText(text);
  if (!haveSameTokens(text, formatted))
    return fail(errors, ExitCode::internal,
                "'" + path + "' would change its meaning\n" + kBugReport);
  changes = formatted != text;
  if (isCheck || (!changes && path != "-"))
    return ExitCode::done;
  // A link stays a link, and the file that it names is rewritten.
  llvm::SmallString<256> real(path);
  if (path != "-" && llvm::sys::fs::real_path(path, real))
    real = path;
  // A new file takes the place of the old one, with its permissions.
  llvm::ErrorOr<llvm::sys::fs::perms> permissions =
      llvm::sys::fs::getPermissions(real);
  if (path != "-" &&
      llvm::sys::fs::access(real, llvm::sys::fs::AccessMode::Write))
    return fail(errors, ExitCode::cannotWrite,
                "cannot write '" + path + "': its permissions don't allow it");
  if (llvm::Error error = writeOutput(real, formatted))
    return fail(errors, ExitCode::cannotWrite,
                llvm::toString(std::move(error)));
  if (path != "-" && permissions)
    llvm::sys::fs::setPermissions(real, *permissions);
  return ExitCode::done;
}

ExitCode hfta::formatFiles(llvm::ArrayRef<llvm::StringRef> arguments,
                           llvm::raw_ostream &errors) {
  bool isCheck = false;
  llvm::SmallVector<llvm::StringRef> paths;
  for (llvm::StringRef argument : arguments) {
    if (argument == "--check")
      isCheck = true;
    else if (argument.starts_with("-") && argument != "-")
      return fail(errors, ExitCode::usage,
                  "'fmt' has no option '" + argument +
                      "'\nhint: the option is '--check'");
    else
      paths.push_back(argument);
  }
  if (paths.empty())
    return fail(errors, ExitCode::usage,
                "'fmt' needs a job file, or '-' for standard input");
  ExitCode result = ExitCode::done;
  for (llvm::StringRef path : paths) {
    bool changes = false;
    ExitCode code = formatFile(path, isCheck, changes, errors);
    if (isCheck && changes) {
      llvm::outs() << path << '\n';
      code = ExitCode::input;
    }
    if (result == ExitCode::done)
      result = code;
  }
  llvm::outs().flush();
  return result;
}
