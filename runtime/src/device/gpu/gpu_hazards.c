//===- gpu_hazards.c - Dependences between kernels ------------------------===//

#include "device/gpu/gpu_hazards.h"

#include <stdlib.h>
#include <string.h>

/// The bytes of an operand: `count` pieces of `bytes` bytes, one for each copy,
/// whose beginnings are `stride` bytes apart.
typedef struct hfta_gpu_range {
  uint64_t begin, bytes, stride, count;
  bool is_written;
} range;

static uint64_t find_end(const range *self) {
  return self->begin + self->stride * (self->count - 1) + self->bytes;
}

/// Returns whether two ranges may have a byte in common. The slabs of copies
/// follow each other, and each has a piece of every tensor. So the ranges of
/// two tensors interleave: their bounds overlap, but they share no byte.
static bool overlap(const range *one, const range *other) {
  if (one->begin >= find_end(other) || other->begin >= find_end(one))
    return false;
  // A range with a single piece (stride 0) is compatible with any stride.
  uint64_t stride = one->stride > 0 ? one->stride : other->stride;
  if (stride == 0 || (other->stride > 0 && stride != other->stride) ||
      one->bytes > stride || other->bytes > stride)
    return true;
  uint64_t ahead =
      one->begin <= other->begin
          ? (other->begin - one->begin) % stride
          : (stride - (one->begin - other->begin) % stride) % stride;
  return ahead < one->bytes || stride - ahead < other->bytes;
}

static bool conflict(const hfta_gpu_hazards *self, size_t one, size_t other) {
  for (size_t i = self->first_range[one]; i < self->first_range[one + 1]; ++i)
    for (size_t j = self->first_range[other]; j < self->first_range[other + 1];
         ++j)
      if ((self->ranges[i].is_written || self->ranges[j].is_written) &&
          overlap(&self->ranges[i], &self->ranges[j]))
        return true;
  return false;
}

static bool reserve_kernel(hfta_gpu_hazards *self) {
  if (self->count < self->capacity)
    return true;
  size_t capacity = self->capacity ? 2 * self->capacity : 64;
  void *first =
      realloc(self->first_range, (capacity + 1) * sizeof(*self->first_range));
  if (first)
    self->first_range = first;
  void *reached = realloc(self->reached, capacity * sizeof(*self->reached));
  if (reached)
    self->reached = reached;
  void *before = realloc(self->before, capacity * sizeof(*self->before));
  if (before)
    self->before = before;
  if (!first || !reached || !before)
    return false;
  self->capacity = capacity;
  self->first_range[self->count] = self->range_count;
  return true;
}

static bool add_range(hfta_gpu_hazards *self, range added) {
  if (self->range_count == self->range_capacity) {
    size_t capacity = self->range_capacity ? 2 * self->range_capacity : 256;
    void *ranges = realloc(self->ranges, capacity * sizeof(*self->ranges));
    if (!ranges)
      return false;
    self->ranges = ranges;
    self->range_capacity = capacity;
  }
  self->ranges[self->range_count++] = added;
  return true;
}

/// Adds the ranges of a kernel's operands. All kernels with scratch memory
/// share one block of it, which counts as written, so that they wait for each
/// other.
static bool add_ranges(hfta_gpu_hazards *self, const hfta_gpu_kernel *kernel) {
  const hfta_launch *launch = kernel->launch;
  for (uint32_t i = 0; i < launch->binding_count; ++i) {
    const hfta_binding *binding = &launch->bindings[i];
    uint64_t stride = kernel->parameters[2 * i + 1];
    range own = {kernel->parameters[2 * i], binding->bytes, stride,
                 stride ? kernel->copies : 1,
                 (binding->access & HFTA_ACCESS_WRITE) != 0};
    if (own.bytes > 0 && !add_range(self, own))
      return false;
  }
  uint64_t scratch = kernel->parameters[2 * launch->binding_count];
  return launch->scratch_bytes == 0 ||
         add_range(self, (range){scratch, 1, 0, 1, true});
}

enum { WORD_BITS = 64 };

bool hfta_gpu_hazards_add(hfta_gpu_hazards *self, const hfta_gpu_kernel *kernel,
                          const size_t **before, size_t *before_count) {
  if (!reserve_kernel(self) || !add_ranges(self, kernel))
    return false;
  size_t own = self->count, words = own / WORD_BITS + 1, found = 0;
  self->first_range[own + 1] = self->range_count;
  uint64_t *reached = calloc(words, sizeof(*reached));
  if (!reached)
    return false;
  self->reached[self->count++] = reached;
  for (size_t other = own; other-- > 0;) {
    bool is_reached = reached[other / WORD_BITS] >> (other % WORD_BITS) & 1;
    if (is_reached || !conflict(self, own, other))
      continue;
    self->before[found++] = other;
    for (size_t i = 0; i <= other / WORD_BITS; ++i)
      reached[i] |= self->reached[other][i];
    reached[other / WORD_BITS] |= (uint64_t)1 << (other % WORD_BITS);
  }
  *before = self->before;
  *before_count = found;
  return true;
}

void hfta_gpu_hazards_free(hfta_gpu_hazards *self) {
  for (size_t i = 0; i < self->count; ++i)
    free(self->reached[i]);
  free(self->reached);
  free(self->ranges);
  free(self->first_range);
  free(self->before);
  memset(self, 0, sizeof(*self));
}
