// Package problem holds the form in which the page's API tells a person that
// something did not work: an RFC 9457 problem document whose words exist in
// Chinese and English, and the two languages themselves.
//
// The door writes problems, the agent's side of the page writes problems, and
// the client reads them back as an error. What the words are is decided where
// the trouble is found; this package only carries them.
package problem
