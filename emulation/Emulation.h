//===- Emulation.h - A stand-in for NVIDIA's driver -------------*- C++ -*-===//
//
// The emulated driver implements the calls of the CUDA driver API that the
// runtime uses, and runs kernels on the CPU. It is built to expose missing
// synchronization:
//
// - Commands are executed as late as possible, by the thread of the host that
//   waits for them.
// - Commands of different streams run in a random order that events allow; a
//   kernel's blocks and threads run in a random order, too.
// - Device memory is inaccessible while the host's own code runs. New device
//   memory is filled with NaNs, and guard pages surround each allocation.
//
// Environment variables, with their defaults in parentheses:
//
//   HFTA_EMULATION_SEED            seed of the random orders (0)
//   HFTA_EMULATION_DEVICE=CHIP[:BYTES]
//                                  the chip and the size of its memory
//                                  (sm_80:4294967296)
//   HFTA_EMULATION_FAIL=CALL:N     the Nth driver call of this name fails
//   HFTA_EMULATION_FAULT=FAULT:N   the Nth operation of a kind goes wrong, to
//                                  test whether that is noticed (Faults.h)
//
//===----------------------------------------------------------------------===//

#ifndef HFTA_EMULATION_EMULATION_H
#define HFTA_EMULATION_EMULATION_H

#include "device/cuda/cuda_driver.h"

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

/// Those values of CUresult that the emulated driver returns.
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

/// The settings of the emulation, from its environment variables.
struct Settings {
  std::string chip = "sm_80";
  int major = 8, minor = 0;           ///< the chip's compute capability
  uint64_t bytes = uint64_t(4) << 30; ///< device memory; 0: there is no GPU
  uint64_t seed = 0;                  ///< seed of the random orders
  std::string failing;      ///< name of the driver call that fails; empty: none
  long failingNumber = 0;   ///< which of these calls fails, counted from 1
  std::string fault;        ///< name of the planted fault; empty: none
  uint64_t faultNumber = 0; ///< the N of FAULT:N (Faults.h), from 1
};

/// Returns the settings, which the first call reads from the environment. A
/// malformed variable ends the process with a message and exit code 2.
const Settings &getSettings();

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Device memory: memory of the process, with guard pages around each
/// allocation. A device address is the address in the process.
class Memory {
public:
  /// Allocates memory, inaccessible until the next `open(true)` and filled with
  /// NaNs. Returns kInvalidValue for 0 bytes, kOutOfMemory if fewer bytes are
  /// free.
  hfta_cu_result allocate(size_t bytes, hfta_cu_address &address);
  /// Frees an allocation. Returns kInvalidValue if none begins at the address.
  hfta_cu_result free(hfta_cu_address address);
  /// Returns whether all of the bytes lie in one allocation. An empty range
  /// counts as part of an allocation even at its end.
  bool isDevice(hfta_cu_address address, size_t bytes) const;
  /// Returns whether none of the bytes lies in an allocation.
  bool isHost(hfta_cu_address address, size_t bytes) const;
  /// Returns how many bytes are free.
  size_t countFree() const;
  /// Makes all allocations accessible to the process, or inaccessible.
  void open(bool isOpen);

private:
  struct Block {
    size_t bytes;     ///< the size that was asked for
    char *pages;      ///< the pages between the two guard pages
    size_t pageBytes; ///< the size of these pages, in bytes
  };
  std::map<hfta_cu_address, Block> blocks; ///< all allocations, by address
  size_t used = 0;                         ///< bytes of all allocations
};

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// A loaded image: a shared library with kernels (EmulatedImage.h).
struct Module {
  int file; ///< the memory file that holds the library. It stays open, because
            ///< the library's path contains this number: another image with the
            ///< same path would be taken for this library by dlopen.
  void *library;        ///< handle of dlopen
  uint32_t *registers;  ///< the image's special registers (emulated::Register)
  void *shared;         ///< the shared memory of the block that runs
  uint64_t sharedBytes; ///< the size of `shared`
  /// Unloads the library.
  ~Module();
};

/// The bytes of shared memory that a launch may ask for unless
/// cuFuncSetAttribute has raised the function's limit.
inline constexpr unsigned kFreeSharedBytes = 48 << 10;

/// A kernel of a loaded image.
struct Function {
  Module *module;
  void (*call)(void **parameters); ///< runs one thread
  bool waits;           ///< whether the threads of a block wait for each other
  uint32_t mapCount;    ///< number of tensor maps, all in the last parameter
  unsigned sharedBytes; ///< the most shared memory that a launch may ask for
  std::string name;
};

/// A launch of a kernel, with copies of its arguments.
struct Launch {
  const Function *function;
  unsigned gridX, gridZ, blockX;    ///< grid y, block y and block z are 1
  std::vector<uint64_t> parameters; ///< all parameters except tensor maps
  std::vector<uint64_t> maps; ///< the block of tensor maps, the kernel's last
                              ///< parameter; empty: it has none
};

/// A CUDA graph: kernels in a topological order of their dependences.
struct Graph {
  struct Node {
    Launch launch;
    std::vector<size_t> before; ///< indices of the nodes it depends on
  };
  std::vector<Node> nodes;
};

/// Loads an image and stores the functions that its threads call
/// (ThreadCalls.h). Returns kInvalidImage if it isn't an emulated image.
hfta_cu_result loadModule(const void *image, std::unique_ptr<Module> &out);
/// Finds a kernel in a module, which must outlive the function. Returns
/// kNotFound if there is no kernel of this name.
hfta_cu_result findFunction(Module &module, const char *name,
                            std::unique_ptr<Function> &out);
/// Runs a kernel: its blocks one after another, in a random order. The threads
/// of a block run one after another, also in a random order; if they wait for
/// each other, each runs until it waits (Fibers.h). Returns kLaunchFailed if a
/// block fails, for example because some of its threads end while others wait
/// for them, and kIllegalAddress after an access to unmapped memory; then the
/// reason is printed to stderr.
hfta_cu_result run(const Launch &launch, std::mt19937_64 &random);

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

/// A CUDA event. Each call of cuEventRecord gives a stream a command that
/// increments `happened`.
struct Event {
  uint64_t recorded = 0; ///< calls of cuEventRecord
  uint64_t happened = 0; ///< how many of these commands were executed
};

/// A command of a stream.
struct Command {
  /// Executes the command to its end, and returns its result. Empty for a
  /// command that only waits for an event.
  std::function<hfta_cu_result()> work;
  Event *awaited = nullptr; ///< the event that the command waits for, or null
  uint64_t times = 0;       ///< how often `awaited` must have happened before
  bool ofHost = false;      ///< whether device memory stays inaccessible
};

struct Stream {
  std::deque<Command> commands; ///< not yet executed, the next one first
};

/// The state of the emulated GPU. Callers lock `mutex` (ENTER, in Calls.h).
class Device {
public:
  /// Returns the only device.
  static Device &get();

  /// Appends a command to a stream.
  void push(Stream &stream, Command command);
  /// Executes commands, of any stream, until this stream has none left. Returns
  /// `failure`, which is kUnknown if no stream can go on before that.
  hfta_cu_result finish(Stream &stream);
  /// Executes commands, of any stream, until the event has happened as often as
  /// it was recorded. Returns `failure`, as for a stream.
  hfta_cu_result finish(const Event &event);

  std::mutex mutex;
  Memory memory;
  std::set<void *> locked; ///< page-locked memory of the host
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<std::unique_ptr<Event>> events;
  std::vector<std::unique_ptr<Module>> modules;
  std::vector<std::unique_ptr<Function>> functions;
  std::vector<std::unique_ptr<Graph>> graphs; ///< including executable graphs
  std::mt19937_64 random;
  /// The result of the first command that failed. Later commands aren't
  /// executed, and every later wait returns this result.
  hfta_cu_result failure = kSuccess;

private:
  Device();
  /// Returns whether the stream's next command needn't wait for an event.
  bool canRun(const Stream &stream) const;
  /// Executes the stream's next command, or discards it after a failure.
  void step(Stream &stream);
  /// Executes the next command of a random stream. Returns false if no stream
  /// can go on: all are empty or wait for events that never happen.
  bool stepAny();
};

} // namespace emulation

#endif // HFTA_EMULATION_EMULATION_H
