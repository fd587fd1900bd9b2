package cluster

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// ports are the numbers that one control plane listens on; etcd takes a port for its peers by itself.
type ports struct {
	etcd, apiServer, controllerManager string
}

// The range that ports are taken from is below the one that systems take the local ports of outgoing connections from. There, a client that keeps
// dialling an API server that is restarting would sooner or later be given that very port, talk to itself, and keep the server from coming back.
const (
	firstPort = 20000
	lastPort  = 29999
)

// freePorts returns ports that nothing listens on at the moment.
func freePorts() (ports, error) {
	var found []string
	for range 1000 {
		port := strconv.Itoa(firstPort + rand.IntN(lastPort-firstPort+1))
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
		if err != nil {
			continue
		}
		defer func() { _ = listener.Close() }() // all at the end, so that no number is found twice
		if found = append(found, port); len(found) == 3 {
			return ports{etcd: found[0], apiServer: found[1], controllerManager: found[2]}, nil
		}
	}
	return ports{}, fmt.Errorf("no three free ports between %d and %d on 127.0.0.1", firstPort, lastPort)
}
