// RUN: hfta-opt %s -hfta-fuse-models -hfta-plan-pipeline=cuts=act | FileCheck %s --check-prefix=FUSED
// RUN: sed 's/{name = "j",/& fuse = false,/' %s | hfta-opt -hfta-fuse-models -hfta-plan-pipeline=cuts=act | FileCheck %s --check-prefix=ALONE

// Where copies have ops of their own, because their models differ or because they
// are compiled alone, a cut's name is that of each copy's own value. A cast or a
// stack of it comes after the cut.
// FUSED: hfta.mul {{.*}}{hfta.block = 0 : i64}
// FUSED-DAG: hfta.relu {{.*}} {hfta.block = 0 : i64}
// FUSED-DAG: hfta.tanh {{.*}} {hfta.block = 0 : i64}
// FUSED-DAG: hfta.stack {{.*}} {hfta.block = 1 : i64}
// FUSED-DAG: hfta.read @v {hfta.block = 1 : i64}
// FUSED: hfta.mul {{.*}}{hfta.block = 1 : i64}

// ALONE-DAG: hfta.read @w copy 0 {hfta.block = 0 : i64}
// ALONE-DAG: hfta.read @v copy 0 {hfta.block = 1 : i64}
// ALONE-DAG: hfta.relu {{.*}} {hfta.block = 0 : i64}
// ALONE-DAG: hfta.read @w copy 1 {hfta.block = 0 : i64}
// ALONE-DAG: hfta.read @v copy 1 {hfta.block = 1 : i64}
// ALONE-DAG: hfta.tanh {{.*}} {hfta.block = 0 : i64}
#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
module attributes {hfta.job = #job} {
  hfta.model @first copies [0] {
    hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3xf32>
    hfta.variable @v {role = #hfta.role<parameter>, trained} : tensor<3xf32>
    func.func @forward(%x: tensor<3xf32>) -> tensor<3xf32> {
      %w = hfta.read @w : tensor<3xf32>
      %0 = hfta.mul %x, %w : tensor<3xf32>, tensor<3xf32>
      %1 = hfta.relu %0 : tensor<3xf32> loc("act")
      %v = hfta.read @v : tensor<3xf32>
      %2 = hfta.mul %1, %v : tensor<3xf32>, tensor<3xf32>
      return %2 : tensor<3xf32>
    }
  }
  hfta.model @second copies [1] {
    hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3xf32>
    hfta.variable @v {role = #hfta.role<parameter>, trained} : tensor<3xf32>
    func.func @forward(%x: tensor<3xf32>) -> tensor<3xf32> {
      %w = hfta.read @w : tensor<3xf32>
      %0 = hfta.mul %x, %w : tensor<3xf32>, tensor<3xf32>
      %1 = hfta.tanh %0 : tensor<3xf32> loc("act")
      %v = hfta.read @v : tensor<3xf32>
      %2 = hfta.mul %1, %v : tensor<3xf32>, tensor<3xf32>
      return %2 : tensor<3xf32>
    }
  }
}
