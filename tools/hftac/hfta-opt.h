//===- hfta-opt.h - The main function of hfta-opt ---------------*- C++ -*-===//

#ifndef HFTA_TOOLS_HFTAC_HFTAOPT_H
#define HFTA_TOOLS_HFTAC_HFTAOPT_H

/// Runs `hfta-opt`, and returns its exit status.
int runHftaOpt(int argc, char **argv);

#endif // HFTA_TOOLS_HFTAC_HFTAOPT_H
