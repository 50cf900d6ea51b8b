-- The health of composite resources, claims, managed resources, definitions, packages and operations in Argo CD.

-- Kinds that have no conditions: there is nothing to wait for.
local static = {
  Composition = true, CompositionRevision = true, EnvironmentConfig = true, ImageConfig = true, Lock = true,
  DeploymentRuntimeConfig = true, ProviderConfig = true, ClusterProviderConfig = true, ProviderConfigUsage = true,
}
-- All of these that an object has must be true.
local decisive = {
  "Synced", "ValidPipeline", "Installed", "Established", "Offered", "Healthy", "Scheduling", "Watching", "Succeeded",
  "Ready",
}
-- What a condition that is not true means, where its reason decides.
local meaning = {
  UnpackingPackage = "Progressing", TerminatingCompositeResource = "Progressing", ReconcilePaused = "Suspended",
  InactivePackageRevision = "Suspended", SchedulePaused = "Suspended", WatchPaused = "Suspended",
  InactiveManagedResource = "Suspended",
}

local metadata = obj.metadata or {}
if metadata.deletionTimestamp ~= nil then
  return {status = "Progressing", message = "Being deleted"}
end
if (metadata.annotations or {})["crossplane.io/paused"] == "true" then
  return {status = "Suspended", message = "Paused by the annotation crossplane.io/paused"}
end

local reported, count = {}, 0
for _, condition in ipairs((obj.status or {}).conditions or {}) do
  reported[condition.type] = condition
  count = count + 1
end
if count == 0 and static[obj.kind] then
  return {status = "Healthy", message = ""}
end

local function of(condition, status)
  local text = condition.message
  if text == nil or text == "" then
    text = condition.reason or ""
  end
  return {status = status, message = condition.type .. ": " .. text}
end

local complete = false
for _, name in ipairs(decisive) do
  local condition = reported[name]
  if condition ~= nil then
    local generation = condition.observedGeneration
    if generation ~= nil and metadata.generation ~= nil and generation < metadata.generation then
      return of(condition, "Progressing") -- it says nothing about what was last written
    end
    if condition.status == "Unknown" or name == "Ready" and condition.status == "False" then
      return of(condition, "Progressing")
    end
    if condition.status == "False" then
      return of(condition, meaning[condition.reason] or "Degraded")
    end
    -- An object that is only Synced is still being composed.
    complete = complete or name ~= "Synced"
  end
end
if complete then
  return {status = "Healthy", message = ""}
end
return {status = "Progressing", message = "Waiting for the first reconcile"}
