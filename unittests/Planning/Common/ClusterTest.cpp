//===- ClusterTest.cpp - Numbering of a cluster's devices -----------------===//

#include "Hfta/Planning/Common/Cluster.h"

#include "gtest/gtest.h"

using namespace mlir::hfta::planning;

TEST(ClusterTest, numbersDevicesThroughMachines) {
  Cluster cluster;
  cluster.devices = {2, 1, 3};
  EXPECT_EQ(cluster.getDeviceCount(), 6);
  EXPECT_EQ(cluster.getFirstDevice(0), 0);
  EXPECT_EQ(cluster.getFirstDevice(2), 3);
  std::vector<int64_t> machines;
  for (int64_t device = 0; device < 6; ++device)
    machines.push_back(cluster.getMachineOf(device));
  EXPECT_EQ(machines, (std::vector<int64_t>{0, 0, 1, 2, 2, 2}));
}
