// RUN: hfta-opt %s -split-input-file -verify-diagnostics -hfta-split-tasks

#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
// expected-error@+1 {{expected the undivided functions 'training', 'evaluation' and 'inference'; run hfta-differentiate first}}
module attributes {hfta.job = #job} {
  func.func @"task/inference"() attributes {hfta.task = #hfta.task<inference, -1>} {
    return
  }
}

// -----

#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
module attributes {hfta.job = #job} {
  hfta.variable @x {role = #hfta.role<input>} : tensor<3xf32>
  func.func @"task/training"() attributes {hfta.task = #hfta.task<training, -1>} {
    // expected-error@+1 {{expected 'hfta.part' and 'hfta.block' on each op of an undivided function}}
    %0 = hfta.read @x {hfta.block = 0 : i64} : tensor<3xf32>
    return
  }
  func.func @"task/evaluation"() attributes {hfta.task = #hfta.task<evaluation, -1>} {
    return
  }
  func.func @"task/inference"() attributes {hfta.task = #hfta.task<inference, -1>} {
    return
  }
}

// -----

#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
module attributes {hfta.job = #job} {
  hfta.variable @x {role = #hfta.role<input>} : tensor<3xf32>
  func.func @"task/training"() attributes {hfta.task = #hfta.task<training, -1>} {
    // expected-error@+1 {{no op of the undivided function 'training' is of part evaluate}}
    %0 = hfta.read @x {hfta.block = 0 : i64, hfta.part = #hfta.part<evaluate>} : tensor<3xf32>
    return
  }
  func.func @"task/evaluation"() attributes {hfta.task = #hfta.task<evaluation, -1>} {
    return
  }
  func.func @"task/inference"() attributes {hfta.task = #hfta.task<inference, -1>} {
    return
  }
}

// -----

#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
module attributes {hfta.job = #job} {
  hfta.variable @x {role = #hfta.role<input>} : tensor<3xf32>
  func.func @"task/training"() attributes {hfta.task = #hfta.task<training, -1>} {
    %0 = hfta.read @x {hfta.block = 0 : i64, hfta.part = #hfta.part<forward>} : tensor<3xf32>
    // expected-note@+1 {{the value comes from here}}
    %1 = hfta.tanh %0 {hfta.block = 1 : i64, hfta.part = #hfta.part<forward>} : tensor<3xf32>
    // expected-error@+1 {{in block 0 of part forward reads a value of block 1, which is computed later}}
    %2 = hfta.exp %1 {hfta.block = 0 : i64, hfta.part = #hfta.part<forward>} : tensor<3xf32>
    return
  }
  func.func @"task/evaluation"() attributes {hfta.task = #hfta.task<evaluation, -1>} {
    return
  }
  func.func @"task/inference"() attributes {hfta.task = #hfta.task<inference, -1>} {
    return
  }
}

// -----

#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
module attributes {hfta.job = #job} {
  hfta.variable @x {role = #hfta.role<input>} : tensor<3xf32>
  func.func @"task/training"() attributes {hfta.task = #hfta.task<training, -1>} {
    %0 = hfta.read @x {hfta.block = 0 : i64, hfta.part = #hfta.part<forward>} : tensor<3xf32>
    // expected-note@+1 {{the value comes from here}}
    %1 = hfta.tanh %0 {hfta.block = 0 : i64, hfta.part = #hfta.part<backward>} : tensor<3xf32>
    // expected-error@+1 {{in block 1 of part backward reads a value of block 0, which is computed later}}
    %2 = hfta.exp %1 {hfta.block = 1 : i64, hfta.part = #hfta.part<backward>} : tensor<3xf32>
    return
  }
  func.func @"task/evaluation"() attributes {hfta.task = #hfta.task<evaluation, -1>} {
    return
  }
  func.func @"task/inference"() attributes {hfta.task = #hfta.task<inference, -1>} {
    return
  }
}

// -----

#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}
module attributes {hfta.job = #job} {
  hfta.variable @x {role = #hfta.role<input>} : tensor<3xf32>
  func.func @"task/training"() attributes {hfta.task = #hfta.task<training, -1>} {
    // expected-error@+1 {{'hfta.part' must be a #hfta.part attribute}}
    %0 = hfta.read @x {hfta.block = 0 : i64, hfta.part = "forward"} : tensor<3xf32>
    return
  }
  func.func @"task/evaluation"() attributes {hfta.task = #hfta.task<evaluation, -1>} {
    return
  }
  func.func @"task/inference"() attributes {hfta.task = #hfta.task<inference, -1>} {
    return
  }
}
