// Command homed is the supervisor of the house and, as `homed door`, its front
// door. It is static: with every shared library gone the page, the logs and the
// way back still work.
//
//	homed [-config FILE] [-data FOLDER] [-listen ADDR]
//	      [-agent-user NAME] [-door-user NAME] [-setup FOLDER] [-notes FILE] [-log FILE]
//
// The flags of the second line are an appliance's: the processes under users of
// their own, a copy of the setup code on the card, what the machine's start has
// to tell people, and a log file that is kept small.
//
// What it prints itself follows the environment: LC_ALL, LC_MESSAGES or LANG
// that begins with zh, or none of them set, is Chinese; else it is English. Log
// lines are English.
//
// Exit status: 0 ended on request, 1 cannot start (the last line says why and
// what to do), 2 wrong arguments.
package main
