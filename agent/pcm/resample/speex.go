package resample

// #cgo pkg-config: speexdsp
// #include <speex/speex_resampler.h>
import "C"

import "fmt"

// quality is libspeexdsp's scale of 0 to 10. 5 is a Kaiser window of 80 samples
// with its stop band about 100 dB down; its pass band ends near nine tenths of
// half the lower rate.
const quality = 5

// speex is one filter for interleaved samples.
type speex struct {
	st       *C.SpeexResamplerState
	channels int
}

func newSpeex(channels, in, out int) (*speex, error) {
	var code C.int
	st := C.speex_resampler_init(C.spx_uint32_t(channels), C.spx_uint32_t(in), C.spx_uint32_t(out), quality, &code)
	if st == nil {
		return nil, fmt.Errorf("resample %d Hz to %d Hz: %s", in, out, C.GoString(C.speex_resampler_strerror(code)))
	}
	C.speex_resampler_skip_zeros(st) // fails only for a missing state
	return &speex{st: st, channels: channels}, nil
}

// process converts as much of in as fits into out and returns how many samples
// it took and gave. Both slices must not be empty.
func (s *speex) process(in, out []int16) (took, gave int, err error) {
	inFrames, outFrames := C.spx_uint32_t(len(in)/s.channels), C.spx_uint32_t(len(out)/s.channels)
	code := C.speex_resampler_process_interleaved_int(s.st,
		(*C.spx_int16_t)(&in[0]), &inFrames, (*C.spx_int16_t)(&out[0]), &outFrames)
	if code != C.RESAMPLER_ERR_SUCCESS {
		return 0, 0, fmt.Errorf("resample: %s", C.GoString(C.speex_resampler_strerror(code)))
	}
	return int(inFrames) * s.channels, int(outFrames) * s.channels, nil
}

// inputLatency is the filter's lag in frames of the input.
func (s *speex) inputLatency() int { return int(C.speex_resampler_get_input_latency(s.st)) }

// reset forgets the past.
func (s *speex) reset() {
	C.speex_resampler_reset_mem(s.st)
	C.speex_resampler_skip_zeros(s.st)
}

// close frees the filter; it must not be used afterwards.
func (s *speex) close() {
	if s.st != nil {
		C.speex_resampler_destroy(s.st)
		s.st = nil
	}
}
