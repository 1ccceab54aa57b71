//===- LowerKernels.h - Kernels to functions on memory ----------*- C++ -*-===//
//
// Lowers kernels, functions of linalg, tensor, arith and math ops on static
// tensors, to LLVM functions that compute one work item of one copy:
//
//   void entry(void *const *buffers, int64_t item, void *scratch)
//
// `buffers` are the kernel's arguments, then its results except those that
// overwrite an argument. The items of a kernel write disjoint parts of the
// results, and all of them together write every element. A kernel with lanes
// gets one list of buffers for each lane, one after the other, and a list of
// items.
//
// How a kernel is cut into items follows from its shapes, and from how many
// copies share the threads. Each element is computed by the same operations in
// the same order, however items, vectors and registers are laid out: nothing is
// reassociated or contracted.
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

/// Marks functions that are kernels.
inline constexpr llvm::StringLiteral kKernelAttrName = "hfta.kernel";
/// On kernels on tensors: for each result the argument that it overwrites, or
/// -1.
inline constexpr llvm::StringLiteral kTiesAttrName = "hfta.ties";
/// On lowered kernels: the number of work items.
inline constexpr llvm::StringLiteral kItemsAttrName = "hfta.items";
/// Returns whether a function is a kernel whose arguments and results are still
/// tensors.
inline bool isKernelOnTensors(func::FuncOp function) {
  return function->hasAttr(kKernelAttrName) && !function.isDeclaration() &&
         !function->hasAttr(kItemsAttrName);
}
/// On lowered kernels: the bytes of each operand, of one copy.
inline constexpr llvm::StringLiteral kOperandBytesAttrName =
    "hfta.operand_bytes";
/// On lowered kernels: how many items a call computes at once, of any copies.
inline constexpr llvm::StringLiteral kLanesAttrName = "hfta.lanes";
/// On an LLVM function: it is a kernel whose short loops are to be unrolled, so
/// that what windows share stays in registers.
inline constexpr llvm::StringLiteral kSharesWindowsAttrName =
    "hfta-shares-windows";
/// On lowered kernels: the bytes of scratch memory.
inline constexpr llvm::StringLiteral kScratchBytesAttrName =
    "hfta.scratch_bytes";
/// On kernels: how many copies a launch computes, 1 if absent.
inline constexpr llvm::StringLiteral kCopiesAttrName = "hfta.copies";
/// On a loop that computes a kernel's only result, which it carries, in
/// independent parts: the work of all parts, from which it is decided how to
/// cut the loop into items.
inline constexpr llvm::StringLiteral kPartsAttrName = "hfta.parts";
/// On kernels of loops: the orders of their sums (#hfta.sum_order). Ops refer
/// to them by index until `hfta-verify-sum-order` erases these marks.
inline constexpr llvm::StringLiteral kSumsAttrName = "hfta.sums";
/// On an op that adds a term to a running value, or combines running values.
inline constexpr llvm::StringLiteral kTermAttrName = "hfta.term_of";
inline constexpr llvm::StringLiteral kCombineAttrName = "hfta.combines";
/// On an op that makes a sum's initial value.
inline constexpr llvm::StringLiteral kStartAttrName = "hfta.start_of";
/// On a loop over terms, and on memory that holds copies of an operand.
inline constexpr llvm::StringLiteral kTermLoopAttrName = "hfta.term_loop";
inline constexpr llvm::StringLiteral kPanelAttrName = "hfta.panel";
/// The suffix, after a kernel's name, of its C entry point.
inline constexpr llvm::StringLiteral kEntrySuffix = "/entry";

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

/// Returns how patterns are applied to kernels: their regions have one block
/// each until loops become branches, so there is nothing to simplify about
/// blocks.
GreedyRewriteConfig getKernelRewriteConfig();

/// Adds the passes that simplify kernels and remove duplicates from them.
void addKernelCleanUp(OpPassManager &kernels);

/// Builds the passes from kernels on tensors to LLVM functions, each with a C
/// entry point, for the module's `hfta.target`. Other ops of the module stay as
/// they are.
void buildLowerKernelsPipeline(OpPassManager &pm,
                               const LowerKernelsOptions &options);
void registerLowerKernelsPipeline();
/// Builds the last passes of these: from kernels that are loops on memory.
void buildKernelFunctionsPipeline(OpPassManager &pm);
/// Builds these last passes without the conversion to LLVM.
void buildKernelLoopsPipeline(OpPassManager &pm);

/// A kernel that is an LLVM function. Its parameters are pointers to `buffers`
/// buffers of all lanes, the item of each lane, and scratch memory.
struct LoweredKernel {
  StringAttr name;
  Location loc;
  unsigned buffers, lanes;
  unsigned indexBits;
};

/// Converts kernels that are loops on memory, without entry points, and the
/// constants that they read. `hasNarrowIndices` returns whether a kernel's
/// indices have 32 bits rather than 64.
FailureOr<SmallVector<LoweredKernel>> convertKernelsToLLVM(
    ModuleOp module,
    llvm::function_ref<bool(func::FuncOp kernel)> hasNarrowIndices =
        [](func::FuncOp) { return false; });

/// Adds patterns that turn functions into polynomials, those without
/// polynomials into calls of the C library, and powers with integer exponents
/// into products. `canScale`: the target multiplies by powers of two in one
/// instruction; it changes no bits.
void populateExpandMathPatterns(RewritePatternSet &patterns, bool canScale);

} // namespace mlir::hfta

#endif // HFTA_CONVERSION_LOWERKERNELS_H
