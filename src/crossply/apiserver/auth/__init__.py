"""Authentication, impersonation, RBAC, and the review resources.

authentication.Authenticator identifies the user (401), impersonation.impersonate changes it (403),
rbac.Authorizer decides about the request (403), and escalation refuses writes of roles that grant more than
the user has (403).
"""
