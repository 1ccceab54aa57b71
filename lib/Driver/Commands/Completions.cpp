//===- Completions.cpp - hftac completions --------------------------------===//

#include "CommandLine/Options.h"
#include "Commands/Commands.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::hfta;

static std::string joinCommands() {
  return llvm::join(llvm::map_range(getCommands(),
                                    [](auto &command) { return command.name; }),
                    " ");
}

/// Returns the text with a backslash before each of these characters.
static std::string escape(llvm::StringRef text, llvm::StringRef characters) {
  std::string result;
  for (char c : text) {
    if (characters.contains(c))
      result += '\\';
    result += c;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// bash
//===----------------------------------------------------------------------===//

static void printBash(llvm::raw_ostream &os) {
  // bash makes three words of --option=value.
  os << "_hftac() {\n"
        "  local word=${COMP_WORDS[COMP_CWORD]}\n"
        "  local option=${COMP_WORDS[COMP_CWORD - 1]}\n"
        "  if [[ $word == = ]]; then\n"
        "    word=\n"
        "  elif [[ $option == = && $COMP_CWORD -gt 1 ]]; then\n"
        "    option=${COMP_WORDS[COMP_CWORD - 2]}\n"
        "  fi\n"
        "  case $option in\n";
  std::string options;
  for (const OptionInfo &option : getOptions()) {
    options += (options.empty() ? "" : " ") + option.name;
    if (!option.isFlag() && llvm::StringRef(option.name).starts_with("--"))
      options += '=';
    if (option.getChoices)
      os << "    " << option.name << ") COMPREPLY=($(compgen -W '"
         << llvm::join(option.getChoices(), " ")
         << "' -- \"$word\")); return ;;\n";
  }
  os << "  esac\n"
        "  COMPREPLY=()\n"
        "  if [[ $word == -* ]]; then\n"
        "    COMPREPLY=($(compgen -W '"
     << options
     << "' -- \"$word\"))\n"
        "    [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace\n"
        "  elif [[ $COMP_CWORD == 1 ]]; then\n"
        "    COMPREPLY=($(compgen -W '"
     << joinCommands()
     << "' -- \"$word\"))\n"
        "  fi\n"
        "}\n"
        "complete -o bashdefault -o default -F _hftac hftac\n";
}

//===----------------------------------------------------------------------===//
// zsh
//===----------------------------------------------------------------------===//

static void printZsh(llvm::raw_ostream &os) {
  os << "#compdef hftac\n"
        "if (( CURRENT == 2 )); then\n"
        "  local -a commands=("
     << joinCommands()
     << ")\n"
        "  _describe command commands\n"
        "fi\n"
        "_arguments \\\n";
  for (const OptionInfo &option : getOptions()) {
    bool isLong = llvm::StringRef(option.name).starts_with("--");
    os << "  '*" << option.name;
    if (!option.isFlag() && isLong)
      os << '=';
    std::string help;
    for (char c : escape(option.help, "[]:"))
      help += c == '\'' ? std::string("'\\''") : std::string(1, c);
    os << '[' << help << ']';
    if (!option.isFlag())
      os << ':' << escape(option.value, ":") << ':';
    if (option.getChoices)
      os << '(' << llvm::join(option.getChoices(), " ") << ')';
    else if (option.takesPath())
      os << "_files";
    os << "' \\\n";
  }
  os << "  '*:input:_files'\n";
}

//===----------------------------------------------------------------------===//
// fish
//===----------------------------------------------------------------------===//

static void printFish(llvm::raw_ostream &os) {
  os << "complete -c hftac -n __fish_is_first_arg -a '" << joinCommands()
     << "'\n";
  for (const OptionInfo &option : getOptions()) {
    llvm::StringRef name = option.name;
    os << "complete -c hftac " << (name.consume_front("--") ? "-l " : "-s ");
    name.consume_front("-");
    os << name;
    if (option.getChoices)
      os << " -x -a '" << llvm::join(option.getChoices(), " ") << '\'';
    else if (!option.isFlag())
      os << (option.takesPath() ? " -r" : " -x");
    os << " -d '" << escape(option.help, "'\\") << "'\n";
  }
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

ExitCode hfta::printCompletions(llvm::ArrayRef<llvm::StringRef> arguments,
                                llvm::raw_ostream &errors) {
  using Printer = void (*)(llvm::raw_ostream &);
  Printer print = arguments.size() != 1
                      ? nullptr
                      : llvm::StringSwitch<Printer>(arguments.front())
                            .Case("bash", printBash)
                            .Case("zsh", printZsh)
                            .Case("fish", printFish)
                            .Default(nullptr);
  if (!print) {
    errors << "hftac: error: 'completions' needs the name of a shell: bash, "
              "zsh or fish\n";
    return ExitCode::usage;
  }
  print(llvm::outs());
  return ExitCode::done;
}
