import type { WriteDependencies } from '../../contacts/change-log.ts'
import type { SecretBox } from '../../platform/crypto/secret-box.ts'
import { OutboundError } from '../../platform/outbound/client.ts'
import type { JsonApi } from '../../platform/outbound/json-api.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { noteSource } from '../../sources/source-kinds.ts'
import { writeRecords } from '../../sources/write-records.ts'
import { recordMessages } from '../record.ts'
import { type Intercom, IntercomError, openIntercom, RateLimited, REGIONS, type Region } from './api.ts'
import { type Position, placeOf } from './connection.ts'
import { contactRecord, conversationMessages, SOURCE } from './map.ts'

/** One job reads for so long and lets others have their turn; the next goes on where it ended. */
const SLICE_MS = 300_000
/** Contacts are searched by whole days. */
const CONTACTS_OVERLAP_SECONDS = 86_400
/** A change may take minutes to be found by a search. */
const CONVERSATIONS_OVERLAP_SECONDS = 900
const RECORDS_A_WRITE = 100

export interface PullDependencies {
  writing: WriteDependencies
  secrets: SecretBox
  api: JsonApi
  pullMinutes: number
  /** For tests: where Intercom is. */
  intercomUrl?: string
}

/**
 * Reads what has changed in Intercom: its contacts as records of a source, then its conversations. Where it stands is
 * written down after each page, so that it goes on there after a restart, a rate limit or an error.
 * @throws when it fails; the connection says why.
 */
export async function pullIntercom(tenant: Tenant, dependencies: PullDependencies, signal: AbortSignal): Promise<void> {
  const { secrets, api, intercomUrl, writing, pullMinutes } = dependencies
  const row = await tenant.db
    .selectFrom('messaging_connections')
    .select(['settings', 'sealed', 'position'])
    .where('source', '=', SOURCE)
    .executeTakeFirst()
  if (!row) return
  const { region } = row.settings as unknown as { region: Region }
  const store = storeOf(tenant, row.sealed)
  try {
    const token = secrets.open(row.sealed, placeOf(tenant))
    const intercom = openIntercom({ api, baseUrl: intercomUrl ?? REGIONS[region], token, signal })
    await store({ state: 'pulling' })
    const isDone = await pull(tenant, dependencies, intercom, row.position as unknown as Position, store)
    const now = writing.clock()
    const nextPullAt = isDone ? new Date(now.getTime() + pullMinutes * 60_000) : now
    await store({ state: 'waiting', error: null, next_pull_at: nextPullAt, ...(isDone ? { synced_at: now } : {}) })
  } catch (error) {
    if (error instanceof RateLimited) return store({ state: 'waiting', next_pull_at: error.until })
    // A process that stops has not failed; whoever comes next goes on.
    if (signal.aborted) return store({ state: 'waiting', next_pull_at: writing.clock() })
    await store({ state: 'failed', error: explain(error) })
    // What Intercom refuses for good, such as a token, is not asked for again before the next time.
    if (error instanceof IntercomError && error.status < 500) return
    throw error
  }
}

type Changes = Partial<{
  state: string
  error: string | null
  position: string
  next_pull_at: Date
  synced_at: Date
}>
type Store = (changes: Changes) => Promise<void>

/** Says how it goes, unless the connection has been set anew meanwhile. */
function storeOf(tenant: Tenant, sealed: string): Store {
  return async (changes) => {
    await tenant.db
      .updateTable('messaging_connections')
      .set(changes)
      .where('source', '=', SOURCE)
      .where('sealed', '=', sealed)
      .execute()
  }
}

/** @returns whether all is read; else the time is up. */
async function pull(
  tenant: Tenant,
  dependencies: PullDependencies,
  intercom: Intercom,
  before: Position,
  store: Store,
): Promise<boolean> {
  const { writing } = dependencies
  const endsAt = Date.now() + SLICE_MS
  let position = before
  const move = async (next: Position) => {
    position = next
    await store({ position: JSON.stringify(position) })
  }
  let run = position.run ?? { startedAt: Math.floor(writing.clock().getTime() / 1000), phase: 'contacts', cursor: null }
  if (position.run === null) await noteSource(tenant, SOURCE, 'messaging', writing.clock())
  for (;;) {
    const { phase } = run
    const after = phase === 'contacts' ? position.contactsAfter : position.conversationsAfter
    const page = await intercom.changedAfter(phase, after, run.cursor).catch((error: unknown) => {
      // A place in a search that was left long ago may be gone; the search begins again, and knows what it has read.
      if (error instanceof IntercomError && error.status === 400 && run.cursor !== null) return null
      throw error
    })
    if (page === null) {
      run = { ...run, cursor: null }
      continue
    }
    if (phase === 'contacts') await writeContacts(tenant, writing, page.items)
    else await recordConversations(tenant, writing, intercom, page.items)
    if (page.cursor !== null) {
      run = { ...run, cursor: page.cursor }
      await move({ ...position, run })
    } else if (phase === 'contacts') {
      const contactsAfter = Math.max(0, run.startedAt - CONTACTS_OVERLAP_SECONDS)
      run = { ...run, phase: 'conversations', cursor: null }
      await move({ ...position, contactsAfter, run })
    } else {
      const conversationsAfter = Math.max(0, run.startedAt - CONVERSATIONS_OVERLAP_SECONDS)
      await move({ ...position, conversationsAfter, run: null })
      return true
    }
    if (Date.now() > endsAt) return false
  }
}

async function writeContacts(tenant: Tenant, writing: WriteDependencies, contacts: readonly Record<string, unknown>[]) {
  const records = contacts.map(contactRecord).filter((record) => record !== null)
  for (let from = 0; from < records.length; from += RECORDS_A_WRITE) {
    const source = { source: SOURCE, kind: 'messaging' } as const
    await writeRecords(tenant, writing, source, records.slice(from, from + RECORDS_A_WRITE))
  }
}

async function recordConversations(
  tenant: Tenant,
  writing: WriteDependencies,
  intercom: Intercom,
  found: readonly Record<string, unknown>[],
): Promise<void> {
  for (const { id } of found) {
    // A search does not tell what was said.
    const conversation =
      typeof id === 'string' || typeof id === 'number' ? await intercom.conversation(String(id)) : null
    if (conversation) await recordMessages(tenant, writing, conversationMessages(conversation))
  }
}

function explain(error: unknown): string {
  if (error instanceof IntercomError) return error.message
  if (error instanceof OutboundError) return `Intercom could not be reached: ${error.message}`.slice(0, 500)
  return 'The pull failed within the service; see its log.'
}
