"""Role-based access control: what roles grant, to whom, and the decision about one request."""

from crossply.apiserver.auth.rbac.authorizer import Authorizer, Decision

__all__ = ["Authorizer", "Decision"]
