// Values that some copies alone have take no memory for the others, or lie where others have
// their own; kernels that compute them run for these copies alone.
// RUN: hfta-opt %s --hfta-form-kernels --hfta-plan-memory --hfta-outline-kernels | FileCheck %s
// RUN: hfta-opt %s -hfta-set-target=target=cuda --hfta-plan-memory | FileCheck %s --check-prefix=SLABS

// CHECK: hfta.segments = [#hfta.segment<parameter, 0, 192 bytes, 1 instances>, #hfta.segment<optimizer_state, 0, 128 bytes, 1 instances of copies[0, 2]>, #hfta.segment<optimizer_state, 0, 64 bytes, 1 instances of copies[1]>]
// SLABS: #hfta.segment<optimizer_state, 0, 192 bytes, 1 instances, 64 a copy>
module {
  hfta.variable @p {role = #hfta.role<parameter>, block = 0 : i64} : tensor<4xf32, #hfta.copies<3>>
  // CHECK: @some {{.*}}location = #hfta.binding<1, 0, 64>
  // SLABS: @some {{.*}}location = #hfta.binding<{{[0-9]+}}, 0, 64>
  hfta.variable @some {role = #hfta.role<optimizer_state>, block = 0 : i64, only = array<i64: 0, 2>} : tensor<4xf32, #hfta.copies<3>>
  // CHECK: @other {{.*}}location = #hfta.binding<2, 0, 64>
  // SLABS: @other {{.*}}location = #hfta.binding<{{[0-9]+}}, 0, 64>
  hfta.variable @other {role = #hfta.role<optimizer_state>, block = 0 : i64, only = array<i64: 1>} : tensor<4xf32, #hfta.copies<3>>

  // CHECK-LABEL: func.func @update(
  // CHECK-NEXT: hfta.launch {{.*}} on [#hfta.binding<0, 0, 64>, #hfta.binding<1, 0, 64>] inputs 2 written [0] {only = array<i64: 0, 2>, per_copy}
  // CHECK-NEXT: hfta.launch {{.*}} on [#hfta.binding<0, 0, 64>, #hfta.binding<2, 0, 64>] inputs 2 written [0] {only = array<i64: 1>, per_copy}
  func.func @update() attributes {hfta.task = #hfta.task<update, 0>} {
    %p0 = hfta.read @p only [0, 2] : tensor<4xf32, #hfta.copies<3>>
    %s0 = hfta.read @some only [0, 2] : tensor<4xf32, #hfta.copies<3>>
    %0 = hfta.add %p0, %s0 : tensor<4xf32, #hfta.copies<3>>, tensor<4xf32, #hfta.copies<3>>
    hfta.write %0, @p only [0, 2] : tensor<4xf32, #hfta.copies<3>>
    %p1 = hfta.read @p only [1] : tensor<4xf32, #hfta.copies<3>>
    %s1 = hfta.read @other only [1] : tensor<4xf32, #hfta.copies<3>>
    %1 = hfta.mul %p1, %s1 : tensor<4xf32, #hfta.copies<3>>, tensor<4xf32, #hfta.copies<3>>
    hfta.write %1, @p only [1] : tensor<4xf32, #hfta.copies<3>>
    return
  }
}
