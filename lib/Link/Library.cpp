//===- Library.cpp - Generated libraries and their headers ----------------===//

#include "Hfta/Link/Library.h"
#include "Embedded.h"
#include "Hfta/Support/Output.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// The header
//===----------------------------------------------------------------------===//

/// The contents of hfta/status.h and hfta/embed.h.
static constexpr llvm::StringLiteral runtimeHeaders =
#include "RuntimeHeaders.inc"
    ;

/// The declarations of the library's header; `@` stands for the library's name.
static constexpr llvm::StringLiteral declarations = R"C(
#ifdef __cplusplus
extern "C" {
#endif

/// An instance of this library's training: its memory and threads. The rules
/// on errors, threads and memory are those above, where each function's
/// hfta_instance_ counterpart is described. Two generated libraries, and two
/// instances of one, live in one program.
typedef struct @ @;

hfta_status @_create(const hfta_options *options, @ **out);
void @_destroy(@ *instance);
const char *@_message(const @ *instance);
int64_t @_copies(const @ *instance);
int64_t @_batch(const @ *instance);
int64_t @_steps(const @ *instance);
hfta_status @_step(@ *instance, const void *const *inputs, double *losses);
void @_offer(@ *instance, const void *const *inputs);
hfta_status @_accumulate(@ *instance, const void *const *inputs,
                         double *losses);
hfta_status @_update(@ *instance);
hfta_status @_set_learning_rate(@ *instance, int64_t copy, double rate);
hfta_status @_set_hyper_parameter(@ *instance, int64_t copy, const char *name,
                                  double value);
double @_hyper_parameter(const @ *instance, int64_t copy, const char *name);
hfta_status @_set_horizon(@ *instance, int64_t copy, int64_t steps);
hfta_status @_set_steps(@ *instance, int64_t steps);
hfta_status @_restart(@ *instance, const int32_t *copies, int64_t count);
hfta_status @_set_live(@ *instance, const int32_t *copies, int64_t count);
hfta_status @_evaluate(@ *instance, const void *const *inputs,
                       int64_t valid_samples, double *losses, double *metrics);
hfta_status @_infer(@ *instance, const void *const *inputs);
hfta_status @_tensor(@ *instance, int64_t copy, const char *name,
                     hfta_tensor_info *out);
hfta_status @_save(@ *instance, const char *folder);
hfta_status @_load(@ *instance, const char *folder);

#ifdef __cplusplus
}
#endif
)C";

std::string hfta::makeLibraryHeader(llvm::StringRef name) {
  std::string guard = ("HFTA_LIBRARY_" + name + "_H").str();
  std::string text = ("// " + name + ".h - made by hftac\n\n#ifndef " + guard +
                      "\n#define " + guard + "\n\n" + runtimeHeaders)
                         .str();
  for (char c : declarations) {
    if (c == '@')
      text += name;
    else
      text += c;
  }
  return text + "\n#endif // " + guard + "\n";
}

//===----------------------------------------------------------------------===//
// The archive
//===----------------------------------------------------------------------===//

/// Makes the archive of the given objects followed by those of the runtime. The
/// runtime's members are equal in all libraries, so that a linker takes each of
/// them from one library only.
static llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
makeArchive(llvm::ArrayRef<std::string> objects, llvm::StringRef name,
            const llvm::object::Archive &runtime) {
  std::vector<llvm::NewArchiveMember> members;
  std::vector<std::string> names;
  names.reserve(objects.size());
  for (size_t i = 0; i < objects.size(); ++i)
    names.push_back((name + (i ? "." + llvm::Twine(i) : "") + ".o").str());
  for (auto [member, object] : llvm::zip(names, objects))
    members.emplace_back(llvm::MemoryBufferRef(object, member));
  llvm::Error error = llvm::Error::success();
  for (const llvm::object::Archive::Child &child : runtime.children(error)) {
    llvm::Expected<llvm::NewArchiveMember> old =
        llvm::NewArchiveMember::getOldMember(child, /*Deterministic=*/true);
    if (!old) {
      llvm::consumeError(std::move(error));
      return old.takeError();
    }
    members.push_back(std::move(*old));
  }
  if (error)
    return std::move(error);
  return llvm::writeArchiveToBuffer(
      members, llvm::SymtabWritingMode::NormalSymtab,
      llvm::object::Archive::K_GNU, /*Deterministic=*/true, /*Thin=*/false);
}

std::string hfta::getHeaderPath(llvm::StringRef name, llvm::StringRef output) {
  llvm::SmallString<256> path(llvm::sys::path::parent_path(output));
  llvm::sys::path::append(path, name + ".h");
  return path.str().str();
}

llvm::Error hfta::writeLibrary(llvm::ArrayRef<std::string> objects,
                               llvm::StringRef name, llvm::StringRef output) {
  llvm::Expected<std::unique_ptr<llvm::object::Archive>> runtime =
      llvm::object::Archive::create(
          llvm::MemoryBufferRef(getRuntimeArchive(), "runtime"));
  if (!runtime)
    return runtime.takeError();
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> archive =
      makeArchive(objects, name, **runtime);
  if (!archive)
    return archive.takeError();

  llvm::Expected<OutputFile> header =
      OutputFile::create(getHeaderPath(name, output));
  if (!header)
    return header.takeError();
  llvm::Expected<OutputFile> library = OutputFile::create(output);
  if (!library)
    return library.takeError();
  if (llvm::Error error = header->write(makeLibraryHeader(name)))
    return error;
  if (llvm::Error error = library->write((*archive)->getBuffer()))
    return error;
  if (llvm::Error error = header->keep())
    return error;
  return library->keep();
}
