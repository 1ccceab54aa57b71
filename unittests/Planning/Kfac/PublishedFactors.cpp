//===- PublishedFactors.cpp - Published runs of K-FAC ---------------------===//

#include "Kfac/PublishedFactors.h"

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

using LayerSizes = PublishedNetwork::LayerSizes;
using Layers = std::vector<LayerSizes>;

//===----------------------------------------------------------------------===//
// Networks
//===----------------------------------------------------------------------===//

/// Appends the layers `more`, repeated `times` times.
static void append(Layers &layers, const Layers &more, int64_t times = 1) {
  for (int64_t time = 0; time < times; ++time)
    layers.insert(layers.end(), more.begin(), more.end());
}

/// Makes a residual network of bottleneck blocks in four groups. `second` and
/// `third` are the numbers of blocks that follow the first block of the second
/// and of the third group.
static Layers makeResNet(int64_t second, int64_t third) {
  Layers layers = {{147, 64}, {64, 64}, {576, 64}, {64, 256}, {64, 256}};
  append(layers, {{256, 64}, {576, 64}, {64, 256}}, 2);
  append(layers, {{256, 128}, {1152, 128}, {128, 512}, {256, 512}});
  append(layers, {{512, 128}, {1152, 128}, {128, 512}}, second);
  append(layers, {{512, 256}, {2304, 256}, {256, 1024}, {512, 1024}});
  append(layers, {{1024, 256}, {2304, 256}, {256, 1024}}, third);
  append(layers, {{1024, 512}, {4608, 512}, {512, 2048}, {1024, 2048}});
  append(layers, {{2048, 512}, {4608, 512}, {512, 2048}}, 2);
  append(layers, {{2049, 1000}});
  return layers;
}

static Layers makeDenseNet201() {
  Layers layers = {{147, 64}};
  int64_t channels = 64;
  for (int64_t count : {6, 12, 48, 32}) {
    for (int64_t i = 0; i < count; ++i, channels += 32)
      append(layers, {{channels, 128}, {1152, 32}});
    if (count == 32)
      break;
    append(layers, {{channels, channels / 2}});
    channels /= 2;
  }
  append(layers, {{1921, 1000}});
  return layers;
}

static Layers makeInceptionV4() {
  Layers layers = {{27, 32}, {288, 32}, {288, 64}};
  append(layers, {{576, 96}, {160, 64}}, 2);
  append(layers, {{448, 64}}, 2);
  append(layers, {{576, 96}, {1728, 192}});
  append(layers,
         {{384, 96},
          {384, 64},
          {576, 96},
          {384, 64},
          {576, 96},
          {864, 96},
          {384, 96}},
         4);
  append(layers, {{3456, 384}, {384, 192}, {1728, 224}, {2016, 256}});
  append(layers,
         {{1024, 384},
          {1024, 192},
          {1344, 224},
          {1568, 256},
          {1024, 192},
          {1344, 192},
          {1344, 224},
          {1568, 224},
          {1568, 256},
          {1024, 128}},
         7);
  append(layers, {{1024, 192},
                  {1728, 192},
                  {1024, 256},
                  {1792, 256},
                  {1792, 320},
                  {2880, 320}});
  append(layers,
         {{1536, 256},
          {1536, 384},
          {1152, 256},
          {1152, 256},
          {1536, 384},
          {1152, 448},
          {1344, 512},
          {1536, 256},
          {1536, 256},
          {1536, 256}},
         3);
  append(layers, {{1537, 1000}});
  return layers;
}

const std::vector<PublishedNetwork> &planning::getPublishedNetworks() {
  static const std::vector<PublishedNetwork> networks = {
      {"ResNet-50",
       makeResNet(3, 5),
       .4083,
       1024,
       {.8525, .7635, .6755},
       {.872, .765, .701},
       .670},
      {"ResNet-152",
       makeResNet(7, 35),
       .4657,
       1400,
       {1.5807, 1.3933, 1.1689},
       {1.567, 1.355, 1.187},
       .960},
      {"DenseNet-201",
       makeDenseNet201(),
       .6806,
       1400,
       {1.4964, 1.5340, 1.3615},
       {1.518, 1.502, 1.345},
       1.015},
      {"Inception-v4",
       makeInceptionV4(),
       .4597,
       1400,
       {1.1857, 1.1473, .9907},
       {1.174, 1.139, 1.008},
       .785},
  };
  return networks;
}

/// Appends a layer of this size and its two factors to a block of the model.
static KfacLayer &addLayer(KfacModel &model, const LayerSizes &sizes,
                           int64_t block) {
  KfacLayer layer;
  layer.gradientElements = sizes.input * sizes.output;
  for (bool isInput : {true, false}) {
    (isInput ? layer.factors.input : layer.factors.output) =
        model.factors.size();
    KfacFactor factor;
    factor.matrices.size = isInput ? sizes.input : sizes.output;
    factor.block = block;
    factor.isInput = isInput;
    model.factors.push_back(factor);
  }
  return model.layers.emplace_back(layer);
}

KfacModel PublishedNetwork::getModel() const {
  KfacModel model;
  model.lead = base;
  model.blocks.resize(1);
  for (const LayerSizes &sizes : layers)
    addLayer(model, sizes, /*block=*/0);
  return model;
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

/// The seconds to invert a matrix: a constant, and a part per cube of its rows.
static constexpr double kInversion = 8.46e-4;
static constexpr double kCubic = 4.50e-13;
/// The seconds of an all-reduce after the backward: a constant, and a part per
/// element.
static constexpr double kReduce = 2.47e-4;
static constexpr double kReduceElement = 1.842e-9;
/// The share of `kReduceElement` that an all-reduce takes if it is pipelined
/// with the backward.
static constexpr double kPipelined = 0.84;
/// The seconds of a broadcast: a constant, and a part per element.
static constexpr double kBroadcast = 1.02e-3;
static constexpr double kBroadcastElement = 4.09e-10;

KfacCosts planning::getPublishedCosts(bool isOverlapped) {
  KfacCosts costs;
  costs.invert = makeCubicInversionCost(0, kInversion, kCubic);
  costs.reduceFactors = {0, kPipelined * kReduceElement};
  costs.broadcast = [](int64_t) {
    return TransferCost{kBroadcast, kBroadcastElement};
  };
  costs.isOverlapped = isOverlapped;
  return costs;
}

KfacRun planning::replay(const PublishedNetwork &network, PublishedPlan kind) {
  KfacModel model = network.getModel();
  KfacCosts costs = getPublishedCosts(/*isOverlapped=*/false);
  costs.isMerged = false;
  if (kind != PublishedPlan::balanced)
    costs.reduceFactors = {kReduce, kReduceElement};
  KfacPlan plan;
  plan.grid = {kPublishedRanks, 1};
  plan.columns.layers.assign(model.layers.size(), 0);
  plan.columns.factors.assign(model.factors.size(), 0);
  plan.owners.assign(model.factors.size(), kEveryRank);
  if (kind == PublishedPlan::roundRobin)
    for (size_t factor = 0; factor < plan.owners.size(); ++factor)
      plan.owners[factor] = factor % kPublishedRanks;
  if (kind == PublishedPlan::balanced)
    plan.owners = placeBySize(model.getMatrices(), kPublishedRanks,
                              network.threshold, LoadWeight::size);
  BucketProblem problem = getBucketProblem(model, costs, plan.readyOrder);
  plan.buckets =
      getBucketTimes(problem, std::vector<int64_t>(model.factors.size(), 1));
  return simulateStep(model, costs, plan, KfacStep::inverses);
}

KfacModel planning::makeLargeModel() {
  KfacModel model;
  for (int64_t number = 0; number < 200; ++number) {
    LayerSizes sizes = {64 + 17 * number, 2048 - 9 * number};
    KfacBlock block;
    block.forward = 4e-4;
    block.backward = 8e-4;
    block.gradientElements = sizes.input * sizes.output;
    model.blocks.push_back(block);
    addLayer(model, sizes, number).precondition = 1e-4;
  }
  for (KfacFactor &factor : model.factors)
    factor.moment = 2e-4;
  model.update = 1e-3;
  model.factorEvery = 10;
  model.inverseEvery = 100;
  return model;
}
