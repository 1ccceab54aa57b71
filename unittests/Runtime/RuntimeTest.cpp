//===- RuntimeTest.cpp - Folders, data and processes for tests ------------===//

#include "RuntimeTest.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <fstream>
#include <ftw.h>
#include <random>
#include <sstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static std::string makeFolder() {
  const char *base = getenv("TMPDIR");
  std::string pattern = std::string(base ? base : "/tmp") + "/hfta-XXXXXX";
  if (!mkdtemp(pattern.data()))
    abort();
  return pattern;
}

static int removeEntry(const char *path, const struct stat *, int,
                       struct FTW *) {
  return remove(path);
}

TemporaryFolder::TemporaryFolder() : root(makeFolder()) {}

TemporaryFolder::~TemporaryFolder() {
  nftw(root.c_str(), removeEntry, 16, FTW_DEPTH | FTW_PHYS);
}

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void writeFile(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

bool exists(const std::string &path) { return access(path.c_str(), F_OK) == 0; }

std::vector<std::string> listFolder(const std::string &path) {
  std::vector<std::string> names;
  DIR *folder = opendir(path.c_str());
  if (!folder)
    return names;
  while (dirent *entry = readdir(folder))
    if (std::string(entry->d_name) != "." && std::string(entry->d_name) != "..")
      names.push_back(entry->d_name);
  closedir(folder);
  std::sort(names.begin(), names.end());
  return names;
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

/// The class is the largest of three features, mostly.
static void drawSample(std::mt19937 &random, unsigned char *image,
                       unsigned char *label) {
  for (int i = 0; i < FAKE_FEATURES; ++i)
    image[i] = static_cast<unsigned char>(random() >> 24);
  int best = 0;
  for (int i = 1; i < FAKE_CLASSES; ++i)
    if (image[i] > image[best])
      best = i;
  *label = static_cast<unsigned char>(random() % 8 == 0 ? random() % 3 : best);
}

static std::string idxHeader(std::initializer_list<unsigned> shape) {
  std::string bytes = {0, 0, 8, static_cast<char>(shape.size())};
  for (unsigned extent : shape)
    for (int shift = 24; shift >= 0; shift -= 8)
      bytes += static_cast<char>(extent >> shift);
  return bytes;
}

static void writeSplit(const std::string &prefix, int count, unsigned seed) {
  std::mt19937 random(seed);
  std::string images = idxHeader({unsigned(count), FAKE_FEATURES});
  std::string labels = idxHeader({unsigned(count)});
  for (int i = 0; i < count; ++i) {
    unsigned char image[FAKE_FEATURES], label;
    drawSample(random, image, &label);
    images.append(reinterpret_cast<char *>(image), FAKE_FEATURES);
    labels += static_cast<char>(label);
  }
  writeFile(prefix + "-images.idx", images);
  writeFile(prefix + "-labels.idx", labels);
}

void writeData(const std::string &folder, int train, int test) {
  writeSplit(folder + "/train", train, 1);
  writeSplit(folder + "/test", test, 2);
}

Batch::Batch(unsigned number)
    : images(FAKE_BATCH * FAKE_FEATURES), labels(FAKE_BATCH) {
  std::mt19937 random(100 + number);
  for (int i = 0; i < FAKE_BATCH; ++i)
    drawSample(random, &images[i * FAKE_FEATURES], &labels[i]);
  inputs[0] = images.data();
  inputs[1] = labels.data();
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

fake_options defaultOptions() {
  fake_options options = {};
  options.copies = 3;
  options.micro_batches = 1;
  return options;
}

ProgramPointer makeProgram(const fake_options &options) {
  return ProgramPointer(fake_program_make(&options), fake_program_free);
}

InstancePointer makeInstance(const hfta_program *program, int threads) {
  hfta_error error = {};
  hfta_options options = {};
  options.threads = threads;
  options.error = &error;
  hfta_instance *instance = nullptr;
  EXPECT_EQ(hfta_instance_create(program, &options, &instance), HFTA_OK)
      << error.message;
  return InstancePointer(instance, hfta_instance_destroy);
}

std::string stateOf(hfta_instance *instance, int64_t copy) {
  const hfta_program *program = hfta_instance_program(instance);
  std::string bytes;
  for (uint32_t i = 0; i < program->tensor_count; ++i) {
    if (!(program->tensors[i].flags & HFTA_TENSOR_CHECKPOINT))
      continue;
    hfta_tensor_info info;
    EXPECT_EQ(
        hfta_instance_tensor(instance, copy, program->tensors[i].name, &info),
        HFTA_OK);
    bytes.append(static_cast<char *>(info.data), info.bytes);
  }
  return bytes;
}

//===----------------------------------------------------------------------===//
// Processes
//===----------------------------------------------------------------------===//

[[noreturn]] static void runChild(const std::vector<std::string> &arguments,
                                  const RunOptions &options,
                                  const std::string &out,
                                  const std::string &err) {
  int flags = O_CREAT | O_WRONLY | O_TRUNC;
  dup2(open(options.closedOutput ? "/dev/full" : out.c_str(), flags, 0600), 1);
  dup2(open(err.c_str(), flags, 0600), 2);
  if (!options.folder.empty() && chdir(options.folder.c_str()) != 0)
    _exit(99);
  if (options.fileLimit >= 0) {
    rlimit limit = {rlim_t(options.fileLimit), rlim_t(options.fileLimit)};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  setenv("FAKE_OPTIONS", options.fake.c_str(), 1);
  std::vector<char *> argv = {const_cast<char *>("fake")};
  for (const std::string &argument : arguments)
    argv.push_back(const_cast<char *>(argument.c_str()));
  argv.push_back(nullptr);
  execv(HFTA_FAKE_BINARY, argv.data());
  _exit(98);
}

Outcome runBinary(const std::vector<std::string> &arguments,
                  const RunOptions &options) {
  TemporaryFolder folder;
  std::string out = folder.path("out"), err = folder.path("err");
  pid_t child = fork();
  if (child == 0)
    runChild(arguments, options, out, err);
  if (options.signal != 0) {
    usleep(static_cast<useconds_t>(options.delay) * 1000);
    kill(child, options.signal);
  }
  int status = 0;
  waitpid(child, &status, 0);
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  return {code, readFile(out), readFile(err)};
}
