// RUN: hfta-opt %s -split-input-file -verify-diagnostics -hfta-differentiate -hfta-split-tasks

// expected-error@+1 {{module has no 'hfta.job' dictionary}}
module {
}

// -----

#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
// expected-error@+1 {{expected one fused hfta.model with @forward, found 2 models; run hfta-fuse-models first}}
module attributes {hfta.job = #job} {
  hfta.model @other copies [1] {
  }
  hfta.model @array copies [0, 1] {
    hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3xf32, #hfta.copies<2>>
    func.func @forward(%x: tensor<4x3xf32> {hfta.name = "x"}) -> (tensor<4x3xf32, #hfta.copies<2>> {hfta.name = "y"}) {
      %w = hfta.read @w : tensor<3xf32, #hfta.copies<2>>
      %wb = hfta.broadcast %w to [4, 3] along [1] : tensor<3xf32, #hfta.copies<2>>
      %0 = hfta.mul %x, %wb : tensor<4x3xf32>, tensor<4x3xf32, #hfta.copies<2>>
      return %0 : tensor<4x3xf32, #hfta.copies<2>>
    }
  }
}

// -----

#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "rate", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
// expected-error@+1 {{a training job needs the hyper-parameter 'lr'}}
module attributes {hfta.job = #job} {
  hfta.model @array copies [0, 1] {
    hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3xf32, #hfta.copies<2>>
    func.func @forward(%x: tensor<4x3xf32> {hfta.name = "x"}) -> (tensor<4x3xf32, #hfta.copies<2>> {hfta.name = "y"}) {
      %w = hfta.read @w : tensor<3xf32, #hfta.copies<2>>
      %wb = hfta.broadcast %w to [4, 3] along [1] : tensor<3xf32, #hfta.copies<2>>
      %0 = hfta.mul %x, %wb : tensor<4x3xf32>, tensor<4x3xf32, #hfta.copies<2>>
      return %0 : tensor<4x3xf32, #hfta.copies<2>>
    }
    func.func @prepare(%x: tensor<4x3xf32> {hfta.name = "x"}) -> (tensor<4x3xf32> {hfta.name = "x"}) {
      return %x : tensor<4x3xf32>
    }
    func.func @objective(%y: tensor<4x3xf32, #hfta.copies<2>>, %x: tensor<4x3xf32>) -> (tensor<4xf32, #hfta.copies<2>>, tensor<4xf32>) {
      %0 = hfta.reduce sum %y over [1] : tensor<4x3xf32, #hfta.copies<2>>
      %1 = hfta.constant dense<1.0> : tensor<4xf32>
      return %0, %1 : tensor<4xf32, #hfta.copies<2>>, tensor<4xf32>
    }
  }
}

// -----

#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
module attributes {hfta.job = #job} {
  // expected-error@+1 {{a training job needs @prepare and @objective}}
  hfta.model @array copies [0, 1] {
    hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3xf32, #hfta.copies<2>>
    func.func @forward(%x: tensor<4x3xf32> {hfta.name = "x"}) -> (tensor<4x3xf32, #hfta.copies<2>> {hfta.name = "y"}) {
      %w = hfta.read @w : tensor<3xf32, #hfta.copies<2>>
      %wb = hfta.broadcast %w to [4, 3] along [1] : tensor<3xf32, #hfta.copies<2>>
      %0 = hfta.mul %x, %wb : tensor<4x3xf32>, tensor<4x3xf32, #hfta.copies<2>>
      return %0 : tensor<4x3xf32, #hfta.copies<2>>
    }
    func.func @prepare(%x: tensor<4x3xf32> {hfta.name = "x"}) -> (tensor<4x3xf32> {hfta.name = "x"}) {
      return %x : tensor<4x3xf32>
    }
  }
}

// -----

#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
module attributes {hfta.job = #job} {
  hfta.model @array copies [0, 1] {
    hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3xf32, #hfta.copies<2>>
    // expected-error@+1 {{no prepared field of type 'tensor<4x3xf32>' for input 'x'}}
    func.func @forward(%x: tensor<4x3xf32> {hfta.name = "x"}) -> (tensor<4x3xf32, #hfta.copies<2>> {hfta.name = "y"}) {
      %w = hfta.read @w : tensor<3xf32, #hfta.copies<2>>
      %wb = hfta.broadcast %w to [4, 3] along [1] : tensor<3xf32, #hfta.copies<2>>
      %0 = hfta.mul %x, %wb : tensor<4x3xf32>, tensor<4x3xf32, #hfta.copies<2>>
      return %0 : tensor<4x3xf32, #hfta.copies<2>>
    }
    func.func @prepare(%x: tensor<4x3xf32> {hfta.name = "x"}) -> (tensor<4x3xf32> {hfta.name = "z"}) {
      return %x : tensor<4x3xf32>
    }
    func.func @objective(%y: tensor<4x3xf32, #hfta.copies<2>>, %x: tensor<4x3xf32>) -> (tensor<4xf32, #hfta.copies<2>>, tensor<4xf32>) {
      %0 = hfta.reduce sum %y over [1] : tensor<4x3xf32, #hfta.copies<2>>
      %1 = hfta.constant dense<1.0> : tensor<4xf32>
      return %0, %1 : tensor<4xf32, #hfta.copies<2>>, tensor<4xf32>
    }
  }
}

// -----

// Every op in the path to a trained variable is listed; others may lack a
// derivative.
#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
module attributes {hfta.job = #job} {
  hfta.model @array copies [0, 1] {
    hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3xf32, #hfta.copies<2>>
    func.func @forward(%x: tensor<4x3xf32> {hfta.name = "x"}) -> (tensor<4x3xf32, #hfta.copies<2>> {hfta.name = "y"}) {
      %w = hfta.read @w : tensor<3xf32, #hfta.copies<2>>
      %h = hfta.constant dense<0.5> : tensor<f32>
      %g = hfta.constant dense<1.0> : tensor<3xf32>
      // expected-error@+1 {{'hfta.optimizer_update' has no derivative}}
      %s, %v = hfta.optimizer_update "sgd" given [] %w, %g, %g, %h, %h, %h : tensor<3xf32, #hfta.copies<2>>, tensor<3xf32>, tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<f32>
      // expected-error@+1 {{'hfta.optimizer_update' has no derivative}}
      %t, %u = hfta.optimizer_update "sgd" given [] %s, %g, %g, %h, %h, %h : tensor<3xf32, #hfta.copies<2>>, tensor<3xf32>, tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<f32>
      %tb = hfta.broadcast %t to [4, 3] along [1] : tensor<3xf32, #hfta.copies<2>>
      %data, %vx = hfta.optimizer_update "sgd" given [] %x, %x, %x, %h, %h, %h : tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<f32>, tensor<f32>, tensor<f32>
      %0 = hfta.mul %data, %tb : tensor<4x3xf32>, tensor<4x3xf32, #hfta.copies<2>>
      return %0 : tensor<4x3xf32, #hfta.copies<2>>
    }
    func.func @prepare(%x: tensor<4x3xf32> {hfta.name = "x"}) -> (tensor<4x3xf32> {hfta.name = "x"}) {
      return %x : tensor<4x3xf32>
    }
    func.func @objective(%y: tensor<4x3xf32, #hfta.copies<2>>, %x: tensor<4x3xf32>) -> (tensor<4xf32, #hfta.copies<2>>, tensor<4xf32>) {
      %0 = hfta.reduce sum %y over [1] : tensor<4x3xf32, #hfta.copies<2>>
      %1 = hfta.constant dense<1.0> : tensor<4xf32>
      return %0, %1 : tensor<4xf32, #hfta.copies<2>>, tensor<4xf32>
    }
  }
}

// -----

// Replicas compute micro-batches at the same time; no micro-batch may need what the
// one before has written.
#job = {name = "j", copies = 2 : i64, batch = 6 : i64, micro_batches = 3 : i64, epochs = 1 : i64,
  replicas = array<i64: 3>, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
module attributes {hfta.job = #job} {
  hfta.model @array copies [0, 1] {
    hfta.variable @scale {role = #hfta.role<parameter>, trained} : tensor<3xf32, #hfta.copies<2>>
    hfta.variable @bias {role = #hfta.role<parameter>, trained} : tensor<3xf32, #hfta.copies<2>>
    hfta.variable @mean {role = #hfta.role<statistics>} : tensor<3xf32, #hfta.copies<2>>
    hfta.variable @variance {role = #hfta.role<statistics>} : tensor<3xf32, #hfta.copies<2>>
    hfta.variable @kept {role = #hfta.role<statistics>} : tensor<3xf32, #hfta.copies<2>>
    func.func @forward(%x: tensor<2x3xf32> {hfta.name = "x"}) -> (tensor<2x3xf32, #hfta.copies<2>> {hfta.name = "y"}) {
      %s = hfta.read @scale : tensor<3xf32, #hfta.copies<2>>
      %b = hfta.read @bias : tensor<3xf32, #hfta.copies<2>>
      %m = hfta.read @mean : tensor<3xf32, #hfta.copies<2>>
      // expected-error@+1 {{the model itself computes with the running statistic 'kept', so each micro-batch follows from the one before, and 3 replicas can't compute them at the same time}}
      %k = hfta.read @kept : tensor<3xf32, #hfta.copies<2>>
      %kb = hfta.broadcast %k to [2, 3] along [1] : tensor<3xf32, #hfta.copies<2>>
      %xk = hfta.add %x, %kb : tensor<2x3xf32>, tensor<2x3xf32, #hfta.copies<2>>
      %y, %nm, %nv, %nsm, %nsd = hfta.batch_norm %xk, %s, %b, %m, %k {epsilon = 1.0e-5 : f64, momentum = 0.75 : f64, unbiased} : tensor<2x3xf32, #hfta.copies<2>>, tensor<3xf32, #hfta.copies<2>>, tensor<3xf32, #hfta.copies<2>>, tensor<3xf32, #hfta.copies<2>>, tensor<3xf32, #hfta.copies<2>> loc("norm")
      hfta.write %nm, @mean : tensor<3xf32, #hfta.copies<2>>
      hfta.write %nv, @kept : tensor<3xf32, #hfta.copies<2>>
      %m2 = hfta.read @mean : tensor<3xf32, #hfta.copies<2>>
      %v = hfta.read @variance : tensor<3xf32, #hfta.copies<2>>
      %z, %om, %ov, %osm, %osd = hfta.batch_norm %y, %s, %b, %m2, %v {epsilon = 1.0e-5 : f64, momentum = 0.75 : f64, unbiased} : tensor<2x3xf32, #hfta.copies<2>>, tensor<3xf32, #hfta.copies<2>>, tensor<3xf32, #hfta.copies<2>>, tensor<3xf32, #hfta.copies<2>>, tensor<3xf32, #hfta.copies<2>>
      hfta.write %om, @mean : tensor<3xf32, #hfta.copies<2>>
      hfta.write %ov, @variance : tensor<3xf32, #hfta.copies<2>>
      return %z : tensor<2x3xf32, #hfta.copies<2>>
    }
    func.func @prepare(%x: tensor<2x3xf32> {hfta.name = "x"}) -> (tensor<2x3xf32> {hfta.name = "x"}) {
      return %x : tensor<2x3xf32>
    }
    func.func @objective(%y: tensor<2x3xf32, #hfta.copies<2>>, %x: tensor<2x3xf32>) -> (tensor<2xf32, #hfta.copies<2>>, tensor<2xf32>) {
      %0 = hfta.reduce sum %y over [1] : tensor<2x3xf32, #hfta.copies<2>>
      %1 = hfta.constant dense<1.0> : tensor<2xf32>
      return %0, %1 : tensor<2xf32, #hfta.copies<2>>, tensor<2xf32>
    }
  }
}

// -----

// All batch normalizations of one value per channel are listed.
#job = {name = "j", copies = 2 : i64, batch = 3 : i64, micro_batches = 3 : i64, epochs = 1 : i64,
  optimizers = [{name = "sgd"}], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
module attributes {hfta.job = #job} {
  hfta.model @array copies [0, 1] {
    hfta.variable @scale {role = #hfta.role<parameter>, trained} : tensor<3xf32, #hfta.copies<2>>
    hfta.variable @bias {role = #hfta.role<parameter>, trained} : tensor<3xf32, #hfta.copies<2>>
    hfta.variable @mean {role = #hfta.role<statistics>} : tensor<3xf32, #hfta.copies<2>>
    hfta.variable @variance {role = #hfta.role<statistics>} : tensor<3xf32, #hfta.copies<2>>
    func.func @forward(%x: tensor<1x3xf32> {hfta.name = "x"}) -> (tensor<1x3xf32, #hfta.copies<2>> {hfta.name = "y"}) {
      %s = hfta.read @scale : tensor<3xf32, #hfta.copies<2>>
      %b = hfta.read @bias : tensor<3xf32, #hfta.copies<2>>
      %m = hfta.read @mean : tensor<3xf32, #hfta.copies<2>>
      %v = hfta.read @variance : tensor<3xf32, #hfta.copies<2>>
      // expected-error@+1 {{batch normalization in training needs more than one value per channel, got an input of shape [1, 3] in each of 3 micro-batches}}
      %y, %nm, %nv, %nsm, %nsd = hfta.batch_norm %x, %s, %b, %m, %v {epsilon = 1.0e-5 : f64, momentum = 0.75 : f64, unbiased} : tensor<1x3xf32>, tensor<3xf32, #hfta.copies<2>>, tensor<3xf32, #hfta.copies<2>>, tensor<3xf32, #hfta.copies<2>>, tensor<3xf32, #hfta.copies<2>>
      hfta.write %nm, @mean : tensor<3xf32, #hfta.copies<2>>
      hfta.write %nv, @variance : tensor<3xf32, #hfta.copies<2>>
      %m2 = hfta.read @mean : tensor<3xf32, #hfta.copies<2>>
      %v2 = hfta.read @variance : tensor<3xf32, #hfta.copies<2>>
      // expected-error@+1 {{batch normalization in training needs more than one value per channel}}
      %z, %om, %ov, %osm, %osd = hfta.batch_norm %y, %s, %b, %m2, %v2 {epsilon = 1.0e-5 : f64, momentum = 0.75 : f64, unbiased} : tensor<1x3xf32, #hfta.copies<2>>, tensor<3xf32, #hfta.copies<2>>, tensor<3xf32, #hfta.copies<2>>, tensor<3xf32, #hfta.copies<2>>, tensor<3xf32, #hfta.copies<2>>
      hfta.write %om, @mean : tensor<3xf32, #hfta.copies<2>>
      hfta.write %ov, @variance : tensor<3xf32, #hfta.copies<2>>
      return %z : tensor<1x3xf32, #hfta.copies<2>>
    }
    func.func @prepare(%x: tensor<1x3xf32> {hfta.name = "x"}) -> (tensor<1x3xf32> {hfta.name = "x"}) {
      return %x : tensor<1x3xf32>
    }
    func.func @objective(%y: tensor<1x3xf32, #hfta.copies<2>>, %x: tensor<1x3xf32>) -> (tensor<1xf32, #hfta.copies<2>>, tensor<1xf32>) {
      %0 = hfta.reduce sum %y over [1] : tensor<1x3xf32, #hfta.copies<2>>
      %1 = hfta.constant dense<1.0> : tensor<1xf32>
      return %0, %1 : tensor<1xf32, #hfta.copies<2>>, tensor<1xf32>
    }
  }
}

// -----

#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
// expected-error@+1 {{'hfta.loss_terms' must be a list of terms with different names}}
module attributes {hfta.job = #job, hfta.loss_terms = [{name = "l1", weight = ""}, {name = "l1", weight = ""}]} {
  hfta.model @array copies [0, 1] {
    func.func @forward(%x: tensor<4x3xf32> {hfta.name = "x"}) -> (tensor<4x3xf32> {hfta.name = "y"}) {
      return %x : tensor<4x3xf32>
    }
  }
}

// -----

#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
// expected-error@+1 {{'hfta.loss_terms' must be a list of terms with different names}}
module attributes {hfta.job = #job, hfta.loss_terms = "l1"} {
  hfta.model @array copies [0, 1] {
    func.func @forward(%x: tensor<4x3xf32> {hfta.name = "x"}) -> (tensor<4x3xf32> {hfta.name = "y"}) {
      return %x : tensor<4x3xf32>
    }
  }
}

// -----

#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
// expected-error@+1 {{a term of the loss needs the hyper-parameter 'l1_weight'}}
module attributes {hfta.job = #job, hfta.loss_terms = [{name = "l1", weight = "l1_weight"}]} {
  hfta.model @array copies [0, 1] {
    func.func @forward(%x: tensor<4x3xf32> {hfta.name = "x"}) -> (tensor<4x3xf32> {hfta.name = "y"}) {
      return %x : tensor<4x3xf32>
    }
  }
}

// -----

#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
module attributes {hfta.job = #job, hfta.loss_terms = [{name = "l1", weight = ""}]} {
  hfta.model @array copies [0, 1] {
    func.func @forward(%x: tensor<4x3xf32> {hfta.name = "x"}) -> (tensor<4x3xf32> {hfta.name = "y"}) {
      return %x : tensor<4x3xf32>
    }
    // expected-error@+1 {{each term of the loss needs three results}}
    func.func @objective(%y: tensor<4x3xf32>, %x: tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>) {
      return %y, %x : tensor<4x3xf32>, tensor<4x3xf32>
    }
  }
}

// -----

#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>,
  metrics = [{name = "accuracy"}, {name = "f1", kind = "f1"}]}
module attributes {hfta.job = #job} {
  hfta.model @array copies [0, 1] {
    func.func @forward(%x: tensor<4x3xf32> {hfta.name = "x"}) -> (tensor<4x3xf32> {hfta.name = "y"}) {
      return %x : tensor<4x3xf32>
    }
    // expected-error@+1 {{the metrics need 3 results besides losses and weights}}
    func.func @objective(%y: tensor<4x3xf32>, %x: tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>) {
      return %y, %x : tensor<4x3xf32>, tensor<4x3xf32>
    }
  }
}
