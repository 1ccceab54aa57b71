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

/// The ops whose arrayed operands agree on the number of copies; a result is
/// arrayed if and only if an operand is.
def Hfta_ArrayedTrait : NativeOpTrait<"ArrayedTrait"> {
  let cppNamespace = "::mlir::hfta";
}

class Hfta_MarkerTrait<string name> : NativeOpTrait<name> {
  let cppNamespace = "::mlir::hfta";
}
/// The ops that are alone in their kernel: each becomes loops of its own.
def Hfta_AloneTrait : Hfta_MarkerTrait<"AloneTrait">;
/// The ops that run an algorithm on each of the matrices along axis 0 of all
/// operands and results, where the last operand is the result of an earlier
/// run. Several such ops on matrices of one size may be merged into one.
def Hfta_MatrixTrait : Hfta_MarkerTrait<"MatrixTrait">;
/// The elementwise ops of many instructions per element: their results are kept
/// rather than computed again.
def Hfta_CostlyTrait : Hfta_MarkerTrait<"CostlyTrait">;
/// The ops that move or convert elements, so that keeping their results would
/// save nothing.
def Hfta_MovementTrait : Hfta_MarkerTrait<"MovementTrait">;
/// The ops whose kernel may also hold the elementwise ops that follow, so that
/// their elements don't go to memory and back.
def Hfta_ProducerTrait : Hfta_MarkerTrait<"ProducerTrait">;
/// The ops that are recomputed in each kernel that uses them.
def Hfta_RepeatedTrait : Hfta_MarkerTrait<"RepeatedTrait">;
/// The ops that add up terms, or whose derivatives do: their float operands and
/// results have one type, the sum's (hfta-apply-precision).
def Hfta_SumTrait : Hfta_MarkerTrait<"SumTrait">;

/// The ops that add up products of elements of two operands, which
/// `hfta.multiply` may require to be rounded first.
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
