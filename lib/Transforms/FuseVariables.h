//===- FuseVariables.h - One array's variables from N models ----*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_FUSEVARIABLES_H
#define HFTA_LIB_TRANSFORMS_FUSEVARIABLES_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/Job.h"

namespace mlir::hfta {

/// The models of an array, and the copies that each of them is of.
class ArrayModels {
public:
  ArrayModels(const Job &job, SmallVector<ModelOp> given);

  int64_t getCopies() const { return job.copies; }
  ArrayRef<ModelOp> getModels() const { return models; }
  size_t getModelOf(int64_t copy) const { return modelOfCopy[copy]; }
  const Job &getJob() const { return job; }

  /// Stacks the elements of every copy, from those of every model, to one
  /// attribute with a leading copy axis; null where only some models have
  /// elements.
  Attribute stackElements(ArrayRef<Attribute> perModel,
                          RankedTensorType type) const;

private:
  const Job &job;
  SmallVector<ModelOp> models;
  SmallVector<size_t> modelOfCopy;
};

/// Whether attributes are equal, or are resources of equal bytes.
bool haveSameContents(Attribute first, Attribute other);

/// Checks that a name of one copy's value isn't that of a value for all copies.
/// Fails with an error at `place`, which `what` describes.
LogicalResult checkNameOfCopy(Operation *place, StringRef what, StringRef name,
                              int64_t copy,
                              function_ref<bool(StringRef)> isCommon);

/// Declares the variables of the array. A variable that all models have with
/// one type and in one order becomes arrayed, or stays shared; of any other
/// one, each copy has its own.
class VariableFuser {
public:
  VariableFuser(const ArrayModels &array, OpBuilder &builder)
      : array(array), builder(builder) {}

  /// Fails with an error where two variables would have one name.
  LogicalResult fuse();

  bool isCommon(StringRef name) const { return types.contains(name); }
  /// Returns the type of a common variable.
  RankedTensorType getType(StringRef name) const { return types.lookup(name); }
  /// Returns the symbol of a copy's own variable, which its model calls `name`.
  StringRef getSymbolOfCopy(StringRef name, int64_t copy) const;
  /// Explains why the variable isn't common.
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

#endif // HFTA_LIB_TRANSFORMS_FUSEVARIABLES_H
