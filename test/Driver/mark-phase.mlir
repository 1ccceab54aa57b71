// RUN: hfta-opt %s -hfta-mark-phase=phase=fused | FileCheck %s

// CHECK: module @array attributes {hfta.phase = "fused"}
module @array attributes {hfta.phase = "import"} {
}
