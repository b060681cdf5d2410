package main

import (
	"context"

	"homeagent/agent/provider"
	"homeagent/agent/provider/offline"
	"homeagent/memory/distill"
)

// factsOf takes a message apart for the offline provider by the same rules as
// the distiller has offline, so that what is committed at once and what is
// distilled from the journal later are the same facts.
func factsOf(msg provider.Message, lang string) []offline.Fact {
	if msg.NoMemory {
		return nil
	}
	id := msg.ID
	if id == "" {
		id = "message"
	}
	found, err := distill.NewHeuristic().Extract(context.Background(), []distill.Event{{
		Turn: id, ID: id, Lang: lang, Text: msg.Content, Role: distill.User, Time: msg.Time}})
	if err != nil {
		return nil
	}
	var facts []offline.Fact
	for _, f := range found {
		t := f.Dated()
		facts = append(facts, offline.Fact{Subject: t.Subject, Relation: t.Relation, Object: t.Object})
	}
	return facts
}
