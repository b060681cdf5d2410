// Package setuptest tests the script tools/setup against made-up versions of
// the programs that it calls: apt-get, dpkg-query, sudo, id, npm and go. It has
// no code of its own and changes nothing on the machine.
package setuptest
