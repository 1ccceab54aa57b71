//===- LowerKernels.h - Kernels to functions on memory ----------*- C++ -*-===//
//
// Lowers kernels, functions of linalg, tensor, arith and math ops on static
// tensors, to LLVM functions that compute one work item of one copy:
//
//   void entry(void *const *buffers, int64_t item, void *scratch)
//
// `buffers` are the kernel's arguments, then those of its results that don't
// overwrite an argument. The items of a kernel write disjoint parts of the
// results, and together they write every element. A kernel with lanes computes
// several items per call; its entry point takes a list of items, and the
// buffers of all lanes, one lane after the other (hfta_lanes_kernel).
//
// How a kernel is divided into items depends on its shapes, and on how many
// copies share the threads. This division, like the choice of vectors and
// registers, never changes by which operations, and in which order, an element
// is computed: nothing is reassociated or contracted.
//===----------------------------------------------------------------------===//

#ifndef HFTA_CONVERSION_LOWERKERNELS_H
#define HFTA_CONVERSION_LOWERKERNELS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir {
class OpPassManager;
class RewritePatternSet;
} // namespace mlir

namespace mlir::hfta {

/// Unit attribute of a function that is a kernel.
inline constexpr llvm::StringLiteral kKernelAttrName = "hfta.kernel";
/// Attribute of a kernel on tensors: for each result the index of the argument
/// that it overwrites, or -1.
inline constexpr llvm::StringLiteral kTiesAttrName = "hfta.ties";
/// Attribute of a lowered kernel: the number of work items.
inline constexpr llvm::StringLiteral kItemsAttrName = "hfta.items";
/// Returns whether a function is a kernel whose arguments and results are still
/// tensors.
inline bool isKernelOnTensors(func::FuncOp function) {
  return function->hasAttr(kKernelAttrName) && !function.isDeclaration() &&
         !function->hasAttr(kItemsAttrName);
}
/// Attribute of a lowered kernel: the size in bytes of each operand of one
/// copy.
inline constexpr llvm::StringLiteral kOperandBytesAttrName =
    "hfta.operand_bytes";
/// Attribute of a lowered kernel: how many items a call computes at once, one
/// per lane of a vector. The items may be of different copies. 1 if absent.
inline constexpr llvm::StringLiteral kLanesAttrName = "hfta.lanes";
/// Attribute of an LLVM function that is a kernel: its short loops are to be
/// unrolled, so that elements shared by overlapping windows stay in registers.
inline constexpr llvm::StringLiteral kSharesWindowsAttrName =
    "hfta-shares-windows";
/// Attribute of a kernel: how many copies a launch computes; 1 if absent.
inline constexpr llvm::StringLiteral kCopiesAttrName = "hfta.copies";
/// Attribute of a loop whose iterations are independent parts of a kernel's
/// only result: the work of all iterations together, an estimate in operations.
/// From it the loop's division into items is chosen.
inline constexpr llvm::StringLiteral kPartsAttrName = "hfta.parts";
/// Attribute of a kernel that consists of loops: a list of the orders of its
/// sums (#hfta.sum_order). The marks below refer to sums by their indices in
/// this list. `hfta-verify-sum-order` erases the list and the marks.
inline constexpr llvm::StringLiteral kSumsAttrName = "hfta.sums";
/// Mark of an op that adds a term to a sum's running value.
inline constexpr llvm::StringLiteral kTermAttrName = "hfta.term_of";
/// Mark of an op that combines two running values of a sum.
inline constexpr llvm::StringLiteral kCombineAttrName = "hfta.combines";
/// Mark of an op that makes a sum's initial value.
inline constexpr llvm::StringLiteral kStartAttrName = "hfta.start_of";
/// Mark of a loop over the terms of a sum.
inline constexpr llvm::StringLiteral kTermLoopAttrName = "hfta.term_loop";
/// Mark of memory that holds packed copies of an operand.
inline constexpr llvm::StringLiteral kPanelAttrName = "hfta.panel";
/// Suffix, after a kernel's name, of its C entry point.
inline constexpr llvm::StringLiteral kEntrySuffix = "/entry";

#define GEN_PASS_DECL_HFTABLOCKROWS
#define GEN_PASS_DECL_HFTABUFFERIZEKERNELS
#define GEN_PASS_DECL_HFTADISTRIBUTEKERNELS
#define GEN_PASS_DECL_HFTAEXPANDMATH
#define GEN_PASS_DECL_HFTAFUSEELEMENTWISE
#define GEN_PASS_DECL_HFTAKERNELSTOLOOPS
#define GEN_PASS_DECL_HFTAMATRICESTOLOOPS
#define GEN_PASS_DECL_HFTAPLANSCRATCH
#define GEN_PASS_DECL_HFTAVERIFYSUMORDER
#define GEN_PASS_DECL_CONVERTKERNELSTOLLVM
#include "Hfta/Conversion/Passes.h.inc"

struct LowerKernelsOptions : public PassPipelineOptions<LowerKernelsOptions> {
  Option<bool> verifySums{
      *this, "verify-sums",
      llvm::cl::desc("check after each step that sums keep their order"),
      llvm::cl::init(false)};
};

/// Returns the configuration for applying patterns to kernels. It disables the
/// simplification of regions, which would have nothing to do: until loops
/// become branches, each region has one block.
GreedyRewriteConfig getKernelRewriteConfig();

/// Adds the passes that canonicalize kernels and eliminate common
/// subexpressions.
void addKernelCleanUp(OpPassManager &kernels);

/// Builds the passes that lower kernels on tensors to LLVM functions, each with
/// a C entry point, for the module's `hfta.target`. Other ops of the module
/// aren't changed.
void buildLowerKernelsPipeline(OpPassManager &pm,
                               const LowerKernelsOptions &options);
void registerLowerKernelsPipeline();
/// Builds the last passes of this pipeline, which lower kernels that are loops
/// on memory to LLVM functions.
void buildKernelFunctionsPipeline(OpPassManager &pm);
/// Builds the passes of buildKernelFunctionsPipeline except the conversion to
/// LLVM.
void buildKernelLoopsPipeline(OpPassManager &pm);

/// A kernel that is an LLVM function without a C entry point. Its parameters
/// are `buffers` pointers (the buffers of all lanes), then an item for each of
/// the `lanes`, then a pointer to scratch memory.
struct LoweredKernel {
  StringAttr name;
  Location loc;
  unsigned buffers, lanes;
  unsigned indexBits; ///< 32 or 64
};

/// Converts kernels that are loops on memory, and the constants that they read,
/// to the LLVM dialect. Doesn't create entry points. `hasNarrowIndices` returns
/// whether a kernel's indices have 32 bits rather than 64. Fails, with a
/// diagnostic, if an op can't be converted.
FailureOr<SmallVector<LoweredKernel>> convertKernelsToLLVM(
    ModuleOp module,
    llvm::function_ref<bool(func::FuncOp kernel)> hasNarrowIndices =
        [](func::FuncOp) { return false; });

} // namespace mlir::hfta

#endif // HFTA_CONVERSION_LOWERKERNELS_H
