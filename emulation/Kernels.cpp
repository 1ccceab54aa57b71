//===- Kernels.cpp - Kernels of the emulated GPU --------------------------===//

#include "Emulation.h"
#include "Faults.h"
#include "Fibers.h"
#include "Hfta/Conversion/EmulatedImage.h"
#include "ThreadCalls.h"

#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <iterator>
#include <numeric>
#include <sys/mman.h>
#include <unistd.h>

using namespace emulation;
using namespace mlir::hfta;

Module::~Module() {
  if (library)
    dlclose(library);
  close(file);
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

/// Returns the bytes of a shared library, which end with its section headers;
/// 0 if the image isn't an ELF file.
static size_t findBytes(const void *image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof(header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return 0;
  return header.e_shoff + size_t(header.e_shnum) * header.e_shentsize;
}

/// Writes all bytes to a file. Returns false on an error.
static bool writeAll(int file, const char *data, size_t bytes) {
  for (ssize_t count; bytes > 0; data += count, bytes -= size_t(count))
    if ((count = write(file, data, bytes)) <= 0)
      return false;
  return true;
}

/// For each thread of the running block, the number of barriers that it has
/// reached, of its waits for copies (of both kinds), and of its waits for
/// products. Planted faults are found by these numbers (Faults.h).
static uint64_t barriers[fibers::kMost], copyWaits[fibers::kMost],
    productWaits[fibers::kMost];

static void waitAtBarrier() {
  if (++barriers[fibers::getThread()] != getFault(Fault::barrier))
    fibers::wait();
}

static void waitAtNumbered(uint32_t barrier, uint32_t threads) {
  if (++barriers[fibers::getThread()] != getFault(Fault::barrier))
    fibers::waitAt(barrier, threads);
}

static void waitForCopies(uint32_t left) {
  if (++copyWaits[fibers::getThread()] != getFault(Fault::async))
    async_copies::wait(left);
}

static void waitForPhase(void *barrier, uint32_t parity) {
  if (++copyWaits[fibers::getThread()] != getFault(Fault::async))
    bulk_copies::wait(barrier, parity);
}

/// Counts a wait for products, and returns whether the thread skips it.
static bool losesProducts() {
  return ++productWaits[fibers::getThread()] == getFault(Fault::products);
}

static void waitForGroups(uint32_t left) {
  if (!losesProducts())
    warp_groups::waitForGroups(left);
}

static const float *waitForProducts() {
  return losesProducts() ? warp_groups::getUnknown() : warp_groups::wait();
}

hfta_cu_result emulation::loadModule(const void *image,
                                     std::unique_ptr<Module> &out) {
  size_t bytes = findBytes(image);
  if (bytes == 0)
    return kInvalidImage;
  int file = memfd_create("hfta-emulated-image", MFD_CLOEXEC);
  if (file < 0)
    return kOutOfMemory;
  out.reset(new Module{file, nullptr, nullptr, nullptr, 0});
  std::string path = "/proc/self/fd/" + std::to_string(file);
  if (writeAll(file, static_cast<const char *>(image), bytes))
    out->library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!out->library)
    return kInvalidImage;
  out->registers =
      static_cast<uint32_t *>(dlsym(out->library, emulated::kRegisters));
  out->shared = dlsym(out->library, emulated::kShared);
  auto *sharedBytes = static_cast<const uint64_t *>(
      dlsym(out->library, emulated::kSharedBytes));
  if (!out->registers || !out->shared || !sharedBytes)
    return kInvalidImage;
  out->sharedBytes = *sharedBytes;
  const Waits waits = {waitAtBarrier, waitAtNumbered, waitForCopies,
                       waitForPhase,  waitForGroups,  waitForProducts};
  for (const ThreadCall &call : getThreadCalls(waits)) {
    auto *place = static_cast<void (**)()>(dlsym(out->library, call.symbol));
    if (!place)
      return kInvalidImage;
    *place = call.function;
  }
  tensor_cores::setChip(tensor_cores::Chip::get(getSettings().major));
  return kSuccess;
}

hfta_cu_result emulation::findFunction(Module &module, const char *name,
                                       std::unique_ptr<Function> &out) {
  auto find = [&](const char *suffix) {
    return dlsym(module.library, (std::string(name) + suffix).c_str());
  };
  void *symbol = find(emulated::kCallSuffix);
  bool waits = !symbol;
  if (waits)
    symbol = find(emulated::kBlockSuffix);
  if (!symbol)
    return kNotFound;
  auto *maps = static_cast<const uint32_t *>(find(emulated::kMapsSuffix));
  out.reset(new Function{&module, reinterpret_cast<void (*)(void **)>(symbol),
                         waits, maps ? *maps : 0, kFreeSharedBytes, name});
  return kSuccess;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

namespace {
/// A random permutation of the numbers below `count`, repeated endlessly. It
/// advances by a random `step` modulo `count`; as the two are coprime, it
/// visits every number once before it repeats.
class Order {
public:
  Order(uint64_t count, std::mt19937_64 &random)
      : count(count), at(random() % count), step(random() % count) {
    while (std::gcd(step, count) != 1)
      step = (step + 1) % count;
    if (step == 0)
      step = 1;
  }
  uint64_t next() {
    at = (at + step) % count;
    return at;
  }

private:
  uint64_t count, at, step;
};

} // namespace

static sigjmp_buf outOfKernel; ///< where `run` continues after such a signal
static volatile sig_atomic_t inKernel; ///< whether a kernel is running

/// Handles SIGSEGV and SIGBUS: leaves the kernel that accessed unmapped memory.
/// Outside of kernels the signal ends the process as usual.
static void leaveKernel(int signal) {
  if (inKernel)
    siglongjmp(outOfKernel, signal);
  std::signal(signal, SIG_DFL);
  raise(signal);
}

namespace {
/// The data that all fibers of the running block use.
struct Running {
  const Launch *launch;
  void **parameters;
  std::mt19937_64 *random;
  Order order; ///< the order in which threads are resumed
};
} // namespace

static void runThread(void *argument) {
  auto *running = static_cast<Running *>(argument);
  running->launch->function->call(running->parameters);
}

/// Returns the thread that is resumed next, and sets its special register.
/// Every round has the same order.
static unsigned chooseThread(void *argument) {
  auto *running = static_cast<Running *>(argument);
  auto thread = static_cast<unsigned>(running->order.next());
  running->launch->function->module->registers[emulated::kThreadX] = thread;
  return thread;
}

/// Runs a block whose threads wait for each other, as fibers. Shared memory is
/// filled with NaNs first. Returns false if the block fails. A block also fails
/// if it ends while bulk copies are in flight, because on a GPU these would
/// write to the shared memory of a later block.
static bool runTogether(const Launch &launch, void **parameters,
                        std::mt19937_64 &random) {
  const Module &module = *launch.function->module;
  std::memset(module.shared, 0xFF, module.sharedBytes);
  std::fill(std::begin(barriers), std::end(barriers), 0);
  std::fill(std::begin(copyWaits), std::end(copyWaits), 0);
  std::fill(std::begin(productWaits), std::end(productWaits), 0);
  async_copies::forget();
  bulk_copies::forget();
  warp_groups::forget();
  Running running = {&launch, parameters, &random,
                     Order(launch.blockX, random)};
  if (!fibers::run(launch.blockX, runThread, chooseThread, &running))
    return false;
  if (!bulk_copies::areMade())
    fibers::setFailure("ends before its copies are made");
  return bulk_copies::areMade();
}

/// Runs all blocks of a launch; returns false if one of them fails. The
/// function has no local objects with destructors, because `leaveKernel` leaves
/// it by siglongjmp, which runs none.
static bool runThreads(const Launch &launch, void **parameters,
                       std::mt19937_64 &random) {
  uint32_t *registers = launch.function->module->registers;
  uint64_t blocks = uint64_t(launch.gridX) * launch.gridZ;
  Order blockOrder(blocks, random);
  registers[emulated::kBlockDimX] = launch.blockX;
  for (uint64_t i = 0; i < blocks; ++i) {
    uint64_t block = blockOrder.next();
    registers[emulated::kBlockX] = uint32_t(block % launch.gridX);
    registers[emulated::kBlockZ] = uint32_t(block / launch.gridX);
    if (launch.function->waits) {
      if (!runTogether(launch, parameters, random))
        return false;
      continue;
    }
    Order threadOrder(launch.blockX, random);
    for (unsigned thread = 0; thread < launch.blockX; ++thread) {
      registers[emulated::kThreadX] = uint32_t(threadOrder.next());
      launch.function->call(parameters);
    }
  }
  return true;
}

/// Returns the end of the message "kernel 'NAME' …" for a failed launch.
static const char *explain(hfta_cu_result result) {
  if (result == kIllegalAddress)
    return "reaches memory that isn't there";
  const char *failure = fibers::getFailure();
  return failure ? failure
                 : "has threads that wait for others which have ended";
}

hfta_cu_result emulation::run(const Launch &asked, std::mt19937_64 &random) {
  Launch launch = asked;
  if (strikes(Fault::bounds))
    ++launch.gridZ;
  struct sigaction action = {}, before[2];
  action.sa_handler = leaveKernel;
  action.sa_flags = SA_NODEFER;
  sigaction(SIGSEGV, &action, &before[0]);
  sigaction(SIGBUS, &action, &before[1]);
  std::vector<uint64_t> parameters = launch.parameters;
  std::vector<void *> places;
  for (uint64_t &parameter : parameters)
    places.push_back(&parameter);
  std::vector<uint64_t> maps = launch.maps;
  if (!maps.empty())
    places.push_back(maps.data());
  hfta_cu_result result = kSuccess;
  fibers::setFailure(nullptr);
  if (sigsetjmp(outOfKernel, 1) == 0) {
    inKernel = 1;
    if (!runThreads(launch, places.data(), random))
      result = kLaunchFailed;
  } else {
    result = kIllegalAddress;
  }
  inKernel = 0;
  // The driver API reports only an error code, not which kernel failed, so
  // print the kernel's name and the reason.
  if (result != kSuccess)
    std::fprintf(stderr, "emulated driver: kernel '%s' %s\n",
                 launch.function->name.c_str(), explain(result));
  sigaction(SIGSEGV, &before[0], nullptr);
  sigaction(SIGBUS, &before[1], nullptr);
  return result;
}
