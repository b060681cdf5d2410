// Package timer is the plugin of one-shot timers and reminders: timer_set,
// timer_list, timer_cancel.
//
// A timer counts on the monotonic clock while the agent runs, so that setting
// the wall clock neither shortens nor lengthens it. It is kept in the plugin's
// Store with the wall-clock time at which it is due. A board without a battery
// starts with a wrong wall clock and is put right later; whenever wall and
// monotonic clock drift apart by more than driftLimit the due times in the Store
// are written anew. A timer that is loaded while the wall clock shows a time
// before it was set counts its whole length again, until the clock has been put
// right and the true due time is known.
//
// A timer that is due rings: it is said on the channel that set it and on
// "voice", through output_send like every output, and said again on "voice"
// every ringEvery until somebody stops it (the control intents ring_off, stop
// and cancel, or timer_cancel) or Config.RingFor is over. It leaves the Store
// once a channel has taken it; one that no channel took, or that fell due while
// the agent was not running, is told after the next start.
//
// event.System announces the begin of ringing with State "ring" and its end
// with "ring_off", both with the timer's words as Text, so that lights and
// ear-cons can follow.
package timer
