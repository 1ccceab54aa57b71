//===- SettingTables.cpp - Prints tables of a job's settings --------------===//

#include "Hfta/Language/SettingTables.h"
#include "Analysis/JobAnalyzer.h"
#include "Hfta/Dialect/Hfta/IR/ParameterKinds.h"
#include "Hfta/Dialect/Hfta/Job/Averages.h"
#include "Hfta/Dialect/Hfta/Job/Optimizers.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;
using llvm::raw_ostream;

static std::string describeInitial(const SettingInfo &setting) {
  bool isAuto = (setting.traits & setting_traits::Auto) != 0 &&
                setting.initial == Job::kAuto;
  if (!setting.isClause() && !setting.byDefault.empty())
    return setting.byDefault.str();
  if (!setting.initial)
    return setting.byDefault.str();
  if (setting.type == SettingType::Flag)
    return *setting.initial != 0 ? "true" : "false";
  if (isAuto)
    return "auto";
  if (setting.type == SettingType::Size)
    return std::to_string(static_cast<int64_t>(*setting.initial));
  return printNumber(*setting.initial);
}

static std::string describeInitial(std::optional<double> initial,
                                   llvm::StringRef byDefault) {
  return initial ? printNumber(*initial) : byDefault.str();
}

/// Escapes bars in code for a cell of a Markdown table: `auto\|all`.
static std::string escapeBars(llvm::StringRef code) {
  std::string escaped;
  for (char c : code)
    escaped += c == '|' ? std::string("\\|") : std::string(1, c);
  return escaped;
}

/// Returns the placeholder for the setting's value.
static llvm::StringRef getUsage(const SettingInfo &setting) {
  return setting.usage.empty() ? "BOOL" : llvm::StringRef(setting.usage);
}

/// Prints the row of a clause with its required arguments. Arguments in
/// parentheses are part of the usage; other optional arguments are in a table
/// of their own.
static void printClause(raw_ostream &os, const KeywordInfo &keyword) {
  const SettingInfo *own = keyword.setting;
  llvm::StringRef usage = own ? own->usage : keyword.clause->usage;
  os << "| `" << keyword.name << (usage.starts_with("(") ? "" : " ")
     << escapeBars(usage);
  llvm::StringRef separator = usage.empty() ? "" : ", ";
  bool hasOptions = false;
  for (const SettingInfo *setting : getSettingsOf(keyword.name)) {
    if (setting == own || keyword.traits & setting_traits::Call)
      continue;
    if ((setting->traits & setting_traits::Required) == 0) {
      hasOptions = true;
      continue;
    }
    os << separator << setting->getArgument() << " = "
       << escapeBars(setting->usage);
    separator = ", ";
  }
  os << (hasOptions ? ", ..." : "") << "` | "
     << (own ? own->text : keyword.clause->text);
  if (own && own->isSwept())
    os << "; may be a list";
  llvm::StringRef byDefault = own ? own->byDefault : keyword.clause->byDefault;
  os << " | "
     << (byDefault.empty() && own ? describeInitial(*own) : byDefault.str())
     << " |\n";
}

static void printClauses(raw_ostream &os) {
  os << "| clause | meaning | default |\n|---|---|---|\n";
  for (const KeywordInfo &keyword : getKeywords())
    if (keyword.clause || keyword.setting->isClause())
      printClause(os, keyword);
}

static std::string quote(llvm::StringRef name) {
  return ("`" + name + "`").str();
}

/// Prints a table of the optional arguments of clauses, except those in
/// parentheses.
static void printArguments(raw_ostream &os) {
  os << "| clause | argument | meaning | default |\n|---|---|---|---|\n";
  for (const KeywordInfo &keyword : getKeywords()) {
    // Skip an argument of a clause that has the name of another clause.
    bool isArgument = keyword.setting && !keyword.setting->isClause();
    if (isArgument || (keyword.traits & setting_traits::Call))
      continue;
    for (const SettingInfo *setting : getSettingsOf(keyword.name)) {
      if (setting == keyword.setting)
        continue;
      bool isRequired = (setting->traits & setting_traits::Required) != 0;
      os << "| `" << keyword.name << "` | `" << setting->getArgument() << " = "
         << escapeBars(getUsage(*setting)) << "` | " << setting->text << " | "
         << (isRequired ? "required" : quote(describeInitial(*setting)))
         << " |\n";
    }
  }
}

static void printTypes(raw_ostream &os) {
  os << "| argument of `precision` | element type of | types "
        "|\n|---|---|---|\n";
#define HFTA_PRECISION(member, bits, text)                                     \
  os << "| `" #member "` | " text " | "                                        \
     << llvm::join(llvm::map_range(getFloatTypeNames(bits), quote), ", ")      \
     << " |\n";
#include "Hfta/Dialect/Hfta/Job/Settings.def"
  os << "| `multiply` | operands of matrix products and convolutions, in "
        "forward and backward passes: they are rounded before they are "
        "multiplied, and the products are added in `f32` | "
     << llvm::join(llvm::map_range(getFactorTypeNames(), quote), ", ")
     << "; default: the type of `compute`, without rounding |\n";
}

/// Prints the record of a loss or metric.
template <typename Info>
static void printObjective(raw_ostream &os, const Info &objective,
                           llvm::StringRef labelName) {
  os << "| `" << objective.name << "(output";
  if (!labelName.empty())
    os << ", " << labelName;
  for (const ObjectiveParameter &parameter : objective.parameters) {
    os << ", " << parameter.name;
    if (!parameter.isRequired())
      os << " = " << parameter.byDefault;
  }
  os << ")` | " << objective.text << " |\n";
}

static void printLosses(raw_ostream &os) {
  os << "| loss | meaning |\n|---|---|\n";
  for (const LossInfo &loss : getLosses())
    printObjective(os, loss, loss.labelName);
}

static void printMetrics(raw_ostream &os) {
  os << "| metric | meaning |\n|---|---|\n";
  for (const MetricInfo &metric : getMetrics())
    printObjective(os, metric, "label");
}

static void printCall(raw_ostream &os, llvm::StringRef name,
                      llvm::ArrayRef<ParameterInfo> parameters,
                      llvm::StringRef text) {
  os << "| `" << name << '(';
  llvm::interleaveComma(parameters, os, [&](const ParameterInfo &parameter) {
    os << describeUsage(parameter);
  });
  os << ")` | " << text << " |\n";
}

static void printOptimizers(raw_ostream &os) {
  os << "| optimizer | meaning |\n|---|---|\n";
  for (const OptimizerInfo &optimizer : getOptimizers())
    printCall(os, optimizer.name, optimizer.parameters, optimizer.text);
}

static void printParameterKinds(raw_ostream &os) {
  os << "| kind | parameters |\n|---|---|\n";
  for (auto [name, text] :
       llvm::zip_equal(getParameterKindNames(), getParameterKindTexts()))
    os << "| `" << name << "` | " << text << " |\n";
}

static void printAverages(raw_ostream &os) {
  os << "| average | meaning |\n|---|---|\n";
  for (const AverageInfo &average : getAverages())
    printCall(os, average.name, average.parameters, average.text);
}

static void printSchedules(raw_ostream &os) {
  os << "| schedule | factor in step s, counted from 0; "
        "t = s - warmup |\n|---|---|\n";
  for (const ScheduleInfo &schedule : getSchedules())
    printCall(os, schedule.name, schedule.parameters, schedule.factor);
}

/// Prints a table of the arguments in the parentheses of `kfac`.
static void printKfac(raw_ostream &os) {
  os << "| argument of `kfac` | meaning | default |\n|---|---|---|\n";
  auto printRow = [&](llvm::StringRef name, llvm::StringRef usage,
                      llvm::StringRef text, llvm::StringRef byDefault) {
    os << "| `" << name << " = " << escapeBars(usage) << "` | " << text << " | "
       << byDefault << " |\n";
  };
#define HFTA_KFAC_PARAMETER(name, initial, range, text, byDefault)             \
  printRow(#name, "X", text "; may be a list",                                 \
           describeInitial(initial, byDefault));
#include "Hfta/Dialect/Hfta/Job/Settings.def"
  for (const SettingInfo *setting : getSettingsOf("precondition"))
    printRow(setting->name, getUsage(*setting), setting->text,
             quote(describeInitial(*setting)));
}

/// Prints the records of samplers or rules.
static void printSearchKinds(raw_ostream &os, llvm::StringRef what,
                             llvm::ArrayRef<SearchKindInfo> table) {
  os << "| " << what << " | meaning |\n|---|---|\n";
  for (const SearchKindInfo &kind : table) {
    os << "| `" << kind.name << (kind.parameters.empty() ? "" : "(");
    llvm::interleaveComma(kind.parameters, os,
                          [&](const SearchParameterInfo &parameter) {
                            os << parameter.name;
                            if (!parameter.byDefault.empty())
                              os << " = " << parameter.byDefault;
                          });
    os << (kind.parameters.empty() ? "" : ")") << "` | " << kind.text << " |\n";
  }
}

static void printSamplers(raw_ostream &os) {
  printSearchKinds(os, "sampler", getSamplers());
}

static void printRules(raw_ostream &os) {
  printSearchKinds(os, "rule", getRules());
}

static void printDistributions(raw_ostream &os) {
  os << "| distribution | meaning |\n|---|---|\n";
  for (const DistributionInfo &distribution : getDistributions())
    os << "| `" << distribution.usage << "` | " << distribution.text << " |\n";
}

static void printFlags(raw_ostream &os) {
  os << "| flag | clause or argument |\n|---|---|\n";
  for (const KeywordInfo &keyword : getKeywords()) {
    if (keyword.flag.empty())
      continue;
    std::string flag = keyword.name.str();
    llvm::replace(flag, '_', '-');
    os << "| `--" << flag << '=' << escapeBars(keyword.flag) << "` | ";
    if (keyword.setting && !keyword.setting->isClause())
      os << "`" << keyword.setting->getArgument() << "` of `"
         << keyword.setting->clause << "`";
    else
      os << "`" << keyword.name << "`";
    os << " |\n";
  }
}

void hfta::printSettingTables(raw_ostream &os) {
  struct {
    llvm::StringLiteral name;
    void (*print)(raw_ostream &os);
  } tables[] = {{"clauses", printClauses},
                {"arguments", printArguments},
                {"types", printTypes},
                {"losses", printLosses},
                {"metrics", printMetrics},
                {"optimizers", printOptimizers},
                {"kinds", printParameterKinds},
                {"averages", printAverages},
                {"schedules", printSchedules},
                {"kfac", printKfac},
                {"distributions", printDistributions},
                {"samplers", printSamplers},
                {"rules", printRules},
                {"flags", printFlags}};
  llvm::interleave(
      tables, os,
      [&](const auto &table) {
        os << "## " << table.name << "\n\n";
        table.print(os);
      },
      "\n");
}
