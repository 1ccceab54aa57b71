//===- HftaBase.td - Base classes of ops -------------------*- tablegen -*-===//

#ifndef HFTA_BASE
#define HFTA_BASE

include "Hfta/Dialect/Hfta/IR/HftaAttributes.td"
include "Hfta/Dialect/Hfta/IR/HftaMemoryAttributes.td"
include "Hfta/Dialect/Hfta/IR/HftaInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Hfta_Tensor : StaticShapeTensorOf<[AnyType]>;
def Hfta_FloatTensor : StaticShapeTensorOf<[AnyFloat]>;
def Hfta_BoolTensor : StaticShapeTensorOf<[I1]>;
def Hfta_IndexTensor : StaticShapeTensorOf<[I32, I64]>;

/// Arrayed operands agree on the number of copies; a result is arrayed if and
/// only if an operand is.
def Hfta_ArrayedTrait : NativeOpTrait<"ArrayedTrait"> {
  let cppNamespace = "::mlir::hfta";
}

class Hfta_MarkerTrait<string name> : NativeOpTrait<name> {
  let cppNamespace = "::mlir::hfta";
}
/// Its kernel holds nothing else: it becomes loops of its own.
def Hfta_AloneTrait : Hfta_MarkerTrait<"AloneTrait">;
/// An algorithm on each of the matrices along axis 0 of all operands and results,
/// of which the last operand is what an earlier run has left: several ops on
/// matrices of one size may be one.
def Hfta_MatrixTrait : Hfta_MarkerTrait<"MatrixTrait">;
/// An elementwise op of many instructions an element: its result is rather kept
/// than computed again.
def Hfta_CostlyTrait : Hfta_MarkerTrait<"CostlyTrait">;
/// Moves or converts elements, so that keeping the result would save nothing.
def Hfta_MovementTrait : Hfta_MarkerTrait<"MovementTrait">;
/// Elementwise ops may follow in its kernel, so that its elements don't go to
/// memory and back.
def Hfta_ProducerTrait : Hfta_MarkerTrait<"ProducerTrait">;
/// Made anew in each kernel that uses it.
def Hfta_RepeatedTrait : Hfta_MarkerTrait<"RepeatedTrait">;
/// Adds up terms, or its derivative does: float operands and results are of one
/// type, that of the sum (hfta-apply-precision).
def Hfta_SumTrait : Hfta_MarkerTrait<"SumTrait">;

/// Adds up products of elements of its two operands, which `hfta.multiply` may
/// want rounded first.
def Hfta_ProductTrait : Hfta_MarkerTrait<"ProductTrait">;

class Hfta_Op<string mnemonic, list<Trait> traits = []>
    : Op<Hfta_Dialect, mnemonic, traits>;

/// A pure op whose result types follow from operands and attributes.
/// `inferReturnTypes` reports what is wrong with them. `costs` names the methods
/// of CostOpInterface that the op defines otherwise than by default.
class Hfta_TensorOp<string mnemonic, list<Trait> traits = [],
                    list<string> costs = []>
    : Hfta_Op<mnemonic, !listconcat(traits, [
        Pure, Hfta_ArrayedTrait, InferTypeOpAdaptor,
        DeclareOpInterfaceMethods<Hfta_CostOpInterface, costs>,
        DeclareOpInterfaceMethods<Hfta_FusableOpInterface>])>;

class Hfta_DifferentiableOp<string mnemonic, list<Trait> traits = [],
                            list<string> costs = []>
    : Hfta_TensorOp<mnemonic, !listconcat(traits, [
        DeclareOpInterfaceMethods<Hfta_DifferentiableOpInterface>]), costs>;

#endif // HFTA_BASE
