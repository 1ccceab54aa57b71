//===- PrecompiledHeaders.cpp - Source of a target without code -----------===//
//
// CMake compiles this target's list of headers once, and all targets that link
// MLIR use the result; see cmake/PrecompiledHeaders.cmake.
//
//===----------------------------------------------------------------------===//
