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
    /// Attribute of the module: the job's settings (Job.h).
    static constexpr llvm::StringLiteral kJobAttrName = "hfta.job";
    /// Attribute of the module: the processor for which code is generated
    /// (#hfta.target).
    static constexpr llvm::StringLiteral kTargetAttrName = "hfta.target";
    /// Attribute of the module: the table of segments, made by
    /// hfta-plan-memory.
    static constexpr llvm::StringLiteral kSegmentsAttrName = "hfta.segments";
    /// Attribute of the module: the source locations of the names in
    /// `Job::cuts`, in the order of these names. It is removed once the names
    /// have been looked up.
    static constexpr llvm::StringLiteral kCutLocationsAttrName =
        "hfta.cut_locations";
    /// Attribute of the module: the cuts between the model's blocks. Each is a
    /// list of names of values.
    static constexpr llvm::StringLiteral kCutsAttrName = "hfta.cuts";
    /// Attribute of an op of a fused model, or of a function that isn't split
    /// into tasks yet: the number of its block, an i64.
    static constexpr llvm::StringLiteral kBlockAttrName = "hfta.block";
    /// Attribute of an op of a function that isn't split into tasks yet: the
    /// part of a step to which it belongs (#hfta.part).
    static constexpr llvm::StringLiteral kPartAttrName = "hfta.part";
    /// Attribute of an op of the forward whose results the backward needs:
    /// whether they are saved, spilled or recomputed (#hfta.keep).
    static constexpr llvm::StringLiteral kKeepAttrName = "hfta.keep";
    /// Attribute of a product (ProductTrait) of f32 operands, and of the ops to
    /// which it is lowered: the type, bf16, f16 or tf32, to which operands are
    /// rounded before they are multiplied.
    static constexpr llvm::StringLiteral kMultiplyAttrName = "hfta.multiply";
    /// Unit attribute of a linalg.generic that `hfta.part_sums` is lowered to:
    /// it adds up the rows of each part, one after the other.
    static constexpr llvm::StringLiteral kPartSumAttrName = "hfta.part_sum";
    /// Unit attribute of an op that is recomputed in each kernel that uses its
    /// results.
    static constexpr llvm::StringLiteral kRepeatedAttrName = "hfta.repeated";
    /// Attribute of the module: which values of each block stay in memory
    /// within a memory budget (#hfta.memory_plan), made by hfta-plan-spill.
    static constexpr llvm::StringLiteral kMemoryPlanAttrName =
        "hfta.memory_plan";
    /// Attribute of the module: the part of the memory budget that
    /// hfta-plan-spill reserves for needs outside of its model of the step
    /// (#hfta.memory_reserve).
    static constexpr llvm::StringLiteral kMemoryReserveAttrName =
        "hfta.memory_reserve";
    /// Attribute of the module: the size of the arena in bytes, an i64, set by
    /// hfta-schedule-transfers. The arena is the memory in which segments that
    /// aren't resident have places.
    static constexpr llvm::StringLiteral kArenaAttrName = "hfta.arena";
    /// Attribute of the module: the estimated seconds of a step, an f64, set by
    /// the driver after it has scheduled a training program.
    static constexpr llvm::StringLiteral kStepSecondsAttrName =
        "hfta.step_seconds";
    /// Unit attribute of the module: a backward overwrites the gradients of the
    /// previous one instead of adding to them. So each backward must be
    /// followed by an update before the next.
    static constexpr llvm::StringLiteral kStoresGradientsAttrName =
        "hfta.stores_gradients";
    /// Attribute of a lowered kernel, an i64: the bytes of scratch memory that
    /// each thread needs. Before kernels are lowered, an attribute of the
    /// module: the most that any of them will need.
    static constexpr llvm::StringLiteral kScratchBytesAttrName =
        "hfta.scratch_bytes";
    /// Attribute of a function: the task that it computes (#hfta.task).
    static constexpr llvm::StringLiteral kTaskAttrName = "hfta.task";
    /// Attribute of an argument or result of a function: the port's name.
    static constexpr llvm::StringLiteral kNameAttrName = "hfta.name";
    /// Attribute of a result of a function: the only copy to which the value
    /// belongs.
    static constexpr llvm::StringLiteral kCopyAttrName = "hfta.copy";
  }];
}

#endif // HFTA_DIALECT
