// RUN: hfta-opt %s -split-input-file -verify-diagnostics

// expected-error@+2 {{failed to parse Hfta_RoleAttr parameter 'value'}}
// expected-error@+1 {{expected ::mlir::hfta::Role to be one of}}
hfta.variable @v {role = #hfta.role<weight>} : tensor<4xf32>

// -----

hfta.variable @v {role = #hfta.role<parameter>} : tensor<4xf32, #hfta.copies<2>>
func.func @read_copy() {
  // expected-error@+1 {{accesses copy 2 of @v, which is 'tensor<4xf32, #hfta.copies<2>>'}}
  %0 = hfta.read @v copy 2 : tensor<4xf32>
  return
}

// -----

hfta.variable @v {role = #hfta.role<parameter>} : tensor<4xf32>
func.func @read_copy_of_shared() {
  // expected-error@+1 {{accesses copy 0 of @v, which is 'tensor<4xf32>'}}
  %0 = hfta.read @v copy 0 : tensor<4xf32>
  return
}

// -----

// expected-note@+1 {{variable declared here}}
hfta.variable @v {role = #hfta.role<parameter>} : tensor<4xf32, #hfta.copies<2>>
func.func @read_copy_type() {
  // expected-error@+1 {{accesses @v as 'tensor<4xf32, #hfta.copies<2>>', expected 'tensor<4xf32>'}}
  %0 = hfta.read @v copy 1 : tensor<4xf32, #hfta.copies<2>>
  return
}

// -----

func.func @write(%x: tensor<4xf32>) {
  // expected-error@+1 {{names no variable: @v}}
  hfta.write %x, @v : tensor<4xf32>
  return
}

// -----

hfta.variable @v {role = #hfta.role<parameter>} : tensor<4xf32, #hfta.copies<2>>
func.func @write_copy(%x: tensor<4xf32>) {
  // expected-error@+1 {{accesses copy 5 of @v}}
  hfta.write %x, @v copy 5 : tensor<4xf32>
  return
}

// -----

// expected-note@+1 {{variable declared here}}
hfta.variable @v {role = #hfta.role<parameter>} : tensor<4xf32>
func.func @write_arrayed(%x: tensor<4xf32, #hfta.copies<2>>) {
  // expected-error@+1 {{accesses @v as 'tensor<4xf32, #hfta.copies<2>>', expected 'tensor<4xf32>'}}
  hfta.write %x, @v : tensor<4xf32, #hfta.copies<2>>
  return
}

// -----

// A shared value goes to every copy, and to one.
hfta.variable @v {role = #hfta.role<parameter>} : tensor<4xf32, #hfta.copies<2>>
func.func @write_shared(%x: tensor<4xf32>) {
  hfta.write %x, @v : tensor<4xf32>
  hfta.write %x, @v copy 1 : tensor<4xf32>
  return
}

// -----

func.func @kernel_sees_inside_only(%x: tensor<4xf32>) {
  // expected-note@+1 {{required by region isolation constraints}}
  %0 = hfta.kernel "k"() : () -> tensor<4xf32> {
    // expected-error@+1 {{'hfta.neg' op using value defined outside the region}}
    %1 = hfta.neg %x : tensor<4xf32>
    hfta.yield %1 : tensor<4xf32>
  }
  return
}

// -----

func.func @kernel_without_yield() {
  // expected-error@+1 {{must end in hfta.yield}}
  %0 = hfta.kernel "k"() : () -> tensor<4xf32> {
    %1 = hfta.constant dense<0.0> : tensor<4xf32>
  }
  return
}

// -----

func.func @yield_outside(%x: tensor<4xf32>) {
  // expected-error@+1 {{'hfta.yield' op expects parent op 'hfta.kernel'}}
  "hfta.yield"(%x) : (tensor<4xf32>) -> ()
}

// -----

func.func @launch() {
  // expected-error@+1 {{names no kernel: @k}}
  hfta.launch @k on [#hfta.binding<0, 0, 64>] inputs 1 written [0]
  return
}

// -----

func.func @launch_bindings() {
  // expected-error@+1 {{attribute 'bindings' failed to satisfy constraint: bindings}}
  "hfta.launch"() {kernel = @launch_bindings, bindings = [1], inputs = 1 : i64, written = array<i64: 0>} : () -> ()
  return
}
