#include "shim.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct sphinx_lib {
	/* 0.8+5prealpha */
	void *(*cmd_ln_init)(void *inout, const void *defn, int32_t strict, ...);
	int (*cmd_ln_free_r)(void *config);
	const void *(*ps_args)(void);
	int (*ps_set_jsgf_string)(void *ps, const char *name, const char *jsgf);
	int (*ps_set_search)(void *ps, const char *name);
	/* 5.x */
	void *(*ps_config_init)(const void *defn);
	int (*ps_config_free)(void *config);
	const void *(*ps_config_set_str)(void *config, const char *name, const char *value);
	int (*ps_add_jsgf_string)(void *ps, const char *name, const char *jsgf);
	int (*ps_activate_search)(void *ps, const char *name);
	/* both */
	void (*err_set_callback)(void (*cb)(void *, int, const char *, ...), void *data);
	void (*err_set_logfp)(void *file); /* of the calling thread in 0.8 */
	void *(*ps_init)(void *config);
	int (*ps_free)(void *ps);
	int (*ps_add_word)(void *ps, const char *word, const char *phones, int update);
	int (*ps_start_utt)(void *ps);
	int (*ps_process_raw)(void *ps, const int16_t *pcm, size_t n, int no_search, int full_utt);
	int (*ps_end_utt)(void *ps);
	const char *(*ps_get_hyp)(void *ps, int32_t *score);
};

static struct sphinx_lib lib;

/* The library's complaints since the last call began, of this thread only. */
static _Thread_local char complaint[512];
static _Thread_local size_t complained;

enum { LEVEL_COMPLAINT = 3 }; /* warnings of 0.8, errors of both */

static void on_message(void *data, int level, const char *fmt, ...)
{
	va_list ap;
	int k;

	(void)data;
	if (level < LEVEL_COMPLAINT || complained + 1 >= sizeof complaint)
		return;
	va_start(ap, fmt);
	k = vsnprintf(complaint + complained, sizeof complaint - complained, fmt, ap);
	va_end(ap);
	if (k > 0)
		complained += (size_t)k;
	if (complained >= sizeof complaint)
		complained = sizeof complaint - 1;
}

static void begin(void)
{
	if (lib.err_set_logfp != NULL)
		lib.err_set_logfp(NULL); /* else 0.8 prints its whole configuration */
	complaint[0] = 0;
	complained = 0;
}

static void tell(char *err, size_t n)
{
	snprintf(err, n, "%s", complaint);
}

static int find(void *h, void *fn, const char *name)
{
	void *p = dlsym(h, name);

	memcpy(fn, &p, sizeof p);
	return p != NULL;
}

const sphinx_lib *sphinx_open(const char *path, char *err, size_t n)
{
	void *h;
	int ok, old, new;

	if (lib.ps_init != NULL)
		return &lib;
	h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (h == NULL) {
		snprintf(err, n, "%s", dlerror());
		return NULL;
	}
	old = find(h, &lib.cmd_ln_init, "cmd_ln_init") & find(h, &lib.cmd_ln_free_r, "cmd_ln_free_r") &
	      find(h, &lib.ps_args, "ps_args") & find(h, &lib.ps_set_jsgf_string, "ps_set_jsgf_string") &
	      find(h, &lib.ps_set_search, "ps_set_search");
	new = find(h, &lib.ps_config_init, "ps_config_init") & find(h, &lib.ps_config_free, "ps_config_free") &
	      find(h, &lib.ps_config_set_str, "ps_config_set_str") &
	      find(h, &lib.ps_add_jsgf_string, "ps_add_jsgf_string") &
	      find(h, &lib.ps_activate_search, "ps_activate_search");
	ok = find(h, &lib.err_set_callback, "err_set_callback") & find(h, &lib.ps_free, "ps_free") &
	     find(h, &lib.ps_add_word, "ps_add_word") & find(h, &lib.ps_start_utt, "ps_start_utt") &
	     find(h, &lib.ps_process_raw, "ps_process_raw") & find(h, &lib.ps_end_utt, "ps_end_utt") &
	     find(h, &lib.ps_get_hyp, "ps_get_hyp") & find(h, &lib.ps_init, "ps_init");
	if (!ok || (!old && !new)) {
		memset(&lib, 0, sizeof lib);
		snprintf(err, n, "%s lacks functions of PocketSphinx 0.8 or 5", path);
		return NULL;
	}
	if (!new)
		lib.ps_config_init = NULL;
	find(h, &lib.err_set_logfp, "err_set_logfp");
	lib.err_set_callback(on_message, NULL);
	return &lib;
}

void *sphinx_new(const sphinx_lib *l, const char *model, char *err, size_t n)
{
	void *config, *ps;

	begin();
	if (l->ps_config_init != NULL) {
		config = l->ps_config_init(NULL);
		if (config != NULL)
			l->ps_config_set_str(config, "hmm", model);
	} else {
		config = l->cmd_ln_init(NULL, l->ps_args(), 1, "-hmm", model, NULL);
	}
	if (config == NULL) {
		tell(err, n);
		return NULL;
	}
	ps = l->ps_init(config); /* keeps its own reference to config */
	if (l->ps_config_init != NULL)
		l->ps_config_free(config);
	else
		l->cmd_ln_free_r(config);
	if (ps == NULL)
		tell(err, n);
	return ps;
}

int sphinx_add_word(const sphinx_lib *l, void *ps, const char *word, const char *phones, char *err, size_t n)
{
	int k;

	begin();
	k = l->ps_add_word(ps, word, phones, 0);
	if (k < 0)
		tell(err, n);
	return k;
}

int sphinx_set_grammar(const sphinx_lib *l, void *ps, const char *jsgf, char *err, size_t n)
{
	int k;

	begin();
	if (l->ps_config_init != NULL)
		k = l->ps_add_jsgf_string(ps, "home", jsgf) < 0 ? -1 : l->ps_activate_search(ps, "home");
	else
		k = l->ps_set_jsgf_string(ps, "home", jsgf) < 0 ? -1 : l->ps_set_search(ps, "home");
	/* It only mentions a rule that is not defined, and leaves a dead end. */
	if (k >= 0 && strstr(complaint, "ERROR") != NULL)
		k = -1;
	if (k < 0)
		tell(err, n);
	return k;
}

int sphinx_decode(const sphinx_lib *l, void *ps, const int16_t *pcm, size_t len, char *err, size_t n)
{
	begin();
	if (l->ps_start_utt(ps) < 0) {
		tell(err, n);
		return -1;
	}
	/* The whole utterance at once: its mean is then taken over all of it. */
	if (l->ps_process_raw(ps, pcm, len, 0, 1) < 0) {
		tell(err, n);
		l->ps_end_utt(ps);
		return -1;
	}
	if (l->ps_end_utt(ps) < 0) {
		tell(err, n);
		return -1;
	}
	return 0;
}

const char *sphinx_hypothesis(const sphinx_lib *l, void *ps)
{
	int32_t score;

	begin();
	return l->ps_get_hyp(ps, &score);
}

void sphinx_free(const sphinx_lib *l, void *ps)
{
	begin();
	l->ps_free(ps);
}
