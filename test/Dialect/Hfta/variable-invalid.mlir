// RUN: hfta-opt %s -split-input-file -verify-diagnostics

// hfta.variable, C1.
// expected-error@+1 {{'hfta.variable' op attribute 'type' failed to satisfy constraint: type attribute of statically shaped tensor of any type values}}
hfta.variable @v {role = #hfta.role<parameter>} : tensor<?xf32>

// -----

// hfta.variable, C2.
// expected-error@+1 {{is trained and so must hold floats, got 'i64'}}
hfta.variable @v {role = #hfta.role<parameter>, trained} : tensor<4xi64>

// -----

// hfta.variable, C3.
// expected-error@+1 {{needs at least one instance, got 0}}
hfta.variable @v {role = #hfta.role<saved>, instances = 0 : i64} : tensor<4xf32>

// -----

// hfta.variable, C4.
// expected-error@+1 {{belongs to copy 1 alone and so must be shared, got 'tensor<4xf32, #hfta.copies<2>>'}}
hfta.variable @"v@1" {role = #hfta.role<parameter>, copy = 1 : i64} : tensor<4xf32, #hfta.copies<2>>

// -----

// hfta.variable, C5.
// expected-error@+1 {{draws its initial value and so must hold floats, got 'i64'}}
hfta.variable @v {role = #hfta.role<parameter>, initial = #hfta.uniform<0.0 : f32, 1.0 : f32>} : tensor<4xi64>

// -----

// hfta.variable, C6.
// expected-error@+1 {{initial value must be elements, #hfta.uniform or #hfta.normal, got "one"}}
hfta.variable @v {role = #hfta.role<parameter>, initial = "one"} : tensor<4xf32>

// -----

// hfta.variable, C6.
// expected-error@+1 {{initial value of type 'tensor<3xf32>' does not fit 'tensor<4xf32>'}}
hfta.variable @v {role = #hfta.role<parameter>, initial = dense<0.0> : tensor<3xf32>} : tensor<4xf32>

// -----

// hfta.variable, C6.
// expected-error@+1 {{initial value of type 'tensor<3x4xf32>' does not fit 'tensor<4xf32, #hfta.copies<2>>'}}
hfta.variable @v {role = #hfta.role<parameter>, initial = dense<0.0> : tensor<3x4xf32>} : tensor<4xf32, #hfta.copies<2>>

// -----

// hfta.variable, C6.
// expected-error@+1 {{initial value of type 'tensor<4xf64>' does not fit 'tensor<4xf32>'}}
hfta.variable @v {role = #hfta.role<parameter>, initial = dense<0.0> : tensor<4xf64>} : tensor<4xf32>

// -----

// hfta.variable, C7.
// expected-error@+1 {{is for #hfta.purpose<step> and so has the role 'scalar', got 'input'}}
hfta.variable @step {role = #hfta.role<input>, purpose = #hfta.purpose<step>} : tensor<i64>

// -----

// hfta.variable, C8.
// expected-error@+1 {{belongs to no variable: @v}}
hfta.variable @g {role = #hfta.role<gradient>, purpose = #hfta.purpose<gradient of @v>} : tensor<4xf32>

// -----

// hfta.variable, C8.
// A function isn't a variable.
func.func private @v()
// expected-error@+1 {{belongs to no variable: @v}}
hfta.variable @s {role = #hfta.role<constant>, purpose = #hfta.purpose<initial of @v>} : tensor<4xf32>

// -----

// hfta.variable, C8.
hfta.variable @v {role = #hfta.role<statistics>} : tensor<4xf32>
// expected-error@+1 {{is for #hfta.purpose<state "momentum" of @v>, but @v is no parameter}}
hfta.variable @s {role = #hfta.role<optimizer_state>, purpose = #hfta.purpose<state "momentum" of @v>} : tensor<4xf32>

// -----

// hfta.variable, C8.
// expected-error@+1 {{is for #hfta.purpose<initial of @v>, but @v is a constant}}
hfta.variable @v {role = #hfta.role<constant>, purpose = #hfta.purpose<initial of @v>} : tensor<4xf32>

// -----

// hfta.variable, C9.
// expected-note@+1 {{declared here}}
hfta.variable @lr {role = #hfta.role<scalar>, purpose = #hfta.purpose<hyper_parameter "lr">} : tensor<f64>
hfta.variable @rate {role = #hfta.role<scalar>, purpose = #hfta.purpose<hyper_parameter "rate">} : tensor<f64>
// expected-error@+1 {{has the purpose #hfta.purpose<hyper_parameter "lr"> of another variable}}
hfta.variable @again {role = #hfta.role<scalar>, purpose = #hfta.purpose<hyper_parameter "lr">} : tensor<f64>

// -----

// hfta.variable, C9.
// Each copy has its own variable of this purpose.
hfta.variable @zero {role = #hfta.role<output>, copy = 0 : i64, purpose = #hfta.purpose<output "y">} : tensor<4xf32>
// expected-note@+1 {{declared here}}
hfta.variable @one {role = #hfta.role<output>, copy = 1 : i64, purpose = #hfta.purpose<output "y">} : tensor<4xf32>
// expected-error@+1 {{has the purpose #hfta.purpose<output "y"> of another variable}}
hfta.variable @again {role = #hfta.role<output>, copy = 1 : i64, purpose = #hfta.purpose<output "y">} : tensor<4xf32>

// -----

// hfta.variable, C9.
// This also holds in a model, and if one of the two is all copies'.
hfta.model @m copies [0, 1] {
  // expected-note@+1 {{declared here}}
  hfta.variable @y {role = #hfta.role<output>, purpose = #hfta.purpose<output "y">} : tensor<4xf32, #hfta.copies<2>>
  // expected-error@+1 {{has the purpose #hfta.purpose<output "y"> of another variable}}
  hfta.variable @"y@1" {role = #hfta.role<output>, purpose = #hfta.purpose<output "y">, copy = 1 : i64} : tensor<4xf32>
}

// -----

// #hfta.purpose, C1.
// expected-error@+1 {{purpose 'hyper_parameter' needs a name}}
hfta.variable @v {role = #hfta.role<scalar>, purpose = #hfta.purpose<hyper_parameter>} : tensor<f64>

// -----

// #hfta.purpose, C1.
// expected-error@+1 {{purpose 'step' has no name}}
hfta.variable @v {role = #hfta.role<scalar>, purpose = #hfta.purpose<step "s">} : tensor<i64>

// -----

// #hfta.purpose, C2.
// expected-error@+1 {{purpose 'norm' must be of a variable}}
hfta.variable @v {role = #hfta.role<output>, purpose = #hfta.purpose<norm>} : tensor<f64>

// -----

// #hfta.purpose, C2.
hfta.variable @w {role = #hfta.role<parameter>} : tensor<f64>
// expected-error@+1 {{purpose 'loss' is of no variable}}
hfta.variable @v {role = #hfta.role<result>, purpose = #hfta.purpose<loss of @w>} : tensor<f64>

// -----

hfta.variable @w {role = #hfta.role<parameter>} : tensor<4xf32>
// expected-error@+1 {{is for #hfta.purpose<batch_statistic "0" of @w>, but @w is no statistic}}
hfta.variable @b {role = #hfta.role<exchange>, purpose = #hfta.purpose<batch_statistic "0" of @w>} : tensor<4xf32>
