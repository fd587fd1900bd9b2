package workload

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

const (
	installContainer = "install"
	nginxContainer   = "nginx"
	udpContainer     = "nginx-udp"
	agentContainer   = "agent"

	// uid is that of nginx in its official image. The agent has it too: a signal from
	// another one is refused.
	uid = 101

	binVolume    = "bin"
	runVolume    = "run"
	configVolume = "config"

	// binDir is where the agent's binary is.
	binDir    = "/opt/tcpingress"
	agentPath = binDir + "/tcpingress"
)

// startNginx starts the nginx for TCP. It removes sockets that a killed nginx left, with which it would not start
// again, lets the master open as many files as the container may, and waits for the
// first configuration of the agent.
const startNginx = `set -eu
cd ` + bundle.SharedDir + `
rm -f ./*.sock
mkdir -p log
ulimit -n "$(ulimit -Hn)" || true
until [ -e ` + bundle.ConfLink + `/` + bundle.MainFile + ` ]; do sleep 1; done
exec nginx -e stderr -c ` + bundle.SharedDir + `/` + bundle.ConfLink + `/` + bundle.MainFile + ` -g 'daemon off;'
`

// stopNginx goes on accepting until load balancers know that the pod goes, then waits
// for the sessions to end.
const stopNginx = `cd ` + bundle.SharedDir + `
sleep 15
pid=$(cat ` + bundle.PIDFile + `) || exit 0
kill -QUIT "$pid" || exit 0
while kill -0 "$pid" 2>/dev/null; do sleep 1; done
`

// stopUDP goes on until load balancers know that the pod goes. The signal that comes then
// lets the command wait for answers, and end.
const stopUDP = `sleep 15`

// stopAgent lets the agent count the sessions that end while nginx goes, which
// removes its file then; a check of a configuration can leave an empty one.
const stopAgent = `cd ` + bundle.SharedDir + `
while [ -s ` + bundle.PIDFile + ` ] || [ -s ` + bundle.UDPDir + `/` + bundle.PIDFile + ` ]; do sleep 1; done
sleep 2
`

// installer copies the agent's binary into a volume: its own image has no shell, and
// the agent shall run in the image of nginx, whose very binary it asks.
func installer(s *Settings) *corev1ac.ContainerApplyConfiguration {
	return container(installContainer, s.AgentImage).
		WithArgs("install", binDir).
		WithResources(requests("10m", "32Mi", "")).
		WithVolumeMounts(mount(binVolume, binDir, false))
}

// nginx is the one for TCP.
func nginx(s *Settings) *corev1ac.ContainerApplyConfiguration {
	return container(nginxContainer, s.Image).
		WithCommand("/bin/sh", "-c", startNginx).
		WithLifecycle(shellBefore(stopNginx)).
		WithResources(resources(s, requests("100m", "64Mi", ""))).
		WithVolumeMounts(mount(runVolume, bundle.SharedDir, false))
}

// nginxUDP is the one for UDP: a supervisor that lets one nginx follow another.
func nginxUDP(s *Settings) *corev1ac.ContainerApplyConfiguration {
	return container(udpContainer, s.Image).
		WithCommand(agentPath, "nginx-udp").
		WithLifecycle(shellBefore(stopUDP)).
		WithResources(resources(s, requests("50m", "64Mi", ""))).
		WithVolumeMounts(
			mount(binVolume, binDir, true),
			mount(runVolume, bundle.SharedDir, false),
		)
}

// resources are what the class says for each nginx.
func resources(s *Settings, otherwise *corev1ac.ResourceRequirementsApplyConfiguration) *corev1ac.ResourceRequirementsApplyConfiguration {
	if s.Resources == nil {
		return otherwise
	}
	r := corev1ac.ResourceRequirements()
	if len(s.Resources.Requests) > 0 {
		r.WithRequests(maps.Clone(s.Resources.Requests))
	}
	if len(s.Resources.Limits) > 0 {
		r.WithLimits(maps.Clone(s.Resources.Limits))
	}
	return r
}

func agent(s *Settings) *corev1ac.ContainerApplyConfiguration {
	return container(agentContainer, s.Image).
		WithCommand(agentPath, "agent").
		WithEnv(corev1ac.EnvVar().WithName("GOMEMLIMIT").WithValueFrom(corev1ac.EnvVarSource().
			WithResourceFieldRef(corev1ac.ResourceFieldSelector().
				WithContainerName(agentContainer).WithResource("limits.memory")))).
		WithLifecycle(shellBefore(stopAgent)).
		// The agent reads its configuration first, and nginx waits for it.
		WithStartupProbe(probe("/livez", 1, 1, 60)).
		WithLivenessProbe(probe("/livez", 10, 5, 6)).
		// Ready means that nginx answers with the configuration that it was given.
		WithReadinessProbe(probe("/readyz", 2, 2, 3)).
		WithResources(requests("20m", "64Mi", "256Mi")).
		WithVolumeMounts(
			mount(binVolume, binDir, true),
			mount(runVolume, bundle.SharedDir, false),
			mount(configVolume, bundle.MountDir, true),
		)
}

func container(name, image string) *corev1ac.ContainerApplyConfiguration {
	return corev1ac.Container().
		WithName(name).
		WithImage(image).
		WithImagePullPolicy(corev1.PullIfNotPresent).
		WithSecurityContext(corev1ac.SecurityContext().
			WithAllowPrivilegeEscalation(false).
			WithReadOnlyRootFilesystem(true).
			WithCapabilities(corev1ac.Capabilities().WithDrop("ALL")))
}

func podSecurity(s *Settings) *corev1ac.PodSecurityContextApplyConfiguration {
	sysctls := []*corev1ac.SysctlApplyConfiguration{
		// A listener on 53 needs no capability then. It is among the safe ones.
		corev1ac.Sysctl().WithName("net.ipv4.ip_unprivileged_port_start").WithValue("0"),
	}
	if s.EphemeralFrom != 0 {
		sysctls = append(sysctls, corev1ac.Sysctl().WithName("net.ipv4.ip_local_port_range").
			WithValue(fmt.Sprintf("%d %d", s.EphemeralFrom, s.EphemeralTo)))
	}
	return corev1ac.PodSecurityContext().
		WithRunAsNonRoot(true).WithRunAsUser(uid).WithRunAsGroup(uid).
		WithSeccompProfile(corev1ac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault)).
		WithSysctls(sysctls...)
}

// requests gives requests, and a limit of memory unless it is "".
func requests(cpu, memory, limit string) *corev1ac.ResourceRequirementsApplyConfiguration {
	r := corev1ac.ResourceRequirements().WithRequests(corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse(cpu),
		corev1.ResourceMemory: resource.MustParse(memory),
	})
	if limit != "" {
		r.WithLimits(corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(limit)})
	}
	return r
}

func mount(volume, path string, readOnly bool) *corev1ac.VolumeMountApplyConfiguration {
	m := corev1ac.VolumeMount().WithName(volume).WithMountPath(path)
	if readOnly {
		m.WithReadOnly(true)
	}
	return m
}

func shellBefore(script string) *corev1ac.LifecycleApplyConfiguration {
	return corev1ac.Lifecycle().WithPreStop(corev1ac.LifecycleHandler().
		WithExec(corev1ac.ExecAction().WithCommand("/bin/sh", "-c", script)))
}

func probe(path string, period, timeout, failures int32) *corev1ac.ProbeApplyConfiguration {
	return corev1ac.Probe().
		WithHTTPGet(corev1ac.HTTPGetAction().WithPath(path).WithPort(intstr.FromInt32(bundle.AgentPort))).
		WithPeriodSeconds(period).WithTimeoutSeconds(timeout).WithFailureThreshold(failures)
}

// volumes: what is optional need not exist, so that shards may come and go without a
// new pod. A pod without the first ConfigMap waits for it.
func volumes(s *Settings) []*corev1ac.VolumeApplyConfiguration {
	projected := corev1ac.ProjectedVolumeSource()
	for _, name := range ConfigMaps(s.Name) {
		projected.WithSources(corev1ac.VolumeProjection().
			WithConfigMap(corev1ac.ConfigMapProjection().WithName(name).WithOptional(true)))
	}
	return []*corev1ac.VolumeApplyConfiguration{
		corev1ac.Volume().WithName(binVolume).
			WithEmptyDir(corev1ac.EmptyDirVolumeSource().WithSizeLimit(resource.MustParse("256Mi"))),
		// The access log is in it, which the agent reads and rotates.
		corev1ac.Volume().WithName(runVolume).
			WithEmptyDir(corev1ac.EmptyDirVolumeSource().WithSizeLimit(resource.MustParse("1Gi"))),
		corev1ac.Volume().WithName(configVolume).WithProjected(projected),
	}
}
