//===- CheckJob.cpp - hftac check -----------------------------------------===//

#include "Commands/Commands.h"
#include "Commands/MessageList.h"
#include "Compile/Compiler.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::hfta;

/// Returns an argument that asks for something that isn't a check; "" if there
/// is none. Options may have a value behind '='.
static llvm::StringRef findRefused(llvm::ArrayRef<llvm::StringRef> arguments) {
  static constexpr llvm::StringLiteral refused[] = {
      "-o",     "--timeline",      "--simulate",
      "--plan", "--plan-pipeline", "--check-gradients"};
  for (llvm::StringRef argument : arguments)
    if (llvm::is_contained(refused, argument.split('=').first))
      return argument.split('=').first;
  return "";
}

/// Does what a compilation does before it generates code: reads the arguments
/// and the job, imports its models, and plans its step and its memory.
static ExitCode check(llvm::ArrayRef<const char *> arguments,
                      std::optional<JobText> text, llvm::raw_ostream &errors) {
  DriverOptions options;
  if (ExitCode code = parseCommandLine(arguments, options, errors);
      code != ExitCode::done)
    return code;
  if (options.action != Action::compile) {
    errors << "hftac: error: 'check' takes a job file or ONNX models, and "
              "options for these\n";
    return ExitCode::usage;
  }
  options.printsPlan = false;
  options.jobText = std::move(text);
  return compile(options, errors);
}

ExitCode hfta::checkJobText(const JobText &job, llvm::raw_ostream &errors) {
  return check({"--plan", job.name.c_str()}, job, errors);
}

ExitCode hfta::checkJob(llvm::ArrayRef<llvm::StringRef> arguments,
                        llvm::raw_ostream &errors) {
  if (llvm::StringRef option = findRefused(arguments); !option.empty()) {
    errors << "hftac: error: 'check' writes and draws nothing: leave '"
           << option << "' out\n";
    return ExitCode::usage;
  }
  bool asJson = false;
  std::vector<std::string> owned = {"--plan"};
  for (llvm::StringRef argument : arguments)
    if (argument == "--json")
      asJson = true;
    else
      owned.push_back(argument.str());
  std::vector<const char *> words;
  words.reserve(owned.size());
  for (const std::string &word : owned)
    words.push_back(word.c_str());
  if (!asJson)
    return check(words, std::nullopt, errors);
  std::string text;
  llvm::raw_string_ostream os(text);
  ExitCode code = check(words, std::nullopt, os);
  for (const Message &message : readMessages(text))
    llvm::outs() << toJson(message) << '\n';
  llvm::outs().flush();
  return code;
}
