//===- HftaInterfaces.td - Interfaces of ops ---------------*- tablegen -*-===//

#ifndef HFTA_INTERFACES
#define HFTA_INTERFACES

include "mlir/IR/OpBase.td"

def Hfta_DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::mlir::hfta";
  let description = [{
    Reverse-mode derivative of one operation. An operation without it that has
    a gradient flowing into it is reported before anything is built.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the backward of this op after the builder's insertion point.
      `resultGradients` has one entry a result; an entry is null where no
      gradient flows. On success `operandGradients` holds one entry an
      operand: a value of the operand's logical shape (arrayed if any value it
      depends on is), or null where the derivative is zero or not needed. An
      entry of `needed` is false where nobody asks for that gradient.
    }], "::llvm::LogicalResult", "buildBackward",
      (ins "::mlir::OpBuilder &":$builder,
           "::mlir::ValueRange":$resultGradients,
           "::llvm::ArrayRef<bool>":$needed,
           "::llvm::SmallVectorImpl<::mlir::Value> &":$operandGradients)>
  ];
}

def Hfta_FusableOpInterface : OpInterface<"FusableOpInterface"> {
  let cppNamespace = "::mlir::hfta";
  let description = [{
    Fuses the corresponding ops of several models into one op over arrayed
    values.
  }];
  let methods = [
    InterfaceMethod<[{
      Succeeds if this op and `other`, from two copies' models, compute the
      same function of their operands; otherwise says why not in `reason`.
    }], "::llvm::LogicalResult", "isFusableWith",
      (ins "::mlir::Operation *":$other, "std::string &":$reason), "", [{
        return ::mlir::hfta::detail::haveEqualAttributes($_op, other, reason);
      }]>,
    InterfaceMethod<[{
      Builds the fused op over `operands` (shared or arrayed). Results are
      arrayed where an operand is.
    }], "::mlir::Operation *", "buildFused",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands), "",
      [{ return ::mlir::hfta::detail::cloneWithOperands(builder, $_op, operands); }]>
  ];
}

def Hfta_CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::mlir::hfta";
  let description = [{
    The costs that planners use, for one copy. Every op that a kernel may hold
    has it.
  }];
  let methods = [
    InterfaceMethod<"Counts useful floating-point operations (a fused multiply-add is two; padding taps are not counted).",
      "int64_t", "getFlops", (ins), "", [{
        return ::mlir::hfta::detail::countResultElements($_op);
      }]>,
    InterfaceMethod<"Returns how many bytes of an operand must be read at least.",
      "int64_t", "getBytesRead", (ins "unsigned":$operand), "", [{
        return ::mlir::hfta::getLogicalBytes($_op->getOperand(operand).getType());
      }]>,
    InterfaceMethod<"Returns how many bytes of a result must be written at least.",
      "int64_t", "getBytesWritten", (ins "unsigned":$result), "", [{
        return ::mlir::hfta::getLogicalBytes($_op->getResult(result).getType());
      }]>
  ];
}

def Hfta_LayerOpInterface : OpInterface<"LayerOpInterface"> {
  let cppNamespace = "::mlir::hfta";
  let description = [{
    How an op of the forward pass uses a trained parameter that reaches one of
    its operands: as the weight of a layer, as a term added to a layer's output,
    or by passing it on. By this interface hfta-differentiate finds the layers
    and makes an hfta.layer of each use of a parameter. A parameter that is used
    by an op without the interface belongs to no layer: second-order methods
    know only its gradient.
  }];
  let methods = [
    InterfaceMethod<"Returns how the op uses a parameter that reaches operand number `operand`.",
      "::mlir::hfta::ParameterUse", "getParameterUse", (ins "unsigned":$operand)>,
    InterfaceMethod<[{
      Returns the input of the layer whose weight is at `operand`: an operand of
      the op, or a value built from those that its backward needs anyway.
      Returns null if there is none.
    }], "::mlir::Value", "buildLayerInput",
      (ins "::mlir::OpBuilder &":$builder, "unsigned":$operand), "", [{
        std::optional<unsigned> input = $_op.getParameterUse(operand).input;
        return input ? $_op->getOperand(*input) : ::mlir::Value();
      }]>
  ];
}

def Hfta_ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let cppNamespace = "::mlir::hfta";
  let description = [{
    Each element of the result depends on the same element of the operands.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the op's computation of one element, from one element of each
      operand, in `arith` and `math`. The elements have signless types; `loc` is
      the location of new ops.
    }], "::mlir::Value", "buildScalar",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "::mlir::ValueRange":$scalars)>
  ];
}

def Hfta_DecomposableOpInterface : OpInterface<"DecomposableOpInterface"> {
  let cppNamespace = "::mlir::hfta";
  let description = [{
    A composite op (softmax, batch_norm, optimizer updates) that is rewritten
    in terms of simpler ones before kernels are formed.
  }];
  let methods = [
    InterfaceMethod<"Builds simpler ops, and returns a value that replaces each result.",
      "::llvm::SmallVector<::mlir::Value>", "decompose",
      (ins "::mlir::OpBuilder &":$builder)>
  ];
}

def Hfta_ActivationOpInterface : OpInterface<"ActivationOpInterface"> {
  let cppNamespace = "::mlir::hfta";
  let description = [{
    An op on activations, tensors of logical shape [n, c, space…]. Its lowering
    takes and gives each of them in that layout or with channels last, [n,
    space…, c] (Layouts.h).
  }];
  let methods = [
    InterfaceMethod<"Returns the operands and results of that shape, in lists of values with one layout.",
      "::llvm::SmallVector<::llvm::SmallVector<::mlir::Value>>",
      "getActivations">,
    InterfaceMethod<[{
      Returns whether layouts are chosen for the op's sake. If not, it takes the
      layouts that are chosen for other ops.
    }], "bool", "choosesLayout", (ins), "", [{ return true; }]>
  ];
}

def Hfta_UpdatingOpInterface : OpInterface<"UpdatingOpInterface"> {
  let cppNamespace = "::mlir::hfta";
  let description = [{
    An op that isn't elementwise, but whose result may be computed in an
    operand's memory.
  }];
  let methods = [
    InterfaceMethod<[{
      Returns whether each element of the operand is read only to compute the
      same element of the only result, which has the operand's shape.
    }], "bool", "updates", (ins "unsigned":$operand)>
  ];
}

def Hfta_ModalOpInterface : OpInterface<"ModalOpInterface"> {
  let cppNamespace = "::mlir::hfta";
  let description = [{
    An op that differs between training and inference (batch_norm, dropout).
    A model holds it without a decision; tasks decide, except that an op with
    the attribute `hfta.frozen` is in inference mode in training, too.
  }];
  let methods = [
    InterfaceMethod<"Chooses training (true) or inference (false).", "void",
      "setTraining", (ins "bool":$training)>,
    InterfaceMethod<[{
      If the op changes nothing in training, as a dropout of rate 0, returns a
      value for each result, of its type, that equals it; otherwise returns
      none. `isZero` says whether a float is known to be zero for all copies.
    }], "::llvm::SmallVector<::mlir::Value>", "getIdleResults",
      (ins "::llvm::function_ref<bool(::mlir::Value)>":$isZero), "",
      [{ return {}; }]>,
    InterfaceMethod<[{
      Replaces an op in training that also gives new running statistics by one
      that gives the batch's statistics, and by ops that compute the new running
      statistics from those. This separates what is computed for a micro-batch
      alone from what is passed on to the next one. Returns whether the op was
      replaced.
    }], "bool", "separateStatistics", (ins "::mlir::OpBuilder &":$builder), "",
      [{ return false; }]>
  ];
}

#endif // HFTA_INTERFACES
