// Package search is the inverted index of passages: what was said, what
// documents hold, what knowledge was taught. It finds them by their words in
// any language that package token can cut.
//
// # Passages
//
// A Passage is a short text with an id of its own. Its Clean text, or where
// that is empty its Text, is what is indexed; Text is what is handed out and is
// never altered. Stream and Seq are its place in a conversation or a document:
// what stands beside a passage helps to find it, because an answer seldom
// repeats the words of its question. Doc is the document that holds it now and
// may change without the passage being indexed anew.
//
// # The file
//
// One SQLite file (package sqlfile), a cache: all of it can be made from the
// journal, the documents or the knowledge folder. So a commit does not wait for
// the disk; after a power cut Last tells where a stream goes on. A file that is
// damaged, of another schema or cut by other rules of package token is replaced by
// an empty one, and a Notice tells the caller to index anew.
//
// Postings are blocks of delta-coded passage numbers with term frequency and
// length, so that scoring reads no passage. What a search reads is bounded:
// of a term in very many passages only the newest are looked at.
//
// An Index is safe for concurrent use: one writer at a time, readers beside it.
package search
