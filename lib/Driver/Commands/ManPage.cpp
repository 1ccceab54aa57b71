//===- ManPage.cpp - hftac man --------------------------------------------===//

#include "CommandLine/Options.h"
#include "Commands/Commands.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::hfta;

/// Returns a text for roff: a '-' of an option isn't a hyphen, and a line
/// doesn't begin a request.
static std::string escape(llvm::StringRef text) {
  std::string result =
      text.starts_with(".") || text.starts_with("'") ? "\\&" : "";
  for (char c : text) {
    if (c == '-')
      result += "\\-";
    else if (c == '\\')
      result += "\\e";
    else
      result += c;
  }
  return result;
}

/// Prints a term and what it means.
static void printTerm(llvm::raw_ostream &os, llvm::StringRef term,
                      llvm::StringRef meaning) {
  os << ".TP\n.B " << escape(term) << '\n' << escape(meaning) << '\n';
}

static void printOptions(llvm::raw_ostream &os) {
  for (OptionGroup group : kOptionGroups) {
    os << ".SS " << escape(getTitle(group)) << '\n';
    for (const OptionInfo &option : getOptions()) {
      if (option.group != group)
        continue;
      llvm::StringRef separator =
          llvm::StringRef(option.name).starts_with("--") ? "=" : " ";
      printTerm(os,
                option.isFlag()
                    ? option.name
                    : (option.name + separator + option.value).str(),
                option.help);
    }
  }
}

ExitCode hfta::printManPage(llvm::ArrayRef<llvm::StringRef> arguments,
                            llvm::raw_ostream &errors) {
  if (!arguments.empty()) {
    errors << "hftac: error: 'man' has no arguments, got '" << arguments.front()
           << "'\n";
    return ExitCode::usage;
  }
  llvm::raw_ostream &os = llvm::outs();
  os << ".TH HFTAC 1 \"\" \"hftac " HFTA_VERSION "\" \"User Commands\"\n"
        ".SH NAME\n"
        "hftac \\- compile a training of many models at once\n"
        ".SH SYNOPSIS\n"
        ".B hftac\n[options] input...\n.br\n.B hftac\ncommand ...\n"
        ".SH DESCRIPTION\n"
        "Compiles a training job, many copies of one model with "
        "hyper\\-parameters of their own, into one program. The inputs are a "
        "job file (.hfta), ONNX models (.onnx), one for all copies or one for "
        "each, or an intermediate file (.mlir).\n"
        ".SH COMMANDS\n";
  for (const CommandInfo &command : getCommands())
    printTerm(
        os,
        llvm::StringRef((command.name + " " + command.synopsis).str()).rtrim(),
        command.help);
  os << ".SH OPTIONS\n";
  printOptions(os);
  os << ".SH PHASES\n";
  for (Phase phase : getPhases())
    printTerm(os, phase->name, phase->description);
  os << ".SH EXIT STATUS\n";
#define HFTA_PRINT_EXIT_CODE(name, value, text) printTerm(os, #value, text);
  HFTA_EXIT_CODES(HFTA_PRINT_EXIT_CODE)
#undef HFTA_PRINT_EXIT_CODE
  return ExitCode::done;
}
