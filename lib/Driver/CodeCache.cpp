//===- CodeCache.cpp - Objects of kernels compiled before -----------------===//

#include "CodeCache.h"
#include "Hfta/Driver/Output.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/xxhash.h"

#include <cstdlib>
#include <elf.h>
#include <link.h>

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// The compiler's identity
//===----------------------------------------------------------------------===//

/// Appends the note of an ELF file that holds the linker's hash of the file.
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

/// Returns the build IDs of the program and of its shared libraries; empty if
/// the program, which comes first, has none.
static std::string findBuildIds() {
  std::string ids;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *result) {
        auto &ids = *static_cast<std::string *>(result);
        size_t before = ids.size();
        for (unsigned i = 0; i < info->dlpi_phnum; ++i)
          if (info->dlpi_phdr[i].p_type == PT_NOTE)
            appendBuildId(reinterpret_cast<const char *>(
                              info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
                          info->dlpi_phdr[i].p_memsz, ids);
        bool isProgram = before == 0;
        return isProgram && ids.empty() ? 1 : 0;
      },
      &ids);
  return ids;
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
  cache.compiler = findBuildIds();
  std::string folder = findFolder();
  bool isUsable =
      !cache.compiler.empty() && !folder.empty() &&
      !llvm::sys::fs::create_directories(folder, /*IgnoreExisting=*/true,
                                         llvm::sys::fs::owner_all);
  if (isUsable)
    cache.folder = std::move(folder);
  return cache;
}

/// LLVM's pruning knows the cache's files by the prefix of their names.
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

/// A file is the object, and a hash that tells whether it is whole.
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
