// RUN: hfta-opt %s -split-input-file -hfta-assign-residency | FileCheck %s
// RUN: sed 's/copies = 2/spill = "host", copies = 2/' %s > %t.mlir
// RUN: not hfta-opt %t.mlir -split-input-file -hfta-assign-residency 2>&1 | FileCheck %s --check-prefix=HOST
// HOST: error: 'spill = host' needs a device with memory of its own

// A block's values come and go; a value of one step alone has a place for a while.
module attributes {hfta.job = {batch = 4 : i64, copies = 2 : i64, device = 4096 : i64,
    groups = 1 : i64, name = "net", training = false}} {
  // CHECK: @weight {{.*}}residency = #hfta.residency<spilled>
  hfta.variable @weight {block = 0 : i64, role = #hfta.role<parameter>} : tensor<4xf32, #hfta.copies<2>>
  // CHECK: @gradient {{.*}}residency = #hfta.residency<transient>
  hfta.variable @gradient {block = 0 : i64, role = #hfta.role<gradient>} : tensor<4xf32, #hfta.copies<2>>
  // CHECK: @saved {{.*}}residency = #hfta.residency<transient>
  hfta.variable @saved {block = 0 : i64, role = #hfta.role<saved>} : tensor<4xf32, #hfta.copies<2>>
  // CHECK: @kept {{.*}}residency = #hfta.residency<spilled>
  hfta.variable @kept {block = 0 : i64, residency = #hfta.residency<spilled>, role = #hfta.role<saved>} : tensor<4xf32, #hfta.copies<2>>
  // CHECK: @mean
  // CHECK-NOT: residency
  hfta.variable @mean {block = 0 : i64, role = #hfta.role<statistics>} : tensor<4xf32, #hfta.copies<2>>
}
