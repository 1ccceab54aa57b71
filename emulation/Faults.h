//===- Faults.h - Faults planted in the emulated GPU ------------*- C++ -*-===//
//
// A program with a missing barrier, event or graph edge may be right by luck:
// often it computes the same result. Planted faults test whether the emulation
// would notice: HFTA_EMULATION_FAULT=FAULT:N.
//===----------------------------------------------------------------------===//

#ifndef HFTA_EMULATION_FAULTS_H
#define HFTA_EMULATION_FAULTS_H

#include <cstdint>
#include <string>

namespace emulation {

enum class Fault {
  barrier, ///< a thread's Nth barrier in each block lets it through
  wait,    ///< the Nth wait of a stream for an event returns at once
  edge,    ///< each graph's Nth kernel waits for no other
  bounds,  ///< the Nth kernel that runs does so for one copy too many
  copy,    ///< the Nth copy isn't made
  clear,   ///< the Nth fill isn't made
  host,    ///< the host's Nth wait returns at once
  async,   ///< a thread's Nth wait for copies in each block returns at once
  products ///< a thread's Nth wait for products in each block returns at once
};

/// Returns N if this fault is planted, 0 otherwise.
uint64_t getFault(Fault fault);

/// Counts an operation that may fail, and returns whether this time it does.
bool strikes(Fault fault);

/// Returns whether `text` names a fault.
bool isFault(const char *text);

/// Returns the names of all faults, in the form "wait, copy and clear".
std::string listFaults();

} // namespace emulation

#endif // HFTA_EMULATION_FAULTS_H
