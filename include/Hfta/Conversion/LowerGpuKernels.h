//===- LowerGpuKernels.h - Kernels as code of a GPU's threads ---*- C++ -*-===//
//
// Lowers kernels, functions on one copy's plain tensors, to code for the
// threads of a GPU. A thread computes single elements of the kernel's results,
// or the threads of a block together compute tiles of products and share sums.
//===----------------------------------------------------------------------===//

#ifndef HFTA_CONVERSION_LOWERGPUKERNELS_H
#define HFTA_CONVERSION_LOWERGPUKERNELS_H

#include "Hfta/Target/GpuReferenceModel.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"

#include <limits>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace mlir::hfta {

#define GEN_PASS_DECL_CONVERTKERNELSTOGPU
#define GEN_PASS_DECL_HFTAADDWARPGROUPKERNELS
#define GEN_PASS_DECL_HFTACHOOSEGPUKERNELS
#define GEN_PASS_DECL_HFTACOLLECTGPUCODE
#define GEN_PASS_DECL_HFTAEMULATEGPU
#define GEN_PASS_DECL_HFTAFUSESUMLOOPS
#define GEN_PASS_DECL_HFTAKERNELSTOTHREADS
#define GEN_PASS_DECL_HFTAMAPKERNELSTOGPU
#include "Hfta/Conversion/Passes.h.inc"

/// Attribute of an op with reduction loops: the number of lanes in which its
/// terms are added up. The sums of the lanes are then added in pairs. On a
/// kernel on tensors, it is the number of threads that compute one sum
/// together, out of the `kSumThreads` threads of a block.
inline constexpr llvm::StringLiteral kSumLanesAttrName = "hfta.sum_lanes";
/// Attribute of an op with lanes (`kSumLanesAttrName`): how many adjacent terms
/// a lane takes at a time; 1 if absent.
inline constexpr llvm::StringLiteral kSumUnitAttrName = "hfta.sum_unit";
/// Unit attribute of a kernel whose threads share sums: the threads of one sum
/// are adjacent in the block, because its terms are adjacent in memory.
inline constexpr llvm::StringLiteral kLanesInsideAttrName = "hfta.lanes_inside";
/// Number of threads of a block whose threads share sums.
inline constexpr int64_t kSumThreads = GpuReferenceModel::Sums::kBlockThreads;
/// Attribute of a kernel on tensors that also returns sums over the rows of its
/// other results: for each result a list of its axes that number the rows. The
/// lists have the order of the sums' axes. Each row is computed by one thread,
/// or by several together.
inline constexpr llvm::StringLiteral kRowAxesAttrName = "hfta.row_axes";

/// Attribute of a kernel on tensors: how many adjacent elements a thread
/// computes at a time; 1 if absent.
inline constexpr llvm::StringLiteral kRunAttrName = "hfta.run";

/// Attribute of a lowered kernel: the number of threads of a block. A kernel
/// without an entry point has it only if the threads of a block work together.
inline constexpr llvm::StringLiteral kBlockThreadsAttrName =
    "hfta.block_threads";
/// Unit attribute of a kernel that has become the code of a thread: threads of
/// a block compute sums together.
inline constexpr llvm::StringLiteral kSharesSumsAttrName = "hfta.shares_sums";
/// Unit attribute of a kernel that has become the code of a thread: an index
/// may need more than 32 bits.
inline constexpr llvm::StringLiteral kWideIndicesAttrName = "hfta.wide_indices";
/// The largest number of elements or threads for which indices have 32 bits. It
/// is less than 2^31 because indices in tiles and lanes can exceed the ends of
/// axes a little.
inline constexpr int64_t kMostNarrowElements =
    std::numeric_limits<int32_t>::max() - (1 << 20);
/// Attribute of a kernel or entry point that uses instructions of warp groups:
/// the symbol of the one that it replaces on chips that have these
/// instructions.
inline constexpr llvm::StringLiteral kWarpGroupsOfAttrName =
    "hfta.warp_groups_of";
/// Attribute of a kernel of warp groups: the tensor maps by which a producer
/// warp copies boxes of the operands to shared memory, while the other warps
/// compute. It is a list of dictionaries with `argument`, `element_bytes` and,
/// with the innermost dimension first, `sizes`, `strides` (in bytes), `box` and
/// `steps`. The last parameter of such a kernel points to the maps; other
/// kernels have scratch memory there.
inline constexpr llvm::StringLiteral kTensorMapsAttrName = "hfta.tensor_maps";
/// Attribute of an entry point whose last parameter holds tensor maps: the
/// number of maps (hfta_warp_group_launch).
inline constexpr llvm::StringLiteral kMapCountAttrName = "hfta.map_count";
/// Attribute of a kernel of warp groups and of its entry point: the size of the
/// dynamic shared memory, in bytes.
inline constexpr llvm::StringLiteral kSharedBytesAttrName = "hfta.shared_bytes";
/// Attribute of a kernel that has a replacement for chips with warp groups: a
/// dictionary that describes the replacement's launch by
/// `kBlockThreadsAttrName`, `kSharedBytesAttrName` and `kTensorMapsAttrName`.
/// It is absent if both are launched in the same way.
inline constexpr llvm::StringLiteral kWarpGroupLaunchAttrName =
    "hfta.warp_group_launch";
/// Attribute of a lowered kernel: the symbol of its entry point in images for
/// GPUs.
inline constexpr llvm::StringLiteral kGpuEntryAttrName = "hfta.gpu_entry";
/// Name of the nested module that holds the program's code for GPUs.
inline constexpr llvm::StringLiteral kGpuModuleName = "hfta.gpu";

struct LowerGpuKernelsOptions : PassPipelineOptions<LowerGpuKernelsOptions> {
  Option<bool> warpGroups{
      *this, "warp-groups",
      llvm::cl::desc("add kernels for chips that have instructions of warp "
                     "groups"),
      llvm::cl::init(false)};
};

/// Builds the passes from kernels on tensors to entry points for GPUs, in the
/// LLVM dialect and the hfta_gpu dialect. A back end for a kind of GPU lowers
/// the latter.
void buildLowerGpuKernelsPipeline(OpPassManager &pm,
                                  const LowerGpuKernelsOptions &options);

/// Builds the passes from kernels on tensors to functions for the host's
/// processor. Each call of a function does the work of one GPU thread, so that
/// tests can run this code without a GPU. Threads work together wherever that
/// is possible, even in small kernels.
void buildThreadsOnHostPipeline(OpPassManager &pm);
void registerLowerGpuKernelsPipelines();

} // namespace mlir::hfta

#endif // HFTA_CONVERSION_LOWERGPUKERNELS_H
