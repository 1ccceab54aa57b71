// RUN: hfta-opt %s -split-input-file -verify-diagnostics -hfta-fuse-models

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

// -----

#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
module attributes {hfta.job = #job} {
  hfta.model @a copies [0] {
    func.func @forward(%x: tensor<3xf32>) -> tensor<3xf32> {
      %0 = hfta.neg %x : tensor<3xf32>
      return %0 : tensor<3xf32>
    }
  }
  // expected-error@+1 {{copy 2 is outside of the job's 2 copies}}
  hfta.model @b copies [2] {
    func.func @forward(%x: tensor<3xf32>) -> tensor<3xf32> {
      %0 = hfta.neg %x : tensor<3xf32>
      return %0 : tensor<3xf32>
    }
  }
}

// -----

#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
module attributes {hfta.job = #job} {
  hfta.model @a copies [0, 1] {
    func.func @forward(%x: tensor<3xf32>) -> tensor<3xf32> {
      %0 = hfta.neg %x : tensor<3xf32>
      return %0 : tensor<3xf32>
    }
  }
  // expected-error@+1 {{copy 1 belongs to another model too}}
  hfta.model @b copies [1] {
    func.func @forward(%x: tensor<3xf32>) -> tensor<3xf32> {
      %0 = hfta.neg %x : tensor<3xf32>
      return %0 : tensor<3xf32>
    }
  }
}

// -----

#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
// expected-error@+1 {{copy 1 has no model}}
module attributes {hfta.job = #job} {
  hfta.model @a copies [0] {
    func.func @forward(%x: tensor<3xf32>) -> tensor<3xf32> {
      %0 = hfta.neg %x : tensor<3xf32>
      return %0 : tensor<3xf32>
    }
  }
}

// -----

#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
module attributes {hfta.job = #job} {
  hfta.model @a copies [0] {
    func.func @forward(%x: tensor<3xf32>) -> tensor<3xf32> {
      %0 = hfta.neg %x : tensor<3xf32>
      return %0 : tensor<3xf32>
    }
    // expected-error@+1 {{models of the array differ here: function 'prepare' is missing}}
    func.func @prepare(%x: tensor<3xf32>) -> tensor<3xf32> {
      %0 = hfta.neg %x : tensor<3xf32>
      return %0 : tensor<3xf32>
    }
  }
  // expected-note@+1 {{in the other model}}
  hfta.model @b copies [1] {
    func.func @forward(%x: tensor<3xf32>) -> tensor<3xf32> {
      %0 = hfta.neg %x : tensor<3xf32>
      return %0 : tensor<3xf32>
    }
  }
}

// -----

#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
module attributes {hfta.job = #job} {
  hfta.model @a copies [0] {
    // expected-error@+1 {{models of the array differ here: 'forward' has other inputs}}
    func.func @forward(%x: tensor<3xf32> {hfta.name = "x"}) -> tensor<3xf32> {
      return %x : tensor<3xf32>
    }
  }
  hfta.model @b copies [1] {
    // expected-note@+1 {{in the other model}}
    func.func @forward(%x: tensor<3xf32> {hfta.name = "y"}) -> tensor<3xf32> {
      return %x : tensor<3xf32>
    }
  }
}
// -----

#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
module attributes {hfta.job = #job} {
  hfta.model @a copies [0] {
    func.func @forward(%x: tensor<12xf32>) -> tensor<12xf32> {
      return %x : tensor<12xf32>
    }
    // expected-error@+1 {{models of the array differ here: the losses of the copies have different shapes}}
    func.func @objective(%y: tensor<12xf32>) -> tensor<12xf32> {
      return %y : tensor<12xf32>
    }
  }
  hfta.model @b copies [1] {
    func.func @forward(%x: tensor<12xf32>) -> tensor<3x4xf32> {
      %0 = hfta.reshape %x to [3, 4] : tensor<12xf32>
      return %0 : tensor<3x4xf32>
    }
    // expected-note@+1 {{in the other model}}
    func.func @objective(%y: tensor<3x4xf32>) -> tensor<3x4xf32> {
      return %y : tensor<3x4xf32>
    }
  }
}

// -----

#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
module attributes {hfta.job = #job} {
  hfta.model @a copies [0] {
    hfta.variable @"w@1" {role = #hfta.role<parameter>, trained} : tensor<3xf32>
    func.func @forward(%x: tensor<3xf32>) -> tensor<3xf32> {
      %w = hfta.read @"w@1" : tensor<3xf32>
      %0 = hfta.mul %x, %w : tensor<3xf32>, tensor<3xf32>
      return %0 : tensor<3xf32>
    }
  }
  hfta.model @b copies [1] {
    hfta.variable @"w@1" {role = #hfta.role<parameter>, trained} : tensor<3xf32>
    // expected-error@+1 {{'w' of copy 1 would be called 'w@1', as another one that all copies have: rename one of them}}
    hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3xf32>
    func.func @forward(%x: tensor<3xf32>) -> tensor<3xf32> {
      %w = hfta.read @"w@1" : tensor<3xf32>
      %0 = hfta.mul %x, %w : tensor<3xf32>, tensor<3xf32>
      %own = hfta.read @w : tensor<3xf32>
      %1 = hfta.mul %0, %own : tensor<3xf32>, tensor<3xf32>
      return %1 : tensor<3xf32>
    }
  }
}

// -----

#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
module attributes {hfta.job = #job} {
  hfta.model @a copies [0] {
    func.func @forward(%x: tensor<12xf32>) -> (tensor<12xf32> {hfta.name = "y"}, tensor<12xf32> {hfta.name = "y@1"}) {
      %0 = hfta.neg %x : tensor<12xf32>
      return %0, %x : tensor<12xf32>, tensor<12xf32>
    }
  }
  hfta.model @b copies [1] {
    // expected-error@+1 {{output 'y' of copy 1 would be called 'y@1', as another one that all copies have: rename one of them}}
    func.func @forward(%x: tensor<12xf32>) -> (tensor<3x4xf32> {hfta.name = "y"}, tensor<12xf32> {hfta.name = "y@1"}) {
      %0 = hfta.reshape %x to [3, 4] : tensor<12xf32>
      return %0, %x : tensor<3x4xf32>, tensor<12xf32>
    }
  }
}
