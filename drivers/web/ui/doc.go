// Package ui holds the page as plain files: HTML, one style sheet and a few
// JavaScript modules, written by hand and built by nothing. They are embedded
// by name and ask no other machine for anything. The page speaks only to
// /api/v1 of the door that served it, in Chinese and English.
package ui
