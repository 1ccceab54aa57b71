//===- Faults.h - Faults planted in the emulated GPU ------------*- C++ -*-===//
//
// A program that lacks a barrier, an event or an edge of a graph often computes
// the right result by chance. Planted faults test whether the emulation detects
// such errors: HFTA_EMULATION_FAULT=FAULT:N makes one operation go wrong.
//===----------------------------------------------------------------------===//

#ifndef HFTA_EMULATION_FAULTS_H
#define HFTA_EMULATION_FAULTS_H

#include <cstdint>
#include <string>

namespace emulation {

/// The kinds of faults. Where a thread's operations are counted, the count
/// begins anew in each block.
enum class Fault {
  barrier, ///< each thread skips its Nth barrier
  wait,    ///< the Nth cuStreamWaitEvent has no effect
  edge,    ///< the Nth kernel of each graph depends on no other
  bounds,  ///< the Nth kernel that is run computes one copy too many
  copy,    ///< the Nth cuMemcpyAsync has no effect
  clear,   ///< the Nth cuMemsetD8Async has no effect
  host,    ///< the host's Nth wait, for a stream or an event, returns at once
  async,   ///< each thread skips its Nth wait for copies (of both kinds)
  products ///< each thread skips its Nth wait for products of warp groups
};

/// Returns the N of FAULT:N if this fault is planted, 0 otherwise.
uint64_t getFault(Fault fault);

/// Counts an operation that can have this fault, and returns whether it is the
/// Nth one and the fault is planted.
bool strikes(Fault fault);

/// Returns whether `text` names a fault.
bool isFault(const char *text);

/// Returns the names of all faults, in the form "wait, copy and clear".
std::string listFaults();

} // namespace emulation

#endif // HFTA_EMULATION_FAULTS_H
