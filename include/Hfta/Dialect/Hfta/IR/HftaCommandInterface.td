//===- HftaCommandInterface.td - Commands of schedules -----*- tablegen -*-===//

#ifndef HFTA_COMMAND_INTERFACE
#define HFTA_COMMAND_INTERFACE

include "mlir/IR/OpBase.td"

def Hfta_ScheduleCommandOpInterface
    : OpInterface<"ScheduleCommandOpInterface"> {
  let cppNamespace = "::mlir::hfta";
  let description = [{
    A command of a schedule. Its record of hfta/commands.h, which the op's name
    selects, says which of its attributes are in the program's table, and
    whether all ranks run it. The methods say the rest of what passes and
    verifiers ask of any command.

    Constraints:
    - (C1) there is a record with the op's name.
    - (C2) it has a queue and contains no commands or, if the record says that it
      contains others, the reverse. Device and queue aren't negative.
    - (C3) it stands in a schedule, or in a command that contains others.
    - (C4) if it meets other ranks or workers, its queue isn't 0, whose work the
      host itself does: it waits for the others.
    - (C5) the op has an attribute for each field of the record, of the field's
      kind. `ahead`, `copies` and `which` may be missing. Numbers aren't too
      small, and places lie within their segments.
  }];
  let methods = [
    InterfaceMethod<[{
      Returns the numbers of the device and of the queue to which the host gives
      the command. Returns nothing for a command that only contains others.
    }], "std::optional<::mlir::hfta::CommandQueue>", "findQueue", (ins), "", [{
        return ::mlir::hfta::detail::findQueue($_op);
      }]>,
    InterfaceMethod<"Returns the commands that it contains; null if it can't contain any.",
      "::mlir::Block *", "getCommands", (ins), "", [{
        return ::mlir::hfta::detail::findCommands($_op);
      }]>,
    InterfaceMethod<"Returns whether some steps, copies or ranks skip the commands that it contains.",
      "bool", "isConditional", (ins), "", [{ return false; }]>,
    InterfaceMethod<[{
      Lists the bytes that it reads and writes, apart from those of a task that
      it runs and from places in the arena that it assigns or frees. A command
      with an event has none.
    }], "::llvm::SmallVector<::mlir::hfta::CommandAccess>", "getAccesses",
      (ins), "", [{ return {}; }]>,
    InterfaceMethod<"Returns how many micro-batches after the current one it is for.",
      "int64_t", "getMicroBatchesAhead", (ins), "", [{
        return ::mlir::hfta::detail::getNumber($_op, "ahead");
      }]>,
    InterfaceMethod<"Returns the event that it records or waits for.",
      "std::optional<::mlir::hfta::CommandEvent>", "findEvent", (ins), "", [{
        return std::nullopt;
      }]>,
    InterfaceMethod<"Returns the message that it exchanges with another stage.",
      "std::optional<::mlir::hfta::CommandMessage>", "findMessage", (ins), "",
      [{ return std::nullopt; }]>,
    InterfaceMethod<"Returns the replicas that run what it contains, or that send and receive.",
      "::mlir::hfta::CommandReplicas", "getReplicaSets", (ins), "",
      [{ return {}; }]>
  ];
  let extraClassDeclaration = [{
    /// Returns the record of hfta/commands.h that has the op's name.
    const ::mlir::hfta::CommandRecord &getRecord() {
      const auto *record = ::mlir::hfta::CommandRecord::find(getOperation());
      assert(record && "a command has a record in hfta/commands.h");
      return *record;
    }
    /// Returns whether all ranks of the stage run it, equally often and for all
    /// copies.
    bool isForAll() { return getRecord().has(HFTA_COMMAND_IS_FOR_ALL); }
    /// Returns whether it exchanges messages with other ranks or workers, and
    /// waits for them.
    bool meetsOthers() { return getRecord().has(HFTA_COMMAND_MEETS); }
  }];
  let verify = [{ return ::mlir::hfta::detail::verifyCommand($_op); }];
}

#endif // HFTA_COMMAND_INTERFACE
