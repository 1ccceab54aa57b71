// RUN: hfta-opt %s -hfta-set-target="options=cpu=x86-64-v3 last-cache-bytes=5333248" -hfta-kernels-to-loops -hfta-verify-sum-order="erase-marks=true" -canonicalize -cse -split-input-file | FileCheck %s -enable-var-scope
// RUN: hfta-opt %s -hfta-set-target="options=cpu=x86-64-v4 last-cache-bytes=5333248" -hfta-kernels-to-loops -hfta-verify-sum-order="erase-marks=true" -canonicalize -cse -split-input-file | FileCheck %s -check-prefix=CHECK-WIDE

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Full vectors go past the caches from the first aligned
// address of each row on; of the vectors at its ends, only lanes are stored that
// these leave.
// CHECK-LABEL: func.func private @large(
// CHECK-SAME: %[[X:[^ ,:#]+]]: memref<1024x1001xf32>, %{{.*}}: memref<1024xf32>, %[[OUT:[^ ,:#]+]]: memref<1024x1001xf32>
// CHECK: scf.for %[[I:[^ ,:#]+]] =
// CHECK: %[[PAST:[^ ,:#]+]] = arith.remui %{{.*}}, %c8
// CHECK: %[[LEFT:[^ ,:#]+]] = arith.subi %c8, %[[PAST]]
// CHECK: %[[LEAD:[^ ,:#]+]] = arith.remui %[[LEFT]], %c8
// CHECK: %[[FIRST:[^ ,:#]+]] = arith.cmpi ugt
// CHECK: vector.maskedstore %[[OUT]][%[[I]], %c0], %[[FIRST]]
// CHECK: scf.for %[[J:[^ ,:#]+]] = %[[LEAD]] to %c970 step %c32
// CHECK: vector.load %[[X]][%[[I]], %[[J]]] : memref<1024x1001xf32>, vector<8xf32>
// CHECK-COUNT-4: vector.store {{.*}} {alignment = 32 : i64, nontemporal = true}
// CHECK: scf.for
// CHECK: vector.store {{.*}} {alignment = 32 : i64, nontemporal = true}
// CHECK: %[[LAST:[^ ,:#]+]] = arith.cmpi ule
// CHECK: vector.maskedstore %[[OUT]][%[[I]], %c993], %[[LAST]]
func.func private @large(%x: memref<1024x1001xf32>, %y: memref<1024xf32>, %out: memref<1024x1001xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : memref<1024x1001xf32>, memref<1024xf32>) outs(%out : memref<1024x1001xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0) -> (d0)>

// A value that is read before it is written is in a cache anyway.
// CHECK-LABEL: func.func private @in_place(
// CHECK-NOT: nontemporal
func.func private @in_place(%x: memref<16777216xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%x : memref<16777216xf32>) {
  ^bb0(%o: f32):
    %s = arith.addf %o, %o : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0) -> (d0)>

// The next kernel finds this in a cache.
// CHECK-LABEL: func.func private @small(
// CHECK-NOT: nontemporal
func.func private @small(%x: memref<65536xf32>, %out: memref<65536xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<65536xf32>) outs(%out : memref<65536xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#channel = affine_map<(d0, d1, d2) -> (d2)>

// Rows of whole vectors are aligned as they come, in a part of the result too.
// CHECK-LABEL: func.func private @channels_last(
// CHECK-NOT: vector.maskedstore
// CHECK: vector.store {{.*}} {alignment = 32 : i64, nontemporal = true}
// CHECK-NOT: vector.maskedstore
func.func private @channels_last(%x: memref<64x512x64xf32>, %y: memref<64xf32>, %out: memref<64x512x64xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 64 : i64} {
  %from = memref.subview %x[%item, 0, 0] [1, 512, 64] [1, 1, 1] : memref<64x512x64xf32> to memref<1x512x64xf32, strided<[32768, 64, 1], offset: ?>>
  %to = memref.subview %out[%item, 0, 0] [1, 512, 64] [1, 1, 1] : memref<64x512x64xf32> to memref<1x512x64xf32, strided<[32768, 64, 1], offset: ?>>
  linalg.generic {indexing_maps = [#id, #channel, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%from, %y : memref<1x512x64xf32, strided<[32768, 64, 1], offset: ?>>, memref<64xf32>) outs(%to : memref<1x512x64xf32, strided<[32768, 64, 1], offset: ?>>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Rows that begin at multiples of 32 bytes are stored in vectors of as many,
// also in the last of several passes.
// CHECK-WIDE-LABEL: func.func private @half_lines(
// CHECK-WIDE-COUNT-4: vector.store {{.*}} {alignment = 32 : i64, nontemporal = true} : memref<1024x1000xf32>, vector<8xf32>
func.func private @half_lines(%x: memref<1024x1000xf32>, %out: memref<1024x1000xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  %sums = memref.alloc() : memref<1024xf32>
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sums : memref<1024x1000xf32>, memref<1024xf32>) outs(%out : memref<1024x1000xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Stores at the ends of rows would keep the next passes waiting.
// CHECK-WIDE-LABEL: func.func private @passes_over_odd_rows(
// CHECK-WIDE-NOT: nontemporal
func.func private @passes_over_odd_rows(%x: memref<1024x1001xf32>, %out: memref<1024x1001xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  %sums = memref.alloc() : memref<1024xf32>
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sums : memref<1024x1001xf32>, memref<1024xf32>) outs(%out : memref<1024x1001xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}
