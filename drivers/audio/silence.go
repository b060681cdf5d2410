package audio

// ALSA and JACK write to standard error whenever a device is asked about that
// is not there, which PortAudio does dozens of times at each start. Both let a
// program take their messages; these handlers drop them, for the errors come
// back as return values as well. libjack is not linked here but may have come
// along with PortAudio, so it is looked up at run time.

// #cgo pkg-config: alsa
// #cgo LDFLAGS: -ldl
// #define _GNU_SOURCE
// #include <dlfcn.h>
// #include <alsa/asoundlib.h>
//
// static void drop_alsa(const char *file, int line, const char *function, int err, const char *fmt, ...) {}
// static void drop_jack(const char *message) {}
//
// static void silence_libraries(void) {
//   snd_lib_error_set_handler(drop_alsa);
//   const char *names[] = {"jack_set_error_function", "jack_set_info_function"};
//   for (int i = 0; i < 2; i++) {
//     void (*set)(void (*)(const char *)) = dlsym(RTLD_DEFAULT, names[i]);
//     if (set) set(drop_jack);
//   }
// }
import "C"

// silence keeps the libraries below PortAudio from writing to standard error.
func silence() { C.silence_libraries() }
