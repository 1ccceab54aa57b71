//===- KernelPasses.td - From a task's ops to its kernels --*- tablegen -*-===//
//
// Passes that prepare products and sums for kernels: the layouts of the tensors
// that they read, and the parts in which they are computed. The last pass forms
// kernels.
//===----------------------------------------------------------------------===//

#ifndef HFTA_TRANSFORMS_KERNEL_PASSES
#define HFTA_TRANSFORMS_KERNEL_PASSES

include "mlir/Pass/PassBase.td"

def HftaFoldCasts : Pass<"hfta-fold-casts"> {
  let summary = "Fold casts of operands and results into the ops that add up terms";
  let description = [{
    Where hfta-apply-precision has put casts around a contraction, convolution
    or reduction, and nothing else reads the wide result, the op takes the
    narrow operands and has `accumulate`: the same terms in the same order,
    without wide copies of its operands in memory. Ops that only move elements
    (a broadcast, a gather) move the narrow ones. Unused ops are removed by the
    next clean-up.

    ```mlir
    %x64 = hfta.cast %x : tensor<8x4xf32> to f64
    %w64 = hfta.cast %w : tensor<3x4xf32> to f64
    %1 = hfta.contract %x64, %w64 … : tensor<8x4xf64>, tensor<3x4xf64>
    %y = hfta.cast %1 : tensor<8x3xf64> to f32
    // ==>
    %y = hfta.contract %x, %w … {accumulate = f64} : tensor<8x4xf32>, tensor<3x4xf32>
    ```
  }];
}

def HftaCutTaps : Pass<"hfta-cut-taps"> {
  let summary = "Leave out taps of convolutions that multiply only padding";
  let description = [{
    In an image that is no larger than a convolution's window, taps at the
    window's ends multiply zeros alone. A convolution, or its input's gradient,
    is built without these taps, with less padding.

    ```mlir
    %y = hfta.conv %x, %w {padding = array<i64: 1, 1, 1, 1>, …} : tensor<8x64x1x1xf32>, tensor<64x64x3x3xf32>
    // ==>
    %center = hfta.slice %w from [0, 0, 1, 1] size [64, 64, 1, 1] stride [1, 1, 1, 1] : …
    %y = hfta.conv %x, %center {padding = array<i64: 0, 0, 0, 0>, …} : …
    ```
  }];
  let dependentDialects = ["::mlir::hfta::HftaDialect"];
}

def HftaRoundFactors : Pass<"hfta-round-factors"> {
  let summary = "Round the operands of products to the type of `hfta.multiply`";
  let description = [{
    The operands of products (ProductTrait) with `hfta.multiply` are rounded to
    that type, but remain f32. Each is rounded by the kernel that computes it,
    or by a kernel of its own. If the forming policy of the module's
    `hfta.target` stores narrow factors, it is stored in the narrow type, if
    there are such elements, and is widened by the kernels that multiply it. If
    the policy pairs factors, operands that are rounded to bf16 become pairs
    (hfta.pair_factors) where their elements are in enough products.

    ```mlir
    %y = hfta.contract %x, %w … {hfta.multiply = bf16} : tensor<8x4xf32>, tensor<3x4xf32>
    // ==>
    %x16 = hfta.cast %x : tensor<8x4xf32> to bf16
    %x32 = hfta.cast %x16 {hfta.repeated} : tensor<8x4xbf16> to f32
    %w16 = …
    %y = hfta.contract %x32, %w32 … {hfta.multiply = bf16} : tensor<8x4xf32>, tensor<3x4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::hfta::HftaDialect"];
}

def HftaRemakeSaved : Pass<"hfta-remake-saved", "::mlir::ModuleOp"> {
  let summary = "Recompute values in the backward instead of saving them";
  let description = [{
    A value that a forward saves for a backward's elementwise ops and sums is
    recomputed instead if elementwise ops can compute it from small tensors and
    at most one other tensor of its size, which is also saved: a hard-swish's
    gate from its input, or that of the normalized values of a batch norm. At
    most two of these ops may be costly, such as `erf`, and none of them in
    `f64`. Where a product multiplies such a value, too, it must be in memory;
    then it is recomputed for those elementwise ops alone whose results are
    added up together with the tensor that it is computed from: the sign of an
    activation, next to a batch norm's input.

    ```mlir
    %g = hfta.max %x, %zero : …
    hfta.write %x, @"hfta.saved/0"
    hfta.write %g, @"hfta.saved/1"
    // and in the backward
    %g = hfta.read @"hfta.saved/1"
    // ==>
    %x = hfta.read @"hfta.saved/0"
    %g = hfta.max %x, %zero : …
    ```
  }];
  let dependentDialects = ["::mlir::hfta::HftaDialect"];
}

def HftaStoreGradients : Pass<"hfta-store-gradients", "::mlir::ModuleOp"> {
  let summary = "Store gradients, instead of adding to them, if a step has one micro-batch";
  let description = [{
    With one micro-batch a step's gradient is the one that its backward
    computes: it is stored, not added to what the variable holds, and the update
    doesn't clear it. What is stored is the sum with zero, since that is the same
    number for each gradient but -0.
    This pass isn't run on programs whose callers may ask for several backwards
    before an update (`NAME_accumulate` of a library). It does nothing to a job
    with a budget of memory, where a gradient that is known to be zero needn't
    be kept from step to step.

    ```mlir
    %old = hfta.read @"fc.weight/gradient" : tensor<10x64xf32>
    %sum = hfta.add %old, %gradient : …
    hfta.write %sum, @"fc.weight/gradient"
    // and in the update
    hfta.write %zero, @"fc.weight/gradient"
    // ==>
    %sum = hfta.add %zero, %gradient : …
    hfta.write %sum, @"fc.weight/gradient"
    ```
  }];
}

def HftaSinkReshapes : Pass<"hfta-sink-reshapes", "::mlir::func::FuncOp"> {
  let summary = "Move reshapes and transposes out of the way of kernels";
  let description = [{
    A reshape that adds axes of one element, as after sums that keep their axes,
    is moved to after elementwise ops and is dropped where a broadcast or
    another reshape follows; a product computes its result in the order that a
    transpose would make. The ops in between can then be one kernel.

    ```mlir
    %s = hfta.reduce sum %x over [1] : tensor<8x32xf32>
    %r = hfta.reshape %s to [8, 1] : tensor<8xf32>
    %m = hfta.div %r, %n : tensor<8x1xf32>, tensor<8x1xf32>
    %b = hfta.broadcast %m to [8, 32] along [0, 1] : tensor<8x1xf32>
    // ==>
    %m = hfta.div %s, %n : tensor<8xf32>, tensor<8xf32>
    %b = hfta.broadcast %m to [8, 32] along [0] : tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::hfta::HftaDialect"];
}

def HftaReadInPlace : Pass<"hfta-read-in-place", "::mlir::ModuleOp"> {
  let summary = "Let kernels read tensors instead of transposed, sliced or padded copies";
  let description = [{
    A transpose, slice or pad of a tensor, and cheap elementwise ops with
    constants on its result, are repeated in each kernel that reads them, which
    reads the tensor itself (`hfta.repeated`). Where a task saves such a value
    for another one, it saves the tensor instead: a parameter is in memory
    anyway, and the parts of a tensor, such as an attention's queries, keys and
    values, are together no smaller than it.

    ```mlir
    %t = hfta.transpose %w by [1, 0] : tensor<96x32xf32>
    %y = hfta.contract %x, %t …
    hfta.write %t, @"hfta.saved/0"
    // ==>
    %t = hfta.transpose %w by [1, 0] {hfta.repeated} : tensor<96x32xf32>
    %y = hfta.contract %x, %t …
    ```
  }];
  let dependentDialects = ["::mlir::hfta::HftaDialect"];
}

def HftaPackWeights : Pass<"hfta-pack-weights"> {
  let summary = "Store convolutions' weights in the order of their products";
  let description = [{
    Neighbouring terms of a convolution of images with channels last are
    neighbouring channels, but in a weight, all of a channel's taps lie between
    it and the next one. A weight of several taps gets a kernel that stores it
    with channels last, too, where products read it. The order in which terms
    are added doesn't change.

    ```mlir
    %y = hfta.conv %x, %w … : tensor<8x16x9x9xf32>, tensor<32x16x3x3xf32>
    // ==>
    %packed = hfta.transpose %w by [0, 2, 3, 1] : tensor<32x16x3x3xf32>
    %view = hfta.transpose %packed by [0, 3, 1, 2] {hfta.repeated} : tensor<32x3x3x16xf32>
    %y = hfta.conv %x, %view … : tensor<8x16x9x9xf32>, tensor<32x16x3x3xf32>
    ```
  }];
  let dependentDialects = ["::mlir::hfta::HftaDialect"];
}

def HftaKeepFactors : Pass<"hfta-keep-factors", "::mlir::ModuleOp"> {
  let summary = "Let the backward use transposed or rounded factors of the forward";
  let description = [{
    Where a forward stores a transposed or rounded parameter, or such a form of
    a value that it saves for its backward, and the backward would compute the
    same, the backward reads the forward's instead. Values that nothing else
    reads are then no longer saved: with `precision bf16` an activation that is
    only multiplied takes half the memory.

    ```mlir
    // in the forward and in the backward
    %packed = hfta.transpose %w by [0, 2, 3, 1] : tensor<32x16x3x3xf32>
    // ==> in the forward
    hfta.write %packed, @"hfta.factor/0"
    // and in the backward
    %packed = hfta.read @"hfta.factor/0" : tensor<32x3x3x16xf32>
    ```
  }];
  let dependentDialects = ["::mlir::hfta::HftaDialect"];
}

def HftaSplitSums : Pass<"hfta-split-sums"> {
  let summary = "Split long sums of products into parts";
  let description = [{
    A weight's gradient has many terms and few results: too few for the thread
    blocks of a GPU. The gradient of a convolution's weight, and a contraction
    whose first summed axis can be divided, become parts along an axis of their
    own, and a sum over that axis. The number of parts follows from one copy's
    shapes. Sums in another precision than their result's (`accumulate`) stay
    whole, as parts would be rounded.

    ```mlir
    %1 = hfta.conv_weight_gradient %x, %g {…} : …
    // becomes
    %p = hfta.conv_weight_gradient %x, %g {batch_parts = 8 : i64, …} : …
    %1 = hfta.reduce sum %p over [0] : tensor<8x64x64x3x3xf32>
    ```
  }];
}

def HftaSumByParts : Pass<"hfta-sum-by-parts", "::mlir::func::FuncOp"> {
  let summary = "Compute sums of columns from those of parts of their rows";
  let description = [{
    Values that are added up over all axes but one, for a batch norm's
    statistics, or the gradients of its scale and of a bias, are first added up
    by parts of neighbouring rows, right after they are computed, so that the
    same kernel can do it. A variance is combined from each part's mean and sum
    of squares. The division into parts follows from the shape alone.

    ```mlir
    %s = hfta.reduce sum %x over [0, 2] : tensor<8x32x256xf32>
    %mean = hfta.div %s, %count : …
    %c = hfta.sub %x, … of %mean
    %v = hfta.reduce sum (%c * %c) over [0, 2]
    // ==>
    %p = hfta.part_sums %x of 32 along 1 : tensor<8x32x256xf32>
    %q = hfta.part_sums %x of 32 along 1 {centered} : tensor<8x32x256xf32>
    %s = hfta.reduce sum %p over [0] : tensor<64x32xf32>
    %mean = hfta.div %s, %count : …
    %d = hfta.sub %p / 32, … of %mean
    %v = hfta.reduce sum (%q + %d * %d * 32) over [0]
    ```
  }];
  let dependentDialects = ["::mlir::hfta::HftaDialect"];
}

def HftaSortIndices : Pass<"hfta-sort-indices", "::mlir::func::FuncOp"> {
  let summary = "Replace scatter_add by sums over tables of sorted indices";
  let description = [{
    Where each element is computed by a thread of its own, an element of a
    scatter_add would have to compare all indices with its own: as many
    comparisons as there are elements times indices. Two tables, which all
    elements of a slice use, list its updates: the updates' numbers sorted by
    index, where those of one index keep their order, and where each slice's
    begin in this list. They are computed by comparisons of indices alone, or at
    compile time where the indices are constant, and are shared by all ops with
    these indices. The order of additions doesn't change, so the choice may
    depend on one copy's shapes alone.

    ```mlir
    %g = hfta.scatter_add %u at %i along 0 size 30522 : tensor<4096x768xf32>, tensor<4096xi64>
    // ==>
    %keys = %i * 4096 + iota            // the wrapped indices; 30522 for those outside
    %ranks = hfta.reduce sum (%keys of others < %keys) over [1]
    %order = hfta.reduce sum (%ranks of others == iota ? number of the other : 0) over [1]
    %offsets = hfta.reduce sum (%keys < 4096 * iota) over [1] : tensor<30523x4096xi32>
    %g = hfta.segment_sum %u at %order in %offsets along 0 : tensor<4096x768xf32>, tensor<4096xi32>, tensor<30523xi32>
    ```
  }];
  let dependentDialects = ["::mlir::hfta::HftaDialect"];
}

def HftaRepeatCheapOps : Pass<"hfta-repeat-cheap-ops"> {
  let summary = "Recompute cheap elementwise ops in each kernel that reads them";
  let description = [{
    A cheap elementwise op (without CostlyTrait) whose result several sums and
    elementwise ops read would be stored by a kernel of its own. Where it reads
    a single tensor of its size, which is in memory anyway, and otherwise only
    broadcasts of much smaller ones, each kernel recomputes it
    (`hfta.repeated`): then it is neither written nor read. Examples are a batch
    norm's `x - mean`, which the variance, the result and a sum of the backward
    need, and an activation before a pooling that reads each element in few
    windows.

    ```mlir
    %mean = hfta.broadcast %m to [8, 32, 9] along [1] : tensor<32xf32>
    %c = hfta.sub %x, %mean : …
    // ==>
    %c = hfta.sub %x, %mean {hfta.repeated} : …
    ```

    With `whole-rows`, ops that read a sum of each row aren't marked: the kernel
    that computes the sum visits the row again. Neither are ops on small values,
    which each element of a row would recompute. Ops that read no tensor of
    their size still are, if they aren't random: a comparison of positions with
    the index that each row chooses, for example.
  }];
  let options = [Option<"wholeRows", "whole-rows", "bool", "false",
                        "kernels compute whole rows, and visit them again">];
}

def HftaFormKernels : Pass<"hfta-form-kernels", "::mlir::ModuleOp"> {
  let summary = "Group ops of a task into kernels";
  let description = [{
    Each contraction, convolution, pooling or reduction gets a kernel, a
    reduction together with the elementwise ops that feed it and have no other
    use and, if it is one of rows, with the reductions of the same rows that
    these ops need, most others with the elementwise ops that follow; the remaining
    elementwise ops are grouped into chains, together with reductions over
    trailing axes that they use row by row, but not with a product of which all
    rows read the same large matrix. A large reduction over the batch and
    other axes becomes one over the others, then one over the batch. A kernel
    has a bounded number of inputs, results and ops. Afterwards a task holds only reads, writes, views
    (hfta.reshape, hfta.unstack), hfta.stack and hfta.kernel.

    The forming policy of the module's `hfta.target` changes this. Where threads
    share rows, all of a kernel's values have elements of one shape, or are rows
    of one length and values of these rows: a reduction joins elementwise ops of
    its result's shape, or of its input's, but no product's kernel; sums of
    parts join the kernel that computes their terms, if no other op needs these
    before. Where reductions are joined, those along the same axes that read one
    tensor are one kernel, so that it is read once, unless the task writes a
    variable between them that it reads or writes elsewhere, too.
    Where small ops are joined, unrelated ones are one kernel, and so are
    reductions of equally many small elements, so that there are fewer kernels;
    an op joins together with all ops that it depends on, as otherwise one
    kernel would wait for the other. Joining small ops moves a task's writes to
    its end, and does nothing in a task that reads a variable after it has
    written it, or writes one twice.

    ```mlir
    %1 = hfta.neg %0 : tensor<4xf32, #hfta.copies<2>>
    // ==>
    %1 = hfta.kernel "neg"(%0) : (tensor<4xf32, #hfta.copies<2>>)
        -> tensor<4xf32, #hfta.copies<2>> { … }
    ```
  }];
  let dependentDialects = ["::mlir::hfta::HftaDialect"];
}

#endif // HFTA_TRANSFORMS_KERNEL_PASSES
