//===- HftaMemoryAttributes.td - Plans of memory -----------*- tablegen -*-===//

#ifndef HFTA_MEMORY_ATTRIBUTES
#define HFTA_MEMORY_ATTRIBUTES

include "Hfta/Dialect/Hfta/IR/HftaAttributes.td"

def Hfta_Keep : I32EnumAttr<"Keep", "how a value is kept until the backward needs it", [
    I32EnumAttrCase<"save", 0>,
    I32EnumAttrCase<"spill", 1>,
    I32EnumAttrCase<"recompute", 2>]> {
  let cppNamespace = "::mlir::hfta";
  let genSpecializedAttr = 0;
}
def Hfta_KeepAttr : EnumAttr<Hfta_Dialect, Hfta_Keep, "keep"> {
  let assemblyFormat = "`<` $value `>`";
}

def Hfta_BlockMemory : I32EnumAttr<"BlockMemory", "which of a block's parameters and optimizer state stay in memory", [
    I32EnumAttrCase<"streamed", 0>,
    I32EnumAttrCase<"held", 1>,
    I32EnumAttrCase<"parameters", 2>,
    I32EnumAttrCase<"resident", 3>]> {
  let cppNamespace = "::mlir::hfta";
  let genSpecializedAttr = 0;
}

def Hfta_MemoryPlanAttr : Hfta_Attr<"MemoryPlan", "memory_plan"> {
  let summary = "The values of each block that stay in memory within a budget";
  let description = [{
    Example: `#hfta.memory_plan<2 copies, [streamed, held, resident]>`. At most
    two copies run a step together. For each block that a job's training is cut
    into: `streamed`, its parameters and its optimizer's state are fetched for
    each task that uses them; `held`, the turn's parameters stay from forward to
    backward; `parameters`, those of all copies stay all the time; `resident`,
    the optimizer's state stays, too. Blocks whose gradients lie in the store
    until the update are listed: `#hfta.memory_plan<1 copies, [streamed,
    streamed] gradients [0, 1]>`.

    Constraints:
    - (C1) there is at least one copy.
    - (C2) blocks whose gradients lie in the store are blocks of the list, in order.
  }];
  let parameters = (ins "int64_t":$copies,
                        ArrayRefParameter<"::mlir::hfta::BlockMemory">:$blocks,
                        OptionalArrayRefParameter<"int64_t">:$spilledGradients);
  let assemblyFormat = "`<` $copies `copies` `,` `[` $blocks `]` (`gradients` `[` $spilledGradients^ `]`)? `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the plan of a module, or null if it has none.
    static MemoryPlanAttr get(::mlir::Operation *module);
    /// Returns which values of a block stay in memory; `streamed`, that is
    /// none, if the plan has no such block.
    BlockMemory getBlock(int64_t block) const;
    bool spillsGradients(int64_t block) const;
  }];
}

def Hfta_MemoryReserveAttr : Hfta_Attr<"MemoryReserve", "memory_reserve"> {
  let summary = "The part of a memory budget that the planner can't use";
  let description = [{
    Example: `#hfta.memory_reserve<65536 bytes, 4096 a copy, 1 to 8 copies>`. A
    program needs 65536 bytes for data that the planner's model of a step
    doesn't count, such as batches, workspaces and scratch memory of kernels,
    and 4096 more for each copy of a turn. Turns have 1 to 8 copies.

    Constraints:
    - (C1) no number of bytes is negative.
    - (C2) there is at least one copy in a turn.
  }];
  let parameters = (ins "int64_t":$bytes, "int64_t":$copyBytes,
                        "int64_t":$leastCopies, "int64_t":$mostCopies);
  let assemblyFormat = "`<` $bytes `bytes` `,` $copyBytes `a` `copy` `,` $leastCopies `to` $mostCopies `copies` `>`";
  let genVerifyDecl = 1;
}

#endif // HFTA_MEMORY_ATTRIBUTES
