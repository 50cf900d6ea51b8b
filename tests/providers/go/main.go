// A small provider on crossplane-runtime, for tests: roles in PostgreSQL, and things in an external system that tests script.
package main

import (
	"flag"
	"os"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
)

type settings struct {
	log  logging.Logger
	poll time.Duration
}

func (s settings) forController() controller.Options {
	return controller.Options{MaxConcurrentReconciles: 10, RateLimiter: ratelimiter.NewController()}
}

func main() {
	poll := flag.Duration("poll", time.Minute, "how often external resources are observed")
	metrics := flag.String("metrics-bind-address", ":8080", "the address of metrics, or 0")
	plain := flag.Bool("json", false, "send JSON only, so that a proxy can read it")
	debug := flag.Bool("debug", false, "log every reconcile")
	flag.Parse()

	zl := zap.New(zap.UseDevMode(*debug))
	ctrl.SetLogger(zl)
	config := ctrl.GetConfigOrDie()
	config.QPS, config.Burst = 200, 400
	if *plain {
		config.ContentType = "application/json"
	}
	o := settings{log: logging.NewLogrLogger(zl), poll: *poll}
	if err := run(config, *metrics, o); err != nil {
		o.log.Info("ended", "error", err)
		os.Exit(1)
	}
}

func addKinds(scheme *runtime.Scheme) {
	for kind, object := range map[string]runtime.Object{
		"Thing": &Thing{}, "ThingList": &ThingList{}, "Ticket": &Ticket{}, "TicketList": &TicketList{},
		"Relic": &Relic{}, "RelicList": &RelicList{},
		"Role": &Role{}, "RoleList": &RoleList{},
		"ProviderConfig": &ProviderConfig{}, "ProviderConfigList": &ProviderConfigList{},
		"ClusterProviderConfig": &ClusterProviderConfig{}, "ClusterProviderConfigList": &ClusterProviderConfigList{},
		"ProviderConfigUsage": &ProviderConfigUsage{}, "ProviderConfigUsageList": &ProviderConfigUsageList{},
	} {
		scheme.AddKnownTypeWithName(groupVersion.WithKind(kind), object)
	}
	metav1.AddToGroupVersion(scheme, groupVersion)
}

// setUp adds the controller of a kind.
func setUp[R resource.Managed](mgr ctrl.Manager, kind string, of R, connector managed.TypedExternalConnector[R], o settings, more ...managed.ReconcilerOption) error {
	gvk := groupVersion.WithKind(kind)
	name := managed.ControllerName(gvk.GroupKind().String())
	more = append(more,
		managed.WithTypedExternalConnector(connector),
		managed.WithLogger(o.log.WithValues("controller", name)),
		managed.WithPollInterval(o.poll),
		managed.WithRecorder(event.NewAPIRecorder(mgr.GetEventRecorderFor(name))),
		managed.WithManagementPolicies(),
	)
	return ctrl.NewControllerManagedBy(mgr).Named(name).For(client.Object(of)).
		WithEventFilter(resource.DesiredStateChanged()).
		WithOptions(o.forController()).
		Complete(managed.NewReconciler(mgr, resource.ManagedKind(gvk), more...))
}

func run(config *rest.Config, metrics string, o settings) error {
	scheme := runtime.NewScheme()
	addKinds(scheme)
	utilruntime.Must(corev1.AddToScheme(scheme))
	options := ctrl.Options{Scheme: scheme, Metrics: server.Options{BindAddress: metrics}}
	certificates := os.Getenv("TLS_SERVER_CERTS_DIR")
	if certificates != "" {
		options.WebhookServer = webhook.NewServer(webhook.Options{CertDir: certificates})
	}
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		return err
	}
	kube := mgr.GetClient()
	if err := setUpConfigs(mgr, o); err != nil {
		return err
	}
	deterministic := managed.WithDeterministicExternalName(true)
	if err := setUp[*Thing](mgr, "Thing", &Thing{}, &connectThing[ThingParameters, *ThingParameters]{kube: kube, kind: "Thing"}, o, deterministic); err != nil {
		return err
	}
	if err := setUp[*Ticket](mgr, "Ticket", &Ticket{}, &connectThing[TicketParameters, *TicketParameters]{kube: kube, kind: "Ticket"}, o); err != nil {
		return err
	}
	if err := setUp[*Relic](mgr, "Relic", &Relic{}, &connectRelic{kube: kube}, o, deterministic); err != nil {
		return err
	}
	if err := setUp[*Role](mgr, "Role", &Role{}, &connectRole{kube: kube}, o, deterministic); err != nil {
		return err
	}
	if certificates != "" {
		mgr.GetWebhookServer().Register("/validate-role", &webhook.Admission{Handler: admission.HandlerFunc(refuseReserved)})
	}
	return mgr.Start(ctrl.SetupSignalHandler())
}

func itoa(i int64) string { return strconv.FormatInt(i, 10) }
