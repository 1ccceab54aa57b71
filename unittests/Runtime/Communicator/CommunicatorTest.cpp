//===- CommunicatorTest.cpp - Single ranks, launchers and libraries -------===//

#include "hfta/communicator.h"
#include "hfta/pool.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {
/// Sets the environment variables that a launcher would set, and restores the
/// previous ones when it is destroyed.
class Environment {
public:
  explicit Environment(const std::map<std::string, std::string> &values) {
    for (const char *name : names)
      if (const char *value = getenv(name))
        before[name] = value;
    clear();
    for (const auto &[name, value] : values)
      setenv(name.c_str(), value.c_str(), 1);
  }
  ~Environment() {
    clear();
    for (const auto &[name, value] : before)
      setenv(name.c_str(), value.c_str(), 1);
  }

private:
  static constexpr const char *names[] = {"OMPI_COMM_WORLD_SIZE",
                                          "OMPI_COMM_WORLD_RANK",
                                          "OMPI_COMM_WORLD_LOCAL_SIZE",
                                          "OMPI_MCA_orte_bound_at_launch",
                                          "PMI_SIZE",
                                          "PMI_RANK",
                                          "MPI_LOCALNRANKS"};
  static void clear() {
    for (const char *name : names)
      unsetenv(name);
  }
  std::map<std::string, std::string> before;
};

/// The environment of rank 1 of 4, of which two are on this host.
const std::map<std::string, std::string> openMpi = {
    {"OMPI_COMM_WORLD_SIZE", "4"},
    {"OMPI_COMM_WORLD_RANK", "1"},
    {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};

hfta_launcher launcherOf(const std::map<std::string, std::string> &values) {
  Environment environment(values);
  hfta_launcher launcher;
  hfta_launcher_find(&launcher);
  return launcher;
}

/// Tests of a communicator with a single rank.
class Self : public testing::Test {
protected:
  void SetUp() override {
    hfta_rank_options options = {HFTA_RANKS_ONE, nullptr, timeout};
    ASSERT_EQ(hfta_communicator_open(&options, &communicator, nullptr),
              HFTA_OK);
  }
  void TearDown() override { hfta_communicator_close(communicator); }

  hfta_posted *post(int tag, std::vector<hfta_message> messages) {
    hfta_post own = {{"numbers", 3, tag},
                     messages.data(),
                     static_cast<uint32_t>(messages.size())};
    hfta_posted *posted = nullptr;
    EXPECT_EQ(hfta_communicator_post(communicator, &own, &posted, &error),
              HFTA_OK)
        << error.message;
    return posted;
  }
  hfta_status wait(hfta_posted *posted) {
    return hfta_communicator_wait(communicator, posted, &error);
  }
  static hfta_message send(int &number) {
    return {0, true, &number, sizeof(number)};
  }
  static hfta_message receive(int &number) {
    return {0, false, &number, sizeof(number)};
  }

  double timeout = 0.0;
  hfta_communicator *communicator = nullptr;
  hfta_error error = {};
};

class ImpatientSelf : public Self {
protected:
  ImpatientSelf() { timeout = 0.05; }
};

/// Expects that opening a communicator with this MPI library fails as
/// unsupported, with a message that contains all `texts`.
void expectUnsupported(const char *library,
                       const std::vector<std::string> &texts) {
  Environment environment(openMpi);
  hfta_rank_options options = {HFTA_RANKS_AUTO, library, 0.0};
  hfta_communicator *communicator = nullptr;
  hfta_error error = {};
  EXPECT_EQ(hfta_communicator_open(&options, &communicator, &error),
            HFTA_UNSUPPORTED);
  EXPECT_EQ(communicator, nullptr);
  for (const std::string &text : texts)
    EXPECT_NE(std::string(error.message).find(text), std::string::npos)
        << error.message;
}
} // namespace

TEST(Launcher, SaysWhichRankThisIs) {
  hfta_launcher none = launcherOf({});
  EXPECT_EQ(none.rank, 0);
  EXPECT_EQ(none.size, 1);
  EXPECT_EQ(none.local_size, 1);
  hfta_launcher four = launcherOf(openMpi);
  EXPECT_EQ(four.rank, 1);
  EXPECT_EQ(four.size, 4);
  EXPECT_EQ(four.local_size, 2);
  EXPECT_FALSE(four.is_bound);
  hfta_launcher others = launcherOf({{"PMI_SIZE", "3"}, {"PMI_RANK", "2"}});
  EXPECT_EQ(others.rank, 2);
  EXPECT_EQ(others.size, 3);
  EXPECT_EQ(others.local_size, 3);
}

TEST(Launcher, NonsenseIsNone) {
  using Values = std::map<std::string, std::string>;
  for (const Values &values :
       {Values{{"OMPI_COMM_WORLD_SIZE", "4"}},
        Values{{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "4"}},
        Values{{"OMPI_COMM_WORLD_SIZE", "-4"}, {"OMPI_COMM_WORLD_RANK", "0"}},
        Values{{"PMI_SIZE", "4x"}, {"PMI_RANK", "0"}},
        Values{{"PMI_SIZE", "99999999999999999999"}, {"PMI_RANK", "0"}}})
    EXPECT_EQ(launcherOf(values).size, 1);
}

TEST(Launcher, RanksShareTheirHostsProcessors) {
  int all = 0;
  {
    Environment environment({});
    all = hfta_pool_default_threads();
  }
  Environment environment(openMpi);
  EXPECT_EQ(hfta_pool_default_threads(), std::max(1, all / 2));
  setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "1", 1);
  EXPECT_EQ(hfta_pool_default_threads(), all);
  setenv("OMPI_COMM_WORLD_SIZE", "4000", 1);
  setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "4000", 1);
  EXPECT_EQ(hfta_pool_default_threads(), 1);
  // A rank that its launcher has bound to processors uses all of these.
  setenv("OMPI_MCA_orte_bound_at_launch", "1", 1);
  setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "1", 1);
  EXPECT_EQ(hfta_pool_default_threads(), all);
}

TEST(Library, OneThatIsNotThereIsUnsupported) {
  expectUnsupported("libno-such-mpi.so.40",
                    {"'libno-such-mpi.so.40'", "openmpi-bin", "--mpi"});
}

TEST(Library, AnotherAbiIsUnsupported) {
  expectUnsupported(HFTA_FAKE_MPI,
                    {HFTA_FAKE_MPI, "expected Open MPI", "MPICH Version"});
}

TEST(Library, OneThatIsNotMpiIsUnsupported) {
  expectUnsupported("libm.so.6", {"'libm.so.6'", "it isn't an MPI library"});
}

TEST(Library, OneRankOpensNone) {
  Environment environment(openMpi);
  hfta_rank_options options = {HFTA_RANKS_ONE, "libno-such-mpi.so.40", 0.0};
  hfta_communicator *communicator = nullptr;
  ASSERT_EQ(hfta_communicator_open(&options, &communicator, nullptr), HFTA_OK);
  EXPECT_STREQ(communicator->functions->kind, "self");
  EXPECT_EQ(communicator->size, 1);
  hfta_communicator_close(communicator);
}

TEST_F(Self, MessagesToItselfAreCopies) {
  int from[] = {1, 2, 3}, to[] = {0, 0, 0};
  hfta_posted *first = post(5, {send(from[0]), receive(to[0])});
  EXPECT_EQ(to[0], 1);
  EXPECT_EQ(wait(first), HFTA_OK);
  // Messages with the same tag match in order, even if other messages are
  // posted in between.
  hfta_posted *receives = post(6, {receive(to[1]), receive(to[2])});
  hfta_posted *other = post(7, {send(from[0])});
  EXPECT_EQ(to[1], 0);
  hfta_posted *sends = post(6, {send(from[1]), send(from[2])});
  EXPECT_EQ(wait(receives), HFTA_OK);
  EXPECT_EQ(wait(sends), HFTA_OK);
  EXPECT_EQ(to[1], 2);
  EXPECT_EQ(to[2], 3);
  int last = 0;
  EXPECT_EQ(wait(post(7, {receive(last)})), HFTA_OK);
  EXPECT_EQ(wait(other), HFTA_OK);
  EXPECT_EQ(last, 1);
  EXPECT_EQ(wait(post(0, {})), HFTA_OK);
}

TEST_F(Self, AThreadWaitsForAnothersPost) {
  for (int round = 0; round < 50; ++round) {
    int from = round, to = -1;
    std::thread thread(
        [&] { EXPECT_EQ(wait(post(1, {receive(to)})), HFTA_OK); });
    hfta_posted *posted = post(1, {send(from)});
    EXPECT_EQ(hfta_communicator_wait(communicator, posted, nullptr), HFTA_OK);
    thread.join();
    EXPECT_EQ(to, round);
  }
}

TEST_F(Self, AgreesWithItself) {
  uint64_t offsets[] = {4, 12};
  int memory[] = {1, 2, 3}, received[] = {0, 0};
  hfta_label label = {"pieces", -1, 0};
  hfta_posted *posted = nullptr;
  ASSERT_EQ(hfta_communicator_post_exchange(communicator, &label, memory,
                                            offsets, received, &posted,
                                            nullptr),
            HFTA_OK);
  EXPECT_EQ(wait(posted), HFTA_OK);
  EXPECT_EQ(received[0], 2);
  EXPECT_EQ(received[1], 3);
  ASSERT_EQ(hfta_communicator_post_gather(communicator, &label, memory, offsets,
                                          &posted, nullptr),
            HFTA_OK);
  EXPECT_EQ(wait(posted), HFTA_OK);
  ASSERT_EQ(hfta_communicator_post_broadcast(communicator, &label, 0, memory, 4,
                                             &posted, nullptr),
            HFTA_OK);
  EXPECT_EQ(wait(posted), HFTA_OK);
  int64_t value = -5;
  EXPECT_EQ(hfta_communicator_max(communicator, "max", &value, nullptr),
            HFTA_OK);
  EXPECT_EQ(value, -5);
  int different = 0;
  EXPECT_EQ(hfta_communicator_compare(communicator, "same", "ab", 2, &different,
                                      nullptr),
            HFTA_OK);
  EXPECT_EQ(different, -1);
}

TEST_F(Self, SplitsIntoItselfOrNothing) {
  hfta_communicator *part = nullptr, *none = communicator;
  ASSERT_EQ(hfta_communicator_split(communicator, 3, 9, &part, nullptr),
            HFTA_OK);
  EXPECT_EQ(part->size, 1);
  hfta_communicator_close(part);
  ASSERT_EQ(hfta_communicator_split(communicator, -1, 0, &none, nullptr),
            HFTA_OK);
  EXPECT_EQ(none, nullptr);
  hfta_communicator_close(none);
}

TEST_F(Self, RefusesAnotherRank) {
  int number = 0;
  hfta_message message = {1, true, &number, sizeof(number)};
  hfta_post own = {{"numbers", -1, 0}, &message, 1};
  hfta_posted *posted = nullptr;
  EXPECT_EQ(hfta_communicator_post(communicator, &own, &posted, &error),
            HFTA_INTERNAL);
  EXPECT_STREQ(error.message,
               "numbers: a message with rank 1 of a communicator of 1");
  // After a failure, all later calls of the communicator fail with the same
  // error.
  own.count = 0;
  hfta_error again = {};
  EXPECT_EQ(hfta_communicator_post(communicator, &own, &posted, &again),
            HFTA_INTERNAL);
  EXPECT_STREQ(again.message, error.message);
}

TEST_F(Self, RefusesLengthsThatDiffer) {
  int from[] = {1, 2}, to = 0;
  hfta_message messages[] = {{0, true, from, sizeof(from)},
                             {0, false, &to, sizeof(to)}};
  hfta_post own = {{"numbers", -1, 0}, messages, 2};
  hfta_posted *posted = nullptr;
  EXPECT_EQ(hfta_communicator_post(communicator, &own, &posted, &error),
            HFTA_INTERNAL);
  EXPECT_STREQ(error.message,
               "numbers: rank 0 sends 8 bytes to itself and receives 4");
}

TEST_F(ImpatientSelf, DoesNotWaitForeverForItself) {
  int number = 0;
  EXPECT_EQ(wait(post(0, {receive(number)})), HFTA_LOST);
  EXPECT_STREQ(error.message, "rank 0 has waited for 0.05 s for a message of "
                              "its own: numbers of micro-batch 3");
}

TEST_F(Self, FailingEndsTheProcess) {
  EXPECT_EXIT(hfta_communicator_fail(communicator, HFTA_CANNOT_WRITE,
                                     "fake: error: the disk is full"),
              testing::ExitedWithCode(HFTA_CANNOT_WRITE),
              "^fake: error: the disk is full\n$");
}
