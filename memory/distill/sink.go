package distill

import (
	"context"

	"homeagent/agent/plugin"
	"homeagent/memory/graph"
)

// Source is what facts that were distilled name as their source.
const Source = "distiller"

// GraphSink commits facts to the graph.
type GraphSink struct{ Graph *graph.Graph }

var _ Sink = GraphSink{}

// Commit takes facts in, all or none. The graph knows the turns that it heard a
// fact in, so that one and the same call made twice changes nothing.
func (s GraphSink) Commit(ctx context.Context, facts []Fact) error {
	_, err := s.Graph.Learn(ctx, Statements(facts))
	return err
}

// Statements are facts as the graph takes them.
func Statements(facts []Fact) []graph.Statement {
	out := make([]graph.Statement, len(facts))
	for i, f := range facts {
		out[i] = graph.Statement{
			Triple:      f.Dated(),
			Origin:      graph.Origin{Source: Source, Turn: f.Turn, Speaker: f.SpeakerID},
			SubjectType: f.SubjectType, ObjectType: f.ObjectType,
			Confidence: f.Confidence,
			Heard:      f.Time,
		}
	}
	return out
}

// Dated is the fact with its date behind the relation, "went to (2023-05-07)":
// two visits are two facts, and the ends stay names. Where a person lives is
// one answer at a time and carries none; the graph knows when it was heard.
func (f Fact) Dated() plugin.Triple {
	t := f.Triple
	if f.When != "" && f.Ends == "" && t.Relation != "moved to" && t.Relation != "搬到" {
		t.Relation += " (" + f.When + ")"
	}
	return t
}
