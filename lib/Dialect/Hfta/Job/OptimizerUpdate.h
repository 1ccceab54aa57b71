//===- OptimizerUpdate.h - What updates are built of ------------*- C++ -*-===//
//
// The operands of an optimizer's update, and the parameters and parts of
// formulas that several optimizers have in common.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_DIALECT_HFTA_JOB_OPTIMIZERUPDATE_H
#define HFTA_LIB_DIALECT_HFTA_JOB_OPTIMIZERUPDATE_H

#include "Hfta/Dialect/Hfta/IR/Expression.h"
#include "Hfta/Dialect/Hfta/Job/Optimizers.h"

namespace mlir::hfta {

/// Returns the axes of an update's parameter that number the outputs of its
/// layer: the first one, if the op doesn't say which and there is one.
SmallVector<int64_t> getOutputAxes(OptimizerUpdateOp op);

/// The operands of an update, by their names, and its results. Tensors have the
/// widest type of parameter and states; scalars, and states that are one
/// number, are f64 until they are combined with a tensor.
class OptimizerUpdate {
public:
  OptimizerUpdate(OptimizerUpdateOp op, OpBuilder &builder)
      : given(op.getGivenOptions()), outputAxes(hfta::getOutputAxes(op)),
        builder(builder), parameter(builder, op.getLoc(), op.getParameter()),
        gradient(parameter.at(op.getGradient())),
        computeType(parameter.getElementType()) {
    const OptimizerInfo &info = op.getInfo();
    SmallVector<const OptimizerState *> kept =
        info.getStates(given, parameter.getShape(), outputAxes);
    for (auto [state, value] : llvm::zip_equal(kept, op.getStates())) {
      Type type = getElementTypeOrSelf(value);
      if (state->extent != StateExtent::number &&
          type.getIntOrFloatBitWidth() > computeType.getIntOrFloatBitWidth())
        computeType = type;
    }
    for (auto [state, value] : llvm::zip_equal(kept, op.getStates())) {
      Expression own = parameter.at(value);
      states.push_back({state->name, state->extent == StateExtent::number
                                         ? own
                                         : own.to(computeType)});
    }
    for (auto [name, value] :
         llvm::zip_equal(info.getScalars(given), op.getScalars()))
      scalars.push_back({name, parameter.at(value)});
    gradient = gradient.to(computeType);
    parameter = parameter.to(computeType);
  }

  /// Returns whether a flag is set or an optional parameter has a value.
  bool has(StringRef name) const { return llvm::is_contained(given, name); }
  Expression &state(StringRef name) { return find(states, name); }
  bool hasState(StringRef name) const {
    return llvm::any_of(states,
                        [&](const Named &state) { return state.name == name; });
  }
  /// Returns a parameter or "step", as an f64 scalar. "lr" is the learning rate
  /// of the current step.
  Expression scalar(StringRef name) {
    const Expression &value = find(scalars, name);
    return value.to(Float64Type::get(Value(value).getContext()));
  }
  /// Broadcasts a scalar to the parameter's shape.
  Expression fill(const Expression &scalar) const {
    return scalar.to(computeType).fill(parameter.getShape());
  }
  Expression filled(StringRef name) { return fill(scalar(name)); }
  /// Returns the square root of the sum of a tensor's squares, as an f64
  /// scalar.
  Expression norm(const Expression &tensor) const;
  /// Returns the axes of the parameter that number the outputs of its layer.
  ArrayRef<int64_t> getOutputAxes() const { return outputAxes; }
  OpBuilder &getBuilder() const { return builder; }
  /// Returns the type in which the update is computed.
  FloatType getComputeType() const { return cast<FloatType>(computeType); }

  /// Returns the new parameter and then the new states, in the order of the
  /// op's results.
  SmallVector<Expression> getResults() const {
    SmallVector<Expression> results = {parameter};
    for (const Named &state : states)
      results.push_back(state.value);
    return results;
  }

private:
  struct Named {
    StringRef name;
    Expression value;
  };
  static Expression &find(SmallVectorImpl<Named> &values, StringRef name) {
    for (Named &named : values)
      if (named.name == name)
        return named.value;
    llvm_unreachable("an update reads what its record doesn't name");
  }

  SmallVector<StringRef> given;
  SmallVector<int64_t> outputAxes;
  OpBuilder &builder;

public:
  Expression parameter;
  Expression gradient;

private:
  Type computeType;
  SmallVector<Named> states, scalars;
};

//===----------------------------------------------------------------------===//
// Parameters that several optimizers have
//===----------------------------------------------------------------------===//

inline constexpr ParameterInfo kRate = {"lr", NumberRange::nonNegative(), 1e-3};
inline constexpr ParameterInfo kWeightDecay = {"weight_decay",
                                               NumberRange::nonNegative(), 0};
inline constexpr ParameterInfo kBeta1 = {"beta1", NumberRange::belowOne(), 0.9};
inline constexpr ParameterInfo kBeta2 = {"beta2", NumberRange::belowOne(),
                                         0.999};
inline constexpr ParameterInfo kAmsgrad = {
    "amsgrad", NumberRange::any(), {}, ParameterInfo::Kind::flag};
inline constexpr ParameterInfo kDecoupled = {"decoupled_weight_decay",
                                             NumberRange::any(),
                                             {},
                                             ParameterInfo::Kind::flag};
inline constexpr ParameterInfo kEps = {"eps", NumberRange::nonNegative(), 1e-8};

//===----------------------------------------------------------------------===//
// Parts of formulas
//===----------------------------------------------------------------------===//

/// Adds the penalty `weight_decay` to the gradient.
void addPenalty(OptimizerUpdate &update);
/// Applies decoupled weight decay: shrinks the parameter directly, not through
/// the gradient.
void decayWeights(OptimizerUpdate &update);
/// Adds a penalty or, with the flag `decoupled_weight_decay`, decays weights.
void addPenaltyOrDecay(OptimizerUpdate &update);
/// Moves a running mean towards the gradient, as PyTorch's `lerp`.
Expression approach(OptimizerUpdate &update, const Expression &mean);
/// Returns the running mean of squares after the one of another gradient.
Expression addSquare(OptimizerUpdate &update, const Expression &mean,
                     StringRef decay, const Expression &gradient);
/// Returns 1 - beta^t, with which a running mean is divided after t steps.
Expression correct(OptimizerUpdate &update, StringRef beta);

//===----------------------------------------------------------------------===//
// The records, by the files that hold them
//===----------------------------------------------------------------------===//

ArrayRef<OptimizerInfo> getMomentumOptimizers();
ArrayRef<OptimizerInfo> getAdaptiveOptimizers();
ArrayRef<OptimizerInfo> getScaledOptimizers();
ArrayRef<OptimizerInfo> getMatrixOptimizers();
ArrayRef<OptimizerInfo> getScheduleFreeOptimizers();
ArrayRef<OptimizerInfo> getKroneckerOptimizers();

} // namespace mlir::hfta

#endif // HFTA_LIB_DIALECT_HFTA_JOB_OPTIMIZERUPDATE_H
