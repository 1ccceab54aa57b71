// RUN: hfta-opt %s -hfta-set-target=options=cpu=x86-64-v3 -hfta-kernels-to-loops -hfta-verify-sum-order="erase-marks=true" -canonicalize -cse -split-input-file | FileCheck %s -enable-var-scope

#window = affine_map<(r, c, t) -> (r + t, c)>
#taps = affine_map<(r, c, t) -> (t, c)>
#place = affine_map<(r, c, t) -> (r, c)>

// The windows of rows share elements: LLVM gets a hint to unroll the taps.
// Terms that no two rows share need no unrolling.
// CHECK-LABEL: func.func private @overlapping_windows(
// CHECK-SAME: passthrough = ["hfta-shares-windows"]
func.func private @overlapping_windows(%x: memref<10x16xf32>, %w: memref<3x16xf32>, %out: memref<8x16xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<8x16xf32>)
  linalg.generic {indexing_maps = [#window, #taps, #place], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<10x16xf32>, memref<3x16xf32>) outs(%out : memref<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %sum = math.fma %a, %b, %o : f32
    linalg.yield %sum : f32
  }
  return
}

// CHECK-LABEL: func.func private @separate_windows(
// CHECK-NOT: passthrough
// CHECK: return
func.func private @separate_windows(%x: memref<8x3x16xf32>, %w: memref<3x16xf32>, %out: memref<8x16xf32>, %item: index, %scratch: memref<?xi8>)
    attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<8x16xf32>)
  linalg.generic {indexing_maps = [affine_map<(r, c, t) -> (r, t, c)>, #taps, #place], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<8x3x16xf32>, memref<3x16xf32>) outs(%out : memref<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %sum = math.fma %a, %b, %o : f32
    linalg.yield %sum : f32
  }
  return
}

// -----

// Gradients of weights: of outputs o, taps t and channels c, over positions p.
#window = affine_map<(o, t, c, p) -> (p * 2 + t, c)>
#position = affine_map<(o, t, c, p) -> (p, o)>
#weight = affine_map<(o, t, c, p) -> (o, t, c)>

// The windows of two taps, whose positions are two elements apart, share
// nothing. So sums take all registers, and nothing is unrolled.
// CHECK-LABEL: func.func private @windows_apart(
// CHECK-NOT: passthrough
// CHECK-NOT: memref.alloc
// CHECK: scf.for %{{.*}} = %c0 to %c6 step %c1 iter_args
// CHECK-COUNT-12: math.fma
// CHECK: scf.yield
func.func private @windows_apart(%x: memref<14x16xf32>, %g: memref<6x12xf32>, %out: memref<12x4x16xf32>, %item: index,
                        %scratch: memref<?xi8>) attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<12x4x16xf32>)
  linalg.generic {indexing_maps = [#window, #position, #weight], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %g : memref<14x16xf32>, memref<6x12xf32>) outs(%out : memref<12x4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %sum = math.fma %a, %b, %o : f32
    linalg.yield %sum : f32
  }
  return
}

// Elements of the windows of a tap are 2 KB apart, in two sets of the cache.
// They are packed for two vectors of channels, and read by all tiles of outputs.
// CHECK-LABEL: func.func private @crowded_windows(
// CHECK-SAME: %[[X:[^ ,:#]+]]: memref<129x256xf32>
// CHECK: %[[PANEL:.*]] = memref.alloc() : memref<64x16xf32>
// CHECK: scf.for %{{.*}} = %c0 to %c2 step %c1
// CHECK: scf.for %{{.*}} = %c0 to %c256 step %c16
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c1
// CHECK: vector.load %[[X]]
// CHECK: vector.store %{{.*}}, %[[PANEL]]
// CHECK: scf.for %{{.*}} = %c0 to %c60 step %c6
// CHECK-NOT: %[[X]]
// CHECK: vector.load %[[PANEL]]
// CHECK-COUNT-12: math.fma
// CHECK-NOT: %[[X]]
// CHECK: return
func.func private @crowded_windows(%x: memref<129x256xf32>, %g: memref<64x64xf32>, %out: memref<64x2x256xf32>, %item: index,
                        %scratch: memref<?xi8>) attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<64x2x256xf32>)
  linalg.generic {indexing_maps = [#window, #position, #weight], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %g : memref<129x256xf32>, memref<64x64xf32>) outs(%out : memref<64x2x256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %sum = math.fma %a, %b, %o : f32
    linalg.yield %sum : f32
  }
  return
}

// Here they are in all sets.
// CHECK-LABEL: func.func private @spread_windows(
// CHECK-NOT: memref.alloc
// CHECK: return
func.func private @spread_windows(%x: memref<129x264xf32>, %g: memref<64x64xf32>, %out: memref<64x2x264xf32>, %item: index,
                        %scratch: memref<?xi8>) attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<64x2x264xf32>)
  linalg.generic {indexing_maps = [#window, #position, #weight], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %g : memref<129x264xf32>, memref<64x64xf32>) outs(%out : memref<64x2x264xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %sum = math.fma %a, %b, %o : f32
    linalg.yield %sum : f32
  }
  return
}

// Few tiles would read a panel.
// CHECK-LABEL: func.func private @windows_of_few_outputs(
// CHECK-NOT: memref.alloc
// CHECK: return
func.func private @windows_of_few_outputs(%x: memref<129x256xf32>, %g: memref<64x24xf32>, %out: memref<24x2x256xf32>, %item: index,
                        %scratch: memref<?xi8>) attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<24x2x256xf32>)
  linalg.generic {indexing_maps = [#window, #position, #weight], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %g : memref<129x256xf32>, memref<64x24xf32>) outs(%out : memref<24x2x256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %sum = math.fma %a, %b, %o : f32
    linalg.yield %sum : f32
  }
  return
}

// -----

#window = affine_map<(o, u, v, c, n, y, x) -> (n, y + u, x + v, c)>
#position = affine_map<(o, u, v, c, n, y, x) -> (n, y, x, o)>
#weight = affine_map<(o, u, v, c, n, y, x) -> (o, u, v, c)>

// A panel takes at most half of the core's cache: terms are computed in blocks,
// which without a panel, or with a large one, would cost little less.
// CHECK-LABEL: func.func private @panel_in_cache(
// CHECK: memref.alloc() : memref<1x4x8x16xf32>
// CHECK: return
func.func private @panel_in_cache(%x: memref<256x9x9x256xf32>, %g: memref<256x8x8x512xf32>, %out: memref<512x2x2x256xf32>, %item: index,
                        %scratch: memref<?xi8>) attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<512x2x2x256xf32>)
  linalg.generic {indexing_maps = [#window, #position, #weight],
                  iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %g : memref<256x9x9x256xf32>, memref<256x8x8x512xf32>) outs(%out : memref<512x2x2x256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %sum = math.fma %a, %b, %o : f32
    linalg.yield %sum : f32
  }
  return
}

// -----

// Gradients of weights of few channels c, summed over rows y only: columns x are
// lanes of both inputs. A tile holds the gradients of two outputs, and reads each
// of its six vectors of the input once, so that twelve sums take eight reads.
#input = affine_map<(o, c, t, x, y) -> (c, y + t, x)>
#gradient = affine_map<(o, c, t, x, y) -> (o, y, x)>
#weight = affine_map<(o, c, t, x, y) -> (o, c, t, x)>

// CHECK-LABEL: func.func private @few_channels(
// CHECK: scf.for %{{.*}} = %c0 to %c12 step %c1 iter_args
// CHECK-COUNT-8: vector.load
// CHECK-NOT: vector.load
// CHECK: scf.yield
// CHECK-SAME: vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>
func.func private @few_channels(%x: memref<2x14x8xf32>, %g: memref<8x12x8xf32>, %out: memref<8x2x3x8xf32>, %item: index,
                                %scratch: memref<?xi8>) attributes {hfta.kernel, hfta.items = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<8x2x3x8xf32>)
  linalg.generic {indexing_maps = [#input, #gradient, #weight], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %g : memref<2x14x8xf32>, memref<8x12x8xf32>) outs(%out : memref<8x2x3x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %sum = math.fma %a, %b, %o : f32
    linalg.yield %sum : f32
  }
  return
}
