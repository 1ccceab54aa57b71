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

} // namespace mlir::hfta::emulated

#endif // HFTA_CONVERSION_EMULATEDIMAGE_H
