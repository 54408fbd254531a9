import { rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { connectPostgres } from '../src/platform/postgres/connect.ts'
import type { DB } from '../src/platform/postgres/generated/tables.ts'
import { openTenant, type Stores } from '../src/platform/tenant.ts'
import { createDatabase } from './databases.ts'
import { KillableService } from './killable.ts'
import { openDirectory } from './process.ts'
import { seededRandom } from './seed.ts'
import { call, insertTenant } from './service.ts'
import { readState, requireConsistent } from './visible-state.ts'

/** Enough that the writes that arrive during a transaction are a group. */
const SENDERS = 24
/** Transactions that append to the journal wait for this lock while the test holds it. */
const LOCK = 43_003

interface Sent {
  number: number
  isAcknowledged: boolean
}

/**
 * The first kill comes when a group has written everything and its transaction waits to end; the second one at any time. Each
 * write is about a new person, whom it names with a visitor, and about one that all writes share.
 */
test('of the writes of a killed process, the acknowledged ones are there, and each other is there whole or not at all', async () => {
  const directory = await openDirectory()
  const random = seededRandom()
  const DATABASE_URL = await createDatabase()
  const postgres = connectPostgres<DB>({ connectionString: DATABASE_URL }, 2)
  const service = new KillableService({ CDS_DATA_DIR: directory, DATABASE_URL })
  const sent: Sent[] = []
  try {
    await sql`CREATE FUNCTION wait_to_end() RETURNS trigger LANGUAGE plpgsql AS
      ${sql.lit(`BEGIN PERFORM pg_advisory_xact_lock_shared(${LOCK}); RETURN NULL; END`)}`.execute(postgres.db)
    await sql`CREATE TRIGGER wait_to_end AFTER INSERT ON journal
      FOR EACH STATEMENT EXECUTE FUNCTION wait_to_end()`.execute(postgres.db)
    const { id, key, site } = await insertTenant(postgres.db)
    let url = await service.start()
    const headers = { authorization: `Bearer ${key}`, origin: `https://${site}` }
    const post = (path: string, body: object) => call({ url }, 'POST', path, { headers, body: JSON.stringify(body) })
    const send = async (one: Sent) => {
      const { number } = one
      const properties = { [`own${number}`]: number }
      const own = { email: `own${number}@example.com`, visitor_id: `v${number}`, properties }
      const [first, second] = await Promise.all([
        number % 2 === 0
          ? post('/v1/identify', own)
          : post(`/v1/public/form-submission/${id}/f`, {
              visitor_id: own.visitor_id,
              contact_data: { email: own.email, ...properties },
            }),
        post('/v1/identify', { email: 'all@example.com', properties }),
      ])
      expect([first.status, second.status]).toEqual([200, 200])
      one.isAcknowledged = true
    }
    const sendUntil = async (stop: { now: boolean }) => {
      while (!stop.now) {
        const one = { number: sent.length, isAcknowledged: false }
        sent.push(one)
        await send(one).catch((error: unknown) => {
          if (!stop.now) throw error
        })
      }
    }

    const acknowledged = () => sent.filter(({ isAcknowledged }) => isAcknowledged).length
    for (const isHeld of [true, false]) {
      const stop = { now: false }
      const enough = acknowledged() + SENDERS
      const senders = Array.from({ length: SENDERS }, () => sendUntil(stop))
      while (acknowledged() < enough) await sleep(5)
      const held = isHeld ? await holdGroup(postgres.db) : null
      if (!isHeld) await sleep(random() * 200)
      stop.now = true
      await service.kill()
      await Promise.all(senders)
      held?.release()
      await held?.ended
      url = await (isHeld ? service.start() : service.startLast())
    }

    const handle = openTenant({ database: postgres.db, closed: new Set() } as unknown as Stores, id)
    const state = await readState({ id, handle })
    requireConsistent(state)
    const events = await systemEvents({ url }, key)
    const all = state.contacts.find(({ email }) => email === 'all@example.com')
    const record = state.records.find(({ contact_id }) => contact_id === all?.contact_id)
    for (const { number, isAcknowledged } of sent) {
      const own = `own${number}`
      const contact = state.contacts.find(({ email }) => email === `${own}@example.com`)
      const isOwn = ({ contact_id }: { contact_id: string | null }) =>
        contact !== undefined && contact_id === contact.contact_id
      const parts = [
        contact !== undefined && Object.hasOwn(contact.properties as object, own),
        state.records.some((each) => isOwn(each) && Object.hasOwn(each.fields as object, own)),
        state.visitors.some((visitor) => visitor.visitor_id === `v${number}` && isOwn(visitor)),
        state.visitorLinks.some((link) => link.visitor_id === `v${number}` && isOwn(link)),
        state.ownerLinks.some(isOwn),
        ...['contact_created', 'contact_identified', ...(number % 2 === 0 ? [] : ['form_submission'])].map((name) =>
          events.some(({ event, contactId }) => event === name && isOwn({ contact_id: contactId })),
        ),
      ]
      const shared = [
        Object.hasOwn((all?.properties ?? {}) as object, own),
        Object.hasOwn((record?.fields ?? {}) as object, own),
        events.some(({ contactId, text }) => contactId === all?.contact_id && text.includes(`"${own}"`)),
      ]
      for (const each of [parts, shared]) expect(new Set(each).size, `${own}: ${each}`).toBe(1)
      if (isAcknowledged) expect([parts[0], shared[0]], `${own} was acknowledged`).toEqual([true, true])
    }
    expect(state.contacts).toHaveLength(new Set(state.contacts.map(({ email }) => email)).size)
  } finally {
    await service.close()
    await postgres.close()
    await rm(directory, { recursive: true, force: true })
  }
})

/** Lets no transaction end, and waits until one would. */
async function holdGroup(db: ReturnType<typeof connectPostgres<DB>>['db']) {
  const release = Promise.withResolvers<void>()
  const isHeld = Promise.withResolvers<void>()
  const ended = db.connection().execute(async (connection) => {
    await sql`SELECT pg_advisory_lock(${sql.lit(LOCK)})`.execute(connection)
    isHeld.resolve()
    await release.promise
    // PostgreSQL would finish a statement whose sender is gone.
    await sql`SELECT pg_terminate_backend(pid) FROM pg_locks
      WHERE locktype = 'advisory' AND objid = ${sql.lit(LOCK)} AND NOT granted`.execute(connection)
    await sql`SELECT pg_advisory_unlock(${sql.lit(LOCK)})`.execute(connection)
  })
  await isHeld.promise
  for (;;) {
    const { rows } =
      await sql`SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = ${sql.lit(LOCK)} AND NOT granted`.execute(
        db,
      )
    if (rows.length > 0) return { release: release.resolve, ended }
    await sleep(5)
  }
}

async function systemEvents(service: { url: string }, key: string) {
  const events: { event: string; contactId: string | null; text: string }[] = []
  for (let page = 1; ; page++) {
    const path = `/v1/events?include=system&sort_dir=asc&limit=100&page=${page}`
    const { body } = await call(service, 'GET', path, { headers: { authorization: `Bearer ${key}` } })
    for (const { event, internal_contact_id, data } of body.events) {
      events.push({
        event,
        contactId: internal_contact_id ?? null,
        text: JSON.stringify(data.changed ?? data.properties ?? null),
      })
    }
    if (body.events.length < 100) return events
  }
}
