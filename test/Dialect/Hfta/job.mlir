// RUN: hfta-opt %s -split-input-file -verify-diagnostics

module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64,
    optimizers = [{name = "sgd"}], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}],
    seed = array<i64: 1, 2>}} {
}

// -----

// expected-error@+1 {{module has no 'hfta.job' dictionary}}
module attributes {hfta.job = 1} {
}

// -----

// expected-error@+1 {{'hfta.job' belongs on a module}}
func.func private @f() attributes {hfta.job = {}}

// -----

// expected-error@+1 {{in 'hfta.job': 'name' must be a string}}
module attributes {hfta.job = {}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': 'batch' must be an i64}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i32, epochs = 1 : i64,
    optimizers = [{name = "sgd"}], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}],
    seed = array<i64: 1, 2>}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': 'training' must be true or false}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64,
    training = "yes", optimizers = [{name = "sgd"}],
    hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}], seed = array<i64: 1, 2>}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': 'clip_norm' must be array<f64: …>}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64,
    optimizers = [{name = "sgd"}], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}],
    clip_norm = 1.0, seed = array<i64: 1, 2>}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': 'seed' must be array<i64: …>}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64,
    optimizers = [{name = "sgd"}], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}],
    seed = [1, 2]}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': 'schedule' must be a dictionary}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64,
    optimizers = [{name = "sgd"}], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}],
    seed = array<i64: 1, 2>, schedule = "constant"}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': 'gamma' must be array<f64: …>}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64,
    optimizers = [{name = "sgd"}], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}],
    seed = array<i64: 1, 2>, schedule = {gamma = 0.5}}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': 'data' must be an array of dictionaries}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64,
    optimizers = [{name = "sgd"}], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}],
    seed = array<i64: 1, 2>, data = [1]}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': 'train' must be a dictionary}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64,
    optimizers = [{name = "sgd"}], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}],
    seed = array<i64: 1, 2>, data = [{name = "x", train = 1 : i64}]}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': 'copies' must be at least 1}}
module attributes {hfta.job = {name = "j", copies = 0 : i64, batch = 4 : i64, epochs = 1 : i64,
    optimizers = [{name = "sgd"}], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}],
    seed = array<i64: 1, 2>}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': 'batch' must be a positive multiple of 'micro_batches'}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64,
    micro_batches = 3 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
    hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}], seed = array<i64: 1, 2>}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': 'batch' must be a positive multiple of 'micro_batches'}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 0 : i64, epochs = 1 : i64,
    optimizers = [{name = "sgd"}], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}],
    seed = array<i64: 1, 2>}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': hyper-parameter 'lr' must have one value a copy}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64,
    optimizers = [{name = "sgd"}], hyper_parameters = [{name = "lr", values = array<f64: 0.1>}],
    seed = array<i64: 1, 2>}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': 'clip_norm' must have one value a copy}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64,
    optimizers = [{name = "sgd"}], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}],
    clip_norm = array<f64: 1.0>, seed = array<i64: 1, 2>}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': 'seed' must have one value a copy}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64,
    optimizers = [{name = "sgd"}], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}],
    seed = array<i64: 1, 2, 3>}} {
}

// -----

// expected-error@+1 {{'hfta.task' must be a #hfta.task attribute of a function}}
module attributes {hfta.task = #hfta.task<init, -1>} {
}

// -----

// expected-error@+1 {{'hfta.task' must be a #hfta.task attribute of a function}}
func.func private @f() attributes {hfta.task = "init"}

// -----

// Entries that the dictionary lacks have their initial values.
module attributes {hfta.job = {name = "j", training = false}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': 'bacth' is unknown}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, bacth = 4 : i64, epochs = 1 : i64,
    optimizers = [{name = "sgd"}], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}],
    seed = array<i64: 1, 2>}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': 'max' is unknown}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64,
    optimizers = [{name = "sgd"}], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}],
    seed = array<i64: 1, 2>, schedule = {max = 1.0}}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': unknown schedule 'lineal'}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64,
    optimizers = [{name = "sgd"}], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}],
    seed = array<i64: 1, 2>, schedule = {kind = "lineal"}}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': 'gamma' of a schedule must have one value a copy}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64,
    optimizers = [{name = "sgd"}], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}],
    seed = array<i64: 1, 2>, schedule = {gamma = array<f64: 0.5>, kind = "exponential"}}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': unknown option 'cubic' of a schedule}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64,
    optimizers = [{name = "sgd"}], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}],
    seed = array<i64: 1, 2>, schedule = {kind = "one_cycle", options = ["cubic"]}}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': the schedule 'sequence' lacks a part or milestone}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64,
    optimizers = [{name = "sgd"}], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}],
    seed = array<i64: 1, 2>, schedule = {kind = "sequence", milestones = array<f64: 4.0, 4.0>, parts = [{kind = "linear"}]}}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': unknown schedule 'lineal'}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64,
    optimizers = [{name = "sgd"}], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}],
    seed = array<i64: 1, 2>, schedule = {kind = "sequence", milestones = array<f64: 4.0, 4.0>, parts = [{kind = "linear"}, {kind = "lineal"}]}}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': unknown optimizer 'sdg'}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64,
    optimizers = [{name = "sdg"}], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}],
    seed = array<i64: 1, 2>}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': unknown precision 'f23'}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64,
    optimizers = [{name = "sgd"}], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}],
    seed = array<i64: 1, 2>, precision = {compute = "f23"}}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': 'compute' has at least 32 bits, got 'bf16'}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64,
    optimizers = [{name = "sgd"}], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}],
    seed = array<i64: 1, 2>, precision = {compute = "bf16"}}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': field 'x' has the unknown format 'cvs'}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64,
    optimizers = [{name = "sgd"}], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}],
    seed = array<i64: 1, 2>, data = [{name = "x", train = {format = "cvs", path = "x"}}]}} {
}
