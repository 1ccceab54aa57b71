//===- ScratchCompiler.cpp - hftac with one more setting ------------------===//
//
// Shows that a record alone defines a setting: this one isn't in Settings.def,
// and no code names it.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/IR/Settings.h"
#include "Hfta/Driver/Driver.h"

using namespace mlir::hfta;

int main(int argc, char **argv) {
  ScratchSetting setting({SettingType::Size, "scratch", 0.0,
                          NumberRange::wholeFrom(1024), "scratch", "SIZE",
                          "memory for nothing", "none", "SIZE",
                          "memory for nothing at all", setting_traits::None,
                          [](Job &job) -> SettingRef {
                            // No member of a job is made for this record, so it
                            // shares that of a setting that the test leaves
                            // out.
                            return &job.clusterPointToPoint;
                          }});
  return runDriver(argc, argv);
}
