package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reference"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
)

// ThingParameters are those of a thing in an external system that tests script.
type ThingParameters struct {
	Size  *int64  `json:"size,omitempty"`
	Color *string `json:"color,omitempty"`

	Peer         *string                   `json:"peer,omitempty"`
	PeerRef      *xpv2.NamespacedReference `json:"peerRef,omitempty"`
	PeerSelector *xpv2.NamespacedSelector  `json:"peerSelector,omitempty"`

	Friends        []string                   `json:"friends,omitempty"`
	FriendRefs     []xpv2.NamespacedReference `json:"friendRefs,omitempty"`
	FriendSelector *xpv2.NamespacedSelector   `json:"friendSelector,omitempty"`
}

// TicketParameters are those of a thing that the external system names.
type TicketParameters struct {
	Size  *int64  `json:"size,omitempty"`
	Color *string `json:"color,omitempty"`
}

// ThingObservation is what the external system says.
type ThingObservation struct {
	ID string `json:"id,omitempty"`
}

type (
	// Thing is named by us.
	Thing = Resource[ThingParameters, ThingObservation]
	// ThingList is a list of them.
	ThingList = ResourceList[ThingParameters, ThingObservation]
	// Ticket is named by the external system when it is created.
	Ticket = Resource[TicketParameters, ThingObservation]
	// TicketList is a list of them.
	TicketList = ResourceList[TicketParameters, ThingObservation]
)

func (p *ThingParameters) resolve(ctx context.Context, c client.Reader, from resource.Managed) error {
	resolver := reference.NewAPINamespacedResolver(c, from)
	to := reference.To{Managed: &Thing{}, List: &ThingList{}}
	peer, err := resolver.Resolve(ctx, reference.NamespacedResolutionRequest{
		CurrentValue: reference.FromPtrValue(p.Peer), Reference: p.PeerRef, Selector: p.PeerSelector,
		To: to, Extract: reference.ExternalName(), Namespace: from.GetNamespace(),
	})
	if err != nil {
		return errors.Wrap(err, "spec.forProvider.peer")
	}
	p.Peer, p.PeerRef = reference.ToPtrValue(peer.ResolvedValue), peer.ResolvedReference
	friends, err := resolver.ResolveMultiple(ctx, reference.MultiNamespacedResolutionRequest{
		CurrentValues: p.Friends, References: p.FriendRefs, Selector: p.FriendSelector,
		To: to, Extract: reference.ExternalName(), Namespace: from.GetNamespace(),
	})
	if err != nil {
		return errors.Wrap(err, "spec.forProvider.friends")
	}
	p.Friends, p.FriendRefs = friends.ResolvedValues, friends.ResolvedReferences
	return nil
}

// properties are what the external system stores of a thing.
type properties struct {
	Size    *int64   `json:"size,omitempty"`
	Color   *string  `json:"color,omitempty"`
	Peer    *string  `json:"peer,omitempty"`
	Friends []string `json:"friends,omitempty"`
}

type parametersOfThing interface {
	properties() properties
	setColor(color *string)
}

func (p *ThingParameters) properties() properties {
	return properties{Size: p.Size, Color: p.Color, Peer: p.Peer, Friends: p.Friends}
}
func (p *ThingParameters) setColor(color *string) { p.Color = color }
func (p *TicketParameters) properties() properties {
	return properties{Size: p.Size, Color: p.Color}
}
func (p *TicketParameters) setColor(color *string) { p.Color = color }

// isUpToDate compares what is wanted: what is not set is not compared.
func (p properties) isUpToDate(actual properties) bool {
	return equal(p.Size, actual.Size) && equal(p.Color, actual.Color) && equal(p.Peer, actual.Peer) &&
		(len(p.Friends) == 0 || slices.Equal(p.Friends, actual.Friends))
}

func equal[T comparable](desired, actual *T) bool {
	return desired == nil || (actual != nil && *desired == *actual)
}

type (
	question struct {
		Kind         string     `json:"kind,omitempty"`
		Name         string     `json:"name,omitempty"`
		ExternalName string     `json:"externalName,omitempty"`
		Properties   properties `json:"properties"`
		Secret       string     `json:"secret,omitempty"`
	}
	answer struct {
		Error      string            `json:"error"`
		Exists     bool              `json:"exists"`
		ID         string            `json:"id"`
		Properties properties        `json:"properties"`
		NotReady   string            `json:"notReady"`
		Connection map[string]string `json:"connection"`
	}
)

// connectThing connects managed resources to the scripted system.
type connectThing[P any, R interface {
	*P
	parametersOfThing
}] struct {
	kube client.Client
	kind string
}

func (c *connectThing[P, R]) Connect(ctx context.Context, mg *Resource[P, ThingObservation]) (managed.TypedExternalClient[*Resource[P, ThingObservation]], error) {
	l, err := logIn(ctx, c.kube, mg)
	if err != nil {
		return nil, err
	}
	system := &scriptedSystem[P, R]{login: l, kind: c.kind}
	_, err = system.ask(ctx, "connect", question{Secret: string(l.secret)})
	return system, err
}

type scriptedSystem[P any, R interface {
	*P
	parametersOfThing
}] struct {
	login login
	kind  string
}

func (s *scriptedSystem[P, R]) ask(ctx context.Context, call string, q question) (answer, error) {
	body, err := json.Marshal(q)
	if err != nil {
		return answer{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.login.endpoint+"/"+call, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close() //nolint:errcheck // Nothing can be done about it.
	var a answer
	if err := json.NewDecoder(response.Body).Decode(&a); err != nil {
		return answer{}, err
	}
	if a.Error != "" {
		return answer{}, errors.New(a.Error)
	}
	return a, nil
}

func (s *scriptedSystem[P, R]) question(mg *Resource[P, ThingObservation]) question {
	return question{
		Kind: s.kind, Name: mg.GetName(), ExternalName: meta.GetExternalName(mg),
		Properties: R(&mg.Spec.ForProvider).properties(),
	}
}

func (s *scriptedSystem[P, R]) Observe(ctx context.Context, mg *Resource[P, ThingObservation]) (managed.ExternalObservation, error) {
	a, err := s.ask(ctx, "observe", s.question(mg))
	if err != nil || !a.Exists {
		return managed.ExternalObservation{}, err
	}
	mg.Status.AtProvider.ID = a.ID
	lateInitialized := false
	parameters := R(&mg.Spec.ForProvider)
	if parameters.properties().Color == nil && a.Properties.Color != nil {
		parameters.setColor(a.Properties.Color)
		lateInitialized = true
	}
	if a.NotReady == "" {
		mg.SetConditions(xpv2.Available())
	} else {
		mg.SetConditions(xpv2.Unavailable().WithMessage(a.NotReady))
	}
	return managed.ExternalObservation{
		ResourceExists:          true,
		ResourceUpToDate:        parameters.properties().isUpToDate(a.Properties),
		ResourceLateInitialized: lateInitialized,
		ConnectionDetails:       details(a.Connection),
	}, nil
}

func (s *scriptedSystem[P, R]) Create(ctx context.Context, mg *Resource[P, ThingObservation]) (managed.ExternalCreation, error) {
	a, err := s.ask(ctx, "create", s.question(mg))
	if err != nil {
		return managed.ExternalCreation{}, err
	}
	if s.kind == "Ticket" {
		meta.SetExternalName(mg, a.ID)
	}
	return managed.ExternalCreation{ConnectionDetails: details(a.Connection)}, nil
}

func (s *scriptedSystem[P, R]) Update(ctx context.Context, mg *Resource[P, ThingObservation]) (managed.ExternalUpdate, error) {
	a, err := s.ask(ctx, "update", s.question(mg))
	return managed.ExternalUpdate{ConnectionDetails: details(a.Connection)}, err
}

func (s *scriptedSystem[P, R]) Delete(ctx context.Context, mg *Resource[P, ThingObservation]) (managed.ExternalDelete, error) {
	_, err := s.ask(ctx, "delete", s.question(mg))
	return managed.ExternalDelete{}, err
}

func (s *scriptedSystem[P, R]) Disconnect(context.Context) error { return nil }

func details(connection map[string]string) managed.ConnectionDetails {
	out := managed.ConnectionDetails{}
	for key, value := range connection {
		out[key] = []byte(value)
	}
	return out
}
