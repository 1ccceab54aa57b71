//===- Trained.cpp - Reports which tensors a job trains -------------------===//

#include "Hfta/Driver/Compile/Trained.h"

#include "Hfta/Dialect/Hfta/IR/Modes.h"
#include "Hfta/Dialect/Hfta/IR/OnnxNames.h"
#include "Hfta/Dialect/Hfta/IR/Training.h"
#include "Hfta/Dialect/Hfta/Job/Job.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"
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

/// Describes how many tensors are trained (or frozen), by reason, as in "5
/// tensors (3 by default; 2 by a trainable clause)"; returns "none" if there
/// are none.
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

static void remarkOn(const ModalNode &node, Location location) {
  std::string text = "'" + node.name + "'";
  if (!node.copies.empty())
    text += " of " + describeCopies(node.copies);
  text += isEvaluation(node.rule) ? " is in evaluation mode: "
                                  : " is in training mode: ";
  text += describe(node.rule);
  remark::analysis(location,
                   remark::RemarkOpts::name("Mode").category("hfta-train"))
      << text;
}

/// Describes how many of the nodes of a kind are in which mode, as in "; 2
/// dropouts in training mode" or "; 3 of 5 batch normalizations in evaluation
/// mode (3 by the file, which ...)".
static std::string describeModes(ArrayRef<ModalNode> nodes, ModalKind kind) {
  int64_t all = 0, kept = 0;
  std::map<ModeRule, int64_t> counts;
  for (const ModalNode &node : nodes) {
    if (node.kind != kind)
      continue;
    ++all;
    kept += isEvaluation(node.rule);
    if (isEvaluation(node.rule))
      ++counts[node.rule];
  }
  if (kept == 0)
    return all == 0 ? "" : "; " + describe(kind, all) + " in training mode";
  std::vector<std::string> reasons;
  for (auto [rule, count] : counts)
    reasons.push_back(std::to_string(count) + " " + describe(rule).str());
  return "; " + (kept == all ? "" : std::to_string(kept) + " of ") +
         describe(kind, all) + " in evaluation mode (" +
         llvm::join(reasons, "; ") + ")";
}

void hfta::collectTrainingNotes(ModuleOp module) {
  llvm::SetVector<Attribute> notes;
  // Models from files of one kind have equal notes, which are kept once.
  for (auto model : module.getOps<ModelOp>())
    if (auto texts = dyn_cast_or_null<ArrayAttr>(
            model->removeAttr(kTrainingNotesAttrName)))
      notes.insert(texts.begin(), texts.end());
  if (!notes.empty())
    module->setAttr(kTrainingNotesAttrName,
                    ArrayAttr::get(module.getContext(), notes.getArrayRef()));
}

LogicalResult hfta::reportTrained(ModuleOp module, llvm::StringRef label,
                                  llvm::raw_ostream &os) {
  FailureOr<Job> job = Job::read(module);
  if (failed(job))
    return failure();
  if (!job->training)
    return success();
  std::map<TrainingRule, int64_t> counts;
  bool trainsAny = false;
  for (auto variable : module.getOps<VariableOp>()) {
    TrainingRule rule = getTrainingRule(variable);
    if (variable.getRole() != Role::parameter || rule == TrainingRule::none)
      continue;
    ++counts[rule];
    trainsAny |= isTrained(rule);
    remarkOn(variable, rule);
  }
  os << "hftac: ";
  if (!trainsAny)
    os << "error: ";
  os << label;
  if (trainsAny)
    os << "trains " << describeCounts(counts, /*trained=*/true);
  else
    os << "the job trains nothing";
  os << ", freezes " << describeCounts(counts, /*trained=*/false);
  SmallVector<ModalNode> modal = getModalNodes(module);
  for (const ModalNode &node : modal)
    remarkOn(node, module.getLoc());
#define HFTA_MODAL_KIND(identifier, number, word, one, many)                   \
  os << describeModes(modal, ModalKind::identifier);
  HFTA_MODAL_KINDS
#undef HFTA_MODAL_KIND
  if (auto notes = dyn_cast_or_null<ArrayAttr>(
          module->removeAttr(kTrainingNotesAttrName)))
    for (auto note : notes.getAsRange<StringAttr>())
      os << "; " << note.getValue();
  os << '\n';
  return success(trainsAny);
}
