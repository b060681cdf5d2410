// Command memorybench measures what memory finds again, and how quickly when it
// has grown large. It prints one JSON object a line (package figure).
//
//	memorybench [-data folder] [-without parts]      recall of what was said
//	memorybench -scale 10k,100k,1m [-documents n]     time, memory and disk
//
// A data folder, or each of its sub-folders, has
//
//	docs.jsonl     {"id", "conv", "text", "date"}  one message a line, in order
//	queries.jsonl  {"id", "conv", "text", "cat"}   what is asked of a conversation
//	qrels.tsv      query <tab> facet <tab> document
//
// Every conversation is a house of its own: each message enters as a turn, by the
// call that ends a turn, is indexed, pruned and distilled by the heuristic as
// always, and each query is asked of the one recall. An item counts by the ids it
// comes from. A facet is found when one of its documents is among the first k
// items; r1, r5 and r10 are the mean shares of facets found, mrr is the mean
// reciprocal rank of the first document that counts, multihop_r5 is r5 of the
// queries with the category "multi-hop". Queries of the category "adversarial",
// and those without a judgement, are not asked.
//
// Nothing of a data folder is part of the project.
package main
