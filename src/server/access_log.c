/* Two buffers: requests append to one while the other one is written. */
#include "server/access_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/thread.h"

enum { MOST_WAITING = 4 << 20, WRITE_EVERY_MS = 100 };

struct access_log {
  glv_env *env;
  int fd;
  bool owns_fd;
  pthread_t thread;
  mutex lock; /* guards what follows */
  condition changed;
  buf waiting;
  uint64_t dropped;
  bool stopping;
};

uint64_t access_log_dropped(access_log *log) {
  CLEANUP(mutex_cleanup) mutex *held = &log->lock;
  mutex_lock(held);
  return log->dropped;
}

static void write_all(int fd, str text) {
  while (text.size != 0) {
    const ssize_t done = write(fd, text.data, text.size);
    if (done < 0 && errno != EINTR) {
      return; /* nobody is left to be told */
    }
    const size_t part = done > 0 ? (size_t)done : 0;
    text = str_slice(text.data + part, text.size - part);
  }
}

static void *run(void *argument) {
  access_log *log = argument;
  CLEANUP(buf_dispose) buf writing;
  buf_init(&writing, log->env, MOST_WAITING);
  mutex_lock(&log->lock);
  while (!log->stopping || log->waiting.size != 0) {
    const buf full = log->waiting;
    log->waiting = writing;
    writing = full;
    mutex_unlock(&log->lock);
    write_all(log->fd, buf_str(&writing));
    buf_clear(&writing);
    mutex_lock(&log->lock);
    if (!log->stopping) {
      condition_wait_ms(&log->changed, &log->lock, WRITE_EVERY_MS);
    }
  }
  mutex_unlock(&log->lock);
  return NULL;
}

glv_status access_log_new(glv_env *env, const char *path, access_log **ret, glv_error *err) {
  access_log *log = mem_zalloc(env, sizeof *log);
  if (log == NULL) {
    return error_nomem(err, sizeof *log);
  }
  log->env = env;
  log->owns_fd = path != NULL;
  log->fd = path != NULL ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640) : 2;
  if (log->fd < 0) {
    mem_free(env, log);
    return error_set_errno(err, GLV_E_IO, errno, "the access log '%s' cannot be opened", path);
  }
  mutex_init(&log->lock);
  condition_init(&log->changed);
  buf_init(&log->waiting, env, MOST_WAITING);
  const int result = pthread_create(&log->thread, NULL, run, log);
  if (result != 0) {
    log->stopping = true;
    mutex_dispose(&log->lock);
    condition_dispose(&log->changed);
    if (log->owns_fd) {
      close(log->fd);
    }
    mem_free(env, log);
    return error_set_errno(err, GLV_E_IO, result, "no thread could be started");
  }
  *ret = log;
  return GLV_OK;
}

void access_log_free(access_log *log) {
  if (log == NULL) {
    return;
  }
  mutex_lock(&log->lock);
  log->stopping = true;
  condition_signal_all(&log->changed);
  mutex_unlock(&log->lock);
  pthread_join(log->thread, NULL);
  if (log->owns_fd) {
    close(log->fd);
  }
  buf_dispose(&log->waiting);
  condition_dispose(&log->changed);
  mutex_dispose(&log->lock);
  mem_free(log->env, log);
}

/* A string as JSON, at most `room` bytes of it; what is not printable ASCII is escaped by byte, for
 * such paths are not UTF-8 as they come. */
static char *put_string(char *out, const char *text, size_t room) {
  static const char digits[] = "0123456789abcdef";
  if (text == NULL) {
    memcpy(out, "null", 4);
    return out + 4;
  }
  *out++ = '"';
  for (size_t i = 0; text[i] != '\0' && i < room; i++) {
    const unsigned char c = (unsigned char)text[i];
    if (c == '"' || c == '\\') {
      *out++ = '\\';
      *out++ = (char)c;
    } else if (c < 0x20 || c >= 0x7F) {
      memcpy(out, "\\u00", 4);
      out[4] = digits[c >> 4];
      out[5] = digits[c & 15];
      out += 6;
    } else {
      *out++ = (char)c;
    }
  }
  *out++ = '"';
  return out;
}

static char *put_text(char *out, const char *text) {
  const size_t size = strlen(text);
  memcpy(out, text, size);
  return out + size;
}

void access_log_add(access_log *log, const access_entry *e) {
  enum { LONGEST_TEXT = 512, LINE_BYTES = 4 * 6 * LONGEST_TEXT + 512 };
  char line[LINE_BYTES];
  const time_t seconds = (time_t)(e->time_ns / 1000000000);
  struct tm utc = {0};
  (void)gmtime_r(&seconds, &utc);
  char *out = line;
  out += snprintf(out, 64,
                  "{\"time\":\"%04d-%02d-%02dT%02d:%02d:%02d.%03dZ\",\"id\":", utc.tm_year + 1900,
                  utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                  (int)(e->time_ns / 1000000 % 1000));
  out = put_string(out, e->id, LONGEST_TEXT);
  out = put_text(out, ",\"key\":");
  out = put_string(out, e->key, LONGEST_TEXT);
  out = put_text(out, ",\"method\":");
  out = put_string(out, e->method, LONGEST_TEXT);
  out = put_text(out, ",\"path\":");
  out = put_string(out, e->path, LONGEST_TEXT);
  out += snprintf(out, 256, ",\"status\":%u,\"in\":%llu,\"out\":%llu,\"ms\":%.3f}\n", e->status,
                  (unsigned long long)e->bytes_in, (unsigned long long)e->bytes_out,
                  (double)e->duration_ns / 1e6);
  mutex_lock(&log->lock);
  if (buf_append(&log->waiting, line, (size_t)(out - line), NULL) != GLV_OK) {
    log->dropped++;
  }
  mutex_unlock(&log->lock);
}
