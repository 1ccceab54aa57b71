//===- stream.cpp - Measures the bandwidth of memory ----------------------===//

#include "kernels.h"

#include <immintrin.h>
#include <thread>

/// Adds up the elements [begin, end) of `Reads` arrays, and writes the sums to
/// `Writes` arrays by non-temporal stores, which bypass the caches. Without
/// `Writes` the sums are discarded.
template <int Reads, int Writes>
__attribute__((target("avx"))) static void
stream(float *const *from, float *const *to, int64_t begin, int64_t end) {
  __m256 all = _mm256_setzero_ps();
  for (int64_t i = begin; i < end; i += 8) {
    __m256 sum = _mm256_load_ps(from[0] + i);
    for (int j = 1; j < Reads; ++j)
      sum = _mm256_add_ps(sum, _mm256_load_ps(from[j] + i));
    for (int j = 0; j < Writes; ++j)
      _mm256_stream_ps(to[j] + i, sum);
    if (Writes == 0)
      all = _mm256_add_ps(all, sum);
  }
  volatile float sink = all[0];
  (void)sink;
}

Run makeStream(const Case &theCase, int threads) {
  auto function = stream<1, 1>;
  int reads = 1, writes = 1;
  if (theCase.kind == Kind::chain) {
    function = stream<3, 1>;
    reads = 3;
  } else if (theCase.kind == Kind::momentum) {
    function = stream<3, 2>;
    reads = 3, writes = 2;
  } else if (theCase.kind == Kind::adam) {
    function = stream<4, 3>;
    reads = 4, writes = 3;
  } else if (theCase.kind == Kind::pool) {
    function = stream<4, 1>;
    reads = 4;
  } else if (theCase.kind == Kind::unpack) {
    function = stream<1, 2>;
    writes = 2;
  } else if (theCase.kind == Kind::statistics) {
    function = stream<1, 0>;
    writes = 0;
  }
  int64_t count = theCase.numbers[0] / reads;
  std::vector<float *> from, to;
  for (int i = 0; i < reads; ++i)
    from.push_back(allocate(count));
  for (int i = 0; i < writes; ++i)
    to.push_back(allocate(count));
  auto run = [=] {
    int64_t share = count / threads / 16 * 16;
    std::vector<std::thread> workers;
    for (int i = 1; i < threads; ++i)
      workers.emplace_back([=] {
        function(from.data(), to.data(), i * share,
                 i + 1 == threads ? count : (i + 1) * share);
      });
    function(from.data(), to.data(), 0, threads == 1 ? count : share);
    for (std::thread &worker : workers)
      worker.join();
  };
  return {"stream", run, theCase.flops};
}
