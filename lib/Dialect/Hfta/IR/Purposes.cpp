//===- Purposes.cpp - Purposes of the compiler's variables ----------------===//

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"
#include "Hfta/Dialect/Hfta/IR/VariableNames.h"

using namespace mlir;
using namespace mlir::hfta;

namespace {
/// The keys that distinguish the variables of one purpose.
enum Keys : uint8_t {
  Nothing = 0,
  Name = 1,
  Variable = 2,
  Both = 3,
  Term = 4 ///< the name of a term of the loss, which may be left out
};

struct PurposeInfo {
  Role role;
  uint8_t keys;
  /// The name of such a variable for users, to which its keys are appended. If
  /// it is empty, the name consists of the keys.
  StringLiteral text;
};
} // namespace

static PurposeInfo getInfo(Purpose purpose) {
  switch (purpose) {
  case Purpose::step:
    return {Role::scalar, Nothing, "step"};
  case Purpose::micro_batch:
    return {Role::scalar, Nothing, "micro_batch"};
  case Purpose::first_sample:
    return {Role::scalar, Nothing, "first_sample"};
  case Purpose::valid_samples:
    return {Role::scalar, Nothing, "valid_samples"};
  case Purpose::seed:
    return {Role::scalar, Nothing, "seed"};
  case Purpose::learning_rate:
    return {Role::scalar, Nothing, "learning_rate"};
  case Purpose::clip_norm:
    return {Role::scalar, Nothing, "clip_norm"};
  case Purpose::hyper_parameter:
    return {Role::scalar, Name, ""};
  case Purpose::clip_scale:
    return {Role::output, Term, "clip_scale"};
  case Purpose::norm:
    return {Role::output, Variable, "norm"};
  case Purpose::loss:
    return {Role::result, Term, "loss"};
  case Purpose::loss_weight:
    return {Role::result, Term, "loss/weight"};
  case Purpose::mean_loss:
    return {Role::result, Term, "loss/mean"};
  case Purpose::evaluation_loss:
    return {Role::result, Term, "evaluation/loss_sum"};
  case Purpose::evaluation_weight:
    return {Role::result, Term, "evaluation/weight_sum"};
  case Purpose::evaluation_metric:
    return {Role::result, Name, "evaluation/metric"};
  case Purpose::field:
    return {Role::input, Name, "input"};
  case Purpose::input:
    return {Role::input, Name, "infer"};
  case Purpose::output:
    return {Role::output, Name, "output"};
  case Purpose::gradient:
    return {Role::gradient, Variable | Term, "gradient"};
  case Purpose::state:
    return {Role::optimizer_state, Both, ""};
  case Purpose::initial:
    return {Role::constant, Variable, "initial"};
  case Purpose::batch_statistic:
    return {Role::exchange, Both, "batch_statistic"};
  case Purpose::loss_terms:
    return {Role::result, Nothing, "loss/terms"};
  case Purpose::curvature:
    return {Role::curvature, Both, ""};
  case Purpose::moment:
    return {Role::moment, Both, "moment"};
  case Purpose::inner_product:
    return {Role::output, Variable, "inner_product"};
  case Purpose::kl_scale:
    return {Role::result, Nothing, "kl_scale"};
  case Purpose::curvature_count:
    return {Role::result, Name, "curvature"};
  case Purpose::accumulations:
    return {Role::scalar, Nothing, "accumulations"};
  case Purpose::loss_scale:
    return {Role::optimizer_state, Name, "loss_scale"};
  case Purpose::loss_scale_result:
    return {Role::result, Name, "loss_scale_result"};
  }
  llvm_unreachable("all purposes are listed");
}

PurposeAttr PurposeAttr::get(MLIRContext *context, Purpose kind,
                             StringRef name) {
  return get(context, kind,
             name.empty() ? StringAttr() : StringAttr::get(context, name),
             FlatSymbolRefAttr());
}

PurposeAttr PurposeAttr::getOf(FlatSymbolRefAttr of, Purpose kind,
                               StringRef name) {
  MLIRContext *context = of.getContext();
  return get(context, kind,
             name.empty() ? StringAttr() : StringAttr::get(context, name), of);
}

// Checks constraints (C1) and (C2) of `#hfta.purpose`.
LogicalResult PurposeAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  Purpose kind, StringAttr name,
                                  FlatSymbolRefAttr of) {
  uint8_t keys = getInfo(kind).keys;
  bool isNamed = (keys & Name) || ((keys & Term) && name);
  if (isNamed != static_cast<bool>(name))
    return emitError() << "purpose '" << stringifyPurpose(kind)
                       << ((keys & Name) ? "' needs a name" : "' has no name");
  if (((keys & Variable) != 0) != static_cast<bool>(of))
    return emitError() << "purpose '" << stringifyPurpose(kind)
                       << ((keys & Variable) ? "' must be of a variable"
                                             : "' is of no variable");
  return success();
}

Role PurposeAttr::getRole() const { return getInfo(getKind()).role; }

/// Joins those of the parts that aren't empty, with slashes between them.
static std::string join(StringRef text, StringAttr name, StringRef subject) {
  std::string all = text.str();
  for (StringRef part : {name ? name.getValue() : StringRef(), subject})
    if (!part.empty())
      all += (all.empty() ? "" : "/") + part.str();
  return all;
}

std::string PurposeAttr::makeSymbol() const {
  StringRef text = getInfo(getKind()).text;
  if (getKind() == Purpose::hyper_parameter)
    text = stringifyPurpose(getKind());
  return names::getCompilerSymbol(
      join(text, getName(), getOf() ? getOf().getValue() : StringRef()));
}

std::string PurposeAttr::makeOwnName(StringRef subject) const {
  return join(getInfo(getKind()).text, getName(), subject);
}
