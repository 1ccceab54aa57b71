// RUN: hfta-opt %s -split-input-file -verify-diagnostics

func.func @shapes(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error@+1 {{operands have different shapes: 'tensor<4xf32>' and 'tensor<5xf32>'}}
  %0 = hfta.add %x, %y : tensor<4xf32>, tensor<5xf32>
  return
}

// -----

func.func @ranks(%x: tensor<4xf32>, %y: tensor<f32>) {
  // expected-error@+1 {{operands have different shapes: 'tensor<4xf32>' and 'tensor<f32>'}}
  %0 = hfta.mul %x, %y : tensor<4xf32>, tensor<f32>
  return
}

// -----

func.func @element_types(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error@+1 {{operands have different element types: 'f32' and 'f64'}}
  %0 = hfta.max %x, %y : tensor<4xf32>, tensor<4xf64>
  return
}

// -----

func.func @compared_types(%x: tensor<4xf32>, %y: tensor<4xi64>) {
  // expected-error@+1 {{operands have different element types: 'f32' and 'i64'}}
  %0 = hfta.compare less, %x, %y : tensor<4xf32>, tensor<4xi64>
  return
}

// -----

func.func @copies(%x: tensor<4xf32, #hfta.copies<2>>, %y: tensor<4xf32, #hfta.copies<3>>) {
  // expected-error@+1 {{2 and 3 copies}}
  %0 = hfta.add %x, %y : tensor<4xf32, #hfta.copies<2>>, tensor<4xf32, #hfta.copies<3>>
  return
}

// -----

func.func @shared_result(%x: tensor<4xf32, #hfta.copies<2>>) {
  // expected-error@+1 {{'hfta.neg' op result #0 must be arrayed over 2 copies, as an operand is, but is 'tensor<4xf32>'}}
  %0 = "hfta.neg"(%x) : (tensor<4xf32, #hfta.copies<2>>) -> tensor<4xf32>
  return
}

// -----

func.func @arrayed_result(%x: tensor<4xf32>) {
  // expected-error@+1 {{'hfta.neg' op result #0 must be shared, as all operands are, but is 'tensor<4xf32, #hfta.copies<2>>'}}
  %0 = "hfta.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32, #hfta.copies<2>>
  return
}

// -----

func.func @dynamic(%x: tensor<?xf32>) {
  // expected-error@+1 {{operand #0 must be statically shaped tensor of any type values, but got 'tensor<?xf32>'}}
  %0 = hfta.neg %x : tensor<?xf32>
  return
}

// -----

func.func @condition(%c: tensor<4xf32>, %x: tensor<4xf32>) {
  // expected-error@+1 {{operand #0 must be statically shaped tensor of 1-bit signless integer values}}
  %0 = hfta.select %c, %x, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @branches(%c: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error@+1 {{operands have different element types: 'f32' and 'f64'}}
  %0 = hfta.select %c, %x, %y : tensor<4xi1>, tensor<4xf32>, tensor<4xf64>
  return
}

// -----

func.func @logic(%x: tensor<4xf32>) {
  // expected-error@+1 {{operand #0 must be statically shaped tensor of 1-bit signless integer values}}
  %0 = hfta.and %x, %x : tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @cast(%x: tensor<4xf32>) {
  // expected-error@+1 {{cannot cast to 'index'}}
  %0 = hfta.cast %x : tensor<4xf32> to index
  return
}

// -----

// expected-error@+1 {{number of copies must be at least 1, got 0}}
func.func @no_copies(%x: tensor<4xf32, #hfta.copies<0>>) {
  return
}

// -----

func.func @round_to_tf32(%x: tensor<4xf64>) {
  // expected-error@+1 {{expected f32, got 'f64'}}
  %0 = hfta.round_to_tf32 %x : tensor<4xf64>
  return
}

// -----

func.func @multiply(%x: tensor<4xf32>) {
  // expected-error@+1 {{'hfta.multiply' must be the type bf16, f16 or tf32}}
  %0 = hfta.neg %x {hfta.multiply = f64} : tensor<4xf32>
  return
}

// -----

func.func @norm(%x: tensor<4xf32>) {
  // expected-error@+1 {{'hfta.norm' belongs on an hfta.sqrt and has no value}}
  %0 = hfta.rsqrt %x {hfta.norm} : tensor<4xf32>
  return
}

// -----

func.func @repeated(%x: tensor<4xf32>) {
  // expected-error@+1 {{'hfta.repeated' has no value}}
  %0 = hfta.neg %x {hfta.repeated = 1 : i64} : tensor<4xf32>
  return
}
