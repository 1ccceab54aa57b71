//===- HftaScheduleOps.td - Tasks and schedules ------------*- tablegen -*-===//
//
// A program as data: tasks are lists of launches, and schedules are lists of
// commands. They become constant tables, which the runtime interprets.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SCHEDULE_OPS
#define HFTA_SCHEDULE_OPS

include "Hfta/Dialect/Hfta/IR/HftaBase.td"
include "Hfta/Dialect/Hfta/IR/HftaCommandInterface.td"

def Hfta_TaskOp : Hfta_Op<"task", [
    Symbol, NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "A list of launches that schedules run as one";
  let description = [{
    `part` names the task's purpose ("forward", "update"), `block` its part of
    the model, or -1. `reads` and `writes` number the segments that its launches
    access. A task that runs `by_copies` may run for some copies before others:
    nothing that it computes for a copy depends on another copy, and it may
    compute shared values again. `workspace` has a number for each segment of
    role `workspace` among these, in ascending order: the bytes of the segment,
    or of each of its slabs, that the launches use; without it, they may use
    all. `replicas` are the only replicas that run the task, if not all of them
    do; a block may have tasks of one part for several sets of replicas.

    Constraints:
    - (C1) `part` isn't empty.
    - (C2) `block` is -1 or a block's number.
    - (C3) `reads` and `writes` are the segments that the launches touch, each
      once and in ascending order.
    - (C4) the region holds launches alone.
    - (C5) `workspace` has a number for each such segment, beyond where each
      operand begins and not beyond the segment's end.

    Example:
    ```mlir
    hfta.task @"task/forward.0" part "forward" block 0 reads [0] writes [1] workspace [64] by_copies {
      hfta.launch @"kernel/relu.0" on [#hfta.binding<0, 0, 64>, #hfta.binding<1, 0, 64>] inputs 1 written [1] {per_copy}
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$part, I64Attr:$block,
                       DenseI64ArrayAttr:$reads, DenseI64ArrayAttr:$writes,
                       OptionalAttr<DenseI64ArrayAttr>:$workspace,
                       UnitAttr:$by_copies,
                       OptionalAttr<Hfta_ReplicasAttr>:$replicas);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `part` $part `block` $block (`replicas` $replicas^)?
    `reads` $reads `writes` $writes (`workspace` $workspace^)?
    (`by_copies` $by_copies^)? attr-dict-with-keyword $body
  }];
  let extraClassDeclaration = [{
    /// Returns the task's name for users, such as "forward.0".
    std::string getTaskName();
    /// Returns the numbers of the segments of role `workspace` that the task
    /// accesses, in ascending order; empty if memory isn't planned.
    ::llvm::SmallVector<int64_t> findWorkspaces();
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Hfta_ScheduleOp : Hfta_Op<"schedule", [
    Symbol, NoTerminator, SingleBlock, NoRegionArguments,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Commands in the order in which the host gives them";
  let description = [{
    Commands of one queue take effect in this order; between queues only events
    order them. `keeps` numbers the segments of slabs whose contents outlive a
    turn of copies, or which tasks use outside of turns: in these, each copy has
    a slab of its own; in others the copies of one turn use the slabs of the
    turn before. A program of several stages has a schedule of each kind for
    each of them, `@"step.0"`, which the workers of that stage run at the same
    time as others run theirs; without `stage` it is the whole program's.

    Constraints:
    - (C1) `keeps` numbers segments, each once and in ascending order.
    - (C2) the region holds commands alone.
    - (C3) `keeps` has each segment of slabs that is not the tasks' own
      (workspace) and that tasks use outside of turns or, if it is resident, in two
      of them, and, in `accumulate` and `update`, those of gradients: they go from
      one of these schedules to the other.
    - (C4) `stage` is -1 or a stage's number, which then ends the symbol.

    Example:
    ```mlir
    hfta.schedule @update keeps [2] {
      hfta.repeat turns {
        hfta.run @"task/update.0"
      }
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       DefaultValuedAttr<I64Attr, "-1">:$stage,
                       DenseI64ArrayAttr:$keeps);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name (`stage` $stage^)? `keeps` $keeps attr-dict-with-keyword $body
  }];
  let extraClassDeclaration = [{
    /// Returns the name by which the runtime asks for the schedule, which is
    /// the same for all stages, such as "step".
    ::llvm::StringRef getKind();
    /// Returns the symbol of a schedule: "step.1" for stage 1, or "step" for
    /// stage -1, the whole program.
    static std::string makeName(::llvm::StringRef kind, int64_t stage);
    /// Returns the numbers of the segments whose contents the schedule must
    /// keep.
    ::llvm::SmallVector<int64_t> findKept(::mlir::SymbolTableCollection &symbols);
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

/// A command for a queue of a device: append `place` to its arguments.
/// `overrides` are the methods of ScheduleCommandOpInterface that it defines
/// itself.
class Hfta_CommandOp<string mnemonic, list<Trait> traits = [],
                     list<string> overrides = []>
    : Hfta_Op<mnemonic, !listconcat(traits, [
        DeclareOpInterfaceMethods<Hfta_ScheduleCommandOpInterface,
                                  overrides>])> {
  dag place = (ins DefaultValuedAttr<I64Attr, "0">:$device,
                   DefaultValuedAttr<I64Attr, "0">:$queue);
}

def Hfta_RunOp : Hfta_CommandOp<"run", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Run a task";
  let description = [{
    Runs the task for the copies of the turn, or all live ones, with the
    instances of the micro-batch.

    Constraints:
    - (C1) the symbol is a task's.
    - (C2) device and queue aren't negative, as for every command.
    - (C3) inside of turns, the task may run by copies.
    - (C4) a command stands in a schedule, or in its loops and choices.
    - (C5) a task that only some replicas run, or that accesses segments which
      only some replicas hold, is run in an `hfta.only` for such replicas.

    Example: `hfta.run @"task/forward.0" {queue = 0}`
  }];
  let arguments = !con((ins FlatSymbolRefAttr:$task), place);
  let assemblyFormat = "$task attr-dict";
}

def Hfta_TransferOp : Hfta_CommandOp<"transfer", [], ["getAccesses"]> {
  let summary = "Copy bytes from one place to another";
  let description = [{
    Uses the instances of the micro-batch that is `ahead` places after the
    current one. Instances of inputs are taken in turn, over all calls of
    schedules: the last micro-batch of a call is followed by the first one of
    the next call's batch, if the host has offered it, and data that a call has
    copied for the next one aren't copied again. A place with a stride is one
    per copy.

    Constraints:
    - (C1) there is at least one byte to copy.
    - (C2) nothing is copied to the caller's memory.
    - (C3) one of the places is a segment.
    - (C4) `ahead` isn't negative.
    - (C5) a place lies within its segment.

    Example: `hfta.transfer 3136 from #hfta.place<field, 0, 0> to #hfta.place<segment, 4, 0> {queue = 1, ahead = 1}`
  }];
  let arguments = !con((ins I64Attr:$bytes, Hfta_PlaceAttr:$from,
                            Hfta_PlaceAttr:$to,
                            DefaultValuedAttr<I64Attr, "0">:$ahead), place);
  let assemblyFormat = "$bytes `from` $from `to` $to attr-dict";
  let hasVerifier = 1;
}

def Hfta_FillOp : Hfta_CommandOp<"fill", [], ["getAccesses"]> {
  let summary = "Fill a place with zeros";
  let description = [{
    Fills a place with zeros, in all instances of the segment.

    Constraints:
    - (C1) the place is a segment's.
    - (C2) there is at least one byte to fill.
    - (C3) the place lies within its segment.

    Example: `hfta.fill 64 at #hfta.place<segment, 7, 0>`
  }];
  let arguments = !con((ins I64Attr:$bytes, Hfta_PlaceAttr:$at), place);
  let assemblyFormat = "$bytes `at` $at attr-dict";
}

def Hfta_AllReduceOp : Hfta_CommandOp<"all_reduce", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>],
    ["getAccesses"]> {
  let summary = "All-reduce: add up the groups' sums of all ranks";
  let description = [{
    Adds up bytes of a segment with an instance for each group. Afterwards the
    first instance of every rank holds the sum over all groups, the others
    zeros. With T(c, q) the sum of group c if c + q is no group, else T(c, 2q) +
    T(c + q, 2q), it is T(0, 1), whichever ranks have the groups.

    The bytes are cut into blocks as long as the place's stride. Each rank
    receives its share of the blocks, for all groups that it doesn't have, in
    the segment `through`, adds with the task, which adds one block `through` to
    one `at`, and sends the sums to all others.

    A segment that isn't resident is added up where its last `hfta.fetch` has
    put it: in slabs that the schedule doesn't keep, only those of the turn's
    copies are present, and bytes after these are skipped.

    Constraints:
    - (C1) the symbol is a task's that reads both segments and writes the first.
    - (C2) there is at least one block, and they are whole ones.
    - (C3) `at` lies in a segment of role `gradient` or `result`, `through` is
      one of role `received`.
    - (C4) it stands in nothing that repeats: each rank has its own micro-batches.
      But one of a segment that isn't resident may stand in turns of a given number
      of copies.
    - (C5) its queue isn't 0, whose work the host itself does: it waits for others.
    - (C6) the segments have no holders: all ranks take part.

    Example: `hfta.all_reduce @"task/combine.0" 65536 at <segment, 4, 0, 4096> through <segment, 12, 0> {queue = 2}`
  }];
  let arguments = !con((ins FlatSymbolRefAttr:$task, I64Attr:$bytes,
                            Hfta_PlaceAttr:$at, Hfta_PlaceAttr:$through), place);
  let assemblyFormat = "$task $bytes `at` $at `through` $through attr-dict";
  let hasVerifier = 1;
}

def Hfta_AllGatherOp : Hfta_CommandOp<"all_gather", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>],
    ["getAccesses"]> {
  let summary = "All-gather: exchange the values of all ranks' micro-batches";
  let description = [{
    Exchanges bytes of a segment that has an instance for each micro-batch of a
    step, on every rank. Afterwards each rank's instances of all micro-batches
    hold the values that the rank which computes them has written.

    Constraints:
    - (C1) the place is in a segment of role `exchange`.
    - (C2) there is at least one byte, and the place lies within its segment.
    - (C3) it stands in nothing that repeats: each rank has its own micro-batches.
    - (C4) its queue isn't 0, whose work the host itself does: it waits for others.

    Example: `hfta.all_gather 640 at #hfta.place<segment, 5, 0> {queue = 2}`
  }];
  let arguments = !con((ins I64Attr:$bytes, Hfta_PlaceAttr:$at), place);
  let assemblyFormat = "$bytes `at` $at attr-dict";
  let hasVerifier = 1;
}

def Hfta_BroadcastBytesOp : Hfta_CommandOp<"broadcast_bytes", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>],
    ["getAccesses", "getReplicaSets"]> {
  let summary = "Broadcast bytes from some replicas to others";
  let description = [{
    Sends bytes of a segment's first instance. Each rank that has a replica of
    `to` and none of `from` receives the bytes. With w its first replica in
    `to`, they come from the rank that has the member of `from` with the number
    min(count - 1, floor(w / stride)), where count and stride are those of
    `from`. So in a grid of `count` rows and `stride` columns that is filled row
    by row, where `from` is a column, each rank gets them from the replica of
    the column that is in its row. A place with a stride is one per live copy;
    they are sent together. On one rank nothing happens.

    Constraints:
    - (C1) the place lies in a segment of role `parameter`, `gradient`,
      `optimizer_state`, `statistics`, `output`, `result`, `curvature` or `moment`,
      and in its copy's part of it; there is at least one byte.
    - (C2) all of `from` and `to` hold the segment.
    - (C3) it stands in nothing that repeats or chooses copies: all ranks take
      part, for all copies that live.
    - (C4) its queue isn't 0, whose work the host itself does: it waits for others.

    Example: `hfta.broadcast_bytes 4096 at <segment, 5, 0> from <2, 1, 1> to <0, 4, 1> {queue = 2}`
  }];
  let arguments = !con((ins I64Attr:$bytes, Hfta_PlaceAttr:$at,
                            Hfta_ReplicasAttr:$from, Hfta_ReplicasAttr:$to),
                       place);
  let assemblyFormat = "$bytes `at` $at `from` $from `to` $to attr-dict";
  let hasVerifier = 1;
}

def Hfta_TakeGroupOp : Hfta_CommandOp<"take_group", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>],
    ["getAccesses"]> {
  let summary = "Take one group's sums instead of the sums of all groups";
  let description = [{
    For a segment with an instance for each group: afterwards the first instance
    holds the sums of the given group, the others zeros. Ranks that don't have
    the group have zeros alone. Nothing is sent. A place with a stride is one
    per live copy.

    Constraints:
    - (C1) the place lies in a segment of role `moment`, and in its copy's part of
      it; there is at least one byte.
    - (C2) the group isn't negative.
    - (C3) it stands in no loop, and in no commands of some copies or replicas
      alone, as sums that aren't taken would stay.

    Example: `hfta.take_group 1 4096 at <segment, 9, 0> {queue = 0}`
  }];
  let arguments = !con((ins I64Attr:$group, I64Attr:$bytes, Hfta_PlaceAttr:$at),
                       place);
  let assemblyFormat = "$group $bytes `at` $at attr-dict";
  let hasVerifier = 1;
}

def Hfta_SendOp : Hfta_CommandOp<"send", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>],
    ["getAccesses", "findMessage"]> {
  let summary = "Send the bytes of a place to another stage";
  let description = [{
    For a micro-batch, sends its instance to that worker of the stage that has
    the micro-batch. Where no micro-batch is current, sends to all workers of
    the stage whose number among them, modulo the replicas of this one, is this
    worker's. The other side receives at the same place.

    Constraints:
    - (C1) the place lies in a segment, and there is at least one byte.
    - (C2) `stage` isn't negative, nor the schedule's own.
    - (C3) its queue isn't 0, whose work the host itself does: it waits for
      others.
    - (C4) it stands in no turns.

    Example: `hfta.send 4096 at <segment, 5, 0> to stage 1 {queue = 3}`
  }];
  let arguments = !con((ins I64Attr:$bytes, Hfta_PlaceAttr:$at, I64Attr:$stage),
                       place);
  let assemblyFormat = "$bytes `at` $at `to` `stage` $stage attr-dict";
  let hasVerifier = 1;
}

def Hfta_ReceiveOp : Hfta_CommandOp<"receive", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>],
    ["getAccesses", "findMessage"]> {
  let summary = "Receive the bytes of a place from another stage";
  let description = [{
    Receives what `hfta.send` of the other stage sends, for the micro-batch that
    is `ahead` places after the current one; past the worker's last micro-batch,
    nothing is received.

    Constraints, with those of `hfta.send`:
    - (C1) `ahead` isn't negative, and is 0 where no micro-batch is current.

    Example: `hfta.receive 4096 at <segment, 5, 0> from stage 0 {queue = 4, ahead = 1}`
  }];
  let arguments = !con((ins I64Attr:$bytes, Hfta_PlaceAttr:$at, I64Attr:$stage,
                            DefaultValuedAttr<I64Attr, "0">:$ahead), place);
  let assemblyFormat = "$bytes `at` $at `from` `stage` $stage attr-dict";
  let hasVerifier = 1;
}

def Hfta_RecordOp : Hfta_CommandOp<"record", [], ["findEvent"]> {
  let summary = "Record an event: the queue has done all commands before this one";
  let description = [{
    In commands of a micro-batch, `instances` events from this number on take
    turns: place p of the worker's own micro-batches has event + (p + ahead) mod
    instances. So micro-batches in flight at the same time have different
    events. Nothing is recorded past the worker's last micro-batch.

    Constraints, also of `hfta.await`:
    - (C1) the event's number isn't negative.
    - (C2) device and queue aren't negative.
    - (C3) there is at least one instance; `ahead` isn't negative.

    Example: `hfta.record 0 {queue = 1, instances = 2}`
  }];
  let arguments = !con((ins I64Attr:$event,
                            DefaultValuedAttr<I64Attr, "1">:$instances,
                            DefaultValuedAttr<I64Attr, "0">:$ahead), place);
  let assemblyFormat = "$event attr-dict";
}

def Hfta_AwaitOp : Hfta_CommandOp<"await", [], ["findEvent"]> {
  let summary = "Make the queue wait for an event";
  let description = [{
    The queue waits for the last recording of the event that the host has issued
    before this command, even if it was in an earlier step; it goes on at once
    if there is none.
    Example: `hfta.await 0`
  }];
  let arguments = !con((ins I64Attr:$event,
                            DefaultValuedAttr<I64Attr, "1">:$instances,
                            DefaultValuedAttr<I64Attr, "0">:$ahead), place);
  let assemblyFormat = "$event attr-dict";
}

def Hfta_ActionsOp : Hfta_Op<"actions", [
    NoTerminator, SingleBlock, NoRegionArguments, ParentOneOf<["ScheduleOp"]>,
    DeclareOpInterfaceMethods<Hfta_ScheduleCommandOpInterface>]> {
  let summary = "Run commands for micro-batches in a given order";
  let description = [{
    `order` lists actions, each two numbers: a case and the place of a
    micro-batch among those of the worker. Each runs the commands of the case
    for the micro-batch; actions for micro-batches that don't exist, because the
    worker has fewer or a batch isn't full, are skipped.

    Constraints:
    - (C1) the region holds cases, numbered from 0 in their order.
    - (C2) `order` has pairs, of a case and a place that isn't negative, each
      once.

    Example:
    ```mlir
    hfta.actions order [0, 0, 0, 1, 1, 0, 1, 1] {
      hfta.case 0 {
        hfta.run @"task/forward.0"
      }
      hfta.case 1 {
        hfta.run @"task/backward.0"
      }
    }
    ```
  }];
  let arguments = (ins DenseI64ArrayAttr:$order);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`order` $order attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Hfta_CaseOp : Hfta_Op<"case", [
    NoTerminator, SingleBlock, NoRegionArguments, HasParent<"ActionsOp">,
    DeclareOpInterfaceMethods<Hfta_ScheduleCommandOpInterface>]> {
  let summary = "The commands of one kind of action";
  let description = [{
    Constraints:
    - (C1) the region holds commands alone.
  }];
  let arguments = (ins I64Attr:$number);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$number attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

def Hfta_RepeatOp : Hfta_Op<"repeat", [
    NoTerminator, SingleBlock, NoRegionArguments,
    DeclareOpInterfaceMethods<Hfta_ScheduleCommandOpInterface>]> {
  let summary = "Run commands several times";
  let description = [{
    Over `micro_batches`, the commands run once for each of a step's
    micro-batches that the rank has, in order. Over `all_micro_batches`, they
    also run for those of other ranks. Over `turns`, they run once for the first
    few copies, then for the next ones: `copies` at a time, or without that as
    many as the host chooses, as the processor's caches allow. Inside of turns
    only tasks run that may run by copies.

    Constraints:
    - (C1) it stands in no loop of the same kind.
    - (C2) the region holds commands alone.
    - (C3) only turns have a number of copies, which is at least one.

    Example:
    ```mlir
    hfta.repeat micro_batches {
      hfta.repeat turns {
        hfta.run @"task/forward.0"
        hfta.run @"task/backward.0"
      }
    }
    ```
  }];
  let arguments = (ins Hfta_RepeatKindAttr:$over, OptionalAttr<I64Attr>:$copies);
  let regions = (region SizedRegion<1>:$body);
  let builders = [OpBuilder<(ins "RepeatKind":$over), [{
    build($_builder, $_state, over, IntegerAttr());
  }]>];
  let assemblyFormat = "$over (`of` $copies^)? attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Hfta_EveryOp : Hfta_Op<"every", [
    NoTerminator, SingleBlock, NoRegionArguments,
    DeclareOpInterfaceMethods<Hfta_ScheduleCommandOpInterface,
                              ["isConditional"]>]> {
  let summary = "Run commands only in every p-th step, by each copy's period p";
  let description = [{
    `period` names a hyper-parameter: a number of steps, one per copy. With s
    the number of steps done, a copy of period p is due if p divides s, and
    before its first period is over also where s is a power of two: a value that
    is recomputed every p steps would otherwise stay that of the first step
    until then.

    `which` says for which copies the commands run: for those that are `due`,
    for the `others`, for all live copies if `any` of them is due, or for all
    live copies if `none` is.

    Constraints:
    - (C1) the region holds commands alone.
    - (C2) an op that chooses copies, `due` or `others`, doesn't stand in another
      one that does.

    Example:
    ```mlir
    hfta.every "factor_every" {
      hfta.run @"task/forward_moments.0"
    }
    hfta.every "factor_every" for others {
      hfta.run @"task/forward.0"
    }
    ```
  }];
  let arguments = (ins StrAttr:$period,
                       DefaultValuedAttr<Hfta_DueKindAttr, "::mlir::hfta::DueKind::due">:$which);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$period (`for` $which^)? attr-dict-with-keyword $body";
  let extraClassDeclaration = [{
    /// Returns whether the commands run for only some of the copies.
    bool choosesCopies() {
      return getWhich() == DueKind::due || getWhich() == DueKind::others;
    }
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Hfta_OnlyOp : Hfta_Op<"only", [
    NoTerminator, SingleBlock, NoRegionArguments,
    DeclareOpInterfaceMethods<Hfta_ScheduleCommandOpInterface,
                              ["isConditional", "getReplicaSets"]>,
    ParentOneOf<["ScheduleOp", "RepeatOp", "EveryOp"]>]> {
  let summary = "Run commands only on some replicas";
  let description = [{
    Ranks that have at least one of these replicas of the schedule's stage run
    the commands, each once; others skip them. Their results must not depend on
    which rank runs them: they are for all copies, and not for a rank's own
    micro-batches.

    Constraints:
    - (C1) the region holds commands alone.
    - (C2) it stands in no other `hfta.only`, and neither stands in commands for a
      rank's own micro-batches nor holds such.
    - (C3) it holds no commands that all ranks take part in, or that all must
      run.

    Example:
    ```mlir
    hfta.only <2, 1, 1> {
      hfta.run @"task/invert.3.on_2"
    }
    hfta.record 7
    hfta.await 7 {queue = 2}
    hfta.broadcast_bytes 4096 at <segment, 5, 0> from <2, 1, 1> to <0, 4, 1> {queue = 2}
    ```
  }];
  let arguments = (ins Hfta_ReplicasAttr:$replicas);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$replicas attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif // HFTA_SCHEDULE_OPS
