//===- Options.h - The sanitizers' options for fuzz targets -----*- C++ -*-===//
//
// Every fuzz target includes this once.
//===----------------------------------------------------------------------===//

#ifndef HFTA_FUZZ_OPTIONS_H
#define HFTA_FUZZ_OPTIONS_H

// LLVM's libraries are built without sanitizers, so their allocators'
// annotations would lead to false reports.
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0";
}

extern "C" const char *__ubsan_default_options() {
  return "halt_on_error=1:print_stacktrace=1";
}

#endif // HFTA_FUZZ_OPTIONS_H
