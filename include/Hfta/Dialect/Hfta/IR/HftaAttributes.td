//===- HftaAttributes.td - Attributes and enums ------------*- tablegen -*-===//

#ifndef HFTA_ATTRIBUTES
#define HFTA_ATTRIBUTES

include "Hfta/Dialect/Hfta/IR/HftaDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"

class Hfta_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Hfta_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Hfta_CopiesAttr : Hfta_Attr<"Copies", "copies"> {
  let summary = "Tensor encoding: there is one such tensor for each copy";
  let description = [{
    Example: `tensor<64x10xf32, #hfta.copies<8>>` is eight tensors of 64x10.
  }];
  let parameters = (ins "int64_t":$count);
  let assemblyFormat = "`<` $count `>`";
  let genVerifyDecl = 1;
}

def Hfta_UniformAttr : Hfta_Attr<"Uniform", "uniform"> {
  let summary = "Initial value: uniform in [low, high), from the copy's seed";
  let parameters = (ins "::mlir::FloatAttr":$low, "::mlir::FloatAttr":$high);
  let assemblyFormat = "`<` $low `,` $high `>`";
}

def Hfta_NormalAttr : Hfta_Attr<"Normal", "normal"> {
  let summary = "Initial value: normal, from the copy's seed";
  let parameters = (ins "::mlir::FloatAttr":$mean, "::mlir::FloatAttr":$deviation);
  let assemblyFormat = "`<` $mean `,` $deviation `>`";
}

def Hfta_Role : I32EnumAttr<"Role", "kind of a variable's contents", [
    I32EnumAttrCase<"constant", 0>,
    I32EnumAttrCase<"parameter", 1>,
    I32EnumAttrCase<"gradient", 2>,
    I32EnumAttrCase<"optimizer_state", 3>,
    I32EnumAttrCase<"statistics", 4>,
    I32EnumAttrCase<"saved", 5>,
    I32EnumAttrCase<"cut", 6>,
    I32EnumAttrCase<"workspace", 7>,
    I32EnumAttrCase<"scratch", 8>,
    I32EnumAttrCase<"input", 9>,
    I32EnumAttrCase<"output", 10>,
    I32EnumAttrCase<"scalar", 11>,
    I32EnumAttrCase<"result", 12>,
    I32EnumAttrCase<"exchange", 13>,
    I32EnumAttrCase<"received", 14>,
    I32EnumAttrCase<"curvature", 15>,
    I32EnumAttrCase<"moment", 16>]> {
  let cppNamespace = "::mlir::hfta";
  let genSpecializedAttr = 0;
}
def Hfta_RoleAttr : EnumAttr<Hfta_Dialect, Hfta_Role, "role"> {
  let assemblyFormat = "`<` $value `>`";
}

def Hfta_Residency : I32EnumAttr<"Residency", "where a value lies while a program runs", [
    I32EnumAttrCase<"resident", 0>,
    I32EnumAttrCase<"transient", 1>,
    I32EnumAttrCase<"spilled", 2>]> {
  let cppNamespace = "::mlir::hfta";
  let genSpecializedAttr = 0;
}
def Hfta_ResidencyAttr : EnumAttr<Hfta_Dialect, Hfta_Residency, "residency"> {
  let assemblyFormat = "`<` $value `>`";
}

def Hfta_Purpose : I32EnumAttr<"Purpose", "purpose of a variable that the compiler makes", [
    I32EnumAttrCase<"step", 0>,
    I32EnumAttrCase<"micro_batch", 1>,
    I32EnumAttrCase<"first_sample", 2>,
    I32EnumAttrCase<"valid_samples", 3>,
    I32EnumAttrCase<"seed", 4>,
    I32EnumAttrCase<"learning_rate", 5>,
    I32EnumAttrCase<"clip_norm", 6>,
    I32EnumAttrCase<"hyper_parameter", 7>,
    I32EnumAttrCase<"clip_scale", 8>,
    I32EnumAttrCase<"norm", 9>,
    I32EnumAttrCase<"loss", 10>,
    I32EnumAttrCase<"loss_weight", 11>,
    I32EnumAttrCase<"mean_loss", 12>,
    I32EnumAttrCase<"evaluation_loss", 13>,
    I32EnumAttrCase<"evaluation_weight", 14>,
    I32EnumAttrCase<"evaluation_metric", 15>,
    I32EnumAttrCase<"field", 16>,
    I32EnumAttrCase<"input", 17>,
    I32EnumAttrCase<"output", 18>,
    I32EnumAttrCase<"gradient", 19>,
    I32EnumAttrCase<"state", 20>,
    I32EnumAttrCase<"initial", 21>,
    I32EnumAttrCase<"batch_statistic", 22>,
    I32EnumAttrCase<"loss_terms", 23>,
    I32EnumAttrCase<"curvature", 24>,
    I32EnumAttrCase<"moment", 25>,
    I32EnumAttrCase<"inner_product", 26>,
    I32EnumAttrCase<"kl_scale", 27>,
    I32EnumAttrCase<"curvature_count", 28>,
    I32EnumAttrCase<"accumulations", 29>,
    I32EnumAttrCase<"loss_scale", 30>,
    I32EnumAttrCase<"loss_scale_result", 31>]> {
  let cppNamespace = "::mlir::hfta";
  let genSpecializedAttr = 0;
}

def Hfta_PurposeAttr : Hfta_Attr<"Purpose", "purpose"> {
  let summary = "Purpose of a variable that the compiler makes";
  let description = [{
    Passes find a variable by its purpose, never by its symbol
    (`VariableIndex`). A purpose may refer to another variable, `of` a parameter
    or statistic; and it may have a name, which a user or the optimizer has
    given, or a number.

    | purpose | role of the variable | what it is |
    |---|---|---|
    | `step`, `micro_batch`, `first_sample`, `valid_samples`, `seed`, `learning_rate`, `clip_norm` | `scalar` | set by the trainer |
    | `accumulations` | `scalar` | number of backwards whose gradients an update takes: one, except in libraries whose callers ask for more |
    | `hyper_parameter "lr"` | `scalar` | a setting of the job or its model, one value a copy |
    | `clip_scale` | `output` | factor by which a step multiplies gradients, `clip_scale "head"` those of a group of parameters; NaN, if losses are scaled and gradients overflow: the step leaves the copy as it was |
    | `loss_scale "factor"` | `optimizer_state` | factor by which a copy's loss is multiplied, and numbers of its steps: `good_steps`, `skipped_steps` |
    | `loss_scale_result "factor"` | `result` | new values of these, which a step reports |
    | `norm of @w` | `output` | sum of squares of the gradient |
    | `loss` | `result` | the step's loss, or sum of losses; `loss "l1"`: that of one term of a sum of terms, not yet weighted |
    | `loss_weight` | `result` | sum of the losses' weights over a step's micro-batches; where there is one, the loss and the gradients are sums that are still to be divided by it; `loss_weight "l1"`: that of one term |
    | `mean_loss` | `result` | `loss` divided by `loss_weight`, or the weighted sum of `mean_loss "l1"` and those of the other terms |
    | `evaluation_loss`, `evaluation_weight` | `result` | sums over an evaluation's real samples; also of a term, `evaluation_loss "l1"` |
    | `evaluation_metric "f1/labels"` | `result` | values of each element of a batch's samples, or a sum for each sample, from which the host computes metrics |
    | `field "image"` | `input` | a micro-batch of the data block's field |
    | `input "x"`, `output "y"` | `input`, `output` | ports of an inference |
    | `gradient of @w`, `state "momentum" of @w` | `gradient`, `optimizer_state` | gradient and optimizer state of a trained parameter; `gradient "l1" of @w`: the part that is still to be divided by `loss_weight "l1"`, if the parameter has several |
    | `initial of @w` | `constant` | initial value of a variable |
    | `batch_statistic "0" of @mean` | `exchange` | a micro-batch's statistic, from which a running statistic is updated |
    | `loss_terms` | `result` | sum of the losses' weights over a step, by which the gradients have been divided |
    | `curvature "input_factor" of @w` | `curvature` | state of a preconditioner for a trained parameter, kept from step to step |
    | `moment "input" of @w` | `moment` | sums over a step's rows, from which the curvature is computed |
    | `inner_product of @w` | `output` | inner product of the gradient and the preconditioned gradient |
    | `kl_scale` | `result` | factor by which preconditioned gradients are multiplied |
    | `curvature_count "skipped"` | `result` | number of factors or inverses that a step has not updated |

    Constraints:
    - (C1) a purpose has a name if and only if its kind takes one; a name of a
      term of the loss may be left out.
    - (C2) it is `of` a variable if and only if its kind refers to one.

    Example: `#hfta.purpose<state "momentum" of @weight>`
  }];
  let parameters = (ins EnumParameter<Hfta_Purpose>:$kind,
                        OptionalParameter<"::mlir::StringAttr">:$name,
                        OptionalParameter<"::mlir::FlatSymbolRefAttr">:$of);
  let assemblyFormat = "`<` $kind `` custom<OptionalText>($name) (`of` $of^)? `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static PurposeAttr get(::mlir::MLIRContext *context, Purpose kind,
                           ::llvm::StringRef name = {});
    /// Returns a purpose that refers to the variable `of`, such as its
    /// gradient.
    static PurposeAttr getOf(::mlir::FlatSymbolRefAttr of, Purpose kind,
                             ::llvm::StringRef name = {});
    /// Returns the role of variables with this purpose.
    Role getRole() const;
    /// Returns a symbol for such a variable. It is for readers; no pass relies
    /// on it.
    std::string makeSymbol() const;
    /// Returns the name that users see for such a variable: "lr", "loss/mean"
    /// or "momentum/w". `subject` is the own name of the variable to which the
    /// purpose refers.
    std::string makeOwnName(::llvm::StringRef subject) const;
  }];
}

def Hfta_BindingAttr : Hfta_Attr<"Binding", "binding"> {
  let summary = "Place of a value: segment number, offset, bytes from copy to copy";
  let description = [{
    Example: `#hfta.binding<2, 4096, 64>`; stride 0 is a shared value. With a copy,
    `#hfta.binding<2, 4096, 64, 3>`, it is that copy's value alone, whichever copy
    the launch is for.
  }];
  let parameters = (ins "int64_t":$segment, "int64_t":$offset, "int64_t":$stride,
                        DefaultValuedParameter<"int64_t", "-1">:$copy);
  let assemblyFormat = "`<` $segment `,` $offset `,` $stride (`,` $copy^)? `>`";
}

def Hfta_ReplicasAttr : Hfta_Attr<"Replicas", "replicas"> {
  let summary = "Some of the replicas of a stage";
  let description = [{
    Example: `#hfta.replicas<1, 3, 4>` are the replicas 1, 5 and 9: the first one,
    how many there are, and how far apart. They are those of the stage that a
    schedule, a variable or a segment is of, or of the program where it has one
    stage. Where a rank does what several replicas do, it has all of these.

    Constraints:
    - (C1) the first isn't negative; there is at least one; they are at least one
      apart.
    - (C2) the last one's number is below 2^31.
  }];
  let parameters = (ins "int64_t":$first, "int64_t":$count, "int64_t":$stride);
  let assemblyFormat = "`<` $first `,` $count `,` $stride `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getLast() const { return getMember(getCount() - 1); }
    int64_t getMember(int64_t index) const {
      return getFirst() + index * getStride();
    }
    bool contains(int64_t replica) const;
    /// Returns whether all of these replicas are also in `others`.
    bool isWithin(ReplicasAttr others) const;
    /// Returns the suffix of a name: "2" for one replica, else first, count and
    /// stride, as in "1_3_4".
    std::string makeName() const;
  }];
}

def Hfta_SegmentAttr : Hfta_Attr<"Segment", "segment"> {
  let summary = "A region of memory; bytes are of one instance, all copies";
  let description = [{
    Example: `#hfta.segment<parameter, 0, 65536 bytes, 1 instances>`. A segment
    of slabs, one a copy and one after the other, says how long each is:
    `#hfta.segment<saved, 0, 8192 bytes, 1 instances, 1024 a copy>`. It holds
    nothing but values of single copies, so copies that run in turn may share
    slabs. A segment without slabs may hold values of some copies alone, one
    after the other: `#hfta.segment<optimizer_state, 0, 4096 bytes, 1 instances
    of copies[0, 3]>`. A segment that stages other than its block's read lists them, and is
    sent to them: `#hfta.segment<cut, 0, 4096 bytes, 2 instances for [1, 3]>`.
    One with holders has memory only where one of these replicas is:
    `#hfta.segment<curvature, 0, 4096 bytes, 1 instances held by <0, 2, 1>>`.

    A segment has memory of its own as long as the program runs, unless it says
    otherwise: `#hfta.segment<saved, 0, 4096 bytes, 1 instances (transient)>`
    lies in the arena between a `hfta.fetch` and a `hfta.drop`, after which its
    contents aren't needed; a `spilled` one lies in the store meanwhile.

    Constraints:
    - (C1) a segment that isn't resident is written by tasks alone: its role is
      `parameter`, `gradient`, `optimizer_state`, `statistics`, `saved`, `cut`,
      `workspace`, `curvature` or `moment`.
    - (C2) a slab of it, or the whole segment if it has none, is a whole number of
      4096 bytes, the unit in which the store is read and written.
    - (C3) a segment that lives within one task isn't spilled.
    - (C4) a segment of slabs has one for each copy.
  }];
  let parameters = (ins EnumParameter<Hfta_Role>:$role, "int64_t":$block,
                        "int64_t":$bytes, "int64_t":$instances,
                        DefaultValuedParameter<"int64_t", "0">:$copyBytes,
                        OptionalArrayRefParameter<"int64_t">:$only,
                        OptionalArrayRefParameter<"int64_t">:$readers,
                        OptionalParameter<"::mlir::hfta::ReplicasAttr">:$holders,
                        DefaultValuedParameter<"::mlir::hfta::Residency", "::mlir::hfta::Residency::resident">:$residency);
  let assemblyFormat = "`<` $role `,` $block `,` $bytes `bytes` `,` $instances `instances` (`,` $copyBytes^ `a` `copy`)? (`of` `copies` `[` $only^ `]`)? (`for` `[` $readers^ `]`)? (`held` `by` $holders^)? (`(` $residency^ `)`)? `>`";
  let genVerifyDecl = 1;
  let builders = [AttrBuilder<(ins
      "::mlir::hfta::Role":$role, "int64_t":$block, "int64_t":$bytes,
      "int64_t":$instances, "int64_t":$copyBytes), [{
    return $_get($_ctxt, role, block, bytes, instances, copyBytes,
                 ::llvm::ArrayRef<int64_t>(), ::llvm::ArrayRef<int64_t>(),
                 ReplicasAttr(), Residency::resident);
  }]>];
  let extraClassDeclaration = [{
    /// Returns the table of segments of `op` if that is a module, else of the
    /// module that contains it. Null if memory isn't planned yet.
    static ::mlir::ArrayAttr getTable(::mlir::Operation *op);
    /// Returns the size of a slab, or of the whole segment if it has no slabs,
    /// in bytes.
    int64_t getUnitBytes() const {
      return getCopyBytes() > 0 ? getCopyBytes() : getBytes();
    }
    /// The number of bytes in which sums of groups are added up and divided
    /// among ranks.
    static constexpr int64_t kBlockBytes = 4096;
    /// The alignment of places in the arena and the store, in bytes.
    static constexpr int64_t kPageBytes = 4096;
    bool isResident() const { return getResidency() == Residency::resident; }
    /// Returns whether a segment with this role may have this residency.
    static bool mayHave(Role role, Residency residency);
    /// Returns whether the segment has one instance for each group of
    /// micro-batches, whose partial sums are added up at the end of a step.
    bool isOfGroups() const {
      return isSummed(getRole()) || getRole() == Role::result;
    }
    /// Returns whether micro-batches add to values of this role, until a step
    /// uses the sum.
    static bool isSummed(Role role) {
      return role == Role::gradient || role == Role::moment;
    }
    /// Returns whether values of this role are live only within one step, so
    /// that copies that run in turn may share a slab.
    static bool livesWithinStep(Role role) {
      return role == Role::saved || role == Role::cut ||
             role == Role::workspace || isSummed(role) ||
             role == Role::exchange;
    }
    /// Returns whether values of this role are live from step to step and
    /// belong to a single copy. If they are in slabs, each copy has its own
    /// slab.
    static bool isState(Role role) {
      return role == Role::parameter || role == Role::optimizer_state ||
             role == Role::statistics || role == Role::curvature;
    }
  }];
}

def Hfta_TaskAttr : Hfta_Attr<"Task", "task"> {
  let summary = "The task that a function computes";
  let description = [{
    Example: `hfta.task = #hfta.task<forward, 0>`: a part of a step, by any name,
    and a block; block -1 is the whole program. A task that some replicas alone run
    says which, `#hfta.task<invert, 3, <2, 1, 1>>`: a block may have one for each of
    several sets of them.
  }];
  let parameters = (ins "::mlir::StringAttr":$part, "int64_t":$block,
                        OptionalParameter<"::mlir::hfta::ReplicasAttr">:$replicas);
  let assemblyFormat = "`<` custom<Word>($part) `,` $block (`,` $replicas^)? `>`";
  let builders = [AttrBuilder<(ins "::mlir::StringAttr":$part, "int64_t":$block), [{
    return $_get($_ctxt, part, block, ReplicasAttr());
  }]>];
  let extraClassDeclaration = [{
    /// Returns a task's name: "forward.0", "clip" for the block -1 (the whole
    /// program), or "invert.3.on_2" for a task of replica 2 alone.
    static std::string makeName(::llvm::StringRef part, int64_t block,
                                ReplicasAttr replicas = {});
    std::string makeName() const {
      return makeName(getPart(), getBlock(), getReplicas());
    }
  }];
}

def Hfta_TaskPart : I32EnumAttr<"TaskPart",
    "part of a training step, an evaluation or an inference", [
    I32EnumAttrCase<"forward", 0>,
    I32EnumAttrCase<"recompute", 1>,
    I32EnumAttrCase<"backward", 2>,
    I32EnumAttrCase<"backward_weight", 3>,
    I32EnumAttrCase<"sampled_moments", 4>,
    I32EnumAttrCase<"statistics", 5>,
    I32EnumAttrCase<"evaluate", 6>,
    I32EnumAttrCase<"infer", 7>]> {
  let description = [{
    The part of the task to which an op of an undivided function goes; its block
    is the op's. `sampled_moments` is loss and backward for drawn targets.
    `recompute` is made of ops of `forward`, and `backward_weight` of ops of
    `backward`, when ops are distributed.
  }];
  let cppNamespace = "::mlir::hfta";
  let genSpecializedAttr = 0;
}
def Hfta_TaskPartAttr : EnumAttr<Hfta_Dialect, Hfta_TaskPart, "part"> {
  let assemblyFormat = "`<` $value `>`";
}

def Hfta_Space : I32EnumAttr<"Space", "kind of memory", [
    I32EnumAttrCase<"segment", 0>,
    I32EnumAttrCase<"host", 1>,
    I32EnumAttrCase<"field", 2>,
    I32EnumAttrCase<"port", 3>]> {
  let cppNamespace = "::mlir::hfta";
  let genSpecializedAttr = 0;
}

def Hfta_PlaceAttr : Hfta_Attr<"Place", "place"> {
  let summary = "Where the bytes of a transfer are";
  let description = [{
    Kind, number and offset, and bytes from copy to copy where there is one such
    place a copy: `#hfta.place<segment, 4, 128>`, `#hfta.place<segment, 4, 0, 64>`.
    A `segment` is the program's; `host` is the image of a segment that the host
    keeps; `field` is a field of the batch that a step was called with, `port` an
    input that an inference was called with.
  }];
  let parameters = (ins EnumParameter<Hfta_Space>:$space, "int64_t":$number,
                        "int64_t":$offset,
                        DefaultValuedParameter<"int64_t", "0">:$stride);
  let assemblyFormat = "`<` $space `,` $number `,` $offset (`,` $stride^)? `>`";
  let extraClassDeclaration = [{
    /// Returns the first copy's place alone.
    PlaceAttr withoutStride() const {
      return get(getContext(), getSpace(), getNumber(), getOffset(),
                 /*stride=*/0);
    }
  }];
}

def Hfta_RepeatKind : I32EnumAttr<"RepeatKind", "values over which commands are repeated", [
    I32EnumAttrCase<"micro_batches", 0>,
    I32EnumAttrCase<"turns", 1>,
    I32EnumAttrCase<"all_micro_batches", 2>]> {
  let cppNamespace = "::mlir::hfta";
  let genSpecializedAttr = 0;
}
def Hfta_RepeatKindAttr
    : EnumAttr<Hfta_Dialect, Hfta_RepeatKind, "repeat_kind">;

def Hfta_DueKind : I32EnumAttr<"DueKind", "copies for which commands of a period run", [
    I32EnumAttrCase<"due", 0>, I32EnumAttrCase<"others", 1>,
    I32EnumAttrCase<"any", 2>, I32EnumAttrCase<"none", 3>]> {
  let cppNamespace = "::mlir::hfta";
  let genSpecializedAttr = 0;
}
def Hfta_DueKindAttr : EnumAttr<Hfta_Dialect, Hfta_DueKind, "due_kind">;

def Hfta_Contents : I32EnumAttr<"Contents", "contents of a segment when it gets a place", [
    I32EnumAttrCase<"stored", 0>,
    I32EnumAttrCase<"zeros", 1>,
    I32EnumAttrCase<"undefined", 2>]> {
  let cppNamespace = "::mlir::hfta";
  let genSpecializedAttr = 0;
}
def Hfta_ContentsAttr : EnumAttr<Hfta_Dialect, Hfta_Contents, "contents">;

def Hfta_LayerKind : I32EnumAttr<"LayerKind", "kind of a trained layer", [
    I32EnumAttrCase<"dense", 0>, I32EnumAttrCase<"convolution", 1>,
    I32EnumAttrCase<"transposed_convolution", 2>,
    I32EnumAttrCase<"embedding", 3>, I32EnumAttrCase<"norm", 4>,
    I32EnumAttrCase<"other", 5>]> {
  let cppNamespace = "::mlir::hfta";
  let genSpecializedAttr = 0;
}
def Hfta_LayerKindAttr : EnumAttr<Hfta_Dialect, Hfta_LayerKind, "layer_kind">;

def Hfta_LossDivisor : I32EnumAttr<"LossDivisor",
    "divisor of the sum of losses whose gradient is taken", [
    I32EnumAttrCase<"terms", 0>, I32EnumAttrCase<"weights", 1>,
    I32EnumAttrCase<"undivided", 2>]> {
  let cppNamespace = "::mlir::hfta";
  let genSpecializedAttr = 0;
}
def Hfta_LossDivisorAttr : EnumAttr<Hfta_Dialect, Hfta_LossDivisor, "loss_divisor">;

def Hfta_ReduceKind : I32EnumAttr<"ReduceKind", "reduction", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"max", 1>,
    I32EnumAttrCase<"min", 2>, I32EnumAttrCase<"product", 3>]> {
  let cppNamespace = "::mlir::hfta";
  let genSpecializedAttr = 0;
}
def Hfta_ReduceKindAttr : EnumAttr<Hfta_Dialect, Hfta_ReduceKind, "reduce_kind">;

def Hfta_ComparePredicate : I32EnumAttr<"ComparePredicate", "comparison", [
    I32EnumAttrCase<"equal", 0>, I32EnumAttrCase<"not_equal", 1>,
    I32EnumAttrCase<"less", 2>, I32EnumAttrCase<"less_equal", 3>,
    I32EnumAttrCase<"greater", 4>, I32EnumAttrCase<"greater_equal", 5>]> {
  let cppNamespace = "::mlir::hfta";
  let genSpecializedAttr = 0;
}
def Hfta_ComparePredicateAttr
    : EnumAttr<Hfta_Dialect, Hfta_ComparePredicate, "predicate">;

//===----------------------------------------------------------------------===//
// Target
//===----------------------------------------------------------------------===//

def Hfta_CacheAttr : Hfta_Attr<"Cache", "cache"> {
  let summary = "One level of a processor's data caches";
  let description = [{
    Example: `#hfta.cache<1048576 bytes, 16 ways, 64 a line>`.

    Constraints:
    - (C1) a line has a power of two of bytes, at least 16.
    - (C2) there is at least one way, and the bytes are whole sets of `ways`
      lines.
  }];
  let parameters = (ins "int64_t":$bytes, "int64_t":$ways, "int64_t":$lineBytes);
  let assemblyFormat = "`<` $bytes `bytes` `,` $ways `ways` `,` $lineBytes `a` `line` `>`";
  let genVerifyDecl = 1;
}

def Hfta_ProcessorAttr : Hfta_Attr<"Processor", "processor"> {
  let summary = "A processor that code is made for";
  let description = [{
    Generated code depends on it and on nothing else of a machine; computed
    values, to the last bit, don't depend on it.

    ```mlir
    #hfta.processor<vector_bytes = 64, vector_registers = 32, fma_units = 2,
        caches = [<49152 bytes, 12 ways, 64 a line>,
                  <1048576 bytes, 16 ways, 64 a line>],
        features = "avx2,fma,avx512f", llvm_features = "+avx2,+fma,+avx512f">
    ```

    `fma_units` are a core's pipes for vectors. `caches` are the data caches
    that a core uses, the first level first. `features` are the instructions
    that code may use, by the names of /proc/cpuinfo, which a program checks
    before it runs; `llvm_features` are the same for LLVM.

    Constraints:
    - (C1) vectors have 16, 32 or 64 bytes.
    - (C2) there are at least 8 vector registers and one FMA unit.
    - (C3) there is at least one cache, no level is smaller than the one before
      it, and all have lines of one length.
    - (C4) there are as many LLVM features as features.
  }];
  let parameters = (ins "int64_t":$vectorBytes, "int64_t":$vectorRegisters,
                        "int64_t":$fmaUnits,
                        ArrayRefParameter<"::mlir::hfta::CacheAttr">:$caches,
                        StringRefParameter<>:$features,
                        StringRefParameter<>:$llvmFeatures);
  let assemblyFormat = [{
    `<` `vector_bytes` `=` $vectorBytes `,` `vector_registers` `=`
    $vectorRegisters `,` `fma_units` `=` $fmaUnits `,` `caches` `=` `[` $caches
    `]` `,` `features` `=` $features `,` `llvm_features` `=` $llvmFeatures `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns whether code may use the instructions with this name in
    /// /proc/cpuinfo.
    bool hasFeature(::llvm::StringRef name) const;
  }];
}

def Hfta_GpuAttr : Hfta_Attr<"Gpu", "gpu"> {
  let summary = "GPUs that kernels are made for";
  let description = [{
    A program has code for all of `chips`. The numbers are those that all of
    them have: threads of a warp, which execute one instruction together, and
    bytes of memory that the threads of a block share. `tensor_units` are the
    groups of threads whose instructions multiply tiles of matrices, on any of
    the chips: `warp`, `warp_group`.

    ```mlir
    #hfta.gpu<chips = ["sm_80", "sm_90a"], warp_threads = 32,
              shared_bytes = 49152, tensor_units = ["warp", "warp_group"]>
    ```

    Constraints:
    - (C1) there is at least one chip, and none is named twice.
    - (C2) a warp has a power of two of threads, and blocks have shared memory.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$chips,
                        "int64_t":$warpThreads, "int64_t":$sharedBytes,
                        ArrayRefParameter<"::mlir::StringAttr">:$tensorUnits);
  let assemblyFormat = [{
    `<` `chips` `=` `[` $chips `]` `,` `warp_threads` `=` $warpThreads `,`
    `shared_bytes` `=` $sharedBytes `,` `tensor_units` `=` `[`
    $tensorUnits `]` `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool hasTensorUnit(::llvm::StringRef name) const;
  }];
}

def Hfta_TargetAttr : Hfta_Attr<"Target", "target"> {
  let summary = "The kind of device, and the machines, that code is made for";
  let description = [{
    A module's `hfta.target`, from phase `train` on. `name` is the target's, as
    in `--target`: it decides how kernels are formed, lowered and compiled, and
    so the order of sums. `machine` is what the target has to know of the
    devices (`#hfta.processor`, `#hfta.gpu`, or an attribute of its own).

    ```mlir
    module attributes {hfta.target = #hfta.target<"cuda", #hfta.gpu<
        chips = ["sm_90"], warp_threads = 32, shared_bytes = 49152,
        tensor_units = ["warp"]>>}
    ```
  }];
  let parameters = (ins StringRefParameter<>:$name, "::mlir::Attribute":$machine);
  let assemblyFormat = "`<` $name `,` $machine `>`";
  let extraClassDeclaration = [{
    /// Returns a module's target, or null if it has none or `module` is null.
    static TargetAttr get(::mlir::Operation *module);
  }];
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

def Hfta_SumOrderAttr : Hfta_Attr<"SumOrder", "sum_order"> {
  let summary = "The order in which the terms of a sum are combined";
  let description = [{
    Stands as `hfta.sum_order` on each `linalg.generic` with reduction loops (of
    sums, products, maxima and whatever else a body combines), and as an entry of
    a function's `hfta.sums` where loops have taken the op's place. It follows
    from one copy's shapes alone. `hfta-verify-sum-order` checks that ops and
    loops do what it says.

    `axes` are the reduced axes' sizes, the outermost first: terms are added one
    after the other to what the sum starts from, in row-major order. `reads` says
    what that means: for each operand whose elements differ from term to term,
    how far its indices, or in `hfta.sums` its address in elements, are from the
    first term's.

    ```mlir
    linalg.generic {hfta.sum_order = #hfta.sum_order<[64, 3], reads
        [affine_map<(d0, d1) -> (d0, d1)>]>, …}
    ```

    With lanes, the last axis is a row: lane l of `lanes` starts from zero terms
    and adds elements l, l + lanes * vectors, … of each row, for each of
    `vectors` vectors; then the vectors' halves are added until one is left,
    then the lanes' halves; the remainder of a row joins where as many lanes are
    left. The result is added to what the sum starts from.

    ```mlir
    #hfta.sum_order<[1000], reads [affine_map<(d0) -> (d0)>], 16 lanes, 4 vectors>
    ```

    Constraints:
    - (C1) there is at least one axis, and each has at least one element.
    - (C2) reads have a dimension for each axis, no symbols, and are 0 for the
      first term.
    - (C3) lanes and vectors are powers of two.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$axes,
                        OptionalArrayRefParameter<"::mlir::AffineMap">:$reads,
                        DefaultValuedParameter<"int64_t", "1">:$lanes,
                        DefaultValuedParameter<"int64_t", "1">:$vectors);
  let assemblyFormat = [{
    `<` `[` $axes `]` (`,` `reads` `[` $reads^ `]`)?
    (`,` $lanes^ `lanes` (`,` $vectors^ `vectors`)?)? `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Name of the attribute of an op with reduction loops.
    static constexpr ::llvm::StringLiteral kAttrName = "hfta.sum_order";

    int64_t getNumTerms() const;
  }];
}

#endif // HFTA_ATTRIBUTES
