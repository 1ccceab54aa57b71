//===- search.h - What a program says about its search ----------*- C -*-===//
//
// A search trains trials: training runs that differ in some hyper-parameters. A
// sampler gives each trial its values, and a rule decides which trials go on.
// These structs are both the tables of a compiled program and the arguments of
// the runtime's functions for searches (src/search), which explain them in
// detail.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SEARCH_H
#define HFTA_SEARCH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hfta_direction {
  HFTA_MINIMIZE = 0, ///< smaller scores are better
  HFTA_MAXIMIZE = 1
} hfta_direction;

typedef enum hfta_distribution {
  HFTA_UNIFORM = 0,     ///< from `low` to `high`
  HFTA_LOG_UNIFORM = 1, ///< the logarithm is uniform
  HFTA_INTEGERS = 2,    ///< from `low` to `high`, both included
  HFTA_LOG_INTEGERS = 3,
  HFTA_CHOICE = 4 ///< one of `choices`, all alike likely
} hfta_distribution;

enum { HFTA_NO_ZIP = -1 };

/// The most arrays of a search (hfta_search.array_count).
enum { HFTA_MOST_ARRAYS = 64 };

/// A hyper-parameter that a search varies.
typedef struct hfta_search_setting {
  const char *name;      ///< name of the hyper-parameter, or "seed"
  uint32_t distribution; ///< hfta_distribution
  /// 1: programs hold this setting as a constant, so that each of its choices
  /// needs an array of copies of its own. Only with HFTA_CHOICE.
  uint32_t is_packed;
  double low, high;
  double step;           ///< uniform, integers: values are low + i * step, all
                         ///< alike likely; 0: continuous, or all integers
  const double *choices; ///< in the order of the job
  int64_t choice_count;
  /// The texts of the choices, which then are their indices; NULL: the choices
  /// are numbers.
  const char *const *labels;
  int64_t zip; ///< number of its group, or HFTA_NO_ZIP
  double own;  ///< if it is packed, the choice of the program's array
} hfta_search_setting;

/// The samplers: HFTA_SAMPLER_KIND(identifier, number, name in job files).
#define HFTA_SAMPLER_KINDS                                                     \
  HFTA_SAMPLER_KIND(GRID, 0, "grid")                                           \
  HFTA_SAMPLER_KIND(RANDOM, 1, "random")                                       \
  HFTA_SAMPLER_KIND(SOBOL, 2, "sobol")                                         \
  HFTA_SAMPLER_KIND(HALTON, 3, "halton")                                       \
  HFTA_SAMPLER_KIND(TPE, 4, "tpe")                                             \
  HFTA_SAMPLER_KIND(EXTERNAL, 5, "external")

typedef enum hfta_sampler_kind {
#define HFTA_SAMPLER_KIND(identifier, number, name)                            \
  HFTA_SAMPLER_##identifier = number,
  HFTA_SAMPLER_KINDS
#undef HFTA_SAMPLER_KIND
} hfta_sampler_kind;

typedef struct hfta_sampler {
  uint32_t kind;      ///< hfta_sampler_kind
  uint32_t direction; ///< hfta_direction; tpe: which scores are better
  uint64_t seed;      ///< for all but grid
  int64_t startup;    ///< tpe: number of trials whose settings are random
  int64_t batch;      ///< tpe: number of trials of a generation, which have all
                      ///< earlier generations' scores in common
} hfta_sampler;

/// The rules: HFTA_RULE_KIND(identifier, number, name in job files). "median"
/// is the percentile 50.
#define HFTA_RULE_KINDS                                                        \
  HFTA_RULE_KIND(NONE, 0, "none")                                              \
  HFTA_RULE_KIND(HALVING, 1, "halving")                                        \
  HFTA_RULE_KIND(HYPERBAND, 2, "hyperband")                                    \
  HFTA_RULE_KIND(ASHA, 3, "asha")                                              \
  HFTA_RULE_KIND(PERCENTILE, 4, "percentile")                                  \
  HFTA_RULE_KIND(POPULATION, 5, "pbt")

typedef enum hfta_rule_kind {
#define HFTA_RULE_KIND(identifier, number, name)                               \
  HFTA_RULE_##identifier = number,
  HFTA_RULE_KINDS
#undef HFTA_RULE_KIND
} hfta_rule_kind;

/// A rule. HFTA_RULE_NONE lets all trials go all the way.
typedef struct hfta_rule {
  uint32_t kind;      ///< hfta_rule_kind
  uint32_t direction; ///< hfta_direction
  int64_t units;      ///< units of a trial that goes all the way: R. In a
                      ///< program, 0: the number of epochs
  int64_t grace;     ///< halving, hyperband, asha: the first level; percentile:
                     ///< no decision is made below
  int64_t eta;       ///< halving, hyperband, asha: one of `eta` trials goes on
  int64_t workers;   ///< asha: number of virtual workers
  int64_t every;     ///< percentile, population: units between two levels
  double percentile; ///< percentile: above 0, at most 100
  double quantile;   ///< population: the share that is replaced, at most 1/2
  double resample;   ///< population: probability that a setting of a replaced
                     ///< trial is drawn anew
  double factors[2]; ///< population: else it is multiplied by one of these
  uint64_t seed;     ///< population: chooses donors and settings
} hfta_rule;

/// The search of a job. Each copy of the program is a slot, in which one trial
/// after the other is trained. Programs of one search's arrays differ in `own`
/// and `array` alone.
typedef struct hfta_search {
  const hfta_search_setting *settings;
  int64_t setting_count;
  int64_t trials;
  hfta_sampler sampler;
  hfta_rule rule;
  /// The number of arrays in which trials are trained, each of which is a
  /// program of its own: one for each combination of the choices of packed
  /// settings. A binary has them next to each other.
  int64_t array_count;
  int64_t array; ///< the number of the program's array, from 0
  /// The runtime's `hfta_search_commands`. Since only programs with a search
  /// refer to it, others aren't linked with the code for searches. NULL in a
  /// generated library, which has no commands.
  const struct hfta_search_commands *commands;
} hfta_search;

/// How a job measures its copies, or its search its trials, on samples that
/// they aren't trained on.
typedef struct hfta_validation {
  /// The part of the training data that is taken out for validation, above 0
  /// and below 1; 0: none, or `folds` says it. The samples are chosen by a
  /// permutation of their own.
  double share;
  int64_t folds; ///< K-fold cross-validation: each trial is trained K times,
                 ///< each time without another K-th of the data; 0: none
  int64_t seed;  ///< seed of the permutation
  int64_t every; ///< number of epochs between two evaluations, at least 1
  uint32_t by_metric; ///< the number, from 1, of the metric by which copies are
                      ///< compared; 0: the loss
  uint32_t direction; ///< hfta_direction: which scores are better
  uint32_t
      keeps_best; ///< 1: the weights with the best score count, 0: the last
  uint32_t is_external; ///< 1: scores of a search's trials come from outside,
                        ///< by requests; `by_metric` is 0 then
  int64_t patience; ///< a copy stops after so many evaluations in a row that
                    ///< don't improve its score; 0: never
  double least;     ///< a score has improved if it is better by more than this
  double minutes;   ///< the most time that is spent computing, over all runs of
                    ///< a training; 0: no limit
} hfta_validation;

#ifdef __cplusplus
}
#endif

#endif // HFTA_SEARCH_H
