//===- GpuOps.td - What threads of a GPU do together -------*- tablegen -*-===//
//
// The ops that a back end for a kind of GPU has to implement, beside those of
// the LLVM dialect. The mapping of kernels to threads creates them, and nothing
// before the back ends knows a vendor's dialect.
//===----------------------------------------------------------------------===//

#ifndef HFTA_GPU_OPS
#define HFTA_GPU_OPS

include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def HftaGpu_Dialect : Dialect {
  let name = "hfta_gpu";
  let cppNamespace = "::mlir::hfta_gpu";
  let summary = "Operations that threads of a GPU run together";
  let description = [{
    The code of a kernel's thread consists of ops of other dialects, finally of
    the LLVM dialect, and of these. They say where a thread is, let threads wait
    for each other, copy to shared memory, and multiply on tensor cores. A back
    end for a kind of GPU lowers each of them by itself: for NVIDIA's
    `convert-gpu-to-nvvm`, for the emulated GPU `hfta-emulate-gpu`.

    Operands are scalars and pointers of the LLVM dialect. Memory of the launch
    has the address space 1, memory that the threads of a block share the
    address space 3, and pointers to either the address space 0.

    A grid has blocks along one axis for a kernel's work, and along another for
    the copies of the model. A *warp* is 32 threads of a block with neighbouring
    indices, a *warp group* four neighbouring warps. Ops that several threads
    have to run together say which; these have to reach the op at the same place
    of the program.

    Effects of an op that synchronizes threads aren't described, so that it
    stays where it is among other accesses to memory.

    Attributes of functions, whose values the dialect verifies:

    | attribute | meaning |
    |---|---|
    | `hfta_gpu.entry` (unit) | a kernel that is launched |
    | `hfta_gpu.threads` (i32) | the threads of each block of the kernel, at most 1024 |
    | `hfta_gpu.blocks_at_once` (i32) | the least number of blocks that a multiprocessor is to run |
  }];
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Unit attribute of a function that is launched as a kernel.
    static constexpr llvm::StringLiteral kEntryAttrName = "hfta_gpu.entry";
    /// Attribute of an entry point, an i32: the number of threads of a block.
    static constexpr llvm::StringLiteral kThreadsAttrName = "hfta_gpu.threads";
    /// Attribute of an entry point, an i32: the least number of blocks that a
    /// multiprocessor is to run at once.
    static constexpr llvm::StringLiteral kBlocksAtOnceAttrName =
        "hfta_gpu.blocks_at_once";
    /// The address space of memory that is visible to all threads.
    static constexpr unsigned kGlobalSpace = 1;
    /// The address space of memory that the threads of a block share.
    static constexpr unsigned kSharedSpace = 3;
  }];
}

def HftaGpu_Pointer : LLVM_PointerInAddressSpace<0>;
def HftaGpu_GlobalPointer : LLVM_PointerInAddressSpace<1>;
def HftaGpu_SharedPointer : LLVM_PointerInAddressSpace<3>;

def HftaGpu_Place : I32EnumAttr<"Place", "a number that describes the place of a thread", [
    I32EnumAttrCase<"thread", 0>,
    I32EnumAttrCase<"block", 1>,
    I32EnumAttrCase<"block_threads", 2>,
    I32EnumAttrCase<"copy", 3>]> {
  let cppNamespace = "::mlir::hfta_gpu";
}

def HftaGpu_Factors : I32EnumAttr<"Factors", "type of numbers that tensor cores multiply", [
    I32EnumAttrCase<"bf16", 0>,
    I32EnumAttrCase<"f16", 1>,
    I32EnumAttrCase<"tf32", 2>]> {
  let cppNamespace = "::mlir::hfta_gpu";
}

class HftaGpu_Op<string mnemonic, list<Trait> traits = []>
    : Op<HftaGpu_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

def HftaGpu_PositionOp : HftaGpu_Op<"position", [Pure]> {
  let summary = "Where a thread is in the launch";
  let description = [{
    Returns the index of the `thread` in its block, the index of the `block`
    among those of the same copy, the number `block_threads` of threads of a
    block, or the index of the `copy` of the model among those of the launch.

    PTX: `%tid.x`, `%ctaid.x`, `%ntid.x`, `%ctaid.z`.

    Example: `%0 = hfta_gpu.position thread`
  }];
  let arguments = (ins HftaGpu_Place:$place);
  let results = (outs I32:$value);
  let assemblyFormat = "$place attr-dict";
}

def HftaGpu_AddressOp : HftaGpu_Op<"address", [Pure]> {
  let summary = "The address of an element of memory";
  let description = [{
    Returns the address of the element with these indices, or of the first one
    if there are no indices. Only code that isn't in the LLVM dialect yet has
    this op; the conversion to that dialect replaces it.

    Constraints:
    - (C1) there are as many indices as the memory has axes, or none.
    - (C2) memory and pointer have the same address space.

    Example: `%0 = hfta_gpu.address %memory[%i] : memref<64xi16, 3> -> !llvm.ptr<3>`
  }];
  let arguments = (ins AnyMemRef:$memory, Variadic<Index>:$indices);
  let results = (outs LLVM_AnyPointer:$address);
  let assemblyFormat = [{
    $memory (`[` $indices^ `]`)? attr-dict `:` type($memory) `->` qualified(type($address))
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Barriers of threads
//===----------------------------------------------------------------------===//

def HftaGpu_BarrierOp : HftaGpu_Op<"barrier"> {
  let summary = "Lets threads of a block wait for each other";
  let description = [{
    A thread waits until all threads of the block have come to the barrier; with
    `number`, until `threads` threads have come to the barrier of this number.
    Then each of them sees what the others have written to memory before. All
    threads of a warp take part together.

    PTX: `barrier.sync.aligned`; with `number`, its form with a number of threads.

    Constraints:
    - (C1) `number` is from 1 to 15; 0 is the barrier of the whole block.
    - (C2) `threads` is a positive multiple of 32 up to 1024.
    - (C3) both are given, or none of them is.

    Example: `hfta_gpu.barrier number 1 threads 128`
  }];
  let arguments = (ins OptionalAttr<I32Attr>:$number, OptionalAttr<I32Attr>:$threads);
  let assemblyFormat = "(`number` $number^)? (`threads` $threads^)? attr-dict";
  let builders = [
    OpBuilder<(ins), [{ build($_builder, $_state, IntegerAttr(), IntegerAttr()); }]>
  ];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

def HftaGpu_BeginCopyOp : HftaGpu_Op<"begin_copy"> {
  let summary = "Begins a thread's asynchronous copy of 16 bytes";
  let description = [{
    Copies 16 bytes to shared memory without registers. With `count`, a number
    of bytes from 0 to 16, only so many are read, and zeros are written after
    them. Both addresses are multiples of 16. The bytes have arrived once the
    thread has waited for the copy's group.

    PTX: `cp.async.cg.shared.global`.

    Example: `hfta_gpu.begin_copy %to from %from count %bytes`
  }];
  let arguments = (ins HftaGpu_SharedPointer:$to, HftaGpu_GlobalPointer:$from,
                       Optional<I32>:$count);
  let assemblyFormat = "$to `from` $from (`count` $count^)? attr-dict";
  let extraClassDeclaration = [{
    /// The number of bytes that are written.
    static constexpr unsigned kBytes = 16;
  }];
}

def HftaGpu_CommitCopiesOp : HftaGpu_Op<"commit_copies"> {
  let summary = "Makes the copies that a thread has begun one group";
  let description = [{
    All copies that the thread has begun since it last committed some are a
    group, which may be empty.

    PTX: `cp.async.commit_group`.

    Example: `hfta_gpu.commit_copies`
  }];
  let assemblyFormat = "attr-dict";
}

def HftaGpu_WaitForCopiesOp : HftaGpu_Op<"wait_for_copies"> {
  let summary = "Waits for a thread's copies, except the latest groups";
  let description = [{
    Waits for the thread's own copies, except for the `but` latest groups of
    them. Other threads see the bytes after a barrier.

    PTX: `cp.async.wait_group`.

    Constraints:
    - (C1) `but` isn't negative.

    Example: `hfta_gpu.wait_for_copies but 2`
  }];
  let arguments = (ins I32Attr:$but);
  let assemblyFormat = "`but` $but attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Products of a warp
//===----------------------------------------------------------------------===//

def HftaGpu_LoadMatricesOp : HftaGpu_Op<"load_matrices", [MemoryEffects<[MemRead]>]> {
  let summary = "Loads a warp's small matrices from shared memory";
  let description = [{
    The threads of a warp together load matrices of 8 rows of 16 bytes. Thread
    8 * i + j passes the address of row j of matrix i; addresses of further
    threads are ignored. Word i of thread t holds the bytes 4 * (t mod 4) and
    following of row t / 4 of matrix i. With `transposed` a row is 8 elements of
    16 bits, and the matrix is transposed before.

    PTX: `ldmatrix.sync.aligned.m8n8.shared.b16`, with `.trans`.

    Constraints:
    - (C1) there are 1, 2 or 4 matrices.

    Example: `%0:4 = hfta_gpu.load_matrices %row transposed : i32, i32, i32, i32`
  }];
  let arguments = (ins HftaGpu_SharedPointer:$row, UnitAttr:$transposed);
  let results = (outs Variadic<I32>:$words);
  let assemblyFormat = "$row (`transposed` $transposed^)? attr-dict `:` type($words)";
  let hasVerifier = 1;
}

def HftaGpu_MultiplyOp : HftaGpu_Op<"multiply", [AttrSizedOperandSegments]> {
  let summary = "Lets a warp multiply two small matrices";
  let description = [{
    The threads of a warp together add, in f32, the product of a matrix of 16
    rows and one of 8 columns to 16 by 8 sums. The product has 16 terms of bf16
    or f16, two in a word, or 8 of tf32. Which elements a thread has is that of
    PTX's fragments for `m16n8k16` and `m16n8k8`: 4 words of the left matrix, 2
    of the right one, and 4 sums. The chip decides in which order terms are
    added.

    PTX: `mma.sync.aligned.row.col`.

    Constraints:
    - (C1) there are 4 words of the left matrix, 2 of the right one, and 4 sums.

    Example: `%0:4 = hfta_gpu.multiply bf16 (%a, %b, %c, %d) (%e, %f) (%s, %t, %u, %v)`
  }];
  let arguments = (ins HftaGpu_Factors:$factors, Variadic<I32>:$lhs, Variadic<I32>:$rhs,
                       Variadic<F32>:$sums);
  let results = (outs F32:$sum0, F32:$sum1, F32:$sum2, F32:$sum3);
  let assemblyFormat = [{
    $factors `(` $lhs `)` `(` $rhs `)` `(` $sums `)` attr-dict
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Products of a warp group
//===----------------------------------------------------------------------===//

def HftaGpu_PublishStoresOp : HftaGpu_Op<"publish_stores"> {
  let summary = "Makes a thread's stores visible to products of warp groups";
  let description = [{
    Products of warp groups read shared memory past the threads' own view of it.
    A thread that has written operands runs this op, before the barrier after
    which the products begin.

    PTX: `fence.proxy.async.shared::cta`.

    Example: `hfta_gpu.publish_stores`
  }];
  let assemblyFormat = "attr-dict";
}

def HftaGpu_BeginProductsOp : HftaGpu_Op<"begin_products"> {
  let summary = "Lets products of a warp group use a thread's registers";
  let description = [{
    The threads of a warp group run it before the first product whose sums other
    ops have written.

    PTX: `wgmma.fence.sync.aligned`.

    Example: `hfta_gpu.begin_products`
  }];
  let assemblyFormat = "attr-dict";
}

def HftaGpu_MultiplySharedOp : HftaGpu_Op<"multiply_shared", [
    AllTypesMatch<["sums", "result"]>]> {
  let summary = "Begins a product of a warp group";
  let description = [{
    The threads of a warp group together begin to add the product of a matrix of
    64 rows and one of some columns to 64 sums for each column. Both matrices
    lie in shared memory, where descriptors say: PTX's matrix descriptors of
    `wgmma`. The product has 16 terms of bf16 or f16, or 8 of tf32. By default,
    neighbours in memory are terms of a matrix; with `lhs_transposed` and
    `rhs_transposed`, which 16-bit types have, they are rows and columns.

    A thread has half as many sums as there are columns, in the order of PTX's
    fragment of the accumulator. The result mustn't be read before the thread has
    waited for it; it may be the operand of the next product.

    PTX: `wgmma.mma_async.sync.aligned`.

    Constraints:
    - (C1) the sums are a struct of f32. There are 4 for every 8 columns, of which
      there are at most 256.
    - (C2) matrices of tf32 aren't transposed.

    Example:
    ```mlir
    %0 = hfta_gpu.multiply_shared bf16 %lhs, %rhs, %sums rhs_transposed
        : !llvm.struct<(f32, f32, f32, f32)>
    ```
  }];
  let arguments = (ins HftaGpu_Factors:$factors, I64:$lhs, I64:$rhs, LLVM_AnyStruct:$sums,
                       UnitAttr:$lhs_transposed, UnitAttr:$rhs_transposed);
  let results = (outs LLVM_AnyStruct:$result);
  let assemblyFormat = [{
    $factors $lhs `,` $rhs `,` $sums (`lhs_transposed` $lhs_transposed^)?
    (`rhs_transposed` $rhs_transposed^)? attr-dict `:` type($sums)
  }];
  let extraClassDeclaration = [{
    /// The number of rows of the left matrix.
    static constexpr int64_t kRows = 64;
    /// Returns the number of columns of the right matrix.
    int64_t countColumns();
    /// Returns the number of terms of each element of the product.
    int64_t countTerms() { return getFactors() == Factors::tf32 ? 8 : 16; }
  }];
  let hasVerifier = 1;
}

def HftaGpu_CommitProductsOp : HftaGpu_Op<"commit_products"> {
  let summary = "Makes the products that a warp group has begun one group";
  let description = [{
    All products that the warp group has begun since it last committed some are
    a group.

    PTX: `wgmma.commit_group.sync.aligned`.

    Example: `hfta_gpu.commit_products`
  }];
  let assemblyFormat = "attr-dict";
}

def HftaGpu_WaitForProductGroupsOp : HftaGpu_Op<"wait_for_product_groups"> {
  let summary = "Waits for a warp group's products, except the latest groups";
  let description = [{
    Waits for the warp group's products, except for the `but` latest groups of
    them. Their operands may be overwritten afterwards. Sums mustn't be read yet,
    as a later product may use them.

    PTX: `wgmma.wait_group.sync.aligned`.

    Constraints:
    - (C1) `but` isn't negative.

    Example: `hfta_gpu.wait_for_product_groups but 1`
  }];
  let arguments = (ins I32Attr:$but);
  let assemblyFormat = "`but` $but attr-dict";
  let hasVerifier = 1;
}

def HftaGpu_WaitForProductsOp : HftaGpu_Op<"wait_for_products", [
    AllTypesMatch<["sums", "result"]>]> {
  let summary = "Waits for all of a warp group's products and returns their sums";
  let description = [{
    Waits for all products of the warp group. `sums` are those of the last one;
    the result has the same sums and may be read. As the sums go through the op,
    no use of one of them can move before the wait.

    PTX: `wgmma.wait_group.sync.aligned 0`.

    Constraints:
    - (C1) the sums are a struct of f32.

    Example: `%1 = hfta_gpu.wait_for_products %0 : !llvm.struct<(f32, f32, f32, f32)>`
  }];
  let arguments = (ins LLVM_AnyStruct:$sums);
  let results = (outs LLVM_AnyStruct:$result);
  let assemblyFormat = "$sums attr-dict `:` type($sums)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Barriers in memory, and copies of boxes
//===----------------------------------------------------------------------===//

def HftaGpu_InitMbarrierOp : HftaGpu_Op<"init_mbarrier"> {
  let summary = "Initialises an mbarrier";
  let description = [{
    An mbarrier is a barrier of 8 bytes in shared memory, at which threads wait
    for each other and for bytes of copies. It goes through phases; each ends
    when threads have arrived `arrivals` times and all expected bytes have been
    written. One thread initialises it. Others may use it after
    `hfta_gpu.publish_mbarriers` and a barrier.

    PTX: `mbarrier.init.shared::cta.b64`.

    Constraints:
    - (C1) `arrivals` is positive.

    Example: `hfta_gpu.init_mbarrier %barrier arrivals 8`
  }];
  let arguments = (ins HftaGpu_SharedPointer:$barrier, I32Attr:$arrivals);
  let assemblyFormat = "$barrier `arrivals` $arrivals attr-dict";
  let hasVerifier = 1;
}

def HftaGpu_PublishMbarriersOp : HftaGpu_Op<"publish_mbarriers"> {
  let summary = "Makes initialised mbarriers visible to copies";
  let description = [{
    The thread that has initialised mbarriers runs it before others use them.

    PTX: `fence.mbarrier_init`.

    Example: `hfta_gpu.publish_mbarriers`
  }];
  let assemblyFormat = "attr-dict";
}

def HftaGpu_ArriveOp : HftaGpu_Op<"arrive"> {
  let summary = "Arrives at an mbarrier";
  let description = [{
    Counts one arrival for the mbarrier's current phase. What the thread has
    written before is visible to those that wait for the phase.

    PTX: `mbarrier.arrive.shared::cta.b64`.

    Example: `hfta_gpu.arrive %barrier`
  }];
  let arguments = (ins HftaGpu_SharedPointer:$barrier);
  let assemblyFormat = "$barrier attr-dict";
}

def HftaGpu_ArriveExpectingOp : HftaGpu_Op<"arrive_expecting"> {
  let summary = "Arrives at an mbarrier and lets its phase expect bytes";
  let description = [{
    Lets the mbarrier's current phase wait for `bytes` more bytes of copies, and
    counts one arrival.

    PTX: `mbarrier.arrive.expect_tx.shared::cta.b64`.

    Constraints:
    - (C1) `bytes` is positive, and less than 2^20.

    Example: `hfta_gpu.arrive_expecting %barrier bytes 16384`
  }];
  let arguments = (ins HftaGpu_SharedPointer:$barrier, I32Attr:$bytes);
  let assemblyFormat = "$barrier `bytes` $bytes attr-dict";
  let hasVerifier = 1;
}

def HftaGpu_WaitForPhaseOp : HftaGpu_Op<"wait_for_phase"> {
  let summary = "Waits for the end of an mbarrier's phase";
  let description = [{
    Waits for the end of the current phase if its number has the parity `parity`
    (0 or 1), counted from 0. Else the phase of that parity is the one before,
    which has ended, and the thread continues at once; before the first phase
    there is such a one, too.

    PTX: a loop of `mbarrier.try_wait.parity.shared::cta.b64`.

    Example: `hfta_gpu.wait_for_phase %barrier parity %parity`
  }];
  let arguments = (ins HftaGpu_SharedPointer:$barrier, I32:$parity);
  let assemblyFormat = "$barrier `parity` $parity attr-dict";
}

def HftaGpu_BeginBoxCopyOp : HftaGpu_Op<"begin_box_copy"> {
  let summary = "Begins the copy of a box of a tensor";
  let description = [{
    One thread begins to copy the box that begins at `coordinates`, the innermost
    dimension first, to shared memory. The tensor, the box and the order of its
    bytes in shared memory are described by the tensor map of number `map` in the
    block of maps at `maps` (`hfta_warp_group_launch`). Elements outside of the
    tensor are zeros. When the bytes have been written, they count for the
    current phase of the mbarrier.

    PTX: `cp.async.bulk.tensor.shared::cluster.global.tile.mbarrier::complete_tx::bytes`.

    Constraints:
    - (C1) there are 1 to 5 coordinates.
    - (C2) `map` isn't negative.

    Example: `hfta_gpu.begin_box_copy %to from %maps map 1 at (%i, %j) counts %barrier`
  }];
  let arguments = (ins HftaGpu_SharedPointer:$to, HftaGpu_Pointer:$maps, I32Attr:$map,
                       Variadic<I32>:$coordinates, HftaGpu_SharedPointer:$barrier);
  let assemblyFormat = [{
    $to `from` $maps `map` $map `at` `(` $coordinates `)` `counts` $barrier attr-dict
  }];
  let extraClassDeclaration = [{
    /// The most coordinates of a box.
    static constexpr size_t kMostCoordinates = 5;
  }];
  let hasVerifier = 1;
}

#endif // HFTA_GPU_OPS
