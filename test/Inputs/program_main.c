// The main function of programs that tests link themselves, from hftac's code.

#include "hfta/main.h"

extern const hfta_program program __asm__("hfta_program");

int main(int argc, char **argv) {
  const hfta_program *const programs[] = {&program};
  return hfta_main(programs, 1, argc, argv);
}
