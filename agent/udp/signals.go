package udp

import (
	"os"
	"os/signal"
	"syscall"
)

// Signals are those that Run understands. A channel that is full loses some, so that
// those that end have one of their own.
type Signals struct {
	// Ask has SIGHUP, which takes up the generation that is linked, and SIGUSR1, which
	// opens the logs by their names again.
	Ask <-chan os.Signal
	// End has SIGQUIT and SIGTERM. A second one, or SIGINT, ends at once.
	End <-chan os.Signal
}

// Listen makes the signals of this process arrive until it is told to stop.
func Listen() (s Signals, stop func()) {
	const waiting = 16 // that come while an nginx is started
	ask, end := make(chan os.Signal, waiting), make(chan os.Signal, waiting)
	signal.Notify(ask, syscall.SIGHUP, syscall.SIGUSR1)
	signal.Notify(end, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGINT)
	return Signals{Ask: ask, End: end}, func() { signal.Stop(ask); signal.Stop(end) }
}
