import { sql } from 'kysely'
import { recordOf } from '../../contacts/writing/contact-set.ts'
import { readSet } from '../../contacts/writing/keys.ts'
import { renderContent } from '../../identities/mail/compose.ts'
import { isOfOpenTenant } from '../../platform/closed-tenants.ts'
import { TENANTS_AT_ONCE, workOnDue } from '../../platform/due-rows.ts'
import type { Repeated } from '../../platform/every.ts'
import { newId } from '../../platform/ids.ts'
import type { Logger } from '../../platform/log.ts'
import {
  ClaimLost,
  isClaimed,
  isFree,
  newClaim,
  RELEASED,
  updateClaimed,
  whileClaimed,
} from '../../platform/postgres/lease.ts'
import { openTenant, type Stores, type Tenant } from '../../platform/tenant.ts'
import { HOUR_MS, MINUTE_MS } from '../../platform/time.ts'
import { connectorNamed } from '../all-connectors.ts'
import { ApiRefused, type Client, isRefusal, problemOf, RateLimited, SignedOut } from '../client.ts'
import { clientOfConnection } from '../connection-client.ts'
import { type ConnectionRow, findConnection } from '../connections.ts'
import type { ActivityStore } from '../connector.ts'
import type { PullServices } from '../pull.ts'
import { noteErrors } from '../runs.ts'
import { subjectOf } from './outbox.ts'

const OBJECT = 'activities'
/** Then other tenants have their turn. */
const AT_ONCE = 50
/** Attempts for about a day, because the pauses of a connection grow. */
const FAILURES_MAX = 28
const RETRY_MS_FIRST = MINUTE_MS
const RETRY_MS_MAX = HOUR_MS
const INTERNAL =
  'Storing activities failed because of an internal error and will be retried. The cause is in the log of the service.'

interface Task {
  tenant: Tenant
  connection: ConnectionRow
  store: ActivityStore
  client: Client
  signal: AbortSignal
  now: Date
}

interface Waiting {
  activity_id: string
  contact_id: string
  kind: 'note' | 'email'
  subject: string | null
  content: string
  happened_at: Date
  may_be_stored: boolean
  failures: number
  claim: string
}

/** Stores the activities that wait, in all connected systems. Several processes may do so at the same time. */
export function startActivityWorkers({
  stores,
  log,
  ...services
}: Omit<PullServices, 'log'> & { stores: Stores; log: Logger }): Repeated {
  const stopping = new AbortController()
  const working = workOnDue({
    readDue: () =>
      stores.database
        .selectFrom('connections')
        .distinctOn('tenant_id')
        .select(['tenant_id', 'connection_id'])
        .where('activities', '=', true)
        .where('activities_at', '<=', sql<Date>`now()`)
        .where('state', 'not in', ['paused', 'signed_out'])
        .where(isOfOpenTenant(stores))
        .where(({ exists, selectFrom }) =>
          exists(
            selectFrom('connection_activities')
              .select('activity_id')
              .whereRef('connection_activities.tenant_id', '=', 'connections.tenant_id')
              .whereRef('connection_activities.connection_id', '=', 'connections.connection_id')
              .where('external_id', 'is', null)
              .where(isFree),
          ),
        )
        .orderBy('tenant_id')
        .orderBy('activities_at')
        .limit(TENANTS_AT_ONCE)
        .execute(),
    work: ({ tenant_id, connection_id }) =>
      storeActivities(openTenant(stores, tenant_id), { ...services, log }, connection_id, stopping.signal),
    noun: 'an activity of a connected system',
    log,
  })
  return {
    stop: async () => {
      stopping.abort()
      await working.stop()
    },
  }
}

/**
 * Stores the activities of a connection one after another, oldest first. If the result of an attempt is unknown, the next
 * one first searches for what it may have stored, so that no activity is stored twice.
 * @throws an unexpected error, to be logged. The connection shows every error, and storing is retried.
 */
async function storeActivities(
  tenant: Tenant,
  services: PullServices,
  connectionId: string,
  signal: AbortSignal,
): Promise<void> {
  const connection = await findConnection(tenant, connectionId)
  if (!connection?.activities || connection.state === 'paused' || connection.state === 'signed_out') return
  const connector = connectorNamed(connection.connector)
  const { activities: store } = connector
  if (!store) throw new Error(`${connector.label} stores no activities.`)
  const { clock } = services
  const set = (changes: Changes) =>
    tenant.db
      .updateTable('connections')
      .set(changes)
      .where('connection_id', '=', connectionId)
      .where('revision', '=', connection.revision)
      .execute()
  try {
    const client = clientOfConnection(tenant, services, connector, connection, signal)
    for (let count = 0; count < AT_ONCE; count++) {
      signal.throwIfAborted()
      const waiting = await claimNext(tenant, connectionId)
      if (!waiting) break
      const task = { tenant, connection, store, client, signal, now: clock() }
      await whileClaimed('connection_activity', whereClaimed(tenant, waiting), () => attempt(task, waiting))
    }
    await set({ activities_error: null, activities_failures: 0, activities_at: clock() })
  } catch (error) {
    const now = clock()
    if (error instanceof RateLimited) return void (await set({ activities_at: error.until }))
    // Another process continues, or the contact was deleted meanwhile.
    if (signal.aborted || error instanceof ClaimLost) return
    if (error instanceof SignedOut) {
      // Storing continues as soon as a person has signed in again.
      await set({ state: 'signed_out', error: error.message })
      return
    }
    const failures = connection.activities_failures + 1
    const problem = problemOf(connector.label, error)
    const retryMs = Math.min(RETRY_MS_FIRST * 2 ** (failures - 1), RETRY_MS_MAX)
    await set({
      activities_error: problem ?? INTERNAL,
      activities_failures: failures,
      activities_at: new Date(now.getTime() + retryMs),
    })
    if (problem === null) throw error
  }
}

type Changes = Partial<
  Pick<ConnectionRow, 'state' | 'error' | 'activities_error' | 'activities_failures' | 'activities_at'>
>

/** Claims the oldest free activity of a connection; those that failed come last. */
async function claimNext(tenant: Tenant, connectionId: string): Promise<Waiting | undefined> {
  const claim = newId()
  const row = await tenant.db
    .updateTable('connection_activities')
    .set(newClaim('connection_activity', claim))
    .where('activity_id', '=', ({ selectFrom }) =>
      selectFrom('connection_activities')
        .select('activity_id')
        .where('connection_id', '=', connectionId)
        .where('external_id', 'is', null)
        .where(isFree)
        .orderBy('failures')
        .orderBy('happened_at')
        .orderBy('activity_id')
        .limit(1)
        .forUpdate()
        .skipLocked(),
    )
    .returning(['activity_id', 'contact_id', 'kind', 'subject', 'content', 'happened_at', 'may_be_stored', 'failures'])
    .executeTakeFirst()
  return row && { ...row, kind: row.kind as Waiting['kind'], content: row.content ?? '', claim }
}

function whereClaimed(tenant: Tenant, { activity_id, claim }: Pick<Waiting, 'activity_id' | 'claim'>) {
  return tenant.db.updateTable('connection_activities').where('activity_id', '=', activity_id).where(isClaimed(claim))
}

/** @throws the system's error, if it is not about this activity. The activity then waits. */
async function attempt(task: Task, waiting: Waiting): Promise<void> {
  const { tenant, connection, store, client } = task
  const set = await readSet(tenant, [{ contactIds: [waiting.contact_id], rawOf: [] }])
  const state = set.contact(waiting.contact_id)
  const contact = state && recordOf(state, connection.source)?.external_id
  // The system does not have the contact.
  if (!contact) return remove(task, waiting)
  const { kind, happened_at: at } = waiting
  let mayBeStored = waiting.may_be_stored
  try {
    const activity = { kind, contact, subject: subjectOf(waiting), at, ...(await renderContent(waiting.content)) }
    const found = mayBeStored ? await store.find(client, activity) : null
    if (found !== null) return await keep(task, waiting, found)
    await updateClaimed(whereClaimed(tenant, waiting).set({ may_be_stored: true }))
    mayBeStored = true
    return await keep(task, waiting, await store.store(client, activity))
  } catch (error) {
    if (isAboutRecord(error)) return giveUp(task, waiting, error)
    const isWait = error instanceof RateLimited || error instanceof SignedOut
    const failures = waiting.failures + (isWait || task.signal.aborted ? 0 : 1)
    if (failures >= FAILURES_MAX && error instanceof Error) return giveUp(task, waiting, error)
    // A refused request has stored nothing. An earlier one may have, if the search for it was refused.
    const isRefused = isWait || isRefusal(error)
    const may_be_stored = isRefused ? waiting.may_be_stored : mayBeStored
    await updateClaimed(whereClaimed(tenant, waiting).set({ ...RELEASED, failures, may_be_stored }))
    throw error
  }
}

/** Whether the system refuses this activity. Others, such as a lack of permission, concern all of them. */
function isAboutRecord(error: unknown): error is ApiRefused {
  return error instanceof ApiRefused && [400, 404, 409, 413, 422].includes(error.status)
}

/** The text is no longer needed: the note or the mail is here anyway. */
async function keep({ tenant }: Task, waiting: Waiting, externalId: string): Promise<void> {
  await updateClaimed(
    whereClaimed(tenant, waiting).set({ ...RELEASED, external_id: externalId, subject: null, content: null }),
  )
}

async function remove({ tenant }: Pick<Task, 'tenant'>, { activity_id, claim }: Waiting): Promise<void> {
  await tenant.db
    .deleteFrom('connection_activities')
    .where('activity_id', '=', activity_id)
    .where(isClaimed(claim))
    .execute()
}

async function giveUp({ tenant, connection, now }: Task, waiting: Waiting, error: Error): Promise<void> {
  await tenant.transaction(async (tx) => {
    await remove({ tenant: tx }, waiting)
    const place = { connectionId: connection.connection_id, runId: null, object: OBJECT }
    await noteErrors(tx, place, [{ externalId: waiting.contact_id, code: 'refused', message: error.message }], now)
  })
}
