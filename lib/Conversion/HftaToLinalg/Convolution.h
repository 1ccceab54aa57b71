//===- Convolution.h - Helpers of a convolution's lowerings -----*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_HFTATOLINALG_CONVOLUTION_H
#define HFTA_LIB_CONVERSION_HFTATOLINALG_CONVOLUTION_H

#include "Hfta/Conversion/HftaToLinalg.h"
#include "Windows.h"

#include "mlir/Transforms/DialectConversion.h"

namespace mlir::hfta {

/// The channels of a convolution. `inputs` and `outputs` count the channels of
/// one group. A loop nest has no loop over groups if there is one group, and
/// with several groups no loop over the channels of a group if there is one.
struct ChannelSizes {
  int64_t groups, inputs, outputs;

  bool hasInputs() const { return groups == 1 || inputs > 1; }
  bool hasOutputs() const { return groups == 1 || outputs > 1; }
};

inline ChannelSizes getChannelSizes(ArrayRef<int64_t> weightShape,
                                    int64_t groups) {
  return {groups, weightShape[1], weightShape[0] / groups};
}

/// The loops over channels. An axis is null if the nest has no such loop.
struct ChannelAxes {
  ChannelSizes sizes;
  Axis group, input, output;

  void addGroup(LoopNest &nest);
  void addOutput(LoopNest &nest);
  void addInput(LoopNest &nest, bool reduction);
};

/// Reshapes the channel axis to the axes (group, channel of the group), if
/// there are several groups and several channels in each. Else returns the
/// activation unchanged.
Activation splitChannels(OpBuilder &builder, Location loc,
                         const Activation &activation, int64_t groups);

/// The cheapest of the choices that were offered; among equally cheap ones the
/// first.
template <typename Choice>
class Cheapest {
public:
  Cheapest(Choice choice, double cost) : choice(choice), cost(cost) {}

  void offer(Choice other, double otherCost) {
    if (otherCost >= cost)
      return;
    cost = otherCost;
    choice = other;
  }
  Choice get() const { return choice; }

private:
  Choice choice;
  double cost;
};

/// Concatenates lists of axes and drops null axes.
Axes join(std::initializer_list<ArrayRef<Axis>> parts);

/// Adds the patterns for the weight gradient (WeightGradientToLinalg.cpp).
void populateWeightGradientPatterns(const TypeConverter &converter,
                                    RewritePatternSet &patterns,
                                    ProductForm form);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_HFTATOLINALG_CONVOLUTION_H
