//===- hftac.cpp - The main function of the compiler ----------------------===//

#include "Hfta/Driver/Main/Driver.h"

int main(int argc, char **argv) { return mlir::hfta::runDriver(argc, argv); }
