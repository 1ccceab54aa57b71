//===- Activation.cpp - Operands and results of layers with windows -------===//

#include "Activation.h"

using namespace mlir;
using namespace mlir::hfta;

Activation Activation::get(Value logical) {
  std::optional<Transposition> stored = getTransposition(logical);
  if (stored &&
      stored->permutation == getChannelsFirst(stored->permutation.size()))
    return {stored->source, true};
  return {logical, false};
}

Activation Activation::store(OpBuilder &builder, Location loc,
                             bool wanted) const {
  if (channelsLast == wanted)
    return *this;
  return {
      pack(builder, loc, elements,
           wanted ? getChannelsLast(getRank()) : getChannelsFirst(getRank())),
      wanted};
}

Activation Activation::pad(OpBuilder &builder, Location loc,
                           ArrayRef<int64_t> low, ArrayRef<int64_t> high,
                           Value scalar) const {
  return {padFrom(builder, loc, elements, getFirstSpace(), low, high, scalar),
          channelsLast};
}

Value Activation::getLogical(OpBuilder &builder, Location loc) const {
  if (!channelsLast)
    return elements;
  return transpose(builder, loc, elements, getChannelsFirst(getRank()));
}

bool hfta::isStoredChannelsLast(Value logical) {
  return llvm::any_of(logical.getUsers(), [](Operation *user) {
    auto transpose = dyn_cast<TransposeOp>(user);
    return transpose && transpose.getPermutation() ==
                            ArrayRef<int64_t>(getChannelsLast(
                                transpose.getPermutation().size()));
  });
}
