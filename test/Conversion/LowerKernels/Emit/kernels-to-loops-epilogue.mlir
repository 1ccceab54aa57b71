// RUN: hfta-opt %s -hfta-set-target=options=cpu=x86-64-v3 -hfta-kernels-to-loops -split-input-file | FileCheck %s -check-prefix=RAW -enable-var-scope
// RUN: hfta-opt %s -hfta-set-target=options=cpu=x86-64-v3 -hfta-kernels-to-loops -hfta-verify-sum-order="erase-marks=true" -canonicalize -cse -split-input-file | FileCheck %s -enable-var-scope

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#all = affine_map<(m, n) -> (m, n)>
#column = affine_map<(m, n) -> (n)>

// A bias and a residual are added, and a maximum taken, before sums are stored:
// they need no memory of their own.
// CHECK-LABEL: func.func private @bias(
// CHECK-SAME: %[[BIAS:[^ ,:#]+]]: memref<8xf32>, %[[R:[^ ,:#]+]]: memref<6x8xf32>, %[[OUT:[^ ,:#]+]]: memref<4x6x8xf32>, %[[ITEM:[^ ,:#]+]]: index
// CHECK-NOT: memref.alloc
// CHECK: %[[PART:.*]] = memref.subview %[[OUT]][%[[ITEM]], 0, 0]
// CHECK: %[[SUMS:.*]]:6 = scf.for
// CHECK: %[[B:.*]] = vector.load %[[BIAS]][%c0] : memref<8xf32>, vector<8xf32>
// CHECK: %[[FIRST:.*]] = vector.load %[[R]][%c0, %c0]
// CHECK: %[[BIASED:.*]] = arith.addf %[[SUMS]]#0, %[[B]] : vector<8xf32>
// CHECK: %[[SUM:.*]] = arith.addf %[[BIASED]], %[[FIRST]] : vector<8xf32>
// CHECK: %[[MAX:.*]] = arith.maximumf %[[SUM]], %cst : vector<8xf32>
// CHECK-NEXT: vector.store %[[MAX]], %[[PART]][%c0, %c0]
// CHECK-COUNT-5: vector.store %{{.*}}, %[[PART]]
// CHECK-NOT: vector.store
// CHECK: return
func.func private @bias(%x: memref<6x40xf32>, %w: memref<40x8xf32>, %bias: memref<8xf32>, %residual: memref<6x8xf32>, %out: memref<4x6x8xf32>,
                        %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 4 : i64} {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<6x8xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<6x8xf32>)
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<6x40xf32>, memref<40x8xf32>) outs(%sum : memref<6x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = math.fma %a, %b, %o : f32
    linalg.yield %s : f32
  }
  %part = memref.subview %out[%item, 0, 0] [1, 6, 8] [1, 1, 1] : memref<4x6x8xf32> to memref<6x8xf32, strided<[8, 1], offset: ?>>
  linalg.generic {indexing_maps = [#all, #column, #all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %bias, %residual : memref<6x8xf32>, memref<8xf32>, memref<6x8xf32>) outs(%part : memref<6x8xf32, strided<[8, 1], offset: ?>>) {
  ^bb0(%a: f32, %b: f32, %r: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    %t = arith.addf %s, %r : f32
    %u = arith.maximumf %t, %zero : f32
    linalg.yield %u : f32
  }
  return
}

// -----

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#all = affine_map<(m, n) -> (m, n)>
#turned = affine_map<(m, n) -> (n, m)>

// The sums stay apart if the result replaces what the product or the op reads,
// if vectors would read scattered elements, or if the op is much code, which
// each vector of a tile would repeat.
// CHECK-LABEL: func.func private @over_factor(
// CHECK: memref.alloc() : memref<8x8xf32>
// CHECK-LABEL: func.func private @over_residual(
// CHECK: memref.alloc() : memref<8x8xf32>
// CHECK-LABEL: func.func private @turned(
// CHECK: memref.alloc() : memref<8x8xf32>
// CHECK-LABEL: func.func private @costly(
// CHECK: memref.alloc() : memref<8x8xf32>
func.func private @over_factor(%x: memref<8x8xf32>, %w: memref<8x8xf32>, %bias: memref<8x8xf32>,
                               %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<8x8xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<8x8xf32>)
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<8x8xf32>, memref<8x8xf32>) outs(%sum : memref<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = math.fma %a, %b, %o : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %bias : memref<8x8xf32>, memref<8x8xf32>) outs(%x : memref<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

func.func private @over_residual(%x: memref<8x8xf32>, %w: memref<8x8xf32>, %bias: memref<8x8xf32>,
                                 %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<8x8xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<8x8xf32>)
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<8x8xf32>, memref<8x8xf32>) outs(%sum : memref<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = math.fma %a, %b, %o : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %bias : memref<8x8xf32>, memref<8x8xf32>) outs(%bias : memref<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

func.func private @turned(%x: memref<8x8xf32>, %w: memref<8x8xf32>, %bias: memref<8x8xf32>, %out: memref<8x8xf32>,
                          %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<8x8xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<8x8xf32>)
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<8x8xf32>, memref<8x8xf32>) outs(%sum : memref<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = math.fma %a, %b, %o : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#all, #turned, #all], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %bias : memref<8x8xf32>, memref<8x8xf32>) outs(%out : memref<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

func.func private @costly(%x: memref<8x8xf32>, %w: memref<8x8xf32>, %out: memref<8x8xf32>,
                          %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<8x8xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<8x8xf32>)
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<8x8xf32>, memref<8x8xf32>) outs(%sum : memref<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = math.fma %a, %b, %o : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%sum : memref<8x8xf32>) outs(%out : memref<8x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.erf %a : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#lhs = affine_map<(m, h, d, k) -> (m, k)>
#rhs = affine_map<(m, h, d, k) -> (k, h, d)>
#out = affine_map<(m, h, d, k) -> (m, h, d)>
#all = affine_map<(m, h, d) -> (m, h, d)>
#head = affine_map<(m, h, d) -> (h)>

// The axes h and d are joined into rows of 96 elements. No memory is left for
// the sums, nor views of it.
// RAW-LABEL: func.func private @joined(
// RAW-NOT: memref.alloc
// RAW: vector.store {{.*}} : memref<6x96xf32>, vector<8xf32>
// RAW-LABEL: func.func private @head(
func.func private @joined(%x: memref<6x64xf32>, %w: memref<64x32x3xf32>, %residual: memref<6x32x3xf32>, %out: memref<6x32x3xf32>,
                          %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<6x32x3xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<6x32x3xf32>)
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<6x64xf32>, memref<64x32x3xf32>) outs(%sum : memref<6x32x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = math.fma %a, %b, %o : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%sum, %residual : memref<6x32x3xf32>, memref<6x32x3xf32>) outs(%out : memref<6x32x3xf32>) {
  ^bb0(%a: f32, %r: f32, %o: f32):
    %s = arith.addf %a, %r : f32
    linalg.yield %s : f32
  }
  return
}

// A factor for each h alone would keep these axes apart, which costs the
// product more than memory for its sums does.
// CHECK-LABEL: func.func private @head(
// CHECK: %[[SUM:.*]] = memref.alloc() : memref<6x32x3xf32>
// CHECK: %[[ROWS:.*]] = memref.collapse_shape %[[SUM]] {{.*}} into memref<6x96xf32>
// CHECK: vector.store {{.*}}, %[[ROWS]]{{.*}} : memref<6x96xf32>, vector<8xf32>
func.func private @head(%x: memref<6x64xf32>, %w: memref<64x32x3xf32>, %scale: memref<32xf32>, %out: memref<6x32x3xf32>,
                        %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<6x32x3xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<6x32x3xf32>)
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<6x64xf32>, memref<64x32x3xf32>) outs(%sum : memref<6x32x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = math.fma %a, %b, %o : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#all, #head, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%sum, %scale : memref<6x32x3xf32>, memref<32xf32>) outs(%out : memref<6x32x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.mulf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#all = affine_map<(m, n) -> (m, n)>

// Wide elements that the epilogue alone reads don't make the product's vectors
// shorter.
// CHECK-LABEL: func.func private @wide(
// CHECK: arith.addf {{.*}} : vector<8xf32>
func.func private @wide(%x: memref<6x40xf32>, %w: memref<40x8xf32>, %i: memref<6x8xi64>, %out: memref<6x8xf32>,
                        %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<6x8xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<6x8xf32>)
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<6x40xf32>, memref<40x8xf32>) outs(%sum : memref<6x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = math.fma %a, %b, %o : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %i : memref<6x8xf32>, memref<6x8xi64>) outs(%out : memref<6x8xf32>) {
  ^bb0(%a: f32, %b: i64, %o: f32):
    %c = arith.sitofp %b : i64 to f32
    %s = arith.addf %a, %c : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#all = affine_map<(m, n) -> (m, n)>
#column = affine_map<(m, n) -> (n)>

// With blocks of terms, sums are stored between blocks: they start as zeros
// before the product, which the op that could have been its epilogue follows.
// CHECK-LABEL: func.func private @blocks(
// CHECK-SAME: %[[X:[^ ,:#]+]]: memref<64x4096xf32>
// CHECK: %[[SUM:.*]] = memref.alloc() : memref<64x512xf32>
// CHECK: vector.store %cst{{[^,]*}}, %{{.*}} : memref<32768xf32>, vector<8xf32>
// CHECK: memref.load %[[X]]
// CHECK-NOT: vector.store %cst
// CHECK: arith.addf
// CHECK-NOT: vector.store %cst
// CHECK: return
func.func private @blocks(%x: memref<64x4096xf32>, %w: memref<4096x512xf32>, %bias: memref<512xf32>, %out: memref<64x512xf32>,
                          %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<64x512xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<64x512xf32>)
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<64x4096xf32>, memref<4096x512xf32>) outs(%sum : memref<64x512xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = math.fma %a, %b, %o : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#all, #column, #all], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %bias : memref<64x512xf32>, memref<512xf32>) outs(%out : memref<64x512xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}
