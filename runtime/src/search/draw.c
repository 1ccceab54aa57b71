//===- draw.c - Random numbers of a search --------------------------------===//

#include "search/draw.h"

#include "system/philox.h"

uint64_t hfta_draw_bits(uint64_t seed, hfta_draw_purpose purpose, int64_t trial,
                        int64_t setting, int64_t index) {
  // A job may use one seed for its order of samples and for its search. The
  // constant lets them have different keys.
  enum { SEARCH_KEY = 0x68637273 };
  uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32) ^ SEARCH_KEY};
  uint32_t counter[4] = {(uint32_t)trial, (uint32_t)setting, (uint32_t)index,
                         (uint32_t)purpose};
  uint32_t out[4];
  hfta_philox4x32(counter, key, out);
  return (uint64_t)out[0] << 32 | out[1];
}

double hfta_draw(uint64_t seed, hfta_draw_purpose purpose, int64_t trial,
                 int64_t setting, int64_t index) {
  return (double)(hfta_draw_bits(seed, purpose, trial, setting, index) >> 11) *
         0x1p-53;
}

int64_t hfta_part_of_fraction(double fraction, int64_t count) {
  int64_t part = (int64_t)(fraction * (double)count);
  return part < count ? part : count - 1;
}
