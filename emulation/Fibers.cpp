//===- Fibers.cpp - Threads of a block that wait for each other -----------===//

#include "Fibers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <sys/mman.h>

using namespace fibers;

/// Switches to another stack (System V ABI, x86-64). Pushes the callee-saved
/// registers, stores the stack pointer in `*from`, and continues on the stack
/// `to`, which an earlier call has left in the same way. The function ends with
/// a jump instead of a return, because processors predict that a return goes
/// back to the latest call, which would be wrong here.
extern "C" void hfta_switch_fiber(void **from, void *to);
asm(R"(
  .text
  .p2align 4
  .hidden hfta_switch_fiber
  .globl hfta_switch_fiber
  .type hfta_switch_fiber, @function
hfta_switch_fiber:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  popq %rcx
  jmpq *%rcx
  .size hfta_switch_fiber, .-hfta_switch_fiber
)");

/// The size of a thread's stack, and of the guard page below it, which turns a
/// stack overflow into a segmentation fault.
static constexpr size_t kStackBytes = size_t(128) << 10;
static constexpr size_t kGuardBytes = size_t(4) << 10;
static constexpr size_t kThreadBytes = kGuardBytes + kStackBytes;
/// The number of bytes of a cache line, and of cache lines of a page.
static constexpr size_t kLineBytes = 64;
static constexpr size_t kLines = 64;

static char *stacks; ///< kMost stacks with their guard pages
/// The numbers of the stacks that no thread uses, as a stack (last in, first
/// out). So the next thread to begin reuses the stack of the thread that ended
/// last, which is still in the cache.
static unsigned freeStacks[kMost];
static unsigned freeCount;
static unsigned stackOf[kMost]; ///< the stack of each thread that has begun
static void *pointers[kMost];   ///< the saved stack pointer of each such thread

/// The state of a thread, or the function in which it waits.
enum class State : uint8_t {
  ready,      ///< hasn't begun
  running,    ///< can be resumed
  atBarrier,  ///< in `wait`
  atNumbered, ///< in `waitAt`
  inWarp,     ///< in `waitForWarp`
  polling,    ///< in `waitUntil`
  yielding,   ///< in `yield`
  ended
};
static State states[kMost];

namespace {
/// A named barrier: how many threads it expects, and how many wait at it.
struct Numbered {
  uint32_t expected, arrived;
};
struct Condition {
  bool (*holds)(void *);
  void *argument;
};
} // namespace

static Numbered barriers[kBarriers];
static uint32_t numbers[kMost]; ///< the named barrier at which a thread waits
static Condition conditions[kMost]; ///< the condition that a thread waits for
static const char *failure;
static void *mainPointer; ///< the saved stack pointer of `run`
static unsigned current;  ///< the number of the thread that runs
static void (*currentBody)(void *);
static void *currentArgument;

/// The first function on a thread's stack. It never returns, as there is no
/// caller to return to.
static void begin() {
  currentBody(currentArgument);
  states[current] = State::ended;
  for (;;)
    hfta_switch_fiber(&pointers[current], mainPointer);
}

/// Switches from the current thread to `run`; returns when `run` resumes it.
static void suspend(State state) {
  states[current] = state;
  hfta_switch_fiber(&pointers[current], mainPointer);
}

void fibers::wait() { suspend(State::atBarrier); }

void fibers::waitForWarp() { suspend(State::inWarp); }

void fibers::waitAt(uint32_t number, uint32_t threads) {
  if (number >= kBarriers || threads == 0 || threads % kWarp != 0)
    fail("waits at a barrier that there isn't");
  Numbered &barrier = barriers[number];
  if (barrier.arrived > 0 && barrier.expected != threads)
    fail("has threads that wait for different numbers of others at a barrier");
  barrier.expected = threads;
  numbers[current] = number;
  if (++barrier.arrived < threads)
    return suspend(State::atNumbered);
  barrier.arrived = 0;
  for (unsigned thread = 0; thread < kMost; ++thread)
    if (states[thread] == State::atNumbered && numbers[thread] == number)
      states[thread] = State::running;
  suspend(State::running);
}

void fibers::waitUntil(bool (*holds)(void *), void *argument) {
  conditions[current] = {holds, argument};
  suspend(State::polling);
}

void fibers::yield() { suspend(State::yielding); }

void fibers::setFailure(const char *reason) { failure = reason; }

void fibers::fail(const char *reason) {
  setFailure(reason);
  // `run` ends when it sees the failure.
  for (;;)
    hfta_switch_fiber(&pointers[current], mainPointer);
}

const char *fibers::getFailure() { return failure; }

unsigned fibers::getThread() { return current; }

/// Gives a thread a stack with the contents that hfta_switch_fiber expects, so
/// that switching to the thread enters `begin`.
static void prepare(unsigned thread) {
  constexpr size_t kSaved = 6;
  unsigned stack = stackOf[thread] = freeStacks[--freeCount];
  // The tops of the stacks are staggered by a cache line each. At equal offsets
  // in their pages, all of them would be mapped to the same few sets of the
  // cache.
  auto *top = reinterpret_cast<void **>(stacks + (stack + 1) * kThreadBytes -
                                        stack % kLines * kLineBytes);
  *--top = nullptr; // the return address of `begin`
  *--top = reinterpret_cast<void *>(begin);
  for (size_t i = 0; i < kSaved; ++i)
    *--top = nullptr;
  pointers[thread] = top;
  states[thread] = State::running;
}

/// Allocates the stacks of all threads. They take physical memory only when
/// they are used.
static void allocate() {
  void *memory = mmap(nullptr, kMost * kThreadBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    std::abort();
  stacks = static_cast<char *>(memory);
  for (unsigned thread = 0; thread < kMost; ++thread)
    if (mprotect(stacks + thread * kThreadBytes, kGuardBytes, PROT_NONE) != 0)
      std::abort();
}

/// Makes the threads [first, end) able to run if all of them are in `state`.
/// Returns whether that was so.
static bool release(unsigned first, unsigned end, State state) {
  if (!std::all_of(states + first, states + end,
                   [&](State own) { return own == state; }))
    return false;
  std::fill(states + first, states + end, State::running);
  return true;
}

/// Evaluates the condition of each thread in `waitUntil`, and makes the threads
/// whose condition holds able to run. Returns whether there is one. `current`
/// is the waiting thread meanwhile, as conditions may ask for it.
static bool poll(unsigned count) {
  bool goesOn = false;
  for (current = 0; current < count && !failure; ++current)
    if (states[current] == State::polling &&
        conditions[current].holds(conditions[current].argument)) {
      states[current] = State::running;
      goesOn = true;
    }
  return goesOn;
}

/// Makes all threads in `yield` able to run. Returns whether there is one.
static bool releaseYielding(unsigned count) {
  bool goesOn = std::count(states, states + count, State::yielding) > 0;
  std::replace(states, states + count, State::yielding, State::running);
  return goesOn;
}

/// Makes all threads able to run whose wait is over. Returns whether any thread
/// can run. Conditions are evaluated only if no other thread can run, and
/// `yield` ends only if no condition holds either.
static bool releaseAll(unsigned count) {
  bool goesOn = std::count(states, states + count, State::running) > 0;
  goesOn |= release(0, count, State::atBarrier);
  for (unsigned first = 0; first < count; first += kWarp)
    goesOn |= release(first, std::min(first + kWarp, count), State::inWarp);
  return goesOn || poll(count) || (!failure && releaseYielding(count));
}

/// Resets all state for a block of `count` threads, none of which has begun.
static void reset(unsigned count) {
  failure = nullptr;
  std::fill(std::begin(barriers), std::end(barriers), Numbered());
  std::fill(states, states + count, State::ready);
  std::fill(states + count, std::end(states), State::ended);
  freeCount = count;
  for (unsigned i = 0; i < count; ++i)
    freeStacks[i] = count - 1 - i;
}

/// Runs the current thread until it waits or ends, unless it can't run.
static void resume() {
  if (states[current] == State::ready)
    prepare(current);
  if (states[current] != State::running)
    return;
  hfta_switch_fiber(&mainPointer, pointers[current]);
  if (states[current] == State::ended)
    freeStacks[freeCount++] = stackOf[current];
}

bool fibers::run(unsigned count, void (*body)(void *), unsigned (*next)(void *),
                 void *argument) {
  if (!stacks)
    allocate();
  currentBody = body;
  currentArgument = argument;
  reset(count);
  do {
    for (unsigned i = 0; i < count && !failure; ++i) {
      current = next(argument);
      resume();
    }
  } while (!failure && releaseAll(count));
  return !failure && std::all_of(states, states + count,
                                 [](State own) { return own == State::ended; });
}
