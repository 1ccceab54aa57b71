//===- parzen.h - Densities of good and of other settings -------*- C -*-===//
//
// Parzen's estimator of TPE, as in Optuna 5.0: a density of settings, which is
// a sum of kernels. There is one kernel for each observed trial, and a wide one
// for all that hasn't been observed. A kernel is a product over dimensions: of
// normal distributions, truncated to the setting's range (of logarithms where
// the setting has them), or of probabilities of choices.
//
// Sources: Bergstra et al., "Algorithms for hyper-parameter optimization"
// (2011); Watanabe, "Tree-structured Parzen estimator: understanding its
// algorithm components" (2023); Optuna 5.0.0.
//
// Threads: calls for one estimator must not overlap.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SEARCH_PARZEN_H
#define HFTA_SRC_SEARCH_PARZEN_H

#include "search/space.h"

/// How many values of a setting an estimator remembers: one for each of TPE's
/// candidates.
enum { HFTA_PARZEN_REMEMBERED = 24 };

/// Masses that are already known of a setting whose values have a distance,
/// since candidates often have equal ones.
typedef struct hfta_parzen_memory {
  int64_t count; ///< number of values
  double values[HFTA_PARZEN_REMEMBERED];
  double *logs; ///< for each of these, the logarithm of each kernel's mass
                ///< there; NULL: the setting's values have no distance
} hfta_parzen_memory;

typedef struct hfta_parzen {
  const hfta_search_space *space;
  int64_t kernels;     ///< number of observations, and 1
  double *weights;     ///< one for each kernel; their sum is 1
  double *log_weights; ///< their logarithms
  /// Each of these has `kernels` numbers for each setting. Only those of
  /// leaders are used.
  double *mu;    ///< a kernel's middle; for choices: the observed choice, or
                 ///< -1 for the last kernel
  double *sigma; ///< a kernel's width
  double *log_scale; ///< a number to subtract from a kernel's logarithm, so
                     ///< that it is a density
  double *logs;      ///< scratch memory: `kernels` numbers
  hfta_parzen_memory *memories; ///< one for each setting
} hfta_parzen;

/// Creates the estimator of some trials' settings, which are in the order of
/// the trials' numbers; observations[i] are those of one trial. With more than
/// 25 trials, earlier ones weigh less. The estimator copies what it needs of
/// the observations, but refers to the space. The caller must release it with
/// hfta_parzen_destroy. Returns false if there isn't enough memory.
bool hfta_parzen_create(const hfta_search_space *space,
                        const double *const *observations, int64_t count,
                        hfta_parzen *out);
void hfta_parzen_destroy(hfta_parzen *self);

/// Returns the logarithm of the density at some settings. Densities are those
/// of logarithms, where settings have them.
double hfta_parzen_log_density(const hfta_parzen *self, const double *values);

/// Draws settings. The numbers between 0 and 1 (exclusive) say which: `kernel`
/// chooses the kernel, fractions[i] the place of leader i in it.
void hfta_parzen_draw(const hfta_parzen *self, double kernel,
                      const double *fractions, double *values);

#endif // HFTA_SRC_SEARCH_PARZEN_H
