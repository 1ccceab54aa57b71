//===- peers.cpp - Runs of oneDNN, OpenBLAS and libxsmm -------------------===//

#include "kernels.h"

#include <cblas.h>
#include <dnnl.hpp>
#include <libxsmm.h>

#include <cstdlib>
#include <sys/mman.h>
#include <unordered_map>

using namespace dnnl;

static engine &getEngine() {
  static engine cpu(engine::kind::cpu, 0);
  return cpu;
}

static stream &getStream() {
  static stream queue(getEngine());
  return queue;
}

float *allocate(int64_t elements) {
  int64_t unit = 2 << 20, bytes = (elements * 4 / unit + 1) * unit;
  auto *memory = static_cast<float *>(std::aligned_alloc(unit, bytes));
  madvise(memory, bytes, MADV_HUGEPAGE);
  for (int64_t i = 0; i < elements; ++i)
    memory[i] = static_cast<float>((i * 2654435761u >> 20 & 255) / 256.0 - 0.5);
  return memory;
}

static memory makeMemory(const memory::desc &description) {
  int64_t elements = static_cast<int64_t>(description.get_size() / 4);
  return memory(description, getEngine(), allocate(elements));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {
/// A batch of products C = A B of an m by k and a k by n matrix, in row-major
/// order. With `transA` or `transB`, the operand is stored as its transpose.
struct Product {
  int64_t batch, m, n, k;
  bool transA, transB;
};
} // namespace

static Run makeOpenBlas(const Product &p, double flops) {
  float *a = allocate(p.batch * p.m * p.k), *b = allocate(p.batch * p.k * p.n);
  float *c = allocate(p.batch * p.m * p.n);
  auto run = [=] {
    for (int64_t i = 0; i < p.batch; ++i)
      cblas_sgemm(CblasRowMajor, p.transA ? CblasTrans : CblasNoTrans,
                  p.transB ? CblasTrans : CblasNoTrans, p.m, p.n, p.k, 1.0f,
                  a + i * p.m * p.k, p.transA ? p.m : p.k, b + i * p.k * p.n,
                  p.transB ? p.k : p.n, 0.0f, c + i * p.m * p.n, p.n);
  };
  return {"openblas", run, flops};
}

static Run makeDnnlProduct(const Product &p, double flops) {
  using tag = memory::format_tag;
  auto type = memory::data_type::f32;
  memory::desc a({p.batch, p.m, p.k}, type, p.transA ? tag::acb : tag::abc);
  memory::desc b({p.batch, p.k, p.n}, type, p.transB ? tag::acb : tag::abc);
  memory::desc c({p.batch, p.m, p.n}, type, tag::abc);
  matmul product(matmul::primitive_desc(matmul::desc(a, b, c), getEngine()));
  std::unordered_map<int, memory> arguments = {
      {DNNL_ARG_SRC, makeMemory(a)},
      {DNNL_ARG_WEIGHTS, makeMemory(b)},
      {DNNL_ARG_DST, makeMemory(c)}};
  return {"onednn", [=] { product.execute(getStream(), arguments); }, flops};
}

/// Returns a run of libxsmm, or none if an operand is transposed or the product
/// is large: libxsmm isn't meant for these. It is column-major, so the run
/// computes C' = B' A'.
static std::vector<Run> makeXsmm(const Product &p, double flops) {
  if (p.transA || p.transB || p.m * p.n * p.k > 256 * 256 * 256)
    return {};
  float one = 1, zero = 0;
  int n = p.n, m = p.m, k = p.k;
  libxsmm_smmfunction kernel =
      libxsmm_smmdispatch(n, m, k, &n, &k, &n, &one, &zero, nullptr, nullptr);
  if (!kernel)
    return {};
  float *a = allocate(p.batch * p.m * p.k), *b = allocate(p.batch * p.k * p.n);
  float *c = allocate(p.batch * p.m * p.n);
  auto run = [=] {
    for (int64_t i = 0; i < p.batch; ++i)
      kernel(b + i * p.k * p.n, a + i * p.m * p.k, c + i * p.m * p.n);
  };
  return {{"libxsmm", run, flops}};
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

namespace {
/// A convolution of input x by weight w with result y, in the layouts that
/// oneDNN chooses as the fastest (`any`).
struct Convolution {
  memory::desc x, w, y;
  memory::dims strides, padding;
};
} // namespace

static Convolution describe(const std::vector<int64_t> &v) {
  int64_t n = v[0], c = v[1], o = v[2], size = v[3], kernel = v[4];
  int64_t stride = v[5], padding = v[6], groups = v[7];
  int64_t out = (size + 2 * padding - kernel) / stride + 1;
  memory::dims w = {o, c, kernel, kernel};
  if (groups > 1)
    w = {groups, o / groups, c / groups, kernel, kernel};
  auto type = memory::data_type::f32;
  auto any = memory::format_tag::any;
  return {{{n, c, size, size}, type, any},
          {w, type, any},
          {{n, o, out, out}, type, any},
          {stride, stride},
          {padding, padding}};
}

/// Makes the case's pass (forward, or a gradient) for one copy, with its own
/// operands.
static std::function<void()> makeDnnlPass(const Case &theCase) {
  Convolution v = describe(theCase.numbers);
  auto direct = algorithm::convolution_direct;
  convolution_forward::primitive_desc forward({prop_kind::forward_training,
                                               direct, v.x, v.w, v.y, v.strides,
                                               v.padding, v.padding},
                                              getEngine());
  primitive pass;
  std::unordered_map<int, memory> arguments;
  if (theCase.kind == Kind::forward) {
    pass = convolution_forward(forward);
    arguments = {{DNNL_ARG_SRC, makeMemory(forward.src_desc())},
                 {DNNL_ARG_WEIGHTS, makeMemory(forward.weights_desc())},
                 {DNNL_ARG_DST, makeMemory(forward.dst_desc())}};
  } else if (theCase.kind == Kind::input) {
    convolution_backward_data::primitive_desc backward(
        {direct, v.x, v.w, v.y, v.strides, v.padding, v.padding}, getEngine(),
        forward);
    pass = convolution_backward_data(backward);
    arguments = {{DNNL_ARG_DIFF_SRC, makeMemory(backward.diff_src_desc())},
                 {DNNL_ARG_WEIGHTS, makeMemory(backward.weights_desc())},
                 {DNNL_ARG_DIFF_DST, makeMemory(backward.diff_dst_desc())}};
  } else {
    convolution_backward_weights::primitive_desc backward(
        {direct, v.x, v.w, v.y, v.strides, v.padding, v.padding}, getEngine(),
        forward);
    pass = convolution_backward_weights(backward);
    arguments = {
        {DNNL_ARG_SRC, makeMemory(backward.src_desc())},
        {DNNL_ARG_DIFF_WEIGHTS, makeMemory(backward.diff_weights_desc())},
        {DNNL_ARG_DIFF_DST, makeMemory(backward.diff_dst_desc())}};
  }
  return [=] { pass.execute(getStream(), arguments); };
}

static Run makeDnnlConvolution(const Case &theCase) {
  std::vector<std::function<void()>> copies;
  for (int copy = 0; copy < theCase.copies; ++copy)
    copies.push_back(makeDnnlPass(theCase));
  auto run = [=] {
    for (const std::function<void()> &copy : copies)
      copy();
  };
  return {"onednn", run, theCase.flops};
}

std::vector<Run> makePeers(const Case &theCase) {
  if (theCase.kind != Kind::gemm)
    return {makeDnnlConvolution(theCase)};
  const std::vector<int64_t> &v = theCase.numbers;
  Product p = {v[0], v[1], v[2], v[3], v[4] != 0, v[5] != 0};
  std::vector<Run> runs = makeXsmm(p, theCase.flops);
  runs.push_back(makeDnnlProduct(p, theCase.flops));
  runs.push_back(makeOpenBlas(p, theCase.flops));
  return runs;
}
