// Package cluster runs a real Kubernetes control plane for tests and for the demo: etcd, kube-apiserver and kube-controller-manager on free
// ports of 127.0.0.1, with RBAC on, and kubectl beside it. There are no nodes: Pods are stored but never run. Of the controllers only the garbage
// collector and the one that empties deleted namespaces run; whatever else a test wants to see happen, it does itself.
//
// In go the Options, out comes a Cluster that answers /readyz, until Stop. Everything it needs is the four binaries (package assets builds them
// once) and a temporary folder. It runs on Linux and macOS, imports the standard library only, and never k8s.io/kubernetes.
//
// No process is left behind: Stop ends what Start started, so does the end of the context given to Start, and on Linux the kernel does when this
// process dies without either.
package cluster
