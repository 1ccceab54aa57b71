//===- MemoryLimitTest.cpp - Limits of memory and processors --------------===//

#include "TestFiles.h"

extern "C" {
#include "system/cpu_limit.h"
#include "system/memory_limit.h"
}

#include <filesystem>
#include <sys/resource.h>

using namespace hfta_test;

namespace {

class GroupTest : public FileTest {
protected:
  /// Writes a file in a fake tree of control groups. Creates the folders above
  /// it.
  void set(const std::string &name, const std::string &text) {
    std::filesystem::create_directories(
        std::filesystem::path(path("tree/" + name)).parent_path());
    write("tree/" + name, text);
  }

  /// Returns the files that describe a process: the list `groups` of its
  /// control groups (as /proc/self/cgroup) and the fake tree.
  hfta_group_files *inGroups(const std::string &groups) {
    file = write("groups", groups);
    root = path("tree");
    files = {file.c_str(), root.c_str()};
    return &files;
  }

private:
  std::string file, root;
  hfta_group_files files;
};

class MemoryLimit : public GroupTest {
protected:
  uint64_t get(const std::string &groups, uint64_t swap = 0) {
    return hfta_group_memory_limit(inGroups(groups), swap);
  }
};

class CpuLimit : public GroupTest {
protected:
  int64_t get(const std::string &groups) {
    return hfta_group_cpu_limit(inGroups(groups));
  }
};

TEST_F(MemoryLimit, NoneWithoutGroups) {
  std::string none = path("none"), tree = path("tree");
  hfta_group_files files = {none.c_str(), tree.c_str()};
  EXPECT_EQ(hfta_group_memory_limit(&files, 5), UINT64_MAX);
  EXPECT_EQ(hfta_group_cpu_limit(&files), INT64_MAX);
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
  // The limit of memory and swap together replaces the sum of both.
  set("memory/a/memory.memsw.limit_in_bytes", "3100\n");
  EXPECT_EQ(get("4:memory:/a\n", 500), 3100u);
}

TEST_F(MemoryLimit, AContainerThatIsToldAPathOutside) {
  set("memory/memory.limit_in_bytes", "4000\n");
  EXPECT_EQ(get("4:memory:/docker/0123\n"), 4000u);
}

TEST_F(CpuLimit, VersionTwo) {
  EXPECT_EQ(get("0::/job\n"), INT64_MAX);
  set("job/cpu.max", "max 100000\n");
  EXPECT_EQ(get("0::/job\n"), INT64_MAX);
  set("cpu.max", "250000 100000\n");
  EXPECT_EQ(get("0::/job\n"), 3);
  set("job/cpu.max", "200000 100000\n");
  EXPECT_EQ(get("0::/job\n"), 2);
  EXPECT_EQ(get("0::/\n"), 3);
  for (const char *text : {"1000 100000\n", "1 1\n", "100000 100000"}) {
    set("job/cpu.max", text);
    EXPECT_EQ(get("0::/job\n"), 1) << text;
  }
  for (const char *text : {"", "100000", "-1 100000", "100 0", "0 100000"}) {
    set("job/cpu.max", text);
    EXPECT_EQ(get("0::/job\n"), 3) << text;
  }
}

TEST_F(CpuLimit, VersionOne) {
  set("cpu/a/cpu.cfs_quota_us", "-1\n");
  set("cpu/a/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(get("4:cpu,cpuacct:/a/b\n0::/\n"), INT64_MAX);
  set("cpu/a/cpu.cfs_quota_us", "150000\n");
  EXPECT_EQ(get("4:cpu,cpuacct:/a/b\n0::/\n"), 2);
  EXPECT_EQ(get("4:cpuset:/a\n5:memory:/a\n"), INT64_MAX);
  // In a container, the process may see the path that its group has outside of
  // the container. Then the root of the tree counts.
  set("cpu/cpu.cfs_quota_us", "400000\n");
  set("cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(get("4:cpu,cpuacct:/docker/0123\n"), 4);
}

TEST_F(CpuLimit, NoMoreThanTheProcessorsThatThereAre) {
  EXPECT_GE(hfta_cpu_limit(), 1);
  EXPECT_LE(hfta_cpu_limit(), sysconf(_SC_NPROCESSORS_CONF));
}

/// Sets a limit of the process while the object exists.
class ResourceLimit {
public:
  ResourceLimit(__rlimit_resource resource, rlim_t bytes) : resource(resource) {
    getrlimit(resource, &before);
    rlimit limit = {bytes, before.rlim_max};
    EXPECT_EQ(setrlimit(resource, &limit), 0);
  }
  ~ResourceLimit() { setrlimit(resource, &before); }

private:
  __rlimit_resource resource;
  rlimit before;
};

TEST_F(MemoryLimit, WhatTheProcessMayStillMap) {
  // The process has mapped 300 MiB, of which 200 MiB are data.
  uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  std::string statm =
      write("statm", std::to_string((300 << 20) / page) + " 5 4 3 0 " +
                         std::to_string((200 << 20) / page) + " 0\n");
  auto left = [&] { return hfta_process_memory_limit(statm.c_str()) >> 20; };
  EXPECT_EQ(left(), UINT64_MAX >> 20);
  {
    ResourceLimit limit(RLIMIT_AS, rlim_t(16) << 30);
    EXPECT_EQ(left(), (16u << 10) - 300);
    ResourceLimit data(RLIMIT_DATA, rlim_t(8) << 30);
    EXPECT_EQ(left(), (8u << 10) - 200);
    EXPECT_LT(hfta_memory_limit(), uint64_t(8) << 30);
  }
  {
    ResourceLimit data(RLIMIT_DATA, rlim_t(100) << 20);
    EXPECT_EQ(left(), 0u);
  }
}

TEST_F(MemoryLimit, TheMachineHasSome) {
  EXPECT_GT(hfta_memory_limit(), uint64_t(1) << 20);
  EXPECT_LT(hfta_memory_limit(), UINT64_MAX);
}

} // namespace
