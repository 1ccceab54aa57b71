//===- Unidentified.c - A shared library without a build ID ---------------===//

extern int hfta_unidentified;
int hfta_unidentified;
