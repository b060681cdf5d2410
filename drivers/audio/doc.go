// Package audio is the plugin of microphones and speakers. It offers two kinds
// of devices to the plugin API's Audio service and the volume tools.
//
// "portaudio" is real devices, by PortAudio on ALSA. Their names are built from
// ALSA's card ids, "portaudio:Device,0", because card numbers change between
// boots; "portaudio:default" is what ALSA calls default. PortAudio is started
// with the first question about a device, so that a machine without sound
// starts like any other: an absent microphone is a state, not a failure.
//
// "wav" is files: "wav:/path/in.wav" as a microphone plays the file in real time,
// then five seconds of silence, then io.EOF; as a speaker it writes what is
// played, in real time like a device, to a file that appears when the sink is
// closed. Pauses in which nothing is queued are not written.
//
// Sound passes between PortAudio's thread and the reader or writer through a
// lock-free ring of fixed size; the callback takes no lock and never waits. A
// capture ring that is full drops the newest samples and counts them. Streams
// have the wanted format, converted by agent/pcm/resample where the device has
// another.
//
// A device that was pulled out gives *pcm.DeviceError to the waiting Read or
// Write: its callback has been silent for stallLimit. PortAudio learns about new
// devices only by being started anew, for which no stream may be open. Opening a
// device that is not in its list, after /proc/asound/cards has changed, therefore
// ends the streams that are still open with a *pcm.DeviceError; their owners open
// them again, as after any loss.
//
// Caveat: PortAudio 19.6 as Debian builds it ends the program by an assertion if
// ALSA's configuration knows no pcm named "default" or "dmix". ALSA's own files
// always define both; a configuration that replaces them must do so too.
//
// Volume is a software gain that all sinks of both kinds share: percent p has
// the amplitude (p/100)^3, which sounds even. It is kept in the plugin's Store.
// Nothing here touches the mixer of the card.
package audio
