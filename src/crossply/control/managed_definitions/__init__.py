"""Kinds of Providers: ManagedResourceDefinitions, their CRDs, and the policies that activate them."""
