// Command homectl speaks to a running house from a shell: it talks to the
// agent, plays recordings to it, shows what happens, and, with the door dead,
// still reaches the supervisor for status and logs.
//
//	homectl [-data FOLDER] say "turn on the living room lamp"
//
// Exit status: 0 done, 1 it did not work (the message says why and what to
// do), 2 wrong arguments.
package main
