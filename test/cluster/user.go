package cluster

import "fmt"

// KubeconfigPath is the kubeconfig of the admin, who may do everything.
func (c *Cluster) KubeconfigPath() string {
	return c.path("kubeconfig")
}

// UserKubeconfig writes a kubeconfig for a user of that name, in groups, and returns its path. Such a user may do what RBAC grants to the name or to
// a group. A component that runs in a Pod later would be user system:serviceaccount:<namespace>:<name> here.
func (c *Cluster) UserKubeconfig(user string, groups ...string) (string, error) {
	id, err := c.ca.client(user, groups)
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	c.users++
	path := c.path("users", fmt.Sprintf("%d.kubeconfig", c.users))
	c.mu.Unlock()
	return path, writeKubeconfig(path, c.URL(), c.ca.pem, id)
}

// ServingCertificate issues a certificate for a webhook server that is reached by hosts, names or addresses. All is PEM; ca is what goes into the
// webhook's caBundle.
func (c *Cluster) ServingCertificate(hosts ...string) (cert, key, ca []byte, err error) {
	id, err := c.ca.server(hosts...)
	return id.cert, id.key, c.ca.pem, err
}
