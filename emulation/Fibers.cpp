//===- Fibers.cpp - Threads of a block that wait for each other -----------===//

#include "Fibers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <sys/mman.h>

using namespace fibers;

/// Saves the callee-saved registers, stores the stack pointer in `*from`, and
/// continues on another stack that was left in this way (System V, x86-64). It
/// jumps rather than returns, as a processor predicts that a return goes to the
/// latest call.
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

/// The stack of a thread, and the guard page below it: a stack overflow faults.
static constexpr size_t kStackBytes = size_t(128) << 10;
static constexpr size_t kGuardBytes = size_t(4) << 10;
static constexpr size_t kThreadBytes = kGuardBytes + kStackBytes;
/// The bytes of a cache line, and the cache lines of a page.
static constexpr size_t kLineBytes = 64;
static constexpr size_t kLines = 64;

static char *stacks;
/// The stacks that no thread has; the last one is given out next. A thread that
/// ends leaves its stack to the next thread that begins, which finds it in the
/// cache: threads that never wait all use one stack.
static unsigned freeStacks[kMost];
static unsigned freeCount;
static unsigned stackOf[kMost]; ///< the stack of each thread that has begun
static void *pointers[kMost];   ///< the saved stack pointers of such threads

/// The state of a thread, or the event for which it waits.
enum class State : uint8_t {
  ready, ///< not yet begun
  running,
  atBarrier,
  atNumbered, ///< waits at a named barrier
  inWarp,
  polling, ///< waits for a condition
  yielding,
  ended
};
static State states[kMost];

namespace {
/// A named barrier, and the threads that wait at it.
struct Numbered {
  uint32_t expected, arrived;
};
struct Condition {
  bool (*holds)(void *);
  void *argument;
};
} // namespace

static Numbered barriers[kBarriers];
static uint32_t numbers[kMost]; ///< the named barriers at which threads wait
static Condition conditions[kMost];
static const char *failure;
static void *mainPointer;
static unsigned current;
static void (*currentBody)(void *);
static void *currentArgument;

static void begin() {
  currentBody(currentArgument);
  states[current] = State::ended;
  for (;;)
    hfta_switch_fiber(&pointers[current], mainPointer);
}

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

/// Gives a thread a stack in the state in which hfta_switch_fiber leaves one,
/// such that switching to it enters `begin`.
static void prepare(unsigned thread) {
  constexpr size_t kSaved = 6;
  unsigned stack = stackOf[thread] = freeStacks[--freeCount];
  // The tops of the stacks are staggered: at equal offsets in their pages they
  // would compete for the same few cache lines.
  auto *top = reinterpret_cast<void **>(stacks + (stack + 1) * kThreadBytes -
                                        stack % kLines * kLineBytes);
  *--top = nullptr; // the return address of `begin`
  *--top = reinterpret_cast<void *>(begin);
  for (size_t i = 0; i < kSaved; ++i)
    *--top = nullptr;
  pointers[thread] = top;
  states[thread] = State::running;
}

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

/// Resumes the neighbouring threads [first, end) if all of them are in `state`.
static bool release(unsigned first, unsigned end, State state) {
  if (!std::all_of(states + first, states + end,
                   [&](State own) { return own == state; }))
    return false;
  std::fill(states + first, states + end, State::running);
  return true;
}

/// Evaluates the conditions for which threads wait. Returns whether one holds.
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

static bool releaseYielding(unsigned count) {
  bool goesOn = std::count(states, states + count, State::yielding) > 0;
  std::replace(states, states + count, State::yielding, State::running);
  return goesOn;
}

static bool releaseAll(unsigned count) {
  bool goesOn = std::count(states, states + count, State::running) > 0;
  goesOn |= release(0, count, State::atBarrier);
  for (unsigned first = 0; first < count; first += kWarp)
    goesOn |= release(first, std::min(first + kWarp, count), State::inWarp);
  return goesOn || poll(count) || (!failure && releaseYielding(count));
}

/// Resets the state: no thread has begun, and none has a stack.
static void reset(unsigned count) {
  failure = nullptr;
  std::fill(std::begin(barriers), std::end(barriers), Numbered());
  std::fill(states, states + count, State::ready);
  std::fill(states + count, std::end(states), State::ended);
  freeCount = count;
  for (unsigned i = 0; i < count; ++i)
    freeStacks[i] = count - 1 - i;
}

/// Resumes the current thread, if it can run, until it waits or ends.
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
