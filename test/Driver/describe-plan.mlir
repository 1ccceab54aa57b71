// RUN: hfta-opt %s -hfta-describe-plan -split-input-file -verify-diagnostics | FileCheck %s

#job = {name = "j", copies = 2 : i64, batch = 4 : i64, epochs = 1 : i64, optimizers = [{name = "sgd"}],
  hyper_parameters = [{name = "lr", values = array<f64: 0.1, 0.2>},
  {name = "weight_decay", values = array<f64: 0.0, 0.0>},
  {name = "momentum", values = array<f64: 0.0, 0.0>}], seed = array<i64: 1, 2>}

// Entries that the module holds already are kept. A shared kernel runs once, the other
// one for both copies: 4 + 2 * 4 flops. A parameter is read once, an activation is
// written once and read twice. Only the rows of a table that lookups read are counted.
// CHECK: hfta.plan_json =
// CHECK-SAME: \22layers\22:[]
// CHECK-SAME: \22tasks\22:[{\22activation_bytes\22:48,\22bytes_read\22:72,\22bytes_written\22:64,\22flops\22:12,\22kernels\22:3,\22launch_bytes\22:[32,64,40],\22launch_flops\22:[4,8,0],\22name\22:\22infer\22,\22parameter_bytes\22:24}]
// CHECK-SAME: \22types\22:{\22accumulate\22:\22f32\22,\22compute\22:\22f32\22,\22gradients\22:\22f32\22,\22parameters\22:\22f32\22,\22state\22:\22f32\22}
module attributes {hfta.job = #job, hfta.plan_json = "{\22layers\22:[]}", hfta.segments = [#hfta.segment<parameter, 0, 1024 bytes, 1 instances>, #hfta.segment<workspace, 0, 128 bytes, 1 instances>, #hfta.segment<output, 0, 256 bytes, 1 instances>]} {
  func.func private @"kernel/gather"(%x: tensor<100xf32>, %i: tensor<2xi64>) -> tensor<4xf32> attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
    %0 = hfta.gather %x[%i] along 0 : tensor<100xf32>, tensor<2xi64>
    %1 = hfta.concat %0, %0 along 0 : tensor<2xf32>, tensor<2xf32>
    return %1 : tensor<4xf32>
  }
  func.func private @"kernel/neg"(%x: tensor<4xf32>) -> tensor<4xf32> attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
    %0 = hfta.neg %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @"task/infer"() attributes {hfta.task = #hfta.task<infer, -1>} {
    hfta.launch @"kernel/neg" on [#hfta.binding<0, 0, 0>, #hfta.binding<1, 0, 0>] inputs 1 written [1]
    hfta.launch @"kernel/neg" on [#hfta.binding<1, 0, 0>, #hfta.binding<2, 128, 64>] inputs 1 written [1] {per_copy}
    hfta.launch @"kernel/gather" on [#hfta.binding<0, 64, 0>, #hfta.binding<2, 0, 0>, #hfta.binding<2, 64, 0>] inputs 2 written [2]
    return
  }
}

// -----

// expected-error@+1 {{module has no 'hfta.job' dictionary}}
module {
}
