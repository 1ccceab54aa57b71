//===- HftaCommands.cpp - The records of commands -------------------------===//

#include "ScheduleVerifiers.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::hfta;

#include "Hfta/Dialect/Hfta/IR/HftaCommandInterface.cpp.inc"

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

// The fields of each command: an array run_fields, and so on.
#define HFTA_FIELD(kind, text, key) {HFTA_FIELD_##kind, key}
#define HFTA_COMMAND(identifier, word, number, flags, queue, ...)              \
  static constexpr CommandField word##_fields[] = {__VA_ARGS__};
HFTA_COMMANDS
#undef HFTA_COMMAND
#undef HFTA_FIELD

const CommandRecord *CommandRecord::find(Operation *op) {
  static const llvm::StringMap<CommandRecord> records = {
#define HFTA_COMMAND(identifier, word, number, flags, queue, ...)              \
  {#word, {number, flags, word##_fields}},
      HFTA_COMMANDS
#undef HFTA_COMMAND
  };
  auto known = records.find(op->getName().stripDialect());
  return known == records.end() ? nullptr : &known->second;
}

StringRef CommandField::getAttributeName() const {
  switch (kind) {
  case HFTA_FIELD_AT:
    return "at";
  case HFTA_FIELD_CASE:
    return "number";
  case HFTA_FIELD_DUE:
    return "which";
  default:
    return key;
  }
}

Attribute CommandField::getValue(Operation *op) const {
  return hfta::detail::getInherent(op, getAttributeName());
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

Attribute hfta::detail::getInherent(Operation *op, StringRef attribute) {
  return op->getInherentAttr(attribute).value_or(Attribute());
}

int64_t hfta::detail::getNumber(Operation *op, StringRef attribute) {
  auto number = dyn_cast_or_null<IntegerAttr>(getInherent(op, attribute));
  return number ? number.getInt() : 0;
}

std::optional<CommandQueue> hfta::detail::findQueue(Operation *op) {
  if (!isa_and_nonnull<IntegerAttr>(getInherent(op, "queue")))
    return std::nullopt;
  return CommandQueue(getNumber(op, "device"), getNumber(op, "queue"));
}

Block *hfta::detail::findCommands(Operation *op) {
  return op->getNumRegions() > 0 && !op->getRegion(0).empty()
             ? &op->getRegion(0).front()
             : nullptr;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

namespace {
/// A kind of field as a requirement of the op's attribute.
struct Requirement {
  StringRef what;             ///< in words, for messages
  bool (*accepts)(Attribute); ///< whether the attribute has the right class
  std::optional<int64_t>
      least; ///< the smallest allowed number, if there is one
  bool isOptional = false;
};
} // namespace

template <typename AttrTy>
static bool isOf(Attribute value) {
  return isa<AttrTy>(value);
}

static Requirement requireNumber(std::optional<int64_t> least,
                                 bool isOptional = false) {
  return {"an integer", isOf<IntegerAttr>, least, isOptional};
}

static Requirement getRequirement(hfta_command_field_kind kind) {
  switch (kind) {
  case HFTA_FIELD_TASK:
    return {"the symbol of a task", isOf<FlatSymbolRefAttr>, {}};
  case HFTA_FIELD_EVENT:
  case HFTA_FIELD_GROUP:
    return requireNumber(0);
  case HFTA_FIELD_BYTES:
  case HFTA_FIELD_EVENTS:
  case HFTA_FIELD_PLACES:
    return requireNumber(1);
  case HFTA_FIELD_COPIES:
    return requireNumber(1, /*isOptional=*/true);
  case HFTA_FIELD_AHEAD:
    return requireNumber(0, /*isOptional=*/true);
  // The ops themselves check these.
  case HFTA_FIELD_STAGE:
  case HFTA_FIELD_CASE:
  case HFTA_FIELD_SEGMENT:
  case HFTA_FIELD_ADDRESS:
    return requireNumber({});
  case HFTA_FIELD_REPEAT_KIND:
    return {"a kind of repeat", isOf<RepeatKindAttr>, {}};
  case HFTA_FIELD_PERIOD:
    return {"the name of a hyper-parameter", isOf<StringAttr>, {}};
  case HFTA_FIELD_ORDER:
    return {"a list of integers", isOf<DenseI64ArrayAttr>, {}};
  case HFTA_FIELD_CONTENTS:
    return {"contents", isOf<ContentsAttr>, {}};
  case HFTA_FIELD_DUE:
    return {"a choice of copies", isOf<DueKindAttr>, {}, /*isOptional=*/true};
  case HFTA_FIELD_FROM:
  case HFTA_FIELD_TO:
  case HFTA_FIELD_AT:
  case HFTA_FIELD_AT_COPIES:
  case HFTA_FIELD_SUMS:
  case HFTA_FIELD_RECEIVED:
    return {"a place", isOf<PlaceAttr>, {}};
  case HFTA_FIELD_REPLICAS:
  case HFTA_FIELD_RECEIVERS:
    return {"replicas", isOf<ReplicasAttr>, {}};
  }
  llvm_unreachable("all kinds are above");
}

/// Checks a place of `bytes` bytes. Only transfers may be from or to other
/// memory than segments.
static LogicalResult verifyPlace(Operation *op, const CommandField &field,
                                 int64_t bytes) {
  auto place = cast<PlaceAttr>(field.getValue(op));
  bool isAnywhere =
      field.kind == HFTA_FIELD_FROM || field.kind == HFTA_FIELD_TO;
  if (!isAnywhere && place.getSpace() != Space::segment)
    return op->emitOpError("expected a place in a segment, got ") << place;
  // The size of this memory doesn't follow from the command's bytes.
  if (field.kind == HFTA_FIELD_RECEIVED)
    return success();
  return verifyPlace(op, place, bytes,
                     /*mayBeInArena=*/field.kind == HFTA_FIELD_SUMS);
}

static LogicalResult verifyField(Operation *op, const CommandField &field) {
  Requirement requirement = getRequirement(field.kind);
  StringRef name = field.getAttributeName();
  Attribute value = field.getValue(op);
  if (!value && requirement.isOptional)
    return success();
  if (!value || !requirement.accepts(value))
    return op->emitOpError("expected ")
           << requirement.what << " as attribute '" << name << "'";
  auto number = dyn_cast<IntegerAttr>(value);
  if (requirement.least && number.getInt() < *requirement.least)
    return op->emitOpError("expected '")
           << name << "' of at least " << *requirement.least << ", got "
           << number.getInt();
  if (isa<PlaceAttr>(value))
    return verifyPlace(op, field, hfta::detail::getNumber(op, "bytes"));
  return success();
}

/// Checks constraints (C2) and (C4).
static LogicalResult verifyQueue(ScheduleCommandOpInterface command,
                                 const CommandRecord &record) {
  bool hasBody = record.has(HFTA_COMMAND_HAS_BODY);
  std::optional<CommandQueue> queue = command.findQueue();
  if (hasBody != bool(command.getCommands()) || hasBody == queue.has_value())
    return command->emitOpError("must have ")
           << (hasBody ? "commands in a region, and no queue"
                       : "a queue, and no commands in a region");
  if (!queue)
    return success();
  if (queue->first < 0 || queue->second < 0)
    return command->emitOpError("needs a device and a queue, got ")
           << queue->first << " and " << queue->second;
  // A command in the host's own queue would block the host.
  if (record.has(HFTA_COMMAND_MEETS) && queue->second == 0)
    return command->emitOpError(
        "needs a queue above 0, which is the host's own");
  return success();
}

/// Checks constraint (C3).
static LogicalResult verifyParent(Operation *op) {
  Operation *parent = op->getParentOp();
  auto outer = dyn_cast_or_null<ScheduleCommandOpInterface>(parent);
  if (isa_and_nonnull<ScheduleOp>(parent) || (outer && outer.getCommands()))
    return success();
  return op->emitOpError("stands in no schedule, nor in a command that "
                         "contains commands");
}

LogicalResult hfta::detail::verifyCommand(Operation *op) {
  const CommandRecord *record = CommandRecord::find(op);
  if (!record)
    return op->emitOpError("is a command without a record in hfta/commands.h");
  if (failed(verifyParent(op)) ||
      failed(::verifyQueue(cast<ScheduleCommandOpInterface>(op), *record)))
    return failure();
  for (const CommandField &field : record->fields)
    if (failed(verifyField(op, field)))
      return failure();
  return success();
}
