package main

import (
	"context"
	"database/sql"
	"net/http"
	"net/url"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/lib/pq"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/password"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
)

// RoleParameters are those of a role in PostgreSQL.
type RoleParameters struct {
	Login           *bool  `json:"login,omitempty"`
	ConnectionLimit *int64 `json:"connectionLimit,omitempty"`
}

// RoleObservation is what PostgreSQL says of a role.
type RoleObservation struct {
	OID int64 `json:"oid,omitempty"`
}

type (
	// Role is a role in PostgreSQL.
	Role = Resource[RoleParameters, RoleObservation]
	// RoleList is a list of them.
	RoleList = ResourceList[RoleParameters, RoleObservation]
)

type connectRole struct{ kube client.Client }

// Connect opens a connection to the PostgreSQL of the provider config, whose credentials are "user:password".
func (c *connectRole) Connect(ctx context.Context, mg *Role) (managed.TypedExternalClient[*Role], error) {
	l, err := logIn(ctx, c.kube, mg)
	if err != nil {
		return nil, err
	}
	address, err := url.Parse(l.endpoint)
	if err != nil {
		return nil, err
	}
	user, secret, _ := strings.Cut(strings.TrimSpace(string(l.secret)), ":")
	address.User = url.UserPassword(user, secret)
	db, err := sql.Open("postgres", address.String())
	if err != nil {
		return nil, err
	}
	return &postgres{db: db, host: address.Hostname(), port: address.Port()}, nil
}

type postgres struct {
	db         *sql.DB
	host, port string
}

func (p *postgres) Observe(ctx context.Context, mg *Role) (managed.ExternalObservation, error) {
	var login bool
	var limit, oid int64
	row := p.db.QueryRowContext(ctx, "SELECT oid, rolcanlogin, rolconnlimit FROM pg_roles WHERE rolname = $1", meta.GetExternalName(mg))
	switch err := row.Scan(&oid, &login, &limit); {
	case errors.Is(err, sql.ErrNoRows):
		return managed.ExternalObservation{}, nil
	case err != nil:
		return managed.ExternalObservation{}, errors.Wrap(err, "cannot select the role")
	}
	mg.Status.AtProvider.OID = oid
	mg.SetConditions(xpv2.Available())
	parameters := &mg.Spec.ForProvider
	lateInitialized := parameters.ConnectionLimit == nil
	if lateInitialized {
		parameters.ConnectionLimit = &limit
	}
	return managed.ExternalObservation{
		ResourceExists:          true,
		ResourceUpToDate:        equal(parameters.Login, &login) && equal(parameters.ConnectionLimit, &limit),
		ResourceLateInitialized: lateInitialized,
	}, nil
}

func (p *postgres) Create(ctx context.Context, mg *Role) (managed.ExternalCreation, error) {
	secret, err := password.Generate()
	if err != nil {
		return managed.ExternalCreation{}, err
	}
	name := meta.GetExternalName(mg)
	statement := "CREATE ROLE " + pq.QuoteIdentifier(name) + options(mg) + " PASSWORD " + pq.QuoteLiteral(secret)
	if _, err := p.db.ExecContext(ctx, statement); err != nil {
		return managed.ExternalCreation{}, errors.Wrap(err, "cannot create the role")
	}
	return managed.ExternalCreation{ConnectionDetails: managed.ConnectionDetails{
		xpv2.CredentialsSecretUserKey:     []byte(name),
		xpv2.CredentialsSecretPasswordKey: []byte(secret),
		xpv2.CredentialsSecretEndpointKey: []byte(p.host),
		xpv2.CredentialsSecretPortKey:     []byte(p.port),
	}}, nil
}

func (p *postgres) Update(ctx context.Context, mg *Role) (managed.ExternalUpdate, error) {
	_, err := p.db.ExecContext(ctx, "ALTER ROLE "+pq.QuoteIdentifier(meta.GetExternalName(mg))+options(mg))
	return managed.ExternalUpdate{}, errors.Wrap(err, "cannot alter the role")
}

func (p *postgres) Delete(ctx context.Context, mg *Role) (managed.ExternalDelete, error) {
	_, err := p.db.ExecContext(ctx, "DROP ROLE IF EXISTS "+pq.QuoteIdentifier(meta.GetExternalName(mg)))
	return managed.ExternalDelete{}, errors.Wrap(err, "cannot drop the role")
}

func (p *postgres) Disconnect(context.Context) error { return p.db.Close() }

func options(mg *Role) string {
	out := ""
	if login := mg.Spec.ForProvider.Login; login != nil {
		out += map[bool]string{true: " LOGIN", false: " NOLOGIN"}[*login]
	}
	if limit := mg.Spec.ForProvider.ConnectionLimit; limit != nil {
		out += " CONNECTION LIMIT " + itoa(*limit)
	}
	return out
}

// refuseReserved is the admission webhook of roles.
func refuseReserved(_ context.Context, request admission.Request) admission.Response {
	if strings.HasPrefix(request.Name, "pg-") {
		response := admission.Denied("names that begin with pg- are reserved")
		response.Result.Code = http.StatusForbidden
		return response
	}
	return admission.Allowed("")
}
