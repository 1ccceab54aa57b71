//===- LowerGpuKernels.h - Kernels as code of a GPU's threads ---*- C++ -*-===//
//
// Kernels are functions of one copy's plain tensors on every target. A thread
// of a GPU computes single elements of the results.
//===----------------------------------------------------------------------===//

#ifndef HFTA_CONVERSION_LOWERGPUKERNELS_H
#define HFTA_CONVERSION_LOWERGPUKERNELS_H

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"

#include <limits>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace mlir::hfta {

#define GEN_PASS_DECL_CONVERTKERNELSTONVVM
#define GEN_PASS_DECL_HFTAADDWARPGROUPKERNELS
#define GEN_PASS_DECL_HFTACHOOSEGPUKERNELS
#define GEN_PASS_DECL_HFTACOLLECTGPUCODE
#define GEN_PASS_DECL_HFTAEMULATEGPU
#define GEN_PASS_DECL_HFTAFUSESUMLOOPS
#define GEN_PASS_DECL_HFTAKERNELSTOTHREADS
#define GEN_PASS_DECL_HFTAMAPKERNELSTOGPU
#include "Hfta/Conversion/Passes.h.inc"

/// On ops with reduction loops: the number of lanes in which their terms are
/// added up; the lanes are then added in pairs. On kernels on tensors: how many
/// threads of a block of `kSumThreads` share a sum; the second attribute says
/// that these are neighbours, as their terms are.
inline constexpr llvm::StringLiteral kSumLanesAttrName = "hfta.sum_lanes";
/// On an op with lanes: how many neighbouring terms a lane takes at a time; 1
/// if absent.
inline constexpr llvm::StringLiteral kSumUnitAttrName = "hfta.sum_unit";
inline constexpr llvm::StringLiteral kLanesInsideAttrName = "hfta.lanes_inside";
inline constexpr int64_t kSumThreads = 256;
/// On kernels on tensors with sums of rows of their results: for each result
/// the axes that enumerate rows, in the order of the sums' axes. One or several
/// threads have a row.
inline constexpr llvm::StringLiteral kRowAxesAttrName = "hfta.row_axes";

/// On kernels on tensors: how many neighbouring elements a thread computes at a
/// time.
inline constexpr llvm::StringLiteral kRunAttrName = "hfta.run";

/// On lowered kernels: the threads of a block. On kernels that aren't lowered
/// yet: only if the threads of a block work together.
inline constexpr llvm::StringLiteral kBlockThreadsAttrName =
    "hfta.block_threads";
/// On kernels as a thread's code: the threads of a block share sums.
inline constexpr llvm::StringLiteral kSharesSumsAttrName = "hfta.shares_sums";
/// On kernels as a thread's code: some index may need more than 32 bits.
inline constexpr llvm::StringLiteral kWideIndicesAttrName = "hfta.wide_indices";
/// The largest number of elements or threads whose indices have 32 bits. It is
/// less than 2^31, as tiles and lanes go a little beyond the ends of axes.
inline constexpr int64_t kMostNarrowElements =
    std::numeric_limits<int32_t>::max() - (1 << 20);
/// On kernels, and on their entry points: the kernel that this one replaces on
/// chips with instructions of warp groups.
inline constexpr llvm::StringLiteral kWarpGroupsOfAttrName =
    "hfta.warp_groups_of";
/// The assembly by which a thread waits for the products of its warp group; the
/// sums are its operands and results.
inline constexpr llvm::StringLiteral kWaitAssembly =
    "wgmma.wait_group.sync.aligned 0;";
/// NVVM's address space of shared memory.
inline constexpr unsigned kSharedAddressSpace = 3;
/// The named barrier at which some threads of a block wait. Its arguments are
/// its number and how many threads wait there.
inline constexpr llvm::StringLiteral kNumberedBarrierIntrinsic =
    "llvm.nvvm.barrier.cta.sync.aligned.count";
/// On kernels of warp groups: the tensor maps with which a producer warp, which
/// does nothing else, copies boxes of the operands. They are dictionaries of
/// `argument`, `element_bytes`, and, with the innermost dimension first,
/// `sizes`, `strides` in bytes, `box` and `steps`. A kernel with maps has a
/// pointer to them in place of scratch memory.
inline constexpr llvm::StringLiteral kTensorMapsAttrName = "hfta.tensor_maps";
/// On entry points: the number of maps in the last parameter
/// (hfta_warp_group_launch).
inline constexpr llvm::StringLiteral kMapCountAttrName = "hfta.map_count";
/// On kernels of warp groups and their entry points: the bytes of dynamic
/// shared memory.
inline constexpr llvm::StringLiteral kSharedBytesAttrName = "hfta.shared_bytes";
/// On a kernel that another one replaces on chips with warp groups: that one's
/// launch, if it differs, described by the attributes above.
inline constexpr llvm::StringLiteral kWarpGroupLaunchAttrName =
    "hfta.warp_group_launch";
/// On lowered kernels: the symbol of the entry point in images for GPUs.
inline constexpr llvm::StringLiteral kGpuEntryAttrName = "hfta.gpu_entry";
/// The name of the module of GPU code in the program's module.
inline constexpr llvm::StringLiteral kGpuModuleName = "hfta.gpu";

struct LowerGpuKernelsOptions : PassPipelineOptions<LowerGpuKernelsOptions> {
  Option<bool> warpGroups{
      *this, "warp-groups",
      llvm::cl::desc("add kernels for chips that have instructions of warp "
                     "groups"),
      llvm::cl::init(false)};
};

/// Builds the passes from kernels on tensors to entry points for NVIDIA GPUs,
/// in the NVVM dialect.
void buildLowerGpuKernelsPipeline(OpPassManager &pm,
                                  const LowerGpuKernelsOptions &options);

/// Builds the passes from kernels on tensors to functions for the host's
/// processor, of which each call does a thread's work: these run GPU threads'
/// code without a GPU. Threads work together wherever they can.
void buildThreadsOnHostPipeline(OpPassManager &pm);
void registerLowerGpuKernelsPipelines();

} // namespace mlir::hfta

#endif // HFTA_CONVERSION_LOWERGPUKERNELS_H
