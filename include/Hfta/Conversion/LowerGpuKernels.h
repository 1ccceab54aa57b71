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

/// On ops with reduction loops: in how many lanes their terms are added up, and
/// then these in pairs. On kernels on tensors: how many threads of a block of
/// `kSumThreads` do so together, and whether those are neighbours, because
/// their terms are.
inline constexpr llvm::StringLiteral kSumLanesAttrName = "hfta.sum_lanes";
/// On an op with lanes: how many neighbouring terms one takes at a time; 1
/// without.
inline constexpr llvm::StringLiteral kSumUnitAttrName = "hfta.sum_unit";
inline constexpr llvm::StringLiteral kLanesInsideAttrName = "hfta.lanes_inside";
inline constexpr int64_t kSumThreads = 256;
/// On kernels on tensors that have sums of rows of their results: of each
/// result the axes along which there are other rows, in the order of the sums'
/// axes. A thread, or some together, have a row.
inline constexpr llvm::StringLiteral kRowAxesAttrName = "hfta.row_axes";

/// On kernels on tensors: how many neighbouring elements a thread has at a
/// time.
inline constexpr llvm::StringLiteral kRunAttrName = "hfta.run";

/// On lowered kernels: the threads of a block. Before they are lowered, of
/// those whose blocks' threads work together.
inline constexpr llvm::StringLiteral kBlockThreadsAttrName =
    "hfta.block_threads";
/// On kernels that threads compute: threads of a block add up sums together.
inline constexpr llvm::StringLiteral kSharesSumsAttrName = "hfta.shares_sums";
/// On kernels that threads compute: some index in it may be beyond 32 bits.
inline constexpr llvm::StringLiteral kWideIndicesAttrName = "hfta.wide_indices";
/// The largest number of elements or threads of which an index, or what it is
/// computed from, never is: tiles and lanes go a little beyond their ends.
inline constexpr int64_t kMostNarrowElements =
    std::numeric_limits<int32_t>::max() - (1 << 20);
/// On kernels, and on their entry points: the one in whose place it is for
/// chips that have instructions of warp groups.
inline constexpr llvm::StringLiteral kWarpGroupsOfAttrName =
    "hfta.warp_groups_of";
/// What a thread does to wait for the products of its warp group, with the sums
/// as operands and results of it.
inline constexpr llvm::StringLiteral kWaitAssembly =
    "wgmma.wait_group.sync.aligned 0;";
/// NVVM's address space of what the threads of a block share.
inline constexpr unsigned kSharedAddressSpace = 3;
/// What those threads call that some of a block wait at, by a number and how
/// many they are.
inline constexpr llvm::StringLiteral kNumberedBarrierIntrinsic =
    "llvm.nvvm.barrier.cta.sync.aligned.count";
/// On kernels of warp groups: how boxes of their operands lie in memory, which
/// a warp of its own copies by tensor maps, dictionaries of `argument`,
/// `element_bytes`, and, the innermost dimension first, `sizes`, `strides` in
/// bytes, `box` and `steps`. Such a kernel has a pointer to the maps in place
/// of scratch memory.
inline constexpr llvm::StringLiteral kTensorMapsAttrName = "hfta.tensor_maps";
/// On entry points: how many maps there are in the last parameter
/// (hfta_warp_group_launch).
inline constexpr llvm::StringLiteral kMapCountAttrName = "hfta.map_count";
/// On such kernels, and on their entry points: bytes of shared memory that are
/// asked for at the launch.
inline constexpr llvm::StringLiteral kSharedBytesAttrName = "hfta.shared_bytes";
/// On a kernel in whose place another one is for chips with warp groups: how
/// that one is launched, if otherwise, with the attributes above.
inline constexpr llvm::StringLiteral kWarpGroupLaunchAttrName =
    "hfta.warp_group_launch";
/// On lowered kernels: the symbol of the entry point in images for GPUs.
inline constexpr llvm::StringLiteral kGpuEntryAttrName = "hfta.gpu_entry";
/// The module of what runs on a GPU, in the program's module.
inline constexpr llvm::StringLiteral kGpuModuleName = "hfta.gpu";

struct LowerGpuKernelsOptions : PassPipelineOptions<LowerGpuKernelsOptions> {
  Option<bool> warpGroups{
      *this, "warp-groups",
      llvm::cl::desc("add kernels for chips that have instructions of warp "
                     "groups"),
      llvm::cl::init(false)};
};

/// From kernels on tensors to entry points for NVIDIA GPUs, in the NVVM
/// dialect.
void buildLowerGpuKernelsPipeline(OpPassManager &pm,
                                  const LowerGpuKernelsOptions &options);

/// From kernels on tensors to functions of the host's processor, of which each
/// call does a thread's work: to run what threads compute without a GPU.
/// Threads work together wherever they can.
void buildThreadsOnHostPipeline(OpPassManager &pm);
void registerLowerGpuKernelsPipelines();

} // namespace mlir::hfta

#endif // HFTA_CONVERSION_LOWERGPUKERNELS_H
