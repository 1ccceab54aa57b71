// RUN: hfta-opt %s -pass-pipeline='builtin.module(hfta-add-warp-group-kernels,hfta-kernels-to-threads,canonicalize,cse)' | FileCheck %s -enable-var-scope
// RUN: hfta-opt %s -pass-pipeline='builtin.module(hfta-add-warp-group-kernels,hfta-kernels-to-threads,func.func(hfta-plan-scratch,lower-affine,expand-strided-metadata,lower-affine,canonicalize,cse),convert-kernels-to-gpu,hfta-collect-gpu-code)' -o %t.mlir
// RUN: FileCheck %s -input-file=%t.mlir -enable-var-scope --check-prefix=ENTRY
// RUN: hfta-opt %t.mlir -pass-pipeline='builtin.module(builtin.module(hfta-choose-gpu-kernels{warp-groups},hfta-emulate-gpu))' | FileCheck %s --check-prefix=EMULATED

// A convolution of padded images: a tile of 64 rows is eight rows of an image, moved by the
// window's place; hardware gives zeros beyond the image. The other operand is the weights,
// whose places and channels follow each other like one loop's. A step has 64 terms, twice
// those of the tile for other chips, and there are four buffers, of 24 KiB each.
// CHECK: func.func private @"kernel/conv/warp_groups"(
// CHECK-SAME: %[[MAPS:[^:, ]+]]: !llvm.ptr) attributes {hfta.block_threads = 288 : i64, hfta.items = 1152 : i64
// CHECK-SAME: hfta.shared_bytes = 99328 : i64
// CHECK-SAME: hfta.tensor_maps = [{argument = 0 : i64, box = array<i64: 64, 8, 8, 1>, element_bytes = 2 : i64, sizes = array<i64: 64, 8, 8, 4>, steps = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 128, 1024, 8192>}
// CHECK-SAME: {argument = 1 : i64, box = array<i64: 64, 128>, element_bytes = 2 : i64, sizes = array<i64: 576, 128>, steps = array<i64: 1, 1>, strides = array<i64: 2, 1152>}]

// One thread prepares barriers: a buffer is full when its bytes are there, and empty when eight
// warps say so.
// CHECK-DAG: %[[NONE:.+]] = arith.constant 0 : index
// CHECK-DAG: %[[CONSUMERS:.+]] = arith.constant 256 : index
// CHECK: %[[IS_FIRST:.+]] = arith.cmpi eq, %[[THREAD:.+]], %[[NONE]]
// CHECK: scf.if %[[IS_FIRST]]
// CHECK-COUNT-4: hfta_gpu.init_mbarrier %{{.+}} arrivals 1{{$}}
// CHECK-COUNT-4: hfta_gpu.init_mbarrier %{{.+}} arrivals 8{{$}}
// CHECK-NOT: hfta_gpu.init_mbarrier
// CHECK: hfta_gpu.publish_mbarriers
// CHECK: hfta_gpu.barrier

// The producer is the thread after all others.
// CHECK: %[[IS_PRODUCER:.+]] = arith.cmpi eq, %[[THREAD]], %[[CONSUMERS]]
// CHECK: %[[IS_CONSUMER:.+]] = arith.cmpi ult, %[[THREAD]], %[[CONSUMERS]]
// CHECK: scf.if %[[IS_PRODUCER]] {
// CHECK-NEXT: scf.for
// CHECK: hfta_gpu.wait_for_phase
// CHECK: hfta_gpu.arrive_expecting %[[FULL:.+]] bytes 24576
// CHECK: %[[IS_APART:.+]] = llvm.load
// CHECK: %[[COPY:.+]] = hfta_gpu.position copy
// CHECK: %[[OF_COPY:.+]] = llvm.mul %[[COPY]], %[[IS_APART]]
// CHECK: hfta_gpu.begin_box_copy %{{.+}} from %[[MAPS]] map 0 at(%{{[^,]+}}, %{{[^,]+}}, %{{[^,]+}}, %{{[^,]+}}, %[[OF_COPY]]) counts %[[FULL]]
// CHECK: hfta_gpu.begin_box_copy %{{.+}} from %[[MAPS]] map 1 at(%{{[^,]+}}, %{{[^,]+}}, %{{[^,]+}}) counts %[[FULL]]
// CHECK-NOT: hfta_gpu.begin_box_copy

// Consumers have one step's products under way while they wait for the next one's operands, and
// release the buffer of the step before.
// CHECK: scf.if %[[IS_CONSUMER]] {
// CHECK: %{{.+}}:32 = scf.for
// CHECK: hfta_gpu.wait_for_phase
// CHECK: hfta_gpu.begin_products
// CHECK-COUNT-4: hfta_gpu.multiply_shared
// CHECK: hfta_gpu.commit_products
// CHECK-NEXT: hfta_gpu.wait_for_product_groups but 1
// CHECK: scf.if
// CHECK: hfta_gpu.arrive %
// CHECK: scf.yield
// CHECK: hfta_gpu.wait_for_products
// CHECK: hfta_gpu.barrier number 1 threads 256

// Terms after the last one are zeros if a map ends with them in both operands: 72 terms are
// three steps of 32; the places of two loops that follow each other are those of one loop.
// CHECK: func.func private @"kernel/ends/warp_groups"(
// CHECK-SAME: {argument = 0 : i64, box = array<i64: 32, 64>, element_bytes = 2 : i64, sizes = array<i64: 72, 200>, steps = array<i64: 1, 1>, strides = array<i64: 2, 144>}
// CHECK-SAME: {argument = 1 : i64, box = array<i64: 32, 64>, element_bytes = 2 : i64, sizes = array<i64: 72, 64>

// The maps are the entry's last parameter, where hardware reads them; memory is asked for.
// ENTRY: llvm.func internal @"kernel/conv"
// ENTRY-SAME: hfta.warp_group_launch = {hfta.block_threads = 288 : i64, hfta.shared_bytes = 99328 : i64, hfta.tensor_maps = [{argument = 0
// ENTRY: llvm.mlir.global external @shared_{{[0-9]+}}() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
// ENTRY: llvm.func @conv$warp_groups(
// ENTRY-SAME: {llvm.align = 64 : i64, llvm.byval = !llvm.array<320 x i8>}) attributes {hfta.map_count = 2 : i32, hfta.shared_bytes = 99328 : i64, hfta.warp_groups_of = @conv, hfta_gpu.entry, hfta_gpu.threads = 288 : i32}

// EMULATED-DAG: llvm.mlir.global external constant @hfta_emulated_shared_bytes(99328 : i64)
// EMULATED-DAG: llvm.mlir.global external constant @conv$maps(2 : i32)
// EMULATED: llvm.func internal @conv(
// EMULATED-NOT: llvm.byval
#same = affine_map<(a, b, c, d) -> (a, b, c, d)>
#weight = affine_map<(a, b, c) -> (a, b, c)>
#flat = affine_map<(a, b) -> (a, b)>
func.func private @"kernel/conv"(%x: tensor<4x8x8x64xbf16>, %w: tensor<128x3x3x64xbf16>) -> tensor<4x8x8x128xf32> attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : bf16
  %padded = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %none : bf16
  } : tensor<4x8x8x64xbf16> to tensor<4x10x10x64xbf16>
  %xe = tensor.empty() : tensor<4x10x10x64xf32>
  %images = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%padded : tensor<4x10x10x64xbf16>) outs(%xe : tensor<4x10x10x64xf32>) {
  ^bb0(%a: bf16, %b: f32):
    %e = arith.extf %a : bf16 to f32
    linalg.yield %e : f32
  } -> tensor<4x10x10x64xf32>
  %we = tensor.empty() : tensor<128x3x3x64xf32>
  %weights = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%w : tensor<128x3x3x64xbf16>) outs(%we : tensor<128x3x3x64xf32>) {
  ^bb0(%a: bf16, %b: f32):
    %e = arith.extf %a : bf16 to f32
    linalg.yield %e : f32
  } -> tensor<128x3x3x64xf32>
  %empty = tensor.empty() : tensor<4x8x8x128xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x8x8x128xf32>) -> tensor<4x8x8x128xf32>
  %product = linalg.generic {hfta.multiply = bf16, hfta.tile = array<i64: 64, 128, 32, 4, 8, 1>,
      indexing_maps = [affine_map<(n, h, w, o, i, j, c) -> (n, h + i, w + j, c)>,
                       affine_map<(n, h, w, o, i, j, c) -> (o, i, j, c)>,
                       affine_map<(n, h, w, o, i, j, c) -> (n, h, w, o)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%images, %weights : tensor<4x10x10x64xf32>, tensor<128x3x3x64xf32>) outs(%zeros : tensor<4x8x8x128xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %n = math.fma %a, %b, %s : f32
    linalg.yield %n : f32
  } -> tensor<4x8x8x128xf32>
  return %product : tensor<4x8x8x128xf32>
}

func.func private @"kernel/ends"(%x: tensor<2x100x72xbf16>, %w: tensor<64x72xbf16>) -> tensor<2x100x64xf32> attributes {hfta.kernel, hfta.ties = array<i64: -1>} {
  %zero = arith.constant 0.0 : f32
  %xe = tensor.empty() : tensor<2x100x72xf32>
  %rows = linalg.generic {indexing_maps = [#weight, #weight], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<2x100x72xbf16>) outs(%xe : tensor<2x100x72xf32>) {
  ^bb0(%a: bf16, %b: f32):
    %e = arith.extf %a : bf16 to f32
    linalg.yield %e : f32
  } -> tensor<2x100x72xf32>
  %we = tensor.empty() : tensor<64x72xf32>
  %columns = linalg.generic {indexing_maps = [#flat, #flat], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<64x72xbf16>) outs(%we : tensor<64x72xf32>) {
  ^bb0(%a: bf16, %b: f32):
    %e = arith.extf %a : bf16 to f32
    linalg.yield %e : f32
  } -> tensor<64x72xf32>
  %empty = tensor.empty() : tensor<2x100x64xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x100x64xf32>) -> tensor<2x100x64xf32>
  %product = linalg.generic {hfta.multiply = bf16, hfta.tile = array<i64: 64, 64, 32, 4, 4, 1>,
      indexing_maps = [affine_map<(n, h, o, c) -> (n, h, c)>, affine_map<(n, h, o, c) -> (o, c)>, affine_map<(n, h, o, c) -> (n, h, o)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%rows, %columns : tensor<2x100x72xf32>, tensor<64x72xf32>) outs(%zeros : tensor<2x100x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %n = math.fma %a, %b, %s : f32
    linalg.yield %n : f32
  } -> tensor<2x100x64xf32>
  return %product : tensor<2x100x64xf32>
}
