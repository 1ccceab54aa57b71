//===- Help.cpp - The texts that hftac prints about itself ----------------===//

#include "CommandLine/Options.h"
#include "Hfta/Import/Onnx/Import.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::hfta;

static constexpr unsigned kColumn = 30;

static void printRow(llvm::raw_ostream &os, llvm::StringRef left,
                     llvm::StringRef right, unsigned column = kColumn) {
  os << "  " << left;
  if (left.size() + 2 < column)
    os.indent(column - left.size() - 2);
  else
    (os << '\n').indent(column);
  os << right << '\n';
}

static void printOptions(llvm::raw_ostream &os, OptionGroup group) {
  os << '\n' << getTitle(group) << ":\n";
  for (const OptionInfo &option : getOptions()) {
    if (option.group != group)
      continue;
    std::string left = option.name;
    if (!option.value.empty())
      left += (llvm::StringRef(option.name).starts_with("--") ? "=" : " ") +
              option.value.str();
    printRow(os, left, option.help);
  }
}

void hfta::printHelp(llvm::raw_ostream &os,
                     llvm::ArrayRef<CommandInfo> commands) {
  os << "usage: hftac [options] <input>...\n"
        "       hftac COMMAND ...\n\n"
        "Compiles a training job into one program that trains many copies of a "
        "model at once.\n\n"
        "inputs: one job file (.hfta); or ONNX models (.onnx), one for all "
        "copies or one\nper copy; or an intermediate file of --emit (.mlir)\n";
  os << "\ncommands, which compile nothing:\n";
  for (const CommandInfo &command : commands)
    printRow(os, (command.name + " " + command.synopsis).str(), command.help);
  for (OptionGroup group : kOptionGroups)
    printOptions(os, group);
  os << "\nphases (lib and exe are for users, the others for developers):\n";
  for (Phase phase : getPhases())
    printRow(os, phase->name, phase->description, 12);
  os << "\nexit codes:\n";
#define HFTA_PRINT_EXIT_CODE(name, value, text) printRow(os, #value, text, 12);
  HFTA_EXIT_CODES(HFTA_PRINT_EXIT_CODE)
#undef HFTA_PRINT_EXIT_CODE
}

void hfta::printVersion(llvm::raw_ostream &os) {
  os << "hftac " HFTA_VERSION " (LLVM " LLVM_VERSION_STRING ")\n";
}

void hfta::printSupportedOps(llvm::raw_ostream &os) {
  os << "ONNX operators, operator sets up to " << kGreatestOnnxOpset
     << ", IR up to " << kGreatestOnnxIrVersion << ":\n";
  llvm::StringRef previous;
  for (const OnnxSupportedOp &op : getSupportedOnnxOps()) {
    if (op.name == previous)
      os << ", " << op.sinceVersion;
    else
      os << (previous.empty() ? "" : "\n") << "  " << op.name << " since "
         << op.sinceVersion;
    previous = op.name;
  }
  os << '\n';
}

void hfta::printTargets(llvm::raw_ostream &os) {
  for (const Target *target : getTargets())
    target->printDevices(os);
}
