//===- Faults.cpp - Faults planted in the emulated GPU --------------------===//

#include "Faults.h"
#include "Emulation.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>

using namespace emulation;

/// The names of the faults, in the order of the enumeration.
static constexpr const char *names[] = {"barrier", "wait",  "edge",
                                        "bounds",  "copy",  "clear",
                                        "host",    "async", "products"};

uint64_t emulation::getFault(Fault fault) {
  const Settings &settings = getSettings();
  bool isPlanted = settings.fault == names[static_cast<size_t>(fault)];
  return isPlanted ? settings.faultNumber : 0;
}

bool emulation::strikes(Fault fault) {
  static std::atomic<uint64_t> counts[std::size(names)];
  uint64_t number = getFault(fault);
  return number > 0 && ++counts[static_cast<size_t>(fault)] == number;
}

bool emulation::isFault(const char *text) {
  return std::any_of(std::begin(names), std::end(names), [&](const char *name) {
    return std::strcmp(name, text) == 0;
  });
}
