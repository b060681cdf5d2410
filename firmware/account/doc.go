// Package account finds a system user and its groups in /etc/passwd and
// /etc/group, as the programs of an appliance are started under users of their
// own. It reads the two files itself, so that a static program finds the same
// users everywhere; users of a directory service are not found.
package account
