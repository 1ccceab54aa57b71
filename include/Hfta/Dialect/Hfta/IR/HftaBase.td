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
/// Operands of products: floats, or pairs of bf16 (hfta.pair_factors).
def Hfta_FactorTensor : StaticShapeTensorOf<[AnyFloat, I32]>;
def Hfta_BoolTensor : StaticShapeTensorOf<[I1]>;
def Hfta_IndexTensor : StaticShapeTensorOf<[I32, I64]>;

/// Ops whose arrayed operands have the same number of copies, and whose results
/// are arrayed if and only if an operand is.
def Hfta_ArrayedTrait : NativeOpTrait<"ArrayedTrait"> {
  let cppNamespace = "::mlir::hfta";
}

class Hfta_MarkerTrait<string name> : NativeOpTrait<name> {
  let cppNamespace = "::mlir::hfta";
}
/// Ops that are the only op of their kernel and have their own lowering to
/// loops.
def Hfta_AloneTrait : Hfta_MarkerTrait<"AloneTrait">;
/// Ops that run an algorithm on each matrix along axis 0 of all operands and
/// results. Several such ops on matrices of the same size may be merged into
/// one.
def Hfta_MatrixTrait : Hfta_MarkerTrait<"MatrixTrait">;
/// Elementwise ops with many instructions per element, so that their results
/// are kept rather than recomputed.
def Hfta_CostlyTrait : Hfta_MarkerTrait<"CostlyTrait">;
/// Ops that only move or convert elements, so that keeping their results would
/// save no work.
def Hfta_MovementTrait : Hfta_MarkerTrait<"MovementTrait">;
/// Ops whose kernel may also contain the elementwise ops that use their
/// results, so that these results needn't be written to memory.
def Hfta_ProducerTrait : Hfta_MarkerTrait<"ProducerTrait">;
/// Ops that are recomputed in each kernel that uses their results.
def Hfta_RepeatedTrait : Hfta_MarkerTrait<"RepeatedTrait">;
/// Ops that add up terms, or whose derivatives do. Their float operands and
/// results have the type in which the sum is computed (hfta-apply-precision).
def Hfta_SumTrait : Hfta_MarkerTrait<"SumTrait">;

/// Ops that add up products of elements of two operands. The attribute
/// `hfta.multiply` may require that the operands are rounded first. If both
/// operands are pairs of bf16, products are those of hfta.multiply_pairs, and
/// the result is f32.
def Hfta_ProductTrait : Hfta_MarkerTrait<"ProductTrait">;

class Hfta_Op<string mnemonic, list<Trait> traits = []>
    : Op<Hfta_Dialect, mnemonic, traits>;

/// A pure op whose result types follow from operands and attributes. Its
/// inferReturnTypes also reports wrong operands and attributes. `costs` names
/// the methods of CostOpInterface that the op defines itself.
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
