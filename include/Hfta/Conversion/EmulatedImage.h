//===- EmulatedImage.h - Symbols of an emulated image -----------*- C++ -*-===//
//
// Names and numbers on which the compiler and the emulated GPU driver
// (emulation/) agree. The compiler makes GPU kernels into a shared library of
// the host ("image"), and the driver loads the library and runs them. This file
// includes no other, so that the driver doesn't need MLIR.
//===----------------------------------------------------------------------===//

#ifndef HFTA_CONVERSION_EMULATEDIMAGE_H
#define HFTA_CONVERSION_EMULATEDIMAGE_H

namespace mlir::hfta::emulated {

/// Symbol of an array of 32-bit numbers that replace the GPU's special
/// registers. The driver sets them before each thread runs.
inline constexpr char kRegisters[] = "hfta_emulated_registers";

/// Indices into the array `kRegisters`.
enum Register {
  kThreadX,   ///< index of the thread in its block
  kBlockDimX, ///< number of threads in the block
  kBlockX,    ///< index of the block in the grid, along x
  kBlockZ,    ///< index of the block in the grid, along z
  kRegisterCount
};

/// Suffix of the function NAME$call, by which the driver runs one thread of the
/// kernel NAME. Its argument is an array of pointers to the kernel's
/// parameters, as for cuLaunchKernel. Only kernels whose threads don't wait for
/// each other have this function.
inline constexpr char kCallSuffix[] = "$call";
/// Suffix of the function NAME$block, which replaces NAME$call for a kernel
/// whose threads wait for each other.
inline constexpr char kBlockSuffix[] = "$block";

/// Suffix of the 32-bit constant NAME$maps, the number of tensor maps that the
/// kernel NAME uses. The kernel's last parameter is then a block of memory with
/// these maps (hfta_warp_group_launch). Kernels without tensor maps have no
/// such constant.
inline constexpr char kMapsSuffix[] = "$maps";

/// Symbol of a pointer to the function by which a thread waits for all threads
/// of its block (`__syncthreads`). The function has no parameters. The driver
/// sets this pointer, and all function pointers below, when it loads an image.
inline constexpr char kBarrier[] = "hfta_emulated_barrier";

/// Symbol of a pointer to the function that waits at a named barrier (PTX:
/// `bar.sync`). Its parameters are the barrier's number and the number of
/// threads that wait at it.
inline constexpr char kNumberedBarrier[] = "hfta_emulated_numbered_barrier";

/// Symbol of a pointer to the function by which the threads of a warp together
/// multiply small matrices (PTX: `mma.sync`; emulation/TensorCores.h).
inline constexpr char kMultiply[] = "hfta_emulated_multiply";

/// Symbol of a pointer to the function by which the threads of a warp together
/// load 8 by 8 matrices from shared memory (PTX: `ldmatrix`;
/// emulation/TensorCores.h).
inline constexpr char kReadMatrices[] = "hfta_emulated_read_matrices";

/// Symbols of pointers to the functions for asynchronous copies (PTX:
/// `cp.async`; emulation/AsyncCopies.h). They begin a copy of 16 bytes, commit
/// the copies begun so far as a group, and wait for all but the latest groups.
inline constexpr char kBeginCopy[] = "hfta_emulated_begin_copy";
inline constexpr char kCommitCopies[] = "hfta_emulated_commit_copies";
inline constexpr char kWaitForCopies[] = "hfta_emulated_wait_for_copies";

/// Symbols of pointers to the functions that emulate an mbarrier, PTX's barrier
/// in shared memory (emulation/BulkCopies.h). In order, they initialise an
/// mbarrier; arrive at it; arrive and announce how many bytes bulk copies will
/// write; wait for the end of a phase; and begin a bulk copy whose bytes count
/// for the phase.
inline constexpr char kInitialiseBarrier[] = "hfta_emulated_initialise_barrier";
inline constexpr char kArrive[] = "hfta_emulated_arrive";
inline constexpr char kArriveExpecting[] = "hfta_emulated_arrive_expecting";
inline constexpr char kWaitForPhase[] = "hfta_emulated_wait_for_phase";
inline constexpr char kBeginBulkCopy[] = "hfta_emulated_begin_bulk_copy";

/// Symbols of pointers to the functions for matrix products of warp groups
/// (PTX: `wgmma`; emulation/WarpGroups.h). In order, they make the thread's
/// writes visible to products; begin a product; commit the products begun so
/// far as a group; wait for all but the latest groups; and wait for all groups
/// and return the thread's sums.
inline constexpr char kFence[] = "hfta_emulated_fence";
inline constexpr char kMultiplyShared[] = "hfta_emulated_multiply_shared";
inline constexpr char kCommitProducts[] = "hfta_emulated_commit_products";
inline constexpr char kWaitForGroups[] = "hfta_emulated_wait_for_groups";
inline constexpr char kWaitForProducts[] = "hfta_emulated_wait_for_products";

/// Element types of matrices that are multiplied. The numbers are arguments of
/// the functions `kMultiply` and `kMultiplyShared`.
enum class Factors { kBf16, kTf32, kF16 };

/// Alignment, in bytes, of the shared memory `kShared`.
inline constexpr unsigned kSharedAlignment = 1024;
/// Symbol of the memory that the threads of a block share.
inline constexpr char kShared[] = "hfta_emulated_shared";
/// Symbol of a 64-bit constant, the size of `kShared` in bytes.
inline constexpr char kSharedBytes[] = "hfta_emulated_shared_bytes";

} // namespace mlir::hfta::emulated

#endif // HFTA_CONVERSION_EMULATEDIMAGE_H
