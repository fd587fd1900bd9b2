// Package server serves hooks over HTTP. Hooks enter, which are plain functions of
// a body and a time; what leaves are answers, log lines and metrics. It is the only
// package that knows echo. It knows no kind and judges no object.
package server
