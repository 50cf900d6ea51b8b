// A function of someone else's making: a static program without any library of ours, or of gRPC's.
//
// Without words it serves the function protocol on port 9443, v1beta1 only, and answers with the desired
// state that it was sent. A request that says so makes it misbehave. With a word it misbehaves once.
package main

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

const method = "/apiextensions.fn.proto.v1beta1.FunctionRunnerService/RunFunction"

func main() {
	if len(os.Args) > 1 && os.Args[1] != "--insecure" {
		misbehave(os.Args[1])
		return
	}
	fmt.Fprintln(os.Stderr, "the function is about to serve")
	if err := serve(len(os.Args) > 1); err != nil {
		fmt.Fprintln(os.Stderr, "cannot serve:", err)
		os.Exit(3)
	}
}

func serve(insecure bool) error {
	address := cmp.Or(os.Getenv("LISTEN"), ":9443")
	server := &http.Server{Addr: address, Handler: http.HandlerFunc(answer), Protocols: new(http.Protocols)}
	server.HTTP2 = &http.HTTP2Config{MaxReadFrameSize: 1 << 20}
	if insecure {
		server.Protocols.SetUnencryptedHTTP2(true)
		return server.ListenAndServe()
	}
	directory := os.Getenv("TLS_SERVER_CERTS_DIR")
	authority, err := os.ReadFile(filepath.Join(directory, "ca.crt"))
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	server.Protocols.SetHTTP2(true)
	server.TLSConfig = &tls.Config{ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert}
	return server.ListenAndServeTLS(filepath.Join(directory, "tls.crt"), filepath.Join(directory, "tls.key"))
}

func answer(reply http.ResponseWriter, request *http.Request) {
	reply.Header().Set("Content-Type", "application/grpc")
	reply.Header().Set("Trailer", "Grpc-Status, Grpc-Message")
	status := "0"
	if request.URL.Path != method {
		status = "12" // it does not know v1
	} else if body, err := io.ReadAll(request.Body); err != nil || len(body) < 5 {
		status = "13"
	} else {
		respond(reply, body[5:])
	}
	reply.Header().Set("Grpc-Status", status)
}

func respond(reply io.Writer, request []byte) {
	for _, word := range []string{"hang", "hog", "crash", "huge"} {
		if bytes.Contains(request, []byte("please-"+word)) {
			misbehave(word)
		}
	}
	message := translate(request)
	if bytes.Contains(request, []byte("please-be-large")) {
		message = append(message, make([]byte, 0)...)
		frame(reply, 1<<30)
		for range 1 << 10 {
			if _, err := reply.Write(make([]byte, 1<<20)); err != nil {
				return
			}
		}
		return
	}
	frame(reply, len(message))
	_, _ = reply.Write(message)
}

func frame(reply io.Writer, size int) {
	header := make([]byte, 5)
	binary.BigEndian.PutUint32(header[1:], uint32(size))
	_, _ = reply.Write(header)
}

// translate makes a response of a request: the desired state is field 3 of one and field 2 of the other.
func translate(request []byte) []byte {
	response := []byte{}
	for len(request) > 0 {
		tag, n := binary.Uvarint(request)
		request = request[n:]
		size, n := binary.Uvarint(request)
		value := request[n : n+int(size)]
		request = request[n+int(size):]
		if tag == 3<<3|2 {
			response = append(response, 2<<3|2)
			response = binary.AppendUvarint(response, size)
			response = append(response, value...)
		}
	}
	return response
}

func sleepForEver() {
	for {
		time.Sleep(time.Hour)
	}
}
