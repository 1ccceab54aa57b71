//===- FakeOpenMpi.c - An Open MPI without another rank -------------------===//

#include "FakeOpenMpi.h"

#include "communicator/mpi_heartbeat.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef enum kind { DUPLICATE, SEND, RECEIVE } kind;

/// A request that hasn't been freed, or a message that was sent but not
/// received.
typedef struct message {
  struct message *next;
  kind kind;
  char *memory;
  int count, tag;
  bool has_ended;
} message;

fake_mpi fake;
int ompi_mpi_comm_world, ompi_mpi_byte, ompi_mpi_errors_return;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static message *requests, *sent;

static message *add(message **list, kind kind, char *memory, int count,
                    int tag) {
  message *own = calloc(1, sizeof(*own));
  if (!own)
    abort();
  *own = (message){.kind = kind, .memory = memory, .count = count, .tag = tag};
  while (*list)
    list = &(*list)->next;
  *list = own;
  return own;
}

static void take_out(message **list, const message *own) {
  while (*list != own)
    list = &(*list)->next;
  *list = own->next;
}

/// Completes a receive if a message with its tag has been sent. The caller
/// holds the mutex.
static void receive(message *own) {
  message *from = sent;
  bool is_heartbeat = own->tag == 0;
  while (from && from->tag != own->tag)
    from = from->next;
  if (!from || (fake.is_silent && !is_heartbeat))
    return;
  memcpy(own->memory, from->memory, (size_t)from->count);
  if (is_heartbeat)
    ((hfta_heartbeat *)(void *)own->memory)->rank = 1;
  own->count = from->count;
  own->has_ended = true;
  take_out(&sent, from);
  free(from->memory);
  free(from);
}

void fake_mpi_deliver(void) {
  pthread_mutex_lock(&mutex);
  for (message *own = requests; own; own = own->next) {
    if (own->kind == RECEIVE && !own->has_ended && own->tag != 0)
      memset(own->memory, 0xAB, (size_t)own->count);
    own->has_ended |= own->tag != 0;
  }
  pthread_mutex_unlock(&mutex);
}

//===----------------------------------------------------------------------===//
// Functions of MPI
//===----------------------------------------------------------------------===//

int MPI_Get_library_version(char *text, int *length) {
  strcpy(text, "Open MPI v4.1.4, without another rank");
  *length = (int)strlen(text);
  return 0;
}

int MPI_Initialized(int *flag) {
  *flag = 1;
  return 0;
}

int MPI_Finalized(int *flag) {
  *flag = 0;
  return 0;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  (void)argc, (void)argv, (void)required, (void)provided;
  abort();
}

int MPI_Query_thread(int *provided) {
  *provided = HFTA_MPI_THREAD_MULTIPLE;
  return 0;
}

int MPI_Finalize(void) { abort(); }

int MPI_Abort(void *communicator, int code) {
  (void)communicator;
  exit(code);
}

int MPI_Comm_rank(void *communicator, int *rank) {
  (void)communicator;
  *rank = 0;
  return 0;
}

int MPI_Comm_size(void *communicator, int *size) {
  (void)communicator;
  *size = 2;
  return 0;
}

int MPI_Comm_idup(void *communicator, void **out, void **request) {
  *out = communicator;
  pthread_mutex_lock(&mutex);
  message *own = add(&requests, DUPLICATE, NULL, 0, 1);
  own->has_ended = !fake.is_absent;
  *request = own;
  pthread_mutex_unlock(&mutex);
  return 0;
}

int MPI_Comm_free(void **communicator) {
  *communicator = NULL;
  return 0;
}

int MPI_Comm_get_attr(void *communicator, int attribute, void *value,
                      int *flag) {
  static int most = INT32_MAX;
  (void)communicator, (void)attribute;
  *(int **)value = &most;
  *flag = 1;
  return 0;
}

int MPI_Comm_set_errhandler(void *communicator, void *handler) {
  (void)communicator, (void)handler;
  return 0;
}

int MPI_Isend(const void *memory, int count, void *type, int to, int tag,
              void *communicator, void **request) {
  (void)type, (void)to, (void)communicator;
  char *copy = malloc((size_t)count + 1);
  if (!copy)
    abort();
  memcpy(copy, memory, (size_t)count);
  pthread_mutex_lock(&mutex);
  add(&sent, SEND, copy, count, tag);
  message *own = add(&requests, SEND, NULL, count, tag);
  own->has_ended = !fake.is_reading || tag == 0;
  *request = own;
  pthread_mutex_unlock(&mutex);
  return 0;
}

int MPI_Irecv(void *memory, int count, void *type, int from, int tag,
              void *communicator, void **request) {
  (void)type, (void)from, (void)communicator;
  pthread_mutex_lock(&mutex);
  *request = add(&requests, RECEIVE, memory, count, tag);
  pthread_mutex_unlock(&mutex);
  return 0;
}

int MPI_Cancel(void **request) {
  message *own = *request;
  pthread_mutex_lock(&mutex);
  own->has_ended |= own->kind == RECEIVE && !fake.is_sending;
  pthread_mutex_unlock(&mutex);
  return 0;
}

/// Completes a request if that is possible, and frees it. Stores the number of
/// received bytes at the beginning of the status, where MPI_Get_count reads it.
int MPI_Test(void **request, int *flag, hfta_mpi_status *status) {
  message *own = *request;
  atomic_fetch_add(&fake.tests, 1);
  while (fake.hangs)
    usleep(1000);
  pthread_mutex_lock(&mutex);
  if (own->kind == RECEIVE && !own->has_ended)
    receive(own);
  *flag = own->has_ended;
  if (own->has_ended) {
    memcpy(status->bytes, &own->count, sizeof(own->count));
    take_out(&requests, own);
    free(own);
    *request = NULL;
  }
  pthread_mutex_unlock(&mutex);
  return 0;
}

int MPI_Get_count(const hfta_mpi_status *status, void *type, int *count) {
  (void)type;
  memcpy(count, status->bytes, sizeof(*count));
  return 0;
}

int MPI_Error_string(int code, char *text, int *length) {
  (void)code;
  strcpy(text, "an error");
  *length = (int)strlen(text);
  return 0;
}
