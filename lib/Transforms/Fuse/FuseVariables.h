//===- FuseVariables.h - One array's variables from N models ----*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_FUSE_FUSEVARIABLES_H
#define HFTA_LIB_TRANSFORMS_FUSE_FUSEVARIABLES_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/Job/Job.h"

namespace mlir::hfta {

/// The distinct models of an array, and which copies are of which model.
class ArrayModels {
public:
  ArrayModels(const Job &job, SmallVector<ModelOp> given);

  int64_t getCopies() const { return job.copies; }
  ArrayRef<ModelOp> getModels() const { return models; }
  /// Returns the index of a copy's model among getModels().
  size_t getModelOf(int64_t copy) const { return modelOfCopy[copy]; }
  const Job &getJob() const { return job; }

  /// Returns the elements of all copies as one attribute with a leading axis of
  /// copies. `perModel` has each model's elements, of type `type`. Returns null
  /// if they aren't known for all models.
  Attribute stackElements(ArrayRef<Attribute> perModel,
                          RankedTensorType type) const;

private:
  const Job &job;
  SmallVector<ModelOp> models;
  SmallVector<size_t> modelOfCopy;
};

/// Whether two attributes are equal, or resources of equal types and bytes.
bool haveSameContents(Attribute first, Attribute other);

/// Checks that the name that a value of `copy` gets in the array isn't that of
/// a value for all copies, as `isCommon` tells. Otherwise emits an error at
/// `place` and fails; `what` describes the value in the message, such as
/// "tensor".
LogicalResult checkNameOfCopy(Operation *place, StringRef what, StringRef name,
                              int64_t copy,
                              function_ref<bool(StringRef)> isCommon);

/// Declares the variables of the array. A variable is common if all models have
/// it, with equal properties, and in the same order; it becomes arrayed or, if
/// the copies' contents are and stay equal, shared. Of any other variable, each
/// copy gets its own.
class VariableFuser {
public:
  VariableFuser(const ArrayModels &array, OpBuilder &builder)
      : array(array), builder(builder) {}

  /// Declares all variables at the builder's insertion point. Emits an error
  /// and fails if two would have the same name.
  LogicalResult fuse();

  bool isCommon(StringRef name) const { return types.contains(name); }
  /// Returns the type of a common variable.
  RankedTensorType getType(StringRef name) const { return types.lookup(name); }
  /// Returns the symbol of a copy's own variable, which its model calls `name`.
  StringRef getSymbolOfCopy(StringRef name, int64_t copy) const;
  /// Returns the reason why a variable isn't common, for a remark.
  std::string explain(StringRef name) const;

private:
  SmallVector<VariableOp> getVariables(ModelOp model) const;
  VariableOp lookup(ModelOp model, StringRef name) const;
  bool agree(StringRef name) const;
  bool isScalar(StringRef name) const;
  void findCommon();
  void declareCommon(VariableOp first);
  LogicalResult checkNames();
  void declareForCopies(ModelOp model, VariableOp variable);
  RankedTensorType getFusedType(VariableOp variable, bool sameContents) const;

  const ArrayModels &array;
  OpBuilder &builder;
  llvm::StringMap<RankedTensorType> types;
  llvm::StringMap<DenseMap<int64_t, StringAttr>> symbolsOfCopies;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_FUSE_FUSEVARIABLES_H
