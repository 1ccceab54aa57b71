//===- FuseVariables.h - One array's variables from N models ----*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_FUSEVARIABLES_H
#define HFTA_LIB_TRANSFORMS_FUSEVARIABLES_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/Job.h"

namespace mlir::hfta {

/// The models of an array, and which copies each of them is of.
class ArrayModels {
public:
  ArrayModels(const Job &job, SmallVector<ModelOp> given);

  int64_t getCopies() const { return job.copies; }
  ArrayRef<ModelOp> getModels() const { return models; }
  size_t getModelOf(int64_t copy) const { return modelOfCopy[copy]; }
  const Job &getJob() const { return job; }

  /// The elements of every copy, from those of every model, as one attribute
  /// with a leading copy axis; null where only some models have elements.
  Attribute stackElements(ArrayRef<Attribute> perModel,
                          RankedTensorType type) const;

private:
  const Job &job;
  SmallVector<ModelOp> models;
  SmallVector<size_t> modelOfCopy;
};

/// Equal attributes, or resources of equal bytes.
bool haveSameContents(Attribute first, Attribute other);

/// What one copy alone has gets a name that nothing of all copies may have.
/// Fails with an error at `place`, which `what` describes.
LogicalResult checkNameOfCopy(Operation *place, StringRef what, StringRef name,
                              int64_t copy,
                              function_ref<bool(StringRef)> isCommon);

/// Declares the variables of the array. One that all models have with one type,
/// in one order, becomes arrayed, or stays shared; of any other one each copy
/// has its own.
class VariableFuser {
public:
  VariableFuser(const ArrayModels &array, OpBuilder &builder)
      : array(array), builder(builder) {}

  /// Fails with an error where two variables would have one name.
  LogicalResult fuse();

  bool isCommon(StringRef name) const { return types.contains(name); }
  /// The type of a common variable.
  RankedTensorType getType(StringRef name) const { return types.lookup(name); }
  /// The symbol of a copy's own variable, which its model calls `name`.
  StringRef getSymbolOfCopy(StringRef name, int64_t copy) const;
  /// Why the variable isn't common.
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
