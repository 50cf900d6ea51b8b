package main

import (
	"context"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/providerconfig"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
)

// A ProviderConfigSpec says where the external system is, and how to log in to it.
type ProviderConfigSpec struct {
	Endpoint    string      `json:"endpoint"`
	Credentials Credentials `json:"credentials"`
}

// Credentials of the external system.
type Credentials struct {
	Source xpv2.CredentialsSource `json:"source"`

	xpv2.CommonCredentialSelectors `json:",inline"`
}

// configFields is what the two kinds of provider config have in common.
type configFields struct {
	Spec   ProviderConfigSpec        `json:"spec"`
	Status xpv2.ProviderConfigStatus `json:"status,omitempty"`
}

func (c *configFields) GetCondition(t xpv2.ConditionType) xpv2.Condition {
	return c.Status.GetCondition(t)
}
func (c *configFields) SetConditions(conditions ...xpv2.Condition) {
	c.Status.SetConditions(conditions...)
}
func (c *configFields) GetUsers() int64          { return c.Status.Users }
func (c *configFields) SetUsers(i int64)         { c.Status.Users = i }
func (c *configFields) spec() ProviderConfigSpec { return c.Spec }

// A ProviderConfig is for the managed resources of its namespace.
type ProviderConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	configFields      `json:",inline"`
}

// A ClusterProviderConfig is for those of every namespace.
type ClusterProviderConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	configFields      `json:",inline"`
}

// A ProviderConfigUsage says that a managed resource uses a provider config.
type ProviderConfigUsage struct {
	metav1.TypeMeta               `json:",inline"`
	metav1.ObjectMeta             `json:"metadata,omitempty"`
	xpv2.TypedProviderConfigUsage `json:",inline"`
}

func (u *ProviderConfigUsage) GetProviderConfigReference() xpv2.ProviderConfigReference {
	return u.ProviderConfigReference
}
func (u *ProviderConfigUsage) SetProviderConfigReference(r xpv2.ProviderConfigReference) {
	u.ProviderConfigReference = r
}
func (u *ProviderConfigUsage) GetResourceReference() xpv2.TypedReference { return u.ResourceReference }
func (u *ProviderConfigUsage) SetResourceReference(r xpv2.TypedReference) {
	u.ResourceReference = r
}

// Lists of the kinds above.
type (
	objectList[T any] struct {
		metav1.TypeMeta `json:",inline"`
		metav1.ListMeta `json:"metadata,omitempty"`

		Items []T `json:"items"`
	}
	ProviderConfigList        = objectList[ProviderConfig]
	ClusterProviderConfigList = objectList[ClusterProviderConfig]
	ProviderConfigUsageList   struct {
		objectList[ProviderConfigUsage] `json:",inline"`
	}
)

func (c *ProviderConfig) DeepCopyObject() runtime.Object          { return clone(c) }
func (c *ClusterProviderConfig) DeepCopyObject() runtime.Object   { return clone(c) }
func (u *ProviderConfigUsage) DeepCopyObject() runtime.Object     { return clone(u) }
func (l *objectList[T]) DeepCopyObject() runtime.Object           { return clone(l) }
func (l *ProviderConfigUsageList) DeepCopyObject() runtime.Object { return clone(l) }

func (l *ProviderConfigUsageList) GetItems() []resource.ProviderConfigUsage {
	items := make([]resource.ProviderConfigUsage, len(l.Items))
	for i := range l.Items {
		items[i] = &l.Items[i]
	}
	return items
}

// A login is a provider config with its credentials read.
type login struct {
	endpoint string
	secret   []byte
}

// logIn tracks the usage of the provider config that a managed resource refers to, and reads it.
func logIn(ctx context.Context, kube client.Client, mg resource.ModernManaged) (login, error) {
	if err := resource.NewProviderConfigUsageTracker(kube, &ProviderConfigUsage{}).Track(ctx, mg); err != nil {
		return login{}, errors.Wrap(err, "cannot track ProviderConfig usage")
	}
	var config interface {
		client.Object
		spec() ProviderConfigSpec
	}
	reference := mg.GetProviderConfigReference()
	name := types.NamespacedName{Name: reference.Name}
	switch reference.Kind {
	case "ProviderConfig":
		config = &ProviderConfig{}
		name.Namespace = mg.GetNamespace()
	case "ClusterProviderConfig":
		config = &ClusterProviderConfig{}
	default:
		return login{}, errors.Errorf("unsupported provider config kind: %s", reference.Kind)
	}
	if err := kube.Get(ctx, name, config); err != nil {
		return login{}, errors.Wrap(err, "cannot get ProviderConfig")
	}
	spec := config.spec()
	secret, err := resource.CommonCredentialExtractor(ctx, spec.Credentials.Source, kube, spec.Credentials.CommonCredentialSelectors)
	return login{endpoint: spec.Endpoint, secret: secret}, err
}

// setUpConfigs counts the users of provider configs.
func setUpConfigs(mgr ctrl.Manager, o settings) error {
	for kind, config := range map[string]client.Object{
		"ProviderConfig": &ProviderConfig{}, "ClusterProviderConfig": &ClusterProviderConfig{},
	} {
		name := providerconfig.ControllerName(kind)
		kinds := resource.ProviderConfigKinds{
			Config:    groupVersion.WithKind(kind),
			Usage:     groupVersion.WithKind("ProviderConfigUsage"),
			UsageList: groupVersion.WithKind("ProviderConfigUsageList"),
		}
		reconciler := providerconfig.NewReconciler(mgr, kinds,
			providerconfig.WithLogger(o.log.WithValues("controller", name)),
			providerconfig.WithRecorder(event.NewAPIRecorder(mgr.GetEventRecorderFor(name))))
		err := ctrl.NewControllerManagedBy(mgr).Named(name).For(config).
			Watches(&ProviderConfigUsage{}, &resource.EnqueueRequestForProviderConfig{Kind: kind}).
			WithOptions(o.forController()).Complete(reconciler)
		if err != nil {
			return err
		}
	}
	return nil
}
