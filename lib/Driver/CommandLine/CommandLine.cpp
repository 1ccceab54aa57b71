//===- CommandLine.cpp - Reads hftac's arguments --------------------------===//

#include "Hfta/Driver/CommandLine/CommandLine.h"
#include "CommandLine/Options.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

static ExitCode failUnknown(CommandLineState &state, llvm::StringRef name) {
  llvm::SmallVector<llvm::StringRef> names;
  std::vector<OptionInfo> options = getOptions();
  for (const OptionInfo &option : options)
    names.push_back(option.name);
  llvm::StringRef nearest = findNearest(name, names);
  return state.fail(ExitCode::usage, "unknown option '" + name + "'",
                    nearest.empty()
                        ? std::string("'hftac --help' lists the options")
                        : ("did you mean '" + nearest + "'?").str());
}

/// Applies the option `arguments[at]`, and increments `at` if its value is the
/// next argument.
static ExitCode applyOption(CommandLineState &state,
                            llvm::ArrayRef<const char *> arguments,
                            size_t &at) {
  llvm::StringRef argument = arguments[at];
  size_t equal = argument.find('=');
  llvm::StringRef name = argument.take_front(equal);
  bool joined = equal != llvm::StringRef::npos;
  std::vector<OptionInfo> table = getOptions();
  auto option = llvm::find_if(
      table, [&](const OptionInfo &info) { return info.name == name; });
  if (option == table.end())
    return failUnknown(state, name);
  llvm::StringRef value = joined ? argument.substr(equal + 1) : "";
  if (option->value.empty() && joined)
    return state.fail(ExitCode::usage, "option '" + name + "' takes no value");
  if (!option->value.empty() && !joined) {
    if (at + 1 == arguments.size())
      return state.fail(ExitCode::usage, "option '" + name +
                                             "' needs a value: " + name + " " +
                                             option->value);
    value = arguments[++at];
  }
  state.optionNames.push_back(option->name);
  return option->apply(state, *option, value);
}

//===----------------------------------------------------------------------===//
// Inputs and output
//===----------------------------------------------------------------------===//

static std::optional<InputKind> getInputKind(llvm::StringRef path) {
  return llvm::StringSwitch<std::optional<InputKind>>(
             llvm::sys::path::extension(path))
      .Case(".hfta", InputKind::job)
      .Case(".onnx", InputKind::onnx)
      .Cases({".mlir", ".mlirbc"}, InputKind::mlir)
      .Default(std::nullopt);
}

/// Checks the options of `--plan-pipeline` for a profile instead of a job.
static ExitCode checkProfile(CommandLineState &state) {
  const DriverOptions &options = state.options;
  auto needs = [&](llvm::StringRef option, const llvm::Twine &what) {
    return state.fail(ExitCode::usage, "option '" + option + "' needs " + what);
  };
  if (options.profileSamples == 0)
    return needs("--profile", "'--profile-samples=N'");
  for (llvm::StringRef name : {"--batch", "--cluster"})
    if (!llvm::is_contained(state.jobOptionNames, name))
      return needs("--plan-pipeline", "'" + name + "'");
  static const llvm::StringRef known[] = {"--batch", "--micro-batches",
                                          "--cluster", "--pipeline"};
  for (llvm::StringRef name : state.jobOptionNames)
    if (!llvm::is_contained(known, name))
      return state.fail(ExitCode::usage,
                        "option '" + name + "' has no effect on a profile");
  std::string other;
  if (!options.inputs.empty())
    other = options.inputs.front();
  else if (!options.costs.empty())
    other = "--costs";
  else if (!options.job.empty())
    other = "--job";
  if (!other.empty())
    return state.fail(ExitCode::usage,
                      "'" + other + "' and a profile exclude each other");
  return ExitCode::done;
}

/// Checks the options of `--plan-pipeline`.
static ExitCode checkPlanning(CommandLineState &state) {
  const DriverOptions &options = state.options;
  auto needs = [&](llvm::StringRef option, const llvm::Twine &what) {
    return state.fail(ExitCode::usage, "option '" + option + "' needs " + what);
  };
  if (!options.profile.empty() && !options.planPipeline)
    return needs("--profile", "'--plan-pipeline'");
  if (options.profileSamples != 0 && options.profile.empty())
    return needs("--profile-samples", "'--profile=FILE'");
  if (!options.timeline.empty() && !options.planPipeline && !options.plan)
    return needs("--timeline", "'--plan-pipeline', '--plan' or '--simulate'");
  if (!options.trace.empty() && options.timeline.empty())
    return needs("--trace", "'--timeline=FILE.svg'");
  if (options.linker && (options.plan || options.planPipeline))
    return needs("--linker", "'--emit=" + phases::executable.name + "'");
  if (!options.planPipeline)
    return ExitCode::done;
  if (options.plan || !state.emitted.empty())
    return state.fail(ExitCode::usage, "option '--plan-pipeline' excludes "
                                       "'--plan' and '--emit'");
  if (!options.cuts.empty())
    return state.fail(
        ExitCode::usage,
        "options '--plan-pipeline' and '--cuts' exclude each other");
  return options.profile.empty() ? ExitCode::done : checkProfile(state);
}

/// Reports an error if options other than `known` are given. The first of
/// `known` is the option that excludes all others.
static ExitCode refuseOthers(CommandLineState &state,
                             llvm::ArrayRef<llvm::StringRef> known) {
  for (llvm::StringRef name : state.optionNames)
    if (!llvm::is_contained(known, name))
      return state.fail(ExitCode::usage, "options '" + known.front() +
                                             "' and '" + name +
                                             "' exclude each other");
  return ExitCode::done;
}

/// Checks the options of `--simulate`, which compiles nothing.
static ExitCode checkSimulation(CommandLineState &state) {
  const DriverOptions &options = state.options;
  if (ExitCode code =
          refuseOthers(state, {"--simulate", "--json", "--timeline"});
      code != ExitCode::done)
    return code;
  if (!options.inputs.empty())
    return state.fail(ExitCode::usage, "'" + options.inputs.front() +
                                           "' and '--simulate' exclude each "
                                           "other");
  if (options.json && options.timeline == "-")
    return state.fail(ExitCode::usage,
                      "options '--json' and '--timeline' would both write to "
                      "the standard output");
  return ExitCode::done;
}

/// Returns a hint for an argument that isn't an input. If another tool has a
/// command of this name, hftac may have an option.
static std::string suggestInput(llvm::StringRef input) {
  std::string option = ("--" + input).str();
  for (const OptionInfo &known : getOptions())
    if (known.name == option)
      return "did you mean '" + option + "'?";
  return "names end in .hfta, .onnx or .mlir";
}

static ExitCode checkInputs(CommandLineState &state) {
  DriverOptions &options = state.options;
  if (options.inputs.empty())
    return state.fail(ExitCode::usage, "no input file",
                      "hftac sweep.hfta -o sweep");
  for (const std::string &input : options.inputs) {
    std::optional<InputKind> kind = getInputKind(input);
    if (!kind)
      return state.fail(ExitCode::usage, "cannot tell what '" + input + "' is",
                        suggestInput(input));
    if (&input != &options.inputs.front() &&
        (*kind != options.inputKind || *kind != InputKind::onnx))
      return state.fail(ExitCode::usage,
                        "'" + input + "' cannot be compiled together with '" +
                            options.inputs.front() + "'",
                        "only several .onnx files make one job");
    options.inputKind = *kind;
  }
  if (options.inputKind != InputKind::job && !options.job.empty())
    return state.fail(ExitCode::usage,
                      "option '--job' needs a job file, not '" +
                          options.inputs.front() + "'");
  if (options.inputKind == InputKind::mlir && !state.jobOptionNames.empty())
    return state.fail(ExitCode::usage,
                      "option '" + state.jobOptionNames.front() +
                          "' has no effect on an .mlir input, which holds its "
                          "job");
  return ExitCode::done;
}

/// Checks the options of `--check-gradients`, which writes no output file.
static ExitCode checkChecking(CommandLineState &state) {
  if (ExitCode code =
          refuseOthers(state, {"--check-gradients", "--record", "--cpu",
                               "--remarks", "--timing", "-v"});
      code != ExitCode::done)
    return code;
  const DriverOptions &options = state.options;
  if (ExitCode code = checkInputs(state); code != ExitCode::done)
    return code;
  if (options.inputKind != InputKind::onnx || options.inputs.size() != 1)
    return state.fail(ExitCode::usage,
                      "option '--check-gradients' takes one ONNX model, got '" +
                          options.inputs.back() + "'");
  return ExitCode::done;
}

/// Checks the inputs of `--plan-pipeline`, which writes no program.
static ExitCode checkPlannedInputs(CommandLineState &state) {
  if (ExitCode code = checkInputs(state); code != ExitCode::done)
    return code;
  if (state.options.inputKind == InputKind::mlir)
    return state.fail(ExitCode::usage,
                      "'" + state.options.inputs.front() +
                          "' has its pipeline: '--plan-pipeline' takes a job");
  return ExitCode::done;
}

static std::string makeIdentifier(llvm::StringRef text) {
  std::string name;
  for (char c : text)
    name += llvm::isAlnum(c) ? c : '_';
  if (name.empty() || llvm::isDigit(name.front()))
    name.insert(name.begin(), '_');
  return name;
}

static std::string getDefaultOutput(const DriverOptions &options) {
  llvm::StringRef stem = llvm::sys::path::stem(options.inputs.front());
  if (options.emit == &phases::executable)
    return stem.str();
  if (options.emit == &phases::library)
    return "lib" + makeIdentifier(stem) + ".a";
  return options.emit == &phases::object ? (stem + phases::object.suffix).str()
                                         : "-";
}

std::string hfta::getLibraryName(llvm::StringRef output) {
  llvm::StringRef name = llvm::sys::path::filename(output);
  if (!name.consume_front("lib") || !name.consume_back(".a") || name.empty() ||
      llvm::isDigit(name.front()) ||
      !llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; }))
    return "";
  return name.str();
}

/// Determines the phase that `--emit` asks for, among those of the target.
static ExitCode resolvePhase(CommandLineState &state) {
  if (state.emitted.empty())
    return ExitCode::done;
  const Target &target = *state.options.target;
  if (Phase phase = findPhase(state.emitted, target)) {
    state.options.emit = phase;
    return ExitCode::done;
  }
  return state.fail(ExitCode::usage,
                    "'--emit=" + state.emitted + "' is a phase of '--target=" +
                        findTargetOfPhase(state.emitted)->getName() +
                        "', not of '--target=" + target.getName() + "'");
}

static bool hasOption(const Target &target, llvm::StringRef name) {
  return llvm::any_of(target.getOptions(), [&](const TargetOption &option) {
    return option.name == name;
  });
}

/// Checks the options of the targets: whether they belong to the one that the
/// job is for, and whether they fit each other.
static ExitCode checkTarget(CommandLineState &state) {
  const DriverOptions &options = state.options;
  for (llvm::StringRef name : state.optionNames) {
    if (!options.targetOptions.contains(name) ||
        hasOption(*options.target, name))
      continue;
    const Target *owner =
        *llvm::find_if(getTargets(), [&](const Target *target) {
          return hasOption(*target, name);
        });
    return state.fail(ExitCode::usage,
                      "option '" + name +
                          "' belongs to '--target=" + owner->getName() + "'");
  }
  if (std::optional<UsageError> error =
          options.target->checkOptions(options.targetOptions, options.emit))
    return state.fail(ExitCode::usage, error->message, error->hint);
  return ExitCode::done;
}

static ExitCode checkOutput(CommandLineState &state) {
  DriverOptions &options = state.options;
  if (options.plan && (!state.emitted.empty() || !options.output.empty()))
    return state.fail(ExitCode::usage,
                      "option '--plan' writes no file, and so excludes '-o' "
                      "and '--emit'");
  if (options.linker && options.emit != &phases::executable)
    return state.fail(ExitCode::usage, "option '--linker' needs '--emit=" +
                                           phases::executable.name + "'");
  if (options.output.empty())
    options.output = getDefaultOutput(options);
  if (isLinked(options.emit) && options.output == "-")
    return state.fail(ExitCode::usage, "'--emit=" + options.emit->name +
                                           "' needs a file: -o FILE");
  if (options.emit == &phases::library &&
      getLibraryName(options.output).empty())
    return state.fail(ExitCode::usage,
                      "'" + options.output +
                          "' is no name of a library, expected libNAME.a with "
                          "NAME an identifier of C");
  for (const std::string &input : options.inputs)
    if (options.output != "-" &&
        llvm::sys::fs::equivalent(input, options.output))
      return state.fail(ExitCode::usage, "the output '" + options.output +
                                             "' would replace the input '" +
                                             input + "'");
  return ExitCode::done;
}

ExitCode hfta::parseCommandLine(llvm::ArrayRef<const char *> arguments,
                                DriverOptions &options,
                                llvm::raw_ostream &errors) {
  CommandLineState state{options, errors, {}, {}, {}};
  bool onlyInputs = false;
  for (size_t at = 0; at < arguments.size(); ++at) {
    llvm::StringRef argument = arguments[at];
    if (onlyInputs || !argument.starts_with("-") || argument == "-") {
      options.inputs.push_back(argument.str());
      continue;
    }
    if (argument == "--") {
      onlyInputs = true;
      continue;
    }
    ExitCode code = applyOption(state, arguments, at);
    if (code != ExitCode::done || options.action != Action::compile)
      return code;
  }
  if (!options.workload.empty())
    return checkSimulation(state);
  if (options.json)
    return state.fail(ExitCode::usage,
                      "option '--json' needs '--simulate=FILE.json'");
  if (options.checkGradients)
    return checkChecking(state);
  if (!options.record.empty())
    return state.fail(ExitCode::usage,
                      "option '--record' needs '--check-gradients'");
  if (ExitCode code = checkPlanning(state);
      code != ExitCode::done || !options.profile.empty())
    return code;
  if (options.planPipeline)
    return checkPlannedInputs(state);
  for (ExitCode (*check)(CommandLineState &) :
       {checkInputs, resolvePhase, checkTarget, checkOutput})
    if (ExitCode code = check(state); code != ExitCode::done)
      return code;
  return ExitCode::done;
}
