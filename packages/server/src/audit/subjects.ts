import Type from 'typebox'
import { namesOfMembers } from '../access/members.ts'
import { namesOfCompanies } from '../companies/list.ts'
import { namesOfContacts } from '../contacts/names.ts'
import { AuditLogEntry } from '../operations/audit-list.ts'
import { Nullable } from '../platform/http/responses.ts'
import { isUuid } from '../platform/ids.ts'
import type { Stores, Tenant } from '../platform/tenant.ts'

/** An entry with the name of its subject. */
export const NamedAuditEntry = Type.Object(
  {
    ...AuditLogEntry.properties,
    subject_name: Nullable(
      Type.String({
        description: "The subject's name now; if it is gone, the one in details. null if neither exists.",
      }),
    ),
    subject_exists: Nullable(
      Type.Boolean({
        description: 'false if the subject was deleted; null for kinds that have no record of their own.',
      }),
    ),
  },
  { title: 'AuditLogEntry' },
)
export type NamedAuditEntry = Type.Static<typeof NamedAuditEntry>

type Named = Map<string, string | null>

/** The names of some subjects of one kind, by id; those that no longer exist are absent. */
const LOOKUPS: Record<string, (tenant: Tenant, ids: string[], stores: Stores) => Promise<Named>> = {
  user: ({ id }, ids, { database }) => namesOfMembers(database, id, ids),
  contact: contactNames,
  company: async (tenant, ids) =>
    mapOf(
      [...(await namesOfCompanies(tenant, ids)).values()].map(({ _id: id, name, domain }) => ({
        id,
        name: name ?? domain,
      })),
    ),
  agent: async ({ db }, ids) =>
    mapOf(await db.selectFrom('agents').select(['agent_id as id', 'name']).where('agent_id', 'in', ids).execute()),
  run: async ({ db }, ids) =>
    mapOf(
      await db
        .selectFrom('agent_runs')
        .leftJoin('agents', 'agents.agent_id', 'agent_runs.agent_id')
        .select(['agent_runs.run_id as id', 'agents.name'])
        .where('agent_runs.run_id', 'in', ids)
        .execute(),
    ),
  segment: async ({ db }, ids) =>
    mapOf(
      await db.selectFrom('segments').select(['segment_id as id', 'name']).where('segment_id', 'in', ids).execute(),
    ),
  api_key: async ({ db }, ids) =>
    mapOf(await db.selectFrom('api_keys').select(['key_id as id', 'name']).where('key_id', 'in', ids).execute()),
  source: async ({ db }, ids) =>
    mapOf(await db.selectFrom('sources').select(['source_id as id', 'name']).where('source_id', 'in', ids).execute()),
  hook: async ({ db }, ids) =>
    mapOf(await db.selectFrom('hooks').select(['hook_id as id', 'name']).where('hook_id', 'in', ids).execute()),
  connection: async ({ db }, ids) =>
    mapOf(
      await db
        .selectFrom('connections')
        .select(['connection_id as id', 'source as name'])
        .where('connection_id', 'in', ids)
        .execute(),
    ),
  domain: async ({ db }, ids) =>
    mapOf(
      await db
        .selectFrom('domains')
        .select(['domain_id as id', 'domain as name'])
        .where('domain_id', 'in', ids)
        .execute(),
    ),
  import: async ({ db }, ids) =>
    mapOf(
      await db
        .selectFrom('imports')
        .select(['import_id as id', 'file_name as name'])
        .where('import_id', 'in', ids)
        .execute(),
    ),
  invitation: async ({ db }, ids) =>
    mapOf(
      await db
        .selectFrom('invitations')
        .select(['invitation_id as id', 'email as name'])
        .where('invitation_id', 'in', ids)
        .execute(),
    ),
  view: async ({ db }, ids) =>
    mapOf(await db.selectFrom('saved_views').select(['view_id as id', 'name']).where('view_id', 'in', ids).execute()),
  identity: async ({ db }, ids) => {
    const rows = await db
      .selectFrom('identities')
      .select(['identity_id as id', 'first_name', 'last_name'])
      .where('identity_id', 'in', ids)
      .execute()
    return mapOf(rows.map(({ id, first_name, last_name }) => ({ id, name: `${first_name} ${last_name}`.trim() })))
  },
  warehouse_destination: async ({ db }, ids) =>
    mapOf(
      await db
        .selectFrom('warehouse_destinations')
        .select(['destination_id as id', 'name'])
        .where('destination_id', 'in', ids)
        .execute(),
    ),
  webhook: async ({ db }, ids) => {
    const rows = await db
      .selectFrom('webhook_subscriptions')
      .select(['subscription_id as id', 'event', 'url'])
      .where('subscription_id', 'in', ids)
      .execute()
    return mapOf(rows.map(({ id, event, url }) => ({ id, name: `${event} → ${URL.parse(url)?.host ?? url}` })))
  },
}

/** Adds the subjects' names: one query for each kind among the entries. */
export async function withSubjectNames(
  tenant: Tenant,
  stores: Stores,
  entries: readonly AuditLogEntry[],
): Promise<NamedAuditEntry[]> {
  const idsOf = new Map<string, Set<string>>()
  for (const entry of entries) {
    const { kind, id } = subjectOf(entry)
    if (!Object.hasOwn(LOOKUPS, kind) || !isUuid(id)) continue
    idsOf.set(kind, (idsOf.get(kind) ?? new Set()).add(id))
  }
  const found = await Promise.all(
    [...idsOf].map(async ([kind, ids]) => [kind, await LOOKUPS[kind]?.(tenant, [...ids], stores)] as const),
  )
  const named = new Map(found)
  return entries.map((entry) => {
    const { kind, id } = subjectOf(entry)
    const names = named.get(kind)
    return {
      ...entry,
      subject_name: names?.get(id) ?? nameIn(entry),
      subject_exists: names ? names.has(id) : null,
    }
  })
}

/** The subject of a decision about an action is shown as the contact that the action concerns: run/contact/index. */
function subjectOf({ subject_kind: kind, subject_id: id }: AuditLogEntry): { kind: string; id: string } {
  if (kind === 'action') return { kind: 'contact', id: id?.split('/')[1] ?? '' }
  return { kind, id: id ?? '' }
}

/** The name that an entry recorded. */
function nameIn({ details }: AuditLogEntry): string | null {
  const { name, domain, email, event, firstName, lastName, source } = details
  const person = [firstName, lastName].filter((part) => typeof part === 'string').join(' ')
  return (
    [name, domain, email, event, person, source].find(
      (text): text is string => typeof text === 'string' && text !== '',
    ) ?? null
  )
}

async function contactNames(tenant: Tenant, ids: string[]): Promise<Named> {
  const contacts = await namesOfContacts(tenant, ids)
  return mapOf(
    [...contacts.values()].map(({ contact_id, email, firstname, lastname }) => ({
      id: contact_id,
      name: [firstname, lastname].filter(Boolean).join(' ') || email,
    })),
  )
}

function mapOf(rows: readonly { id: string; name: string | null }[]): Named {
  return new Map(rows.map(({ id, name }) => [id, name]))
}
