//===- CompileParts.cpp - Compiles parts of a program ---------------------===//

#include "Hfta/Codegen/CompileParts.h"
#include "Hfta/Codegen/CodeCache.h"
#include "Hfta/Codegen/Codegen.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Support/ThreadPool.h"

#include <atomic>
#include <mutex>
#include <numeric>

using namespace mlir;
using namespace mlir::hfta;

namespace {

class PartsCompiler {
public:
  PartsCompiler(
      llvm::ArrayRef<CodePart> parts,
      llvm::function_ref<llvm::Expected<PartCompiler>()> createCompiler)
      : parts(parts), createCompiler(createCompiler), objects(parts.size()),
        order(parts.size()) {
    if (llvm::any_of(parts,
                     [](const CodePart &part) { return part.isReusable; }))
      cache = CodeCache::open();
    std::iota(order.begin(), order.end(), 0);
    llvm::sort(order, [&](size_t a, size_t b) {
      return std::tie(parts[b].instructions, a) <
             std::tie(parts[a].instructions, b);
    });
  }

  llvm::Expected<std::vector<std::string>> compile();

private:
  /// Compiles parts until none is left. Each thread runs this.
  void work();
  llvm::Expected<std::string> make(const CodePart &part,
                                   std::optional<PartCompiler> &compiler);
  llvm::Expected<std::string> compile(const CodePart &part,
                                      std::optional<PartCompiler> &compiler);

  llvm::ArrayRef<CodePart> parts;
  llvm::function_ref<llvm::Expected<PartCompiler>()> createCompiler;
  CodeCache cache; ///< opened only if a part is reusable
  std::vector<std::string> objects;
  std::vector<size_t> order;
  std::atomic<size_t> next = 0; ///< index in `order` of the next part
  std::mutex mutex;             ///< guards `errors`
  std::vector<std::string> errors;
};

} // namespace

llvm::Expected<std::string>
PartsCompiler::compile(const CodePart &part,
                       std::optional<PartCompiler> &compiler) {
  if (!compiler) {
    llvm::Expected<PartCompiler> created = createCompiler();
    if (!created)
      return created.takeError();
    compiler.emplace(std::move(*created));
  }
  if (part.rest)
    return (*compiler)(*part.rest);
  llvm::LLVMContext context;
  llvm::Expected<std::unique_ptr<llvm::Module>> module =
      part.translate
          ? part.translate(context)
          : llvm::parseBitcodeFile(
                {llvm::StringRef(part.code.data(), part.code.size()), "part"},
                context);
  return module ? (*compiler)(**module) : module.takeError();
}

llvm::Expected<std::string>
PartsCompiler::make(const CodePart &part,
                    std::optional<PartCompiler> &compiler) {
  if (!part.isReusable)
    return compile(part, compiler);
  std::string key =
      cache.makeKey(llvm::StringRef(part.code.data(), part.code.size()));
  if (std::optional<std::string> object = cache.load(key))
    return std::move(*object);
  llvm::Expected<std::string> object = compile(part, compiler);
  if (object)
    cache.store(key, *object);
  return object;
}

void PartsCompiler::work() {
  std::optional<PartCompiler> compiler;
  for (size_t i = next++; i < order.size(); i = next++) {
    llvm::Expected<std::string> object = make(parts[order[i]], compiler);
    if (object) {
      objects[order[i]] = std::move(*object);
      continue;
    }
    std::lock_guard<std::mutex> guard(mutex);
    errors.push_back(llvm::toString(object.takeError()));
  }
}

llvm::Expected<std::vector<std::string>> PartsCompiler::compile() {
  {
    llvm::DefaultThreadPool threads(
        llvm::hardware_concurrency(getThreadLimit()));
    size_t count = std::min<size_t>(threads.getMaxConcurrency(), parts.size());
    for (size_t i = 0; i < count; ++i)
      threads.async([this] { work(); });
  }
  cache.prune();
  if (!errors.empty())
    return llvm::createStringError(llvm::join(errors, "\n"));
  return std::move(objects);
}

llvm::Expected<std::vector<std::string>> hfta::compileParts(
    llvm::ArrayRef<CodePart> parts,
    llvm::function_ref<llvm::Expected<PartCompiler>()> createCompiler) {
  return PartsCompiler(parts, createCompiler).compile();
}
