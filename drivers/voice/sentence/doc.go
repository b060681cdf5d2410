// Package sentence prepares text for being spoken: Plain takes out what is
// meant for the eye (Markdown, addresses, emoji, control characters), Split
// cuts a text into pieces that a synthesizer can start on at once, and Parts
// tells Chinese from other script so that each part gets a voice that can read
// it. It makes no sound and knows no engine.
//
// All functions take any bytes; invalid UTF-8 is dropped. Lengths are counted
// in characters (code points), as speech services count them.
package sentence
