//===- GpuGraphsTest.cpp - Tests of tasks as graphs of a GPU--------------===//
//
// The tests run with a fake driver that only notes the calls that it gets.
//===----------------------------------------------------------------------===//

extern "C" {
#include "device/gpu/gpu_graphs.h"
#include "device/gpu/gpu_hazards.h"
}

#include "gtest/gtest.h"

#include <string>
#include <vector>

namespace {

constexpr int kFailure = 999;

//===----------------------------------------------------------------------===//
// Hazards
//===----------------------------------------------------------------------===//

struct Operand {
  uint64_t address, bytes;
  uint32_t access;
  uint64_t stride = 0;
};

/// A task's kernels, which are added one by one. `add` returns the numbers of
/// the earlier kernels that the new one has to wait for.
class Kernels {
public:
  ~Kernels() { hfta_gpu_hazards_free(&hazards); }

  std::vector<size_t> add(const std::vector<Operand> &operands,
                          unsigned copies = 1, uint64_t scratch = 0) {
    std::vector<hfta_binding> bindings;
    std::vector<uint64_t> parameters;
    for (const Operand &operand : operands) {
      bindings.push_back(
          {0, 0, 0, operand.stride, operand.bytes, operand.access, 0});
      parameters.push_back(operand.address);
      parameters.push_back(operand.stride);
    }
    parameters.push_back(1 << 20);
    hfta_launch launch = {};
    launch.bindings = bindings.data();
    launch.binding_count = static_cast<uint32_t>(bindings.size());
    launch.scratch_bytes = scratch;
    hfta_gpu_kernel kernel = {};
    kernel.launch = &launch;
    kernel.copies = copies;
    kernel.parameters = parameters.data();
    const size_t *before = nullptr;
    size_t count = 0;
    EXPECT_TRUE(hfta_gpu_hazards_add(&hazards, &kernel, &before, &count));
    return {before, before + count};
  }

private:
  hfta_gpu_hazards hazards = {};
};

using Numbers = std::vector<size_t>;
constexpr uint32_t kRead = HFTA_ACCESS_READ, kWrite = HFTA_ACCESS_WRITE;

TEST(GpuHazards, ReadersOfTheSameBytesDontWait) {
  Kernels kernels;
  EXPECT_EQ(kernels.add({{0, 64, kWrite}}), Numbers());
  EXPECT_EQ(kernels.add({{0, 64, kRead}, {64, 64, kWrite}}), Numbers({0}));
  EXPECT_EQ(kernels.add({{0, 64, kRead}, {128, 64, kWrite}}), Numbers({0}));
  // Both readers must have read a value before it is overwritten.
  EXPECT_EQ(kernels.add({{32, 4, kWrite}}), Numbers({2, 1}));
}

TEST(GpuHazards, NobodyWaitsForWhatIsWaitedForAnyway) {
  Kernels kernels;
  kernels.add({{0, 64, kWrite}});
  EXPECT_EQ(kernels.add({{0, 64, kRead | kWrite}}), Numbers({0}));
  EXPECT_EQ(kernels.add({{0, 64, kRead}}), Numbers({1}));
  EXPECT_EQ(kernels.add({{200, 64, kRead}}), Numbers());
}

TEST(GpuHazards, TensorsOfOneSlabAreApart) {
  Kernels kernels;
  constexpr uint64_t kSlab = 256;
  kernels.add({{0, 64, kWrite, kSlab}}, 4);
  EXPECT_EQ(kernels.add({{64, 64, kWrite, kSlab}}, 4), Numbers());
  EXPECT_EQ(kernels.add({{60, 8, kRead, kSlab}}, 4), Numbers({1, 0}));
  // The read begins with the second copy's slab.
  EXPECT_EQ(kernels.add({{kSlab + 32, 4, kRead, kSlab}}, 3), Numbers({0}));
  // The read covers the end of a slab and the beginning of the next one.
  EXPECT_EQ(kernels.add({{kSlab - 4, 8, kRead, kSlab}}, 3), Numbers({0}));
  // The first read lies past all slabs; the second one has a stride of zero.
  EXPECT_EQ(kernels.add({{4 * kSlab, 64, kRead, kSlab}}, 4), Numbers());
  EXPECT_EQ(kernels.add({{2 * kSlab, 4, kRead}}), Numbers({0}));
}

TEST(GpuHazards, ScratchMemoryIsOneForAll) {
  Kernels kernels;
  kernels.add({{0, 64, kWrite}}, 1, 16);
  EXPECT_EQ(kernels.add({{64, 64, kWrite}}), Numbers());
  EXPECT_EQ(kernels.add({{128, 64, kWrite}}, 1, 16), Numbers({0}));
}

/// The graph outgrows the memory that is reserved at first.
TEST(GpuHazards, AChainOfMany) {
  Kernels kernels;
  for (size_t i = 0; i < 300; ++i)
    EXPECT_EQ(kernels.add({{0, 64, kRead | kWrite}}),
              i == 0 ? Numbers() : Numbers({i - 1}));
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

/// A fake driver. It notes the calls that it gets, and makes the call named
/// `failing` fail with `failure`.
struct Driver {
  std::vector<std::string> calls;
  std::string failing;
  hfta_gpu_result failure = {kFailure, false, "fakeCall"};

  hfta_gpu_result call(const char *name) {
    calls.emplace_back(name);
    return name == failing ? failure : hfta_gpu_success;
  }
  std::vector<std::string> take() { return std::exchange(calls, {}); }
};

Driver driver;
using Calls = std::vector<std::string>;

hfta_gpu_result prepare(hfta_gpu *, hfta_gpu_code *, hfta_gpu_kernel *) {
  return hfta_gpu_success;
}
hfta_gpu_result launchKernel(hfta_gpu *, const hfta_gpu_kernel *,
                             hfta_gpu_stream) {
  return driver.call("launch_kernel");
}
hfta_gpu_result createGraph(hfta_gpu *, hfta_gpu_graph *graph) {
  *graph = reinterpret_cast<hfta_gpu_graph>(8);
  return driver.call("graph_create");
}
void destroyGraph(hfta_gpu *, hfta_gpu_graph) { driver.call("graph_destroy"); }
hfta_gpu_result addKernel(hfta_gpu *, hfta_gpu_graph_node *node, hfta_gpu_graph,
                          const hfta_gpu_graph_node *, size_t count,
                          const hfta_gpu_kernel *) {
  *node = reinterpret_cast<hfta_gpu_graph_node>(8);
  return driver.call(count == 0 ? "add_free" : "add_waiting");
}
hfta_gpu_result instantiate(hfta_gpu *, hfta_gpu_graph_exec *exec,
                            hfta_gpu_graph) {
  hfta_gpu_result result = driver.call("graph_instantiate");
  if (result.code == 0)
    *exec = reinterpret_cast<hfta_gpu_graph_exec>(8);
  return result;
}
hfta_gpu_result launchGraph(hfta_gpu *, hfta_gpu_graph_exec, hfta_gpu_stream) {
  return driver.call("graph_launch");
}
void destroyExec(hfta_gpu *, hfta_gpu_graph_exec) {
  driver.call("exec_destroy");
}

/// Tests of a program with one task of two kernels. The second kernel reads the
/// value that the first one writes.
class GpuGraphs : public testing::Test {
protected:
  GpuGraphs() {
    driver = Driver();
    table.prepare = prepare;
    table.launch = launchKernel;
    table.graph_create = createGraph;
    table.graph_destroy = destroyGraph;
    table.graph_add = addKernel;
    table.graph_instantiate = instantiate;
    table.graph_launch = launchGraph;
    table.graph_exec_destroy = destroyExec;
    bindings[0] = {0, 0, 0, 64, 64, kWrite, 0};
    bindings[1] = {0, 0, 0, 64, 64, kRead, 0};
    for (size_t i = 0; i < 2; ++i) {
      launches[i].name = i == 0 ? "first" : "second";
      launches[i].bindings = &bindings[i];
      launches[i].binding_count = launches[i].per_copy = 1;
      launches[i].items = launches[i].block_threads = 32;
    }
    task.name = "task";
    task.launches = launches;
    task.launch_count = 2;
    program.tasks = &task;
    program.task_count = program.segment_count = 1;
    program.copies = 4;
    launcher.gpu = &gpu;
    launcher.parameters = parameters;
    launcher.places = places;
    graphs = hfta_gpu_graphs_create(&launcher, &program);
  }
  ~GpuGraphs() override { hfta_gpu_graphs_destroy(graphs); }

  /// Runs the task for the first `copies` copies, with its segment at the
  /// address `place`. Returns the calls that the driver got.
  Calls run(int64_t copies = 4, uintptr_t place = 4096) {
    void *segments[] = {reinterpret_cast<void *>(place)};
    const int32_t numbers[] = {0, 1, 2, 3};
    const bool keeps[] = {true};
    hfta_task_call call = {&task,  segments, keeps,   numbers, nullptr,
                           copies, 7,        nullptr, nullptr};
    EXPECT_FALSE(hfta_gpu_graphs_has_run(graphs));
    EXPECT_TRUE(hfta_gpu_graphs_add(graphs, &call, 0));
    EXPECT_TRUE(hfta_gpu_graphs_has_run(graphs));
    result = hfta_gpu_graphs_flush(graphs, nullptr, &failure);
    return driver.take();
  }

  const Calls oneByOne = {"launch_kernel", "launch_kernel"};
  const Calls built = {"graph_create",      "add_free",      "add_waiting",
                       "graph_instantiate", "graph_destroy", "graph_launch"};

  hfta_gpu_driver table = {};
  hfta_gpu gpu = {&table, "gpu"};
  hfta_binding bindings[2] = {};
  hfta_launch launches[2] = {};
  hfta_task task = {};
  hfta_program program = {};
  uint64_t parameters[HFTA_GPU_PARAMETERS] = {};
  void *places[HFTA_GPU_PARAMETERS] = {};
  hfta_gpu_launcher launcher = {};
  hfta_gpu_graphs *graphs = nullptr;
  hfta_gpu_failure failure = {};
  hfta_gpu_result result = {};
};

TEST_F(GpuGraphs, WhatComesAgainIsAGraph) {
  EXPECT_EQ(run(), oneByOne);
  EXPECT_EQ(run(), built);
  EXPECT_EQ(run(), Calls({"graph_launch"}));
  EXPECT_EQ(result.code, 0);
}

TEST_F(GpuGraphs, OtherCopiesAndOtherPlacesHaveTheirOwn) {
  run();
  run();
  EXPECT_EQ(run(3), oneByOne);
  EXPECT_EQ(run(3), built);
  EXPECT_EQ(run(4, 8192), oneByOne);
  EXPECT_EQ(run(), Calls({"graph_launch"}));
  EXPECT_EQ(run(3), Calls({"graph_launch"}));
}

TEST_F(GpuGraphs, TheOldestIsForgotten) {
  run();
  run();
  for (uintptr_t other = 1; other <= 64; ++other)
    run(4, 4096 + 256 * other);
  EXPECT_EQ(run(), oneByOne);
}

TEST_F(GpuGraphs, WithoutMemoryKernelsGoOneByOne) {
  driver.failing = "graph_instantiate";
  driver.failure.lacks_memory = true;
  run();
  EXPECT_EQ(run(), Calls({"graph_create", "add_free", "add_waiting",
                          "graph_instantiate", "graph_destroy", "launch_kernel",
                          "launch_kernel"}));
  EXPECT_EQ(result.code, 0);
  // After this failure, the graph isn't built again.
  EXPECT_EQ(run(), oneByOne);
}

TEST_F(GpuGraphs, WithoutMemoryToLaunchItAGraphIsGivenUp) {
  run();
  run();
  driver.failing = "graph_launch";
  driver.failure.lacks_memory = true;
  EXPECT_EQ(run(), Calls({"graph_launch", "exec_destroy", "launch_kernel",
                          "launch_kernel"}));
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(run(), oneByOne);
}

TEST_F(GpuGraphs, AFailureNamesTheKernel) {
  driver.failing = "add_waiting";
  run();
  EXPECT_EQ(run(), Calls({"graph_create", "add_free", "add_waiting",
                          "graph_destroy"}));
  EXPECT_EQ(result.code, kFailure);
  EXPECT_STREQ(result.call, "fakeCall");
  EXPECT_STREQ(failure.of, "kernel 'second' of task 'task'");
}

TEST_F(GpuGraphs, AFailedLaunchIsTold) {
  driver.failing = "graph_launch";
  run();
  run();
  EXPECT_EQ(result.code, kFailure);
  EXPECT_STREQ(failure.of, "a run of tasks");
}

} // namespace
