//===- CodeCache.cpp - Cache of compiled kernels --------------------------===//

#include "Hfta/Codegen/CodeCache.h"
#include "Hfta/Support/Output.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

#include <cstdlib>
#include <elf.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/stat.h>

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// The compiler's identity
//===----------------------------------------------------------------------===//

/// Appends the build IDs (the linker's hash of the file) among the notes of an
/// ELF file.
static void appendBuildId(const char *notes, size_t bytes, std::string &ids) {
  while (bytes >= sizeof(ElfW(Nhdr))) {
    const auto *note = reinterpret_cast<const ElfW(Nhdr) *>(notes);
    size_t name = llvm::alignTo(note->n_namesz, 4);
    size_t size = sizeof(*note) + name + llvm::alignTo(note->n_descsz, 4);
    if (size > bytes)
      return;
    if (note->n_type == NT_GNU_BUILD_ID)
      ids.append(notes + sizeof(*note) + name, note->n_descsz);
    notes += size;
    bytes -= size;
  }
}

/// Appends properties that distinguish a file from another one that is later
/// installed under its name. Returns false if the file can't be found.
static bool appendFile(const char *path, std::string &ids) {
  struct stat file;
  if (*path == 0 || stat(path, &file) != 0)
    return false;
  // A package manager may set sizes and modification times as it likes, but the
  // time of the last status change (ctime) is that of the installation.
  llvm::raw_string_ostream(ids)
      << path << '\0' << file.st_size << ' ' << file.st_mtim.tv_sec << '.'
      << file.st_mtim.tv_nsec << ' ' << file.st_ctim.tv_sec << '.'
      << file.st_ctim.tv_nsec << '\0';
  return true;
}

/// Appends the identity of one of the files that this process consists of: the
/// build ID, or if there is none the properties of the file. The program itself
/// has no path here, so it needs a build ID. Returns false if nothing
/// identifies the file.
static bool appendIdentity(const dl_phdr_info &info, std::string &ids) {
  // The vdso, a library of the kernel, doesn't influence compiled code.
  unsigned long vdso = getauxval(AT_SYSINFO_EHDR);
  if (vdso != 0 && info.dlpi_addr == vdso)
    return true;
  size_t before = ids.size();
  for (const ElfW(Phdr) &header :
       llvm::ArrayRef(info.dlpi_phdr, info.dlpi_phnum))
    if (header.p_type == PT_NOTE)
      appendBuildId(
          reinterpret_cast<const char *>(info.dlpi_addr + header.p_vaddr),
          header.p_memsz, ids);
  return ids.size() != before || appendFile(info.dlpi_name, ids);
}

/// Returns the identity of this program and its shared libraries; empty if one
/// of them can't be identified.
static std::string identifyCompiler() {
  std::string ids;
  int stopped = dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *result) {
        auto &ids = *static_cast<std::string *>(result);
        return appendIdentity(*info, ids) ? 0 : 1;
      },
      &ids);
  return stopped == 0 ? ids : "";
}

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

static std::string findFolder() {
  if (const char *named = std::getenv("HFTA_CACHE"); named && *named)
    return llvm::StringRef(named) == "none" ? "" : named;
  llvm::SmallString<128> folder;
  if (!llvm::sys::path::cache_directory(folder))
    return "";
  llvm::sys::path::append(folder, "hfta");
  return folder.str().str();
}

CodeCache CodeCache::open() {
  CodeCache cache;
  cache.compiler = identifyCompiler();
  std::string folder = findFolder();
  bool isUsable =
      !cache.compiler.empty() && !folder.empty() &&
      !llvm::sys::fs::create_directories(folder, /*IgnoreExisting=*/true,
                                         llvm::sys::fs::owner_all);
  if (isUsable)
    cache.folder = std::move(folder);
  return cache;
}

/// Returns the path of an object's file. By the prefix of its name, LLVM's
/// pruning recognizes it as a file of a cache.
std::string CodeCache::getPath(llvm::StringRef key) const {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, "llvmcache-" + key);
  return path.str().str();
}

std::string CodeCache::makeKey(llvm::StringRef code) const {
  llvm::SHA256 hash;
  hash.update(compiler);
  hash.update(code);
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

//===----------------------------------------------------------------------===//
// Objects
//===----------------------------------------------------------------------===//

/// The size of the hash that follows the object in a file and tells whether the
/// file is complete.
static constexpr size_t kHashBytes = sizeof(uint64_t);

std::optional<std::string> CodeCache::load(llvm::StringRef key) const {
  if (folder.empty())
    return std::nullopt;
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> file =
      llvm::MemoryBuffer::getFile(getPath(key), /*IsText=*/false,
                                  /*RequiresNullTerminator=*/false);
  if (!file || (*file)->getBufferSize() < kHashBytes)
    return std::nullopt;
  llvm::StringRef object = (*file)->getBuffer().drop_back(kHashBytes);
  bool isWhole = llvm::support::endian::read64le(object.end()) ==
                 llvm::xxh3_64bits(object);
  return isWhole ? std::optional(object.str()) : std::nullopt;
}

void CodeCache::store(llvm::StringRef key, llvm::StringRef object) const {
  if (folder.empty())
    return;
  std::string contents = object.str();
  contents.resize(object.size() + kHashBytes);
  llvm::support::endian::write64le(contents.data() + object.size(),
                                   llvm::xxh3_64bits(object));
  llvm::Expected<OutputFile> file = OutputFile::create(getPath(key));
  if (!file)
    return llvm::consumeError(file.takeError());
  if (llvm::Error error = file->write(contents))
    return llvm::consumeError(std::move(error));
  llvm::consumeError(file->keep());
}

void CodeCache::prune() const {
  if (folder.empty())
    return;
  llvm::CachePruningPolicy policy;
  policy.Interval = std::chrono::hours(1);
  policy.Expiration = std::chrono::hours(30 * 24);
  policy.MaxSizeBytes = uint64_t(512) << 20;
  llvm::pruneCache(folder, policy);
}
