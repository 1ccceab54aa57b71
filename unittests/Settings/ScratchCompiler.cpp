//===- ScratchCompiler.cpp - hftac with one more setting ------------------===//
//
// This compiler has one more setting than hftac. It shows that a record alone
// defines a setting: the setting isn't in Settings.def, and no code names it.
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
                            // Job has no member for this record, so it shares
                            // the member of a setting that the test doesn't
                            // use.
                            return &job.clusterPointToPoint;
                          }});
  return runDriver(argc, argv);
}
