// RUN: hfta-opt %s -split-input-file -verify-diagnostics -convert-hfta-to-linalg

func.func @composite(%x: tensor<4x5xf32>) -> tensor<4x5xf32> {
  // expected-error@+1 {{'hfta.softmax' op must be decomposed before it is lowered}}
  %0 = hfta.softmax %x along 1 : tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// -----

// expected-error@+1 {{'func.func' op has arrayed arguments, but a kernel computes one copy}}
func.func @arrayed(%x: tensor<4xf32, #hfta.copies<2>>) {
  return
}

// -----

func.func @stacked(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'hfta.stack' op has an arrayed result in a kernel}}
  %0 = hfta.stack %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32, #hfta.copies<2>>
  %1 = hfta.unstack %0[1] : tensor<4xf32, #hfta.copies<2>> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

hfta.variable @x {role = #hfta.role<input>} : tensor<4xf32>

func.func @variable() -> tensor<4xf32> {
  // expected-error@+1 {{failed to legalize operation 'hfta.read'}}
  %0 = hfta.read @x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
