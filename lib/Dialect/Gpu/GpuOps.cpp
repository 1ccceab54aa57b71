//===- GpuOps.cpp - What threads of a GPU do together ---------------------===//

#include "Hfta/Dialect/Gpu/GpuOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::hfta_gpu;

#include "Hfta/Dialect/Gpu/GpuDialect.cpp.inc"
#include "Hfta/Dialect/Gpu/GpuEnums.cpp.inc"
#define GET_OP_CLASSES
#include "Hfta/Dialect/Gpu/GpuOps.cpp.inc"

/// The threads of a warp, and the most threads of a block.
static constexpr int64_t kWarpThreads = 32, kMostThreads = 1024;

void HftaGpuDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "Hfta/Dialect/Gpu/GpuOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Attributes of entry points
//===----------------------------------------------------------------------===//

/// Returns whether an attribute is an i32 from 1 to `most`.
static bool isCount(Attribute value, int64_t most) {
  auto number = dyn_cast<IntegerAttr>(value);
  return number && number.getType().isInteger(32) && number.getInt() > 0 &&
         number.getInt() <= most;
}

LogicalResult
HftaGpuDialect::verifyOperationAttribute(Operation *op,
                                         NamedAttribute attribute) {
  constexpr int64_t kMostBlocks = 32;
  StringRef name = attribute.getName();
  Attribute value = attribute.getValue();
  if (name != kEntryAttrName && name != kThreadsAttrName &&
      name != kBlocksAtOnceAttrName)
    return op->emitError() << "expected an attribute of the dialect, got '"
                           << name << "'";
  if (!isa<FunctionOpInterface>(op))
    return op->emitError() << "'" << name << "' belongs on a function";
  if (name == kEntryAttrName)
    return isa<UnitAttr>(value) ? success()
                                : op->emitError()
                                      << "expected '" << name
                                      << "' to be a unit, got " << value;
  int64_t most = name == kThreadsAttrName ? kMostThreads : kMostBlocks;
  return isCount(value, most) ? success()
                              : op->emitError() << "expected '" << name
                                                << "' to be an i32 from 1 to "
                                                << most << ", got " << value;
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

/// Checks that a number of groups that aren't waited for isn't negative.
template <typename OpTy>
static LogicalResult verifyBut(OpTy op) {
  auto but = static_cast<int32_t>(op.getBut());
  return but >= 0 ? success()
                  : op.emitOpError("waits for all groups but ")
                        << but << ", expected 0 or more";
}

LogicalResult WaitForCopiesOp::verify() { return verifyBut(*this); }

LogicalResult WaitForProductGroupsOp::verify() { return verifyBut(*this); }

LogicalResult AddressOp::verify() {
  auto memory = cast<MemRefType>(getMemory().getType());
  if (!getIndices().empty() &&
      static_cast<int64_t>(getIndices().size()) != memory.getRank())
    return emitOpError("has ")
           << getIndices().size() << " indices, expected none or "
           << memory.getRank();
  auto pointer = cast<LLVM::LLVMPointerType>(getAddress().getType());
  if (memory.getMemorySpaceAsInt() != pointer.getAddressSpace())
    return emitOpError("returns a pointer of address space ")
           << pointer.getAddressSpace() << " to memory of address space "
           << memory.getMemorySpaceAsInt();
  return success();
}

LogicalResult BarrierOp::verify() {
  constexpr uint32_t kMostNumber = 15;
  std::optional<uint32_t> number = getNumber(), threads = getThreads();
  if (number.has_value() != threads.has_value())
    return emitOpError("needs both 'number' and 'threads', or neither");
  if (number && (*number == 0 || *number > kMostNumber))
    return emitOpError("has number ")
           << *number << ", expected 1 to " << kMostNumber;
  if (threads && (*threads == 0 || *threads % kWarpThreads != 0 ||
                  *threads > kMostThreads))
    return emitOpError("is for ")
           << *threads << " threads, expected whole warps of " << kWarpThreads
           << ", at most " << kMostThreads;
  return success();
}

LogicalResult LoadMatricesOp::verify() {
  size_t count = getWords().size();
  if (count != 1 && count != 2 && count != 4)
    return emitOpError("loads ") << count << " matrices, expected 1, 2 or 4";
  return success();
}

LogicalResult MultiplyOp::verify() {
  size_t lhs = getLhs().size(), rhs = getRhs().size(), sums = getSums().size();
  if (lhs == 4 && rhs == 2 && sums == getNumResults())
    return success();
  return emitOpError("has ") << lhs << " and " << rhs << " words and " << sums
                             << " sums, expected 4 and 2 words and 4 sums";
}

/// Checks that a thread's sums are a struct of f32.
template <typename OpTy>
static LogicalResult verifySums(OpTy op) {
  auto sums = cast<LLVM::LLVMStructType>(op.getSums().getType());
  if (!sums.isOpaque() && !sums.getBody().empty() &&
      llvm::all_of(sums.getBody(), [](Type type) { return type.isF32(); }))
    return success();
  return op.emitOpError("expected sums in a struct of f32, got ") << sums;
}

LogicalResult WaitForProductsOp::verify() { return verifySums(*this); }

int64_t MultiplySharedOp::countColumns() {
  auto sums = cast<LLVM::LLVMStructType>(getSums().getType());
  return static_cast<int64_t>(sums.getBody().size()) * 2;
}

LogicalResult MultiplySharedOp::verify() {
  constexpr int64_t kColumnUnit = 8, kMostColumns = 256;
  if (failed(verifySums(*this)))
    return failure();
  int64_t columns = countColumns();
  if (columns % kColumnUnit != 0 || columns > kMostColumns)
    return emitOpError("has sums of ")
           << columns << " columns, expected a multiple of " << kColumnUnit
           << ", at most " << kMostColumns;
  if (getFactors() == Factors::tf32 &&
      (getLhsTransposed() || getRhsTransposed()))
    return emitOpError("can't transpose a matrix of tf32");
  return success();
}

LogicalResult InitMbarrierOp::verify() {
  auto arrivals = static_cast<int32_t>(getArrivals());
  return arrivals > 0 ? success()
                      : emitOpError("expects ")
                            << arrivals << " arrivals, expected 1 or more";
}

LogicalResult ArriveExpectingOp::verify() {
  constexpr int32_t kMostBytes = (1 << 20) - 1;
  auto bytes = static_cast<int32_t>(getBytes());
  if (bytes > 0 && bytes <= kMostBytes)
    return success();
  return emitOpError("expects ")
         << bytes << " bytes, expected 1 to " << kMostBytes;
}

LogicalResult BeginBoxCopyOp::verify() {
  size_t count = getCoordinates().size();
  if (count == 0 || count > kMostCoordinates)
    return emitOpError("has ")
           << count << " coordinates, expected 1 to " << kMostCoordinates;
  auto map = static_cast<int32_t>(getMap());
  return map >= 0 ? success()
                  : emitOpError("names map ") << map << ", expected 0 or more";
}
