//===- Options.h - Options of sanitizers for fuzz targets -------*- C++ -*-===//
//
// Include this in exactly one file of each fuzz target: it defines the
// functions that the sanitizers call for their default options.
//===----------------------------------------------------------------------===//

#ifndef HFTA_FUZZ_OPTIONS_H
#define HFTA_FUZZ_OPTIONS_H

// LLVM's libraries are built without sanitizers, but headers with LLVM's
// allocators are compiled with them. Such a mix poisons memory that it never
// unpoisons, which would lead to false reports, so poisoning is disabled.
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0";
}

extern "C" const char *__ubsan_default_options() {
  return "halt_on_error=1:print_stacktrace=1";
}

#endif // HFTA_FUZZ_OPTIONS_H
