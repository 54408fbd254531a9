import { deletedInSource } from '../../contacts/source-deletions.ts'
import { type ContactState, recordOf } from '../../contacts/writing/contact-set.ts'
import { contactsOfSource, openSet } from '../../contacts/writing/keys.ts'
import type { SourceRecord } from '../../contacts/writing/source-records.ts'
import { storeSet } from '../../contacts/writing/store.ts'
import { ChangeLog } from '../../contacts/writing/transaction.ts'
import { changeRecords } from '../../platform/postgres/collisions.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { HOUR_MS, MINUTE_MS } from '../../platform/time.ts'
import { connectorNamed } from '../all-connectors.ts'
import { type Client, problemOf, RateLimited, SignedOut } from '../client.ts'
import { clientOfConnection } from '../connection-client.ts'
import { type ConnectionRow, findConnection } from '../connections.ts'
import type { Connector, CurrentRecord, OutgoingRecord, Settings, WriteBack, WriteResult } from '../connector.ts'
import { objectPosition, type Position } from '../position.ts'
import type { PullServices } from '../pull.ts'
import { noteErrors } from '../runs.ts'
import type { RecordError } from '../write-page.ts'
import { candidateOf, outgoing } from './decide.ts'
import { dueContacts, postpone, removeWaiting, type Waiting } from './outbox.ts'
import { requireTargets } from './targets.ts'
import { settingsOf, type WriteBackSettings } from './write-back.ts'

const OBJECT = 'write_back'
const RETRY_MS_FIRST = MINUTE_MS
const RETRY_MS_MAX = HOUR_MS
/** Attempts for about a day. After that, a contact is written only when it changes again. */
const FAILURES_MAX = 28
/** How often to check whether a connection's contacts have been read. */
const UNREAD_MS = 30_000
const INTERNAL =
  'Writing failed because of an internal error and will be retried. The cause is in the log of the service.'

interface Task {
  tenant: Tenant
  connection: ConnectionRow
  connector: Connector
  writeBack: WriteBack
  settings: WriteBackSettings
}

/**
 * Writes a connection's outbox to its system, batch by batch. Once the system has accepted a contact, one transaction stores
 * the written values and removes the contact from the outbox. If the process dies in between, the contact is written again.
 * @throws an unexpected error, to be logged. The connection shows every error, and writing is retried.
 */
export async function writeBackConnection(
  tenant: Tenant,
  services: PullServices,
  connectionId: string,
  signal: AbortSignal,
): Promise<void> {
  const connection = await findConnection(tenant, connectionId)
  if (!connection || connection.state === 'paused' || connection.state === 'signed_out') return
  const connector = connectorNamed(connection.connector)
  const { writeBack } = connector
  const settings = settingsOf(connection)
  if (!writeBack || !settings) return
  const { clock } = services
  const store = (changes: Changes) =>
    tenant.db
      .updateTable('connections')
      .set(changes)
      .where('connection_id', '=', connectionId)
      .where('revision', '=', connection.revision)
      .execute()
  try {
    if (!isRead(connection, writeBack)) {
      await store({ write_back_at: new Date(clock().getTime() + UNREAD_MS) })
      return
    }
    const client = clientOfConnection(tenant, services, connector, connection, signal)
    await requireTargets(client, connector, writeBack, settings.properties)
    const task = { tenant, connection, connector, writeBack, settings }
    for (;;) {
      signal.throwIfAborted()
      const due = await dueContacts(tenant, connectionId, writeBack.batchSize, clock())
      if (due.length === 0) break
      const planned = await plan(task, client, due)
      const toWrite = planned.filter(({ link }) => link === null)
      const records = toWrite.map(({ record }) => record)
      const results =
        records.length === 0 ? [] : await writeBack.write(client, records, connection.settings as Settings)
      const upToDate = due.filter((each) => planned.every(({ waiting }) => waiting !== each))
      const sent = planned.map((each) => ({ ...each, result: each.link ?? results[toWrite.indexOf(each)] ?? MISSING }))
      if (!(await storeResults(task, upToDate, sent, clock()))) return
    }
    await store({ write_back_error: null, write_back_failures: 0, write_back_at: clock() })
  } catch (error) {
    const now = clock()
    if (error instanceof RateLimited) {
      await store({ write_back_at: error.until })
      return
    }
    if (signal.aborted) {
      await store({ write_back_at: now })
      return
    }
    if (error instanceof SignedOut) {
      // Writing continues as soon as a person has signed in again.
      await store({ state: 'signed_out', error: error.message, write_back_at: now })
      return
    }
    const failures = connection.write_back_failures + 1
    const problem = problemOf(connector.label, error)
    await store({
      write_back_error: problem ?? INTERNAL,
      write_back_failures: failures,
      write_back_at: new Date(now.getTime() + retryMs(failures)),
    })
    if (problem === null) throw error
  }
}

type Changes = Partial<{
  state: string
  error: string | null
  write_back_error: string | null
  write_back_failures: number
  write_back_at: Date
}>

const MISSING: WriteResult = {
  status: 'failed',
  code: 'no_result',
  message: 'The connected system did not report whether it stored the contact.',
  isFinal: false,
}

function retryMs(failures: number): number {
  return Math.min(RETRY_MS_FIRST * 2 ** (failures - 1), RETRY_MS_MAX)
}

/** Before the first read, the system's values are unknown. */
function isRead({ position }: ConnectionRow, { objects }: WriteBack): boolean {
  return objects.every((object) => objectPosition(position as unknown as Position, object).since !== null)
}

interface Planned {
  waiting: Waiting
  record: OutgoingRecord
  /** Set if the contact is only linked to the record that the system has: nothing is sent. */
  link: WriteResult | null
}

/** Decides what to write for each contact, based on its current state here and in the system. */
async function plan(
  { tenant, connection, writeBack, settings }: Task,
  client: Client,
  due: readonly Waiting[],
): Promise<Planned[]> {
  const { source } = connection
  const ids = due.map(({ contactId }) => contactId)
  const set = await tenant.transaction((tx) => openSet(tx, [{ contactIds: ids }]))
  const deleted = await deletedInSource(tenant, source, ids)
  const candidates = due.flatMap((waiting) => {
    const state = set.contact(waiting.contactId)
    const wasDeleted = deleted.has(waiting.contactId)
    const candidate = state
      ? candidateOf(state, { source, settings, writeBack, wasDeleted, isRequested: waiting.isRequested })
      : null
    return candidate === null ? [] : [{ waiting, candidate }]
  })
  if (candidates.length === 0) return []
  const contacts = candidates.map(({ candidate }) => candidate)
  const targets = settings.properties.map(({ target }) => target)
  const current = await writeBack.read(client, contacts, targets)
  return candidates.flatMap(({ waiting, candidate }, index) => {
    const found = current[index] ?? null
    const record = outgoing(candidate, found)
    const link = found !== null && record?.values.length === 0 ? linkTo(found) : null
    return record === null ? [] : [{ waiting, record, link }]
  })
}

function linkTo({ externalId, createdAt }: CurrentRecord): WriteResult {
  return { status: 'written', externalId, createdAt, stored: new Map() }
}

type Sent = Planned & { result: WriteResult }

/**
 * Stores the written values as the source's values, so that the next read counts them as unchanged, and removes the
 * contacts from the outbox. Contacts that failed stay in it until their next attempt.
 * @param upToDate contacts of which nothing had to be written
 * @returns false if a person has changed the connection since. Then nothing is stored.
 */
async function storeResults(
  { tenant, connection, connector, writeBack, settings }: Task,
  upToDate: readonly Waiting[],
  sent: readonly Sent[],
  now: Date,
): Promise<boolean> {
  const { connection_id: connectionId, source, revision } = connection
  return changeRecords(tenant, async (tx) => {
    const current = await tx.db
      .selectFrom('connections')
      .select('revision')
      .where('connection_id', '=', connectionId)
      .forKeyShare()
      .executeTakeFirst()
    if (current?.revision !== revision) return false
    // Contacts are locked in the order that all transactions use, before the outbox rows that their changes would write.
    const ids = [...upToDate, ...sent.map(({ waiting }) => waiting)].map(({ contactId }) => contactId)
    const set = await openSet(tx, [{ contactIds: ids }])
    const errors: RecordError[] = []
    const done = [...upToDate]
    const owners = await ownersOf(tx, source, sent)
    for (const { waiting, record, result } of sent) {
      const { contactId } = waiting
      const state = set.contact(contactId)
      const failed = result.status === 'failed' ? result : linkedElsewhere(result.externalId, contactId, owners)
      if (failed !== null) {
        const failures = waiting.failures + 1
        const isGivenUp = failed.isFinal || failures >= FAILURES_MAX
        // Repeated failures with the same error are listed once.
        if (failures === 1 || isGivenUp) errors.push({ externalId: contactId, ...failed })
        if (isGivenUp) done.push(waiting)
        else await postpone(tx, connectionId, waiting, failures, new Date(now.getTime() + retryMs(failures)))
        continue
      }
      done.push(waiting)
      if (state && result.status === 'written') {
        const written = recordAfter(state, { source, kind: connector.kind, writeBack, settings, record, result }, now)
        set.change(state, state.row, written)
        owners.set(result.externalId, contactId)
      }
    }
    // What the system has taken over is no change of a contact, so nothing follows it.
    await storeSet(tx, new ChangeLog(), set)
    await removeWaiting(tx, connectionId, done)
    await noteErrors(tx, { connectionId, runId: null, object: OBJECT }, errors, now)
    return true
  })
}

async function ownersOf(tx: Tenant, source: string, sent: readonly Sent[]): Promise<Map<string, string>> {
  const ids = sent.flatMap(({ result }) => (result.status === 'written' ? [result.externalId] : []))
  return contactsOfSource(tx, source, ids)
}

/** The error if the system stored the values in a record that belongs to another contact here; null if it did not. */
function linkedElsewhere(externalId: string, contactId: string, owners: ReadonlyMap<string, string>) {
  const owner = owners.get(externalId)
  if (owner === undefined || owner === contactId) return null
  const message = `In the connected system, this email belongs to the record ${externalId}, which is the contact ${owner}. Merge the two contacts.`
  return { code: 'linked_elsewhere', message, isFinal: true }
}

/** The source's record with the written values. It keeps its time, because later changes in the system have not been read yet. */
function recordAfter(
  state: ContactState,
  {
    source,
    kind,
    writeBack,
    settings,
    record,
    result,
  }: {
    source: string
    kind: SourceRecord['kind']
    writeBack: WriteBack
    settings: WriteBackSettings
    record: OutgoingRecord
    result: WriteResult & { status: 'written' }
  },
  now: Date,
): SourceRecord {
  const own = recordOf(state, source)
  const { email } = state.row
  const fields = new Map(Object.entries(own?.fields ?? {}))
  const updated_at = now.toISOString()
  for (const { property, target, text } of record.values) {
    const value = result.stored.get(property) ?? null
    const isChanged = value !== null && writeBack.textOf(target, value) !== text
    if (value === null) fields.delete(property)
    else fields.set(property, { value, updated_at, ...(isChanged ? { written: text } : {}) })
  }
  // What the system required of a new record is not news of the contact when the system sends it back.
  for (const [property, value] of result.stored) {
    if (value === null || settings.properties.some((pair) => pair.property === property)) continue
    fields.set(property, { value, updated_at })
  }
  if (own) return { ...own, external_id: own.external_id ?? result.externalId, fields: Object.fromEntries(fields) }
  if (email !== null) fields.set('email', { value: email, updated_at })
  return {
    source,
    kind,
    external_id: result.externalId,
    fields: Object.fromEntries(fields),
    raw: null,
    raw_bytes: 0,
    first_seen_at: now,
    updated_at: result.createdAt !== null && result.createdAt < now ? result.createdAt : now,
    synced_at: now,
    enriched_at: null,
  }
}
