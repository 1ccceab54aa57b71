//===- Options.cpp - The table of hftac's options -------------------------===//

#include "CommandLine/Options.h"

#include "Hfta/Dialect/Hfta/Job/Settings.h"

#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::hfta;

ExitCode CommandLineState::fail(ExitCode code, const llvm::Twine &message,
                                const llvm::Twine &hint) {
  errors << "hftac: error: " << message << '\n';
  std::string text = hint.str();
  if (!text.empty())
    errors << "hint: " << text << '\n';
  return code;
}

//===----------------------------------------------------------------------===//
// Effects of the options
//===----------------------------------------------------------------------===//

template <Action action>
static ExitCode setAction(CommandLineState &state, const OptionInfo &,
                          llvm::StringRef) {
  state.options.action = action;
  return ExitCode::done;
}

template <bool DriverOptions::*member, bool value>
static ExitCode setFlag(CommandLineState &state, const OptionInfo &,
                        llvm::StringRef) {
  state.options.*member = value;
  return ExitCode::done;
}

template <std::string DriverOptions::*member>
static ExitCode setText(CommandLineState &state, const OptionInfo &option,
                        llvm::StringRef value) {
  if (value.empty())
    return state.fail(ExitCode::usage, "option '" + option.name +
                                           "' has an empty value, expected " +
                                           option.value);
  state.options.*member = value.str();
  return ExitCode::done;
}

/// Checks the value of an option that has a few possible values, `choices`.
/// Those in `later` are known but aren't supported yet.
static ExitCode checkChoice(CommandLineState &state, const OptionInfo &option,
                            llvm::StringRef value,
                            llvm::ArrayRef<llvm::StringRef> choices,
                            llvm::ArrayRef<llvm::StringRef> later) {
  if (llvm::is_contained(choices, value))
    return ExitCode::done;
  if (llvm::is_contained(later, value))
    return state.fail(ExitCode::unsupported,
                      "'" + option.name + "=" + value +
                          "' is not supported in this version, expected " +
                          llvm::join(choices, " or "));
  return state.fail(ExitCode::usage,
                    "option '" + option.name + "' cannot be '" + value + "'",
                    suggest(value, choices, "values"));
}

static llvm::SmallVector<llvm::StringRef> getPhaseNames() {
  return llvm::map_to_vector(
      getPhases(), [](Phase phase) { return llvm::StringRef(phase->name); });
}

static ExitCode setEmit(CommandLineState &state, const OptionInfo &option,
                        llvm::StringRef value) {
  // The target may follow later, so whether it has this phase is checked then.
  if (findTargetOfPhase(value)) {
    state.emitted = value.str();
    return ExitCode::done;
  }
  return checkChoice(state, option, value, getPhaseNames(), {});
}

static llvm::SmallVector<llvm::StringRef> getTargetNames() {
  return llvm::map_to_vector(
      getTargets(), [](const Target *target) { return target->getName(); });
}

static ExitCode setTarget(CommandLineState &state, const OptionInfo &option,
                          llvm::StringRef value) {
  if (const Target *target = findTarget(value)) {
    state.options.target = target;
    state.options.isTargetGiven = true;
    return ExitCode::done;
  }
  return checkChoice(state, option, value, getTargetNames(), {});
}

/// Sets an option of a target. Whether it belongs to the job's target is
/// checked later, as `--target` may follow.
static ExitCode setTargetOption(CommandLineState &state,
                                const OptionInfo &option,
                                llvm::StringRef value) {
  for (const Target *target : getTargets())
    for (const TargetOption &known : target->getOptions()) {
      if (known.name != option.name)
        continue;
      if (std::optional<UsageError> error = known.check(value))
        return state.fail(ExitCode::usage, error->message, error->hint);
    }
  state.options.targetOptions[option.name] = value.str();
  return ExitCode::done;
}

static llvm::SmallVector<llvm::StringRef> getLinkerNames() {
  return llvm::map_to_vector(getLinkers(), getName);
}

static ExitCode setLinker(CommandLineState &state, const OptionInfo &option,
                          llvm::StringRef value) {
  for (Linker linker : getLinkers())
    if (value == getName(linker)) {
      state.options.linker = linker;
      return ExitCode::done;
    }
  return checkChoice(state, option, value, getLinkerNames(), {});
}

static ExitCode setWeights(CommandLineState &state, const OptionInfo &option,
                           llvm::StringRef value) {
  return checkChoice(state, option, value, {"embedded"}, {"external"});
}

static ExitCode setProfileSamples(CommandLineState &state,
                                  const OptionInfo &option,
                                  llvm::StringRef value) {
  constexpr int64_t kMost = 1 << 24;
  int64_t samples;
  if (value.getAsInteger(10, samples) || samples < 1 || samples > kMost)
    return state.fail(ExitCode::usage, "option '" + option.name +
                                           "' is a whole number from 1 to " +
                                           llvm::Twine(kMost) + ", got '" +
                                           value + "'");
  state.options.profileSamples = samples;
  return ExitCode::done;
}

static ExitCode addJobFlag(CommandLineState &state, const OptionInfo &option,
                           llvm::StringRef value) {
  state.options.jobFlags.push_back({option.name.substr(2), value.str()});
  state.jobOptionNames.push_back(option.name);
  return ExitCode::done;
}

static ExitCode setNoFuse(CommandLineState &state, const OptionInfo &option,
                          llvm::StringRef) {
  state.options.fuse = false;
  state.jobOptionNames.push_back(option.name);
  return ExitCode::done;
}

static ExitCode setData(CommandLineState &state, const OptionInfo &option,
                        llvm::StringRef value) {
  state.jobOptionNames.push_back(option.name);
  return setText<&DriverOptions::dataDirectory>(state, option, value);
}

static ExitCode addConstant(CommandLineState &state, const OptionInfo &option,
                            llvm::StringRef value) {
  auto [name, path] = value.split('=');
  if (name.empty() || path.empty())
    return state.fail(ExitCode::usage, "expected '" + option.name +
                                           " NAME=FILE.npy', got '" + value +
                                           "'");
  for (const ConstantBinding &other : state.options.constants)
    if (name == other.name)
      return state.fail(ExitCode::usage,
                        "input '" + name + "' is bound to a constant twice");
  state.options.constants.push_back({name.str(), path.str()});
  state.jobOptionNames.push_back(option.name);
  return ExitCode::done;
}

static ExitCode addCuts(CommandLineState &state, const OptionInfo &option,
                        llvm::StringRef value) {
  llvm::SmallVector<llvm::StringRef> names;
  value.split(names, ',');
  for (llvm::StringRef name : names) {
    if (name.trim().empty())
      return state.fail(ExitCode::usage, "option '" + option.name +
                                             "' has an empty name in '" +
                                             value + "'");
    state.options.cuts.push_back(name.trim().str());
  }
  return ExitCode::done;
}

//===----------------------------------------------------------------------===//
// The table of options
//===----------------------------------------------------------------------===//

llvm::StringRef hfta::getTitle(OptionGroup group) {
  switch (group) {
  case OptionGroup::output:
    return "output";
  case OptionGroup::target:
    return "target";
  case OptionGroup::job:
    return "job (all but --no-fuse can also be written in a job file: see "
           "docs/language.md)";
  case OptionGroup::binding:
    return "models and data";
  case OptionGroup::report:
    return "reports";
  case OptionGroup::other:
    return "other";
  }
  llvm_unreachable("all groups are listed");
}

using G = OptionGroup;
using D = DriverOptions;

/// Options for the compiler's output, which don't concern the job.
static const OptionInfo kOutputOptions[] = {
    {"-o", "FILE", "write to FILE ('-': standard output)", G::output,
     setText<&D::output>},
    {"--emit", "PHASE", "stop after PHASE (listed below) and write its output",
     G::output, setEmit, getPhaseNames},
    {"--job", "NAME", "compile only this job of a file that has several",
     G::output, setText<&D::job>},
    {"--weights", "PLACE",
     "where initial weights are stored; only 'embedded', in the program, "
     "exists",
     G::output, setWeights},
};

/// Options for the job other than those named after clauses.
static const OptionInfo kJobOptions[] = {
    {"--train-data", "FIELD=FILE,...", "files to train with", G::job,
     addJobFlag},
    {"--test-data", "FIELD=FILE,...", "files to test with", G::job, addJobFlag},
    {"--validation-data", "FIELD=FILE,...",
     "files to compare copies with during training", G::job, addJobFlag},
    {"--no-fuse", "",
     "don't fuse the copies' computations (a baseline; results are equal)",
     G::job, setNoFuse},
};

static const OptionInfo kOtherOptions[] = {
    {"--constant", "NAME=FILE.npy",
     "give a model's input a constant value at compile time", G::binding,
     addConstant},
    {"--data", "DIR", "where relative names of data files are looked up",
     G::binding, setData},
    {"--cuts", "NAME,...|all",
     "divide the model at these values, as 'cuts' of pipeline, without stages",
     G::binding, addCuts},

    {"--plan", "",
     "print memory, and flops and bytes of each part of a step, then stop",
     G::report, setFlag<&D::plan, true>},
    {"--plan-pipeline", "",
     "plan a pipeline for the job or for --profile; -o writes it as JSON",
     G::report, setFlag<&D::planPipeline, true>},
    {"--profile", "FILE",
     "measured times of layers for --plan-pipeline, see docs/pipelines.md",
     G::report, setText<&D::profile>},
    {"--profile-samples", "N", "batch size with which the profile was measured",
     G::report, setProfileSamples},
    {"--check-gradients", "",
     "compare losses and gradients of an ONNX model with PyTorch's", G::report,
     setFlag<&D::checkGradients, true>},
    {"--record", "FILE",
     "file of hfta.export.record (default: NAME.record.safetensors)", G::report,
     setText<&D::record>},
    {"--costs", "FILE",
     "measured times for plans, as the program's bench --phases --json prints",
     G::report, setText<&D::costs>},
    {"--simulate", "FILE.json",
     "simulate trainings that share devices, see docs/scheduling.md", G::report,
     setText<&D::workload>},
    {"--json", "", "print the results of --simulate as JSON", G::report,
     setFlag<&D::json, true>},
    {"--timeline", "FILE.svg",
     "draw a step of the planned pipeline, with one row per device", G::report,
     setText<&D::timeline>},
    {"--trace", "FILE.json",
     "with --timeline: also draw the trace that a program wrote", G::report,
     setText<&D::trace>},
    {"--remarks", "",
     "report what is fused and what isn't, and the layouts of tensors",
     G::report, setFlag<&D::remarks, true>},
    {"--timing", "", "print the time of each phase", G::report,
     setFlag<&D::timing, true>},
    {"-v", "", "print each phase as it begins", G::report,
     setFlag<&D::verbose, true>},

    {"--list-supported-ops", "", "list the ONNX operators", G::other,
     setAction<Action::listSupportedOps>},
    {"--list-targets", "", "list devices and processors", G::other,
     setAction<Action::listTargets>},
    {"--list-settings", "", "list the clauses and settings of job files",
     G::other, setAction<Action::listSettings>},
    {"--version", "", "print the version", G::other,
     setAction<Action::version>},
    {"--help", "", "print this help", G::other, setAction<Action::help>},
    {"-h", "", "print this help", G::other, setAction<Action::help>},
};

/// Makes the option for a clause or setting from its record in Settings.def.
static OptionInfo makeJobOption(const KeywordInfo &keyword) {
  std::string name = "--" + keyword.name.str();
  llvm::replace(name, '_', '-');
  bool isOfModel = (keyword.traits & setting_traits::OfModel) != 0;
  return {name, keyword.flag, keyword.help,
          isOfModel ? OptionGroup::binding : OptionGroup::job, addJobFlag};
}

/// Appends `--target` and the options of all targets. Targets that derive from
/// another may have options in common, which are listed once.
static void addTargetOptions(std::vector<OptionInfo> &options) {
  static const std::string help = [] {
    llvm::SmallVector<llvm::StringRef> names = getTargetNames();
    std::string first = names.front().str() + " (default), ";
    return "kind of device: " + first +
           llvm::join(llvm::drop_begin(names), ", ");
  }();
  options.push_back(
      {"--target", "TARGET", help, G::target, setTarget, getTargetNames});
  for (const Target *target : getTargets())
    for (const TargetOption &option : target->getOptions())
      if (llvm::none_of(options, [&](const OptionInfo &other) {
            return other.name == option.name;
          }))
        options.push_back({option.name.str(), option.value, option.help,
                           G::target, setTargetOption});
}

/// Makes the option for the linkers that this process can use.
static OptionInfo makeLinkerOption() {
  static const std::string help =
      "who links the program: " +
      llvm::join(getLinkerNames(), " (default) or ");
  return {"--linker", "LINKER", help, G::output, setLinker, getLinkerNames};
}

std::vector<OptionInfo> hfta::getOptions() {
  std::vector<OptionInfo> options(std::begin(kOutputOptions),
                                  std::end(kOutputOptions));
  options.push_back(makeLinkerOption());
  addTargetOptions(options);
  for (const KeywordInfo &keyword : getKeywords())
    if (!keyword.flag.empty())
      options.push_back(makeJobOption(keyword));
  llvm::append_range(options, kJobOptions);
  llvm::append_range(options, kOtherOptions);
  return options;
}
