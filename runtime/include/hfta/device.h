//===- device.h - Where segments live and tasks run -------------*- C -*-===//
//
// A device is reached through a table of functions only; the CPU is the first
// entry of hfta_device_kinds. Work goes to numbered queues: on one queue it
// happens in order, between queues events order it. The CPU does everything
// before a call returns.
//
// Threads: a device belongs to one instance and is used by one thread at a
// time. Ownership: what `allocate` gives is returned to `release` before
// `close`.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DEVICE_H
#define HFTA_DEVICE_H

#include "hfta/program.h"
#include "hfta/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hfta_device hfta_device;
typedef uint32_t hfta_queue;

/// A point in a queue's work.
typedef struct hfta_event {
  uint64_t handle;
} hfta_event;

typedef struct hfta_device_options {
  int index;              ///< which device of its kind
  int threads;            ///< CPU threads that run kernels; 0: one a processor
  uint64_t scratch_bytes; ///< private memory of each of them
} hfta_device_options;

typedef struct hfta_device_functions {
  const char *kind; ///< "cpu"

  hfta_status (*open)(const hfta_device_options *options, hfta_device **out,
                      hfta_error *error);
  void (*close)(hfta_device *device);

  /// Threads that run kernels.
  int (*threads)(const hfta_device *device);

  /// Zeroed memory that counts as used only once it is touched. 0 bytes give
  /// NULL.
  hfta_status (*allocate)(hfta_device *device, uint64_t bytes,
                          uint64_t alignment, void **out, hfta_error *error);
  void (*release)(hfta_device *device, void *memory, uint64_t bytes);

  hfta_status (*fill_zero)(hfta_device *device, hfta_queue queue, void *to,
                           uint64_t bytes, hfta_error *error);
  /// From the host's memory; `from` may be reused after the call.
  hfta_status (*copy_in)(hfta_device *device, hfta_queue queue, void *to,
                         const void *from, uint64_t bytes, hfta_error *error);
  /// To the host's memory, complete after the call.
  hfta_status (*copy_out)(hfta_device *device, hfta_queue queue, void *to,
                          const void *from, uint64_t bytes, hfta_error *error);

  /// For `copies` copies from `first_copy` on. `segments` is copied if it is
  /// needed after the call.
  hfta_status (*run_task)(hfta_device *device, hfta_queue queue,
                          const hfta_task *task, void *const *segments,
                          int64_t first_copy, int64_t copies,
                          hfta_error *error);

  hfta_status (*record_event)(hfta_device *device, hfta_queue queue,
                              hfta_event *out, hfta_error *error);
  /// Returns when all work before the event is done.
  hfta_status (*wait_event)(hfta_device *device, hfta_event event,
                            hfta_error *error);

  /// The address at which the host may read and write device memory, or NULL
  /// if there is none.
  void *(*host_address)(hfta_device *device, void *memory);
} hfta_device_functions;

/// The common head of every device's own struct.
struct hfta_device {
  const hfta_device_functions *functions;
};

/// Kinds of devices that this runtime knows, ending with NULL.
extern const hfta_device_functions *const hfta_device_kinds[];

extern const hfta_device_functions hfta_device_cpu;

/// Opens "cpu" or "KIND:INDEX". `options->index` is overridden by the text.
/// A kind that isn't there is HFTA_UNSUPPORTED, a malformed text HFTA_USAGE.
hfta_status hfta_device_open(const char *text,
                             const hfta_device_options *options,
                             hfta_device **out, hfta_error *error);

/// NULL is allowed.
void hfta_device_close(hfta_device *device);

#ifdef __cplusplus
}
#endif

#endif // HFTA_DEVICE_H
