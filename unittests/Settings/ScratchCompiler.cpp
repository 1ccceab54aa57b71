//===- ScratchCompiler.cpp - hftac with one more setting ------------------===//
//
// Shows that a record alone defines a setting: this one isn't in Settings.def,
// and no code names it.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/IR/Settings.h"
#include "Hfta/Driver/Driver.h"

using namespace mlir::hfta;

/// Stands in for a member of Job, which the records of Settings.def have.
static int64_t scratch = 0;

int main(int argc, char **argv) {
  ScratchSetting setting({SettingType::Size, "scratch", 0.0,
                          NumberRange::wholeFrom(1024), "scratch", "SIZE",
                          "memory for nothing", "none", "SIZE",
                          "memory for nothing at all", setting_traits::None,
                          [](Job &) -> SettingRef { return &scratch; }});
  return runDriver(argc, argv);
}
