package udp

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func freeAddress(t *testing.T, v6 bool) address {
	t.Helper()
	conn, err := net.ListenPacket("udp", "")
	require.NoError(t, err)
	port := conn.LocalAddr().(*net.UDPAddr).Port
	require.NoError(t, conn.Close())
	return address{v6: v6, port: uint16(port)}
}

// send sends a packet from a port of its own.
func send(t *testing.T, to address, text string) net.Conn {
	t.Helper()
	host := "127.0.0.1"
	if to.v6 {
		host = "::1"
	}
	conn, err := net.Dial("udp", net.JoinHostPort(host, strconv.Itoa(int(to.port))))
	require.NoError(t, err)
	_, err = conn.Write([]byte(text))
	require.NoError(t, err)
	return conn
}

// heard reads all that the sockets of the seat got, each on its own.
func heard(t *testing.T, s *seat) []map[string]bool {
	t.Helper()
	all := make([]map[string]bool, len(s.files))
	buffer := make([]byte, 64)
	for i, file := range s.files {
		all[i] = map[string]bool{}
		for {
			n, _, err := unix.Recvfrom(descriptor(file), buffer, unix.MSG_DONTWAIT)
			if errors.Is(err, unix.EAGAIN) {
				break
			}
			require.NoError(t, err)
			all[i][string(buffer[:n])] = true
		}
	}
	return all
}

// end closes all sockets.
func end(t *testing.T, g *group) {
	t.Helper()
	g.chosen = nil
	for _, s := range g.seats {
		s.taken = false
	}
	require.NoError(t, g.trim())
	assert.Empty(t, g.seats)
}

func count(sockets []map[string]bool) int {
	n := 0
	for _, texts := range sockets {
		n += len(texts)
	}
	return n
}

// Whatever nginx come and go, all packets reach the seat that was chosen last.
func TestPacketsReachWhoIsChosen(t *testing.T) {
	for _, v6 := range []bool{false, true} {
		for _, workers := range []int{1, 3} {
			t.Run(fmt.Sprintf("v6 %v, workers %d", v6, workers), func(t *testing.T) {
				g := &group{address: freeAddress(t, v6)}
				defer end(t, g)
				random := rand.New(rand.NewPCG(1, uint64(workers)))
				var taken []*seat
				for round := range 60 {
					s, err := g.take(workers)
					require.NoError(t, err)
					for i := range 4 { // it is no nginx yet
						if g.chosen != nil {
							_ = send(t, g.address, fmt.Sprintf("before %d %d", round, i)).Close()
						}
					}
					if g.chosen != nil {
						assert.Equal(t, 4, count(heard(t, g.chosen)), "round %d", round)
						assert.Zero(t, count(heard(t, s)))
					}
					require.NoError(t, g.choose(s))
					for i := range 30 {
						_ = send(t, g.address, fmt.Sprintf("%d %d", round, i)).Close()
					}
					got := heard(t, s)
					assert.Equal(t, 30, count(got), "round %d", round)
					for i, texts := range got {
						assert.NotEmpty(t, texts, "round %d, worker %d", round, i)
					}
					taken = append(taken, s)
					// Some of those before end, in any order.
					for len(taken) > 1 && random.IntN(3) > 0 {
						i := random.IntN(len(taken) - 1)
						taken[i].taken = false
						taken = append(taken[:i], taken[i+1:]...)
						require.NoError(t, g.trim())
					}
				}
				assert.LessOrEqual(t, len(g.seats), 12, "seats are used again")
				for _, s := range taken[:len(taken)-1] {
					s.taken = false
				}
				require.NoError(t, g.trim())
				assert.Same(t, g.chosen, g.seats[len(g.seats)-1])
			})
		}
	}
}

func TestPacketsOfAClientHaveOneWorker(t *testing.T) {
	for _, v6 := range []bool{false, true} {
		g := &group{address: freeAddress(t, v6)}
		s, err := g.take(4)
		require.NoError(t, err)
		require.NoError(t, g.choose(s))
		for range 40 {
			conn := send(t, g.address, "0")
			for i := 1; i < 10; i++ {
				_, err := conn.Write([]byte(strconv.Itoa(i)))
				require.NoError(t, err)
			}
			require.NoError(t, conn.Close())
			with := 0
			for _, texts := range heard(t, s) {
				if len(texts) > 0 {
					with++
					assert.Len(t, texts, 10)
				}
			}
			assert.Equal(t, 1, with)
		}
		end(t, g)
	}
}

// A port that is served no more gets nothing, though who had it can still answer.
func TestMutedIsSilent(t *testing.T) {
	g := &group{address: freeAddress(t, false)}
	defer end(t, g)
	s, err := g.take(2)
	require.NoError(t, err)
	require.NoError(t, g.choose(s))
	client := send(t, g.address, "question")
	defer func() { _ = client.Close() }()
	require.NoError(t, g.mute())
	require.NoError(t, g.mute(), "again")
	_ = send(t, g.address, "late").Close()
	assert.Equal(t, 1, count(heard(t, s)))
	from := client.LocalAddr().(*net.UDPAddr)
	to := &unix.SockaddrInet4{Port: from.Port, Addr: [4]byte(from.IP.To4())}
	require.NoError(t, unix.Sendto(descriptor(s.files[0]), []byte("answer"), 0, to))
	answer := make([]byte, 64)
	n, err := client.Read(answer)
	require.NoError(t, err)
	assert.Equal(t, "answer", string(answer[:n]))

	// It is served again, while who had it still ends, and once more in its place.
	for range 3 {
		next, err := g.take(2)
		require.NoError(t, err)
		_ = send(t, g.address, "nobody").Close()
		require.NoError(t, g.choose(next))
		_ = send(t, g.address, "question").Close()
		assert.Equal(t, 1, count(heard(t, next)))
		require.NoError(t, g.mute())
		s.taken = false
		s = next
	}
	assert.LessOrEqual(t, len(g.seats), 2)
}

// What came while nobody read it goes to the nginx that takes the place of one that died.
func TestPacketsWaitForTheNext(t *testing.T) {
	g := &group{address: freeAddress(t, false)}
	defer end(t, g)
	s, err := g.take(1)
	require.NoError(t, err)
	require.NoError(t, g.choose(s))
	s.taken = false
	require.NoError(t, g.trim())
	assert.Len(t, g.seats, 1)
	_ = send(t, g.address, "question").Close()
	next, err := g.take(1)
	require.NoError(t, err)
	assert.Same(t, s, next)
	assert.Equal(t, 1, count(heard(t, next)))
}

func TestTakenAddress(t *testing.T) {
	taken, err := net.ListenPacket("udp4", "")
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	g := &group{address: address{port: uint16(taken.LocalAddr().(*net.UDPAddr).Port)}}
	_, err = g.take(2)
	require.EqualError(t, err, fmt.Sprintf("bind() to 0.0.0.0:%d failed (98: Address already in use)", g.port))
	assert.Empty(t, g.seats)
	require.ErrorIs(t, err, unix.EADDRINUSE)
}
