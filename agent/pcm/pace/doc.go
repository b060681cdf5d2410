// Package pace makes a Source that could be read at once, a file above all,
// last as long as it sounds, as a microphone does. Everything behind it then
// runs with the timing of a real device. Silence may follow the sound, so that
// whoever waits for the end of speech finds it.
package pace
