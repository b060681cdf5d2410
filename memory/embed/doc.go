// Package embed finds by meaning: what turns text into vectors, the index of
// vectors, and the keeper that fills it behind the house.
//
// # Embedders
//
// An Embedder comes from a driver (drivers/embed) and asks a server, or is Hash,
// which needs nothing and knows no meaning: it finds what is spelt alike. Nothing
// is embedded unless one is configured. embedtest is the suite they all pass.
//
// # Index
//
// Index is a cache of vectors by id in one file; it belongs to one embedder and
// begins anew for another. A search has two steps. A sketch of each vector, one
// bit a dimension, is kept in memory; the sketches nearest in Hamming distance to
// the query's are candidates. Their vectors, eight bits a dimension, are read from
// the file and ranked by cosine. Both are scans: nothing is trained, an added
// vector is found at once, and a removed one leaves no hole in the rest.
//
// Memory is one bit a dimension and about 40 bytes for each vector: 14 MB for
// 100,000 of 768 dimensions, whose file has 102 MB.
//
// # The file
//
// Three pages of 4 KiB: what the file is (written once), and the mark twice in
// turns. Then groups of 256 entries: their heads (id, sketch, check sums), then
// their vectors. An entry's vector is written before its head, which has check
// sums of both; an entry that was cut is none. Sync makes vectors and mark
// durable, in this order, so that the mark never tells of vectors that are not
// there. A file that is damaged as a whole is replaced by an empty one, damaged
// entries of it are left out, and the mark begins anew: texts whose check sum is
// in the index are passed by, the others embedded again.
//
// # Keeper
//
// Keeper follows two stores, entities and passages, by marks, embeds what has
// changed in batches, and answers recall's question what is near a text. It waits
// for nobody: without its server it tries again later, and recall goes without.
package embed
