// Package token cuts text into the terms that memory counts and looks up:
// English words without their endings, and single signs and pairs of signs for
// scripts that write without spaces. It needs no dictionary; pairs of Han signs
// find as well as dictionary words do.
//
// Terms are for comparing, never for showing. The same text gives the same
// terms for ever: graph.db keeps them, so a change here means a new Version and
// a rebuilt index there.
package token
