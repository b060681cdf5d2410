// Package knowledge is what the house was taught, apart from what it remembers:
// manuals, recipes, rules. Each piece is a text in Markdown,
// <dir>/<name>/content.md, that people may add, edit and remove by hand at any
// time, and Create may add.
//
// An index of its own (a search.Index, a cache) finds passages: sections by
// their headings, long ones at paragraphs. A passage is indexed with the name
// and the headings above it, and handed out with them.
//
// Scan compares the folder with what is indexed, by size and time and where
// these differ by content, and indexes what has changed. Open does so; Search
// looks at times and sizes at most once a second, so an edit is found by the
// next question. What was seen is kept beside the index, in <index>.seen; that
// file too is a cache, and reading all content again is all that its loss costs.
//
// What cannot be taken in (binary, not UTF-8, too large, a name with strange
// signs, a link that leads out of the folder) stays where it is, is named in a
// Notice, and the rest works. Files are read through os.Root, which follows no
// link out of the folder.
//
// A Store is safe for concurrent use.
package knowledge
