//===- TileKernels.cpp - Products by warps and by warp groups -------------===//

#include "TileKernels.h"
#include "BlockThreads.h"
#include "Hfta/Conversion/LowerGpuKernels.h"
#include "Hfta/Conversion/LowerKernels.h"
#include "Hfta/InitAll.h"
#include "ProductSums.h"
#include "TensorCores.h"
#include "TensorMaps.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/TargetSelect.h"
#include "gtest/gtest.h"

extern "C" {
#include "device/cuda/cuda_maps.h"
}

#include <cmath>
#include <cstring>
#include <random>

using namespace mlir;
using namespace mlir::hfta;

static constexpr char kWarps[] = "product",
                      kWarpGroups[] = "product/warp_groups";

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// Stores a number in the given format. The number must have so few significant
/// bits that each format represents it exactly.
static void store(Type type, float number, int64_t at, char *to) {
  uint32_t bits;
  std::memcpy(&bits, &number, sizeof(bits));
  if (type.isF32()) {
    std::memcpy(to + 4 * at, &bits, 4);
    return;
  }
  auto half = uint16_t(bits >> 16);
  if (type.isF16()) {
    // f16 has 5 bits of exponent, and the upper bits of the fraction.
    int exponent = int(bits >> 23 & 0xFF) - 127 + 15;
    half = number == 0
               ? 0
               : uint16_t((bits >> 31) << 15 | unsigned(exponent) << 10 |
                          (bits >> 13 & 0x3FF));
  }
  std::memcpy(to + 2 * at, &half, 2);
}

namespace {
/// The memory of an argument for all copies. NaNs surround each copy, so that
/// reads outside of it are noticed.
class ArgumentMemory {
public:
  ArgumentMemory(RankedTensorType type, int64_t copies, std::mt19937 &random);

  char *getAddress(int64_t copy) { return begin + copy * stride; }
  /// Returns the distance of copies in bytes; 0 if all copies share one.
  uint64_t getStride() const { return stride; }
  const std::vector<float> &getFirst() const { return first; }

private:
  static constexpr uint64_t kGap = 256; ///< gap and alignment in bytes
  std::vector<char> bytes;
  char *begin;
  uint64_t stride = 0;
  std::vector<float> first; ///< the numbers of the first copy
};
} // namespace

/// Returns a random number of random magnitude, so that the order of terms
/// changes the bits of their sum.
static float draw(std::mt19937 &random) {
  float size = std::ldexp(1.0F, int(random() % 8) - 4);
  return (float(random() % 33) - 16) * size / 16;
}

ArgumentMemory::ArgumentMemory(RankedTensorType type, int64_t copies,
                               std::mt19937 &random) {
  Type element = type.getElementType();
  int64_t count = type.getNumElements();
  uint64_t own = count * element.getIntOrFloatBitWidth() / 8;
  uint64_t distance = (own + 2 * kGap - 1) / kGap * kGap;
  bytes.assign((copies + 2) * distance, char(0xFF));
  begin = reinterpret_cast<char *>(
      (reinterpret_cast<uintptr_t>(bytes.data()) + distance + kGap - 1) / kGap *
      kGap);
  stride = copies > 1 ? distance : 0;
  for (int64_t copy = 0; copy < copies; ++copy)
    for (int64_t at = 0; at < count; ++at) {
      float number = draw(random);
      store(element, number, at, getAddress(copy));
      if (copy == 0)
        first.push_back(number);
    }
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

namespace {
/// A piece of the block of tensor maps, with the alignment that the block
/// needs.
struct alignas(HFTA_MAP_ALIGNMENT) MapUnit {
  char bytes[HFTA_MAP_ALIGNMENT];
};

/// A kernel that is compiled into this process twice, for warps and for warp
/// groups.
class Kernels {
public:
  bool compile(const std::string &text);
  bool hasMaps() const { return getMaps() != nullptr; }
  /// Runs all blocks of the kernel `name` for each copy, with threads in the
  /// order that `seed` chooses. Returns false if threads deadlock.
  bool run(const std::string &name, MutableArrayRef<ArgumentMemory> arguments,
           uint32_t seed, std::vector<std::vector<float>> &results);

  /// Returns the kernel as it was before its lowering.
  func::FuncOp getKernel() const {
    return original.get().lookupSymbol<func::FuncOp>(kWarps);
  }

private:
  LogicalResult lower();
  void *find(const std::string &symbol);
  ArrayAttr getMaps() const;
  bool makeMaps(MutableArrayRef<ArgumentMemory> arguments, uint64_t copies,
                std::vector<MapUnit> &block) const;

  MLIRContext context{[] {
    DialectRegistry registry;
    registerAllDialects(registry);
    return registry;
  }()};
  OwningOpRef<ModuleOp> original, module;
  std::unique_ptr<ExecutionEngine> engine;
  BlockThreads blocks;
};

/// A tensor map in the form that a program's table has.
struct MapOfTable {
  explicit MapOfTable(DictionaryAttr map);

  uint32_t argument, elementBytes;
  std::vector<hfta_map_dimension> dimensions;
};
} // namespace

LogicalResult Kernels::lower() {
  PassManager pm(&context);
  pm.addPass(createHftaAddWarpGroupKernels());
  pm.addPass(createHftaKernelsToThreads());
  pm.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createCSEPass());
  buildKernelFunctionsPipeline(pm);
  pm.addPass(createHftaEmulateGpu());
  return pm.run(*module);
}

void *Kernels::find(const std::string &symbol) {
  llvm::Expected<void *> found = engine->lookup(symbol);
  if (found)
    return *found;
  llvm::errs() << llvm::toString(found.takeError()) << "\n";
  return nullptr;
}

ArrayAttr Kernels::getMaps() const {
  auto function = module.get().lookupSymbol<LLVM::LLVMFuncOp>(kWarpGroups);
  return function ? function->getAttrOfType<ArrayAttr>(kTensorMapsAttrName)
                  : ArrayAttr();
}

bool Kernels::compile(const std::string &text) {
  original = parseSourceString<ModuleOp>(text, &context);
  if (!original)
    return false;
  module = original->clone();
  if (failed(lower()))
    return false;
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  ExecutionEngineOptions options;
  options.jitCodeGenOptLevel = llvm::CodeGenOptLevel::Default;
  llvm::Expected<std::unique_ptr<ExecutionEngine>> made =
      ExecutionEngine::create(*module, options);
  if (!made) {
    llvm::errs() << llvm::toString(made.takeError()) << "\n";
    return false;
  }
  engine = std::move(*made);
  return blocks.load(*engine);
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

MapOfTable::MapOfTable(DictionaryAttr map)
    : argument(uint32_t(map.getAs<IntegerAttr>("argument").getInt())),
      elementBytes(uint32_t(map.getAs<IntegerAttr>("element_bytes").getInt())) {
  auto get = [&](StringRef name) {
    return map.getAs<DenseI64ArrayAttr>(name).asArrayRef();
  };
  for (auto [size, stride, box, step] :
       llvm::zip_equal(get("sizes"), get("strides"), get("box"), get("steps")))
    dimensions.push_back(
        {uint64_t(size), uint64_t(stride), uint32_t(box), uint32_t(step)});
}

static hfta_cu_result encode(hfta_cu_tensor_map *map, int type, uint32_t rank,
                             void *address, const uint64_t *sizes,
                             const uint64_t *strides, const uint32_t *box,
                             const uint32_t *steps, int interleave, int swizzle,
                             int promotion, int fill) {
  return tensor_maps::encodeTiled(map, type, rank, address, sizes, strides, box,
                                  steps, interleave, swizzle, promotion, fill);
}

/// Encodes the tensor maps into `block`, as the runtime does before it launches
/// the kernel. Returns whether that succeeds.
bool Kernels::makeMaps(MutableArrayRef<ArgumentMemory> arguments,
                       uint64_t copies, std::vector<MapUnit> &block) const {
  std::vector<MapOfTable> own;
  std::vector<hfta_tensor_map> maps;
  for (auto map : getMaps().getAsRange<DictionaryAttr>())
    own.emplace_back(map);
  for (const MapOfTable &map : own)
    maps.push_back({map.argument, map.elementBytes,
                    uint32_t(map.dimensions.size()), 0, map.dimensions.data()});
  std::vector<uint64_t> parameters;
  for (ArgumentMemory &argument : arguments) {
    parameters.push_back(reinterpret_cast<uint64_t>(argument.getAddress(0)));
    parameters.push_back(argument.getStride());
  }
  hfta_warp_group_launch groups = {};
  groups.maps = maps.data();
  groups.map_count = uint32_t(maps.size());
  hfta_launch launch = {};
  launch.warp_groups = &groups;
  hfta_cuda cuda = {};
  cuda.tensor_map_encode = encode;
  block.resize(hfta_map_block_bytes(groups.map_count) / sizeof(MapUnit));
  return hfta_cuda_make_maps(&cuda, &launch, parameters.data(), copies,
                             block.data()) == 0;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

bool Kernels::run(const std::string &name,
                  MutableArrayRef<ArgumentMemory> arguments, uint32_t seed,
                  std::vector<std::vector<float>> &results) {
  auto entry = reinterpret_cast<hfta_kernel>(find(name + "/entry"));
  auto function = module->lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!entry || !function)
    return false;
  auto getNumber = [&](StringRef attribute) {
    return function->getAttrOfType<IntegerAttr>(attribute).getInt();
  };
  std::vector<MapUnit> maps;
  if (function->hasAttr(kTensorMapsAttrName) &&
      !makeMaps(arguments, results.size(), maps))
    return false;
  for (auto [copy, result] : llvm::enumerate(results)) {
    std::vector<void *> buffers;
    for (ArgumentMemory &argument : arguments)
      buffers.push_back(argument.getAddress(int64_t(copy)));
    buffers.push_back(result.data());
    if (!blocks.run({entry, buffers.data(), getNumber(kItemsAttrName),
                     unsigned(getNumber(kBlockThreadsAttrName)),
                     maps.empty() ? nullptr : maps.data(), uint32_t(copy),
                     seed}))
      return false;
  }
  return true;
}

static void expectNear(const std::vector<float> &made,
                       const ProductSums &exact) {
  ASSERT_EQ(made.size(), exact.sums.size());
  for (size_t i = 0; i < made.size(); ++i)
    ASSERT_NEAR(made[i], exact.sums[i], 1e-6 * exact.sizes[i] + 1e-30)
        << "element " << i;
}

static void expectSame(const std::vector<std::vector<float>> &made,
                       const std::vector<std::vector<float>> &expected,
                       uint32_t seed) {
  for (size_t copy = 0; copy < made.size(); ++copy)
    EXPECT_EQ(0, std::memcmp(made[copy].data(), expected[copy].data(),
                             made[copy].size() * sizeof(float)))
        << "copy " << copy << ", seed " << seed;
}

std::ostream &hfta::operator<<(std::ostream &os, const ProductCase &own) {
  return os << own.name;
}

void hfta::expectBitsOfWarps(const ProductCase &own) {
  tensor_cores::setChip(tensor_cores::Chip::get(9));
  Kernels kernels;
  ASSERT_TRUE(kernels.compile(own.text)) << own.text;
  EXPECT_EQ(kernels.hasMaps(), own.hasMaps);
  FunctionType type = kernels.getKernel().getFunctionType();
  std::mt19937 random(1);
  std::vector<ArgumentMemory> arguments;
  std::vector<std::vector<float>> first;
  for (auto [number, input] : llvm::enumerate(type.getInputs())) {
    bool isShared = llvm::is_contained(own.shared, number);
    arguments.emplace_back(cast<RankedTensorType>(input),
                           isShared ? 1 : own.copies, random);
    first.push_back(arguments.back().getFirst());
  }
  auto result = cast<RankedTensorType>(type.getResult(0));
  const std::vector<std::vector<float>> none(
      own.copies, std::vector<float>(result.getNumElements(), NAN));
  std::vector<std::vector<float>> expected = none;
  ASSERT_TRUE(kernels.run(kWarps, arguments, /*seed=*/0, expected));
  expectNear(expected.front(), addProductUp(kernels.getKernel(), first));
  for (uint32_t seed = 0; seed <= own.seeds; ++seed) {
    std::vector<std::vector<float>> made = none;
    ASSERT_TRUE(kernels.run(kWarpGroups, arguments, seed, made))
        << "seed " << seed;
    expectSame(made, expected, seed);
  }
}
