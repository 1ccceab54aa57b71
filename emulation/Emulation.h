//===- Emulation.h - A GPU that isn't there ---------------------*- C++ -*-===//
//
// What the stand-in driver is made of. It takes commands as the driver does and
// carries them out as late as it may, on the thread that waits for them: those
// of several streams in an order that is drawn, as far as events allow, and a
// kernel's blocks and threads, too. Device memory can't be reached by the host
// meanwhile, begins as something that nobody expects, and ends where nothing
// can be read.
//
// Environment: HFTA_EMULATION_SEED (0), HFTA_EMULATION_DEVICE=CHIP[:BYTES]
// (sm_80:4294967296), HFTA_EMULATION_FAIL=CALL:N, the call that fails,
// HFTA_EMULATION_FAULT=FAULT:N, what is done wrongly, as a test of whether that
// would be noticed (Faults.h).
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

/// Results of the driver's that are given here.
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
  std::string failing; ///< a call; empty: none
  long failingNumber = 0;
  std::string fault; ///< empty: none
  uint64_t faultNumber = 0;
};

/// From the environment; what is malformed there ends the process with a
/// message.
const Settings &getSettings();

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Allocations, each between pages that can't be reached.
class Memory {
public:
  hfta_cu_result allocate(size_t bytes, hfta_cu_address &address);
  hfta_cu_result free(hfta_cu_address address);
  /// Whether the bytes lie in one allocation, or touch none.
  bool isDevice(hfta_cu_address address, size_t bytes) const;
  bool isHost(hfta_cu_address address, size_t bytes) const;
  size_t countFree() const;
  /// Whether the host can reach it.
  void open(bool isOpen);

private:
  struct Block {
    size_t bytes;     ///< from the address on
    char *pages;      ///< that can be reached
    size_t pageBytes; ///< of these
  };
  std::map<hfta_cu_address, Block> blocks;
  size_t used = 0;
};

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// A loaded image.
struct Module {
  int file; ///< open as long as the library: the loader knows it by its number
  void *library;
  uint32_t *registers;
  void *shared; ///< memory that a block's threads share
  uint64_t sharedBytes;
  ~Module();
};

/// Shared memory that every kernel may ask for at its launch.
inline constexpr unsigned kFreeSharedBytes = 48 << 10;

struct Function {
  Module *module;
  void (*call)(void **parameters);
  bool waits;           ///< a block's threads for each other
  uint32_t mapCount;    ///< that its last parameter has
  unsigned sharedBytes; ///< that a launch may ask for
  std::string name;
};

struct Launch {
  const Function *function;
  unsigned gridX, gridZ, blockX;
  std::vector<uint64_t> parameters;
  std::vector<uint64_t> maps; ///< the bytes of a last one, or nothing
};

/// Kernels, each with the numbers of those that it waits for.
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
/// Runs all threads, one after the other, in an order that is drawn; of those
/// that wait for each other one as far as it waits, then another one. A kernel
/// that some threads of a block leave while others wait has failed.
hfta_cu_result run(const Launch &launch, std::mt19937_64 &random);

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

struct Event {
  uint64_t recorded = 0; ///< how often that was asked for
  uint64_t happened = 0;
};

struct Command {
  /// Done when it returns; what it fails with.
  std::function<hfta_cu_result()> work;
  Event *awaited = nullptr; ///< can't begin before it has happened …
  uint64_t times = 0;       ///< … so many times
  bool ofHost = false;      ///< device memory stays closed
};

struct Stream {
  std::deque<Command> commands;
};

/// All of the device.
class Device {
public:
  static Device &get();

  void push(Stream &stream, Command command);
  /// Carries out commands until a stream has none left.
  hfta_cu_result finish(Stream &stream);
  /// … or until an event has happened as often as it was asked for.
  hfta_cu_result finish(const Event &event);

  std::mutex mutex;
  Memory memory;
  std::set<void *> locked; ///< memory of the host's
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<std::unique_ptr<Event>> events;
  std::vector<std::unique_ptr<Module>> modules;
  std::vector<std::unique_ptr<Function>> functions;
  std::vector<std::unique_ptr<Graph>> graphs; ///< and what is made of them
  std::mt19937_64 random;
  /// The first failure of a command: all fail from there on.
  hfta_cu_result failure = kSuccess;

private:
  Device();
  bool canRun(const Stream &stream) const;
  void step(Stream &stream);
  /// One command of some stream's; false if none can begin: streams wait for
  /// each other, or for a command that nobody gives any more.
  bool stepAny();
};

} // namespace emulation

#endif // HFTA_EMULATION_EMULATION_H
