// RUN: hfta-opt %s -split-input-file -verify-diagnostics

func.func @C1_rank(%x: tensor<8x27xf32>, %l: tensor<8x10xi64>, %n: tensor<8xi64>) {
  // expected-error@+1 {{expected [sequences, steps, classes], got 'tensor<8x27xf32>'}}
  %0, %1 = hfta.ctc_loss %x, %l, %n {blank = 0 : i64} : tensor<8x27xf32>, tensor<8x10xi64>, tensor<8xi64>
  return
}

// -----

func.func @C1_steps(%x: tensor<8x0x27xf32>, %l: tensor<8x10xi64>, %n: tensor<8xi64>) {
  // expected-error@+1 {{expected [sequences, steps, classes], got 'tensor<8x0x27xf32>'}}
  %0, %1 = hfta.ctc_loss %x, %l, %n {blank = 0 : i64} : tensor<8x0x27xf32>, tensor<8x10xi64>, tensor<8xi64>
  return
}

// -----

func.func @C2_sequences(%x: tensor<8x50x27xf32>, %l: tensor<7x10xi64>, %n: tensor<8xi64>) {
  // expected-error@+1 {{expected labels of 8 sequences, got 'tensor<7x10xi64>'}}
  %0, %1 = hfta.ctc_loss %x, %l, %n {blank = 0 : i64} : tensor<8x50x27xf32>, tensor<7x10xi64>, tensor<8xi64>
  return
}

// -----

func.func @C2_elements(%x: tensor<8x50x27xf32>, %l: tensor<8x0xi64>, %n: tensor<8xi64>) {
  // expected-error@+1 {{expected labels of 8 sequences, got 'tensor<8x0xi64>'}}
  %0, %1 = hfta.ctc_loss %x, %l, %n {blank = 0 : i64} : tensor<8x50x27xf32>, tensor<8x0xi64>, tensor<8xi64>
  return
}

// -----

func.func @C3_labels(%x: tensor<8x50x27xf32>, %l: tensor<8x10xi64>, %n: tensor<8x1xi64>) {
  // expected-error@+1 {{expected label lengths of 8 sequences, got 'tensor<8x1xi64>'}}
  %0, %1 = hfta.ctc_loss %x, %l, %n {blank = 0 : i64} : tensor<8x50x27xf32>, tensor<8x10xi64>, tensor<8x1xi64>
  return
}

// -----

func.func @C3_inputs(%x: tensor<8x50x27xf32>, %l: tensor<8x10xi64>, %n: tensor<8xi64>, %t: tensor<9xi64>) {
  // expected-error@+1 {{expected input lengths of 8 sequences, got 'tensor<9xi64>'}}
  %0, %1 = hfta.ctc_loss %x, %l, %n, %t {blank = 0 : i64} : tensor<8x50x27xf32>, tensor<8x10xi64>, tensor<8xi64>, tensor<9xi64>
  return
}

// -----

func.func @C4_blank(%x: tensor<8x50x27xf32>, %l: tensor<8x10xi64>, %n: tensor<8xi64>) {
  // expected-error@+1 {{'blank' is none of 27 classes, got 27}}
  %0, %1 = hfta.ctc_loss %x, %l, %n {blank = 27 : i64} : tensor<8x50x27xf32>, tensor<8x10xi64>, tensor<8xi64>
  return
}
