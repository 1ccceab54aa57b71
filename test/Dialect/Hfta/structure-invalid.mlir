// RUN: hfta-opt %s -split-input-file -verify-diagnostics

func.func @read() {
  // expected-error@+1 {{names no variable: @v}}
  %0 = hfta.read @v : tensor<4xf32>
  return
}

// -----

// expected-note@+1 {{variable declared here}}
hfta.variable @v {role = #hfta.role<parameter>} : tensor<4xf32, #hfta.copies<2>>
func.func @read() {
  // expected-error@+1 {{accesses @v as 'tensor<4xf32>', expected 'tensor<4xf32, #hfta.copies<2>>'}}
  %0 = hfta.read @v : tensor<4xf32>
  return
}

// -----

// expected-note@+1 {{variable declared here}}
hfta.variable @v {role = #hfta.role<parameter>} : tensor<4xf32>
func.func @write(%x: tensor<5xf32>) {
  // expected-error@+1 {{accesses @v as 'tensor<5xf32>', expected 'tensor<4xf32>'}}
  hfta.write %x, @v : tensor<5xf32>
  return
}

// -----

func.func @stack(%a: tensor<4xf32>) {
  // expected-error@+1 {{of 2 values must give as many copies, got 'tensor<4xf32, #hfta.copies<3>>'}}
  %0 = hfta.stack %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32, #hfta.copies<3>>
  return
}

// -----

func.func @stack_shape(%a: tensor<4xf32>) {
  // expected-error@+1 {{input must be 'tensor<5xf32>', got 'tensor<4xf32>'}}
  %0 = hfta.stack %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<5xf32, #hfta.copies<2>>
  return
}

// -----

func.func @unstack(%a: tensor<4xf32, #hfta.copies<2>>) {
  // expected-error@+1 {{takes copy 2 of 'tensor<4xf32, #hfta.copies<2>>'}}
  %0 = hfta.unstack %a[2] : tensor<4xf32, #hfta.copies<2>> -> tensor<4xf32>
  return
}

// -----

func.func @unstack_shared(%a: tensor<4xf32>) {
  // expected-error@+1 {{takes copy 0 of 'tensor<4xf32>'}}
  %0 = hfta.unstack %a[0] : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @unstack_result(%a: tensor<4xf32, #hfta.copies<2>>) {
  // expected-error@+1 {{must give 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0 = hfta.unstack %a[0] : tensor<4xf32, #hfta.copies<2>> -> tensor<5xf32>
  return
}

// -----

func.func @constant() {
  // expected-error@+1 {{constant must be a plain tensor, got 'tensor<4xf32, #hfta.copies<2>>'}}
  %0 = hfta.constant dense<0.0> : tensor<4xf32, #hfta.copies<2>>
  return
}

// -----

func.func @kernel_arguments(%x: tensor<4xf32>) {
  // expected-error@+1 {{has 1 inputs but 0 region arguments}}
  hfta.kernel "k"(%x) : (tensor<4xf32>) -> () {
    hfta.yield
  }
  return
}

// -----

func.func @kernel_argument_type(%x: tensor<4xf32, #hfta.copies<2>>) {
  // expected-error@+1 {{region argument must be 'tensor<4xf32>', got 'tensor<5xf32>'}}
  hfta.kernel "k"(%x) : (tensor<4xf32, #hfta.copies<2>>) -> () {
  ^bb0(%a: tensor<5xf32>):
    hfta.yield
  }
  return
}

// -----

func.func @kernel_yield(%x: tensor<4xf32>) {
  // expected-error@+1 {{has 1 results but yields 0}}
  %0 = hfta.kernel "k"(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    hfta.yield
  }
  return
}

// -----

func.func @kernel_yield_type(%x: tensor<4xf32>) {
  // expected-error@+1 {{must yield 'tensor<5xf32>', got 'tensor<4xf32>'}}
  %0 = hfta.kernel "k"(%x) : (tensor<4xf32>) -> tensor<5xf32> {
  ^bb0(%a: tensor<4xf32>):
    hfta.yield %a : tensor<4xf32>
  }
  return
}

// -----

// Planners ask each op of a kernel for its cost.
func.func @kernel_costs(%x: tensor<4xf32>) {
  // expected-error@+1 {{holds 'hfta.stack', of unknown cost}}
  %0 = hfta.kernel "k"(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %1 = hfta.stack %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32, #hfta.copies<2>>
    hfta.yield %a : tensor<4xf32>
  }
  return
}
