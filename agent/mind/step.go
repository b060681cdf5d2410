package mind

// Step is a boundary within a turn: everything before it has happened.
type Step string

// The steps in the order of a turn. Those of a call come once for each call.
const (
	StepStart        Step = "start"         // taken from the queue
	StepInput        Step = "on_input"      // on_input is over
	StepContext      Step = "context"       // the user's message stands in the context
	StepRecall       Step = "recall"        // memory has answered
	StepPreAction    Step = "pre_action"    // pre_action is over
	StepRequest      Step = "llm"           // the provider is about to be asked
	StepResponse     Step = "llm_answered"  // the provider has answered
	StepPostAction   Step = "post_action"   // post_action is over
	StepRound        Step = "round"         // the calls are written down
	StepBeforeCall   Step = "before_call"   // before_toolcall is over
	StepTracked      Step = "tracked"       // tracker.Pre is over
	StepBegun        Step = "begun"         // the call is durable and about to run
	StepRan          Step = "ran"           // the call has returned
	StepEnded        Step = "ended"         // its result is written down
	StepPosted       Step = "posted"        // tracker.Post is over
	StepAfterCall    Step = "after_call"    // after_toolcall is over
	StepAnswer       Step = "answer"        // the answer stands in the context
	StepBeforeOutput Step = "before_output" // before_output is over
	StepFinal        Step = "final"         // the answer is durable and about to be sent
	StepSent         Step = "sent"          // the channel has it
	StepSentNoted    Step = "sent_noted"    // and that is written down
	StepAfterOutput  Step = "after_output"  // after_output is over
	StepRemembered   Step = "remembered"    // context and journal are durable
	StepDone         Step = "done"          // the input is forgotten
	StepAccepted     Step = "accepted"      // an input is durable, InjectInput about to return
	StepSetAside     Step = "set_aside"     // an input was set aside
	StepPaused       Step = "paused"        // a stop has put the input back
	StepControlled   Step = "controlled"    // a control intent has been answered
)

// Steps is told of each step. Tests end their process in one; nil is nobody.
type Steps interface {
	Step(s Step, input string)
}
