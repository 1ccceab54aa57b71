// RUN: hfta-opt %s -verify-diagnostics -hfta-emulate-gpu

llvm.func @k(%x: !llvm.ptr) attributes {nvvm.kernel} {
  // expected-error @+1 {{isn't emulated}}
  nvvm.barrier0
  llvm.return
}
