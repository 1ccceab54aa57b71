//===- hfta-opt.cpp - Runs single passes on modules in text form ----------===//

#include "hfta-opt.h"

#include "Hfta/InitAll.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int runHftaOpt(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::hfta::registerAllDialects(registry);
  mlir::hfta::registerAllPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "Hfta's optimizer: runs passes on modules\n", registry));
}
