//===- Emulation.h - A stand-in for NVIDIA's driver -------------*- C++ -*-===//
//
// The parts of the emulated driver. It accepts commands as the driver does and
// carries them out as late as possible, on the thread that waits for them. The
// order of several streams' commands is random as far as events allow, and so
// is the order of a kernel's blocks and threads. The host can't access device
// memory except while it is open for a command; new device memory is filled
// with a value that no program expects, and an allocation's end is followed by
// a guard page.
//
// Environment: HFTA_EMULATION_SEED (0), HFTA_EMULATION_DEVICE=CHIP[:BYTES]
// (sm_80:4294967296), HFTA_EMULATION_FAIL=CALL:N, the driver call that fails,
// and HFTA_EMULATION_FAULT=FAULT:N, an operation that goes wrong, to test
// whether that would be noticed (Faults.h).
//===----------------------------------------------------------------------===//

#ifndef HFTA_EMULATION_EMULATION_H
#define HFTA_EMULATION_EMULATION_H

#include "device/cuda_driver.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace emulation {

/// The results that the emulated driver returns.
enum : hfta_cu_result {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = HFTA_CU_OUT_OF_MEMORY,
  kInvalidImage = HFTA_CU_INVALID_IMAGE,
  kNotFound = 500,
  kIllegalAddress = 700,
  kLaunchFailed = 719,
  kUnknown = 999
};

//===----------------------------------------------------------------------===//
// Settings
//===----------------------------------------------------------------------===//

struct Settings {
  std::string chip = "sm_80";
  int major = 8, minor = 0;
  uint64_t bytes = uint64_t(4) << 30;
  uint64_t seed = 0;
  std::string failing; ///< the name of a driver call; empty: none
  long failingNumber = 0;
  std::string fault; ///< the name of a fault; empty: none
  uint64_t faultNumber = 0;
};

/// Reads the settings from the environment. A malformed variable ends the
/// process with a message.
const Settings &getSettings();

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Device memory: allocations between guard pages.
class Memory {
public:
  hfta_cu_result allocate(size_t bytes, hfta_cu_address &address);
  hfta_cu_result free(hfta_cu_address address);
  /// Returns whether the bytes lie in one allocation; an empty range at its end
  /// does, too.
  bool isDevice(hfta_cu_address address, size_t bytes) const;
  bool isHost(hfta_cu_address address, size_t bytes) const;
  size_t countFree() const;
  /// Makes all allocations accessible to the host, or inaccessible.
  void open(bool isOpen);

private:
  struct Block {
    size_t bytes;     ///< the size, from the address on
    char *pages;      ///< the accessible pages
    size_t pageBytes; ///< the size of these pages
  };
  std::map<hfta_cu_address, Block> blocks;
  size_t used = 0;
};

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// A loaded image.
struct Module {
  int file; ///< stays open while the library is loaded: the loader identifies
            ///< it by number
  void *library;
  uint32_t *registers;
  void *shared; ///< the shared memory of a block
  uint64_t sharedBytes;
  ~Module();
};

/// The shared memory that every kernel may ask for at its launch, in bytes.
inline constexpr unsigned kFreeSharedBytes = 48 << 10;

struct Function {
  Module *module;
  void (*call)(void **parameters);
  bool waits;           ///< whether a block's threads wait for each other
  uint32_t mapCount;    ///< tensor maps in its last parameter
  unsigned sharedBytes; ///< the most bytes that a launch may ask for
  std::string name;
};

struct Launch {
  const Function *function;
  unsigned gridX, gridZ, blockX;
  std::vector<uint64_t> parameters;
  std::vector<uint64_t> maps; ///< the bytes of the tensor maps, if any
};

/// Kernels, each with the indices of those that it waits for.
struct Graph {
  struct Node {
    Launch launch;
    std::vector<size_t> before;
  };
  std::vector<Node> nodes;
};

hfta_cu_result loadModule(const void *image, std::unique_ptr<Module> &out);
hfta_cu_result findFunction(Module &module, const char *name,
                            std::unique_ptr<Function> &out);
/// Runs all threads one after the other, in a random order. Threads that wait
/// for each other run in turns, each until it waits. The kernel fails if some
/// threads of a block end while others wait for them.
hfta_cu_result run(const Launch &launch, std::mt19937_64 &random);

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

struct Event {
  uint64_t recorded = 0; ///< how often cuEventRecord was called
  uint64_t happened = 0;
};

struct Command {
  /// Carries the command out completely, and returns its result.
  std::function<hfta_cu_result()> work;
  Event *awaited = nullptr; ///< can't begin before it has happened …
  uint64_t times = 0;       ///< … this many times
  bool ofHost = false;      ///< device memory stays closed
};

struct Stream {
  std::deque<Command> commands;
};

/// The state of the device.
class Device {
public:
  static Device &get();

  void push(Stream &stream, Command command);
  /// Carries out commands until the stream has none left.
  hfta_cu_result finish(Stream &stream);
  /// Carries out commands until the event has happened as often as it was
  /// recorded.
  hfta_cu_result finish(const Event &event);

  std::mutex mutex;
  Memory memory;
  std::set<void *> locked; ///< page-locked memory of the host
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<std::unique_ptr<Event>> events;
  std::vector<std::unique_ptr<Module>> modules;
  std::vector<std::unique_ptr<Function>> functions;
  std::vector<std::unique_ptr<Graph>> graphs; ///< also the executable ones
  std::mt19937_64 random;
  /// The first failure of a command; every later command fails with it.
  hfta_cu_result failure = kSuccess;

private:
  Device();
  bool canRun(const Stream &stream) const;
  void step(Stream &stream);
  /// Carries out one command of a random stream. Returns false if none can
  /// begin: the streams wait for each other, or for a command that never comes.
  bool stepAny();
};

} // namespace emulation

#endif // HFTA_EMULATION_EMULATION_H
