// Command wakeeval measures the wake word on recordings of people and prints
// one JSON object a line: {"name","value","unit","n","bound95","machine","commit"}.
//
//	go run ./tools/wakeeval [-models DIR] [-audio DIR] [-takes 3] [-every 1]
//
// Lines, with K takes of the same speaker:
//
//	wake.sameK.miss_clean, .miss_noise10, .miss_running  share of words not heard
//	wake.sameK.trigger_p90_s   from the word's end to its hit
//	wake.sameK.false_per_hour  wakes by other people's speech, a word
//	wake.enrol_cpu_s           processor time of one enrolment
//	wake.cpu_share             listening for one word, share of one core
//	wake.rss_mb                this process after listening, bank dropped
//
// bound95 is the upper end of a one-sided 95 % interval. All speakers take
// about ten minutes of processor time; -every 5 takes each fifth.
//
// Exit codes: 0 measured, 1 something is missing, 2 usage.
package main
