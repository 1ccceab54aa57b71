//===- Replay.cpp - Runs a fuzz target on files ---------------------------===//
//
// It replaces libFuzzer's main: `replay-NAME FOLDER...` runs the target on
// every file of the folders, with a limit of ten seconds for each and two
// gigabytes for all. The last file that it prints is the one that it ran last.
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

static constexpr unsigned kSeconds = 10;
static constexpr long kMostKilobytes = 2 << 20;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/// Sorted, so that all runs are alike.
static std::vector<std::filesystem::path> listFiles(const char *folder) {
  std::error_code error;
  std::filesystem::directory_iterator entries(folder, error);
  if (error) {
    fprintf(stderr, "error: %s: %s\n", folder, error.message().c_str());
    exit(1);
  }
  std::vector<std::filesystem::path> files(begin(entries), end(entries));
  std::sort(files.begin(), files.end());
  return files;
}

static void replay(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> read{std::istreambuf_iterator<char>(file), {}};
  // An allocation of exactly these bytes, so that a sanitizer detects a read
  // beyond the end.
  std::vector<uint8_t> bytes(read.begin(), read.end());
  puts(path.c_str());
  fflush(stdout);
  alarm(kSeconds);
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  alarm(0);
}

int main(int argc, char **argv) {
  size_t count = 0;
  for (int i = 1; i < argc; ++i)
    for (const std::filesystem::path &path : listFiles(argv[i])) {
      replay(path);
      ++count;
    }
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf("%zu files, %ld KiB\n", count, usage.ru_maxrss);
  if (count != 0 && usage.ru_maxrss <= kMostKilobytes)
    return 0;
  fputs(count ? "error: too much memory\n" : "error: no files\n", stderr);
  return 1;
}
