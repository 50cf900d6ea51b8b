"""Who asks, and whether they may: authentication, impersonation, RBAC and the reviews that tell about both.

request -> authentication.Authenticator   who is it          (401)
        -> impersonation.impersonate      who do they act as (403)
        -> rbac.Authorizer                may they do this   (403)
        -> escalation                     do they hand out more than they have (403, on writes of roles)
"""
