// A service with Go's own profiling pages, on loopback. It serves requests that it sends itself and keeps
// some of what they need, then records its heap once: every later request for the same page gets the same
// bytes, so that what two tools make of it can be compared. Prints its address; ends with its standard
// input.
package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"runtime"
	"sync"
)

func init() { runtime.MemProfileRate = 4096 }

var (
	mutex sync.Mutex
	kept  []*http.Request
	blobs [][]byte
)

//go:noinline
func remember(r *http.Request) {
	mutex.Lock()
	defer mutex.Unlock()
	kept = append(kept, r)
	blobs = append(blobs, make([]byte, 1000+len(kept)*8))
}

func keep(w http.ResponseWriter, r *http.Request) {
	remember(r)
	fmt.Fprintln(w, "kept")
}

type page struct {
	header http.Header
	body   bytes.Buffer
}

func (p *page) Header() http.Header            { return p.header }
func (p *page) Write(data []byte) (int, error) { return p.body.Write(data) }
func (p *page) WriteHeader(int)                {}

func record(path string) *page {
	p := &page{header: http.Header{}}
	request, err := http.NewRequest("GET", path, nil)
	if err != nil {
		panic(err)
	}
	pprof.Handler("heap").ServeHTTP(p, request)
	return p
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	var heap, text *page
	mux := http.NewServeMux()
	mux.HandleFunc("/keep", keep)
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/heap", func(w http.ResponseWriter, r *http.Request) {
		p := heap
		if r.FormValue("debug") == "1" {
			p = text
		}
		for key, values := range p.header {
			w.Header()[key] = values
		}
		w.Write(p.body.Bytes())
	})
	go http.Serve(listener, mux)

	address := listener.Addr().String()
	for i := 0; i < 400; i++ {
		request, _ := http.NewRequest("GET", "http://"+address+"/keep", nil)
		request.Header.Set("X-Number", fmt.Sprint(i))
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			panic(err)
		}
		io.Copy(io.Discard, response.Body)
		response.Body.Close()
	}
	runtime.GC()
	runtime.GC()
	heap, text = record("/debug/pprof/heap"), record("/debug/pprof/heap?debug=1")
	fmt.Println(address)
	io.Copy(io.Discard, os.Stdin)
}
