//===- Replay.cpp - Runs a fuzz target on stored files --------------------===//
//
// usage: replay-NAME FOLDER... This main function replaces libFuzzer's. It runs
// the target on every file of the folders. A file that takes more than 10 s
// ends the process by SIGALRM; if the process has used more than 2 GiB of
// memory, its exit code is 1. Each file's name is printed before the file is
// run, so after a crash the last name is that of the file that caused it.
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

/// Returns a folder's files, sorted by name, so that all runs have the same
/// order.
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
  // Copy the bytes to an allocation of exactly their size, so that a sanitizer
  // detects reads beyond the end.
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
