//===- MemoryLimitTest.cpp - Limits of control groups ---------------------===//

#include "TestFiles.h"

extern "C" {
#include "memory_limit.h"
}

#include <filesystem>

using namespace hfta_test;

namespace {

class MemoryLimit : public FileTest {
protected:
  /// Writes a file of the tree, and the folders above it.
  void set(const std::string &name, const std::string &text) {
    std::filesystem::create_directories(
        std::filesystem::path(path("tree/" + name)).parent_path());
    write("tree/" + name, text);
  }

  uint64_t get(const std::string &groups, uint64_t swap = 0) {
    std::string file = write("groups", groups);
    return hfta_group_memory_limit(file.c_str(), path("tree").c_str(), swap);
  }
};

TEST_F(MemoryLimit, NoneWithoutGroups) {
  EXPECT_EQ(
      hfta_group_memory_limit(path("none").c_str(), path("tree").c_str(), 5),
      UINT64_MAX);
  EXPECT_EQ(get(""), UINT64_MAX);
  EXPECT_EQ(get("0::/\n"), UINT64_MAX);
  EXPECT_EQ(get("no groups\n1:memory\n::\n"), UINT64_MAX);
}

TEST_F(MemoryLimit, TheSmallestOfAGroupAndThoseAbove) {
  set("job/step/memory.max", "max\n");
  set("job/memory.max", "3000\n");
  set("memory.max", "9000\n");
  EXPECT_EQ(get("0::/job/step\n"), 3000u);
  EXPECT_EQ(get("0::/other\n"), 9000u);
  EXPECT_EQ(get("0::/\n"), 9000u);
}

TEST_F(MemoryLimit, SwapIsAdded) {
  set("memory.max", "3000\n");
  EXPECT_EQ(get("0::/\n", 500), 3500u);
  set("memory.swap.max", "200\n");
  EXPECT_EQ(get("0::/\n", 500), 3200u);
  set("memory.swap.max", "max\n");
  EXPECT_EQ(get("0::/\n", 500), 3500u);
}

TEST_F(MemoryLimit, VersionOne) {
  set("memory/a/memory.limit_in_bytes", "3000\n");
  set("memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(get("4:cpu,memory,pids:/a/b\n0::/\n", 500), 3500u);
  EXPECT_EQ(get("4:cpu,memorystat:/a\n"), UINT64_MAX);
  // Of memory and swap together.
  set("memory/a/memory.memsw.limit_in_bytes", "3100\n");
  EXPECT_EQ(get("4:memory:/a\n", 500), 3100u);
}

TEST_F(MemoryLimit, AContainerThatIsToldAPathOutside) {
  set("memory/memory.limit_in_bytes", "4000\n");
  EXPECT_EQ(get("4:memory:/docker/0123\n"), 4000u);
}

TEST_F(MemoryLimit, TheMachineHasSome) {
  EXPECT_GT(hfta_memory_limit(), uint64_t(1) << 20);
  EXPECT_LT(hfta_memory_limit(), UINT64_MAX);
}

} // namespace
