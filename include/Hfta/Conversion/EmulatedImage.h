//===- EmulatedImage.h - What an emulated image exports ---------*- C++ -*-===//
//
// The compiler makes such images of kernels for a GPU, and the emulated driver
// runs them. Both include this file, which includes nothing.
//===----------------------------------------------------------------------===//

#ifndef HFTA_CONVERSION_EMULATEDIMAGE_H
#define HFTA_CONVERSION_EMULATEDIMAGE_H

namespace mlir::hfta::emulated {

/// The symbol of an array of 32-bit registers, those of the thread that runs.
inline constexpr char kRegisters[] = "hfta_emulated_registers";

/// Their places in it.
enum Register {
  kThreadX, ///< its number in its block
  kBlockDimX,
  kBlockX,
  kBlockZ,
  kRegisterCount
};

/// Stands behind a kernel's name in that of the function that the driver calls:
/// of an array of pointers to the kernel's parameters.
inline constexpr char kCallSuffix[] = "$call";
/// The same for a kernel whose blocks' threads wait for each other.
inline constexpr char kBlockSuffix[] = "$block";

/// The same of a constant of a kernel that has tensor maps, how many, 32 bits:
/// the place of its last parameter is that of the block of them
/// (hfta_warp_group_launch).
inline constexpr char kMapsSuffix[] = "$maps";

/// The symbol of a pointer to what such a thread calls to wait, a function of
/// nothing that whoever runs kernels sets.
inline constexpr char kBarrier[] = "hfta_emulated_barrier";

/// The same of what it calls to wait at a barrier that has a number, with that
/// and how many threads wait there.
inline constexpr char kNumberedBarrier[] = "hfta_emulated_numbered_barrier";

/// The symbol of a pointer to what the threads of a warp call to multiply small
/// matrices together (emulation/TensorCores.h), which whoever runs kernels
/// sets.
inline constexpr char kMultiply[] = "hfta_emulated_multiply";

/// The same of what they call to read small matrices.
inline constexpr char kReadMatrices[] = "hfta_emulated_read_matrices";

/// The same of what they call to begin a copy of 16 bytes that they don't wait
/// for, to make the copies begun a group, and to wait for all but some groups
/// (emulation/AsyncCopies.h).
inline constexpr char kBeginCopy[] = "hfta_emulated_begin_copy";
inline constexpr char kCommitCopies[] = "hfta_emulated_commit_copies";
inline constexpr char kWaitForCopies[] = "hfta_emulated_wait_for_copies";

/// The same of what a thread calls to initialise an mbarrier, to arrive there,
/// also with bytes that copies will bring, to wait for it, and to begin such a
/// copy (emulation/BulkCopies.h).
inline constexpr char kInitialiseBarrier[] = "hfta_emulated_initialise_barrier";
inline constexpr char kArrive[] = "hfta_emulated_arrive";
inline constexpr char kArriveExpecting[] = "hfta_emulated_arrive_expecting";
inline constexpr char kWaitForPhase[] = "hfta_emulated_wait_for_phase";
inline constexpr char kBeginBulkCopy[] = "hfta_emulated_begin_bulk_copy";

/// The same of what a thread calls to let products of warp groups read what it
/// wrote, to begin such a product, to make those begun a group, to wait for all
/// but some groups, and for all with their sums (emulation/WarpGroups.h).
inline constexpr char kFence[] = "hfta_emulated_fence";
inline constexpr char kMultiplyShared[] = "hfta_emulated_multiply_shared";
inline constexpr char kCommitProducts[] = "hfta_emulated_commit_products";
inline constexpr char kWaitForGroups[] = "hfta_emulated_wait_for_groups";
inline constexpr char kWaitForProducts[] = "hfta_emulated_wait_for_products";

/// What is multiplied, as the function for that is told.
enum class Factors { kBf16, kTf32, kF16 };

/// The symbols of the memory that the threads of a block share, which is
/// aligned to so many bytes, and of its bytes, 64 bits.
inline constexpr unsigned kSharedAlignment = 1024;
inline constexpr char kShared[] = "hfta_emulated_shared";
inline constexpr char kSharedBytes[] = "hfta_emulated_shared_bytes";

} // namespace mlir::hfta::emulated

#endif // HFTA_CONVERSION_EMULATEDIMAGE_H
