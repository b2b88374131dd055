/* glaive job: the jobs of a server. */
#include <inttypes.h>

#include "cli/cli.h"

static const char *const state_words[] = {"other", "queued", "running",
                                          "done",  "failed", "cancelled"};

/* Jobs of a directory live in the process that began them. @return -1, or an exit code. */
static int need_server(cli *c) {
  if (c->url == NULL) {
    return cli_usage(c, "jobs are kept by servers: give --url URL");
  }
  return cli_connect(c) ? -1 : cli_failed(c);
}

/* @return NULL after setting c->error. */
static glv_job *open_job(cli *c) {
  glv_job *job = NULL;
  return glv_job_open(c->conn, c->arguments[0], &job, &c->error) == GLV_OK ? job : NULL;
}

/* ---- list ---- */

static int print_jobs(cli *c, const glv_list *jobs, json *into) {
  for (size_t i = 0; i < glv_list_count(jobs); i++) {
    const char *state = glv_list_state(jobs, i);
    const char *type = glv_list_form(jobs, i);
    if (into == NULL) {
      printf("%s  %-11s  %s\n", glv_list_name(jobs, i), state != NULL ? state : "",
             type != NULL ? type : "");
      continue;
    }
    json *entry = js_new_object();
    glv_status status =
        js_put(entry, "id", js_new_string(str_of(glv_list_name(jobs, i))), &c->error);
    status = status == GLV_OK && state != NULL
                 ? js_put(entry, "state", js_new_string(str_of(state)), &c->error)
                 : status;
    status = status == GLV_OK && type != NULL
                 ? js_put(entry, "type", js_new_string(str_of(type)), &c->error)
                 : status;
    status = status == GLV_OK ? js_push(into, entry, &c->error) : status;
    if (status != GLV_OK) {
      return cli_failed(c);
    }
  }
  return EXIT_DONE;
}

enum { MAX_PAGES = 100 };

/* All pages up to a hundred, the newest job first. */
static int list_all(cli *c, json *into) {
  glv_page_options page = GLV_OPTIONS(glv_page_options);
  for (int pages = 0; pages < MAX_PAGES; pages++) {
    glv_list *jobs = NULL;
    if (glv_job_list(c->conn, &page, &jobs, &c->error) != GLV_OK) {
      return cli_failed(c);
    }
    const int code = print_jobs(c, jobs, into);
    const char *token = glv_list_token(jobs);
    page.page_token = token != NULL ? arena_strdup(&c->memory, str_of(token)) : NULL;
    glv_list_free(jobs);
    if (code != EXIT_DONE || token == NULL) {
      return code;
    }
    if (page.page_token == NULL) {
      error_nomem(&c->error, 0);
      return cli_failed(c);
    }
  }
  return EXIT_DONE;
}

static int list(cli *c) {
  int code = need_server(c);
  if (code >= 0) {
    return code;
  }
  if (!c->json) {
    return list_all(c, NULL);
  }
  json *document = js_new_array();
  code = list_all(c, document);
  if (code != EXIT_DONE) {
    js_free(document);
    return code;
  }
  return cli_print_json(c, document);
}

/* ---- show, wait, cancel ---- */

static int print_json(cli *c, const glv_job_info *info) {
  json *document = js_new_object();
  glv_status status = js_put(document, "id", js_new_string(str_of(c->arguments[0])), &c->error);
  status = status == GLV_OK ? js_put(document, "state",
                                     js_new_string(str_of(state_words[info->state])), &c->error)
                            : status;
  const struct {
    const char *key;
    int64_t value;
  } numbers[] = {{"done", (int64_t)info->done},
                 {"total", (int64_t)info->total},
                 {"created_ms", info->created_ms},
                 {"finished_ms", info->finished_ms}};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0] && status == GLV_OK; i++) {
    status = js_put(document, numbers[i].key, js_new_int(numbers[i].value), &c->error);
  }
  if (status == GLV_OK && info->error.code != GLV_OK) {
    status = js_put(document, "error", js_new_string(str_of(info->error.message)), &c->error);
  }
  if (status != GLV_OK) {
    js_free(document);
    return cli_failed(c);
  }
  return cli_print_json(c, document);
}

static int print_info(cli *c, const glv_job_info *info) {
  if (c->json) {
    return print_json(c, info);
  }
  printf("%s  %s", c->arguments[0], state_words[info->state]);
  if (info->total != 0) {
    printf("  %" PRIu64 " of %" PRIu64 " rows", info->done, info->total);
  }
  printf("%s%s\n", info->error.code != GLV_OK ? ": " : "", info->error.message);
  return EXIT_DONE;
}

/* Do something to the job, then tell how it stands. */
static int with_job(cli *c, glv_status (*act)(glv_job *job, glv_error *err)) {
  glv_job_info info = GLV_OPTIONS(glv_job_info);
  int code = need_server(c);
  glv_job *job = code < 0 ? open_job(c) : NULL;
  if (code >= 0) {
    return code;
  }
  if (job == NULL || (act != NULL && act(job, &c->error) != GLV_OK) ||
      glv_job_status(job, &info, &c->error) != GLV_OK) {
    code = cli_failed(c);
  } else {
    code = print_info(c, &info);
  }
  glv_job_free(job);
  return code;
}

static glv_status wait_for(glv_job *job, glv_error *err) { return glv_job_wait(job, 0, err); }

static int show(cli *c) { return with_job(c, NULL); }
static int wait_job(cli *c) { return with_job(c, wait_for); }
static int cancel(cli *c) { return with_job(c, glv_job_cancel); }

const command job_commands[] = {
    {"job", "list", "", 0, 0, "List the jobs of a server, the newest first.", NULL, 0, list},
    {"job", "show", "ID", 1, 1, "Show where a job stands.", NULL, 0, show},
    {"job", "wait", "ID", 1, 1, "Wait until a job is over; fail as it failed.", NULL, 0, wait_job},
    {"job", "cancel", "ID", 1, 1, "Ask a job to stop.", NULL, 0, cancel},
    {0},
};
