import { namesOfKeys } from '../access/api-keys.ts'
import { namesOfDomains } from '../access/domains-of-tenant.ts'
import { namesOfInvitations } from '../access/invitations.ts'
import { namesOfMembers } from '../access/members.ts'
import { namesOfAgents } from '../agents/agents.ts'
import { namesOfRuns } from '../agents/runs/read.ts'
import { namesOfAlerts } from '../alerts/alerts.ts'
import type { SubjectKinds } from '../audit/subjects.ts'
import { displayNamesOfCompanies } from '../companies/list.ts'
import { namesOfComputedProperties } from '../computed/computed-properties.ts'
import { namesOfConnections } from '../connectors/connections.ts'
import { fullNamesOfContacts } from '../contacts/names.ts'
import { namesOfProviders } from '../enrichment/providers/providers.ts'
import { namesOfHooks } from '../hooks/hooks.ts'
import { namesOfIdentities } from '../identities/identities.ts'
import { namesOfImports } from '../imports/imports.ts'
import { namesOfViews } from '../overview/views.ts'
import { namesOfDashboards } from '../reports/dashboards.ts'
import { namesOfReports } from '../reports/reports.ts'
import { namesOfSegments } from '../segments/segments.ts'
import { namesOfSources } from '../sources/sources.ts'
import { namesOfDestinations } from '../warehouse/destinations.ts'
import { namesOfSubscriptions } from '../webhooks/subscriptions.ts'

/** The kinds of subjects that the audit log shows with their current names. Others have the name in their details, if any. */
export const SUBJECT_KINDS: SubjectKinds = {
  agent: namesOfAgents,
  alert: namesOfAlerts,
  api_key: namesOfKeys,
  company: displayNamesOfCompanies,
  computed_property: namesOfComputedProperties,
  connection: namesOfConnections,
  contact: fullNamesOfContacts,
  dashboard: namesOfDashboards,
  domain: namesOfDomains,
  enrichment_provider: namesOfProviders,
  hook: namesOfHooks,
  identity: namesOfIdentities,
  import: namesOfImports,
  invitation: namesOfInvitations,
  report: namesOfReports,
  run: namesOfRuns,
  segment: namesOfSegments,
  source: namesOfSources,
  user: namesOfMembers,
  view: namesOfViews,
  warehouse_destination: namesOfDestinations,
  webhook: namesOfSubscriptions,
}
