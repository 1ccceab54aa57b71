//===- TileKernels.cpp - Products' tiles in this process ------------------===//

#include "TileKernels.h"

#include "Hfta/Conversion/LowerGpuKernels.h"
#include "Hfta/Conversion/LowerKernels.h"
#include "Hfta/InitAll.h"
#include "TensorCores.h"
#include "TensorMaps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/TargetSelect.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace mlir::hfta;

std::string hfta::printWidened(const std::string &name,
                               const std::string &shape,
                               const std::string &stored) {
  if (stored == "f32")
    return "";
  std::string dims, kinds;
  auto rank = llvm::count(shape, 'x') + 1;
  for (ptrdiff_t i = 0; i < rank; ++i) {
    dims += (i > 0 ? ", d" : "d") + std::to_string(i);
    kinds += i > 0 ? ", \"parallel\"" : "\"parallel\"";
  }
  return llvm::formatv(R"(
  %{0}_empty = tensor.empty() : tensor<{1}xf32>
  %{0}_wide = linalg.generic {{
      indexing_maps = [affine_map<({3}) -> ({3})>,
                       affine_map<({3}) -> ({3})>],
      iterator_types = [{4}]}
      ins(%{0} : tensor<{1}x{2}>) outs(%{0}_empty : tensor<{1}xf32>) {{
  ^bb0(%x: {2}, %y: f32):
    %z = arith.extf %x : {2} to f32
    linalg.yield %z : f32
  } -> tensor<{1}xf32>
)",
                       name, shape, stored, dims, kinds);
}

float hfta::drawNumber(std::mt19937 &random) {
  float size = std::ldexp(1.0F, int(random() % 8) - 4);
  return (float(random() % 33) - 16) * size / 16;
}

void hfta::storeNumber(const std::string &type, float number, int64_t at,
                       char *to) {
  uint32_t bits;
  std::memcpy(&bits, &number, sizeof(bits));
  if (type == "f32") {
    std::memcpy(to + 4 * at, &bits, 4);
    return;
  }
  auto half = uint16_t(bits >> 16);
  if (type == "f16") {
    // 5 bits of exponent, and of the fraction the first ones.
    int exponent = int(bits >> 23 & 0xFF) - 127 + 15;
    half = number == 0
               ? 0
               : uint16_t((bits >> 31) << 15 | unsigned(exponent) << 10 |
                          (bits >> 13 & 0x3FF));
  }
  std::memcpy(to + 2 * at, &half, 2);
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

TileKernels::TileKernels()
    : context([] {
        DialectRegistry registry;
        registerAllDialects(registry);
        return registry;
      }()) {
  tensor_cores::setChip(tensor_cores::Chip::get(9));
}

LogicalResult TileKernels::lower() {
  PassManager pm(&context);
  pm.addPass(createHftaAddWarpGroupKernels());
  pm.addPass(createHftaKernelsToThreads());
  pm.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createCSEPass());
  buildKernelFunctionsPipeline(pm);
  pm.addPass(createHftaEmulateGpu());
  return pm.run(*module);
}

void *TileKernels::find(const std::string &symbol) {
  llvm::Expected<void *> found = engine->lookup(symbol);
  if (found)
    return *found;
  llvm::errs() << llvm::toString(found.takeError()) << "\n";
  return nullptr;
}

bool TileKernels::compile(const std::string &text) {
  module = parseSourceString<ModuleOp>(text, &context);
  if (!module || failed(lower()))
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

LLVM::LLVMFuncOp TileKernels::findFunction(const std::string &name) const {
  return const_cast<OwningOpRef<ModuleOp> &>(module)
      ->lookupSymbol<LLVM::LLVMFuncOp>(name);
}

bool TileKernels::hasMaps() const {
  LLVM::LLVMFuncOp function = findFunction(kOfWarpGroups);
  return function && function->hasAttr(kTensorMapsAttrName);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

std::vector<TileKernels::MapBytes>
TileKernels::makeMaps(LLVM::LLVMFuncOp function, ArrayRef<void *> operands,
                      ArrayRef<size_t> bytes, unsigned copies) const {
  std::vector<MapBytes> block;
  auto all = function->getAttrOfType<ArrayAttr>(kTensorMapsAttrName);
  if (!all)
    return block;
  block.resize(
      llvm::divideCeil(all.size() * (kTensorMapBytes + 4), sizeof(MapBytes)));
  auto *begin = reinterpret_cast<char *>(block.data());
  uint32_t isApart = copies > 1 ? 1 : 0;
  for (auto [number, attribute] : llvm::enumerate(all)) {
    auto row = cast<DictionaryAttr>(attribute);
    auto read = [&](StringRef name) {
      return row.getAs<DenseI64ArrayAttr>(name).asArrayRef();
    };
    int64_t operand = row.getAs<IntegerAttr>("argument").getInt();
    tensor_maps::Map map = {};
    map.address = reinterpret_cast<uint64_t>(operands[operand]);
    map.elementBytes =
        uint32_t(row.getAs<IntegerAttr>("element_bytes").getInt());
    map.rank = uint32_t(read("sizes").size()) + 1;
    for (size_t i = 0; i + 1 < map.rank; ++i) {
      map.sizes[i] = read("sizes")[i];
      map.strides[i] = read("strides")[i];
      map.box[i] = read("box")[i];
      map.steps[i] = read("steps")[i];
    }
    map.sizes[map.rank - 1] = copies;
    map.strides[map.rank - 1] = bytes[operand];
    map.box[map.rank - 1] = map.steps[map.rank - 1] = 1;
    map.swizzleBytes = map.box[0] * map.elementBytes;
    if (!tensor_maps::encode(map, begin + number * kTensorMapBytes))
      llvm::report_fatal_error("the driver would refuse a tensor map");
    std::memcpy(begin + all.size() * kTensorMapBytes + 4 * number, &isApart,
                sizeof(isApart));
  }
  return block;
}

bool TileKernels::run(const std::string &name, ArrayRef<void *> operands,
                      ArrayRef<size_t> bytes, unsigned copies) {
  auto entry = reinterpret_cast<hfta_kernel>(find(name + "/entry"));
  auto *registers = static_cast<uint32_t *>(find(emulated::kRegisters));
  LLVM::LLVMFuncOp function = findFunction(name);
  if (!entry || !registers || !function)
    return false;
  int64_t items = function->getAttrOfType<IntegerAttr>(kItemsAttrName).getInt();
  int64_t threads =
      function->getAttrOfType<IntegerAttr>(kBlockThreadsAttrName).getInt();
  std::vector<MapBytes> maps = makeMaps(function, operands, bytes, copies);
  for (unsigned copy = 0; copy < copies; ++copy) {
    registers[emulated::kBlockZ] = copy;
    SmallVector<void *> own;
    for (auto [operand, size] : llvm::zip(operands, bytes))
      own.push_back(static_cast<char *>(operand) + copy * size);
    if (!blocks.run(entry, own.data(), items, static_cast<unsigned>(threads),
                    maps.data()))
      return false;
  }
  return true;
}
