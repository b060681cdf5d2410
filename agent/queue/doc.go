// Package queue keeps every input from the moment it is acknowledged until its
// turn is over, in queue.log, so that a power cut loses none of them.
//
// The log holds one JSON record a step: input, start, round (what the provider
// asked for), begin and end of a call, final (the answer, before it is sent),
// sent, pause, done, aside. Only three are synced when written, because only
// they must be durable before something can be acknowledged or happen: input,
// begin of a call that changes something, final. The others ride along with the
// next sync; a killed process does not lose them, since the kernel holds them.
//
// Open replays the log and so knows which inputs wait and how far the
// interrupted one had come. Each start of an input that its process did not
// survive is counted; the mind sets an input aside that has ended two. An
// orderly stop writes pause, which takes its start back.
//
// Inputs come out in the order they came in, those of users before internal
// ones (sources in underscores, and "schedule"). Bounds: 1000 inputs and 64 MiB
// waiting, 256 KiB of text and 8 MiB of media an input. Finished records are
// dropped by rewriting the log once it is larger than 4 MiB and mostly dead.
//
// One process owns a queue; its methods are safe for concurrent use.
package queue
