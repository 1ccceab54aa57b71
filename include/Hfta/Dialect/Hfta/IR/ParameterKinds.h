//===- ParameterKinds.h - What a model's parameters are for -----*- C++ -*-===//
//
// The kinds of parameters by which a job may group them, such as norms or
// hidden matrices. They follow from the ops of the forward that use a
// parameter, not from its name or its shape alone.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_IR_PARAMETERKINDS_H
#define HFTA_DIALECT_HFTA_IR_PARAMETERKINDS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/Job/Job.h"

namespace mlir::hfta {

/// Notes on a variable to which of the job's groups it belongs, by their
/// indices in Job::groupsOfParameters, ascending.
void setParameterGroups(VariableOp variable, ArrayRef<int64_t> groups);
/// Returns the groups that are noted on a variable.
ArrayRef<int64_t> getParameterGroups(VariableOp variable);
/// Returns the last group of a variable that gives a number of this name, or
/// null.
const ParameterGroup *findGroupWith(const Job &job, VariableOp variable,
                                    StringRef number);

/// Notes on a variable how many layers of Job::layers come after its own.
void setLayerDistance(VariableOp variable, int64_t distance);
/// Returns the number that is noted on a variable, or 0.
int64_t getLayerDistance(VariableOp variable);

/// Notes on a variable the axes that number the outputs of its layer. Without
/// such axes, the parameter is treated as one whole.
void setOutputAxes(VariableOp variable, ArrayRef<int64_t> axes);
/// Returns the axes that are noted on a variable, ascending.
ArrayRef<int64_t> getOutputAxes(VariableOp variable);

/// The kinds, with what belongs to them:
/// HFTA_PARAMETER_KIND(identifier, text).
#define HFTA_PARAMETER_KINDS                                                   \
  HFTA_PARAMETER_KIND(vectors,                                                 \
                      "parameters of at most one axis; an axis of one "        \
                      "element counts only in weights of products "            \
                      "and convolutions and in embeddings")                    \
  HFTA_PARAMETER_KIND(norms, "scales and shifts of normalizations")            \
  HFTA_PARAMETER_KIND(biases,                                                  \
                      "parameters that are added to a layer's output, "        \
                      "shifts of normalizations among them")                   \
  HFTA_PARAMETER_KIND(embeddings, "tables from which rows are looked up")      \
  HFTA_PARAMETER_KIND(outputs, "weights of the last layer on each way to the " \
                               "output that the loss compares")                \
  HFTA_PARAMETER_KIND(hidden, "weights of all other matrix products")          \
  HFTA_PARAMETER_KIND(convolutions, "weights of all other convolutions")

enum class ParameterKind : unsigned {
#define HFTA_PARAMETER_KIND(identifier, text) identifier,
  HFTA_PARAMETER_KINDS
#undef HFTA_PARAMETER_KIND
};

/// Returns the names of the kinds, in the order of the enumerators.
ArrayRef<StringRef> getParameterKindNames();
/// Returns the kind of this name, or nothing.
std::optional<ParameterKind> findParameterKind(StringRef name);
/// Returns the texts about the kinds, in the order of the enumerators.
ArrayRef<StringRef> getParameterKindTexts();

/// The kinds of a model's parameters. A parameter may have several, or none.
class ParameterKinds {
public:
  /// `outputs` are the numbers of the forward's results that the loss compares.
  ParameterKinds(ModelOp model, ArrayRef<unsigned> outputs);

  bool has(VariableOp variable, ParameterKind kind) const {
    return kinds.lookup(variable) >> static_cast<unsigned>(kind) & 1;
  }

  /// Returns the axes of a parameter that number the outputs of its layer,
  /// ascending; none if it is a vector. A parameter that is no layer's weight
  /// has an output for each element of its first axis.
  SmallVector<int64_t> getOutputAxes(VariableOp variable) const;

private:
  /// A value that consists of a parameter's elements, and for each of its axes
  /// the axes of the parameter to which it belongs.
  struct Passed {
    Value value;
    SmallVector<SmallVector<int64_t, 1>> origins;
  };
  void add(Operation *variable, ParameterKind kind) {
    kinds[variable] |= 1u << static_cast<unsigned>(kind);
  }
  void follow(VariableOp variable, Value value);
  void followUse(VariableOp variable, OpOperand &use, const Passed &value,
                 SmallVectorImpl<Passed> &passed);
  void noteOutputs(VariableOp variable, OpOperand &use, const Passed &value);
  void findOutputs(ArrayRef<Value> values);

  /// For each variable a bit for each of its kinds.
  DenseMap<Operation *, unsigned> kinds;
  /// The matrix products and convolutions, each with the parameters that are
  /// its weights.
  DenseMap<Operation *, SmallVector<VariableOp, 1>> products;
  /// For each weight the axes that number its layer's outputs.
  DenseMap<Operation *, SmallVector<int64_t>> outputAxes;
};

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_PARAMETERKINDS_H
