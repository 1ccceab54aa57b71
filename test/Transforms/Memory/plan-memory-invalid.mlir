// RUN: hfta-opt %s -split-input-file -verify-diagnostics -hfta-plan-memory

hfta.variable @v {role = #hfta.role<parameter>} : tensor<4xf32>
hfta.variable @o {role = #hfta.role<output>} : tensor<4xf32>
func.func @used_after_write() attributes {hfta.task = #hfta.task<forward, 0>} {
  // expected-error@+1 {{value of 'v' is used after the variable was written}}
  %v = hfta.read @v : tensor<4xf32>
  %0 = hfta.kernel "zero"() : () -> tensor<4xf32> {
    %c = hfta.constant dense<0.0> : tensor<4xf32>
    hfta.yield %c : tensor<4xf32>
  }
  hfta.write %0, @v : tensor<4xf32>
  %1 = hfta.kernel "late"(%v) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    hfta.yield %a : tensor<4xf32>
  }
  hfta.write %1, @o : tensor<4xf32>
  return
}

// -----

hfta.variable @v {role = #hfta.role<parameter>} : tensor<4xf32, #hfta.copies<2>>
hfta.variable @o {role = #hfta.role<output>} : tensor<4xf32>
func.func @copy_used_after_write_of_all() attributes {hfta.task = #hfta.task<forward, 0>} {
  // expected-error@+1 {{value of 'v' is used after the variable was written}}
  %v = hfta.read @v copy 0 : tensor<4xf32>
  %flat = hfta.reshape %v to [2, 2] : tensor<4xf32>
  %0 = hfta.kernel "zero"() : () -> tensor<4xf32> {
    %c = hfta.constant dense<0.0> : tensor<4xf32>
    hfta.yield %c : tensor<4xf32>
  }
  hfta.write %0, @v : tensor<4xf32>
  %1 = hfta.kernel "late"(%flat) : (tensor<2x2xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<2x2xf32>):
    %2 = hfta.reshape %a to [4] : tensor<2x2xf32>
    hfta.yield %2 : tensor<4xf32>
  }
  hfta.write %1, @o : tensor<4xf32>
  return
}
