//===- RuntimeTest.cpp - Folders, data and processes for tests ------------===//

#include "RuntimeTest.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <fstream>
#include <ftw.h>
#include <random>
#include <regex>
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

void removeAll(const std::string &path) {
  nftw(path.c_str(), removeEntry, 16, FTW_DEPTH | FTW_PHYS);
}

TemporaryFolder::~TemporaryFolder() { removeAll(root); }

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

/// Draws random features. The label is the class of the largest of the first
/// three features, except that one in eight labels is random.
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

InstancePointer makeInstance(const hfta_program *program, int threads,
                             const char *device) {
  hfta_error error = {};
  hfta_options options = {};
  options.threads = threads;
  options.device = device;
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
    std::string own(program->tensors[i].bytes, '\0');
    EXPECT_EQ(hfta_instance_read(instance, i, copy, 0, own.data(), own.size()),
              HFTA_OK)
        << hfta_instance_message(instance);
    bytes += own;
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
  int ends[2];
  if (options.brokenOutput && pipe(ends) == 0) {
    dup2(ends[1], 1);
    close(ends[0]);
    close(ends[1]);
  }
  dup2(open(err.c_str(), flags, 0600), 2);
  if (!options.folder.empty() && chdir(options.folder.c_str()) != 0)
    _exit(99);
  // The child would ignore this signal if the tests run under nohup.
  ::signal(SIGHUP, SIG_DFL);
  for (int signal : options.ignored)
    ::signal(signal, SIG_IGN);
  if (options.fileLimit >= 0) {
    rlimit limit = {rlim_t(options.fileLimit), rlim_t(options.fileLimit)};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  setenv("FAKE_OPTIONS", options.fake.c_str(), 1);
  setenv("FAKE_CHANGE", options.change.c_str(), 1);
  std::vector<char *> argv = {const_cast<char *>("fake")};
  for (const std::string &argument : arguments)
    argv.push_back(const_cast<char *>(argument.c_str()));
  argv.push_back(nullptr);
  execv(HFTA_FAKE_BINARY, argv.data());
  _exit(98);
}

std::function<void(pid_t)> sends(int signal) {
  return [signal](pid_t child) { kill(child, signal); };
}

/// Counts the lines that the child writes to the pipe until it ends. Returns
/// the child's status as waitpid does.
static int watchPipe(int pipe, pid_t child, const RunOptions &options) {
  int status = 0, lines = 0;
  bool called = false;
  for (;;) {
    char bytes[256];
    ssize_t size = pipe < 0 ? -1 : read(pipe, bytes, sizeof(bytes));
    if (size > 0)
      lines += std::count(bytes, bytes + size, '\n');
    if (!called && lines >= options.lines) {
      called = true;
      if (options.then)
        options.then(child);
      if (options.closesPipe) {
        close(pipe);
        pipe = -1;
      }
    }
    if (size > 0)
      continue;
    // Nothing was read: the pipe has no writer yet, no writer any more, or is
    // empty.
    if (waitpid(child, &status, WNOHANG) == child)
      break;
    usleep(1000);
  }
  if (pipe >= 0)
    close(pipe);
  return status;
}

Outcome runBinary(const std::vector<std::string> &arguments,
                  const RunOptions &options) {
  TemporaryFolder folder;
  std::string out = folder.path("out"), err = folder.path("err");
  std::string path = options.folder + "/" + options.pipe;
  int pipe = -1, status = 0;
  if (!options.pipe.empty()) {
    remove(path.c_str());
    if (mkfifo(path.c_str(), 0600) != 0)
      abort();
    pipe = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    fcntl(pipe, F_SETPIPE_SZ, 4096);
    if (options.errorsToPipe)
      err = path;
  }
  pid_t child = fork();
  if (child == 0)
    runChild(arguments, options, out, err);
  if (pipe >= 0)
    status = watchPipe(pipe, child, options);
  else
    waitpid(child, &status, 0);
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  return {code, readFile(out), options.errorsToPipe ? "" : readFile(err)};
}

//===----------------------------------------------------------------------===//
// Trainings
//===----------------------------------------------------------------------===//

std::vector<std::string> linesOf(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

Outcome Train::run(std::vector<std::string> arguments, RunOptions options) {
  options.folder = folder.root;
  arguments.insert(arguments.begin(), "train");
  arguments.insert(arguments.end(), {"--data", data.root});
  if (!options.errorsToPipe)
    arguments.push_back("--no-progress");
  return runBinary(arguments, options);
}

void Train::expectEqual(const std::string &one, const std::string &two,
                        int copies) {
  for (int copy = 0; copy < copies; ++copy) {
    EXPECT_FALSE(copyFile(one, copy).empty()) << one;
    EXPECT_EQ(copyFile(one, copy), copyFile(two, copy)) << one << " " << two;
  }
}

std::vector<std::string> Train::events(const std::string &log) {
  std::vector<std::string> lines = linesOf(readFile(folder.path(log)));
  for (std::string &line : lines)
    line = std::regex_replace(line, std::regex(",\"seconds\":[^}]*"), "");
  return lines;
}

std::vector<std::string> train(const fake_options &options, int threads,
                               int steps, std::vector<double> *losses,
                               void (*setClock)(hfta_instance *)) {
  ProgramPointer program = makeProgram(options);
  InstancePointer instance = makeInstance(program.get(), threads);
  if (setClock)
    setClock(instance.get());
  hfta_instance_set_total_steps(instance.get(), steps);
  std::vector<double> last(options.copies);
  for (int i = 0; i < steps; ++i) {
    Batch batch(i);
    EXPECT_EQ(hfta_instance_step(instance.get(), batch.inputs, last.data()),
              HFTA_OK);
  }
  EXPECT_EQ(hfta_instance_steps(instance.get()), steps);
  std::vector<std::string> states;
  for (int64_t copy = 0; copy < options.copies; ++copy)
    states.push_back(stateOf(instance.get(), copy));
  if (losses)
    *losses = last;
  return states;
}
