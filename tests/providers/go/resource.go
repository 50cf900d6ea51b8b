package main

import (
	"context"
	"encoding/json"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
)

var groupVersion = schema.GroupVersion{Group: "small.example.org", Version: "v1alpha1"}

// A Resource is a namespaced managed resource with parameters P and observed state O.
type Resource[P, O any] struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ResourceSpec[P]   `json:"spec"`
	Status ResourceStatus[O] `json:"status,omitempty"`
}

// ResourceSpec is the desired state.
type ResourceSpec[P any] struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	ForProvider P `json:"forProvider"`
}

// ResourceStatus is the observed state.
type ResourceStatus[O any] struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	AtProvider O `json:"atProvider,omitempty"`
}

// A ResourceList is what the API server lists.
type ResourceList[P, O any] struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Resource[P, O] `json:"items"`
}

// clone copies an API object by its JSON, which is what the API server knows of it.
func clone[T any](in *T) *T {
	out := new(T)
	data, err := json.Marshal(in)
	if err == nil {
		err = json.Unmarshal(data, out)
	}
	if err != nil {
		panic(err)
	}
	return out
}

func (r *Resource[P, O]) DeepCopyObject() runtime.Object     { return clone(r) }
func (l *ResourceList[P, O]) DeepCopyObject() runtime.Object { return clone(l) }

// GetItems makes the list one that references can be selected from.
func (l *ResourceList[P, O]) GetItems() []resource.Managed {
	items := make([]resource.Managed, len(l.Items))
	for i := range l.Items {
		items[i] = &l.Items[i]
	}
	return items
}

func (r *Resource[P, O]) GetCondition(t xpv2.ConditionType) xpv2.Condition {
	return r.Status.GetCondition(t)
}
func (r *Resource[P, O]) SetConditions(c ...xpv2.Condition) { r.Status.SetConditions(c...) }
func (r *Resource[P, O]) GetManagementPolicies() xpv2.ManagementPolicies {
	return r.Spec.ManagementPolicies
}
func (r *Resource[P, O]) SetManagementPolicies(p xpv2.ManagementPolicies) {
	r.Spec.ManagementPolicies = p
}
func (r *Resource[P, O]) GetProviderConfigReference() *xpv2.ProviderConfigReference {
	return r.Spec.ProviderConfigReference
}
func (r *Resource[P, O]) SetProviderConfigReference(p *xpv2.ProviderConfigReference) {
	r.Spec.ProviderConfigReference = p
}
func (r *Resource[P, O]) GetWriteConnectionSecretToReference() *xpv2.LocalSecretReference {
	return r.Spec.WriteConnectionSecretToReference
}
func (r *Resource[P, O]) SetWriteConnectionSecretToReference(s *xpv2.LocalSecretReference) {
	r.Spec.WriteConnectionSecretToReference = s
}
func (r *Resource[P, O]) GetObservedGeneration() int64  { return r.Status.ObservedGeneration }
func (r *Resource[P, O]) SetObservedGeneration(g int64) { r.Status.ObservedGeneration = g }
func (r *Resource[P, O]) GetLastHandledReconcileAt() string {
	return r.Status.LastHandledReconcileAt
}
func (r *Resource[P, O]) SetLastHandledReconcileAt(token string) {
	r.Status.LastHandledReconcileAt = token
}

// A referrer has parameters that refer to other managed resources.
type referrer interface {
	resolve(ctx context.Context, c client.Reader, from resource.Managed) error
}

// ResolveReferences is called by the reconciler before it connects.
func (r *Resource[P, O]) ResolveReferences(ctx context.Context, c client.Reader) error {
	if parameters, ok := any(&r.Spec.ForProvider).(referrer); ok {
		return parameters.resolve(ctx, c, r)
	}
	return nil
}
