// A provider for tests, of the standard library alone. It says in the status of every Thing who looked after it,
// converts Things between v1 and v2, refuses Things of size 13, and ends when it sees one that is called "crash".
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

const account = "/var/run/secrets/kubernetes.io/serviceaccount/"

type object = map[string]any

func read(path string) []byte {
	data, err := os.ReadFile(path)
	if err != nil {
		fail(err)
	}
	return data
}

func fail(err error) {
	fmt.Println("fatal:", err)
	os.Exit(3)
}

func call(client *http.Client, method, path string, body any) (object, error) {
	data, _ := json.Marshal(body)
	server := net.JoinHostPort(os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT"))
	request, _ := http.NewRequest(method, "https://"+server+path, bytes.NewReader(data))
	request.Header.Set("Authorization", "Bearer "+string(read(account+"token")))
	request.Header.Set("Content-Type", "application/json")
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	result := object{}
	_ = json.Unmarshal(text, &result)
	if answer.StatusCode >= 400 {
		return nil, fmt.Errorf("%d %v", answer.StatusCode, result["message"])
	}
	return result, nil
}

func reconcile(client *http.Client) {
	things, err := call(client, "GET", "/apis/try.example.org/v1/things", nil)
	if err != nil {
		fmt.Println("cannot list things:", err)
		return
	}
	for _, item := range things["items"].([]any) {
		thing := item.(object)
		metadata := thing["metadata"].(object)
		if metadata["name"] == "crash" {
			fail(fmt.Errorf("there is a thing that is called crash"))
		}
		if thing["status"] != nil {
			continue
		}
		thing["status"] = object{"by": os.Getenv("REVISION_NAME"), "host": hostname()}
		path := fmt.Sprintf("/apis/try.example.org/v1/namespaces/%s/things/%s/status", metadata["namespace"], metadata["name"])
		if _, err := call(client, "PUT", path, thing); err != nil {
			fmt.Println("cannot write the status:", err)
		}
	}
}

func hostname() string {
	name, _ := os.Hostname()
	return name
}

func review(answer func(request object) object) http.HandlerFunc {
	return func(writer http.ResponseWriter, got *http.Request) {
		body := object{}
		_ = json.NewDecoder(got.Body).Decode(&body)
		request := body["request"].(object)
		response := answer(request)
		response["uid"] = request["uid"]
		_ = json.NewEncoder(writer).Encode(object{"apiVersion": body["apiVersion"], "kind": body["kind"], "response": response})
	}
}

func convert(request object) object {
	objects := []any{}
	for _, item := range request["objects"].([]any) {
		thing := item.(object)
		thing["apiVersion"] = request["desiredAPIVersion"]
		spec, _ := thing["spec"].(object)
		if size, ok := spec["size"]; ok && strings.HasSuffix(request["desiredAPIVersion"].(string), "v2") {
			delete(spec, "size")
			spec["width"] = size
		} else if width, ok := spec["width"]; ok && strings.HasSuffix(request["desiredAPIVersion"].(string), "v1") {
			delete(spec, "width")
			spec["size"] = width
		}
		objects = append(objects, thing)
	}
	return object{"convertedObjects": objects, "result": object{"status": "Success"}}
}

func validate(request object) object {
	thing, _ := request["object"].(object)
	spec, _ := thing["spec"].(object)
	if spec["size"] == 13.0 {
		return object{"allowed": false, "status": object{"message": "thirteen is no size"}}
	}
	return object{"allowed": true}
}

func serve() {
	webhooks := http.NewServeMux()
	webhooks.HandleFunc("/convert", review(convert))
	webhooks.HandleFunc("/validate", review(validate))
	certificates := os.Getenv("WEBHOOK_TLS_CERT_DIR")
	fail(http.ListenAndServeTLS(":9443", certificates+"/tls.crt", certificates+"/tls.key", webhooks))
}

func main() {
	fmt.Println("starting", os.Getenv("PROVIDER_NAME"), "as", os.Getuid(), "on", hostname(), os.Args[1:])
	metrics, err := net.Listen("tcp", ":8080")
	if err != nil {
		fail(err)
	}
	defer metrics.Close()
	if target := os.Getenv("DIAL"); target != "" {
		connection, err := net.DialTimeout("tcp", target, 3*time.Second)
		fmt.Println("dialled", target, connection != nil, err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(read(account + "ca.crt"))
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	go serve()
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	for {
		reconcile(client)
		select {
		case <-ended:
			fmt.Println("asked to end")
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}
