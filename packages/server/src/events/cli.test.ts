import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CommandLine } from '../../test/command-line.ts'
import { createDatabase } from '../../test/databases.ts'
import { openDirectory } from '../../test/process.ts'

let directory: string
let commandLine: CommandLine
let tenant: string
// biome-ignore lint/suspicious/noExplicitAny: a test looks into results of every shape
let cds: (words: string, ...options: string[]) => Promise<any>

beforeAll(async () => {
  directory = await openDirectory()
  commandLine = new CommandLine({ CDS_DATA_DIR: directory, DATABASE_URL: await createDatabase() })
  await commandLine.json('migrate')
  tenant = (await commandLine.json('tenant', 'create', '--name', 'Alone')).tenant_id
  cds = (words, ...options) => commandLine.json(...words.split(' '), '--tenant', tenant, ...options)
  await cds('seed', '--contacts', '20', '--companies', '3', '--events', '300', '--days', '5')
})

afterAll(async () => {
  await commandLine.close()
  await rm(directory, { recursive: true, force: true })
})

test('event commands list, count and read events like the API', async () => {
  const { events, pagination } = await cds('event list', '--event-type', 'page_view', '--limit', '2')
  expect([events.length, pagination.limit]).toEqual([2, 2])
  expect(await cds('event list', '--event-type', 'page_view', '--count-only', 'true')).toEqual({
    count: pagination.total_items,
  })
  const [{ event_id }] = events
  expect((await cds('event get', '--event-id', event_id)).event).toEqual(events[0])
  expect((await cds('event-type list')).types).toContain('page_view')
  expect((await cds('event stats', '--group-by', 'type')).stats.by_type).toContainEqual({
    type: 'page_view',
    count: pagination.total_items,
  })
  expect(await cds('event list', '--date-after', 'yesterday')).toMatchObject({ exit: 2 })
})

test('aggregate groups records, and an error names the invalid field', async () => {
  const grouped = await cds('aggregate', '--entity', 'events', '--group-by', 'event_type', '--limit', '1')
  expect(grouped).toMatchObject({ entity: 'events', group_by: 'event_type', buckets: [{ key: expect.any(String) }] })
  const filtered = ['--entity', 'contacts', '--group-by', 'country', '--filters', '{"lifecycle_stage":"lead"}']
  expect(await cds('aggregate', ...filtered)).toMatchObject({ entity: 'contacts', metric: 'count' })
  const wrong = await cds('aggregate', '--entity', 'contacts', '--group-by', 'country', '--metric', 'sum')
  expect(wrong).toMatchObject({ exit: 1, error: { code: 'validation_error' } })
  expect(wrong.error.message).toContain('metric_field')
})

test('identify and source push record events', async () => {
  const identified = await cds('identify', '--email', 'ada@example.com', '--visitor-id', 'v', '--properties', '{"a":1}')
  expect(identified).toMatchObject({ created: true, linked_visitors: 1 })
  const { contact_id } = identified
  const record = JSON.stringify({ external_id: '7', email: 'ada@example.com', properties: { b: 2 } })
  const other = JSON.stringify({ external_id: '8', email: 'nobody' })
  const pushed = await cds(
    'source push',
    '--source',
    'hubspot',
    '--kind',
    'crm',
    '--records',
    record,
    '--records',
    other,
  )
  expect(pushed).toMatchObject({ failed: 1, results: [{ status: 'updated', contact_id }, { status: 'failed' }] })
  const { events } = await cds('contact events', '--contact-id', contact_id, '--include', 'system')
  expect(events.map(({ event }: { event: string }) => event)).toEqual(
    expect.arrayContaining(['contact_created', 'contact_updated']),
  )
})
