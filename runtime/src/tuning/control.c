//===- control.c - A channel to a running search --------------------------===//

#include "tuning/control.h"
#include "system/stat_calls.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { MOST_CLIENTS = 16, MOST_LINE = 1 << 20, READ_BYTES = 4096 };

typedef struct client {
  int input, output; ///< -1: there is no such client
  char *text;        ///< text that has been read and not been taken
  size_t size, capacity;
  size_t taken;    ///< bytes of the line that was taken last
  bool is_skipped; ///< whether the rest of a line that is too long is skipped
  bool is_done;    ///< whether its input has ended
} client;

struct hfta_control {
  struct sockaddr_un address;
  int listener; ///< -1: the channel is the standard streams
  client clients[MOST_CLIENTS];
};

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

static hfta_status cannot_open(const char *path, hfta_error *error) {
  return hfta_fail(error, HFTA_CANNOT_WRITE, "cannot open the socket '%s': %s",
                   path, strerror(errno));
}

/// Removes a socket that an earlier process has left behind. Fails if it is in
/// use, or isn't a socket.
static hfta_status remove_stale(const struct sockaddr_un *address,
                                hfta_error *error) {
  struct stat found;
  if (hfta_lstat(address->sun_path, &found) != 0)
    return HFTA_OK;
  if (!S_ISSOCK(found.st_mode))
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "'%s' exists and isn't a socket: give another path",
                     address->sun_path);
  int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  bool is_used =
      descriptor >= 0 && connect(descriptor, (const struct sockaddr *)address,
                                 sizeof(*address)) == 0;
  if (descriptor >= 0)
    close(descriptor);
  if (is_used)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "another process uses the socket '%s'", address->sun_path);
  return unlink(address->sun_path) == 0 ? HFTA_OK
                                        : cannot_open(address->sun_path, error);
}

static hfta_status listen_at(hfta_control *self, const char *path,
                             hfta_error *error) {
  size_t length = strlen(path);
  if (length >= sizeof(self->address.sun_path))
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "the path of a socket has at most %zu characters, '%s' "
                     "has %zu",
                     sizeof(self->address.sun_path) - 1, path, length);
  self->address.sun_family = AF_UNIX;
  memcpy(self->address.sun_path, path, length + 1);
  hfta_status status = remove_stale(&self->address, error);
  if (status != HFTA_OK)
    return status;
  int descriptor =
      socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0)
    return cannot_open(path, error);
  mode_t before = umask(0177);
  bool is_bound = bind(descriptor, (const struct sockaddr *)&self->address,
                       sizeof(self->address)) == 0;
  umask(before);
  if (is_bound && listen(descriptor, MOST_CLIENTS) == 0) {
    self->listener = descriptor;
    return HFTA_OK;
  }
  status = cannot_open(path, error);
  close(descriptor);
  if (is_bound)
    unlink(path);
  return status;
}

hfta_status hfta_control_open(const char *where, hfta_control **out,
                              hfta_error *error) {
  *out = NULL;
  hfta_control *self = calloc(1, sizeof(*self));
  if (!self)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a socket");
  self->listener = -1;
  for (int i = 0; i < MOST_CLIENTS; ++i)
    self->clients[i].input = self->clients[i].output = -1;
  hfta_status status = HFTA_OK;
  if (strcmp(where, "-") == 0) {
    self->clients[0].input = STDIN_FILENO;
    self->clients[0].output = STDOUT_FILENO;
  } else {
    status = listen_at(self, where, error);
  }
  if (status == HFTA_OK)
    *out = self;
  else
    free(self);
  return status;
}

static void disconnect(client *self) {
  if (self->output > STDERR_FILENO)
    close(self->output);
  free(self->text);
  *self = (client){.input = -1, .output = -1};
}

void hfta_control_close(hfta_control *self) {
  if (!self)
    return;
  for (int i = 0; i < MOST_CLIENTS; ++i)
    disconnect(&self->clients[i]);
  if (self->listener >= 0) {
    close(self->listener);
    unlink(self->address.sun_path);
  }
  free(self);
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

/// Accepts a client, if one waits. One too many is turned away.
static void welcome(hfta_control *self) {
  int descriptor = accept4(self->listener, NULL, NULL, SOCK_CLOEXEC);
  if (descriptor < 0)
    return;
  const struct timeval second = {.tv_sec = 1};
  setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &second, sizeof(second));
  for (int i = 0; i < MOST_CLIENTS; ++i)
    if (self->clients[i].output < 0) {
      self->clients[i].input = self->clients[i].output = descriptor;
      return;
    }
  static const char FULL[] =
      "{\"ok\":false,\"error\":\"too many clients: at most 16\"}\n";
  (void)!send(descriptor, FULL, sizeof(FULL) - 1, MSG_NOSIGNAL);
  close(descriptor);
}

/// Reads what a client has sent. Its input ends with a failure, too.
static void read_some(client *self) {
  if (self->size + READ_BYTES + 1 > self->capacity) {
    size_t capacity = 2 * self->capacity + 2 * READ_BYTES;
    char *more = realloc(self->text, capacity);
    if (!more) {
      self->is_done = true;
      return;
    }
    self->text = more;
    self->capacity = capacity;
  }
  ssize_t count = read(self->input, self->text + self->size, READ_BYTES);
  if (count < 0 && (errno == EINTR || errno == EAGAIN))
    return;
  self->is_done = count <= 0;
  self->size += count > 0 ? (size_t)count : 0;
}

/// Takes a complete line of a client. A client whose input has ended may leave
/// a last line without a line break.
static bool take_line(client *self, hfta_control_line *out) {
  if (self->taken > 0) {
    memmove(self->text, self->text + self->taken, self->size - self->taken);
    self->size -= self->taken;
    self->taken = 0;
  }
  char *end = self->size ? memchr(self->text, '\n', self->size) : NULL;
  if (self->is_skipped) {
    self->taken = end ? (size_t)(end - self->text) + 1 : self->size;
    self->is_skipped = !end;
    return false;
  }
  if (!end && self->size > MOST_LINE) {
    self->taken = self->size;
    self->is_skipped = true;
    out->text = NULL;
    out->size = 0;
    out->is_too_long = true;
    return true;
  }
  if (!end && (!self->is_done || self->size == 0))
    return false;
  size_t length = end ? (size_t)(end - self->text) : self->size;
  self->text[length] = '\0';
  self->taken = end ? length + 1 : length;
  out->text = self->text;
  out->size = length;
  out->is_too_long = false;
  return true;
}

/// Takes a line that has been read already. Disconnects clients that have no
/// more to say, unless they are the standard streams, which still get answers.
static bool take_any(hfta_control *self, hfta_control_line *out) {
  for (int i = 0; i < MOST_CLIENTS; ++i) {
    client *one = &self->clients[i];
    if (one->output < 0)
      continue;
    out->client = i;
    // A second try, after the rest of a line was skipped.
    if (take_line(one, out) || take_line(one, out))
      return true;
    if (one->is_done && self->listener >= 0)
      disconnect(one);
  }
  return false;
}

/// Waits until something can be read, and reads it. Returns false if nothing
/// can.
static bool read_any(hfta_control *self, int milliseconds) {
  struct pollfd watched[MOST_CLIENTS + 1];
  for (int i = 0; i < MOST_CLIENTS; ++i) {
    const client *one = &self->clients[i];
    watched[i] =
        (struct pollfd){.fd = one->output < 0 || one->is_done ? -1 : one->input,
                        .events = POLLIN};
  }
  watched[MOST_CLIENTS] =
      (struct pollfd){.fd = self->listener, .events = POLLIN};
  if (poll(watched, MOST_CLIENTS + 1, milliseconds) <= 0)
    return false;
  for (int i = 0; i < MOST_CLIENTS; ++i)
    if (watched[i].revents)
      read_some(&self->clients[i]);
  if (watched[MOST_CLIENTS].revents)
    welcome(self);
  return true;
}

bool hfta_control_next(hfta_control *self, int milliseconds,
                       hfta_control_line *out) {
  if (take_any(self, out))
    return true;
  while (read_any(self, milliseconds)) {
    if (take_any(self, out))
      return true;
    // More may be on its way, but the wait is over.
    milliseconds = 0;
  }
  return false;
}

bool hfta_control_is_over(const hfta_control *self) {
  const client *streams = &self->clients[0];
  return self->listener < 0 &&
         (streams->output < 0 || (streams->is_done && streams->size == 0));
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

/// Sends all bytes to a client. Returns false if it doesn't take them.
static bool send_all(const client *self, const char *text, size_t size) {
  while (size > 0) {
    ssize_t count = self->input == self->output
                        ? send(self->output, text, size, MSG_NOSIGNAL)
                        : write(self->output, text, size);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    text += count;
    size -= (size_t)count;
  }
  return true;
}

void hfta_control_answer(hfta_control *self, int number, const char *text,
                         size_t size) {
  client *one = &self->clients[number];
  if (one->output >= 0 && !send_all(one, text, size))
    disconnect(one);
}

void hfta_control_tell(hfta_control *self, const char *text, size_t size) {
  for (int i = 0; i < MOST_CLIENTS; ++i)
    hfta_control_answer(self, i, text, size);
}
