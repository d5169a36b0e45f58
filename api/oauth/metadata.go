package oauth

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-jose/go-jose/v4"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/oauth/token"
	"github.com/motorpool/fleet/api/rest"
)

// Where clients look first.
const (
	serverPath   = "/.well-known/oauth-authorization-server"
	resourcePath = "/.well-known/oauth-protected-resource"
)

// ServerMetadata says what the authorization server is and does (RFC 8414).
type ServerMetadata struct {
	Issuer             string   `json:"issuer" example:"https://fleet.example.com"`
	Authorize          string   `json:"authorization_endpoint"`
	Token              string   `json:"token_endpoint"`
	Revoke             string   `json:"revocation_endpoint"`
	Introspect         string   `json:"introspection_endpoint"`
	Keys               string   `json:"jwks_uri"`
	Scopes             []string `json:"scopes_supported" nullable:"false"`
	ResponseTypes      []string `json:"response_types_supported" nullable:"false"`
	ResponseModes      []string `json:"response_modes_supported" nullable:"false"`
	GrantTypes         []string `json:"grant_types_supported" nullable:"false"`
	TokenMethods       []string `json:"token_endpoint_auth_methods_supported" nullable:"false"`
	RevocationMethods  []string `json:"revocation_endpoint_auth_methods_supported" nullable:"false"`
	IntrospectMethods  []string `json:"introspection_endpoint_auth_methods_supported" nullable:"false"`
	ChallengeMethods   []string `json:"code_challenge_methods_supported" nullable:"false"`
	TellsIssuer        bool     `json:"authorization_response_iss_parameter_supported"`
	ProofAlgorithms    []string `json:"dpop_signing_alg_values_supported" nullable:"false"`
	ProtectedResources []string `json:"protected_resources" nullable:"false"`
	Documentation      string   `json:"service_documentation"`
}

// ResourceMetadata says who gives access tokens for the interface (RFC 9728).
type ResourceMetadata struct {
	Resource        string   `json:"resource" example:"https://fleet.example.com"`
	Servers         []string `json:"authorization_servers" nullable:"false"`
	Scopes          []string `json:"scopes_supported" nullable:"false"`
	Methods         []string `json:"bearer_methods_supported" nullable:"false"`
	ProofAlgorithms []string `json:"dpop_signing_alg_values_supported" nullable:"false"`
	Name            string   `json:"resource_name"`
	Documentation   string   `json:"resource_documentation"`
}

// KeySet is the public halves of the keys that access tokens are signed with (RFC 7517).
type KeySet struct {
	Keys []map[string]string `json:"keys" nullable:"false"`
}

func (a *API) metadataRoutes() {
	scopes, proofs := texts(auth.Scopes), []string{}
	for _, alg := range token.ProofAlgorithms {
		proofs = append(proofs, string(alg))
	}
	secret := []string{"client_secret_basic", "client_secret_post"}
	issuer := a.Settings.Issuer
	a.open(rest.Route{Path: serverPath, ID: "getAuthorizationServer",
		Summary: "Get what the authorization server is and does", About: "RFC 8414.", Reply: ServerMetadata{}},
		func(*http.Request) (any, error) {
			return ServerMetadata{Issuer: issuer, Authorize: issuer + authorizePath, Token: issuer + tokenPath,
				Revoke: issuer + "/oauth/revoke", Introspect: issuer + "/oauth/introspect", Keys: issuer + "/oauth/jwks",
				Scopes: scopes, ResponseTypes: []string{"code"}, ResponseModes: []string{"query"},
				GrantTypes:   []string{grantClient, grantCode, grantRefresh},
				TokenMethods: append(secret, "none"), RevocationMethods: append(secret, "none"), IntrospectMethods: secret,
				ChallengeMethods: []string{"S256"}, TellsIssuer: true, ProofAlgorithms: proofs,
				ProtectedResources: []string{a.resource()}, Documentation: issuer + "/docs"}, nil
		})
	a.open(rest.Route{Path: resourcePath, ID: "getProtectedResource",
		Summary: "Get who gives access tokens for the interface", About: "RFC 9728.", Reply: ResourceMetadata{}},
		func(*http.Request) (any, error) {
			return ResourceMetadata{Resource: a.resource(), Servers: []string{issuer}, Scopes: scopes,
				Methods: []string{"header"}, ProofAlgorithms: proofs, Name: "Motorpool", Documentation: issuer + "/docs"}, nil
		})
	a.open(rest.Route{Path: "/oauth/jwks", ID: "getSigningKeys", Reply: KeySet{},
		Summary: "Get the keys that access tokens are signed with",
		About:   "The public halves, as a JWK set (RFC 7517). A new one is here an hour before it signs."},
		func(r *http.Request) (any, error) {
			keys, err := a.keys.public(r.Context(), "")
			return jose.JSONWebKeySet{Keys: keys}, err
		})
}

// describe adds access tokens to the description of the interface: how they are got, and what each scope lets do.
func (a *API) describe() {
	if a.Settings.Issuer == "" {
		return
	}
	flow := func(authorize string) *huma.OAuthFlow {
		f := &huma.OAuthFlow{TokenURL: a.Settings.Issuer + tokenPath, Scopes: map[string]string{}}
		if authorize != "" {
			f.AuthorizationURL, f.RefreshURL = a.Settings.Issuer+authorize, f.TokenURL
		}
		for _, s := range auth.Scopes {
			f.Scopes[string(s)] = rights[s].Words
		}
		return f
	}
	a.Docs.OpenAPI().Components.SecuritySchemes[rest.TokenScheme] = &huma.SecurityScheme{Type: "oauth2",
		Description: "An access token, as Authorization: Bearer, or DPoP with a proof (RFC 9449). PKCE with S256 is for all.",
		Flows:       &huma.OAuthFlows{ClientCredentials: flow(""), AuthorizationCode: flow(authorizePath)}}
}

// open registers a route that answers everybody with what may be kept for some minutes.
func (a *API) open(rt rest.Route, what func(*http.Request) (any, error)) {
	rt.Method, rt.Tag, rt.Public = http.MethodGet, "OAuth", true
	a.Handle(rt, func(w http.ResponseWriter, r *http.Request) error {
		if err := a.noIssuer(); err != nil {
			return err
		}
		v, err := what(r)
		if err != nil {
			return err
		}
		w.Header().Set("Cache-Control", "public, max-age=300")
		w.Header().Set("Access-Control-Allow-Origin", "*")
		return rest.WriteJSON(w, r, http.StatusOK, v)
	})
}
