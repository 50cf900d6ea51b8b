package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/openapi/openapitest"
	"k8s.io/client-go/rest"
)

// Kind is a kind of a case and its OpenAPI schema.
type Kind struct {
	Group   string         `json:"group"`
	Version string         `json:"version"`
	Kind    string         `json:"kind"`
	Cluster bool           `json:"cluster"`
	Schema  map[string]any `json:"schema"`
}

func (k Kind) path() string {
	if k.Group == "" {
		return "api/" + k.Version
	}
	return "apis/" + k.Group + "/" + k.Version
}

type server struct {
	*httptest.Server
}

func (s server) config() *rest.Config { return &rest.Config{Host: s.URL, QPS: 1000, Burst: 1000} }
func (s server) client() *http.Client { return s.Client() }

var builtin = documents()

// documents returns what a Kubernetes API server publishes about its own kinds.
func documents() map[string][]byte {
	paths, err := openapitest.NewEmbeddedFileClient().Paths()
	if err != nil {
		panic(err)
	}
	read := map[string][]byte{}
	for path, version := range paths {
		if document, err := version.Schema("application/json"); err == nil {
			read[path] = document
		}
	}
	return read
}

// serve starts a server with discovery and OpenAPI documents of the built-in kinds and of those of a case.
func serve(kinds []Kind) server {
	published := map[string][]byte{}
	for path, document := range builtin {
		published[path] = document
	}
	byPath := map[string][]Kind{}
	for _, kind := range kinds {
		byPath[kind.path()] = append(byPath[kind.path()], kind)
	}
	for path, members := range byPath {
		published[path] = document(members)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/openapi/v3", func(w http.ResponseWriter, _ *http.Request) {
		paths := map[string]any{}
		for path := range published {
			paths[path] = map[string]any{"serverRelativeURL": "/openapi/v3/" + path}
		}
		write(w, map[string]any{"paths": paths})
	})
	mux.HandleFunc("/openapi/v3/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(published[strings.TrimPrefix(r.URL.Path, "/openapi/v3/")])
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { discover(w, r, published, byPath) })
	return server{httptest.NewServer(mux)}
}

func document(kinds []Kind) []byte {
	schemas := map[string]any{}
	for _, kind := range kinds {
		kind.Schema["x-kubernetes-group-version-kind"] = []any{
			map[string]any{"group": kind.Group, "version": kind.Version, "kind": kind.Kind},
		}
		schemas[kind.Version+"."+kind.Kind] = kind.Schema
	}
	encoded, err := json.Marshal(map[string]any{
		"openapi": "3.0.0", "info": map[string]any{"title": "kinds", "version": "1"}, "paths": map[string]any{},
		"components": map[string]any{"schemas": schemas},
	})
	if err != nil {
		panic(err)
	}
	return encoded
}

func discover(w http.ResponseWriter, r *http.Request, published map[string][]byte, kinds map[string][]Kind) {
	path := strings.Trim(r.URL.Path, "/")
	switch {
	case path == "api":
		write(w, metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}})
	case path == "apis":
		write(w, groups(published))
	case strings.Count(path, "/") == 1 && strings.HasPrefix(path, "apis/"):
		for _, group := range groups(published).Groups {
			if "apis/"+group.Name == path {
				group.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
				write(w, group)
				return
			}
		}
		http.NotFound(w, r)
	case published[path] != nil:
		write(w, resources(path, published[path], kinds[path]))
	default:
		http.NotFound(w, r)
	}
}

func groups(published map[string][]byte) metav1.APIGroupList {
	list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	at := map[string]int{}
	for path := range published {
		parts := strings.Split(path, "/")
		if parts[0] != "apis" || len(parts) != 3 {
			continue
		}
		version := metav1.GroupVersionForDiscovery{GroupVersion: parts[1] + "/" + parts[2], Version: parts[2]}
		index, ok := at[parts[1]]
		if !ok {
			index = len(list.Groups)
			at[parts[1]] = index
			list.Groups = append(list.Groups, metav1.APIGroup{Name: parts[1], PreferredVersion: version})
		}
		list.Groups[index].Versions = append(list.Groups[index].Versions, version)
	}
	return list
}

// resources lists the kinds of a group's version; those of Kubernetes itself are those that its document describes.
func resources(path string, document []byte, kinds []Kind) metav1.APIResourceList {
	version := strings.TrimPrefix(strings.TrimPrefix(path, "apis/"), "api/")
	list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: version}
	add := func(kind string, namespaced bool) {
		list.APIResources = append(list.APIResources, metav1.APIResource{
			Name: strings.ToLower(kind) + "s", SingularName: strings.ToLower(kind), Kind: kind, Namespaced: namespaced,
			Verbs: metav1.Verbs{"get", "list"},
		})
	}
	for _, kind := range kinds {
		add(kind.Kind, !kind.Cluster)
	}
	if kinds != nil {
		return list
	}
	var described struct {
		Components struct {
			Schemas map[string]struct {
				Kinds []struct{ Kind string } `json:"x-kubernetes-group-version-kind"`
			}
		}
		Paths map[string]any
	}
	if err := json.Unmarshal(document, &described); err != nil {
		panic(err)
	}
	for _, schema := range described.Components.Schemas {
		if len(schema.Kinds) == 1 && !strings.HasSuffix(schema.Kinds[0].Kind, "List") {
			kind := schema.Kinds[0].Kind
			_, namespaced := described.Paths["/"+path+"/namespaces/{namespace}/"+strings.ToLower(kind)+"s"]
			add(kind, namespaced)
		}
	}
	return list
}

func write(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value)
}
