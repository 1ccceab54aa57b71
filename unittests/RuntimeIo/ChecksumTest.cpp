//===- ChecksumTest.cpp - Tests of the checksum XXH64 ---------------------===//

extern "C" {
#include "formats/checksum.h"
}

#include "gtest/gtest.h"

#include <string>

static uint64_t sumOf(const std::string &bytes, size_t piece = 1000) {
  hfta_checksum sum;
  hfta_checksum_begin(&sum);
  for (size_t at = 0; at < bytes.size(); at += piece)
    hfta_checksum_add(&sum, bytes.data() + at,
                      std::min(piece, bytes.size() - at));
  return hfta_checksum_value(&sum);
}

// The expected values were printed by xxhsum -H64.
TEST(Checksum, KnownAnswers) {
  EXPECT_EQ(sumOf(""), 0xEF46DB3751D8E999u);
  EXPECT_EQ(sumOf("a"), 0xD24EC4F1A98C6E5Bu);
  EXPECT_EQ(sumOf("abc"), 0x44BC2CF5AD770999u);
  EXPECT_EQ(sumOf("Nobody inspects the spammish repetition"),
            0xFBCEA83C8A378BF1u);
}

TEST(Checksum, PiecesMayBeCutAnywhere) {
  std::string bytes;
  for (int i = 0; i < 203; ++i)
    bytes += static_cast<char>(i * 37);
  for (size_t piece : {1, 3, 8, 31, 32, 33, 64, 100})
    EXPECT_EQ(sumOf(bytes, piece), sumOf(bytes));
}

TEST(Checksum, Text) {
  hfta_checksum sum;
  char text[HFTA_CHECKSUM_TEXT_BYTES];
  hfta_checksum_begin(&sum);
  EXPECT_STREQ(hfta_checksum_text(&sum, text), "ef46db3751d8e999");
}
