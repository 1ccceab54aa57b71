//===- HftaDialect.td - The hfta dialect -------------------*- tablegen -*-===//

#ifndef HFTA_DIALECT
#define HFTA_DIALECT

include "mlir/IR/DialectBase.td"

def Hfta_Dialect : Dialect {
  let name = "hfta";
  let cppNamespace = "::mlir::hfta";
  let summary = "Training of many models at once";
  let description = [{
    Operations on statically shaped ranked tensors with value semantics. A type
    tells whether a value is *shared* by all copies of a training array
    (`tensor<64x10xf32>`) or *arrayed*, that is, there is one such tensor a
    copy (`tensor<64x10xf32, #hfta.copies<8>>`). Every operation is defined on
    the logical shape of one copy; a result is arrayed if and only if an
    operand is, unless the operation says otherwise. Shared and arrayed
    operands mix freely, so nothing is ever broadcast over copies.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Module attribute: the job's settings, see Job.h.
    static constexpr llvm::StringLiteral kJobAttrName = "hfta.job";
    /// Module attribute: the processor that code is made for (#hfta.target).
    static constexpr llvm::StringLiteral kTargetAttrName = "hfta.target";
    /// Module attribute: the table of segments, which hfta-plan-memory makes.
    static constexpr llvm::StringLiteral kSegmentsAttrName = "hfta.segments";
    /// Module attribute: where the job gives the names of `Job::cuts`, one list
    /// after the other, until they have been looked up.
    static constexpr llvm::StringLiteral kCutLocationsAttrName =
        "hfta.cut_locations";
    /// Module attribute: the cuts between its blocks, each a list of values'
    /// names.
    static constexpr llvm::StringLiteral kCutsAttrName = "hfta.cuts";
    /// On an op of a fused model or of an undivided function: the number of its
    /// block, an i64.
    static constexpr llvm::StringLiteral kBlockAttrName = "hfta.block";
    /// On an op of an undivided function: its part (#hfta.part).
    static constexpr llvm::StringLiteral kPartAttrName = "hfta.part";
    /// On a forward op whose results the backward needs: what becomes of them
    /// until then (#hfta.keep).
    static constexpr llvm::StringLiteral kKeepAttrName = "hfta.keep";
    /// On a product (ProductTrait) of f32 operands, and on what becomes of it:
    /// the type, bf16, f16 or tf32, to which these are rounded before they are
    /// multiplied.
    static constexpr llvm::StringLiteral kMultiplyAttrName = "hfta.multiply";
    /// On a linalg.generic: it adds up rows of a part, one after the other
    /// (part_sums).
    static constexpr llvm::StringLiteral kPartSumAttrName = "hfta.part_sum";
    /// On an op: it is made anew in each kernel that uses it.
    static constexpr llvm::StringLiteral kRepeatedAttrName = "hfta.repeated";
    /// Module attribute: what stays in memory within a budget
    /// (#hfta.memory_plan), which hfta-plan-spill finds.
    static constexpr llvm::StringLiteral kMemoryPlanAttrName =
        "hfta.memory_plan";
    /// Module attribute: what of the job's budget hfta-plan-spill leaves to what
    /// its model of the step doesn't count (#hfta.memory_reserve).
    static constexpr llvm::StringLiteral kMemoryReserveAttrName =
        "hfta.memory_reserve";
    /// Module attribute: bytes of the arena, the memory in which segments that
    /// aren't resident have places, an i64; hfta-schedule-transfers sets it.
    static constexpr llvm::StringLiteral kArenaAttrName = "hfta.arena";
    /// Module attribute: seconds that a step is expected to take, an f64; the
    /// driver notes it when it has scheduled a training.
    static constexpr llvm::StringLiteral kStepSecondsAttrName =
        "hfta.step_seconds";
    /// Module attribute: a backward's gradients take the place of those before,
    /// so that no second one may come before an update.
    static constexpr llvm::StringLiteral kStoresGradientsAttrName =
        "hfta.stores_gradients";
    /// Function attribute: the task that a function computes (#hfta.task).
    static constexpr llvm::StringLiteral kTaskAttrName = "hfta.task";
    /// Argument and result attribute: a port's name.
    static constexpr llvm::StringLiteral kNameAttrName = "hfta.name";
    /// On a function result: the one copy that it is of.
    static constexpr llvm::StringLiteral kCopyAttrName = "hfta.copy";
  }];
}

#endif // HFTA_DIALECT
