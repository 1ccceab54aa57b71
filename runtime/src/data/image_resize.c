//===- image_resize.c - Images of another size ----------------------------===//

#include "data/image_resize.h"

#include <math.h>
#include <stdlib.h>

/// The number of bits of weights after the binary point. A sum of products with
/// pixels, whose weights add up to 1, then fits into 32 bits.
enum { FRACTION_BITS = 22 };

/// For each element along an axis of the result, the elements of the source
/// that it is a mean of.
typedef struct axis {
  uint32_t *first; ///< the first of them
  uint32_t *count;
  int32_t *weights; ///< `most` for each element of the result
  uint32_t most;
} axis;

static void free_axis(axis *self) {
  free(self->first);
  free(self->count);
  free(self->weights);
}

/// Computes the weights of element `index`. `scale` is the distance in the
/// source of two elements of the result.
static void weigh(axis *self, uint32_t index, uint32_t source, double begin,
                  double scale, double *weights) {
  double reach = scale > 1 ? scale : 1;
  double center = begin + (index + 0.5) * scale;
  double low = center - reach + 0.5, high = center + reach + 0.5;
  uint32_t first = low > 0 ? (uint32_t)low : 0;
  uint32_t end = high < source ? (uint32_t)high : source;
  if (first >= source)
    first = source - 1;
  if (end <= first)
    end = first + 1;
  double sum = 0;
  for (uint32_t i = first; i < end; ++i) {
    double distance = fabs((i - center + 0.5) / reach);
    weights[i - first] = distance < 1 ? 1 - distance : 0;
    sum += weights[i - first];
  }
  self->first[index] = first;
  self->count[index] = end - first;
  int32_t *out = self->weights + (size_t)index * self->most;
  for (uint32_t i = 0; i < end - first; ++i)
    out[i] =
        sum == 0
            ? 0
            : (int32_t)(0.5 + weights[i] / sum * (double)(1 << FRACTION_BITS));
}

/// Computes an axis of `size` elements from the part of the source's axis
/// between `begin` and `end`. Returns false if memory runs out.
static bool make_axis(axis *out, uint32_t source, double begin, double end,
                      uint32_t size) {
  double scale = (end - begin) / size, reach = scale > 1 ? scale : 1;
  out->most = 2 * (uint32_t)ceil(reach) + 1;
  out->first = malloc(size * sizeof(*out->first));
  out->count = malloc(size * sizeof(*out->count));
  out->weights = malloc((size_t)size * out->most * sizeof(*out->weights));
  double *weights = malloc(out->most * sizeof(*weights));
  bool is_complete = out->first && out->count && out->weights && weights;
  for (uint32_t i = 0; i < size && is_complete; ++i)
    weigh(out, i, source, begin, scale, weights);
  free(weights);
  return is_complete;
}

/// Computes one byte of the result from bytes at distances of `stride`.
static unsigned char mean(const axis *self, uint32_t index,
                          const unsigned char *from, size_t stride) {
  const int32_t *weights = self->weights + (size_t)index * self->most;
  from += self->first[index] * stride;
  int64_t sum = 1 << (FRACTION_BITS - 1);
  for (uint32_t i = 0; i < self->count[index]; ++i)
    sum += (int64_t)weights[i] * from[i * stride];
  sum >>= FRACTION_BITS;
  return (unsigned char)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

bool hfta_image_resize_part(const unsigned char *pixels,
                            const hfta_image_size *size, double left,
                            double top, double right, double bottom,
                            uint32_t width, uint32_t height,
                            unsigned char *out) {
  size_t channels = size->channels, line = size->width * channels,
         narrow = width * channels;
  axis columns = {0}, rows = {0};
  // The image after its rows have been scaled.
  unsigned char *middle = malloc(narrow * size->height);
  bool is_complete = make_axis(&columns, size->width, left, right, width) &&
                     make_axis(&rows, size->height, top, bottom, height) &&
                     middle;
  if (is_complete) {
    // Only these rows are read below.
    uint32_t begin = rows.first[0],
             end = rows.first[height - 1] + rows.count[height - 1];
    for (uint32_t y = begin; y < end; ++y)
      for (size_t i = 0; i < narrow; ++i)
        middle[y * narrow + i] =
            mean(&columns, (uint32_t)(i / channels),
                 pixels + y * line + i % channels, channels);
    for (uint32_t y = 0; y < height; ++y)
      for (size_t i = 0; i < narrow; ++i)
        out[y * narrow + i] = mean(&rows, y, middle + i, narrow);
  }
  free_axis(&columns);
  free_axis(&rows);
  free(middle);
  return is_complete;
}
