//===- device.h - Where segments live and tasks run -------------*- C -*-===//
//
// A device is reached through a table of functions only; the CPU is the first
// entry of hfta_device_kinds. Work goes to numbered queues and is done later:
// on one queue in order, between queues as events say. `wait` is where the host
// learns that it is done, or why it isn't; a kind may have marks, up to which
// the host waits while what is behind them goes on.
//
// Threads: a device belongs to one worker of an instance and is used by one
// thread at a time; devices whose kernels run on the same threads may be used
// by several, each by one, but are opened and closed by one. Ownership: what
// `allocate` gives is returned to `release` before `close`; memory that a copy
// reads or writes must stay until the next `wait`, or `wait_until` behind it.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DEVICE_H
#define HFTA_DEVICE_H

#include "hfta/communicator.h"
#include "hfta/launch.h"
#include "hfta/status.h"
#include "hfta/store.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hfta_device hfta_device;

/// A function of the host that takes its turn in a queue. It may wait for what
/// comes from elsewhere, never for other work of the device.
typedef struct hfta_host_call {
  hfta_status (*function)(void *argument, hfta_error *error);
  void *argument;        ///< stays until the next `wait`
  const hfta_post *post; ///< for observers: what it exchanges with other ranks;
                         ///< stays as long as the device; NULL: nothing
} hfta_host_call;

typedef enum hfta_activity_kind {
  HFTA_ACTIVITY_RUN,
  HFTA_ACTIVITY_COPY,
  HFTA_ACTIVITY_FILL,
  HFTA_ACTIVITY_CALL,
  HFTA_ACTIVITY_FETCH,
  HFTA_ACTIVITY_EVICT,
  HFTA_ACTIVITY_AWAIT, ///< of an event that hadn't happened yet
  HFTA_ACTIVITY_WAIT,  ///< the host, in `wait`, for other queues
  // What a device doesn't know of.
  HFTA_ACTIVITY_READ, ///< a batch, from the data files
  HFTA_ACTIVITY_STEP  ///< all of a step
} hfta_activity_kind;

/// What one queue, or a thread that none is of, did from `begin` to `end`,
/// seconds of hfta_now.
typedef struct hfta_activity {
  hfta_activity_kind kind;
  uint32_t queue;  ///< of a WAIT 0, on which the host works
  int64_t number;  ///< RUN: of the task in its program; AWAIT: of the event;
                   ///< FETCH, EVICT: of the first extent; READ, STEP: of the
                   ///< step in the training, from 0
  uint32_t worker; ///< of the instance's; 0 where the device itself tells
  const hfta_task_call *call; ///< RUN; gone afterwards
  const hfta_post *post;      ///< CALL; may be NULL
  const void *to;             ///< COPY, FILL
  uint64_t bytes;             ///< COPY, FILL, FETCH, EVICT
  double begin, end;
} hfta_activity;

/// Told of what a device has done, on the thread that did it, of one activity
/// at a time. Who observes slows the device down by two readings of the clock
/// an activity.
typedef struct hfta_observer {
  void (*done)(void *argument, const hfta_activity *activity);
  void *argument;
} hfta_observer;

typedef struct hfta_device_options {
  int index;              ///< which device of its kind
  int threads;            ///< CPU threads that run kernels; 0: one a processor
  uint64_t scratch_bytes; ///< private memory of each of them
  uint32_t queues;        ///< at least 1
  uint32_t events;
  uint32_t segments;           ///< of the programs whose tasks it runs
  int64_t copies;              ///< most copies that a task runs for
  const hfta_program *program; ///< whose tasks they are, with their names; may
                               ///< be NULL for a kind that takes no file
  const char *file;            ///< of a kind that takes one
  hfta_device *beside; ///< an open device of the same kind, whose threads run
                       ///< this one's kernels too, one task at a time; NULL:
                       ///< this one has threads of its own
} hfta_device_options;

/// Points that the host may wait for while a device works on what is behind
/// them.
enum { HFTA_DEVICE_MARKS = 2 };

typedef struct hfta_device_functions {
  const char *kind; ///< "cpu"
  /// Opened by "KIND:FILE": runs no tasks, but takes the time that the file
  /// says of them; to measure schedules alone.
  bool takes_file;

  hfta_status (*open)(const hfta_device_options *options, hfta_device **out,
                      hfta_error *error);
  /// After the last work is done.
  void (*close)(hfta_device *device);

  /// Threads that run kernels.
  int (*threads)(const hfta_device *device);

  /// Zeroed memory that counts as used only once it is touched. 0 bytes give
  /// NULL.
  hfta_status (*allocate)(hfta_device *device, uint64_t bytes,
                          uint64_t alignment, void **out, hfta_error *error);
  void (*release)(hfta_device *device, void *memory, uint64_t bytes);

  /// Has the system leave the host's memory where it is, whole pages until
  /// `unlock`, so that the device copies to and from it fast; false where that
  /// can't be, which does no harm. NULL in a kind whose own memory is the
  /// host's.
  bool (*lock)(hfta_device *device, void *memory, uint64_t bytes);
  void (*unlock)(hfta_device *device, void *memory);

  /// Zeros.
  void (*fill)(hfta_device *device, uint32_t queue, void *to, uint64_t bytes);
  /// Between any two places of the device's and the host's memory.
  void (*copy)(hfta_device *device, uint32_t queue, void *to, const void *from,
               uint64_t bytes);
  /// Between the device's memory and extents of a store, as hfta_store_read and
  /// hfta_store_write; `bytes` are those of the extents. Never on queue 0.
  void (*fetch)(hfta_device *device, uint32_t queue, hfta_store *store,
                uint64_t first, uint64_t count, void *to, uint64_t bytes);
  void (*evict)(hfta_device *device, uint32_t queue, hfta_store *store,
                uint64_t first, uint64_t count, const void *from,
                uint64_t bytes);
  /// `call` is copied; `number` is the task's in its program.
  void (*run)(hfta_device *device, uint32_t queue, const hfta_task_call *call,
              uint32_t number);
  /// Calls the host when the queue's work before it is done, on any thread; the
  /// queue goes on when it returns. Never on queue 0, which the host itself may
  /// be working on.
  void (*call)(hfta_device *device, uint32_t queue, const hfta_host_call *call);
  /// A point in the queue's work.
  void (*record)(hfta_device *device, uint32_t queue, uint32_t event);
  /// The queue goes on after that record of the event which was asked for last
  /// before this call; at once if there is none.
  void (*await)(hfta_device *device, uint32_t queue, uint32_t event);

  /// From the next command on kernels run on the threads of another open device
  /// of the kind, which outlives this one's use of them; no work is under way.
  void (*use_threads)(hfta_device *device, hfta_device *of);
  /// Among the devices that share its threads, this one's tasks go first: those
  /// of others begin when none of it waits. May be called by any thread.
  void (*go_first)(hfta_device *device);
  /// Seconds for which its tasks have had threads that it uses since
  /// `use_threads` was first called.
  double (*computed)(hfta_device *device);

  /// Returns when all work of all queues is done. Fails with the first error
  /// since the last call, which names the command.
  hfta_status (*wait)(hfta_device *device, hfta_error *error);
  /// The same where work of some queues alone is to be done: bit q of `queues`
  /// stands for queue q, the highest one for all from there on.
  hfta_status (*wait_for)(hfta_device *device, uint64_t queues,
                          hfta_error *error);

  /// A point in the work of all queues: what any of them gets from here on
  /// begins when all is done that any had got before. `number` is below
  /// HFTA_DEVICE_MARKS; of several of a number the last one counts. NULL in a
  /// kind for which the host waits before it goes on.
  void (*mark)(hfta_device *device, uint32_t number);
  /// Returns when all work before a mark is done. Fails with the first error of
  /// that work that hasn't been told yet; then nothing is under way behind the
  /// mark either. Errors of what is behind it are told by later calls.
  hfta_status (*wait_until)(hfta_device *device, uint32_t number,
                            hfta_error *error);

  /// From the next command on. NULL: nobody.
  void (*observe)(hfta_device *device, const hfta_observer *observer);

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
extern const hfta_device_functions hfta_device_cuda;
extern const hfta_device_functions hfta_device_paced;

/// Opens "cpu", "KIND:INDEX" or "KIND:FILE". `options->index` and
/// `options->file` are overridden by the text.
/// A kind that isn't there is HFTA_UNSUPPORTED, a malformed text HFTA_USAGE.
hfta_status hfta_device_open(const char *text,
                             const hfta_device_options *options,
                             hfta_device **out, hfta_error *error);

/// The kind that a text names, NULL if there is none.
const hfta_device_functions *hfta_device_find(const char *text);

/// NULL is allowed.
void hfta_device_close(hfta_device *device);

#ifdef __cplusplus
}
#endif

#endif // HFTA_DEVICE_H
