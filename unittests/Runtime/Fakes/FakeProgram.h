//===- FakeProgram.h - A hand-written program for tests ---------*- C -*-===//
//
// The program that the compiler would emit for an MLP of two blocks: 6 features
// of type u8, 5 hidden units, 3 classes, SGD with momentum, cross entropy,
// accuracy.
//===----------------------------------------------------------------------===//

#ifndef HFTA_UNITTESTS_FAKE_PROGRAM_H
#define HFTA_UNITTESTS_FAKE_PROGRAM_H

#include "hfta/program.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FAKE_FEATURES = 6, FAKE_HIDDEN = 5, FAKE_CLASSES = 3, FAKE_BATCH = 8 };

typedef struct fake_options {
  int64_t copies; ///< at most 8
  /// Copy k has the hyper-parameters of copy first_copy + k.
  int64_t first_copy;
  int64_t micro_batches;
  uint32_t all_forwards_first;
  uint32_t clipping;
  uint32_t cosine;
  uint32_t inference_only;
  uint32_t no_length; ///< the job states neither epochs nor steps
  uint32_t foreign;   ///< the program has another identity
  uint32_t former;    ///< another identity; the usual one is a former identity
  /// The program has a preconditioner, with a damping and a period for each
  /// copy. It leaves gradients as they are.
  uint32_t curvature;
  uint32_t diverging; ///< copy 1 has a learning rate of 1e30
  uint32_t alike;  ///< all copies have the first one's momentum and schedules
  int takes_turns; ///< whether tasks may run copy by copy
  /// If this isn't 0, parameters and state are spilled, and gradients and
  /// activations lie in the arena. If copies take turns, this is the number of
  /// copies per turn. Programs with a preconditioner can't spill.
  int64_t spilled_copies;
  const char *cpu_features;
  hfta_validation validation; ///< `every` of 0 is 1
  uint32_t validation_files;  ///< the fields have files for validation
} fake_options;

/// Makes a program. Equal options give equal programs. The caller frees it by
/// fake_program_free.
hfta_program *fake_program_make(const fake_options *options);

void fake_program_free(hfta_program *program);

#ifdef __cplusplus
}
#endif

#endif // HFTA_UNITTESTS_FAKE_PROGRAM_H
