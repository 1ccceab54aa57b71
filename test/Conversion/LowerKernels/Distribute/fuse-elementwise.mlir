// RUN: hfta-opt %s -hfta-fuse-elementwise -split-input-file | FileCheck %s -enable-var-scope

#id = affine_map<(d0, d1) -> (d0, d1)>

// A value with other users is a result of the fused op.
// CHECK-LABEL: func.func private @several_results(
// CHECK-SAME: %[[M:[^ ,:#]+]]: tensor<8x16xf32>, %[[G:[^ ,:#]+]]: tensor<8x16xf32>)
// CHECK: %[[FUSED:[^ ,:#]+]]:2 = linalg.generic {{.*}} ins(%[[M]], %[[G]] :
// CHECK-NEXT: ^bb0(%[[A:[^ ]+]]: f32, %[[B:[^ ]+]]: f32,
// CHECK-NEXT: %[[SUM:[^ ,:#]+]] = arith.addf %[[A]], %[[B]]
// CHECK-NEXT: %[[PRODUCT:[^ ,:#]+]] = arith.mulf %[[SUM]], %[[B]]
// CHECK-NEXT: linalg.yield %[[SUM]], %[[PRODUCT]]
// CHECK-NOT: linalg.generic
// CHECK: return %[[FUSED]]#1, %[[FUSED]]#0
func.func private @several_results(%m: tensor<8x16xf32>, %g: tensor<8x16xf32>)
    -> (tensor<8x16xf32>, tensor<8x16xf32>) attributes {hfta.kernel} {
  %empty = tensor.empty() : tensor<8x16xf32>
  %moment = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m, %g : tensor<8x16xf32>, tensor<8x16xf32>) outs(%empty : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<8x16xf32>
  %update = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%moment, %g : tensor<8x16xf32>, tensor<8x16xf32>) outs(%empty : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.mulf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<8x16xf32>
  return %update, %moment : tensor<8x16xf32>, tensor<8x16xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>

// CHECK-DAG: #[[$ID:[^ ,:#]+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[$COLUMN:[^ ,:#]+]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func private @broadcast(
// CHECK-SAME: %[[X:[^ ,:#]+]]: tensor<8x16xf32>, %[[BIAS:[^ ,:#]+]]: tensor<16xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[$ID]], #[[$COLUMN]], #[[$ID]]]
// CHECK-SAME: ins(%[[X]], %[[BIAS]] :
// CHECK-NOT: linalg.generic
func.func private @broadcast(%x: tensor<8x16xf32>, %bias: tensor<16xf32>)
    -> tensor<8x16xf32> attributes {hfta.kernel} {
  %empty = tensor.empty() : tensor<8x16xf32>
  %wide = linalg.generic {indexing_maps = [#column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%bias : tensor<16xf32>) outs(%empty : tensor<8x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<8x16xf32>
  %sum = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %wide : tensor<8x16xf32>, tensor<8x16xf32>) outs(%empty : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<8x16xf32>
  return %sum : tensor<8x16xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: func.func private @into_reduction(
// CHECK-SAME: %[[X:[^ ,:#]+]]: tensor<8x16xf32>)
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[X]] :
// CHECK-NEXT: ^bb0(%[[A:[^ ]+]]: f32, %[[SUM:[^ ]+]]: f32):
// CHECK-NEXT: %[[E:[^ ,:#]+]] = math.exp %[[A]]
// CHECK-NEXT: arith.addf %[[SUM]], %[[E]]
// CHECK-NOT: linalg.generic
func.func private @into_reduction(%x: tensor<8x16xf32>) -> tensor<8xf32> attributes {hfta.kernel} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x16xf32>
  %e = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x16xf32>) outs(%empty : tensor<8x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<8x16xf32>
  %none = tensor.empty() : tensor<8xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%none : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%e : tensor<8x16xf32>) outs(%fill : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %sum : tensor<8xf32>
}

// -----

// Each element of the first op would be computed 32 times.
#lhs = affine_map<(m, k, n) -> (m, k)>
#rhs = affine_map<(m, k, n) -> (k, n)>
#out = affine_map<(m, k, n) -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func private @not_twice(
// CHECK: %[[E:[^ ,:#]+]] = linalg.generic
// CHECK: math.exp
// CHECK: linalg.generic {{.*}} ins(%[[E]],
// CHECK: math.fma
func.func private @not_twice(%x: tensor<8x16xf32>, %w: tensor<16x32xf32>) -> tensor<8x32xf32> attributes {hfta.kernel} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x16xf32>
  %e = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x16xf32>) outs(%empty : tensor<8x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<8x16xf32>
  %none = tensor.empty() : tensor<8x32xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%none : tensor<8x32xf32>) -> tensor<8x32xf32>
  %sum = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%e, %w : tensor<8x16xf32>, tensor<16x32xf32>) outs(%fill : tensor<8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = math.fma %a, %b, %o : f32
    linalg.yield %s : f32
  } -> tensor<8x32xf32>
  return %sum : tensor<8x32xf32>
}

// -----

// Elements are moved once: the transposition goes to where they stay.
// CHECK-LABEL: func.func private @pad(
// CHECK-SAME: %[[X:[^ ,:#]+]]: tensor<8x4x6xf32>)
// CHECK: %[[PACKED:[^ ,:#]+]] = linalg.transpose ins(%[[X]] : {{.*}}) outs({{.*}} : tensor<4x8x6xf32>) permutation = [1, 0, 2]
// CHECK: %[[PADDED:[^ ,:#]+]] = tensor.pad %[[PACKED]] low[1, 0, 0] high[1, 0, 0]
// CHECK: return %[[PADDED]]
func.func private @pad(%x: tensor<8x4x6xf32>) -> tensor<6x8x6xf32> attributes {hfta.kernel} {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 1, 0] high[0, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f32
  } : tensor<8x4x6xf32> to tensor<8x6x6xf32>
  %empty = tensor.empty() : tensor<6x8x6xf32>
  %packed = linalg.transpose ins(%padded : tensor<8x6x6xf32>) outs(%empty : tensor<6x8x6xf32>) permutation = [1, 0, 2]
  return %packed : tensor<6x8x6xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// Equal elements are a number, not memory.
// CHECK-LABEL: func.func private @splat(
// CHECK-SAME: %[[X:[^ ,:#]+]]: tensor<4096xf32>)
// CHECK: %[[HALF:[^ ,:#]+]] = arith.constant 5.000000e-01 : f32
// CHECK: linalg.generic {{.*}} ins(%[[X]] : tensor<4096xf32>)
// CHECK: arith.mulf %{{.*}}, %[[HALF]]
func.func private @splat(%x: tensor<4096xf32>) -> tensor<4096xf32> attributes {hfta.kernel} {
  %half = arith.constant dense<0.5> : tensor<4096xf32>
  %empty = tensor.empty() : tensor<4096xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %half : tensor<4096xf32>, tensor<4096xf32>) outs(%empty : tensor<4096xf32>) {
  ^bb0(%a: f32, %h: f32, %o: f32):
    %s = arith.mulf %a, %h : f32
    linalg.yield %s : f32
  } -> tensor<4096xf32>
  return %r : tensor<4096xf32>
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>

// The zeros that are added to the sums become a number. Otherwise the sums would
// have to start in a copy of them.
// CHECK-LABEL: func.func private @filled(
// CHECK: %[[ZERO:[^ ,:#]+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[FILL:.*]] = linalg.fill ins(%[[ZERO]]
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} outs(%[[FILL]] : tensor<8x32xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[SUM]] : tensor<8x32xf32>)
// CHECK: arith.addf %{{.*}}, %[[ZERO]]
func.func private @filled(%x: tensor<8x16xf32>, %w: tensor<16x32xf32>) -> tensor<8x32xf32> attributes {hfta.kernel} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x32xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x32xf32>) -> tensor<8x32xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                         iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8x16xf32>, tensor<16x32xf32>) outs(%fill : tensor<8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = math.fma %a, %b, %o : f32
    linalg.yield %s : f32
  } -> tensor<8x32xf32>
  %r = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%fill, %sum : tensor<8x32xf32>, tensor<8x32xf32>) outs(%empty : tensor<8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<8x32xf32>
  return %r : tensor<8x32xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A difference from the mean is computed again by each user, and never stored.
// CHECK-LABEL: func.func private @repeated(
// CHECK-SAME: %[[X:[^ ,:#]+]]: tensor<8x16xf32>, %[[MEAN:[^ ,:#]+]]: tensor<8xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[MEAN]] :
// CHECK: arith.subf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.addf
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[MEAN]], %
// CHECK: arith.subf
// CHECK-NEXT: arith.mulf
// CHECK-NOT: linalg.generic
func.func private @repeated(%x: tensor<8x16xf32>, %mean: tensor<8xf32>) -> tensor<8x16xf32>
    attributes {hfta.kernel} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x16xf32>
  %centered = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %mean : tensor<8x16xf32>, tensor<8xf32>) outs(%empty : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<8x16xf32>
  %rows = tensor.empty() : tensor<8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%rows : tensor<8xf32>) -> tensor<8xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%centered : tensor<8x16xf32>) outs(%start : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.mulf %a, %a : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %scaled = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%centered, %squares : tensor<8x16xf32>, tensor<8xf32>) outs(%empty : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<8x16xf32>
  return %scaled : tensor<8x16xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// A value that two operands are computed from is computed once, not for each.
// CHECK-LABEL: func.func private @diamond(
// CHECK: linalg.generic {{.*}} ins(%{{[^ ,]+}} : tensor<8xf32>)
// CHECK: math.exp
// CHECK-NEXT: math.sqrt
// CHECK-NEXT: math.log
// CHECK-NEXT: arith.mulf
// CHECK-NOT: math
// CHECK-NOT: linalg.generic
func.func private @diamond(%x: tensor<8xf32>) -> tensor<8xf32> attributes {hfta.kernel} {
  %empty = tensor.empty() : tensor<8xf32>
  %top = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  } -> tensor<8xf32>
  %left = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%top : tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %l = math.log %a : f32
    linalg.yield %l : f32
  } -> tensor<8xf32>
  %right = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%top : tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.sqrt %a : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %bottom = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%left, %right : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<8xf32>
  return %bottom : tensor<8xf32>
}
