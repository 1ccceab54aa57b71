//===- LossTerms.cpp - The terms of a loss --------------------------------===//

#include "Hfta/Dialect/Hfta/Job/LossTerms.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::hfta;

/// An array of dictionaries, one for each term.
static constexpr StringLiteral kLossTermsAttrName = "hfta.loss_terms";

void hfta::writeLossTerms(ModuleOp module, ArrayRef<LossTerm> terms) {
  if (terms.empty())
    return;
  Builder builder(module.getContext());
  SmallVector<Attribute> entries;
  for (const LossTerm &term : terms) {
    SmallVector<NamedAttribute> fields = {
        builder.getNamedAttr("name", builder.getStringAttr(term.name)),
        builder.getNamedAttr("weight", builder.getStringAttr(term.weight))};
    if (term.turn != 0)
      fields.push_back(
          builder.getNamedAttr("turn", builder.getI64IntegerAttr(term.turn)));
    entries.push_back(builder.getDictionaryAttr(fields));
  }
  module->setAttr(kLossTermsAttrName, builder.getArrayAttr(entries));
}

FailureOr<std::vector<LossTerm>> hfta::readLossTerms(ModuleOp module) {
  std::vector<LossTerm> terms;
  Attribute attribute = module->getAttr(kLossTermsAttrName);
  if (!attribute)
    return terms;
  llvm::StringSet<> names;
  auto entries = dyn_cast<ArrayAttr>(attribute);
  for (Attribute entry : entries ? entries.getValue() : ArrayRef<Attribute>()) {
    auto fields = dyn_cast<DictionaryAttr>(entry);
    auto name = fields ? fields.getAs<StringAttr>("name") : StringAttr();
    auto weight = fields ? fields.getAs<StringAttr>("weight") : StringAttr();
    if (!name || !weight || name.empty() ||
        !names.insert(name.getValue()).second)
      break;
    auto turn = fields.getAs<IntegerAttr>("turn");
    terms.push_back({name.getValue().str(), weight.getValue().str(),
                     turn ? turn.getInt() : 0});
  }
  if (entries && !entries.empty() && terms.size() == entries.size())
    return terms;
  return module.emitError("'") << kLossTermsAttrName
                               << "' must be a list of terms with different "
                                  "names";
}
