// Package resample converts streams of samples to another rate and channel
// count. The filter is libspeexdsp's (BSD licence), which Debian and Buildroot
// both ship; this package is a thin binding to it, so it needs cgo.
//
// Converter is the streaming core: its state carries over from block to block,
// so that the result does not depend on how a stream was cut up. Source and
// Sink put it around a pcm.Source or pcm.Sink. Channels are mixed before the
// rate is changed when they become fewer, and copied afterwards when they
// become more: to mono by the mean, from mono by copying, and any other pair by
// way of mono.
//
// Latency: the filter spans 80 samples of the lower of both rates and the result
// lags by half of that: 2.5 ms to or from 16 kHz, 5 ms to or from 8 kHz. The lag
// is cut off at the beginning and made up for by Flush at the end, so that a
// recording keeps its length and its alignment.
package resample
