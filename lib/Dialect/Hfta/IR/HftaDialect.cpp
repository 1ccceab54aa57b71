//===- HftaDialect.cpp - The hfta dialect ---------------------------------===//

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"
#include "Hfta/Dialect/Hfta/IR/HftaGradientOps.h"
#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/Norms.h"
#include "Hfta/Dialect/Hfta/Job/JobOrder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::hfta;

/// Parses a name without quotes (a keyword).
static ParseResult parseWord(AsmParser &parser, StringAttr &word) {
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  word = parser.getBuilder().getStringAttr(keyword);
  return success();
}

static void printWord(AsmPrinter &printer, StringAttr word) {
  printer << word.getValue();
}

/// Parses a name in quotes, if there is one.
static ParseResult parseOptionalText(AsmParser &parser, StringAttr &text) {
  std::string string;
  if (succeeded(parser.parseOptionalString(&string)))
    text = parser.getBuilder().getStringAttr(string);
  return success();
}

static void printOptionalText(AsmPrinter &printer, StringAttr text) {
  if (text)
    printer << ' ' << text;
}

#include "Hfta/Dialect/Hfta/IR/HftaDialect.cpp.inc"
#include "Hfta/Dialect/Hfta/IR/HftaEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "Hfta/Dialect/Hfta/IR/HftaAttributes.cpp.inc"
#define GET_OP_CLASSES
#include "Hfta/Dialect/Hfta/IR/HftaOps.cpp.inc"

void HftaDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "Hfta/Dialect/Hfta/IR/HftaAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "Hfta/Dialect/Hfta/IR/HftaOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "Hfta/Dialect/Hfta/IR/HftaGradientOps.cpp.inc"
      >();
}

static bool isListOfNames(Attribute attribute) {
  auto names = dyn_cast<ArrayAttr>(attribute);
  return names && llvm::all_of(names, llvm::IsaPred<StringAttr>);
}

LogicalResult HftaDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  if (attribute.getName() == kJobAttrName) {
    auto module = dyn_cast<ModuleOp>(op);
    if (!module)
      return op->emitError() << "'" << kJobAttrName << "' belongs on a module";
    FailureOr<Job> job = Job::read(module);
    if (failed(job) || job->orderRows.empty())
      return failure(failed(job));
    llvm::Expected<planning::Order> order = makeOrder(*job);
    if (order)
      return success();
    return module.emitError() << "in '" << kJobAttrName
                              << "': " << llvm::toString(order.takeError());
  }
  if (attribute.getName() == kSegmentsAttrName) {
    auto segments = dyn_cast<ArrayAttr>(attribute.getValue());
    if (!isa<ModuleOp>(op) || !segments ||
        !llvm::all_of(segments, llvm::IsaPred<SegmentAttr>))
      return op->emitError() << "'" << kSegmentsAttrName
                             << "' must list a module's segments, each a "
                                "#hfta.segment attribute";
  }
  if (attribute.getName() == kCutLocationsAttrName) {
    auto locations = dyn_cast<ArrayAttr>(attribute.getValue());
    if (!isa<ModuleOp>(op) || !locations ||
        !llvm::all_of(locations, llvm::IsaPred<LocationAttr>))
      return op->emitError() << "'" << kCutLocationsAttrName
                             << "' must list locations, on a module";
  }
  if (attribute.getName() == kCutsAttrName) {
    auto cuts = dyn_cast<ArrayAttr>(attribute.getValue());
    if (!isa<ModuleOp>(op) || !cuts || !llvm::all_of(cuts, isListOfNames))
      return op->emitError() << "'" << kCutsAttrName
                             << "' must list lists of names, on a module";
  }
  if (attribute.getName() == kBlockAttrName) {
    auto block = dyn_cast<IntegerAttr>(attribute.getValue());
    if (!block || !block.getType().isInteger(64) || block.getInt() < 0)
      return op->emitError()
             << "'" << kBlockAttrName << "' must be an i64 of at least 0";
  }
  if (attribute.getName() == kPartAttrName &&
      !isa<TaskPartAttr>(attribute.getValue()))
    return op->emitError() << "'" << kPartAttrName
                           << "' must be a #hfta.part attribute";
  if (attribute.getName() == kKeepAttrName &&
      !isa<KeepAttr>(attribute.getValue()))
    return op->emitError() << "'" << kKeepAttrName
                           << "' must be a #hfta.keep attribute";
  if (attribute.getName() == kMultiplyAttrName) {
    auto type = dyn_cast<TypeAttr>(attribute.getValue());
    Type factor = type ? type.getValue() : Type();
    if (!factor || !(factor.isBF16() || factor.isF16() || factor.isTF32()))
      return op->emitError() << "'" << kMultiplyAttrName
                             << "' must be the type bf16, f16 or tf32";
  }
  if (attribute.getName() == kNormAttrName &&
      (!isa<SqrtOp>(op) || !isa<UnitAttr>(attribute.getValue())))
    return op->emitError() << "'" << kNormAttrName
                           << "' belongs on an hfta.sqrt and has no value";
  if (attribute.getName() == kFrozenAttrName) {
    auto norm = dyn_cast<BatchNormOp>(op);
    bool hasMode = norm ? bool(norm.getRunningMean()) : isa<DropoutOp>(op);
    if (!hasMode || !isa<UnitAttr>(attribute.getValue()))
      return op->emitError() << "'" << kFrozenAttrName
                             << "' has no value and belongs on a batch "
                                "normalization with running statistics or on "
                                "a dropout";
  }
  if (attribute.getName() == kRepeatedAttrName &&
      !isa<UnitAttr>(attribute.getValue()))
    return op->emitError() << "'" << kRepeatedAttrName << "' has no value";
  if (attribute.getName() == kMemoryPlanAttrName &&
      (!isa<ModuleOp>(op) || !isa<MemoryPlanAttr>(attribute.getValue())))
    return op->emitError() << "'" << kMemoryPlanAttrName
                           << "' must be a #hfta.memory_plan attribute of a "
                              "module";
  if (attribute.getName() == kMemoryReserveAttrName &&
      (!isa<ModuleOp>(op) || !isa<MemoryReserveAttr>(attribute.getValue())))
    return op->emitError() << "'" << kMemoryReserveAttrName
                           << "' must be a #hfta.memory_reserve attribute of a "
                              "module";
  if (attribute.getName() == kArenaAttrName) {
    auto bytes = dyn_cast<IntegerAttr>(attribute.getValue());
    if (!isa<ModuleOp>(op) || !bytes || !bytes.getType().isInteger(64) ||
        bytes.getInt() < 0)
      return op->emitError() << "'" << kArenaAttrName
                             << "' must be an i64 of at least 0, of a module";
  }
  if (attribute.getName() == kStepSecondsAttrName) {
    auto seconds = dyn_cast<FloatAttr>(attribute.getValue());
    if (!isa<ModuleOp>(op) || !seconds || !seconds.getType().isF64() ||
        !seconds.getValue().isFinite() || seconds.getValueAsDouble() < 0)
      return op->emitError()
             << "'" << kStepSecondsAttrName
             << "' must be a finite f64 of at least 0, of a module";
  }
  if (attribute.getName() == kTargetAttrName &&
      (!isa<ModuleOp>(op) || !isa<TargetAttr>(attribute.getValue())))
    return op->emitError() << "'" << kTargetAttrName
                           << "' must be a #hfta.target attribute of a module";
  if (attribute.getName() == kTaskAttrName) {
    if (!isa<FunctionOpInterface>(op) || !isa<TaskAttr>(attribute.getValue()))
      return op->emitError()
             << "'" << kTaskAttrName
             << "' must be a #hfta.task attribute of a function";
  }
  return success();
}

LogicalResult CopiesAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t count) {
  if (count < 1)
    return emitError() << "number of copies must be at least 1, got " << count;
  return success();
}

LogicalResult ReplicasAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t first, int64_t count,
                                   int64_t stride) {
  if (first < 0 || count < 1 || stride < 1)
    return emitError() << "expected at least one replica, from 0 on and at "
                          "least one apart, got "
                       << count << " from " << first << " on, " << stride
                       << " apart";
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  if (first > most || count - 1 > (most - first) / stride)
    return emitError() << "the last replica's number must be at most " << most
                       << ", got " << count << " from " << first << " on, "
                       << stride << " apart";
  return success();
}

bool ReplicasAttr::contains(int64_t replica) const {
  return replica >= getFirst() && replica <= getLast() &&
         (replica - getFirst()) % getStride() == 0;
}

bool ReplicasAttr::isWithin(ReplicasAttr others) const {
  bool fits = getCount() == 1 || getStride() % others.getStride() == 0;
  return fits && others.contains(getFirst()) && others.contains(getLast());
}

std::string ReplicasAttr::makeName() const {
  std::string name = std::to_string(getFirst());
  if (getCount() > 1)
    name +=
        "_" + std::to_string(getCount()) + "_" + std::to_string(getStride());
  return name;
}

std::string TaskAttr::makeName(StringRef part, int64_t block,
                               ReplicasAttr replicas) {
  std::string name = part.str();
  if (block >= 0)
    name += "." + std::to_string(block);
  if (replicas)
    name += ".on_" + replicas.makeName();
  return name;
}

bool SegmentAttr::mayHave(Role role, Residency residency) {
  switch (role) {
  case Role::parameter:
  case Role::gradient:
  case Role::optimizer_state:
  case Role::statistics:
  case Role::saved:
  case Role::cut:
  case Role::curvature:
  case Role::moment:
    return true;
  case Role::workspace:
    return residency != Residency::spilled;
  case Role::constant:
  case Role::scratch:
  case Role::input:
  case Role::output:
  case Role::scalar:
  case Role::result:
  case Role::exchange:
  case Role::received:
    return residency == Residency::resident;
  }
  llvm_unreachable("all roles are above");
}

LogicalResult SegmentAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  Role role, int64_t /*block*/, int64_t bytes,
                                  int64_t /*instances*/, int64_t copyBytes,
                                  ArrayRef<int64_t> only,
                                  ArrayRef<int64_t> /*readers*/,
                                  ReplicasAttr /*holders*/,
                                  Residency residency) {
  if (copyBytes > 0 && !only.empty())
    return emitError() << "a segment of slabs has one for each copy";
  if (residency == Residency::resident)
    return success();
  if (!mayHave(role, residency))
    return emitError() << "a segment of role '" << stringifyRole(role)
                       << "' can't be " << stringifyResidency(residency);
  if (int64_t unit = copyBytes > 0 ? copyBytes : bytes; unit % kPageBytes != 0)
    return emitError() << "a segment that is " << stringifyResidency(residency)
                       << " must be multiples of " << kPageBytes
                       << " bytes, got " << unit;
  return success();
}

ArrayAttr SegmentAttr::getTable(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  return module
             ? module->getAttrOfType<ArrayAttr>(HftaDialect::kSegmentsAttrName)
             : ArrayAttr();
}

//===----------------------------------------------------------------------===//
// MemoryPlanAttr, MemoryReserveAttr
//===----------------------------------------------------------------------===//

LogicalResult
MemoryPlanAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                       int64_t copies, ArrayRef<BlockMemory> blocks,
                       ArrayRef<int64_t> spilledGradients) {
  if (copies < 1)
    return emitError() << "a plan of memory is for at least one copy, got "
                       << copies;
  int64_t last = -1;
  for (int64_t block : spilledGradients) {
    if (block <= last || block >= static_cast<int64_t>(blocks.size()))
      return emitError()
             << "blocks whose gradients are spilled must be some of the "
             << blocks.size() << " blocks, in ascending order, got " << block
             << " after " << last;
    last = block;
  }
  return success();
}

MemoryPlanAttr MemoryPlanAttr::get(Operation *module) {
  return module->getAttrOfType<MemoryPlanAttr>(
      HftaDialect::kMemoryPlanAttrName);
}

BlockMemory MemoryPlanAttr::getBlock(int64_t block) const {
  return block >= 0 && block < static_cast<int64_t>(getBlocks().size())
             ? getBlocks()[block]
             : BlockMemory::streamed;
}

bool MemoryPlanAttr::spillsGradients(int64_t block) const {
  return llvm::is_contained(getSpilledGradients(), block);
}

LogicalResult
MemoryReserveAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                          int64_t bytes, int64_t copyBytes, int64_t leastCopies,
                          int64_t mostCopies) {
  if (bytes < 0 || copyBytes < 0)
    return emitError() << "a reserve of memory is at least 0 bytes, got "
                       << std::min(bytes, copyBytes);
  if (leastCopies < 1 || mostCopies < leastCopies)
    return emitError()
           << "expected at least one copy in a turn, and a greatest "
              "number that isn't less, got "
           << leastCopies << " to " << mostCopies << " copies";
  return success();
}
