//===- Faults.h - What the emulated GPU does wrongly ------------*- C++ -*-===//
//
// A program may be right by luck: with a barrier, an event or an edge too few
// it often computes the same. Whether the emulation would notice is tested by
// such faults, planted by HFTA_EMULATION_FAULT=FAULT:N.
//===----------------------------------------------------------------------===//

#ifndef HFTA_EMULATION_FAULTS_H
#define HFTA_EMULATION_FAULTS_H

#include <cstdint>

namespace emulation {

enum class Fault {
  barrier, ///< a thread's Nth barrier of each block lets it through
  wait,    ///< the Nth wait of a stream for an event doesn't
  edge,    ///< each graph's Nth kernel waits for no other
  bounds,  ///< the Nth kernel that runs does so for one copy too many
  copy,    ///< the Nth copy isn't made
  clear,   ///< the Nth fill isn't made
  host,    ///< the Nth time that the host waits it doesn't
  async,   ///< a thread's Nth wait of each block for copies doesn't
  products ///< a thread's Nth wait of each block for its products doesn't
};

/// N where this fault is planted; else 0.
uint64_t getFault(Fault fault);

/// Counts what may be done wrongly: whether this time it is.
bool strikes(Fault fault);

/// Whether `text` names a fault.
bool isFault(const char *text);

} // namespace emulation

#endif // HFTA_EMULATION_FAULTS_H
