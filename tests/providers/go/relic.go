package main

import (
	"context"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
)

// A Relic is a managed resource of the whole cluster, with a deletion policy, as in Crossplane v1.
type Relic struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   RelicSpec                        `json:"spec"`
	Status ResourceStatus[ThingObservation] `json:"status,omitempty"`
}

// RelicSpec is the desired state.
type RelicSpec struct {
	xpv2.ClusterManagedResourceSpec `json:",inline"`

	ForProvider TicketParameters `json:"forProvider"`
}

// RelicList is a list of them.
type RelicList = objectList[Relic]

func (r *Relic) DeepCopyObject() runtime.Object { return clone(r) }

func (r *Relic) GetCondition(t xpv2.ConditionType) xpv2.Condition { return r.Status.GetCondition(t) }
func (r *Relic) SetConditions(c ...xpv2.Condition)                { r.Status.SetConditions(c...) }
func (r *Relic) GetManagementPolicies() xpv2.ManagementPolicies   { return r.Spec.ManagementPolicies }
func (r *Relic) SetManagementPolicies(p xpv2.ManagementPolicies)  { r.Spec.ManagementPolicies = p }
func (r *Relic) GetDeletionPolicy() xpv2.DeletionPolicy           { return r.Spec.DeletionPolicy }
func (r *Relic) SetDeletionPolicy(p xpv2.DeletionPolicy)          { r.Spec.DeletionPolicy = p }
func (r *Relic) GetProviderConfigReference() *xpv2.Reference      { return r.Spec.ProviderConfigReference }
func (r *Relic) SetProviderConfigReference(p *xpv2.Reference)     { r.Spec.ProviderConfigReference = p }
func (r *Relic) GetWriteConnectionSecretToReference() *xpv2.SecretReference {
	return r.Spec.WriteConnectionSecretToReference
}
func (r *Relic) SetWriteConnectionSecretToReference(s *xpv2.SecretReference) {
	r.Spec.WriteConnectionSecretToReference = s
}
func (r *Relic) GetObservedGeneration() int64           { return r.Status.ObservedGeneration }
func (r *Relic) SetObservedGeneration(g int64)          { r.Status.ObservedGeneration = g }
func (r *Relic) GetLastHandledReconcileAt() string      { return r.Status.LastHandledReconcileAt }
func (r *Relic) SetLastHandledReconcileAt(token string) { r.Status.LastHandledReconcileAt = token }

// connectRelic connects relics to the scripted system. Usages of provider configs are not tracked.
type connectRelic struct{ kube client.Client }

func (c *connectRelic) Connect(ctx context.Context, mg *Relic) (managed.TypedExternalClient[*Relic], error) {
	config := &ClusterProviderConfig{}
	if err := c.kube.Get(ctx, types.NamespacedName{Name: mg.Spec.ProviderConfigReference.Name}, config); err != nil {
		return nil, errors.Wrap(err, "cannot get ProviderConfig")
	}
	system := &relicSystem{scriptedSystem[TicketParameters, *TicketParameters]{login: login{endpoint: config.Spec.Endpoint}, kind: "Relic"}}
	_, err := system.of.ask(ctx, "connect", question{})
	return system, err
}

// A relicSystem asks about a relic as about the namespaced resource with the same metadata and parameters.
type relicSystem struct {
	of scriptedSystem[TicketParameters, *TicketParameters]
}

func asTicket(mg *Relic) *Ticket {
	return &Ticket{ObjectMeta: mg.ObjectMeta, Spec: ResourceSpec[TicketParameters]{ForProvider: mg.Spec.ForProvider}}
}

func (s *relicSystem) Observe(ctx context.Context, mg *Relic) (managed.ExternalObservation, error) {
	ticket := asTicket(mg)
	observation, err := s.of.Observe(ctx, ticket)
	mg.Spec.ForProvider, mg.Status.AtProvider = ticket.Spec.ForProvider, ticket.Status.AtProvider
	mg.SetConditions(ticket.Status.Conditions...)
	return observation, err
}

func (s *relicSystem) Create(ctx context.Context, mg *Relic) (managed.ExternalCreation, error) {
	return s.of.Create(ctx, asTicket(mg))
}

func (s *relicSystem) Update(ctx context.Context, mg *Relic) (managed.ExternalUpdate, error) {
	return s.of.Update(ctx, asTicket(mg))
}

func (s *relicSystem) Delete(ctx context.Context, mg *Relic) (managed.ExternalDelete, error) {
	return s.of.Delete(ctx, asTicket(mg))
}

func (s *relicSystem) Disconnect(context.Context) error { return nil }
