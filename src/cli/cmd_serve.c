/* glaive serve: a directory of tables as a service. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h> /* which tells about the C library */
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "cli/cli.h"
#include "server/memory.h"
#include "server/server.h"

enum { DEFAULT_GRACE_S = 30, LEAST_THREADS = 4, MOST_PEM_BYTES = 1 << 20 };

static void log_line(void *user, int32_t level, const char *text) {
  (void)user;
  (void)level;
  fprintf(stderr, "glaive: warning: %s\n", text);
}

/* ---- options ---- */

/* A whole number that may be left out; past most it is wrong usage. */
static bool number_option(cli *c, const char *name, uint64_t most, uint64_t *ret) {
  *ret = 0;
  if (cli_value(c, name) == NULL) {
    return true;
  }
  if (!cli_number(c, name, ret)) {
    return false;
  }
  if (*ret > most) {
    cli_usage(c, "--%s is at most %llu", name, (unsigned long long)most);
    return false;
  }
  return true;
}

/* A number of bytes: digits, and K, M or G (of 1,024). */
static bool bytes_option(cli *c, const char *name, uint64_t *ret) {
  const char *text = cli_value(c, name);
  *ret = 0;
  if (text == NULL) {
    return true;
  }
  const size_t digits = strspn(text, "0123456789");
  const char *unit = text + digits;
  const unsigned shift = strcmp(unit, "K") == 0   ? 10
                         : strcmp(unit, "M") == 0 ? 20
                         : strcmp(unit, "G") == 0 ? 30
                                                  : 0;
  uint64_t number;
  if ((shift == 0 && *unit != '\0') || !str_to_u64(str_slice(text, digits), &number) ||
      !u64_mul(number, UINT64_C(1) << shift, ret) || *ret > SIZE_MAX / 2) {
    cli_usage(c, "--%s takes a number of bytes such as 1048576, 64M or 2G, not '%s'", name, text);
    return false;
  }
  return true;
}

static bool read_compression(cli *c, server_compression *ret) {
  const char *text = cli_value(c, "gzip");
  *ret = SERVER_COMPRESS_DEFAULT;
  if (text == NULL || strcmp(text, "default") == 0) {
    return true;
  }
  if (strcmp(text, "always") != 0 && strcmp(text, "never") != 0) {
    cli_usage(c, "--gzip is 'default', 'always' or 'never', not '%s'", text);
    return false;
  }
  *ret = text[0] == 'a' ? SERVER_COMPRESS_ALWAYS : SERVER_COMPRESS_NEVER;
  return true;
}

static bool read_sizes(cli *c, server_options *o) {
  uint64_t header;
  uint64_t body;
  if (!bytes_option(c, "max-header", &header) || !bytes_option(c, "max-body", &body) ||
      !bytes_option(c, "max-upload", &o->max_upload_bytes) ||
      !number_option(c, "max-rows", UINT64_MAX, &o->max_rows)) {
    return false;
  }
  o->max_header_bytes = (size_t)header;
  o->max_json_bytes = (size_t)body;
  return true;
}

static bool read_numbers(cli *c, server_options *o, uint64_t *ret_grace_s) {
  const uint64_t day_s = 86400;
  uint64_t port;
  uint64_t timeout_s;
  uint64_t idle_s;
  uint64_t connections;
  uint64_t requests;
  uint64_t uploads;
  if (!number_option(c, "port", UINT16_MAX, &port) ||
      !number_option(c, "timeout", day_s, &timeout_s) ||
      !number_option(c, "idle-timeout", day_s, &idle_s) ||
      !number_option(c, "grace", day_s, ret_grace_s) ||
      !number_option(c, "max-connections", 1000000, &connections) ||
      !number_option(c, "max-requests-per-key", 1000000, &requests) ||
      !number_option(c, "max-uploads", 10000, &uploads)) {
    return false;
  }
  o->port = (uint16_t)port;
  o->request_timeout_ms = (unsigned)timeout_s * 1000;
  o->idle_timeout_s = (unsigned)idle_s;
  o->max_connections = (unsigned)connections;
  o->max_requests_per_key = (unsigned)requests;
  o->max_uploads = (unsigned)uploads;
  *ret_grace_s = cli_value(c, "grace") != NULL ? *ret_grace_s : DEFAULT_GRACE_S;
  return true;
}

/* The text of a PEM file. @return NULL after setting c->error. */
static const char *read_pem(cli *c, const char *path) {
  char *text = arena_alloc(&c->memory, MOST_PEM_BYTES + 1);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  size_t size = 0;
  ssize_t got = fd >= 0 && text != NULL ? 1 : -1;
  while (got > 0 && size < MOST_PEM_BYTES) {
    got = read(fd, text + size, MOST_PEM_BYTES - size);
    size += got > 0 ? (size_t)got : 0;
  }
  const int code = errno;
  if (fd >= 0) {
    close(fd);
  }
  if (got < 0) {
    error_set_errno(&c->error, GLV_E_IO, code, "'%s' cannot be read", path);
    return NULL;
  }
  if (strstr(text, "-----BEGIN") == NULL) {
    error_set(&c->error, GLV_E_INVALID_INPUT, "'%s' is not a PEM file", path);
    return NULL;
  }
  return text;
}

/* @return -1, or an exit code. */
static int read_tls(cli *c, server_options *o) {
  const char *certificate = cli_value(c, "tls-cert");
  const char *key = cli_value(c, "tls-key");
  if ((certificate == NULL) != (key == NULL)) {
    return cli_usage(c, "--tls-cert and --tls-key go together");
  }
  if (certificate != NULL) {
    o->tls_certificate = read_pem(c, certificate);
    o->tls_key = o->tls_certificate != NULL ? read_pem(c, key) : NULL;
    return o->tls_key != NULL ? -1 : cli_failed(c);
  }
  return -1;
}

/* @return -1, or an exit code. */
static int read_options(cli *c, server_options *ret, uint64_t *ret_grace_s) {
  if (c->db == NULL) {
    return cli_usage(c, "a server serves a directory: give --db DIR");
  }
  *ret = (server_options){.database = c->db,
                          .data_dir = cli_value(c, "data"),
                          .host = cli_value(c, "host"),
                          .allow_anonymous = cli_flag(c, "allow-anonymous"),
                          .access_log = cli_value(c, "access-log"),
                          .no_access_log = cli_flag(c, "no-access-log")};
  if (!read_compression(c, &ret->compression) || !read_sizes(c, ret) ||
      !read_numbers(c, ret, ret_grace_s)) {
    return EXIT_USAGE;
  }
  return read_tls(c, ret);
}

/* ---- serving ---- */

/* Every request holds a thread while it waits for storage, so there are more of them than
 * processors. @return -1, or an exit code. */
static int make_env(cli *c, glv_env **ret) {
  glv_env_options options = GLV_OPTIONS(glv_env_options);
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  uint64_t threads;
  if (!number_option(c, "threads", 1024, &threads) ||
      !bytes_option(c, "memory", &options.memory_limit_bytes)) {
    return EXIT_USAGE;
  }
  options.threads = threads != 0                     ? (uint32_t)threads
                    : processors > LEAST_THREADS / 2 ? (uint32_t)(2 * processors)
                                                     : LEAST_THREADS;
  options.log = log_line;
  if (cli_value(c, "memory") == NULL) {
    options.memory_limit_bytes = memory_available() / 2;
  }
  return glv_env_new(&options, ret, &c->error) == GLV_OK ? -1 : cli_failed(c);
}

/* One line that says where the server is. @return -1, or an exit code. */
static int announce(cli *c, const server *s, const char *host) {
  const bool is_ipv6 = strchr(host, ':') != NULL;
  const char *url = arena_printf(&c->memory, "%s://%s%s%s:%u", server_scheme(s), is_ipv6 ? "[" : "",
                                 host, is_ipv6 ? "]" : "", server_port(s));
  if (url == NULL) {
    return error_nomem(&c->error, 0), cli_failed(c);
  }
  if (!c->json) {
    printf("serving %s at %s\n", c->db, url);
    return fflush(stdout) == 0 ? -1 : EXIT_FAILED;
  }
  CLEANUP(js_cleanup) json *document = js_new_object();
  CLEANUP(buf_dispose) buf line;
  buf_init(&line, c->env, SIZE_MAX / 2);
  if (document == NULL ||
      js_put(document, "url", js_new_string(str_of(url)), &c->error) != GLV_OK ||
      js_print(document, 0, 0, &line, &c->error) != GLV_OK) {
    return cli_failed(c);
  }
  printf("%.*s\n", STR_ARG(buf_str(&line)));
  return fflush(stdout) == 0 ? -1 : EXIT_FAILED;
}

/* The allocator of the C library keeps what was freed: it raises its own bound for blocks that go
 * back to the system, and has an arena for every thread. A server that runs for long must not grow
 * by that. */
static void keep_memory_flat(void) {
#ifdef __GLIBC__
  enum { ARENAS = 2, MAPPED_BYTES = 128 << 10, KEPT_BYTES = 256 << 10 };
  (void)mallopt(M_ARENA_MAX, ARENAS);
  (void)mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
  (void)mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
#endif
}

static int run(cli *c, glv_env *env, const server_options *options, const sigset_t *stop,
               uint64_t grace_s) {
  server *s = NULL;
  if (server_start(env, options, &s, &c->error) != GLV_OK) {
    return cli_failed(c);
  }
  const int code = announce(c, s, options->host != NULL ? options->host : "127.0.0.1");
  int got;
  if (code < 0) {
    sigwait(stop, &got);
  }
  server_stop(s, (unsigned)grace_s * 1000);
  server_free(s);
  return code < 0 ? EXIT_DONE : code;
}

static int serve(cli *c) {
  server_options options;
  uint64_t grace_s;
  glv_env *env = NULL;
  sigset_t stop;
  int code = read_options(c, &options, &grace_s);
  if (code >= 0) {
    return code;
  }
  /* Before any thread is made, so that all of them leave the signals to this one. */
  sigemptyset(&stop);
  sigaddset(&stop, SIGINT);
  sigaddset(&stop, SIGTERM);
  sigprocmask(SIG_BLOCK, &stop, NULL);
  signal(SIGPIPE, SIG_IGN); /* clients leave */
  keep_memory_flat();
  code = make_env(c, &env);
  if (code >= 0) {
    return code;
  }
  code = run(c, env, &options, &stop, grace_s);
  glv_env_free(env);
  return code;
}

static const option_spec serve_options[] = {
    {"host", 0, OPTION_VALUE, "HOST", "the address to serve; 127.0.0.1 unless told otherwise"},
    {"port", 0, OPTION_VALUE, "PORT", "the port; 0 = any, which is printed"},
    {"data", 0, OPTION_VALUE, "DIR", "where keys and jobs are kept; DATABASE/.glaive"},
    {"allow-anonymous", 0, OPTION_FLAG, NULL, "serve other machines without keys"},
    {"tls-cert", 0, OPTION_VALUE, "FILE", "certificate chain (PEM); with --tls-key"},
    {"tls-key", 0, OPTION_VALUE, "FILE", "its private key (PEM)"},
    {"threads", 0, OPTION_VALUE, "N", "threads that handle requests; 2 per processor, at least 4"},
    {"memory", 0, OPTION_VALUE, "BYTES", "most memory; half of what is available"},
    {"timeout", 0, OPTION_VALUE, "SECONDS", "of a request; 300"},
    {"idle-timeout", 0, OPTION_VALUE, "SECONDS", "of a connection on which nothing moves; 60"},
    {"grace", 0, OPTION_VALUE, "SECONDS", "that running requests get at the end; 30"},
    {"max-header", 0, OPTION_VALUE, "BYTES", "of the head of a request; 64K"},
    {"max-body", 0, OPTION_VALUE, "BYTES", "of a JSON body; 64M"},
    {"max-upload", 0, OPTION_VALUE, "BYTES", "of a body with rows; no limit"},
    {"max-rows", 0, OPTION_VALUE, "N", "of an answer; no limit"},
    {"max-connections", 0, OPTION_VALUE, "N", "at once; 1000"},
    {"max-requests-per-key", 0, OPTION_VALUE, "N", "at once; 16"},
    {"max-uploads", 0, OPTION_VALUE, "N", "long bodies that are read at once; 16"},
    {"gzip", 0, OPTION_VALUE, "WHEN", "compress answers: default, always or never"},
    {"access-log", 0, OPTION_VALUE, "FILE", "a line of JSON per request; stderr"},
    {"no-access-log", 0, OPTION_FLAG, NULL, "no such lines"},
};

const command serve_commands[] = {
    {NULL, "serve", "", 0, 0, "Serve a directory of tables to clients.", serve_options,
     sizeof serve_options / sizeof serve_options[0], serve},
    {NULL, NULL, NULL, 0, 0, NULL, NULL, 0, NULL},
};
