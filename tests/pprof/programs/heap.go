// Writes a heap profile of itself in both of Go's formats: heap DIRECTORY.
package main

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
)

var kept [][]byte

//go:noinline
func grow(count int, size int) {
	for i := 0; i < count; i++ {
		kept = append(kept, make([]byte, size+i%100))
	}
}

//go:noinline
func churn(count int) {
	for i := 0; i < count; i++ {
		temporary := make([]byte, 512+i%2048)
		temporary[0] = 1
		runtime.KeepAlive(temporary)
	}
}

func write(path string, debug int) {
	file, err := os.Create(path)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	if err := pprof.Lookup("heap").WriteTo(file, debug); err != nil {
		panic(err)
	}
}

func main() {
	runtime.MemProfileRate = 16 * 1024
	grow(2000, 1000)
	grow(200, 50000)
	churn(20000)
	done := make(chan bool)
	for i := 0; i < 8; i++ {
		go func(size int) {
			grow(100, size)
			done <- true
		}(2000 * (i + 1))
		<-done
	}
	runtime.GC()
	runtime.GC()
	directory := os.Args[1]
	write(filepath.Join(directory, "go.heap"), 1)
	write(filepath.Join(directory, "go.pb.gz"), 0)
	file, err := os.Create(filepath.Join(directory, "go.goroutine"))
	if err != nil {
		panic(err)
	}
	defer file.Close()
	if err := pprof.Lookup("goroutine").WriteTo(file, 1); err != nil {
		panic(err)
	}
}
