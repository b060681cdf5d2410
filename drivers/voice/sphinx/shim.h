#ifndef HOMEAGENT_SPHINX_SHIM_H
#define HOMEAGENT_SPHINX_SHIM_H
#include <stddef.h>
#include <stdint.h>

/* A library that was opened: what the decoder needs of it. Which of the two C
   interfaces it has shows in whether ps_config_init is there. */
typedef struct sphinx_lib sphinx_lib;

/* Opens the library; NULL with a text in err (n bytes) when it cannot. Only
   the first call does anything: a process has one PocketSphinx. */
const sphinx_lib *sphinx_open(const char *path, char *err, size_t n);

/* All below return NULL or a negative number on failure and put the
   library's last words into err. */
void *sphinx_new(const sphinx_lib *l, const char *model, char *err, size_t n);
int sphinx_add_word(const sphinx_lib *l, void *ps, const char *word, const char *phones, char *err, size_t n);
int sphinx_set_grammar(const sphinx_lib *l, void *ps, const char *jsgf, char *err, size_t n);
int sphinx_decode(const sphinx_lib *l, void *ps, const int16_t *pcm, size_t len, char *err, size_t n);
/* The sentence of the last sphinx_decode, NULL for none; valid until the next call. */
const char *sphinx_hypothesis(const sphinx_lib *l, void *ps);
void sphinx_free(const sphinx_lib *l, void *ps);
#endif
