//===- PrecompiledHeaders.cpp - Of a target without code ------------------===//
//
// CMake compiles this target's list of headers once, and all that link MLIR
// read the result; cmake/PrecompiledHeaders.cmake says how.
//
//===----------------------------------------------------------------------===//
