// RUN: hfta-opt %s -hfta-describe-model -split-input-file -verify-diagnostics | FileCheck %s

#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}

// CHECK: hfta.models = [{copies = array<i64: 0, 1>, export_graph = "{{[^"]*}}w{{[^"]*}}", export_header = "{{[^"]+}}"
// CHECK-SAME: identity = "[[IDENTITY:[0-9a-f]{64}]]", identity_of_batch = "{{[0-9a-f]+}}"}]
module attributes {hfta.job = #job} {
  hfta.model @net copies [0, 1] {
    hfta.variable @w {role = #hfta.role<parameter>, trained, initial = dense<1.0> : tensor<3xf32>} : tensor<3xf32>
    func.func @forward(%x: tensor<4x3xf32> {hfta.name = "x"}) -> (tensor<4x3xf32> {hfta.name = "y"}) {
      %w = hfta.read @w : tensor<3xf32>
      %wb = hfta.broadcast %w to [4, 3] along [1] : tensor<3xf32>
      %0 = hfta.mul %x, %wb : tensor<4x3xf32>, tensor<4x3xf32>
      return %0 : tensor<4x3xf32>
    }
  }
}

// -----

#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}

// Batch size, weights, numbers and names of copies are not part of it.
// CHECK: hfta.models = [{copies = array<i64: 1>,
// CHECK-SAME: identity = "[[IDENTITY]]", identity_of_batch = "{{[0-9a-f]+}}"}, {copies = array<i64: 0>,
// CHECK-SAME: identity = "[[IDENTITY]]", identity_of_batch
module attributes {hfta.job = #job} {
  hfta.model @first copies [1] {
    hfta.variable @w {role = #hfta.role<parameter>, trained, initial = dense<2.0> : tensor<3xf32>} : tensor<3xf32>
    func.func @forward(%x: tensor<8x3xf32> {hfta.name = "x"}) -> (tensor<8x3xf32> {hfta.name = "y"}) {
      %w = hfta.read @w : tensor<3xf32>
      %wb = hfta.broadcast %w to [8, 3] along [1] : tensor<3xf32>
      %0 = hfta.mul %x, %wb : tensor<8x3xf32>, tensor<8x3xf32>
      return %0 : tensor<8x3xf32>
    }
  }
  hfta.model @second copies [0] {
    hfta.variable @w {role = #hfta.role<parameter>, trained, initial = dense<1.0> : tensor<3xf32>} : tensor<3xf32>
    func.func @forward(%x: tensor<8x3xf32> {hfta.name = "x"}) -> (tensor<8x3xf32> {hfta.name = "y"}) {
      %w = hfta.read @w : tensor<3xf32>
      %wb = hfta.broadcast %w to [8, 3] along [1] : tensor<3xf32>
      %0 = hfta.mul %x, %wb : tensor<8x3xf32>, tensor<8x3xf32>
      return %0 : tensor<8x3xf32>
    }
  }
}

// -----

#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "adam"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}

// The kind of optimizer is part of it.
// CHECK-NOT: identity = "[[IDENTITY]]"
// CHECK: identity = "{{[0-9a-f]+}}"
module attributes {hfta.job = #job} {
  hfta.model @net copies [0, 1] {
    hfta.variable @w {role = #hfta.role<parameter>, trained, initial = dense<1.0> : tensor<3xf32>} : tensor<3xf32>
    func.func @forward(%x: tensor<4x3xf32> {hfta.name = "x"}) -> (tensor<4x3xf32> {hfta.name = "y"}) {
      %w = hfta.read @w : tensor<3xf32>
      %wb = hfta.broadcast %w to [4, 3] along [1] : tensor<3xf32>
      %0 = hfta.mul %x, %wb : tensor<4x3xf32>, tensor<4x3xf32>
      return %0 : tensor<4x3xf32>
    }
  }
}

// -----

// expected-error@+1 {{module has no 'hfta.job' dictionary}}
module {
}

// -----

#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}

// expected-error@+1 {{module holds no hfta.model}}
module attributes {hfta.job = #job} {
}
