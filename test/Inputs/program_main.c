// The main function of programs that a test or benchmark links itself, from the
// object file that `hftac --emit=obj` writes.

#include "hfta/main.h"

extern const hfta_program program __asm__("hfta_program");

int main(int argc, char **argv) {
  const hfta_program *const programs[] = {&program};
  return hfta_main(programs, 1, argc, argv);
}
