//===- Turns.h - Networks that take turns -----------------------*- C++ -*-===//
//
// A step of a job with turns (Job::turns) goes through them one after the
// other. Each has the forward and the backward of its own loss, and updates the
// variables that are assigned to it.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_IR_TURNS_H
#define HFTA_DIALECT_HFTA_IR_TURNS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::hfta {

/// The function of a model that inference and export use in place of @forward,
/// if the model has it.
inline constexpr StringLiteral kServedName = "served";

/// Returns the function that inference and export use; null if the model has
/// none.
func::FuncOp getServed(ModelOp model);

/// Notes on a trained variable which turn updates it.
void setTurn(VariableOp variable, StringRef name);
/// Returns the name of the turn that updates a variable; empty if none does.
StringRef getTurn(VariableOp variable);

/// Notes that a variable is of a network that inference and export don't use.
void setUnserved(VariableOp variable);
bool isServed(VariableOp variable);

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_TURNS_H
