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
    says whether a value is *shared* by all copies of a training array
    (`tensor<64x10xf32>`) or *arrayed*, that is, there is one such tensor per
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
    /// Module attribute: the processor that code is generated for
    /// (#hfta.target).
    static constexpr llvm::StringLiteral kTargetAttrName = "hfta.target";
    /// Module attribute: the table of segments, which hfta-plan-memory makes.
    static constexpr llvm::StringLiteral kSegmentsAttrName = "hfta.segments";
    /// Module attribute: the locations in the job's text of the names in
    /// `Job::cuts`, one list after the other, until the names have been looked
    /// up.
    static constexpr llvm::StringLiteral kCutLocationsAttrName =
        "hfta.cut_locations";
    /// Module attribute: the cuts between the model's blocks, each a list of
    /// names of values.
    static constexpr llvm::StringLiteral kCutsAttrName = "hfta.cuts";
    /// On an op of a fused model or of an undivided function: the number of its
    /// block, an i64.
    static constexpr llvm::StringLiteral kBlockAttrName = "hfta.block";
    /// On an op of an undivided function: the part of a step that it belongs to
    /// (#hfta.part).
    static constexpr llvm::StringLiteral kPartAttrName = "hfta.part";
    /// On a forward op whose results the backward needs: how they are available
    /// there, kept or recomputed (#hfta.keep).
    static constexpr llvm::StringLiteral kKeepAttrName = "hfta.keep";
    /// On a product (ProductTrait) of f32 operands, and on the ops that it is
    /// lowered to: the type, bf16, f16 or tf32, to which the operands are
    /// rounded before they are multiplied.
    static constexpr llvm::StringLiteral kMultiplyAttrName = "hfta.multiply";
    /// On a linalg.generic: it adds up the rows of a part, one after the other
    /// (part_sums).
    static constexpr llvm::StringLiteral kPartSumAttrName = "hfta.part_sum";
    /// On an op: it is recomputed in each kernel that uses it.
    static constexpr llvm::StringLiteral kRepeatedAttrName = "hfta.repeated";
    /// Module attribute: the values that stay in memory within a budget
    /// (#hfta.memory_plan), as hfta-plan-spill finds them.
    static constexpr llvm::StringLiteral kMemoryPlanAttrName =
        "hfta.memory_plan";
    /// Module attribute: the share of the job's budget that hfta-plan-spill
    /// sets aside for needs that its model of the step doesn't count
    /// (#hfta.memory_reserve).
    static constexpr llvm::StringLiteral kMemoryReserveAttrName =
        "hfta.memory_reserve";
    /// Module attribute: bytes of the arena, the memory in which segments that
    /// aren't resident are given places, an i64; hfta-schedule-transfers sets
    /// it.
    static constexpr llvm::StringLiteral kArenaAttrName = "hfta.arena";
    /// Module attribute: seconds that a step is expected to take, an f64; the
    /// driver notes it when it has scheduled a training program.
    static constexpr llvm::StringLiteral kStepSecondsAttrName =
        "hfta.step_seconds";
    /// Module attribute: a backward overwrites the gradients of the one before,
    /// so that an update must come between two backwards.
    static constexpr llvm::StringLiteral kStoresGradientsAttrName =
        "hfta.stores_gradients";
    /// Function attribute: the task that a function computes (#hfta.task).
    static constexpr llvm::StringLiteral kTaskAttrName = "hfta.task";
    /// Argument and result attribute: a port's name.
    static constexpr llvm::StringLiteral kNameAttrName = "hfta.name";
    /// On a function result: the one copy whose value it is.
    static constexpr llvm::StringLiteral kCopyAttrName = "hfta.copy";
  }];
}

#endif // HFTA_DIALECT
