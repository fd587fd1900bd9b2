package harness

// Program runs beside the hooks, for as long as its owner wants.
type Program struct{ process *process }

// Run starts a program in a process group of its own; what it prints is appended to
// the file log. On Linux it does not outlive this process.
func Run(log, path string, args ...string) (*Program, error) {
	p, err := startProcess(log, path, args...)
	if err != nil {
		return nil, err
	}
	return &Program{process: p}, nil
}

// Done is closed when the program has ended.
func (p *Program) Done() <-chan struct{} { return p.process.done }

// Stop asks the program to end, and kills it if it does not.
func (p *Program) Stop() error { return p.process.stop() }
