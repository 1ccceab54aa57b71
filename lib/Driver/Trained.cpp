//===- Trained.cpp - Which tensors a job trains ---------------------------===//

#include "Hfta/Driver/Trained.h"

#include "Hfta/Dialect/Hfta/IR/Training.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace mlir;
using namespace mlir::hfta;

static void remarkOn(VariableOp variable, TrainingRule rule) {
  std::string text = "'" + variable.getOwnName() + "'";
  if (std::optional<int64_t> copy = variable.getCopy())
    text += " of copy " + std::to_string(*copy);
  text += isTrained(rule) ? " is trained: " : " is frozen: ";
  text += describe(rule);
  remark::analysis(variable.getLoc(),
                   remark::RemarkOpts::name("Trained").category("hfta-train"))
      << text;
}

/// Returns a text such as "5 tensors (3 by default, 2 by a trainable clause)",
/// or "none".
static std::string describeCounts(const std::map<TrainingRule, int64_t> &counts,
                                  bool trained) {
  int64_t sum = 0;
  std::vector<std::string> reasons;
  for (auto [rule, count] : counts) {
    if (isTrained(rule) != trained)
      continue;
    sum += count;
    reasons.push_back(std::to_string(count) + " " + describe(rule).str());
  }
  if (sum == 0)
    return "none";
  return std::to_string(sum) + (sum == 1 ? " tensor (" : " tensors (") +
         llvm::join(reasons, "; ") + ")";
}

void hfta::reportTrained(ModuleOp module, llvm::StringRef label,
                         llvm::raw_ostream &os) {
  std::map<TrainingRule, int64_t> counts;
  for (auto variable : module.getOps<VariableOp>()) {
    TrainingRule rule = getTrainingRule(variable);
    if (variable.getRole() != Role::parameter || rule == TrainingRule::none)
      continue;
    ++counts[rule];
    remarkOn(variable, rule);
  }
  if (!counts.empty())
    os << "hftac: " << label << "trains "
       << describeCounts(counts, /*trained=*/true) << ", freezes "
       << describeCounts(counts, /*trained=*/false) << '\n';
}
