//===- Passes.td - Conversions from the hfta dialect -------*- tablegen -*-===//

#ifndef HFTA_CONVERSION_PASSES
#define HFTA_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

def ConvertHftaToLinalgPass
    : Pass<"convert-hfta-to-linalg", "::mlir::func::FuncOp"> {
  let summary = "Lower kernels to linalg, tensor, arith and math";
  let description = [{
    Converts a function on one copy's plain tensors, that is, without
    `#hfta.copies`, and without composite ops (DecomposableOpInterface).
    Functions with an `hfta.task` are left alone. Signed and unsigned integers
    become signless; booleans are `i1` inside and `i8` (0 or 1) as arguments
    and results. Calls of the function aren't updated.

    The order of every sum follows from the shapes alone; products are summed
    with `math.fma`. If the forming policy of the module's `hfta.target` keeps
    products whole, each contraction, convolution or gradient of these becomes
    one op on its operands as they are, padding included.

    Before:
    ```mlir
    func.func @kernel(%x: tensor<64x784xf32>, %w: tensor<784x10xf32>) -> tensor<64x10xf32> {
      %0 = hfta.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>,
          affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
          : tensor<64x784xf32>, tensor<784x10xf32>
      return %0 : tensor<64x10xf32>
    }
    ```
    After:
    ```mlir
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<64x10xf32>
    %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x10xf32>) -> tensor<64x10xf32>
    %0 = linalg.generic {indexing_maps = [
        affine_map<(m, k, n) -> (m, k)>, affine_map<(m, k, n) -> (k, n)>,
        affine_map<(m, k, n) -> (m, n)>],
        iterator_types = ["parallel", "reduction", "parallel"]}
        ins(%x, %w : …) outs(%fill : tensor<64x10xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %1 = math.fma %a, %b, %sum : f32
      linalg.yield %1 : f32
    } -> tensor<64x10xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

def ConvertHftaToRuntime : Pass<"convert-hfta-to-runtime", "::mlir::ModuleOp"> {
  let summary = "Lower tasks, schedules and variables to the C runtime's tables";
  let description = [{
    Segments, variables, tasks, schedules and the job become one constant of type
    `hfta_program` (runtime/include/hfta/program.h), the module's only exported
    symbol. Kernels must have been lowered, so that the number of their work items
    and their scratch bytes are known.

    ```mlir
    hfta.task @"task/infer" part "infer" block -1 reads [0] writes [0] {
      hfta.launch @"kernel/relu.0" on [#hfta.binding<0, 0, 64>] inputs 1 written [0]
    }
    // ==>
    llvm.mlir.global internal constant @launches() : !llvm.array<1 x struct<(…)>>
    llvm.mlir.global internal constant @tasks() : !llvm.array<1 x struct<(…)>>
    ```
  }];
  let options = [
    Option<"symbol", "symbol", "std::string", "\"hfta_program\"",
      "name of the exported table">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def ConvertKernelsToLLVM : Pass<"convert-kernels-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Lower kernels' loops to LLVM functions with C entry points";
  let description = [{
    Converts kernels of scf, memref, vector and arith ops, and the module's
    `memref.global`s, to the LLVM dialect. Memory arguments become pointers that
    don't alias; the attributes `hfta.items` and `hfta.scratch_bytes` stay on
    the internal function, and `hfta.operand_bytes` is the list of the operands'
    sizes in bytes. Each kernel gets an entry point whose name ends in `/entry`.

    Before:
    ```mlir
    func.func private @k(%a: memref<8xf32>, %out: memref<8xf32>, %item: index,
                         %scratch: memref<0xi8>) attributes {hfta.kernel, …}
    ```
    After:
    ```mlir
    llvm.func internal @k(%a: !llvm.ptr {llvm.noalias}, %out: !llvm.ptr
        {llvm.noalias}, %item: i64, %scratch: !llvm.ptr {llvm.noalias}) …
    llvm.func @"k/entry"(%buffers: !llvm.ptr, %item: i64, %scratch: !llvm.ptr)
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::cf::ControlFlowDialect"];
}

def HftaBufferizeKernels : Pass<"hfta-bufferize-kernels", "::mlir::ModuleOp"> {
  let summary = "Turn the tensors inside kernels into memory";
  let description = [{
    Runs one-shot bufferization on kernels that `hfta-distribute-kernels` has
    given memory arguments. Results are computed in place wherever that is
    possible. Intermediate values become static `memref.alloc`s; copies become
    `linalg.copy`. Only the borders of a padded operand are filled.

    Before:
    ```mlir
    %t = bufferization.to_tensor %a restrict : memref<8xf32> to tensor<8xf32>
    %0 = linalg.generic … ins(%t : tensor<8xf32>) outs(%empty : tensor<8xf32>)
    ```
    After:
    ```mlir
    linalg.generic … ins(%a : memref<8xf32>) outs(%out : memref<8xf32>)
    ```
  }];
  let dependentDialects = [
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect"];
}

def HftaDistributeKernels
    : Pass<"hfta-distribute-kernels", "::mlir::func::FuncOp"> {
  let summary = "Cut kernels into work items and give them memory arguments";
  let description = [{
    A kernel on tensors becomes a function of its arguments' memory, the memory
    of results that don't overwrite an argument, the number of the work item and
    scratch memory. It computes that item's part of each result. Leading axes of
    the results are cut into equal parts. The values from which results are
    computed are cut in the same way if possible; otherwise each item computes
    them completely. Sums are never cut. A result that a loop over parts computes
    (`hfta.parts`) is cut by the loop's iterations. `hfta.items` records the number
    of items, which depends on the kernel's shapes and on `hfta.copies`, the copies
    that share the threads.

    Before:
    ```mlir
    func.func private @k(%x: tensor<64x4096xf32>) -> tensor<64x4096xf32>
        attributes {hfta.kernel, hfta.ties = array<i64: -1>}
    ```
    After:
    ```mlir
    func.func private @k(%x: memref<64x4096xf32>, %out: memref<64x4096xf32>,
                         %item: index, %scratch: memref<?xi8>)
        attributes {hfta.items = 8 : i64, hfta.kernel}
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::tensor::TensorDialect"];
}

def ConvertKernelsToGpu : Pass<"convert-kernels-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Convert kernels, as functions of one GPU thread, to LLVM functions";
  let description = [{
    Converts kernels as `convert-kernels-to-llvm` does, but their entry points
    are launched by a GPU with a grid of (blocks, 1, copies). What threads do
    together stays in the `hfta_gpu` dialect, for any kind of GPU. The
    parameters are, for each operand, its address in the launch's first copy and
    the distance in bytes from copy to copy, then memory of which each thread
    takes its own part as scratch memory. A thread computes the element with its
    index, if there is one; if a block's threads work together, all of them run.
    The entry's name is the kernel's without `kernel/`, with `$` for characters
    other than letters, digits and `_`. The kernel has it as `hfta.gpu_entry`, and the
    threads of a block as `hfta.block_threads`. The entry of a kernel with
    `hfta.warp_groups_of` names the entry that it replaces. If such a kernel
    copies by tensor maps (`hfta.tensor_maps`), the maps are its entry's last
    parameter, its shared memory is dynamic (`hfta.shared_bytes`), and the kernel
    that it replaces describes its launch (`hfta.warp_group_launch`). Kernels
    whose threads share sums and divide in f64, or compute several elements, get
    `hfta_gpu.blocks_at_once`, so that the assembler gives them enough registers.

    Before:
    ```mlir
    func.func private @"kernel/forward.0"(%x: memref<300xf32>, %out: memref<300xf32>,
                                          %element: index, %scratch: memref<?xi8>)
        attributes {hfta.items = 300 : i64, hfta.kernel, …}
    ```
    After:
    ```mlir
    llvm.func internal @"kernel/forward.0"(!llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
        attributes {hfta.block_threads = 256 : i64, hfta.gpu_entry = "forward$0", …}
    llvm.func @forward$0(%x: !llvm.ptr, %x_stride: i64, %out: !llvm.ptr,
                         %out_stride: i64, %scratch: !llvm.ptr)
        attributes {hfta_gpu.entry, hfta_gpu.threads = 256 : i32}
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::hfta_gpu::HftaGpuDialect"];
}

def ConvertGpuToNVVM : Pass<"convert-gpu-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "Lower what the threads of a GPU do together to NVVM";
  let description = [{
    Runs on a module of code for NVIDIA's GPUs. Each op of the `hfta_gpu` dialect
    becomes the instruction that its description names, and each attribute of an
    entry point that of the NVVM dialect. Tensor maps get `nvvm.grid_constant`, as
    the hardware reads them from the memory of the parameter.

    Before:
    ```mlir
    llvm.func @forward$0(…) attributes {hfta_gpu.entry, hfta_gpu.threads = 256 : i32} {
      %0 = hfta_gpu.position thread
    ```
    After:
    ```mlir
    llvm.func @forward$0(…) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 256>} {
      %0 = nvvm.read.ptx.sreg.tid.x : i32
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

def HftaAddWarpGroupKernels
    : Pass<"hfta-add-warp-group-kernels", "::mlir::ModuleOp"> {
  let summary = "Add kernels for chips with instructions of warp groups";
  let description = [{
    For each kernel on tensors that is a product on tensor cores, in tiles
    (`hfta.tile`) that warp groups of 128 threads can compute, adds another kernel
    that replaces it on chips with instructions of warp groups (sm_90a). That one
    has the same number of blocks, each with the same number of threads or one warp
    more, and computes the same bits.

    Before:
    ```mlir
    func.func private @"kernel/forward.0"(…) attributes {hfta.kernel}
    ```
    After:
    ```mlir
    func.func private @"kernel/forward.0"(…) attributes {hfta.kernel}
    func.func private @"kernel/forward.0/warp_groups"(…)
        attributes {hfta.kernel, hfta.warp_groups_of = @"kernel/forward.0"}
    ```
  }];
}

def HftaChooseGpuKernels : Pass<"hfta-choose-gpu-kernels", "::mlir::ModuleOp"> {
  let summary = "Keep only the GPU kernels for one kind of chip";
  let description = [{
    Runs on a module of GPU code. If a kernel has a replacement for chips with
    instructions of warp groups, only one of both stays, under the name by which it
    is launched. It is an error if their parameters differ, or if a function with
    tensor maps doesn't have these as its last parameter.

    Before:
    ```mlir
    llvm.func @forward$0(…) attributes {hfta_gpu.entry}
    llvm.func @forward$0$warp_groups(…)
        attributes {hfta.warp_groups_of = @forward$0, hfta_gpu.entry}
    ```
    After, with `warp-groups`:
    ```mlir
    llvm.func @forward$0(…) attributes {hfta_gpu.entry} // the second one
    ```
  }];
  let options = [
    Option<"warpGroups", "warp-groups", "bool", "false",
           "the chip has instructions of warp groups">];
}

def HftaCollectGpuCode : Pass<"hfta-collect-gpu-code", "::mlir::ModuleOp"> {
  let summary = "Move the code for GPUs to a module of its own";
  let description = [{
    Moves the entry points of kernels, and the functions and constants that they
    use, to a nested module `hfta.gpu`, from which images for chips are made. All
    other ops are the host's.

    ```mlir
    llvm.func internal @"kernel/forward.0"(…)
    llvm.func @forward$0(…) attributes {hfta_gpu.entry}
    // becomes
    module @hfta.gpu {
      llvm.func internal @"kernel/forward.0"(…)
      llvm.func @forward$0(…) attributes {hfta_gpu.entry}
    }
    ```
  }];
}

def HftaEmulateGpu : Pass<"hfta-emulate-gpu", "::mlir::ModuleOp"> {
  let summary = "Turn GPU kernels into functions for the host's processor";
  let description = [{
    Runs on a module of GPU code. Registers are read from an array
    `hfta_emulated_registers`, which the caller of a kernel fills for each thread.
    A function `NAME$call` takes pointers to the parameters of kernel NAME, as the
    driver does. A kernel whose blocks' threads wait for each other has a function
    `NAME$block` instead. All kernels' shared memory is `hfta_emulated_shared`.
    All other ops of the `hfta_gpu` dialect become calls of functions of the
    emulated driver, to which globals such as `hfta_emulated_barrier` point.

    Before:
    ```mlir
    llvm.func @forward$0(%x: !llvm.ptr, …) attributes {hfta_gpu.entry} {
      %0 = hfta_gpu.position thread
    ```
    After:
    ```mlir
    llvm.func internal @forward$0(%x: !llvm.ptr, …) {
      %0 = llvm.load … : !llvm.ptr -> i32
    …
    llvm.func @forward$0$call(%parameters: !llvm.ptr)
    ```
  }];
}

def HftaExpandMath : Pass<"hfta-expand-math", "::mlir::ModuleOp"> {
  let summary = "Expand math functions in kernels";
  let description = [{
    exp, log, log1p, tanh, erf, sin, cos, asin, acos, atan and powers become
    polynomials in f32 and f64. Other functions call the C library. Powers with
    integer exponents become products, maxima and minima become comparisons,
    remainders are computed by divisions. Rounding to bf16, and
    of f64 to f16, is done by integer operations, with the same result on every
    processor. hfta.multiply_pairs becomes `vdpbf16ps` where the processor has
    it, and fused multiply-adds elsewhere. Square root, absolute value, rounding and fused multiply-add stay:
    they are instructions.

    Before:
    ```mlir
    %0 = math.cbrt %x : f64
    ```
    After:
    ```mlir
    %0 = func.call @cbrt(%x) : (f64) -> f64
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def HftaFuseElementwise : Pass<"hfta-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Fuse the elementwise ops of a kernel";
  let description = [{
    Fuses an elementwise op into its first user where that doesn't compute an
    element twice; if it has other users, the fused op gives its value too, so
    that an optimizer's update is one pass over memory. Copies and broadcasts
    are fused into every user. Operands of equal elements become numbers.

    Before:
    ```mlir
    %0 = linalg.generic … { %s = arith.addf … }
    %1 = linalg.generic … ins(%0) { %m = arith.maximumf … }
    ```
    After:
    ```mlir
    %1 = linalg.generic … { %s = arith.addf …  %m = arith.maximumf %s, … }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def HftaBlockRows : Pass<"hfta-block-rows", "::mlir::func::FuncOp"> {
  let summary = "Visit large tensors in blocks of rows that stay in the cache";
  let description = [{
    A sum over rows, and the ops before and after it that visit the same tensors
    row by row, become one loop over blocks of rows: a block is in the core's
    cache when the next op reads it. Without the loop, each op would fetch the
    whole tensor from memory. A sum over rows that are wider than registers hold
    gets such a loop even if it is alone, since memory is read fastest in whole
    rows. The sums wait in memory between blocks, so their order stays.
    Memory for values that only these ops use shrinks to one block's.

    ```mlir
    linalg.generic … ins(%x : memref<2500x1024xf32>) outs(%d : memref<2500x1024xf32>)
    linalg.generic … ins(%d : memref<2500x1024xf32>) outs(%sum : memref<1024xf32>)
    // ==>
    scf.for %row = %c0 to %c2496 step %c8 {
      %x0 = memref.subview %x[%row, 0] [8, 1024] [1, 1] : …
      %d0 = memref.subview %d[%row, 0] [8, 1024] [1, 1] : …
      linalg.generic … ins(%x0) outs(%d0)
      linalg.generic … ins(%d0) outs(%sum : memref<1024xf32>)
    }
    …  // The last 4 rows follow.
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"];
}

def HftaKernelsToLoops : Pass<"hfta-kernels-to-loops", "::mlir::func::FuncOp"> {
  let summary = "Lower linalg ops on memory to loops over vectors";
  let description = [{
    Each op becomes a loop nest with vectors along a parallel axis. Sums stay in
    registers while the loops over their terms run: a tile of vectors and rows
    is computed at once. The terms of each sum keep their order, and the rest at
    an axis' end is computed by narrower vectors with the same operations. If an
    op reads more than the cache holds, its sums wait in memory between blocks of
    their terms; columns of a wide matrix that many rows use are copied to
    contiguous scratch memory first, past a transposed copy of the matrix if
    nothing else needs it, and so are rows whose terms share few sets of the
    cache or are on many pages. Zero that is added to a product's sums is added
    before they are stored. Reductions of contiguous rows have lanes along the
    rows, the same number on every target. Results that are larger than the
    caches are stored past them, unless the next op reads them from the cache. The module's `hfta.target` describes the target.

    Before:
    ```mlir
    linalg.generic … ins(%a, %b : memref<8x64xf32>, memref<64x32xf32>)
                     outs(%c : memref<8x32xf32>) { %s = math.fma … }
    ```
    After:
    ```mlir
    %sums:16 = scf.for %k = %c0 to %c64 step %c1 iter_args(…) {
      %b0 = vector.load %b[%k, %c0] : memref<64x32xf32>, vector<16xf32>
      …
      %s0 = math.fma %a0, %b0, %sum0 : vector<16xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def HftaKernelsToThreads : Pass<"hfta-kernels-to-threads", "::mlir::ModuleOp"> {
  let summary = "Turn kernels on tensors into functions of one GPU thread";
  let description = [{
    A kernel becomes a function of its arguments' memory, the memory of results
    that don't overwrite an argument, the index of an element and scratch
    memory, which it doesn't use. It computes that element of each result and
    only what that needs: for an elementwise op one element of each operand, for
    a slice an element of its source, for a pad an element of its source or the
    padding, and for a sum all of its terms, one after the other, in the order of
    the op's loops over them. Values that don't depend on a loop are computed
    before it. `hfta.items` records the number of elements, of the largest result
    if there are several.

    If `hfta-map-kernels-to-gpu` has chosen so, threads of a block work together
    instead: each computes some rows and columns of a tile of a product, or some
    terms of a sum. Then `hfta.items` is the number of threads and
    `hfta.block_threads` the number of a block's threads; all threads of a block
    have to run, and wait for each other (`hfta_gpu.barrier`). `hfta.shares_sums` marks
    a kernel whose threads share sums. A kernel that replaces another one on chips
    with warp groups (`hfta.warp_groups_of`) has these multiply its tiles; it is an
    error if they can't. If both operands are boxes in memory, a block has another
    warp, which copies them by tensor maps (`hfta.tensor_maps`); these then are the
    kernel's last argument, and `hfta.shared_bytes` is the size of the block's
    shared memory.

    Ops without single elements, such as algorithms on whole matrices, must have
    been lowered before.

    Before:
    ```mlir
    func.func private @k(%x: tensor<4x32xf32>) -> tensor<4xf32>
        attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
      … %s = linalg.generic … ["parallel", "reduction"] … { … arith.addf … }
    ```
    After:
    ```mlir
    func.func private @k(%x: memref<4x32xf32>, %out: memref<4xf32>,
                         %element: index, %scratch: memref<?xi8>)
        attributes {hfta.items = 4 : i64, hfta.kernel} {
      %s = scf.for %i = %c0 to %c32 step %c1 iter_args(%sum = %zero) -> (f32) {
        %t = memref.load %x[%element, %i]
        …
      memref.store %s, %out[%element]
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::hfta_gpu::HftaGpuDialect"];
}

def HftaFuseSumLoops : Pass<"hfta-fuse-sum-loops", "::mlir::func::FuncOp"> {
  let summary = "Add up sums of the same terms in one loop";
  let description = [{
    Fuses a thread's loops (`hfta-kernels-to-threads`) that have the same bounds and
    don't depend on each other, so that data that several sums read is read once.
    Each sum's terms are added as before. Loops are not fused if they store, if they
    read memory other than the kernel's arguments, or if an argument is stored to
    between them.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}

def HftaMapKernelsToGpu : Pass<"hfta-map-kernels-to-gpu", "::mlir::func::FuncOp"> {
  let summary = "Choose what threads and blocks of a GPU compute";
  let description = [{
    The parts in which terms are added up change bits, so they follow from the op
    and one copy's shapes alone. On a product, `hfta.tile` lists the rows and columns
    of a block, its terms at a time, the rows and columns of a thread, and the number
    of groups of threads, each of which has a part of the terms. On other ops with
    reduction loops that have many terms and few results, or whose terms are
    neighbours in memory, `hfta.sum_lanes` is the number of lanes in which terms are
    added, and `hfta.sum_unit` the number of neighbouring terms that a lane takes at
    a time.

    A kernel that is one product, including elementwise ops on its operands and on
    its elements, is computed tile by tile. So is one that adds up parts of its
    elements (`hfta.part_sum`), with whole parts in a tile. In other kernels a sum
    with lanes is added up by as many threads together, if all of them get to it:
    then the kernel has `hfta.sum_lanes`, too, and `hfta.lanes_inside` if these
    threads are neighbours. Otherwise one thread computes an element and adds up all
    lanes alone. `hfta.run` is the number of neighbours that a thread computes at a
    time, of which it reads 16 bytes at once: elements, sums that it shares, or
    elements of a row whose sums it shares.

    ```mlir
    func.func private @k(%x: tensor<64x784xf32>, %w: tensor<512x784xf32>) …
      … = linalg.generic {hfta.tile = array<i64: 32, 32, 8, 2, 2, 4>, …} …
    ```
  }];
  let options = [
    Option<"always", "always", "bool", /*default=*/"false",
           "let threads work together on small kernels, too, for tests">,
  ];
}

def HftaMatricesToLoops : Pass<"hfta-matrices-to-loops", "::mlir::func::FuncOp"> {
  let summary = "Lower kernels that are one algorithm on matrices to loops on memory";
  let description = [{
    A kernel that is one op on matrices, or on sequences (`AloneTrait`), becomes a function of
    memory, as by `hfta-distribute-kernels`, and the algorithm's loops over
    vectors. Each matrix, or sequence, is a work item. The algorithm and the order of its sums
    depend only on the size of a matrix, on every target; the code doesn't grow
    with it. These sums state no order, as no later pass reorders loops.

    Before:
    ```mlir
    func.func private @k(%f: tensor<2x36xf32>, %d: tensor<2xf32>, %o: tensor<2x36xf32>)
        -> (tensor<2x36xf32>, tensor<2xi32>) attributes {hfta.kernel, …} {
      %inverse, %tries = hfta.spd_inverse %f, %d, %o : …
      return %inverse, %tries : …
    }
    ```
    After:
    ```mlir
    func.func private @k(%f: memref<2x36xf32>, %d: memref<2xf32>, %o: memref<2x36xf32>,
                         %inverse: memref<2x36xf32>, %tries: memref<2xi32>,
                         %item: index, %scratch: memref<?xi8>)
        attributes {hfta.items = 2 : i64, hfta.kernel}
    ```
  }];
  let options = [
    Option<"usesLanes", "lanes", "bool", /*default=*/"true",
           "compute small matrices one in each lane of a vector">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def HftaPlanScratch : Pass<"hfta-plan-scratch", "::mlir::func::FuncOp"> {
  let summary = "Put kernels' intermediate values into scratch memory";
  let description = [{
    Replaces each `memref.alloc` of a kernel by a view of its scratch argument;
    buffers that aren't in use at the same time share bytes. `hfta.scratch_bytes`
    records how many bytes are needed. A kernel for a GPU whose last argument is
    something else can't have any.

    Before:
    ```mlir
    %0 = memref.alloc() : memref<16xf32>
    ```
    After:
    ```mlir
    %0 = memref.view %scratch[%c0][] : memref<64xi8> to memref<16xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def HftaVerifySumOrder : Pass<"hfta-verify-sum-order", "::mlir::func::FuncOp"> {
  let summary = "Check that sums keep the order that they state";
  let description = [{
    Each op of a kernel with reduction loops states the order of its terms
    (`hfta.sum_order`). Its reduction loops must be those of the order, outermost
    first, over whole axes, and read what the order says. Once ops have become
    loops, the kernel's first work item is interpreted symbolically, with places in
    memory as values: loops over terms run completely, others run their first and
    last iteration. Each term must be the next one in the sum's order (`hfta.sums`);
    each sum that is stored must have all of its terms; running values may be
    combined only as the order's lanes are, and the lanes must be those of the
    reference model. Sums of more than 65536 terms aren't followed. The order of
    terms that are equal, or computed from their index alone, can't be seen.

    The pass refuses, for example, two loops over terms that were exchanged, and
    loops that begin at the work item's number, run backwards, or add to two
    running values.
  }];
  let options = [
    Option<"check", "check", "bool", "true", "whether to check">,
    Option<"eraseMarks", "erase-marks", "bool", "false",
           "remove the marks by which loops refer to their sums">
  ];
}

#endif // HFTA_CONVERSION_PASSES
