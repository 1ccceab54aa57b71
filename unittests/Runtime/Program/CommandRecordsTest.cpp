//===- CommandRecordsTest.cpp - Tests of the records of commands ----------===//

extern "C" {
#include "program/command_records.h"
}

#include "gtest/gtest.h"

TEST(CommandRecords, UnknownKindsHaveAnEmptyRecord) {
  for (uint32_t kind : {UINT32_MAX, uint32_t(HFTA_COMMAND_DROP) + 1000}) {
    const hfta_command_record *record = hfta_find_command_record(kind);
    EXPECT_STREQ(record->word, "?");
    EXPECT_EQ(record->field_count, 0u);
    EXPECT_EQ(record->flags, 0u);
  }
}

TEST(CommandRecords, SayWhichSegmentsAreNamed) {
  hfta_command command = {};
  command.kind = HFTA_COMMAND_TRANSFER;
  command.from = {HFTA_SPACE_FIELD, 3, 0, 0};
  command.to = {HFTA_SPACE_SEGMENT, 5, 0, 0};
  EXPECT_TRUE(hfta_command_names_segment(&command, 5));
  EXPECT_FALSE(hfta_command_names_segment(&command, 3));
  EXPECT_TRUE(hfta_command_reads(&command, HFTA_SPACE_FIELD));
  EXPECT_FALSE(hfta_command_writes(&command, HFTA_SPACE_HOST));
  // A command that records an event has no place.
  command.kind = HFTA_COMMAND_RECORD;
  EXPECT_FALSE(hfta_command_names_segment(&command, 5));
  EXPECT_FALSE(hfta_command_reads(&command, HFTA_SPACE_FIELD));
}

TEST(CommandRecords, SayWhichCommandsMeetOthers) {
  hfta_command command = {};
  command.kind = HFTA_COMMAND_SEND;
  EXPECT_TRUE(hfta_command_is(&command, HFTA_COMMAND_MEETS));
  command.kind = HFTA_COMMAND_TAKE_GROUP;
  EXPECT_FALSE(hfta_command_is(&command, HFTA_COMMAND_MEETS));
  EXPECT_TRUE(hfta_command_is(&command, HFTA_COMMAND_IS_FOR_ALL));
  EXPECT_TRUE(hfta_command_has(&command, HFTA_FIELD_GROUP));
  EXPECT_FALSE(hfta_command_has(&command, HFTA_FIELD_TASK));
}
