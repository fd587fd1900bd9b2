package cluster

// etcdArgs is the command line of etcd: nothing that it holds has to survive a crash.
func (c *Cluster) etcdArgs() []string {
	return []string{
		"--name=etcd",
		"--data-dir=" + c.path("etcd"),
		"--unsafe-no-fsync",
		"--listen-client-urls=" + c.etcdURL(),
		"--advertise-client-urls=" + c.etcdURL(),
		"--listen-peer-urls=http://127.0.0.1:0",
		"--quota-backend-bytes=4294967296",
		"--log-level=warn",
	}
}

// apiServerArgs is the command line of kube-apiserver. Admission plugins are the default ones.
func (c *Cluster) apiServerArgs() []string {
	args := []string{
		"--etcd-servers=" + c.etcdURL(),
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--secure-port=" + c.ports.apiServer,
		"--endpoint-reconciler-type=none", // it refuses an address of the loopback range
		"--tls-cert-file=" + c.path("pki", "serving.crt"),
		"--tls-private-key-file=" + c.path("pki", "serving.key"),
		"--client-ca-file=" + c.path("pki", "ca.crt"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + c.path("pki", "service-account.key"),
		"--service-account-signing-key-file=" + c.path("pki", "service-account.key"),
		"--authorization-mode=RBAC",
		"--service-cluster-ip-range=" + c.options.ServiceClusterIPRange,
		"--service-node-port-range=" + c.options.NodePortRange,
		"--shutdown-watch-termination-grace-period=1s", // without it a server with watches takes a minute to end
	}
	if c.options.Audit {
		args = append(args,
			"--audit-policy-file="+c.path("audit-policy.yaml"),
			"--audit-log-path="+c.auditLog(),
			"--audit-log-maxsize=2000", // megabytes; past it the file would be rotated away
		)
	}
	return append(args, c.options.APIServerArgs...)
}

// controllerManagerArgs is the command line of kube-controller-manager.
func (c *Cluster) controllerManagerArgs(kubeconfig string) []string {
	return append([]string{
		"--controllers=garbage-collector-controller,namespace-controller",
		"--kubeconfig=" + kubeconfig,
		"--leader-elect=false",
		"--bind-address=127.0.0.1",
		"--secure-port=" + c.ports.controllerManager,
		"--tls-cert-file=" + c.path("pki", "serving.crt"),
		"--tls-private-key-file=" + c.path("pki", "serving.key"),
		"--kube-api-qps=1000",
		"--kube-api-burst=2000",
	}, c.options.ControllerManagerArgs...)
}
