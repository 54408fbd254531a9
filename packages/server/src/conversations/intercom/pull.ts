import type { WriteDependencies } from '../../contacts/change-log.ts'
import type { SecretBox } from '../../platform/crypto/secret-box.ts'
import { OutboundError } from '../../platform/outbound/client.ts'
import type { JsonApi } from '../../platform/outbound/json-api.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { noteConnector } from '../../sources/connectors.ts'
import { writeRecords } from '../../sources/write-records.ts'
import { recordMessages } from '../record.ts'
import { type Intercom, IntercomError, openIntercom, RateLimited, REGIONS, type Region } from './api.ts'
import { connectionPlace, type Position } from './connection.ts'
import { contactRecord, conversationMessages, SOURCE } from './map.ts'

/** A job reads for this long and then makes way for other jobs. The next job resumes where it ended. */
const SLICE_MS = 300_000
/** Contact searches have a resolution of one day. */
const CONTACTS_OVERLAP_SECONDS = 86_400
/** It may take minutes until a search finds a change. */
const CONVERSATIONS_OVERLAP_SECONDS = 900
const RECORDS_PER_WRITE = 100

export interface PullDependencies {
  writing: WriteDependencies
  secrets: SecretBox
  api: JsonApi
  pullMinutes: number
  /** For tests: the base URL of Intercom. */
  intercomUrl?: string | undefined
}

/**
 * Reads the changes in Intercom: contacts as records of a source, then conversations. The position is stored after each
 * page, so that a pull resumes there after a restart, a rate limit or an error.
 * @throws if it fails; the reason is stored with the connection.
 */
export async function pullIntercom(tenant: Tenant, dependencies: PullDependencies, signal: AbortSignal): Promise<void> {
  const { secrets, api, intercomUrl, writing, pullMinutes } = dependencies
  const row = await tenant.db
    .selectFrom('messaging_connections')
    .select(['settings', 'sealed', 'position', 'updated_at'])
    .where('source', '=', SOURCE)
    .executeTakeFirst()
  if (!row) return
  const { region } = row.settings as unknown as { region: Region }
  const store = storeOf(tenant, row.updated_at)
  try {
    const token = openToken(secrets, row.sealed, tenant.id)
    const intercom = openIntercom({ api, baseUrl: intercomUrl ?? REGIONS[region], token, signal })
    await store({ state: 'pulling' })
    const isDone = await pull(tenant, dependencies, intercom, row.position as unknown as Position, store)
    const now = writing.clock()
    const nextPullAt = isDone ? new Date(now.getTime() + pullMinutes * 60_000) : now
    await store({ state: 'waiting', error: null, next_pull_at: nextPullAt, ...(isDone ? { synced_at: now } : {}) })
  } catch (error) {
    if (error instanceof RateLimited) return store({ state: 'waiting', next_pull_at: error.until })
    // A stopping process is not a failure. The next process resumes.
    if (signal.aborted) return store({ state: 'waiting', next_pull_at: writing.clock() })
    await store({ state: 'failed', error: explain(error) })
    // A permanent error, such as an invalid token, is not retried before the next scheduled pull.
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

/** Stores the progress, unless the connection has been set again in the meantime. */
function storeOf(tenant: Tenant, setAt: Date): Store {
  return async (changes) => {
    await tenant.db
      .updateTable('messaging_connections')
      .set(changes)
      .where('source', '=', SOURCE)
      .where('updated_at', '=', setAt)
      .execute()
  }
}

/** @returns false if it stopped early because its time was up. */
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
  const storePosition = async (next: Position) => {
    position = next
    await store({ position: JSON.stringify(position) })
  }
  let run = position.run ?? { startedAt: Math.floor(writing.clock().getTime() / 1000), phase: 'contacts', cursor: null }
  if (position.run === null) await noteConnector(tenant, SOURCE, 'messaging', writing.clock())
  for (;;) {
    const { phase } = run
    const after = phase === 'contacts' ? position.contactsAfter : position.conversationsAfter
    const page = await intercom.changedAfter(phase, after, run.cursor).catch((error: unknown) => {
      // An old cursor may have expired. The search restarts, and messages that were already read change nothing.
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
      await storePosition({ ...position, run })
    } else if (phase === 'contacts') {
      const contactsAfter = Math.max(0, run.startedAt - CONTACTS_OVERLAP_SECONDS)
      run = { ...run, phase: 'conversations', cursor: null }
      await storePosition({ ...position, contactsAfter, run })
    } else {
      const conversationsAfter = Math.max(0, run.startedAt - CONVERSATIONS_OVERLAP_SECONDS)
      await storePosition({ ...position, conversationsAfter, run: null })
      return true
    }
    if (Date.now() > endsAt) return false
  }
}

async function writeContacts(tenant: Tenant, writing: WriteDependencies, contacts: readonly Record<string, unknown>[]) {
  const records = contacts.map(contactRecord).filter((record) => record !== null)
  for (let from = 0; from < records.length; from += RECORDS_PER_WRITE) {
    const source = { source: SOURCE, kind: 'messaging' } as const
    await writeRecords(tenant, writing, source, records.slice(from, from + RECORDS_PER_WRITE))
  }
}

async function recordConversations(
  tenant: Tenant,
  writing: WriteDependencies,
  intercom: Intercom,
  found: readonly Record<string, unknown>[],
): Promise<void> {
  for (const { id } of found) {
    // Search results do not contain the messages.
    const conversation =
      typeof id === 'string' || typeof id === 'number' ? await intercom.conversation(String(id)) : null
    if (conversation) await recordMessages(tenant, writing, conversationMessages(conversation))
  }
}

function openToken(secrets: SecretBox, sealed: string, tenantId: string): string {
  try {
    return secrets.open(sealed, connectionPlace(tenantId, SOURCE))
  } catch {
    const message = 'The stored token cannot be decrypted with the current CDS_SECRET_KEY. Connect Intercom again.'
    throw new IntercomError(0, message)
  }
}

function explain(error: unknown): string {
  if (error instanceof IntercomError) return error.message
  if (error instanceof OutboundError) return `Intercom could not be reached: ${error.message}`.slice(0, 500)
  return 'The pull failed with an internal error. See the log of the service.'
}
