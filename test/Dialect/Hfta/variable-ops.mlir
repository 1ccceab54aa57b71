// RUN: hfta-opt %s | hfta-opt | FileCheck %s

// CHECK: hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<4xf32>
hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<4xf32>
// CHECK: hfta.variable @"hfta.model/hfta.step" {known_as = "hfta.step", role = #hfta.role<parameter>} : tensor<4xf32>
hfta.variable @"hfta.model/hfta.step" {known_as = "hfta.step", role = #hfta.role<parameter>} : tensor<4xf32>
// CHECK: hfta.variable @hfta.step {purpose = #hfta.purpose<step>, role = #hfta.role<scalar>} : tensor<i64>
hfta.variable @hfta.step {purpose = #hfta.purpose<step>, role = #hfta.role<scalar>} : tensor<i64>
// CHECK: purpose = #hfta.purpose<hyper_parameter "lr">
hfta.variable @lr {purpose = #hfta.purpose<hyper_parameter "lr">, role = #hfta.role<scalar>} : tensor<f64>
// CHECK: purpose = #hfta.purpose<gradient of @w>
hfta.variable @g {purpose = #hfta.purpose<gradient of @w>, role = #hfta.role<gradient>} : tensor<4xf32>
// CHECK: purpose = #hfta.purpose<state "momentum" of @w>
hfta.variable @m {purpose = #hfta.purpose<state "momentum" of @w>, role = #hfta.role<optimizer_state>} : tensor<4xf32>
// CHECK: hfta.variable @running {role = #hfta.role<statistics>}
hfta.variable @running {role = #hfta.role<statistics>} : tensor<4xf32>
// CHECK: instances = 8 : i64, purpose = #hfta.purpose<batch_statistic "0" of @running>, role = #hfta.role<exchange>
hfta.variable @b {instances = 8 : i64, purpose = #hfta.purpose<batch_statistic "0" of @running>, role = #hfta.role<exchange>} : tensor<4xf32>
// Copies may have an output of one name each.
// CHECK: hfta.variable @"y@0" {copy = 0 : i64, purpose = #hfta.purpose<output "y">
hfta.variable @"y@0" {copy = 0 : i64, purpose = #hfta.purpose<output "y">, role = #hfta.role<output>} : tensor<4xf32>
// CHECK: hfta.variable @"y@1" {copy = 1 : i64, purpose = #hfta.purpose<output "y">
hfta.variable @"y@1" {copy = 1 : i64, purpose = #hfta.purpose<output "y">, role = #hfta.role<output>} : tensor<8xf32>
