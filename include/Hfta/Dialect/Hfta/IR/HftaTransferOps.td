//===- HftaTransferOps.td - Between memory and the store ---*- tablegen -*-===//
//
// Commands of schedules that move segments into and out of the arena.
//===----------------------------------------------------------------------===//

#ifndef HFTA_TRANSFER_OPS
#define HFTA_TRANSFER_OPS

include "Hfta/Dialect/Hfta/IR/HftaScheduleOps.td"

def Hfta_FetchOp : Hfta_CommandOp<"fetch", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Give a segment a place in the arena";
  let description = [{
    From here on the instance of the micro-batch that is `ahead` places after
    the current one, or each instance where no micro-batch is current, lies in
    the arena, at `address` plus (number of the instance modulo `instances`)
    times the bytes of an instance. For a segment of slabs that the schedule
    doesn't keep, an instance is the slabs of the turn's copies, one after the
    other. Tasks that the host issues from here on find it there.

    Its contents are `stored` (read from the store, in the queue; bytes that
    were never written read as zeros), `zeros` (filled, in the queue), or
    `undefined`: the command only says where it lies. Contents that are still in
    place unchanged, for the same copies, aren't read again.

    Constraints:
    - (C1) the segment is one of the table, and isn't resident.
    - (C2) what is `stored` is spilled, and its queue isn't 0, whose work the host
      itself does.
    - (C3) the address is a multiple of 4096.
    - (C4) there are at least one instance and at most those of the segment.
    - (C5) all instances lie within the arena, `hfta.arena` of the module.
    - (C6) `ahead` isn't negative, and is 0 where no micro-batch is current.
    - (C7) it stands in no `hfta.every` that chooses some of the live copies.
    - (C8) a segment of slabs that the schedule doesn't keep has its place in turns
      of a given number of copies.

    Example: `hfta.fetch 5 at 65536 contents stored {queue = 3, instances = 2, ahead = 1}`
  }];
  let arguments = !con((ins I64Attr:$segment, I64Attr:$address,
                            Hfta_ContentsAttr:$contents,
                            DefaultValuedAttr<I64Attr, "1">:$instances,
                            DefaultValuedAttr<I64Attr, "0">:$ahead), place);
  let assemblyFormat = "$segment `at` $address `contents` $contents attr-dict";
  let extraClassDeclaration = [{
    /// Returns the size, in the arena, of one instance of the segment, in
    /// bytes. Returns nothing if there is no such segment, or if constraint
    /// (C8) is violated.
    std::optional<int64_t> findInstanceBytes();
  }];
  let hasVerifier = 1;
}

def Hfta_EvictOp : Hfta_CommandOp<"evict", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Write a segment's contents to the store";
  let description = [{
    Writes, in the queue, the instance of the micro-batch that is `ahead` places
    after the current one, from where its last `hfta.fetch` has put it. It stays
    there until it is dropped.

    Constraints, with (C6) to (C8) of `hfta.fetch`:
    - (C1) the segment is one of the table, and spilled.
    - (C2) its queue isn't 0, whose work the host itself does.

    Example: `hfta.evict 5 {queue = 4}`
  }];
  let arguments = !con((ins I64Attr:$segment,
                            DefaultValuedAttr<I64Attr, "0">:$ahead), place);
  let assemblyFormat = "$segment attr-dict";
  let hasVerifier = 1;
}

def Hfta_DropOp : Hfta_CommandOp<"drop", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Free a segment's place in the arena";
  let description = [{
    Frees the place of the instance of the micro-batch that is `ahead` places
    after the current one. The host alone does it, at once. The next user of the
    place awaits the events of queues that still work there, as always between
    queues.

    Constraints, with (C6) to (C8) of `hfta.fetch`:
    - (C1) the segment is one of the table, and isn't resident.

    Example: `hfta.drop 5`
  }];
  let arguments = !con((ins I64Attr:$segment,
                            DefaultValuedAttr<I64Attr, "0">:$ahead), place);
  let assemblyFormat = "$segment attr-dict";
  let hasVerifier = 1;
}

#endif // HFTA_TRANSFER_OPS
