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
static_assert(std::size(names) == static_cast<size_t>(Fault::products) + 1,
              "each fault has a name");

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

std::string emulation::listFaults() {
  std::string list;
  for (const char *const &name : names) {
    if (&name != std::begin(names))
      list += &name == std::prev(std::end(names)) ? " and " : ", ";
    list += name;
  }
  return list;
}

bool emulation::isFault(const char *text) {
  return std::any_of(std::begin(names), std::end(names), [&](const char *name) {
    return std::strcmp(name, text) == 0;
  });
}
