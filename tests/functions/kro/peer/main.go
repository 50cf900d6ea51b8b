// Runs resource graphs through the kro library, one JSON document a line in and out.
//
// function-kro embeds this library and gives it what Crossplane sends: the schema of the composite resource, observed
// resources, external resources. Here the library gets the same from a server of its own, which knows the kinds of a case.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/kubernetes-sigs/kro/api/v1alpha1"
	"github.com/kubernetes-sigs/kro/pkg/features"
	"github.com/kubernetes-sigs/kro/pkg/graph"
	"github.com/kubernetes-sigs/kro/pkg/runtime"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Case is one question.
type Case struct {
	Definition *v1alpha1.ResourceGraphDefinition       `json:"definition"`
	Kinds      []Kind                                  `json:"kinds"`
	Composite  map[string]any                          `json:"composite"`
	Observed   map[string]*unstructured.Unstructured   `json:"observed"`
	External   map[string][]*unstructured.Unstructured `json:"external"`
	Omit       bool                                    `json:"omit"`
}

// Resource is a desired composed resource.
type Resource struct {
	Object map[string]any `json:"object"`
	Ready  string         `json:"ready,omitempty"`
}

// Selector says which resources an external reference is about.
type Selector struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Name       string            `json:"name,omitempty"`
	Namespace  string            `json:"namespace,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"`
}

// Answer is what the library makes of a case.
type Answer struct {
	Error     string               `json:"error,omitempty"`
	Order     []string             `json:"order,omitempty"`
	Resources map[string]*Resource `json:"resources,omitempty"`
	Status    any                  `json:"status,omitempty"`
	Selectors map[string]*Selector `json:"selectors,omitempty"`
}

var limits = graph.RGDConfig{MaxCollectionSize: 1000, MaxCollectionDimensionSize: 10}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	out := json.NewEncoder(os.Stdout)
	for in.Scan() {
		answer, err := run(in.Bytes())
		if err != nil {
			answer = &Answer{Error: err.Error()}
		}
		if err := out.Encode(answer); err != nil { // a number that JSON does not have
			_ = out.Encode(&Answer{Error: err.Error()})
		}
	}
}

func run(line []byte) (answer *Answer, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	c := &Case{}
	if err := json.Unmarshal(line, c); err != nil {
		return nil, err
	}
	if err := features.FeatureGate.SetFromMap(map[string]bool{string(features.CELOmitFunction): c.Omit}); err != nil {
		return nil, err
	}
	server := serve(c.Kinds)
	defer server.Close()
	builder, err := graph.NewBuilder(server.config(), server.client())
	if err != nil {
		return nil, err
	}
	g, err := builder.NewResourceGraphDefinition(c.Definition, limits)
	if err != nil {
		return nil, fmt.Errorf("cannot create resource graph: %w", err)
	}
	composite := integers(c.Composite).(map[string]any)
	rt, err := runtime.FromGraph(g, &unstructured.Unstructured{Object: composite}, limits)
	if err != nil {
		return nil, fmt.Errorf("cannot create graph runtime: %w", err)
	}
	return evaluate(c, g, rt)
}

func evaluate(c *Case, g *graph.Graph, rt *runtime.Runtime) (*Answer, error) {
	answer := &Answer{Order: g.TopologicalOrder, Resources: map[string]*Resource{}, Selectors: map[string]*Selector{}}
	nodes := map[string]*runtime.Node{}
	for _, node := range rt.Nodes() {
		nodes[node.Spec.Meta.ID] = node
	}
	for id, items := range c.External {
		observe(nodes[id], items)
	}
	byNode := map[string][]*unstructured.Unstructured{}
	for name, object := range c.Observed {
		if id := owner(name, object, nodes); id != "" {
			byNode[id] = append(byNode[id], object)
		}
	}
	for id, items := range byNode {
		observe(nodes[id], items)
	}
	for _, node := range rt.Nodes() {
		if err := refer(node, answer); err != nil {
			return nil, fmt.Errorf("cannot build external resource selectors: %w", err)
		}
	}
	for _, node := range rt.Nodes() {
		if err := desire(node, answer); err != nil {
			return nil, err
		}
	}
	status, err := rt.Instance().GetDesired()
	if err != nil {
		return nil, fmt.Errorf("cannot get desired instance status: %w", err)
	}
	answer.Status = status[0].Object["status"]
	return answer, nil
}

func observe(node *runtime.Node, items []*unstructured.Unstructured) {
	if node == nil {
		return
	}
	for _, item := range items {
		item.Object = integers(item.Object).(map[string]any)
	}
	node.SetObserved(items)
}

// owner returns the node that an observed resource belongs to: by its name, or for items of collections by a prefix of it.
func owner(name string, object *unstructured.Unstructured, nodes map[string]*runtime.Node) string {
	if _, ok := nodes[name]; ok {
		return name
	}
	if _, ok := object.GetLabels()["kro.run/collection-index"]; !ok {
		return ""
	}
	for at := strings.LastIndex(name, "-"); at > 0; at = strings.LastIndex(name[:at], "-") {
		node, ok := nodes[name[:at]]
		if ok && (node.Spec.Meta.Type == graph.NodeTypeCollection || node.Spec.Meta.Type == graph.NodeTypeExternalCollection) {
			return name[:at]
		}
	}
	return ""
}

func desire(node *runtime.Node, answer *Answer) error {
	id, kind := node.Spec.Meta.ID, node.Spec.Meta.Type
	if kind == graph.NodeTypeExternal || kind == graph.NodeTypeExternalCollection {
		return nil
	}
	if ignored, err := node.IsIgnored(); err != nil || ignored {
		return nil
	}
	desired, err := node.GetDesired()
	if runtime.IsDataPending(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot get desired state for resource %q: %w", id, err)
	}
	for _, object := range desired {
		name := id
		if kind == graph.NodeTypeCollection {
			name = id + "-" + object.GetName()
		}
		answer.Resources[name] = &Resource{Object: object.Object, Ready: readiness(node)}
	}
	return nil
}

func readiness(node *runtime.Node) string {
	if len(node.Spec.ReadyWhen) == 0 {
		return ""
	}
	if node.CheckReadiness() != nil {
		return "False"
	}
	return "True"
}

// refer finds out what an external reference is about, if that is known.
func refer(node *runtime.Node, answer *Answer) error {
	id := node.Spec.Meta.ID
	switch node.Spec.Meta.Type {
	case graph.NodeTypeExternal:
		found, err := node.GetDesiredIdentity()
		if runtime.IsDataPending(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("cannot resolve identity for external ref %q: %w", id, err)
		}
		answer.Selectors[id] = selector(found[0])
		answer.Selectors[id].Name = found[0].GetName()
	case graph.NodeTypeExternalCollection:
		found, err := node.GetDesired()
		if runtime.IsDataPending(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("cannot build selector for external collection %q: %w", id, err)
		}
		answer.Selectors[id] = selector(found[0])
		labels, _, err := unstructured.NestedStringMap(found[0].Object, "metadata", "selector", "matchLabels")
		answer.Selectors[id].Labels = labels
		return err
	}
	return nil
}

func selector(object *unstructured.Unstructured) *Selector {
	return &Selector{APIVersion: object.GetAPIVersion(), Kind: object.GetKind(), Namespace: object.GetNamespace()}
}

// integers returns data as the API server's decoder reads it: whole numbers are integers.
func integers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, member := range v {
			v[key] = integers(member)
		}
	case []any:
		for i, item := range v {
			v[i] = integers(item)
		}
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	}
	return value
}
