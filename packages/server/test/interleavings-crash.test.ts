import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, inject, test } from 'vitest'
import { newId } from '../src/platform/ids.ts'
import { connectPostgres } from '../src/platform/postgres/connect.ts'
import type { DB } from '../src/platform/postgres/generated/tables.ts'
import { createDatabase } from './databases.ts'
import { KillableService } from './killable.ts'
import {
  contactOf,
  emptyWorld,
  holderOf,
  identify,
  merge,
  ownerOf,
  remove,
  unmerge,
  unmergeable,
  type World,
} from './owners-model.ts'
import { openDirectory, startProcess } from './process.ts'
import { seededRandom } from './seed.ts'
import { call, insertTenant, insertTenantOf, type TestResponse } from './service.ts'

const FRONT = 'packages/server/test/clickhouse-front.ts'
const TENANTS = 3
const STEPS = 24
/** Few enough for one page of a list. */
const EVENTS_MAX = 80
/** Spread over the steps; of two processes, each is killed once. */
const KILLS = 2
const VISITORS = ['v0', 'v1', 'v2', 'v3']
const EMAILS = ['ada@example.com', 'bob@example.com', 'cyd@example.com']
/** The first operations, so that every seed has each of them; null: a step that only reads. */
const OPENING: (((world: World) => Op) | null)[] = [
  () => ({ kind: 'identify', visitor: 'v0', email: 'ada@example.com' }),
  () => ({ kind: 'identify', visitor: 'v1', email: 'bob@example.com' }),
  ({ contacts }) => {
    const [contactId = '', into = ''] = contacts.keys()
    return { kind: 'merge', contactId, into }
  },
  null,
  (world) => ({ kind: 'unmerge', contactId: unmergeable(world)[0] ?? '' }),
  null,
  ({ contacts }) => ({ kind: 'delete', contactId: [...contacts.keys()][0] ?? '' }),
  null,
]

const cleanup: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo()
})

type Op =
  | { kind: 'identify'; visitor: string; email: string }
  | { kind: 'form'; visitor: string | null; email: string }
  | { kind: 'delete' | 'unmerge'; contactId: string }
  | { kind: 'merge'; contactId: string; into: string }

/** Concurrent requests of a tenant's clients. */
interface Step {
  op: Op | null
  /** Visitors that send an event. */
  visits: string[]
  /** `all`, or the contact whose events are read. */
  reads: string[]
}

interface Sent {
  isAcknowledged: boolean
  /** Its owner; two while it is unknown whether it was sent before or after its visitor changed owners. */
  owners: Set<string>
}

/** The processes of a service; one that is down has no URL. */
interface Fleet {
  services: KillableService[]
  urls: (string | null)[]
  kills: number
  isOver: boolean
}

interface Tenant {
  id: string
  key: string
  site: string
  /** The expected state. */
  world: World
  /** Every contact that ever existed. */
  named: Set<string>
  /** Its events, by the last part of their URL. */
  sent: Map<string, Sent>
  steps: Step[]
  random: () => number
  /** Separate from the steps, because the number of draws depends on when processes are killed. */
  randomProcess: () => number
}

/** Where the databases run: in the processes that are killed, or outside them. */
const ENGINES = [
  { engines: 'external engines, two processes', start: startTwoProcesses },
  { engines: 'embedded engines, one process', start: startEmbedded },
]

/**
 * Several tenants at once, each with a model. The requests of a step run concurrently, through any process; a request
 * without a response is sent again. The seed determines the steps, and after which of them a process is killed.
 */
test.each(ENGINES)(
  'killed again and again, each read returns every acknowledged event once, with the right contact: $engines',
  async ({ start }) => {
    const { fleet, tenants } = await start()
    const killing = killInTurns(fleet, tenants)
    killing.catch(() => {
      fleet.isOver = true
    })
    try {
      await Promise.all(
        tenants.map(async (tenant) => {
          for (let step = 0; step < STEPS || fleet.kills < KILLS; step++) {
            await runStep(fleet, tenant, openingStep(tenant, step) ?? drawStep(tenant))
          }
        }),
      )
    } finally {
      fleet.isOver = true
      await killing
    }
    const done = tenants.flatMap(({ steps }) => steps.flatMap(({ op }) => op?.kind ?? []))
    expect(done).toEqual(expect.arrayContaining(['merge', 'unmerge', 'delete']))
    // Every process returns the same state.
    for (const url of fleet.urls) {
      const one = { ...fleet, urls: [url], isOver: false }
      for (const tenant of tenants) {
        await runStep(one, tenant, { op: null, visits: [], reads: ['all', ...readable(tenant)] })
      }
    }
  },
)

interface Started {
  fleet: Fleet
  tenants: Tenant[]
}

async function openData(): Promise<string> {
  const directory = await openDirectory()
  cleanup.push(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }))
  return directory
}

async function startTwoProcesses(): Promise<Started> {
  const directory = await openData()
  const front = await startProcess(FRONT, [directory, '0'], {}, /ready \d+/)
  cleanup.push(() => front.end('SIGKILL'))
  const environment = {
    CLICKHOUSE_URL: `http://127.0.0.1:${/ready (\d+)/.exec(front.output())?.[1]}`,
    DATABASE_URL: await createDatabase(),
    CDS_SECRET_KEY: randomBytes(32).toString('base64'),
    CDS_DATA_DIR: directory,
  }
  const fleet = await startFleet([new KillableService(environment), new KillableService(environment)])
  const postgres = connectPostgres<DB>({ connectionString: environment.DATABASE_URL }, 1)
  cleanup.push(() => postgres.close())
  return { fleet, tenants: await createTenants(() => insertTenant(postgres.db)) }
}

async function startEmbedded(): Promise<Started> {
  const directory = await openData()
  const fleet = await startFleet([new KillableService({ CDS_DATA_DIR: directory })])
  return { fleet, tenants: await createTenants(() => insertTenantOf(directory)) }
}

async function startFleet(services: KillableService[]): Promise<Fleet> {
  for (const service of services) cleanup.push(() => service.close())
  const urls = await Promise.all(services.map((service) => service.start()))
  return { services, urls, kills: 0, isOver: false }
}

async function createTenants(insert: () => ReturnType<typeof insertTenant>): Promise<Tenant[]> {
  const tenants: Tenant[] = []
  for (let index = 0; index < TENANTS; index++) {
    const random = { random: seededRandom(2 * index + 1), randomProcess: seededRandom(2 * index + 2) }
    const model = { world: emptyWorld(), named: new Set<string>(), sent: new Map<string, Sent>(), steps: [] }
    tenants.push({ ...(await insert()), ...random, ...model })
  }
  return tenants
}

/** Kills one process after another and restarts it. */
async function killInTurns(fleet: Fleet, tenants: Tenant[]): Promise<void> {
  const random = seededRandom()
  const first = Math.floor(random() * fleet.services.length)
  const stepsDone = () => tenants.reduce((sum, { steps }) => sum + steps.length, 0)
  for (let kill = 0; kill < KILLS; kill++) {
    const after = ((kill + random()) / KILLS) * 0.9 * STEPS * TENANTS
    while (stepsDone() < after && !fleet.isOver) await sleep(5)
    if (fleet.isOver) return
    await sleep(random() * 50)
    const victim = (first + kill) % fleet.services.length
    fleet.urls[victim] = null
    await fleet.services[victim]?.kill()
    fleet.kills++
    await sleep(random() * 300)
    const service = fleet.services[victim]
    fleet.urls[victim] =
      (await (kill + fleet.services.length < KILLS ? service?.start() : service?.startLast())) ?? null
  }
}

/** Contacts whose events can be read, including deleted ones. */
function readable({ named, world }: Tenant): string[] {
  return [...named].filter((id) => !world.merges.some(({ contactId }) => contactId === id))
}

function openingStep({ world }: Tenant, step: number): Step | null {
  const op = OPENING[step]
  if (op === undefined) return null
  return op === null ? { op, visits: [], reads: ['all'] } : { op: op(world), visits: ['v0', 'v1'], reads: ['all'] }
}

function drawStep(tenant: Tenant): Step {
  const { random, sent } = tenant
  const op = random() < 0.7 ? drawOp(tenant) : null
  const count = sent.size < EVENTS_MAX ? Math.floor(random() * 3) : 0
  const visits = Array.from({ length: count }, () => pick(random, VISITORS))
  const contacts = readable(tenant)
  const one = random() < 0.5 && contacts.length > 0 ? [pick(random, contacts)] : []
  return { op, visits, reads: random() < 0.5 ? ['all', ...one] : one }
}

function drawOp({ random, world, sent }: Tenant): Op | null {
  const [visitor, email] = [pick(random, VISITORS), pick(random, EMAILS)]
  const contacts = [...world.contacts.keys()]
  const kind = pick(random, ['identify', 'identify', 'form', 'form', 'delete', 'merge', 'merge', 'unmerge'] as const)
  if (kind === 'identify') return { kind, visitor, email }
  if (kind === 'form') return sent.size < EVENTS_MAX ? { kind, visitor: random() < 0.7 ? visitor : null, email } : null
  const from = kind === 'unmerge' ? unmergeable(world) : contacts
  if (from.length === 0) return null
  const contactId = pick(random, from)
  if (kind !== 'merge') return { kind, contactId }
  const others = contacts.filter((id) => id !== contactId)
  return others.length > 0 ? { kind, contactId, into: pick(random, others) } : null
}

function pick<T>(random: () => number, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)] as T
}

/** Runs a step, and compares the reads with the model before and after it: either order is valid. */
async function runStep(fleet: Fleet, tenant: Tenant, step: Step): Promise<void> {
  tenant.steps.push(step)
  const before = structuredClone(tenant.world)
  const visits = step.visits.map((visitor) => ({ visitor, sent: prepare(tenant, `visit${tenant.sent.size}`) }))
  const [readings] = await Promise.all([
    Promise.all(step.reads.map((what) => read(fleet, tenant, what))),
    step.op && perform(fleet, tenant, step.op),
    ...visits.map(({ visitor, sent }) => track(fleet, tenant, visitor, sent)),
  ])
  const worlds = [before, tenant.world]
  for (const { visitor, sent } of visits) for (const world of worlds) sent.owners.add(ownerOf(world, visitor))
  for (const reading of readings) check(tenant, worlds, reading)
  if (step.op !== null) return
  const isQuiet = visits.length === 0
  for (const { events, total, what } of readings) {
    if (isQuiet) expect(total, said(tenant, 'the count')).toBe(events.length)
    if (what === 'all') for (const { name, contactId } of events) narrow(tenant, name, contactId)
  }
  if (isQuiet) await checkCopy(fleet, tenant)
}

/**
 * Compares what ClickHouse computes from its own copy of the links with the list, whose contacts come from PostgreSQL
 * and have been compared with the model. Nothing else may happen meanwhile.
 */
async function checkCopy(fleet: Fleet, tenant: Tenant): Promise<void> {
  const reading = await read(fleet, tenant, 'all')
  check(tenant, [tenant.world], reading)
  const owned = reading.events.flatMap(({ contactId }) => contactId ?? [])
  const path = '/v1/events?identified_only=true&count_only=true'
  const identified = await request(fleet, tenant, () => ({ method: 'GET', path }))
  expect(identified.body.count, said(tenant, 'the count of identified events')).toBe(owned.length)
  const body = { entity: 'events', group_by: 'contact_id', limit: 50 }
  const grouped = await request(fleet, tenant, () => ({ method: 'POST', path: '/v1/aggregate', body }))
  const buckets: { key: string; value: number }[] = grouped.body.buckets
  const counted = buckets.flatMap(({ key, value }) => Array<string>(value).fill(key))
  expect(counted.sort(), said(tenant, 'the counts by contact')).toEqual(owned.sort())
  expect(grouped.body.total, said(tenant, 'the total')).toBe(reading.events.length)
}

type Named = Sent & { name: string }

/** An event to send. */
function prepare({ sent }: Tenant, name: string): Named {
  const event = { name, isAcknowledged: false, owners: new Set<string>() }
  sent.set(name, event)
  return event
}

async function track(fleet: Fleet, tenant: Tenant, visitor: string, sent: Named): Promise<void> {
  const events = [{ event: 'visited', event_id: newId(), url: `https://${tenant.site}/${sent.name}` }]
  const body = { visitor_id: visitor, events }
  const { status } = await request(fleet, tenant, () => ({ method: 'POST', path: '/track', body }))
  expect(status, said(tenant, 'a visit')).toBe(200)
  sent.isAcknowledged = true
}

async function perform(fleet: Fleet, tenant: Tenant, op: Op): Promise<void> {
  const { world } = tenant
  if (op.kind === 'identify') {
    const isNew = holderOf(world, op.email) === null
    const body = { visitor_id: op.visitor, email: op.email }
    const response = await request(fleet, tenant, () => ({ method: 'POST', path: '/v1/identify', body }))
    expectContact(tenant, op.email, response)
    if (!response.isRepeated) expect(response.body.created, said(tenant, 'who was identified')).toBe(isNew)
    identify(world, op.visitor, op.email, response.body.contact_id)
  } else if (op.kind === 'form') {
    const attempts: Named[] = []
    const response = await request(fleet, tenant, () => {
      // It is unknown whether an attempt without a response was recorded, so each attempt is a separate event.
      const { name } = attempts[attempts.push(prepare(tenant, `form${tenant.sent.size}`)) - 1] as Named
      const body = { contact_data: { email: op.email }, ...(op.visitor === null ? {} : { visitor_id: op.visitor }) }
      return { method: 'POST', path: `/v1/public/form-submission/${tenant.id}/f`, body, page: name }
    })
    expectContact(tenant, op.email, response)
    for (const attempt of attempts) attempt.owners.add(response.body.contact_id)
    for (const attempt of attempts.slice(-1)) attempt.isAcknowledged = true
    identify(world, op.visitor, op.email, response.body.contact_id)
  } else if (op.kind === 'delete') {
    await change(fleet, tenant, { method: 'DELETE', path: `/v1/contacts/${op.contactId}` }, 'not_found')
    remove(world, op.contactId)
  } else if (op.kind === 'merge') {
    const path = `/v1/contacts/${op.contactId}/merge`
    await change(fleet, tenant, { method: 'POST', path, body: { into: op.into } }, 'already_merged')
    merge(world, op.contactId, op.into)
  } else {
    const path = `/v1/contacts/${op.contactId}/unmerge`
    await change(fleet, tenant, { method: 'POST', path }, 'contact_not_merged')
    unmerge(world, op.contactId)
  }
}

/** An email identifies the contact that has it, or creates one. */
function expectContact(tenant: Tenant, email: string, { status, body }: TestResponse): void {
  expect(status, said(tenant, JSON.stringify(body))).toBe(200)
  const holder = holderOf(tenant.world, email)
  if (holder !== null) expect(body.contact_id, said(tenant, email)).toBe(holder)
  else expect([...tenant.named], said(tenant, email)).not.toContain(body.contact_id)
  tenant.named.add(body.contact_id)
}

/** @param done the response to a retry if the first attempt, which got no response, was executed. */
async function change(fleet: Fleet, tenant: Tenant, sent: Request, done: string): Promise<void> {
  const { status, body, isRepeated } = await request(fleet, tenant, () => sent)
  if (isRepeated && body.error?.code === done) return
  expect(status, said(tenant, JSON.stringify(body))).toBe(200)
}

interface Reading {
  what: string
  /** The events that had been acknowledged before it started. */
  acknowledged: string[]
  events: { name: string; contactId: string | null }[]
  total: number
}

async function read(fleet: Fleet, tenant: Tenant, what: string): Promise<Reading> {
  let acknowledged: string[] = []
  const { status, body } = await request(fleet, tenant, () => {
    acknowledged = [...tenant.sent].flatMap(([name, { isAcknowledged }]) => (isAcknowledged ? [name] : []))
    return { method: 'GET', path: what === 'all' ? '/v1/events?limit=100' : `/v1/contacts/events/${what}` }
  })
  // A contact without events that does not exist, or no longer exists.
  if (status === 404 && what !== 'all') return { what, acknowledged, events: [], total: 0 }
  expect(status, said(tenant, JSON.stringify(body))).toBe(200)
  const events = (body.events as { url: string; internal_contact_id?: string | null }[]).map((event) => ({
    name: event.url.slice(`https://${tenant.site}/`.length),
    contactId: what === 'all' ? (event.internal_contact_id ?? null) : what,
  }))
  return { what, acknowledged, events, total: what === 'all' ? body.pagination.total_items : body.total_items }
}

function check(tenant: Tenant, worlds: World[], { what, acknowledged, events }: Reading): void {
  const contactsOf = (name: string) => {
    const { owners } = tenant.sent.get(name) ?? { owners: [] }
    return new Set([...owners].flatMap((owner) => worlds.map((world) => contactOf(world, owner))))
  }
  const names = events.map(({ name }) => name)
  expect(names.length, said(tenant, `twice in ${what}: ${names}`)).toBe(new Set(names).size)
  for (const { name, contactId } of events) {
    expect([...contactsOf(name)], said(tenant, `whose ${name} is in ${what}`)).toContain(contactId)
  }
  const isWanted = (name: string) => what === 'all' || [...contactsOf(name)].every((contactId) => contactId === what)
  const missed = acknowledged.filter((name) => isWanted(name) && !names.includes(name))
  expect(missed, said(tenant, `missed in ${what}`)).toEqual([])
}

/** Once an event was read with a contact, it stays with it. */
function narrow({ world, sent }: Tenant, name: string, contactId: string | null): void {
  const event = sent.get(name)
  for (const owner of event?.owners ?? []) if (contactOf(world, owner) !== contactId) event?.owners.delete(owner)
}

interface Request {
  method: string
  path: string
  body?: object
  /** The page that sends it. */
  page?: string
}

/** Sends a request through any process until one responds. A 503 because a database is down does not count. */
async function request(
  fleet: Fleet,
  { key, site, randomProcess }: Tenant,
  make: () => Request,
): Promise<TestResponse & { isRepeated: boolean }> {
  for (let isRepeated = false; !fleet.isOver; ) {
    const url = pick(randomProcess, fleet.urls)
    if (url === null) {
      await sleep(10)
      continue
    }
    const { method, path, body, page = '' } = make()
    const headers = { authorization: `Bearer ${key}`, origin: `https://${site}`, referer: `https://${site}/${page}` }
    const init = { headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    const response = await call({ url }, method, path, init).catch(() => null)
    if (response !== null && response.status !== 503) return { ...response, isRepeated }
    isRepeated = true
    await sleep(20)
  }
  throw new Error('Another tenant has failed, or a process did not start.')
}

/** Describes a failure, and how to reproduce it. */
function said({ steps }: Tenant, what: string): string {
  return `${what} (npm test -- --sequence.seed=${inject('seed')}), after ${JSON.stringify(steps.slice(-4))}`
}
