//===- settings.h - A program's record of its job's settings ------*- C -*-===//
//
// The table of hfta_setting is filled from the compiler's records of settings
// (docs/adding-a-setting.md). The program uses it to report its job (`info`).
// Values that the program computes with are also members of hfta_program.
// Everything is constant data inside the binary. Arrays hold one value per
// copy.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SETTINGS_H
#define HFTA_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Which members of an hfta_setting hold its value.
typedef enum hfta_setting_type {
  HFTA_SETTING_INTEGER = 0,       ///< `value`, an integer
  HFTA_SETTING_FLAG = 1,          ///< `value`, which is 0 or 1
  HFTA_SETTING_NUMBERS = 2,       ///< `values` points to one double per copy
  HFTA_SETTING_WHOLE_NUMBERS = 3, ///< `values` points to one int64_t per copy
  /// `values` points to numbers of type int64_t that all copies have in common;
  /// `value` is how many there are.
  HFTA_SETTING_COUNTS = 4
} hfta_setting_type;

/// A setting of the job.
typedef struct hfta_setting {
  const char *name; ///< the name in the job
  uint32_t type;    ///< hfta_setting_type
  uint32_t reserved;
  int64_t value;      ///< the value, if all copies have the same
  const void *values; ///< one value per copy, or NULL
} hfta_setting;

/// A hyper-parameter, with one value per copy.
typedef struct hfta_hyper_parameter {
  const char *name; ///< name, such as "lr", "weight_decay" or "dropout_rate"
  /// hfta_program.copies values; NaN for a copy whose optimizer has no such
  /// parameter.
  const double *values;
} hfta_hyper_parameter;

/// The kinds of learning-rate schedules, each applied to the copy's own "lr":
/// HFTA_LEARNING_RATE(identifier, number, name in jobs).
#define HFTA_LEARNING_RATES                                                    \
  HFTA_LEARNING_RATE(CONSTANT, 0, "constant")                                  \
  /* lr * gamma ^ floor(step / step_size) */                                   \
  HFTA_LEARNING_RATE(STEP, 1, "step")                                          \
  /* from lr to lr * minimum over the training */                              \
  HFTA_LEARNING_RATE(COSINE, 2, "cosine")

typedef enum hfta_learning_rate_kind {
#define HFTA_LEARNING_RATE(identifier, number, name)                           \
  HFTA_LEARNING_RATE_##identifier = number,
  HFTA_LEARNING_RATES
#undef HFTA_LEARNING_RATE
} hfta_learning_rate_kind;

/// A learning-rate schedule; its arrays hold one value per copy. While the step
/// s, from 0, is less than `warmup`, the rate is lr * (s + 1) / warmup.
/// Afterwards the rule of its kind holds, with steps counted from the end of
/// the warm-up; a cosine schedule ends at the last step of the training. See
/// learning_rate.h for the formulas.
typedef struct hfta_learning_rate {
  uint32_t kind;
  uint32_t reserved;
  const double *warmup;    ///< number of steps
  const double *step_size; ///< STEP: number of steps
  const double *gamma;     ///< STEP: factor after each `step_size` steps
  const double *minimum;   ///< COSINE: final rate as a fraction of lr
} hfta_learning_rate;

/// Formats of data files: HFTA_DATA_FORMAT(identifier, number, name in jobs).
#define HFTA_DATA_FORMATS                                                      \
  /* plain or gzip, told apart by content */                                   \
  HFTA_DATA_FORMAT(IDX, 1, "idx")                                              \
  HFTA_DATA_FORMAT(NPY, 2, "npy")                                              \
  /* one sample per line, in consecutive columns */                            \
  HFTA_DATA_FORMAT(CSV, 3, "csv")                                              \
  /* samples one after another, no header */                                   \
  HFTA_DATA_FORMAT(RAW, 4, "raw")

typedef enum hfta_data_format {
  HFTA_DATA_NONE = 0,
#define HFTA_DATA_FORMAT(identifier, number, name)                             \
  HFTA_DATA_##identifier = number,
  HFTA_DATA_FORMATS
#undef HFTA_DATA_FORMAT
} hfta_data_format;

/// Whether line 1 of a csv file is a header: HFTA_CSV_HEADER(identifier,
/// number, name in jobs).
#define HFTA_CSV_HEADERS                                                       \
  /* a header if the first field taken from line 1 is no number */             \
  HFTA_CSV_HEADER(AUTO, 0, "auto")                                             \
  HFTA_CSV_HEADER(PRESENT, 1, "true")                                          \
  HFTA_CSV_HEADER(ABSENT, 2, "false")

typedef enum hfta_csv_header {
#define HFTA_CSV_HEADER(identifier, number, name)                              \
  HFTA_CSV_HEADER_##identifier = number,
  HFTA_CSV_HEADERS
#undef HFTA_CSV_HEADER
} hfta_csv_header;

/// A file of samples, as the job describes it.
typedef struct hfta_data_source {
  uint32_t format; ///< hfta_data_format; HFTA_DATA_NONE if the data block names
                   ///< no such file
  uint32_t column; ///< CSV: the first column of a sample, from 0
  uint32_t header; ///< CSV: hfta_csv_header
  uint32_t reserved;
  const char *path; ///< path of the file, as written in the job
} hfta_data_source;

#ifdef __cplusplus
}
#endif

#endif // HFTA_SETTINGS_H
