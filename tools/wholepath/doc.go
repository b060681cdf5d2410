// Package wholepath tests the programs as people run them: homed, homed-agent
// and homectl are built once, homed is started on data folders of their own,
// and what goes in and comes out by homectl, by the API, by sound and by
// signals is looked at. Nothing of the programs is replaced, except in one test
// of "stop" that needs a tool slower than any real one. It has no code of its own.
//
//	spoken_test.go     wake word, command, tool call, answer in sound
//	chinese_test.go    the same through a transcription service
//	stop_test.go       "stop" ends a model that never answers, and a slow tool
//	processes_test.go  SIGTERM and SIGKILL of each process, and what outlives them
//	badsound_test.go   recordings of every kind, broken ones too
//	badinput_test.go   texts, configurations, ports and folders that are wrong
//	baddisk_test.go    a full disk
//	offline_test.go    a new user, both languages
//	memory_test.go     memory: told, killed, forgotten, exported, imported; who may ask
//
// Recordings of people come from ../shared/audio beside the repository and from
// Debian's pocketsphinx-testdata; where one of them is absent its rows skip and
// say so. flite speaks what must be understood without them, and serves as the
// second voice for answers; the sounds and the measure of an answer are those of
// tools/spoken. Sound is heard in real time, so the tests run beside
// each other, more of them than there are processors; the recordings heard at
// one time are bounded, because the engines share the machine's cores.
//
// WHOLEPATH_LONG=1 also hears ten minutes in real time.
package wholepath
