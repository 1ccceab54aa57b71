//===- FetchesTest.cpp - Tests of fetching segments into the arena --------===//

#include "FakeKernels.h"
#include "RuntimeTest.h"

extern "C" {
#include "program/fetches.h"
#include "workload/program_check.h"
}

#include <cstring>

namespace {

fake_options spillingOptions() {
  fake_options options = defaultOptions();
  options.takes_turns = 1;
  options.spilled_copies = 2;
  return options;
}

std::string check(const hfta_program *program) {
  hfta_error error = {};
  return hfta_program_check(program, &error) == HFTA_OK ? "" : error.message;
}

const hfta_schedule &findSchedule(const hfta_program *program,
                                  const char *name) {
  uint32_t i = 0;
  while (strcmp(program->schedules[i].name, name) != 0)
    ++i;
  return program->schedules[i];
}

/// Returns the first command of a kind in the program's schedule `step`.
hfta_command &findCommand(const hfta_program *program, uint32_t kind) {
  auto *commands =
      const_cast<hfta_command *>(findSchedule(program, "step").commands);
  while (commands->kind != kind)
    ++commands;
  return *commands;
}

TEST(Fetches, BytesAreThoseOfATurnUnlessTheScheduleKeepsAll) {
  ProgramPointer program = makeProgram(spillingOptions());
  const hfta_schedule &step = findSchedule(program.get(), "step");
  const hfta_segment &weights = program->segments[FAKE_SEGMENT_PARAMETERS];
  EXPECT_EQ(weights.copy_bytes % HFTA_PAGE_BYTES, 0u);
  EXPECT_EQ(
      hfta_fetched_bytes(program.get(), &step, FAKE_SEGMENT_PARAMETERS, 2),
      2 * weights.copy_bytes);
  EXPECT_EQ(
      hfta_fetched_bytes(program.get(), &step, FAKE_SEGMENT_PARAMETERS, 100),
      weights.bytes);
  EXPECT_EQ(
      hfta_fetched_bytes(program.get(), &step, FAKE_SEGMENT_PARAMETERS, 0), 0u);
  fake_options whole = spillingOptions();
  whole.takes_turns = 0;
  program = makeProgram(whole);
  EXPECT_EQ(hfta_fetched_bytes(program.get(),
                               &findSchedule(program.get(), "step"),
                               FAKE_SEGMENT_PARAMETERS, 0),
            program->segments[FAKE_SEGMENT_PARAMETERS].bytes);
}

TEST(Fetches, EndBehindAllInstances) {
  ProgramPointer program = makeProgram(spillingOptions());
  const hfta_schedule &step = findSchedule(program.get(), "step");
  hfta_command &fetch = findCommand(program.get(), HFTA_COMMAND_FETCH);
  uint64_t bytes = 2 * program->segments[FAKE_SEGMENT_PARAMETERS].copy_bytes;
  fetch.from.offset = 8192;
  EXPECT_EQ(hfta_fetch_end(program.get(), &step, &fetch), 8192 + bytes);
  fetch.bytes = 3;
  EXPECT_EQ(hfta_fetch_end(program.get(), &step, &fetch), 8192 + 3 * bytes);
  fetch.bytes = ~0ull;
  EXPECT_EQ(hfta_fetch_end(program.get(), &step, &fetch), 0u);
}

TEST(Fetches, UnsoundCommandsAreRefused) {
  const std::string expected = "program 'fake': schedule 'step' is invalid";
  auto expectUnsound = [&](uint32_t kind, auto damage) {
    ProgramPointer program = makeProgram(spillingOptions());
    EXPECT_EQ(check(program.get()), "");
    damage(findCommand(program.get(), kind));
    EXPECT_EQ(check(program.get()), expected);
  };
  auto toResident = [](auto &it) { it.to.index = FAKE_SEGMENT_SCALARS; };
  auto toNone = [](auto &it) { it.to.index = FAKE_SEGMENT_COUNT; };
  for (uint32_t kind :
       {HFTA_COMMAND_FETCH, HFTA_COMMAND_EVICT, HFTA_COMMAND_DROP}) {
    expectUnsound(kind, toResident);
    expectUnsound(kind, toNone);
    expectUnsound(kind, [](auto &it) { it.to.space = HFTA_SPACE_HOST; });
    expectUnsound(kind, [](auto &it) { it.ahead = -1; });
    expectUnsound(kind, [](auto &it) { it.queue = 4; });
  }
  expectUnsound(HFTA_COMMAND_EVICT, [](auto &it) { it.queue = 0; });
  expectUnsound(HFTA_COMMAND_EVICT,
                [](auto &it) { it.to.index = FAKE_SEGMENT_SAVED; });
  expectUnsound(HFTA_COMMAND_FETCH, [](auto &it) { it.queue = 0; });
  expectUnsound(HFTA_COMMAND_FETCH,
                [](auto &it) { it.to.index = FAKE_SEGMENT_SAVED; });
  expectUnsound(HFTA_COMMAND_FETCH, [](auto &it) { it.subject = 3; });
  expectUnsound(HFTA_COMMAND_FETCH, [](auto &it) { it.bytes = 0; });
  expectUnsound(HFTA_COMMAND_FETCH, [](auto &it) { it.bytes = 2; });
  expectUnsound(HFTA_COMMAND_FETCH, [](auto &it) { it.from.offset = 64; });
  expectUnsound(HFTA_COMMAND_FETCH,
                [](auto &it) { it.from.offset += 1 << 20; });
  expectUnsound(HFTA_COMMAND_FETCH,
                [](auto &it) { it.from.space = HFTA_SPACE_SEGMENT; });
  // A loop over turns must state the number of copies per turn if slabs are
  // fetched in it.
  ProgramPointer program = makeProgram(spillingOptions());
  auto *commands = &findCommand(program.get(), HFTA_COMMAND_REPEAT);
  while (commands->subject != HFTA_REPEAT_TURNS ||
         commands->kind != HFTA_COMMAND_REPEAT)
    ++commands;
  commands->bytes = 0;
  EXPECT_EQ(check(program.get()), expected);
}

TEST(Fetches, UnsoundResidenciesAreRefused) {
  auto expectUnsound = [&](uint32_t index, auto damage) {
    ProgramPointer program = makeProgram(spillingOptions());
    auto &segment = const_cast<hfta_segment &>(program->segments[index]);
    damage(segment);
    EXPECT_EQ(check(program.get()), std::string("program 'fake': segment '") +
                                        segment.name +
                                        "' can't have residency " +
                                        std::to_string(segment.residency));
  };
  expectUnsound(FAKE_SEGMENT_PARAMETERS, [](auto &it) { it.residency = 3; });
  expectUnsound(FAKE_SEGMENT_PARAMETERS, [](auto &it) { it.image = &it; });
  expectUnsound(FAKE_SEGMENT_SCALARS,
                [](auto &it) { it.residency = HFTA_TRANSIENT; });
  expectUnsound(FAKE_SEGMENT_SAVED, [](auto &it) {
    it.role = HFTA_SEGMENT_WORKSPACE;
    it.residency = HFTA_SPILLED;
  });
}

} // namespace

TEST(Fetches, TurnsOfSeveralStepsBeginAndEnd) {
  ProgramPointer program = makeProgram(spillingOptions());
  auto rename = [&](const char *from, const char *to) {
    const_cast<hfta_schedule &>(findSchedule(program.get(), from)).name = to;
  };
  const std::string expected = "program 'fake': its schedules can't be run";
  rename("step", "begin_turn");
  EXPECT_EQ(check(program.get()), expected);
  rename("infer", "turn_step");
  EXPECT_EQ(check(program.get()), expected);
  rename("evaluate", "end_turn");
  // begin_turn must begin with a loop over turns, but this one begins with a
  // transfer of values from the host.
  EXPECT_EQ(check(program.get()), expected);
  hfta_command turns = {};
  turns.kind = HFTA_COMMAND_REPEAT;
  turns.subject = HFTA_REPEAT_TURNS;
  auto &begin =
      const_cast<hfta_schedule &>(findSchedule(program.get(), "begin_turn"));
  begin.commands = &turns;
  begin.command_count = 1;
  EXPECT_EQ(check(program.get()), expected) << "of no number of copies";
  turns.bytes = 2;
  EXPECT_EQ(check(program.get()), "");
}
