//===- NewJob.cpp - hftac new ---------------------------------------------===//

#include "Commands/Commands.h"
#include "NewJob/WriteJob.h"

#include "Hfta/Support/Output.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::hfta;

static ExitCode fail(llvm::raw_ostream &errors, ExitCode code,
                     const llvm::Twine &message) {
  errors << "hftac: error: " << message << '\n';
  return code;
}

namespace {
/// The arguments of hftac new.
struct NewArguments {
  std::string output;
  std::string model;
  std::vector<llvm::StringRef> files;
};
} // namespace

static ExitCode readArguments(llvm::ArrayRef<llvm::StringRef> arguments,
                              NewArguments &out, llvm::raw_ostream &errors) {
  for (size_t at = 0; at < arguments.size(); ++at) {
    llvm::StringRef argument = arguments[at];
    if (argument == "-o") {
      if (++at == arguments.size())
        return fail(errors, ExitCode::usage,
                    "option '-o' needs a value: -o FILE.hfta");
      out.output = arguments[at].str();
    } else if (argument.starts_with("-")) {
      return fail(errors, ExitCode::usage,
                  "'new' has no option '" + argument +
                      "'\nhint: the option is '-o FILE.hfta'");
    } else if (!argument.ends_with(".onnx")) {
      out.files.push_back(argument);
    } else if (!out.model.empty()) {
      return fail(errors, ExitCode::usage,
                  "'new' takes one model, got '" + out.model + "' and '" +
                      argument + "'");
    } else {
      out.model = argument.str();
    }
  }
  if (out.model.empty() || out.files.empty())
    return fail(errors, ExitCode::usage,
                llvm::Twine("'new' needs ") +
                    (out.model.empty() ? "a model, MODEL.onnx"
                                       : "data: files or folders of images"));
  if (out.output.empty())
    out.output = (llvm::sys::path::stem(out.model) + ".hfta").str();
  if (!llvm::StringRef(out.output).ends_with(".hfta"))
    return fail(errors, ExitCode::usage,
                "option '-o': expected a name that ends with '.hfta', got '" +
                    out.output + "'");
  llvm::StringRef folder = llvm::sys::path::parent_path(out.output);
  if (!folder.empty() && !llvm::sys::fs::is_directory(folder))
    return fail(errors, ExitCode::cannotWrite,
                "cannot write '" + out.output + "': no folder '" + folder +
                    "'");
  if (llvm::sys::fs::exists(out.output))
    return fail(errors, ExitCode::cannotWrite,
                "'" + out.output +
                    "' exists already\nhint: '-o' writes another file");
  return ExitCode::done;
}

ExitCode hfta::createJob(llvm::ArrayRef<llvm::StringRef> arguments,
                         llvm::raw_ostream &errors) {
  NewArguments names;
  if (ExitCode code = readArguments(arguments, names, errors);
      code != ExitCode::done)
    return code;
  std::string text;
  if (ExitCode code =
          writeJob(names.model, names.files, names.output, errors, text);
      code != ExitCode::done)
    return code;
  // A job that doesn't compile isn't written.
  if (ExitCode code = checkJobText({names.output, text}, errors);
      code != ExitCode::done)
    return code;
  if (llvm::Error error = writeOutput(names.output, text))
    return fail(errors, ExitCode::cannotWrite,
                llvm::toString(std::move(error)));
  llvm::StringRef program = llvm::sys::path::stem(names.output);
  llvm::outs() << "wrote " << names.output << "; next: hftac " << names.output
               << " -o " << program << ", then ./" << program << " train\n";
  llvm::outs().flush();
  return ExitCode::done;
}
