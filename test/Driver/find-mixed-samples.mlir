// Which models mix the samples of a batch, here of 4, and which only have them along
// another axis for a while.
// RUN: not hfta-opt %s -hfta-find-mixed-samples -split-input-file 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=NOTE < %t

// NOTE: node 'mix' mixes the samples of a batch: a sample's result depends on other samples
// A sum over samples, and a value that it goes into.
// CHECK: module attributes
// CHECK-SAME: hfta.output_mixed_by = "mix"
// CHECK: hfta.model
#job = {name = "j", batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1>},
  {name = "weight_decay", values = array<f64: 0.0>}, {name = "momentum", values = array<f64: 0.0>}],
  seed = array<i64: 1>}
module attributes {hfta.job = #job} {
  hfta.model @net copies [0] {
    func.func @forward(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
      %s = hfta.reduce sum %x over [0] : tensor<4x3xf32> loc("mix")
      %b = hfta.broadcast %s to [4, 3] along [1] : tensor<3xf32>
      %y = hfta.sub %x, %b : tensor<4x3xf32>, tensor<4x3xf32>
      return %y : tensor<4x3xf32>
    }
  }
}

// -----

// A sum over samples that nothing uses, and one within each sample.
// CHECK: module attributes
// CHECK-NOT: mixed_by
// CHECK: hfta.model
#job = {name = "j", batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1>},
  {name = "weight_decay", values = array<f64: 0.0>}, {name = "momentum", values = array<f64: 0.0>}],
  seed = array<i64: 1>}
module attributes {hfta.job = #job} {
  hfta.model @net copies [0] {
    func.func @forward(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
      %s = hfta.reduce sum %x over [0] : tensor<4x3xf32>
      %r = hfta.reduce sum %x over [1] : tensor<4x3xf32>
      %y = hfta.broadcast %r to [4, 3] along [0] : tensor<4xf32>
      return %y : tensor<4x3xf32>
    }
  }
}

// -----

// Ops that consist of simpler ones are seen through.
// CHECK: module attributes
// CHECK-SAME: hfta.output_mixed_by = "mix"
// CHECK: hfta.model
#job = {name = "j", batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1>},
  {name = "weight_decay", values = array<f64: 0.0>}, {name = "momentum", values = array<f64: 0.0>}],
  seed = array<i64: 1>}
module attributes {hfta.job = #job} {
  hfta.model @net copies [0] {
    func.func @forward(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
      %t = hfta.transpose %x by [1, 0] : tensor<4x3xf32>
      %s = hfta.softmax %t along 1 : tensor<3x4xf32> loc("mix")
      %y = hfta.transpose %s by [1, 0] : tensor<3x4xf32>
      return %y : tensor<4x3xf32>
    }
  }
}

// -----

// The sums of another axis, with the samples in the second.
// CHECK: module attributes
// CHECK-NOT: mixed_by
// CHECK: hfta.model
#job = {name = "j", batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1>},
  {name = "weight_decay", values = array<f64: 0.0>}, {name = "momentum", values = array<f64: 0.0>}],
  seed = array<i64: 1>}
module attributes {hfta.job = #job} {
  hfta.model @net copies [0] {
    func.func @forward(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
      %t = hfta.transpose %x by [1, 0] : tensor<4x3xf32>
      %s = hfta.cumulative_sum %t along 0 : tensor<3x4xf32>
      %y = hfta.transpose %s by [1, 0] : tensor<3x4xf32>
      return %y : tensor<4x3xf32>
    }
  }
}

// -----

// Samples and one before them.
// CHECK: module attributes
// CHECK-SAME: hfta.output_mixed_by = "mix"
// CHECK: hfta.model
#job = {name = "j", batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1>},
  {name = "weight_decay", values = array<f64: 0.0>}, {name = "momentum", values = array<f64: 0.0>}],
  seed = array<i64: 1>}
module attributes {hfta.job = #job} {
  hfta.model @net copies [0] {
    func.func @forward(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
      %y = hfta.cumulative_sum %x along 0 : tensor<4x3xf32> loc("mix")
      return %y : tensor<4x3xf32>
    }
  }
}

// -----

// Groups of two samples, over which a maximum is taken.
// CHECK: module attributes
// CHECK-SAME: hfta.output_mixed_by = "mix"
// CHECK: hfta.model
#job = {name = "j", batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1>},
  {name = "weight_decay", values = array<f64: 0.0>}, {name = "momentum", values = array<f64: 0.0>}],
  seed = array<i64: 1>}
module attributes {hfta.job = #job} {
  hfta.model @net copies [0] {
    func.func @forward(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
      %g = hfta.reshape %x to [2, 2, 3] : tensor<4x3xf32>
      %m = hfta.reduce max %g over [0] : tensor<2x2x3xf32> loc("mix")
      %b = hfta.broadcast %m to [2, 2, 3] along [1, 2] : tensor<2x3xf32>
      %y = hfta.reshape %b to [4, 3] : tensor<2x2x3xf32>
      return %y : tensor<4x3xf32>
    }
  }
}

// -----

// Products of each sample with each.
// CHECK: module attributes
// CHECK-SAME: hfta.output_mixed_by = "mix"
// CHECK: hfta.model
#job = {name = "j", batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1>},
  {name = "weight_decay", values = array<f64: 0.0>}, {name = "momentum", values = array<f64: 0.0>}],
  seed = array<i64: 1>}
module attributes {hfta.job = #job} {
  hfta.model @net copies [0] {
    func.func @forward(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
      %c = hfta.contract %x, %x maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] : tensor<4x3xf32>, tensor<4x3xf32> loc("mix")
      %r = hfta.reduce sum %c over [1] : tensor<4x4xf32>
      %y = hfta.broadcast %r to [4, 3] along [0] : tensor<4xf32>
      return %y : tensor<4x3xf32>
    }
  }
}

// -----

// Products of each position of a sample with each, with as many positions as samples.
// CHECK: module attributes
// CHECK-NOT: mixed_by
// CHECK: hfta.model
#job = {name = "j", batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1>},
  {name = "weight_decay", values = array<f64: 0.0>}, {name = "momentum", values = array<f64: 0.0>}],
  seed = array<i64: 1>}
module attributes {hfta.job = #job} {
  hfta.model @net copies [0] {
    func.func @forward(%x: tensor<4x4x3xf32>) -> tensor<4x4x3xf32> {
      %c = hfta.contract %x, %x maps [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, n, k)>, affine_map<(b, m, n, k) -> (b, m, n)>] : tensor<4x4x3xf32>, tensor<4x4x3xf32>
      %y = hfta.contract %c, %x maps [affine_map<(b, m, n, k) -> (b, m, n)>, affine_map<(b, m, n, k) -> (b, n, k)>, affine_map<(b, m, n, k) -> (b, m, k)>] : tensor<4x4x4xf32>, tensor<4x4x3xf32>
      return %y : tensor<4x4x3xf32>
    }
  }
}

// -----

// A shift: the slice takes samples to other places.
// CHECK: module attributes
// CHECK-SAME: hfta.output_mixed_by = "mix"
// CHECK: hfta.model
#job = {name = "j", batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1>},
  {name = "weight_decay", values = array<f64: 0.0>}, {name = "momentum", values = array<f64: 0.0>}],
  seed = array<i64: 1>}
module attributes {hfta.job = #job} {
  hfta.model @net copies [0] {
    func.func @forward(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
      %s = hfta.slice %x from [0, 0] size [3, 3] stride [1, 1] : tensor<4x3xf32> loc("mix")
      %y = hfta.pad %s low [1, 0] high [0, 0] interior [0, 0] with 0.0 : f32 : tensor<3x3xf32>
      return %y : tensor<4x3xf32>
    }
  }
}

// -----

// Reversed twice.
// CHECK: module attributes
// CHECK-NOT: mixed_by
// CHECK: hfta.model
#job = {name = "j", batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1>},
  {name = "weight_decay", values = array<f64: 0.0>}, {name = "momentum", values = array<f64: 0.0>}],
  seed = array<i64: 1>}
module attributes {hfta.job = #job} {
  hfta.model @net copies [0] {
    func.func @forward(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
      %r = hfta.slice %x from [3, 0] size [4, 3] stride [-1, 1] : tensor<4x3xf32>
      %y = hfta.slice %r from [3, 0] size [4, 3] stride [-1, 1] : tensor<4x3xf32>
      return %y : tensor<4x3xf32>
    }
  }
}

// -----

// Two of each sample, joined along the batch and taken apart again.
// CHECK: module attributes
// CHECK-NOT: mixed_by
// CHECK: hfta.model
#job = {name = "j", batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1>},
  {name = "weight_decay", values = array<f64: 0.0>}, {name = "momentum", values = array<f64: 0.0>}],
  seed = array<i64: 1>}
module attributes {hfta.job = #job} {
  hfta.model @net copies [0] {
    func.func @forward(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
      %n = hfta.neg %x : tensor<4x3xf32>
      %c = hfta.concat %x, %n along 0 : tensor<4x3xf32>, tensor<4x3xf32>
      %t = hfta.tanh %c : tensor<8x3xf32>
      %a = hfta.slice %t from [0, 0] size [4, 3] stride [1, 1] : tensor<8x3xf32>
      %b = hfta.slice %t from [4, 0] size [4, 3] stride [1, 1] : tensor<8x3xf32>
      %y = hfta.sub %a, %b : tensor<4x3xf32>, tensor<4x3xf32>
      return %y : tensor<4x3xf32>
    }
  }
}

// -----

// Halves of the batch in another order.
// CHECK: module attributes
// CHECK-SAME: hfta.output_mixed_by = "mix"
// CHECK: hfta.model
#job = {name = "j", batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1>},
  {name = "weight_decay", values = array<f64: 0.0>}, {name = "momentum", values = array<f64: 0.0>}],
  seed = array<i64: 1>}
module attributes {hfta.job = #job} {
  hfta.model @net copies [0] {
    func.func @forward(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
      %a = hfta.slice %x from [2, 0] size [2, 3] stride [1, 1] : tensor<4x3xf32> loc("mix")
      %b = hfta.slice %x from [0, 0] size [2, 3] stride [1, 1] : tensor<4x3xf32>
      %y = hfta.concat %a, %b along 0 : tensor<2x3xf32>, tensor<2x3xf32>
      return %y : tensor<4x3xf32>
    }
  }
}

// -----

// Halves of the batch in their order.
// CHECK: module attributes
// CHECK-NOT: mixed_by
// CHECK: hfta.model
#job = {name = "j", batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1>},
  {name = "weight_decay", values = array<f64: 0.0>}, {name = "momentum", values = array<f64: 0.0>}],
  seed = array<i64: 1>}
module attributes {hfta.job = #job} {
  hfta.model @net copies [0] {
    func.func @forward(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
      %a = hfta.slice %x from [0, 0] size [2, 3] stride [1, 1] : tensor<4x3xf32>
      %b = hfta.slice %x from [2, 0] size [2, 3] stride [1, 1] : tensor<4x3xf32>
      %y = hfta.concat %a, %b along 0 : tensor<2x3xf32>, tensor<2x3xf32>
      return %y : tensor<4x3xf32>
    }
  }
}

// -----

// One sample for all.
// CHECK: module attributes
// CHECK-SAME: hfta.output_mixed_by = "mix"
// CHECK: hfta.model
#job = {name = "j", batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1>},
  {name = "weight_decay", values = array<f64: 0.0>}, {name = "momentum", values = array<f64: 0.0>}],
  seed = array<i64: 1>}
module attributes {hfta.job = #job} {
  hfta.model @net copies [0] {
    func.func @forward(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
      %i = hfta.constant dense<2> : tensor<i64>
      %s = hfta.gather %x[%i] along 0 : tensor<4x3xf32>, tensor<i64> loc("mix")
      %b = hfta.broadcast %s to [4, 3] along [1] : tensor<3xf32>
      %y = hfta.add %x, %b : tensor<4x3xf32>, tensor<4x3xf32>
      return %y : tensor<4x3xf32>
    }
  }
}

// -----

// Indices that depend on data, and on the sample's position, pick from the sample's own rows.
// CHECK: module attributes
// CHECK-NOT: mixed_by
// CHECK: hfta.model
#job = {name = "j", batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1>},
  {name = "weight_decay", values = array<f64: 0.0>}, {name = "momentum", values = array<f64: 0.0>}],
  seed = array<i64: 1>}
module attributes {hfta.job = #job} {
  hfta.model @net copies [0] {
    func.func @forward(%x: tensor<4x5x3xf32>, %i: tensor<4xi64>) -> tensor<4x3xf32> {
      %p = hfta.iota [4] along 0 : i64
      %n = hfta.constant dense<5> : tensor<4xi64>
      %o = hfta.mul %p, %n : tensor<4xi64>, tensor<4xi64>
      %j = hfta.add %i, %o : tensor<4xi64>, tensor<4xi64>
      %f = hfta.reshape %x to [20, 3] : tensor<4x5x3xf32>
      %y = hfta.gather %f[%j] along 0 : tensor<20x3xf32>, tensor<4xi64>
      return %y : tensor<4x3xf32>
    }
  }
}

// -----

// NOTE: node 'mix' mixes the samples of a batch: a sample's result depends on its position
// The position as a number.
// CHECK: module attributes
// CHECK-SAME: hfta.output_mixed_by = "mix"
// CHECK: hfta.model
#job = {name = "j", batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1>},
  {name = "weight_decay", values = array<f64: 0.0>}, {name = "momentum", values = array<f64: 0.0>}],
  seed = array<i64: 1>}
module attributes {hfta.job = #job} {
  hfta.model @net copies [0] {
    func.func @forward(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
      %p = hfta.iota [4, 3] along 0 : f32
      %y = hfta.mul %x, %p : tensor<4x3xf32>, tensor<4x3xf32> loc("mix")
      return %y : tensor<4x3xf32>
    }
  }
}

// -----

// The position within a sample.
// CHECK: module attributes
// CHECK-NOT: mixed_by
// CHECK: hfta.model
#job = {name = "j", batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1>},
  {name = "weight_decay", values = array<f64: 0.0>}, {name = "momentum", values = array<f64: 0.0>}],
  seed = array<i64: 1>}
module attributes {hfta.job = #job} {
  hfta.model @net copies [0] {
    func.func @forward(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
      %p = hfta.iota [4, 3] along 1 : f32
      %y = hfta.mul %x, %p : tensor<4x3xf32>, tensor<4x3xf32>
      return %y : tensor<4x3xf32>
    }
  }
}

// -----

// NOTE: node 'mix' mixes the samples of a batch: a sample's result depends on the number of samples
// The batch size as a number, which the importer marks.
// CHECK: module attributes
// CHECK-SAME: hfta.output_mixed_by = "mix"
// CHECK: hfta.model
#job = {name = "j", batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1>},
  {name = "weight_decay", values = array<f64: 0.0>}, {name = "momentum", values = array<f64: 0.0>}],
  seed = array<i64: 1>}
module attributes {hfta.job = #job} {
  hfta.model @net copies [0] {
    func.func @forward(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
      %n = hfta.constant {hfta.of_batch_size} dense<4.0> : tensor<f32>
      %b = hfta.broadcast %n to [4, 3] along [] : tensor<f32>
      %y = hfta.mul %x, %b : tensor<4x3xf32>, tensor<4x3xf32> loc("mix")
      return %y : tensor<4x3xf32>
    }
  }
}

// -----

// Batch normalization without running statistics.
// CHECK: module attributes
// CHECK-SAME: hfta.output_mixed_by = "mix"
// CHECK: hfta.model
#job = {name = "j", batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1>},
  {name = "weight_decay", values = array<f64: 0.0>}, {name = "momentum", values = array<f64: 0.0>}],
  seed = array<i64: 1>}
module attributes {hfta.job = #job} {
  hfta.model @net copies [0] {
    func.func @forward(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
      %one = hfta.constant dense<1.0> : tensor<3xf32>
      %y, %m, %v, %sm, %sd = hfta.batch_norm %x, %one, %one {epsilon = 0.1 : f64, momentum = 0.9 : f64} : tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32> loc("mix")
      return %y : tensor<4x3xf32>
    }
  }
}

// -----

// It normalizes with running statistics, or each sample with its own.
// CHECK: module attributes
// CHECK-NOT: mixed_by
// CHECK: hfta.model
#job = {name = "j", batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1>},
  {name = "weight_decay", values = array<f64: 0.0>}, {name = "momentum", values = array<f64: 0.0>}],
  seed = array<i64: 1>}
module attributes {hfta.job = #job} {
  hfta.model @net copies [0] {
    func.func @forward(%x: tensor<4x3x5xf32>) -> tensor<4x3x5xf32> {
      %one = hfta.constant dense<1.0> : tensor<3xf32>
      %n, %m, %v, %sm, %sd = hfta.batch_norm %x, %one, %one, %one, %one {epsilon = 0.1 : f64, momentum = 0.9 : f64} : tensor<4x3x5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
      %all = hfta.constant dense<1.0> : tensor<12xf32>
      %r = hfta.reshape %n to [1, 12, 5] : tensor<4x3x5xf32>
      %o, %m1, %v1, %sm1, %sd1 = hfta.batch_norm %r, %all, %all {epsilon = 0.1 : f64, momentum = 0.9 : f64} : tensor<1x12x5xf32>, tensor<12xf32>, tensor<12xf32>
      %y = hfta.reshape %o to [4, 3, 5] : tensor<1x12x5xf32>
      return %y : tensor<4x3x5xf32>
    }
  }
}

// -----

// A group of channels for each sample.
// CHECK: module attributes
// CHECK-NOT: mixed_by
// CHECK: hfta.model
#job = {name = "j", batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1>},
  {name = "weight_decay", values = array<f64: 0.0>}, {name = "momentum", values = array<f64: 0.0>}],
  seed = array<i64: 1>}
module attributes {hfta.job = #job} {
  hfta.model @net copies [0] {
    func.func @forward(%x: tensor<4x2x5xf32>) -> tensor<4x2x5xf32> {
      %w = hfta.constant dense<1.0> : tensor<8x2x3xf32>
      %r = hfta.reshape %x to [1, 8, 5] : tensor<4x2x5xf32>
      %c = hfta.conv %r, %w {strides = array<i64: 1>, dilations = array<i64: 1>, padding = array<i64: 1, 1>, groups = 4 : i64} : tensor<1x8x5xf32>, tensor<8x2x3xf32>
      %y = hfta.reshape %c to [4, 2, 5] : tensor<1x8x5xf32>
      return %y : tensor<4x2x5xf32>
    }
  }
}

// -----

// A group of channels for two samples.
// CHECK: module attributes
// CHECK-SAME: hfta.output_mixed_by = "mix"
// CHECK: hfta.model
#job = {name = "j", batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1>},
  {name = "weight_decay", values = array<f64: 0.0>}, {name = "momentum", values = array<f64: 0.0>}],
  seed = array<i64: 1>}
module attributes {hfta.job = #job} {
  hfta.model @net copies [0] {
    func.func @forward(%x: tensor<4x2x5xf32>) -> tensor<4x2x5xf32> {
      %w = hfta.constant dense<1.0> : tensor<8x4x3xf32>
      %r = hfta.reshape %x to [1, 8, 5] : tensor<4x2x5xf32>
      %c = hfta.conv %r, %w {strides = array<i64: 1>, dilations = array<i64: 1>, padding = array<i64: 1, 1>, groups = 2 : i64} : tensor<1x8x5xf32>, tensor<8x4x3xf32> loc("mix")
      %y = hfta.reshape %c to [4, 2, 5] : tensor<1x8x5xf32>
      return %y : tensor<4x2x5xf32>
    }
  }
}

// -----

// Where a micro-batch is one sample, the function for two tells.
// NOTE: error: loc("mix"): node 'mix' mixes the samples of a batch: a sample's result depends on other samples, so that a batch of 4 samples can't be cut into 4 micro-batches
#job = {name = "j", batch = 4 : i64, micro_batches = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1>},
  {name = "weight_decay", values = array<f64: 0.0>}, {name = "momentum", values = array<f64: 0.0>}],
  seed = array<i64: 1>}
module attributes {hfta.job = #job} {
  hfta.model @net copies [0] {
    func.func @forward(%x: tensor<1x3xf32>) -> tensor<1x3xf32> {
      return %x : tensor<1x3xf32>
    }
    func.func @forward_of_two(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
      %s = hfta.reduce sum %x over [0] : tensor<2x3xf32> loc("mix")
      %b = hfta.broadcast %s to [2, 3] along [1] : tensor<3xf32>
      return %b : tensor<2x3xf32>
    }
    func.func @objective(%y: tensor<1x3xf32>, %t: tensor<1x3xf32>) -> (tensor<1x3xf32>, tensor<1x3xf32>) {
      return %y, %t : tensor<1x3xf32>, tensor<1x3xf32>
    }
  }
}

// -----

// Losses don't depend on an output that mixes samples.
// NOTE: remark: loc("mix"): node 'mix' mixes the samples of a batch
// NOTE-SAME: so that what 'run' gets must hold a multiple of 2 samples
// CHECK: module attributes
// CHECK-NOT: loss_mixed_by
// CHECK-SAME: hfta.output_mixed_by = "mix"
#job = {name = "j", batch = 4 : i64, micro_batches = 2 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1>},
  {name = "weight_decay", values = array<f64: 0.0>}, {name = "momentum", values = array<f64: 0.0>}],
  seed = array<i64: 1>}
module attributes {hfta.job = #job} {
  hfta.model @net copies [0] {
    func.func @forward(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
      %s = hfta.slice %x from [1, 0] size [2, 3] stride [-1, 1] : tensor<2x3xf32> loc("mix")
      return %x, %s : tensor<2x3xf32>, tensor<2x3xf32>
    }
    func.func @objective(%y: tensor<2x3xf32>, %s: tensor<2x3xf32>, %t: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
      %d = hfta.sub %y, %t : tensor<2x3xf32>, tensor<2x3xf32>
      return %d, %d : tensor<2x3xf32>, tensor<2x3xf32>
    }
  }
}

// -----

// Elements of several samples in a row, which were taken apart by the transposition.
// CHECK: module attributes
// CHECK-SAME: hfta.output_mixed_by = "mix"
// CHECK: hfta.model
#job = {name = "j", batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1>},
  {name = "weight_decay", values = array<f64: 0.0>}, {name = "momentum", values = array<f64: 0.0>}],
  seed = array<i64: 1>}
module attributes {hfta.job = #job} {
  hfta.model @net copies [0] {
    func.func @forward(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
      %t = hfta.transpose %x by [1, 0] : tensor<4x3xf32> loc("mix")
      %n = hfta.neg %t : tensor<3x4xf32>
      %y = hfta.reshape %n to [4, 3] : tensor<3x4xf32>
      return %y : tensor<4x3xf32>
    }
  }
}

// -----

// As many positions as samples, along axis 0.
// CHECK: module attributes
// CHECK-SAME: hfta.output_mixed_by = "mix"
// CHECK: hfta.model
#job = {name = "j", batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1>},
  {name = "weight_decay", values = array<f64: 0.0>}, {name = "momentum", values = array<f64: 0.0>}],
  seed = array<i64: 1>}
module attributes {hfta.job = #job} {
  hfta.model @net copies [0] {
    func.func @forward(%x: tensor<4x4x3xf32>) -> tensor<4x4x3xf32> {
      %y = hfta.transpose %x by [1, 0, 2] : tensor<4x4x3xf32> loc("mix")
      return %y : tensor<4x4x3xf32>
    }
  }
}

// -----

// Results of other sizes hold a batch as one likes, which losses may put in order.
// CHECK: module attributes
// CHECK-NOT: mixed_by
// CHECK: hfta.model
#job = {name = "j", batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1>},
  {name = "weight_decay", values = array<f64: 0.0>}, {name = "momentum", values = array<f64: 0.0>}],
  seed = array<i64: 1>}
module attributes {hfta.job = #job} {
  hfta.model @net copies [0] {
    func.func @forward(%x: tensor<4x3xf32>) -> (tensor<3x4xf32>, tensor<12xf32>, tensor<4x3xf32>) {
      %t = hfta.transpose %x by [1, 0] : tensor<4x3xf32>
      %f = hfta.reshape %t to [12] : tensor<3x4xf32>
      %y = hfta.transpose %t by [1, 0] : tensor<3x4xf32>
      return %t, %f, %y : tensor<3x4xf32>, tensor<12xf32>, tensor<4x3xf32>
    }
    func.func @objective(%t: tensor<3x4xf32>, %f: tensor<12xf32>, %y: tensor<4x3xf32>, %l: tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>) {
      %o = hfta.transpose %t by [1, 0] : tensor<3x4xf32>
      %d = hfta.sub %o, %l : tensor<4x3xf32>, tensor<4x3xf32>
      return %d, %d : tensor<4x3xf32>, tensor<4x3xf32>
    }
  }
}

// -----

// One sample has its elements in the same order either way.
// NOTE: error: loc("mix"): node 'mix' mixes the samples of a batch: a sample's result depends on other samples, so that a batch of 4 samples can't be cut into 4 micro-batches
#job = {name = "j", batch = 4 : i64, micro_batches = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1>},
  {name = "weight_decay", values = array<f64: 0.0>}, {name = "momentum", values = array<f64: 0.0>}],
  seed = array<i64: 1>}
module attributes {hfta.job = #job} {
  hfta.model @net copies [0] {
    func.func @forward(%x: tensor<1x3xf32>) -> tensor<1x3xf32> {
      return %x : tensor<1x3xf32>
    }
    func.func @forward_of_two(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
      %t = hfta.transpose %x by [1, 0] : tensor<2x3xf32> loc("mix")
      %y = hfta.reshape %t to [2, 3] : tensor<3x2xf32>
      return %y : tensor<2x3xf32>
    }
    func.func @objective(%y: tensor<1x3xf32>, %t: tensor<1x3xf32>) -> (tensor<1x3xf32>, tensor<1x3xf32>) {
      %d = hfta.sub %y, %t : tensor<1x3xf32>, tensor<1x3xf32>
      return %d, %d : tensor<1x3xf32>, tensor<1x3xf32>
    }
  }
}

// -----

// A sample's own positions along axis 0, which are no samples.
// CHECK: module attributes
// CHECK-NOT: mixed_by
// CHECK: hfta.model
#job = {name = "j", batch = 4 : i64, micro_batches = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1>},
  {name = "weight_decay", values = array<f64: 0.0>}, {name = "momentum", values = array<f64: 0.0>}],
  seed = array<i64: 1>}
module attributes {hfta.job = #job} {
  hfta.model @net copies [0] {
    func.func @forward(%x: tensor<1x3xf32>) -> tensor<3x1xf32> {
      %y = hfta.transpose %x by [1, 0] : tensor<1x3xf32>
      return %y : tensor<3x1xf32>
    }
    func.func @forward_of_two(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
      %y = hfta.transpose %x by [1, 0] : tensor<2x3xf32>
      return %y : tensor<3x2xf32>
    }
    func.func @objective(%y: tensor<3x1xf32>, %t: tensor<1x3xf32>) -> (tensor<3x1xf32>, tensor<3x1xf32>) {
      %l = hfta.reshape %t to [3, 1] : tensor<1x3xf32>
      %d = hfta.sub %y, %l : tensor<3x1xf32>, tensor<3x1xf32>
      return %d, %d : tensor<3x1xf32>, tensor<3x1xf32>
    }
  }
}

// -----

// A value that is scattered into another sample's slice is combined with it.
// CHECK: module attributes
// CHECK-SAME: hfta.output_mixed_by = "mix"
// CHECK: hfta.model
#job = {name = "j", batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1>},
  {name = "weight_decay", values = array<f64: 0.0>}, {name = "momentum", values = array<f64: 0.0>}],
  seed = array<i64: 1>}
module attributes {hfta.job = #job} {
  hfta.model @net copies [0] {
    func.func @forward(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
      %i = hfta.constant dense<[1, 0, 3, 2]> : tensor<4xi64>
      %y = hfta.scatter_reduce max %x at %i into %x along 0 : tensor<4x3xf32>, tensor<4xi64>, tensor<4x3xf32> loc("mix")
      return %y : tensor<4x3xf32>
    }
  }
}

// -----

// Places within a sample are combined.
// CHECK: module attributes
// CHECK-NOT: mixed_by
// CHECK: hfta.model
#job = {name = "j", batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1>},
  {name = "weight_decay", values = array<f64: 0.0>}, {name = "momentum", values = array<f64: 0.0>}],
  seed = array<i64: 1>}
module attributes {hfta.job = #job} {
  hfta.model @net copies [0] {
    func.func @forward(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
      %i = hfta.constant dense<[1, 1, 0]> : tensor<3xi64>
      %y = hfta.scatter_reduce max %x at %i into %x along 1 : tensor<4x3xf32>, tensor<3xi64>, tensor<4x3xf32>
      return %y : tensor<4x3xf32>
    }
  }
}

// -----

// Each sequence is one sample, and its loss stays that sample's.
// CHECK: module attributes
// CHECK-NOT: mixed_by
// CHECK: hfta.model
#job = {name = "j", batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1>},
  {name = "weight_decay", values = array<f64: 0.0>}, {name = "momentum", values = array<f64: 0.0>}],
  seed = array<i64: 1>}
module attributes {hfta.job = #job} {
  hfta.model @net copies [0] {
    func.func @forward(%x: tensor<4x5x3xf32>, %l: tensor<4x2xi64>, %n: tensor<4xi64>) -> tensor<4xf32> {
      %y, %g = hfta.ctc_loss %x, %l, %n {blank = 0 : i64} : tensor<4x5x3xf32>, tensor<4x2xi64>, tensor<4xi64>
      return %y : tensor<4xf32>
    }
  }
}
