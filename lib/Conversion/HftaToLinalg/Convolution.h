//===- Convolution.h - What a convolution's lowerings share -----*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_HFTATOLINALG_CONVOLUTION_H
#define HFTA_LIB_CONVERSION_HFTATOLINALG_CONVOLUTION_H

#include "Hfta/Conversion/HftaToLinalg.h"
#include "Windows.h"

#include "mlir/Transforms/DialectConversion.h"

namespace mlir::hfta {

/// Channels of a convolution; `inputs` and `outputs` are those of one group.
/// There are no loops over one group, nor over one channel in several groups.
struct ChannelSizes {
  int64_t groups, inputs, outputs;

  bool hasInputs() const { return groups == 1 || inputs > 1; }
  bool hasOutputs() const { return groups == 1 || outputs > 1; }
};

inline ChannelSizes getChannelSizes(ArrayRef<int64_t> weightShape,
                                    int64_t groups) {
  return {groups, weightShape[1], weightShape[0] / groups};
}

/// Loops over channels; null where there is none.
struct ChannelAxes {
  ChannelSizes sizes;
  Axis group, input, output;

  void addGroup(LoopNest &nest);
  void addOutput(LoopNest &nest);
  void addInput(LoopNest &nest, bool reduction);
};

/// Makes two axes, (group, channel), of the channels if both have a loop.
Activation splitChannels(OpBuilder &builder, Location loc,
                         const Activation &activation, int64_t groups);

/// The first of the cheapest choices that were offered.
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

/// All axes but the null ones.
Axes join(std::initializer_list<ArrayRef<Axis>> parts);

/// The convolution's weight gradient (its own file).
void populateWeightGradientPatterns(const TypeConverter &converter,
                                    RewritePatternSet &patterns,
                                    ProductForm form);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_HFTATOLINALG_CONVOLUTION_H
