//===- program.h - Runs single tasks of a compiled program ------*- C++ -*-===//
//
// The drivers of benchmarks are linked with a program that Hfta has compiled.
// They don't train; they run one task at a time, on a pool of threads.
//===----------------------------------------------------------------------===//

#ifndef HFTA_BENCH_PROGRAM_H
#define HFTA_BENCH_PROGRAM_H

#include "hfta/instance.h"
#include "hfta/launch.h"
#include "hfta/program.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <vector>

extern "C" const hfta_program hfta_program_table __asm__("hfta_program");

/// The exit code of a driver that can't run on this machine.
constexpr int kMissing = 3;

/// Ends the process with a message and this exit code.
[[noreturn]] inline void failBench(const std::string &message, int code = 1) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  std::exit(code);
}

/// Allocates zeroed memory in huge pages. The caller frees it by std::free.
inline void *allocatePages(uint64_t bytes) {
  uint64_t unit = 2 << 20, rounded = (bytes / unit + 1) * unit;
  void *memory = std::aligned_alloc(unit, rounded);
  if (!memory)
    failBench("no memory");
  madvise(memory, rounded, MADV_HUGEPAGE);
  std::memset(memory, 0, rounded);
  return memory;
}

/// The compiled program, memory for its segments, and a pool of threads. None
/// of this is freed before the process ends.
class Program {
public:
  explicit Program(int threads) {
    hfta_error error;
    if (hfta_program_check_cpu(&table, &error) != HFTA_OK)
      failBench(error.message, kMissing);
    uint64_t scratch = 64;
    for (uint32_t i = 0; i < table.segment_count; ++i) {
      const hfta_segment &segment = table.segments[i];
      segments.push_back(allocate(segment));
      if (segment.role == HFTA_SEGMENT_SCRATCH)
        scratch = segment.bytes;
    }
    for (int64_t copy = 0; copy < table.copies; ++copy)
      copies.push_back(static_cast<int32_t>(copy));
    keeps = std::make_unique<bool[]>(table.segment_count);
    std::fill_n(keeps.get(), table.segment_count, true);
    if (hfta_pool_create(threads, scratch, &pool, &error) != HFTA_OK)
      failBench(error.message);
  }

  int64_t getCopies() const { return table.copies; }

  /// Returns whether the kernels were compiled for vectors of 64 bytes
  /// (AVX-512).
  bool hasWideVectors() const {
    return table.cpu_features && std::strstr(table.cpu_features, "avx512f");
  }

  /// Runs the task `forward.INDEX` for all copies.
  void run(size_t index) {
    std::string name = "forward." + std::to_string(index);
    for (uint32_t i = 0; i < table.task_count; ++i) {
      hfta_task_call call = {
          &table.tasks[i], segments.data(), keeps.get(), copies.data(),
          nullptr,         table.copies,    -1};
      if (table.tasks[i].name == name)
        hfta_run_task(pool, &call, nullptr);
    }
  }

  /// Returns the tensor of this name. Without one, ends the process.
  const hfta_tensor &getTensor(const std::string &name) const {
    for (uint32_t i = 0; i < table.tensor_count; ++i)
      if (name == table.tensors[i].name)
        return table.tensors[i];
    failBench("no tensor " + name);
  }

  /// Returns the address of the first element of one copy's tensor.
  float *find(const hfta_tensor &tensor, int64_t copy = 0) const {
    return reinterpret_cast<float *>(
        static_cast<char *>(segments[tensor.segment]) + tensor.offset +
        static_cast<uint64_t>(copy) * tensor.copy_stride);
  }

private:
  /// Allocates a segment. If the program has initial data for the segment
  /// (`image`), it is copied; otherwise the segment is zeroed.
  static void *allocate(const hfta_segment &segment) {
    void *memory = allocatePages(segment.bytes);
    if (segment.image)
      std::memcpy(memory, segment.image, segment.bytes);
    return memory;
  }

  const hfta_program &table = hfta_program_table;
  std::vector<void *> segments;
  std::vector<int32_t> copies;
  std::unique_ptr<bool[]> keeps; ///< true for all segments (hfta_task_call)
  hfta_pool *pool = nullptr;
};

#endif // HFTA_BENCH_PROGRAM_H
