//===- device.h - Where segments live and tasks run -------------*- C -*-===//
//
// A device is reached only through a table of functions; the CPU is the first
// entry of hfta_device_kinds. Commands go to numbered queues and run
// asynchronously: in order on one queue, and between queues as events order
// them. In `wait` the host learns that they are done, or why they failed. A
// kind may have marks: the host can wait for the commands up to a mark while
// later ones go on.
//
// Threads: a device belongs to one worker of an instance and is used by one
// thread at a time. Devices whose kernels run on the same threads may be used
// by several threads, each device by one, but are opened and closed by one
// thread. Ownership: memory from `allocate` is returned by `release` before
// `close`; memory that a copy reads or writes must live until the next `wait`,
// or the next `wait_until` for a later mark.
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

/// A function of the host that runs in its turn in a queue. It may wait for
/// something from outside the device, never for other work of the device.
typedef struct hfta_host_call {
  hfta_status (*function)(void *argument, hfta_error *error);
  void *argument;        ///< must live until the next `wait`
  const hfta_post *post; ///< for observers: the messages that it exchanges with
                         ///< other ranks; must live as long as the device;
                         ///< NULL: none
} hfta_host_call;

typedef enum hfta_activity_kind {
  HFTA_ACTIVITY_RUN,
  HFTA_ACTIVITY_COPY,
  HFTA_ACTIVITY_FILL,
  HFTA_ACTIVITY_CALL,
  HFTA_ACTIVITY_FETCH,
  HFTA_ACTIVITY_EVICT,
  HFTA_ACTIVITY_AWAIT, ///< for an event that hadn't happened yet
  HFTA_ACTIVITY_WAIT,  ///< the host, in `wait`, for other queues
  // These activities are recorded by the trainer, not by the device.
  HFTA_ACTIVITY_READ, ///< a batch, from the data files
  HFTA_ACTIVITY_STEP  ///< a whole step
} hfta_activity_kind;

/// An activity of one queue, or of a thread that belongs to no queue, from
/// `begin` to `end` in seconds of hfta_now.
typedef struct hfta_activity {
  hfta_activity_kind kind;
  uint32_t queue;  ///< 0 for a WAIT, since the host works on queue 0
  int64_t number;  ///< RUN: the task's number in its program; AWAIT: the event;
                   ///< FETCH, EVICT: the first extent; READ, STEP: the step of
                   ///< the training, from 0
  uint32_t worker; ///< the instance's worker; 0 in reports of the device itself
  const hfta_task_call *call; ///< RUN; invalid after the report
  const hfta_post *post;      ///< CALL; may be NULL
  const void *to;             ///< COPY, FILL
  uint64_t bytes;             ///< COPY, FILL, FETCH, EVICT
  double begin, end;
} hfta_activity;

/// Receives a report of each activity that a device has finished, on the thread
/// that did it, one at a time. Observing slows the device down by two readings
/// of the clock per activity.
typedef struct hfta_observer {
  void (*done)(void *argument, const hfta_activity *activity);
  void *argument;
} hfta_observer;

typedef struct hfta_device_options {
  int index;   ///< number of the device among those of its kind
  int threads; ///< CPU threads that run kernels; 0: one per processor
  uint64_t scratch_bytes; ///< private memory of each thread
  uint32_t queues;        ///< at least 1
  uint32_t events;
  uint32_t segments;           ///< number of segments of the programs whose
                               ///< tasks it runs
  int64_t copies;              ///< most copies that a task runs for
  const hfta_program *program; ///< the program of the tasks, for their names;
                               ///< may be NULL for a kind that takes no file
  const char *file;            ///< for a kind that takes a file
  hfta_device *beside; ///< an open device of the same kind, whose threads also
                       ///< run this device's kernels, one task at a time; NULL:
                       ///< this one has threads of its own
} hfta_device_options;

/// The number of marks that the host may wait for while a device works on later
/// commands.
enum { HFTA_DEVICE_MARKS = 2 };

typedef struct hfta_device_functions {
  const char *kind; ///< "cpu"
  /// Whether the kind is opened by "KIND:FILE": it runs no tasks, but takes as
  /// long for each as the file says; used to measure schedules alone.
  bool takes_file;

  hfta_status (*open)(const hfta_device_options *options, hfta_device **out,
                      hfta_error *error);
  /// Closes the device, whose work is done.
  void (*close)(hfta_device *device);

  /// Returns the number of threads that run kernels.
  int (*threads)(const hfta_device *device);

  /// Allocates zeroed memory, which takes physical memory only once it is
  /// touched. 0 bytes give NULL.
  hfta_status (*allocate)(hfta_device *device, uint64_t bytes,
                          uint64_t alignment, void **out, hfta_error *error);
  void (*release)(hfta_device *device, void *memory, uint64_t bytes);

  /// Allocates the memory that the device itself needs for tasks that run for
  /// at most `copies` copies at once, and frees the memory that it had for
  /// that. Called before the device gets such tasks, while no work is in
  /// flight. NULL in a kind that needs none.
  hfta_status (*reserve)(hfta_device *device, int64_t copies,
                         hfta_error *error);

  /// Page-locks (pins) memory of the host, in whole pages, until `unlock`, so
  /// that the device copies to and from it fast. Returns false where that
  /// fails, which does no harm. NULL in a kind whose own memory is the host's.
  bool (*lock)(hfta_device *device, void *memory, uint64_t bytes);
  void (*unlock)(hfta_device *device, void *memory);

  /// Fills memory with zeros.
  void (*fill)(hfta_device *device, uint32_t queue, void *to, uint64_t bytes);
  /// Copies between any two places in the device's and the host's memory.
  void (*copy)(hfta_device *device, uint32_t queue, void *to, const void *from,
               uint64_t bytes);
  /// Copy between the device's memory and extents of a store, as
  /// hfta_store_read and hfta_store_write do; `bytes` is the size of these
  /// extents. Never on queue 0.
  void (*fetch)(hfta_device *device, uint32_t queue, hfta_store *store,
                uint64_t first, uint64_t count, void *to, uint64_t bytes);
  void (*evict)(hfta_device *device, uint32_t queue, hfta_store *store,
                uint64_t first, uint64_t count, const void *from,
                uint64_t bytes);
  /// Runs a task. `call` is copied; `number` is the task's number in its
  /// program.
  void (*run)(hfta_device *device, uint32_t queue, const hfta_task_call *call,
              uint32_t number);
  /// Calls the host, on any thread, when the queue's earlier work is done; the
  /// queue goes on when the function returns. Never on queue 0, on which the
  /// host itself may be working.
  void (*call)(hfta_device *device, uint32_t queue, const hfta_host_call *call);
  /// Records an event: it happens when the queue's earlier work is done.
  void (*record)(hfta_device *device, uint32_t queue, uint32_t event);
  /// Makes the queue wait for the event's most recent `record` at the time of
  /// this call; it goes on at once if there was none.
  void (*await)(hfta_device *device, uint32_t queue, uint32_t event);

  /// Makes kernels run on the threads of another open device of the kind, from
  /// the next command on. That device must outlive the use of its threads; no
  /// work may be in flight.
  void (*use_threads)(hfta_device *device, hfta_device *of);
  /// Gives this device's tasks priority among the devices that share its
  /// threads: tasks of the others begin when none of this one waits. May be
  /// called by any thread.
  void (*go_first)(hfta_device *device);
  /// Returns the seconds for which its tasks have occupied the threads that it
  /// uses, since `use_threads` was first called.
  double (*computed)(hfta_device *device);

  /// Returns when all work of all queues is done. Fails with the first error
  /// since the last call, which names the command.
  hfta_status (*wait)(hfta_device *device, hfta_error *error);
  /// Does as `wait`, but only for some queues: bit q of `queues` stands for
  /// queue q, the highest bit for all queues from there on.
  hfta_status (*wait_for)(hfta_device *device, uint64_t queues,
                          hfta_error *error);

  /// Sets a mark, a barrier across all queues: work that any of them gets later
  /// begins when all work that any had got before is done. `number` is below
  /// HFTA_DEVICE_MARKS; a mark replaces an earlier one of the same number. NULL
  /// in a kind for which the host waits before it goes on.
  void (*mark)(hfta_device *device, uint32_t number);
  /// Returns when all work before a mark is done. Fails with the first error of
  /// that work that wasn't reported yet; then no later work is in flight
  /// either. Errors of later work are reported by later calls.
  hfta_status (*wait_until)(hfta_device *device, uint32_t number,
                            hfta_error *error);

  /// Sets the observer, from the next command on; NULL: none.
  void (*observe)(hfta_device *device, const hfta_observer *observer);

  /// The address at which the host may read and write device memory, or NULL
  /// if there is none.
  void *(*host_address)(hfta_device *device, void *memory);
} hfta_device_functions;

/// The first member of every device's own struct.
struct hfta_device {
  const hfta_device_functions *functions;
};

/// Kinds of devices that this runtime knows, ending with NULL.
extern const hfta_device_functions *const hfta_device_kinds[];

extern const hfta_device_functions hfta_device_cpu;
extern const hfta_device_functions hfta_device_cuda;
extern const hfta_device_functions hfta_device_paced;

/// Opens "cpu", "KIND:INDEX" or "KIND:FILE". `options->index` and
/// `options->file` are overridden by the text. A kind that isn't available is
/// HFTA_UNSUPPORTED, a malformed text HFTA_USAGE.
hfta_status hfta_device_open(const char *text,
                             const hfta_device_options *options,
                             hfta_device **out, hfta_error *error);

/// Returns the kind that a text names, NULL if there is none.
const hfta_device_functions *hfta_device_find(const char *text);

/// Closes a device; NULL is allowed.
void hfta_device_close(hfta_device *device);

#ifdef __cplusplus
}
#endif

#endif // HFTA_DEVICE_H
