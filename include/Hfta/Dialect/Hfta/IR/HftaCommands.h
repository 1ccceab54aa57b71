//===- HftaCommands.h - What passes ask of commands -------------*- C++ -*-===//
//
// The records of hfta/commands.h as the compiler reads them, and the types by
// which commands of schedules describe themselves
// (ScheduleCommandOpInterface).
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_IR_HFTACOMMANDS_H
#define HFTA_DIALECT_HFTA_IR_HFTACOMMANDS_H

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"
#include "hfta/commands.h"
#include "mlir/IR/OpDefinition.h"

#include <optional>

namespace mlir::hfta {

/// A queue: the number of a device, and of one of its queues.
using CommandQueue = std::pair<int64_t, int64_t>;

/// Bytes that a command accesses.
struct CommandAccess {
  enum class Kind {
    read,
    write,
    readWrite, ///< reads, then writes the same bytes
    /// Reads the instances of the rank's own micro-batches, and writes those of
    /// other ranks' micro-batches.
    byMicroBatch,
    /// Reads on ranks with replicas that send, and writes on those that
    /// receive (CommandReplicas).
    byReplicas,
  };
  enum class Instances {
    current, ///< that of the micro-batch for which the command runs
    first,
    all,
  };
  Kind kind;
  /// A place in a segment, in the host's image of one, or in the caller's data,
  /// which isn't checked. With a stride, it is one place per copy, of `bytes`
  /// bytes each.
  PlaceAttr place;
  int64_t bytes;
  Instances instances = Instances::current;
};

/// An event that a command records, or for which it waits. In commands of a
/// micro-batch, `instances` events from this number on take turns.
struct CommandEvent {
  int64_t number, instances;
  bool isRecord;
};

/// The sets of replicas that a command names; null: it names none. Either only
/// `runs` is set, or `from` and `to`.
struct CommandReplicas {
  ReplicasAttr runs;     ///< those that run the commands in its region
  ReplicasAttr from, to; ///< those that send bytes, and that receive them
};

/// A message: bytes of a place, which are sent to another stage or received
/// from it.
struct CommandMessage {
  int64_t stage;
  bool isSent;
  PlaceAttr place;
  int64_t bytes;
};

/// A member of a command's row in the program's table.
struct CommandField {
  hfta_command_field_kind kind;
  const char *key; ///< its name in JSON; null: it isn't there
  /// Returns the name of the op's attribute that holds it: the key, except for
  /// a few kinds of fields.
  StringRef getAttributeName() const;
  /// Returns the op's attribute, or null if it hasn't got it.
  Attribute getValue(Operation *op) const;
};

/// A record of hfta/commands.h.
struct CommandRecord {
  uint32_t kind;  ///< hfta_command_kind
  uint32_t flags; ///< bits of hfta_command_flag
  ArrayRef<CommandField> fields;

  bool has(hfta_command_flag flag) const { return (flags & flag) != 0; }
  /// Returns the record whose word is the op's name without its dialect, or
  /// null if there is none.
  static const CommandRecord *find(Operation *op);
};

namespace detail {
/// Returns an attribute that the op defines; null if it hasn't got it, or if
/// somebody has attached an attribute of this name to the op.
Attribute getInherent(Operation *op, StringRef attribute);
/// Returns an integer that the op defines; 0 if it hasn't got it.
int64_t getNumber(Operation *op, StringRef attribute);
std::optional<CommandQueue> findQueue(Operation *op);
/// Returns the block of the op's region; null if it has none.
Block *findCommands(Operation *op);
LogicalResult verifyCommand(Operation *op);
} // namespace detail

} // namespace mlir::hfta

#include "Hfta/Dialect/Hfta/IR/HftaCommandInterface.h.inc"

#endif // HFTA_DIALECT_HFTA_IR_HFTACOMMANDS_H
