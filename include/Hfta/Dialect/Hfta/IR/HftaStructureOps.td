//===- HftaStructureOps.td - Models, variables, kernels ----*- tablegen -*-===//

#ifndef HFTA_STRUCTURE_OPS
#define HFTA_STRUCTURE_OPS

include "Hfta/Dialect/Hfta/IR/HftaBase.td"
include "mlir/IR/RegionKindInterface.td"

def Hfta_ModelOp : Hfta_Op<"model", [
    Symbol, SymbolTable, IsolatedFromAbove, NoTerminator, SingleBlock,
    NoRegionArguments]> {
  let summary = "One model and the copies that it serves";
  let description = [{
    Holds the model's variables and its functions. `forward` maps inputs to
    outputs, `prepare` maps a micro-batch as the files hold it to the fields of
    the data block, `objective` maps outputs and fields to per-element losses,
    their weights and values of metrics. `copies` numbers the copies of the array
    that are instances of this model; a variable's name is the copy's own.

    Example:
    ```mlir
    hfta.model @mlp copies [0, 1] {
      hfta.variable @weight {role = #hfta.role<parameter>} : tensor<10x784xf32>
      func.func @forward(%image: tensor<64x784xf32>) -> tensor<64x10xf32> { … }
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, DenseI64ArrayAttr:$copies);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `copies` $copies attr-dict-with-keyword $body
  }];
}

def Hfta_VariableOp : Hfta_Op<"variable", [
    Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Named storage that tasks read and write";
  let description = [{
    `initial` is the value before the first step: elements, `#hfta.uniform` or
    `#hfta.normal`; without it, zero. For an arrayed variable elements may be
    one copy's (all copies start alike) or hold a leading copy axis. Random
    values are keyed by the variable's own name. `instances` counts the
    micro-batches in flight. With `copy`, the variable belongs to that copy
    alone, and its type is plain. With `only`, these copies alone have a value of
    an arrayed variable, such as the state of an optimizer that other copies
    don't use; its type still names all copies. `readers` are the stages other than that of
    its block which read it, and to which it is sent. `holders` are the
    replicas, of the stage of its block, that alone have it: others have no
    memory for it. `residency` is that of the segment in which memory is planned
    for it.

    `purpose` says what a variable of the compiler is for, and to which other
    variable it belongs. A model's tensor has none: it is called `known_as` in
    checkpoints and exports, or, without that, by its symbol.

    Constraints:
    - (C1) the type is that of a tensor with a static shape.
    - (C2) a trained variable holds floats.
    - (C3) there is at least one instance.
    - (C4) the variable of one copy is shared.
    - (C5) a variable with random values holds floats.
    - (C6) `initial` is elements, of the variable's type or with an axis of copies
      in front, or says how values are drawn.
    - (C7) the role is that of the purpose.
    - (C8) the purpose belongs to another variable, in the same table; a norm, a
      gradient and a state belong to a parameter, an initial value to no
      constant.
    - (C9) no two variables have one purpose, unless each is of one copy.
    - (C10) a variable that only some replicas hold is passed between their own
      tasks: its role is `curvature`, `moment`, `optimizer_state`, `output` or
      `saved`.
    - (C11) it has no readers.
    - (C12) its role allows its `residency`.
    - (C13) `only` lists some copies of an arrayed variable, ascending.

    Example:
    ```mlir
    hfta.variable @weight {role = #hfta.role<parameter>, trained,
        initial = #hfta.uniform<-0.1 : f32, 0.1 : f32>}
        : tensor<10x784xf32, #hfta.copies<8>>
    hfta.variable @"hfta.gradient/weight" {role = #hfta.role<gradient>,
        purpose = #hfta.purpose<gradient of @weight>}
        : tensor<10x784xf32, #hfta.copies<8>>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Hfta_Tensor>:$type,
                       Hfta_RoleAttr:$role,
                       OptionalAttr<AnyAttr>:$initial, UnitAttr:$trained,
                       DefaultValuedAttr<I64Attr, "-1">:$block,
                       DefaultValuedAttr<I64Attr, "1">:$instances,
                       OptionalAttr<Hfta_BindingAttr>:$location,
                       OptionalAttr<I64Attr>:$copy,
                       OptionalAttr<DenseI64ArrayAttr>:$only,
                       OptionalAttr<Hfta_PurposeAttr>:$purpose,
                       OptionalAttr<StrAttr>:$known_as,
                       OptionalAttr<DenseI64ArrayAttr>:$readers,
                       OptionalAttr<Hfta_ReplicasAttr>:$holders,
                       DefaultValuedAttr<Hfta_ResidencyAttr, "::mlir::hfta::Residency::resident">:$residency);
  let builders = [
    OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::RankedTensorType":$type,
                   "Role":$role, CArg<"::mlir::Attribute", "{}">:$initial)>,
    /// Builds a variable with the role and the symbol that follow from its
    /// purpose.
    OpBuilder<(ins "PurposeAttr":$purpose, "::mlir::RankedTensorType":$type,
                   CArg<"::mlir::Attribute", "{}">:$initial)>
  ];
  let assemblyFormat = "$sym_name attr-dict `:` $type";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    RankedTensorType getTensorType() { return cast<RankedTensorType>(getType()); }
    /// Returns the symbol of a variable that only one copy has.
    static std::string getSymbolOfCopy(StringRef name, int64_t copy);
    /// Makes this the variable of only one copy. Its own name (getOwnName)
    /// stays the same.
    void makeOfCopy(int64_t copy);
    /// Returns whether the variable's purpose is of this kind.
    bool isFor(Purpose purpose);
    /// Returns the variable's name in models before fusion, checkpoints and
    /// exports.
    std::string getOwnName();
  }];
}

def Hfta_ReadOp : Hfta_Op<"read", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Reads the value of a variable";
  let description = [{
    With `copy`, reads that copy's value of an arrayed variable; the result is
    shared. With `only`, the result is arrayed, but is used for these copies
    alone.
    Example: `%w = hfta.read @weight copy 3 : tensor<10x784xf32>`
  }];
  let arguments = (ins Arg<FlatSymbolRefAttr, "", [MemRead]>:$variable,
                       OptionalAttr<I64Attr>:$copy,
                       OptionalAttr<DenseI64ArrayAttr>:$only);
  let results = (outs Hfta_Tensor:$result);
  let builders = [
    /// Builds a read for all copies, or of one of them.
    OpBuilder<(ins "::mlir::Type":$result, "::llvm::StringRef":$variable,
                   "::mlir::IntegerAttr":$copy), [{
      build($_builder, $_state, result, variable, copy, DenseI64ArrayAttr());
    }]>
  ];
  let assemblyFormat = "$variable (`copy` $copy^)? (`only` $only^)? attr-dict `:` type($result)";
}

def Hfta_WriteOp : Hfta_Op<"write", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Replaces the value of a variable";
  let description = [{
    With `copy`, replaces only that copy's value of an arrayed variable, with
    `only` those of some copies. A shared value written to an arrayed variable
    goes to every copy that isn't excluded so.
    Example: `hfta.write %w, @weight : tensor<10x784xf32>`
  }];
  let arguments = (ins Hfta_Tensor:$value,
                       Arg<FlatSymbolRefAttr, "", [MemWrite]>:$variable,
                       OptionalAttr<I64Attr>:$copy,
                       OptionalAttr<DenseI64ArrayAttr>:$only);
  let builders = [
    /// Builds a write for all copies, or of one of them.
    OpBuilder<(ins "::mlir::Value":$value, "::llvm::StringRef":$variable,
                   "::mlir::IntegerAttr":$copy), [{
      build($_builder, $_state, value, variable, copy, DenseI64ArrayAttr());
    }]>
  ];
  let assemblyFormat = [{
    $value `,` $variable (`copy` $copy^)? (`only` $only^)? attr-dict `:` type($value)
  }];
}

def Hfta_ConstantOp : Hfta_Op<"constant", [
    Pure, ConstantLike, Hfta_RepeatedTrait, InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<Hfta_CostOpInterface, ["getFlops"]>,
    DeclareOpInterfaceMethods<Hfta_FusableOpInterface>]> {
  let summary = "A value known at compile time, shared by all copies";
  let description = [{
    Example: `%0 = hfta.constant dense<0.0> : tensor<10xf32>`
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Hfta_Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def Hfta_StackOp : Hfta_Op<"stack", [
    Pure, SameTypeOperands, DeclareOpInterfaceMethods<Hfta_LayerOpInterface>,
    DeclareOpInterfaceMethods<Hfta_DifferentiableOpInterface>]> {
  let summary = "Combines shared values, one for each copy, into an arrayed value";
  let description = [{
    Example: `%0 = hfta.stack %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32, #hfta.copies<2>>`
  }];
  let arguments = (ins Variadic<Hfta_Tensor>:$inputs);
  let results = (outs Hfta_Tensor:$result);
  let assemblyFormat = "$inputs attr-dict `:` functional-type($inputs, $result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Hfta_UnstackOp : Hfta_Op<"unstack", [
    Pure, DeclareOpInterfaceMethods<Hfta_LayerOpInterface>,
    DeclareOpInterfaceMethods<Hfta_DifferentiableOpInterface>]> {
  let summary = "Takes one copy's value of an arrayed value";
  let description = [{
    Example: `%0 = hfta.unstack %a[1] : tensor<4xf32, #hfta.copies<2>> -> tensor<4xf32>`
  }];
  let arguments = (ins Hfta_Tensor:$input, I64Attr:$copy);
  let results = (outs Hfta_Tensor:$result);
  let assemblyFormat = "$input `[` $copy `]` attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Hfta_KernelOp : Hfta_Op<"kernel", [
    Pure, IsolatedFromAbove, SingleBlock]> {
  let summary = "Ops that run as one generated function, one copy at a time";
  let description = [{
    The region computes one copy: its arguments are the operands' logical, plain
    tensors, `hfta.yield` returns the results'. It runs once per copy if a
    result is arrayed, once otherwise.

    hfta-plan-memory adds `bindings` (places of the inputs, then of the results
    that aren't tied) and `ties`: for each result -1 or the input in whose
    place it is computed.

    Example:
    ```mlir
    %0 = hfta.kernel "relu"(%x) : (tensor<4xf32, #hfta.copies<2>>)
        -> tensor<4xf32, #hfta.copies<2>> { … }
    ```
  }];
  let arguments = (ins StrAttr:$name, Variadic<Hfta_Tensor>:$inputs,
                       OptionalAttr<TypedArrayAttrBase<Hfta_BindingAttr, "bindings">>:$bindings,
                       OptionalAttr<DenseI64ArrayAttr>:$ties);
  let results = (outs Variadic<Hfta_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $name `(` $inputs `)` attr-dict `:` functional-type($inputs, $results) $body
  }];
  let hasVerifier = 1;
}

def Hfta_LaunchOp : Hfta_Op<"launch", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a kernel function on planned memory";
  let description = [{
    Runs once per copy with `per_copy`, for those `only` if they are given, else
    once; with `copy`, only if that copy is among those that the task runs for. The first `inputs` bindings are
    read; `written` lists the numbers of those that are written. A launch that
    `joins` the one before it may run copy by copy together with it.

    Constraints:
    - (C1) the inputs are among the bindings.
    - (C2) so are the written ones.
    - (C3) a launch for one copy doesn't run once per copy.
    - (C4) a launch that joins has one before it.
    - (C5) `only` lists copies, ascending, for which a launch runs once each.

    Example: `hfta.launch @"kernel/relu" on [#hfta.binding<0, 0, 64>] inputs 1 written [0] {per_copy}`
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel,
                       TypedArrayAttrBase<Hfta_BindingAttr, "bindings">:$bindings,
                       I64Attr:$inputs, DenseI64ArrayAttr:$written,
                       UnitAttr:$per_copy, OptionalAttr<I64Attr>:$copy,
                       UnitAttr:$joins, OptionalAttr<DenseI64ArrayAttr>:$only);
  let assemblyFormat = [{
    $kernel `on` $bindings `inputs` $inputs `written` $written attr-dict
  }];
  let hasVerifier = 1;
}

def Hfta_YieldOp : Hfta_Op<"yield", [
    Pure, Terminator, HasParent<"KernelOp">]> {
  let summary = "Results of a kernel";
  let description = [{
    Example: `hfta.yield %0 : tensor<4xf32>`
  }];
  let arguments = (ins Variadic<Hfta_Tensor>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

#endif // HFTA_STRUCTURE_OPS
