// RUN: hfta-opt %s -hfta-batch-matrices | FileCheck %s -enable-var-scope

hfta.variable @a {role = #hfta.role<parameter>} : tensor<1x2x3xf32, #hfta.copies<2>>
hfta.variable @b {role = #hfta.role<parameter>} : tensor<1x2x3xf32, #hfta.copies<2>>
hfta.variable @least {role = #hfta.role<scalar>} : tensor<1xf64, #hfta.copies<2>>

// Matrices of one shape are computed together; a matrix that follows from them
// is not among them.
// CHECK-LABEL: func.func @layers(
// CHECK: %[[ALL:.*]] = hfta.concat %{{.*}}, %{{.*}} along 0
// CHECK: %[[LEAST:.*]] = hfta.concat
// CHECK: %[[STEPS:.*]] = hfta.orthogonalize %[[ALL]], %[[LEAST]] by {{.*}} : tensor<2x2x3xf32, #hfta.copies<2>>, tensor<2xf64, #hfta.copies<2>>
// CHECK-DAG: hfta.slice %[[STEPS]] from [0, 0, 0] size [1, 2, 3]
// CHECK-DAG: hfta.slice %[[STEPS]] from [1, 0, 0] size [1, 2, 3]
// CHECK: hfta.orthogonalize %{{.*}} by {{.*}} : tensor<1x2x3xf32, #hfta.copies<2>>, tensor<1xf64, #hfta.copies<2>>
// CHECK-NOT: hfta.orthogonalize
// CHECK: return
func.func @layers() attributes {hfta.task = #hfta.task<update, 0>} {
  %least = hfta.read @least : tensor<1xf64, #hfta.copies<2>>
  %a = hfta.read @a : tensor<1x2x3xf32, #hfta.copies<2>>
  %x = hfta.orthogonalize %a, %least by [3.0, -4.0, 2.0] : tensor<1x2x3xf32, #hfta.copies<2>>, tensor<1xf64, #hfta.copies<2>>
  %y = hfta.orthogonalize %x, %least by [3.0, -4.0, 2.0] : tensor<1x2x3xf32, #hfta.copies<2>>, tensor<1xf64, #hfta.copies<2>>
  hfta.write %y, @a : tensor<1x2x3xf32, #hfta.copies<2>>
  %b = hfta.read @b : tensor<1x2x3xf32, #hfta.copies<2>>
  %z = hfta.orthogonalize %b, %least by [3.0, -4.0, 2.0] : tensor<1x2x3xf32, #hfta.copies<2>>, tensor<1xf64, #hfta.copies<2>>
  hfta.write %z, @b : tensor<1x2x3xf32, #hfta.copies<2>>
  return
}

// Other options are another computation.
// CHECK-LABEL: func.func @options(
// CHECK-COUNT-2: hfta.orthogonalize %{{.*}} : tensor<1x2x3xf32, #hfta.copies<2>>
// CHECK: return
func.func @options() attributes {hfta.task = #hfta.task<update, 1>} {
  %least = hfta.read @least : tensor<1xf64, #hfta.copies<2>>
  %a = hfta.read @a : tensor<1x2x3xf32, #hfta.copies<2>>
  %x = hfta.orthogonalize %a, %least by [3.0, -4.0, 2.0] : tensor<1x2x3xf32, #hfta.copies<2>>, tensor<1xf64, #hfta.copies<2>>
  hfta.write %x, @a : tensor<1x2x3xf32, #hfta.copies<2>>
  %b = hfta.read @b : tensor<1x2x3xf32, #hfta.copies<2>>
  %z = hfta.orthogonalize %b, %least added by [3.0, -4.0, 2.0] : tensor<1x2x3xf32, #hfta.copies<2>>, tensor<1xf64, #hfta.copies<2>>
  hfta.write %z, @b : tensor<1x2x3xf32, #hfta.copies<2>>
  return
}

// Ops that serve other copies stay apart, so that no copy computes another
// one's matrices along.
// CHECK-LABEL: func.func @copies(
// CHECK-COUNT-2: hfta.orthogonalize %{{.*}} : tensor<1x2x3xf32, #hfta.copies<2>>
// CHECK: return
func.func @copies() attributes {hfta.task = #hfta.task<update, 2>} {
  %least = hfta.read @least : tensor<1xf64, #hfta.copies<2>>
  %a = hfta.read @a only [0] : tensor<1x2x3xf32, #hfta.copies<2>>
  %x = hfta.orthogonalize %a, %least by [3.0, -4.0, 2.0] : tensor<1x2x3xf32, #hfta.copies<2>>, tensor<1xf64, #hfta.copies<2>>
  hfta.write %x, @a only [0] : tensor<1x2x3xf32, #hfta.copies<2>>
  %b = hfta.read @b : tensor<1x2x3xf32, #hfta.copies<2>>
  %z = hfta.orthogonalize %b, %least by [3.0, -4.0, 2.0] : tensor<1x2x3xf32, #hfta.copies<2>>, tensor<1xf64, #hfta.copies<2>>
  hfta.write %z, @b : tensor<1x2x3xf32, #hfta.copies<2>>
  return
}

// Ops that other merges have moved.
// CHECK-LABEL: func.func @moved(
// CHECK-COUNT-3: hfta.orthogonalize
// CHECK-NOT: hfta.orthogonalize
// CHECK: return
func.func @moved() attributes {hfta.task = #hfta.task<update, 4>} {
  %least = hfta.constant dense<1.0e-7> : tensor<1xf64>
  %a = hfta.read @a : tensor<1x2x3xf32, #hfta.copies<2>>
  %b = hfta.read @b : tensor<1x2x3xf32, #hfta.copies<2>>
  %first = hfta.orthogonalize %a, %least by [3.0, -4.0, 2.0] : tensor<1x2x3xf32, #hfta.copies<2>>, tensor<1xf64>
  %x = hfta.orthogonalize %first, %least by [4.0, -1.5, 0.5] : tensor<1x2x3xf32, #hfta.copies<2>>, tensor<1xf64>
  %other = hfta.orthogonalize %b, %least by [3.0, -4.0, 1.0] : tensor<1x2x3xf32, #hfta.copies<2>>, tensor<1xf64>
  %y = hfta.orthogonalize %other, %least by [4.0, -1.5, 0.5] : tensor<1x2x3xf32, #hfta.copies<2>>, tensor<1xf64>
  %second = hfta.orthogonalize %b, %least by [3.0, -4.0, 2.0] : tensor<1x2x3xf32, #hfta.copies<2>>, tensor<1xf64>
  %sum = hfta.add %y, %second : tensor<1x2x3xf32, #hfta.copies<2>>, tensor<1x2x3xf32, #hfta.copies<2>>
  hfta.write %x, @a : tensor<1x2x3xf32, #hfta.copies<2>>
  hfta.write %sum, @b : tensor<1x2x3xf32, #hfta.copies<2>>
  return
}

// Large matrices are merged up to 2^20 elements.
hfta.variable @c {role = #hfta.role<parameter>} : tensor<1x512x1024xf32>
hfta.variable @d {role = #hfta.role<parameter>} : tensor<1x512x1024xf32>
hfta.variable @e {role = #hfta.role<parameter>} : tensor<1x512x1024xf32>
// CHECK-LABEL: func.func @large(
// CHECK: hfta.orthogonalize %{{.*}} : tensor<2x512x1024xf32>, tensor<2xf64>
// CHECK: hfta.orthogonalize %{{.*}} : tensor<1x512x1024xf32>, tensor<1xf64>
// CHECK-NOT: hfta.orthogonalize
// CHECK: return
func.func @large() attributes {hfta.task = #hfta.task<update, 3>} {
  %least = hfta.constant dense<1.0e-7> : tensor<1xf64>
  %c = hfta.read @c : tensor<1x512x1024xf32>
  %d = hfta.read @d : tensor<1x512x1024xf32>
  %e = hfta.read @e : tensor<1x512x1024xf32>
  %x = hfta.orthogonalize %c, %least by [3.0, -4.0, 2.0] : tensor<1x512x1024xf32>, tensor<1xf64>
  %y = hfta.orthogonalize %d, %least by [3.0, -4.0, 2.0] : tensor<1x512x1024xf32>, tensor<1xf64>
  %z = hfta.orthogonalize %e, %least by [3.0, -4.0, 2.0] : tensor<1x512x1024xf32>, tensor<1xf64>
  hfta.write %x, @c : tensor<1x512x1024xf32>
  hfta.write %y, @d : tensor<1x512x1024xf32>
  hfta.write %z, @e : tensor<1x512x1024xf32>
  return
}
