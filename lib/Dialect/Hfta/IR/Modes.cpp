//===- Modes.cpp - Batch norms and dropouts that stay in one mode ---------===//

#include "Hfta/Dialect/Hfta/IR/Modes.h"

namespace mlir::hfta {

/// Attribute of a model or module: the nodes that have a mode, a list of
/// dictionaries.
static constexpr StringLiteral kModalNodesAttrName = "hfta.modal_nodes";

namespace {
struct RuleInfo {
  ModeRule rule;
  bool isEvaluation;
  StringLiteral word, text;
};
struct KindInfo {
  ModalKind kind;
  StringLiteral word, one, many;
};
} // namespace

static constexpr RuleInfo kRules[] = {
#define HFTA_MODE_RULE(identifier, number, evaluation, word, text)             \
  {ModeRule::identifier, (evaluation) != 0, word, text},
    HFTA_MODE_RULES
#undef HFTA_MODE_RULE
};

static constexpr KindInfo kKinds[] = {
#define HFTA_MODAL_KIND(identifier, number, word, one, many)                   \
  {ModalKind::identifier, word, one, many},
    HFTA_MODAL_KINDS
#undef HFTA_MODAL_KIND
};

static const RuleInfo &getInfo(ModeRule rule) {
  return *llvm::find_if(
      kRules, [&](const RuleInfo &info) { return info.rule == rule; });
}

static const KindInfo &getInfo(ModalKind kind) {
  return *llvm::find_if(
      kKinds, [&](const KindInfo &info) { return info.kind == kind; });
}

bool isEvaluation(ModeRule rule) { return getInfo(rule).isEvaluation; }

StringRef describe(ModeRule rule) { return getInfo(rule).text; }

std::string describe(ModalKind kind, int64_t count) {
  const KindInfo &info = getInfo(kind);
  return std::to_string(count) + " " +
         (count == 1 ? info.one.str() : info.many.str());
}

std::string describeCopies(ArrayRef<int64_t> copies) {
  std::string text = copies.size() == 1 ? "copy " : "copies ";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(copies, os);
  return text;
}

//===----------------------------------------------------------------------===//
// Notes
//===----------------------------------------------------------------------===//

void setModalNodes(Operation *op, ArrayRef<ModalNode> nodes) {
  if (nodes.empty())
    return;
  Builder builder(op->getContext());
  SmallVector<Attribute> noted;
  for (const ModalNode &node : nodes) {
    NamedAttrList entry;
    entry.set("name", builder.getStringAttr(node.name));
    entry.set("kind", builder.getStringAttr(getInfo(node.kind).word));
    entry.set("rule", builder.getStringAttr(getInfo(node.rule).word));
    if (!node.copies.empty())
      entry.set("copies", builder.getDenseI64ArrayAttr(node.copies));
    noted.push_back(entry.getDictionary(op->getContext()));
  }
  op->setAttr(kModalNodesAttrName, builder.getArrayAttr(noted));
}

/// Returns the node that an entry describes; nothing if the entry, in a module
/// that was edited by hand, isn't one.
static std::optional<ModalNode> readNode(Attribute attribute) {
  auto entry = dyn_cast<DictionaryAttr>(attribute);
  auto name = entry ? entry.getAs<StringAttr>("name") : StringAttr();
  auto kindWord = entry ? entry.getAs<StringAttr>("kind") : StringAttr();
  auto ruleWord = entry ? entry.getAs<StringAttr>("rule") : StringAttr();
  if (!name || !kindWord || !ruleWord)
    return std::nullopt;
  const auto *kind = llvm::find_if(kKinds, [&](const KindInfo &info) {
    return info.word == kindWord.getValue();
  });
  const auto *rule = llvm::find_if(kRules, [&](const RuleInfo &info) {
    return info.word == ruleWord.getValue();
  });
  if (kind == std::end(kKinds) || rule == std::end(kRules))
    return std::nullopt;
  ModalNode node{name.getValue().str(), kind->kind, rule->rule};
  if (auto copies = entry.getAs<DenseI64ArrayAttr>("copies"))
    node.copies.assign(copies.asArrayRef().begin(), copies.asArrayRef().end());
  return node;
}

SmallVector<ModalNode> getModalNodes(Operation *op) {
  SmallVector<ModalNode> nodes;
  if (auto noted = op->getAttrOfType<ArrayAttr>(kModalNodesAttrName))
    for (Attribute entry : noted)
      if (std::optional<ModalNode> node = readNode(entry))
        nodes.push_back(*node);
  return nodes;
}

void collectModalNodes(ModuleOp module, int64_t copies) {
  SmallVector<ModalNode> all;
  for (auto model : module.getOps<ModelOp>()) {
    for (const ModalNode &node : getModalNodes(model)) {
      auto *known = llvm::find_if(all, [&](const ModalNode &other) {
        return other.name == node.name && other.kind == node.kind &&
               other.rule == node.rule;
      });
      if (known == all.end())
        known = all.insert(all.end(), node);
      llvm::append_range(known->copies, model.getCopies());
    }
    model->removeAttr(kModalNodesAttrName);
  }
  for (ModalNode &node : all) {
    llvm::sort(node.copies);
    node.copies.erase(llvm::unique(node.copies), node.copies.end());
    if (static_cast<int64_t>(node.copies.size()) == copies)
      node.copies.clear();
  }
  setModalNodes(module, all);
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

ModeChooser::ModeChooser(ArrayRef<std::string> evaluation,
                         ArrayRef<std::string> training)
    : evaluation(evaluation.begin(), evaluation.end()),
      training(training.begin(), training.end()) {}

bool ModeChooser::choose(ModalKind kind, ArrayRef<std::string> names,
                         ModeRule byFile) {
  auto isMatchedBy = [&](ArrayRef<ParameterPattern> patterns) {
    return llvm::any_of(names, [&](const std::string &name) {
      return anyMatches(patterns, name);
    });
  };
  ModeRule rule = byFile;
  if (isMatchedBy(training))
    rule = ModeRule::training_mode;
  else if (isMatchedBy(evaluation))
    rule = ModeRule::evaluation_mode;
  nodes.push_back({names.front(), kind, rule});
  llvm::append_range(known, names);
  return isEvaluation(rule);
}

SmallVector<StringRef> ModeChooser::getNames() const {
  SmallVector<StringRef> names(known.begin(), known.end());
  llvm::sort(names);
  names.erase(llvm::unique(names), names.end());
  return names;
}

bool ModeChooser::check(Report report) const {
  SmallVector<StringRef> names = getNames();
  bool good = true;
  auto checkAll = [&](ArrayRef<ParameterPattern> patterns, bool isTraining) {
    for (auto [index, pattern] : llvm::enumerate(patterns)) {
      std::string wrong = findProblem(
          pattern, names,
          "batch normalization with running statistics and no "
          "dropout",
          isTraining ? ArrayRef<ParameterPattern>() : ArrayRef(training),
          " has no effect: 'training_mode' matches all that it does");
      if (wrong.empty())
        continue;
      good = false;
      report(isTraining, index,
             Twine(isTraining ? "training_mode" : "evaluation_mode") +
                 " pattern '" + pattern.getText() + "'" + wrong);
    }
  };
  checkAll(evaluation, /*isTraining=*/false);
  checkAll(training, /*isTraining=*/true);
  return good;
}

} // namespace mlir::hfta
