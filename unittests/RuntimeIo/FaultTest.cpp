//===- FaultTest.cpp - Tests of files that change while they are read -----===//

extern "C" {
#include "system/fault.h"
#include "data/data_source.h"
}

#include "TestFiles.h"

#include <csignal>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace hfta_test;

namespace {

class FaultTest : public FileTest {
protected:
  /// Opens a source of four samples with one page each. Sets the file's time
  /// far back, because the clocks of file systems are too coarse to tell two
  /// recent changes apart.
  DataPointer openPages() {
    file = write("a.bin", std::string(4 * pageBytes, 'a'));
    timespec times[2] = {{1, 0}, {1, 0}};
    EXPECT_EQ(utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
    hfta_error error;
    DataPointer data =
        open({file, HFTA_DATA_RAW, HFTA_U8, {int64_t(pageBytes)}}, error);
    EXPECT_TRUE(data) << error.message;
    return data;
  }

  /// Reads the last sample. Returns "0" if it is as expected, else what is
  /// wrong, with FILE instead of the path.
  std::string gather(const hfta_data *data) {
    hfta_error error;
    std::string out(pageBytes, '\0');
    int64_t index = 3;
    hfta_status status = hfta_data_gather(data, &index, 1, out.data(), &error);
    if (status == HFTA_OK)
      return out == std::string(pageBytes, 'a') ? "0" : "other bytes";
    std::string message = std::to_string(status) + ": " + error.message;
    return message.replace(message.find(file), file.size(), "FILE");
  }

  const size_t pageBytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  std::string file;
};

void touchByte(void *argument) {
  (void)*static_cast<const volatile char *>(argument);
}

} // namespace

TEST_F(FaultTest, FilesThatAreCutOffGrowOrAreWrittenTo) {
  DataPointer data = openPages();
  EXPECT_EQ(gather(data.get()), "0");
  std::string size = std::to_string(4 * pageBytes);
  ASSERT_EQ(truncate(file.c_str(), 10), 0);
  EXPECT_EQ(gather(data.get()), "1: 'FILE' was changed while it was read: it "
                                "had " +
                                    size + " bytes, and has 10 now");
  data = openPages();
  ASSERT_EQ(truncate(file.c_str(), off_t(5 * pageBytes)), 0);
  EXPECT_EQ(gather(data.get()), "1: 'FILE' was changed while it was read: it "
                                "had " +
                                    size + " bytes, and has " +
                                    std::to_string(5 * pageBytes) + " now");
  data = openPages();
  write("a.bin", std::string(4 * pageBytes, 'b'));
  EXPECT_EQ(gather(data.get()),
            "1: 'FILE' was changed while it was read: it was written to");
}

TEST_F(FaultTest, FilesThatAreRemovedOrReplacedKeepTheirBytes) {
  DataPointer data = openPages();
  ASSERT_EQ(remove(file.c_str()), 0);
  EXPECT_EQ(gather(data.get()), "0");
  data = openPages();
  ASSERT_EQ(rename(write("b.bin", "other").c_str(), file.c_str()), 0);
  EXPECT_EQ(gather(data.get()), "0");
}

TEST_F(FaultTest, APageThatVanishesWithinACopyIsAnError) {
  hfta_fault_install();
  DataPointer data = openPages();
  // Without its watch, the source can't notice that the file was truncated
  // before it reads.
  hfta_watch_close(&data->watch);
  ASSERT_EQ(truncate(file.c_str(), 10), 0);
  EXPECT_EQ(gather(data.get()), "1: cannot read 'FILE': Input/output error");
  char byte = 'x';
  EXPECT_TRUE(hfta_fault_guard(touchByte, &byte));
  EXPECT_FALSE(hfta_fault_guard(
      touchByte, const_cast<unsigned char *>(data->samples + pageBytes)));
}

TEST_F(FaultTest, ElsewhereTheSignalDoesWhatItDid) {
  DataPointer data = openPages();
  ASSERT_EQ(truncate(file.c_str(), 10), 0);
  EXPECT_EXIT(
      {
        signal(SIGBUS, [](int) { _exit(42); });
        hfta_fault_install();
        touchByte(const_cast<unsigned char *>(data->samples + pageBytes));
      },
      testing::ExitedWithCode(42), "");
  EXPECT_EXIT(
      {
        signal(SIGBUS, [](int) { _exit(43); });
        hfta_fault_install();
        raise(SIGBUS);
      },
      testing::ExitedWithCode(43), "");
}
