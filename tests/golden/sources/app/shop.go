// Writes profiles of itself in Go's formats: shop DIRECTORY.
package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"sync"
	"time"
)

var (
	kept  [][]byte
	mutex sync.Mutex
	sum   int
)

//go:noinline
func insert(count, size int) {
	for i := 0; i < count; i++ {
		kept = append(kept, make([]byte, size+i%100))
	}
}

//go:noinline
func request(count int) {
	for i := 0; i < count; i++ {
		temporary := make([]byte, 512+i%2048)
		runtime.KeepAlive(temporary)
	}
}

//go:noinline
func compute(until time.Time) {
	for time.Now().Before(until) {
		for i := 0; i < 1000; i++ {
			sum += i * i
		}
	}
}

func hold(wait *sync.WaitGroup) {
	defer wait.Done()
	mutex.Lock()
	time.Sleep(2 * time.Millisecond)
	mutex.Unlock()
}

func write(directory, profile, name string, debug int) {
	file, err := os.Create(filepath.Join(directory, name))
	if err != nil {
		panic(err)
	}
	defer file.Close()
	if err := pprof.Lookup(profile).WriteTo(file, debug); err != nil {
		panic(err)
	}
}

func main() {
	runtime.MemProfileRate = 16 * 1024
	runtime.SetMutexProfileFraction(1)
	runtime.SetBlockProfileRate(1)
	directory := os.Args[1]
	cpu, err := os.Create(filepath.Join(directory, "go.cpu.pb.gz"))
	if err != nil {
		panic(err)
	}
	pprof.StartCPUProfile(cpu)
	pprof.Do(context.Background(), pprof.Labels("tenant", "blue"), func(context.Context) {
		compute(time.Now().Add(300 * time.Millisecond))
	})
	compute(time.Now().Add(100 * time.Millisecond))
	pprof.StopCPUProfile()
	cpu.Close()
	insert(2000, 1000)
	insert(200, 50000)
	request(20000)
	var wait sync.WaitGroup
	for i := 0; i < 5; i++ {
		wait.Add(1)
		go hold(&wait)
	}
	wait.Wait()
	runtime.GC()
	runtime.GC()
	write(directory, "heap", "go.heap.txt", 1)
	write(directory, "heap", "go.heap.pb.gz", 0)
	write(directory, "allocs", "go.allocs.pb.gz", 0)
	insert(300, 20000)
	runtime.GC()
	runtime.GC()
	write(directory, "heap", "go.later.pb.gz", 0)
	write(directory, "goroutine", "go.goroutine.txt", 1)
	write(directory, "mutex", "go.mutex.txt", 1)
	write(directory, "block", "go.block.pb.gz", 0)
}
