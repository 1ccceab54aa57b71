//===- hftac.cpp - The main function of the compiler's program ------------===//

#include "hfta-opt.h"

#include "Hfta/Driver/Main/Driver.h"
#include "llvm/Support/Path.h"

/// hftac and hfta-opt are one file, which has all of the compiler once. It is
/// hfta-opt under this name.
int main(int argc, char **argv) {
  if (argc > 0 && llvm::sys::path::filename(argv[0]) == "hfta-opt")
    return runHftaOpt(argc, argv);
  return mlir::hfta::runDriver(argc, argv);
}
