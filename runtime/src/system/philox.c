//===- philox.c - A counter-based random number generator -----------------===//

#include "system/philox.h"

static void philox_round(uint32_t counter[4], const uint32_t key[2]) {
  uint64_t product0 = (uint64_t)0xD2511F53u * counter[0];
  uint64_t product1 = (uint64_t)0xCD9E8D57u * counter[2];
  uint32_t next0 = (uint32_t)(product1 >> 32) ^ counter[1] ^ key[0];
  uint32_t next2 = (uint32_t)(product0 >> 32) ^ counter[3] ^ key[1];
  counter[0] = next0;
  counter[1] = (uint32_t)product1;
  counter[2] = next2;
  counter[3] = (uint32_t)product0;
}

void hfta_philox4x32(const uint32_t counter[4], const uint32_t key[2],
                     uint32_t out[4]) {
  uint32_t round_key[2] = {key[0], key[1]};
  for (int i = 0; i < 4; ++i)
    out[i] = counter[i];
  for (int round = 0; round < 10; ++round) {
    philox_round(out, round_key);
    round_key[0] += 0x9E3779B9u;
    round_key[1] += 0xBB67AE85u;
  }
}
