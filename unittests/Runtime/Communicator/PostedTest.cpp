//===- PostedTest.cpp - Messages in pieces --------------------------------===//

extern "C" {
#include "communicator/posted.h"
}

#include "gtest/gtest.h"

#include <algorithm>
#include <vector>

namespace {
struct Piece {
  uint64_t begin, bytes;
};

/// Returns the pieces of a message from rank 0 to rank 1, in the order of
/// transfer. `isFar` says whether rank 1 is on another host.
std::vector<Piece> cut(uint64_t bytes, bool isFar) {
  bool far[] = {false, isFar};
  hfta_communicator communicator = {};
  communicator.size = 2;
  communicator.is_far = far;
  // The memory is never accessed, because a post only states where the pieces
  // are.
  char *memory = reinterpret_cast<char *>(uintptr_t(1) << 32);
  hfta_message message = {1, true, memory, bytes};
  hfta_post post = {{"a test", -1, 0}, &message, 1};
  hfta_posted_pool pool = {nullptr};
  hfta_posted *posted = nullptr;
  hfta_error error;
  EXPECT_EQ(hfta_posted_create(&pool, &communicator, &post, &posted, &error),
            HFTA_OK);
  EXPECT_EQ(posted->remote, posted->count);
  std::vector<Piece> out;
  for (uint32_t i = 0; i < posted->count; ++i) {
    const hfta_message &piece = posted->transfers[i].message;
    out.push_back(
        {uint64_t(static_cast<char *>(piece.memory) - memory), piece.bytes});
  }
  hfta_posted_destroy(&pool, posted);
  hfta_posted_pool_free(&pool);
  return out;
}

void expectWhole(std::vector<Piece> pieces, uint64_t bytes) {
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece &a, const Piece &b) { return a.begin < b.begin; });
  uint64_t end = 0;
  for (const Piece &piece : pieces) {
    EXPECT_EQ(piece.begin, end);
    end += piece.bytes;
  }
  EXPECT_EQ(end, bytes);
}

TEST(Posted, CutsMessagesOnce) {
  const uint64_t most = HFTA_MAX_TRANSFER_BYTES;
  for (uint64_t bytes : {uint64_t(0), uint64_t(1), uint64_t(60001), most}) {
    EXPECT_EQ(cut(bytes, false).size(), 1u);
    expectWhole(cut(bytes, false), bytes);
  }
  EXPECT_EQ(cut(2 * most + 1, false).size(), 3u);
  expectWhole(cut(2 * most + 1, false), 2 * most + 1);
}

TEST(Posted, CutsMessagesThroughANetworkShort) {
  const uint64_t piece = HFTA_UNASKED_TRANSFER_BYTES,
                 unasked = HFTA_UNASKED_BYTES;
  for (uint64_t bytes :
       {uint64_t(0), uint64_t(1), piece, piece + 1, unasked, unasked + 1,
        unasked + 2 * HFTA_MAX_TRANSFER_BYTES + 1})
    expectWhole(cut(bytes, true), bytes);
  EXPECT_EQ(cut(0, true).size(), 1u);
  EXPECT_EQ(cut(piece, true).size(), 1u);
  EXPECT_EQ(cut(piece + 1, true).size(), 2u);
  for (const Piece &each : cut(unasked, true))
    EXPECT_LE(each.bytes, piece);
  // The part that MPI sends after a handshake comes first, before the parts
  // that it sends eagerly.
  std::vector<Piece> pieces = cut(unasked + 7, true);
  EXPECT_EQ(pieces[0].begin, unasked);
  EXPECT_EQ(pieces[0].bytes, 7u);
  EXPECT_EQ(pieces[1].begin, 0u);
  EXPECT_EQ(pieces[1].bytes, piece);
}
} // namespace
