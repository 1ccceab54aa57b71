// RUN: hfta-opt %s -split-input-file -verify-diagnostics

module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, micro_batches = 1 : i64, epochs = 1 : i64, steps = 0 : i64, training = true, fuse = true, all_forwards_first = false, shuffle = true, order_seed = 0 : i64, optimizer = "sgd", optimizer_flags = [], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}], clip_norm = array<f64>, seed = array<i64: 1, 2>, schedule = {kind = "constant", warmup = array<f64>, step_size = array<f64>, gamma = array<f64>, minimum = array<f64>}, precision = {parameters = "f32", compute = "f32", accumulate = "f32", gradients = "f32", state = "f32"}, data = [], metric = ""}} {
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
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i32, micro_batches = 1 : i64, epochs = 1 : i64, steps = 0 : i64, training = true, fuse = true, all_forwards_first = false, shuffle = true, order_seed = 0 : i64, optimizer = "sgd", optimizer_flags = [], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}], clip_norm = array<f64>, seed = array<i64: 1, 2>, schedule = {kind = "constant", warmup = array<f64>, step_size = array<f64>, gamma = array<f64>, minimum = array<f64>}, precision = {parameters = "f32", compute = "f32", accumulate = "f32", gradients = "f32", state = "f32"}, data = [], metric = ""}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': 'training' must be true or false}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, micro_batches = 1 : i64, epochs = 1 : i64, steps = 0 : i64, training = "yes", fuse = true, all_forwards_first = false, shuffle = true, order_seed = 0 : i64, optimizer = "sgd", optimizer_flags = [], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}], clip_norm = array<f64>, seed = array<i64: 1, 2>, schedule = {kind = "constant", warmup = array<f64>, step_size = array<f64>, gamma = array<f64>, minimum = array<f64>}, precision = {parameters = "f32", compute = "f32", accumulate = "f32", gradients = "f32", state = "f32"}, data = [], metric = ""}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': 'clip_norm' must be array<f64: …>}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, micro_batches = 1 : i64, epochs = 1 : i64, steps = 0 : i64, training = true, fuse = true, all_forwards_first = false, shuffle = true, order_seed = 0 : i64, optimizer = "sgd", optimizer_flags = [], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}], clip_norm = 1.0, seed = array<i64: 1, 2>, schedule = {kind = "constant", warmup = array<f64>, step_size = array<f64>, gamma = array<f64>, minimum = array<f64>}, precision = {parameters = "f32", compute = "f32", accumulate = "f32", gradients = "f32", state = "f32"}, data = [], metric = ""}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': 'seed' must be array<i64: …>}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, micro_batches = 1 : i64, epochs = 1 : i64, steps = 0 : i64, training = true, fuse = true, all_forwards_first = false, shuffle = true, order_seed = 0 : i64, optimizer = "sgd", optimizer_flags = [], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}], clip_norm = array<f64>, seed = [1, 2], schedule = {kind = "constant", warmup = array<f64>, step_size = array<f64>, gamma = array<f64>, minimum = array<f64>}, precision = {parameters = "f32", compute = "f32", accumulate = "f32", gradients = "f32", state = "f32"}, data = [], metric = ""}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': 'schedule' must be a dictionary}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, micro_batches = 1 : i64, epochs = 1 : i64, steps = 0 : i64, training = true, fuse = true, all_forwards_first = false, shuffle = true, order_seed = 0 : i64, optimizer = "sgd", optimizer_flags = [], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}], clip_norm = array<f64>, seed = array<i64: 1, 2>, schedule = "constant", precision = {parameters = "f32", compute = "f32", accumulate = "f32", gradients = "f32", state = "f32"}, data = [], metric = ""}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': 'gamma' must be array<f64: …>}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, micro_batches = 1 : i64, epochs = 1 : i64, steps = 0 : i64, training = true, fuse = true, all_forwards_first = false, shuffle = true, order_seed = 0 : i64, optimizer = "sgd", optimizer_flags = [], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}], clip_norm = array<f64>, seed = array<i64: 1, 2>, schedule = {kind = "constant", warmup = array<f64>, step_size = array<f64>, minimum = array<f64>}, precision = {parameters = "f32", compute = "f32", accumulate = "f32", gradients = "f32", state = "f32"}, data = [], metric = ""}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': 'data' must be an array of dictionaries}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, micro_batches = 1 : i64, epochs = 1 : i64, steps = 0 : i64, training = true, fuse = true, all_forwards_first = false, shuffle = true, order_seed = 0 : i64, optimizer = "sgd", optimizer_flags = [], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}], clip_norm = array<f64>, seed = array<i64: 1, 2>, schedule = {kind = "constant", warmup = array<f64>, step_size = array<f64>, gamma = array<f64>, minimum = array<f64>}, precision = {parameters = "f32", compute = "f32", accumulate = "f32", gradients = "f32", state = "f32"}, data = [1], metric = ""}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': 'train' must be a dictionary}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, micro_batches = 1 : i64, epochs = 1 : i64, steps = 0 : i64, training = true, fuse = true, all_forwards_first = false, shuffle = true, order_seed = 0 : i64, optimizer = "sgd", optimizer_flags = [], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}], clip_norm = array<f64>, seed = array<i64: 1, 2>, schedule = {kind = "constant", warmup = array<f64>, step_size = array<f64>, gamma = array<f64>, minimum = array<f64>}, precision = {parameters = "f32", compute = "f32", accumulate = "f32", gradients = "f32", state = "f32"}, data = [{name = "x"}], metric = ""}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': 'copies' must be at least 1}}
module attributes {hfta.job = {name = "j", copies = 0 : i64, batch = 4 : i64, micro_batches = 1 : i64, epochs = 1 : i64, steps = 0 : i64, training = true, fuse = true, all_forwards_first = false, shuffle = true, order_seed = 0 : i64, optimizer = "sgd", optimizer_flags = [], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}], clip_norm = array<f64>, seed = array<i64: 1, 2>, schedule = {kind = "constant", warmup = array<f64>, step_size = array<f64>, gamma = array<f64>, minimum = array<f64>}, precision = {parameters = "f32", compute = "f32", accumulate = "f32", gradients = "f32", state = "f32"}, data = [], metric = ""}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': 'batch' must be a positive multiple of 'micro_batches'}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, micro_batches = 3 : i64, epochs = 1 : i64, steps = 0 : i64, training = true, fuse = true, all_forwards_first = false, shuffle = true, order_seed = 0 : i64, optimizer = "sgd", optimizer_flags = [], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}], clip_norm = array<f64>, seed = array<i64: 1, 2>, schedule = {kind = "constant", warmup = array<f64>, step_size = array<f64>, gamma = array<f64>, minimum = array<f64>}, precision = {parameters = "f32", compute = "f32", accumulate = "f32", gradients = "f32", state = "f32"}, data = [], metric = ""}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': 'batch' must be a positive multiple of 'micro_batches'}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 0 : i64, micro_batches = 1 : i64, epochs = 1 : i64, steps = 0 : i64, training = true, fuse = true, all_forwards_first = false, shuffle = true, order_seed = 0 : i64, optimizer = "sgd", optimizer_flags = [], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}], clip_norm = array<f64>, seed = array<i64: 1, 2>, schedule = {kind = "constant", warmup = array<f64>, step_size = array<f64>, gamma = array<f64>, minimum = array<f64>}, precision = {parameters = "f32", compute = "f32", accumulate = "f32", gradients = "f32", state = "f32"}, data = [], metric = ""}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': hyper-parameter 'lr' must have one value a copy}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, micro_batches = 1 : i64, epochs = 1 : i64, steps = 0 : i64, training = true, fuse = true, all_forwards_first = false, shuffle = true, order_seed = 0 : i64, optimizer = "sgd", optimizer_flags = [], hyper_parameters = [{name = "lr", values = array<f64: 0.1>}], clip_norm = array<f64>, seed = array<i64: 1, 2>, schedule = {kind = "constant", warmup = array<f64>, step_size = array<f64>, gamma = array<f64>, minimum = array<f64>}, precision = {parameters = "f32", compute = "f32", accumulate = "f32", gradients = "f32", state = "f32"}, data = [], metric = ""}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': 'clip_norm' must have one value a copy}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, micro_batches = 1 : i64, epochs = 1 : i64, steps = 0 : i64, training = true, fuse = true, all_forwards_first = false, shuffle = true, order_seed = 0 : i64, optimizer = "sgd", optimizer_flags = [], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}], clip_norm = array<f64: 1.0>, seed = array<i64: 1, 2>, schedule = {kind = "constant", warmup = array<f64>, step_size = array<f64>, gamma = array<f64>, minimum = array<f64>}, precision = {parameters = "f32", compute = "f32", accumulate = "f32", gradients = "f32", state = "f32"}, data = [], metric = ""}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': 'seed' must have one value a copy}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, micro_batches = 1 : i64, epochs = 1 : i64, steps = 0 : i64, training = true, fuse = true, all_forwards_first = false, shuffle = true, order_seed = 0 : i64, optimizer = "sgd", optimizer_flags = [], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}], clip_norm = array<f64>, seed = array<i64: 1, 2, 3>, schedule = {kind = "constant", warmup = array<f64>, step_size = array<f64>, gamma = array<f64>, minimum = array<f64>}, precision = {parameters = "f32", compute = "f32", accumulate = "f32", gradients = "f32", state = "f32"}, data = [], metric = ""}} {
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
module attributes {hfta.job = {name = "j", training = false, fuse = true, optimizer = "", optimizer_flags = [], hyper_parameters = [], schedule = {kind = "constant", warmup = array<f64>, step_size = array<f64>, gamma = array<f64>, minimum = array<f64>}, precision = {parameters = "f32", compute = "f32", accumulate = "f32", gradients = "f32", state = "f32"}, data = [], metric = ""}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': 'bacth' is unknown}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, bacth = 4 : i64, micro_batches = 1 : i64, epochs = 1 : i64, steps = 0 : i64, training = true, fuse = true, all_forwards_first = false, shuffle = true, order_seed = 0 : i64, optimizer = "sgd", optimizer_flags = [], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}], clip_norm = array<f64>, seed = array<i64: 1, 2>, schedule = {kind = "constant", warmup = array<f64>, step_size = array<f64>, gamma = array<f64>, minimum = array<f64>}, precision = {parameters = "f32", compute = "f32", accumulate = "f32", gradients = "f32", state = "f32"}, data = [], metric = ""}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': 'max' is unknown}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, micro_batches = 1 : i64, epochs = 1 : i64, steps = 0 : i64, training = true, fuse = true, all_forwards_first = false, shuffle = true, order_seed = 0 : i64, optimizer = "sgd", optimizer_flags = [], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}], clip_norm = array<f64>, seed = array<i64: 1, 2>, schedule = {kind = "constant", warmup = array<f64>, step_size = array<f64>, gamma = array<f64>, minimum = array<f64>, max = 1.0}, precision = {parameters = "f32", compute = "f32", accumulate = "f32", gradients = "f32", state = "f32"}, data = [], metric = ""}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': unknown schedule 'linear'}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, micro_batches = 1 : i64, epochs = 1 : i64, steps = 0 : i64, training = true, fuse = true, all_forwards_first = false, shuffle = true, order_seed = 0 : i64, optimizer = "sgd", optimizer_flags = [], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}], clip_norm = array<f64>, seed = array<i64: 1, 2>, schedule = {kind = "linear", warmup = array<f64>, step_size = array<f64>, gamma = array<f64>, minimum = array<f64>}, precision = {parameters = "f32", compute = "f32", accumulate = "f32", gradients = "f32", state = "f32"}, data = [], metric = ""}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': unknown optimizer 'sdg'}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, micro_batches = 1 : i64, epochs = 1 : i64, steps = 0 : i64, training = true, fuse = true, all_forwards_first = false, shuffle = true, order_seed = 0 : i64, optimizer = "sdg", optimizer_flags = [], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}], clip_norm = array<f64>, seed = array<i64: 1, 2>, schedule = {kind = "constant", warmup = array<f64>, step_size = array<f64>, gamma = array<f64>, minimum = array<f64>}, precision = {parameters = "f32", compute = "f32", accumulate = "f32", gradients = "f32", state = "f32"}, data = [], metric = ""}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': unknown precision 'f23'}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, micro_batches = 1 : i64, epochs = 1 : i64, steps = 0 : i64, training = true, fuse = true, all_forwards_first = false, shuffle = true, order_seed = 0 : i64, optimizer = "sgd", optimizer_flags = [], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}], clip_norm = array<f64>, seed = array<i64: 1, 2>, schedule = {kind = "constant", warmup = array<f64>, step_size = array<f64>, gamma = array<f64>, minimum = array<f64>}, precision = {parameters = "f32", compute = "f23", accumulate = "f32", gradients = "f32", state = "f32"}, data = [], metric = ""}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': 'compute' has at least 32 bits, got 'bf16'}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, micro_batches = 1 : i64, epochs = 1 : i64, steps = 0 : i64, training = true, fuse = true, all_forwards_first = false, shuffle = true, order_seed = 0 : i64, optimizer = "sgd", optimizer_flags = [], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}], clip_norm = array<f64>, seed = array<i64: 1, 2>, schedule = {kind = "constant", warmup = array<f64>, step_size = array<f64>, gamma = array<f64>, minimum = array<f64>}, precision = {parameters = "f32", compute = "bf16", accumulate = "f32", gradients = "f32", state = "f32"}, data = [], metric = ""}} {
}

// -----

// expected-error@+1 {{in 'hfta.job': field 'x' has the unknown format 'cvs'}}
module attributes {hfta.job = {name = "j", copies = 2 : i64, batch = 4 : i64, micro_batches = 1 : i64, epochs = 1 : i64, steps = 0 : i64, training = true, fuse = true, all_forwards_first = false, shuffle = true, order_seed = 0 : i64, optimizer = "sgd", optimizer_flags = [], hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>}], clip_norm = array<f64>, seed = array<i64: 1, 2>, schedule = {kind = "constant", warmup = array<f64>, step_size = array<f64>, gamma = array<f64>, minimum = array<f64>}, precision = {parameters = "f32", compute = "f32", accumulate = "f32", gradients = "f32", state = "f32"}, data = [{name = "x", train = {format = "cvs", path = "x", column = 0 : i64}, test = {format = "", path = "", column = 0 : i64}, classes = array<i64>}], metric = ""}} {
}
