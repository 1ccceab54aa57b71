//===- CodeCacheTest.cpp - Tests of the cache of compiled kernels ---------===//

#include "Hfta/Codegen/CodeCache.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <string>

using namespace mlir::hfta;

namespace {

/// A test whose cache is in a temporary folder, which also has a copy of a
/// shared library without a build ID.
class CodeCacheTest : public testing::Test {
protected:
  void SetUp() override {
    llvm::SmallString<128> made;
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("hfta-cache", made));
    folder = made.str().str();
    library = folder + "/library.so";
    ASSERT_FALSE(llvm::sys::fs::copy_file(HFTA_UNIDENTIFIED, library));
    setenv("HFTA_CACHE", folder.c_str(), /*replace=*/1);
  }

  void TearDown() override {
    unsetenv("HFTA_CACHE");
    (void)llvm::sys::fs::remove_directories(folder);
  }

  /// Loads the library into this process. The caller closes it.
  void *load() const {
    void *loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(loaded, nullptr) << dlerror();
    return loaded;
  }

  /// Returns the key of a kernel while the library is loaded.
  std::string makeKeyWithLibrary() const {
    void *loaded = load();
    std::string key = CodeCache::open().makeKey("code");
    dlclose(loaded);
    return key;
  }

  std::string folder, library;
};

TEST_F(CodeCacheTest, KeepsObjects) {
  CodeCache cache = CodeCache::open();
  std::string key = cache.makeKey("code");
  EXPECT_EQ(cache.load(key), std::nullopt);
  cache.store(key, "object");
  EXPECT_EQ(cache.load(key), "object");
  EXPECT_EQ(CodeCache::open().load(key), "object");
}

TEST_F(CodeCacheTest, KnowsLibrariesWithoutBuildId) {
  std::string key = CodeCache::open().makeKey("code");
  std::string before = makeKeyWithLibrary();
  EXPECT_NE(before, key);
  EXPECT_EQ(makeKeyWithLibrary(), before);
  std::ofstream(library, std::ios::app) << "another version";
  EXPECT_NE(makeKeyWithLibrary(), before);
}

TEST_F(CodeCacheTest, IsntUsedWithLibrariesThatCantBeIdentified) {
  void *loaded = load();
  ASSERT_FALSE(llvm::sys::fs::remove(library));
  CodeCache cache = CodeCache::open();
  cache.store(cache.makeKey("code"), "object");
  EXPECT_EQ(cache.load(cache.makeKey("code")), std::nullopt);
  dlclose(loaded);
}

} // namespace
