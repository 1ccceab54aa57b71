//===- EmulatedImage.h - Symbols of an emulated image -----------*- C++ -*-===//
//
// The compiler makes images of kernels for an emulated GPU, and the emulated
// driver runs them. Both include this file, which includes nothing.
//===----------------------------------------------------------------------===//

#ifndef HFTA_CONVERSION_EMULATEDIMAGE_H
#define HFTA_CONVERSION_EMULATEDIMAGE_H

namespace mlir::hfta::emulated {

/// The symbol of an array of 32-bit registers, those of the thread that runs.
inline constexpr char kRegisters[] = "hfta_emulated_registers";

/// The registers' indices in this array.
enum Register {
  kThreadX, ///< the thread's index in its block
  kBlockDimX,
  kBlockX,
  kBlockZ,
  kRegisterCount
};

/// The suffix, after a kernel's name, of the function that the driver calls
/// with an array of pointers to the kernel's parameters.
inline constexpr char kCallSuffix[] = "$call";
/// The suffix of that function if the threads of the kernel's blocks wait for
/// each other.
inline constexpr char kBlockSuffix[] = "$block";

/// The suffix of a 32-bit constant of a kernel that has tensor maps: their
/// number. The pointer to the kernel's last parameter then points to the block
/// of the maps (hfta_warp_group_launch).
inline constexpr char kMapsSuffix[] = "$maps";

/// The symbol of a pointer to the function that such a thread calls to wait for
/// all threads of its block. It has no parameters. Whoever runs kernels sets
/// this pointer, and those below.
inline constexpr char kBarrier[] = "hfta_emulated_barrier";

/// The symbol of the function that waits at a named barrier. Its parameters are
/// the barrier's number and how many threads wait there.
inline constexpr char kNumberedBarrier[] = "hfta_emulated_numbered_barrier";

/// The symbol of the function by which the threads of a warp together multiply
/// small matrices (emulation/TensorCores.h).
inline constexpr char kMultiply[] = "hfta_emulated_multiply";

/// The symbol of the function by which the threads of a warp read small
/// matrices.
inline constexpr char kReadMatrices[] = "hfta_emulated_read_matrices";

/// The symbols of the functions that begin an asynchronous copy of 16 bytes,
/// commit the begun copies as a group, and wait for all but some groups
/// (emulation/AsyncCopies.h).
inline constexpr char kBeginCopy[] = "hfta_emulated_begin_copy";
inline constexpr char kCommitCopies[] = "hfta_emulated_commit_copies";
inline constexpr char kWaitForCopies[] = "hfta_emulated_wait_for_copies";

/// The symbols of the functions that emulate an mbarrier, PTX's barrier in
/// shared memory. They initialise it, arrive at it, arrive at it and announce
/// how many bytes bulk copies will write, wait for one of its phases, and begin
/// a bulk copy that counts toward the phase (emulation/BulkCopies.h).
inline constexpr char kInitialiseBarrier[] = "hfta_emulated_initialise_barrier";
inline constexpr char kArrive[] = "hfta_emulated_arrive";
inline constexpr char kArriveExpecting[] = "hfta_emulated_arrive_expecting";
inline constexpr char kWaitForPhase[] = "hfta_emulated_wait_for_phase";
inline constexpr char kBeginBulkCopy[] = "hfta_emulated_begin_bulk_copy";

/// The symbols of the functions that let products of warp groups read what the
/// thread wrote, begin such a product, commit the begun products as a group,
/// wait for all but some groups, and wait for all and return their sums
/// (emulation/WarpGroups.h).
inline constexpr char kFence[] = "hfta_emulated_fence";
inline constexpr char kMultiplyShared[] = "hfta_emulated_multiply_shared";
inline constexpr char kCommitProducts[] = "hfta_emulated_commit_products";
inline constexpr char kWaitForGroups[] = "hfta_emulated_wait_for_groups";
inline constexpr char kWaitForProducts[] = "hfta_emulated_wait_for_products";

/// The types that are multiplied, as the functions' parameters have them.
enum class Factors { kBf16, kTf32, kF16 };

/// The symbols of the memory that the threads of a block share, with its
/// alignment in bytes, and of its size in bytes, a 64-bit number.
inline constexpr unsigned kSharedAlignment = 1024;
inline constexpr char kShared[] = "hfta_emulated_shared";
inline constexpr char kSharedBytes[] = "hfta_emulated_shared_bytes";

} // namespace mlir::hfta::emulated

#endif // HFTA_CONVERSION_EMULATEDIMAGE_H
