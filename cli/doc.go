// Package cli is the command line: arguments, environment and streams enter, an exit
// code leaves. Each command has a file. What a command makes goes to stdout, and
// what it has to say about that to stderr. No object is judged here.
package cli
