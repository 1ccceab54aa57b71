//===- Driver.h - The compiler as a function --------------------*- C++ -*-===//

#ifndef HFTA_DRIVER_MAIN_DRIVER_H
#define HFTA_DRIVER_MAIN_DRIVER_H

namespace mlir::hfta {

/// Runs `hftac`: reads the arguments, acts on them, and returns the exit code.
/// Installs handlers for fatal signals, after which the process exits with code
/// 70.
int runDriver(int argc, const char *const *argv);

} // namespace mlir::hfta

#endif // HFTA_DRIVER_MAIN_DRIVER_H
