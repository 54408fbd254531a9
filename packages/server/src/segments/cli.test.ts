import { rm } from 'node:fs/promises'
import { afterEach, expect, test } from 'vitest'
import { CommandLine } from '../../test/command-line.ts'
import { createDatabase } from '../../test/databases.ts'
import { MAIN, openDirectory, RUNNING, startProcess } from '../../test/process.ts'

const cleanup: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo()
})

const FILTER = {
  match: 'all',
  conditions: [{ event: { type: 'page_view', url_contains: '/pricing' }, operator: 'did' }],
}

/** The service counts a segment's members: at its next start, or shortly if it is running. */
test('cdsctl segment create works with and without a running service', async () => {
  const directory = await openDirectory()
  cleanup.push(() => rm(directory, { recursive: true, force: true }))
  const environment = {
    CDS_DATA_DIR: directory,
    DATABASE_URL: await createDatabase(),
    PORT: '0',
    HOST: '127.0.0.1',
    CDS_LOG_LEVEL: 'warn',
  }
  const commandLine = new CommandLine(environment)
  cleanup.push(() => commandLine.close())
  const cds = (...args: string[]) => commandLine.json(...args)
  await cds('migrate')
  const { tenant_id } = await cds('tenant', 'create', '--name', 'Alone')
  const { api_key } = await cds('key', 'create', '--tenant', tenant_id, '--name', 'k', '--scopes', 'all')
  await cds('seed', '--tenant', tenant_id, '--contacts', '30', '--companies', '3', '--events', '800', '--days', '5')
  const defineAs = (filter: string) =>
    cds('segment', 'create', '--tenant', tenant_id, '--name', 'Pricing', '--description', 'Looked', '--filter', filter) // biome-ignore format: a call
  const define = async (filter: unknown) => {
    const { segment, ...refused } = await defineAs(JSON.stringify(filter))
    return segment ?? refused
  }
  const before = await define(FILTER)
  expect(before).toMatchObject({ contact_count: null, counting: true })

  const service = await startProcess(MAIN, [], environment, RUNNING)
  cleanup.push(() => service.end('SIGTERM'))
  const url = RUNNING.exec(service.output())?.[1] ?? ''
  const read = async (segmentId: string) => {
    const response = await fetch(`${url}/v1/segments/${segmentId}`, { headers: { authorization: `Bearer ${api_key}` } })
    return ((await response.json()) as { segment: { contact_count: number; description: string } }).segment
  }
  await expect.poll(async () => (await read(before.segment_id)).contact_count).not.toBeNull()
  const { contact_count, description } = await read(before.segment_id)
  expect(description).toBe('Looked')
  expect(contact_count).toBeGreaterThan(0)
  const beside = await define(FILTER)
  // The service may already have counted them.
  expect([
    { contact_count: null, counting: true },
    { contact_count, counting: false },
  ]).toContainEqual({ contact_count: beside.contact_count, counting: beside.counting })
  // The command cannot read the events of the running service, so it does not warn of a name that none of them has.
  const named = { event: { where: [{ property: 'data.amuont', operator: 'gt', value: 1 }] }, operator: 'did' }
  expect(await define({ match: 'all', conditions: [named] })).toMatchObject({ counting: true })
  await expect.poll(async () => (await read(beside.segment_id)).contact_count).toBe(contact_count)

  // The error for an invalid filter names the field, and nothing is created.
  const refused = await define({ match: 'all', conditions: [{ property: 'x', operator: 'like', value: 1 }] })
  expect(refused).toMatchObject({ exit: 1, error: { code: 'validation_error' } })
  expect(JSON.stringify(refused)).toContain('filter.conditions[0].operator')
  for (const [filter, exit, problem] of [
    ['{"match":', 2, /^--filter is not valid JSON: /],
    ["{'match': 'all'}", 2, /^--filter is not valid JSON: /],
    ['', 2, /^--filter is not valid JSON: /],
    ['{"match":"all\\u0000"}', 2, /^--filter cannot be used: match/],
    ['[]', 1, /^filter: must be an object/],
  ] as const) {
    expect(await defineAs(filter), filter).toMatchObject({
      exit,
      error: { message: expect.stringMatching(problem) },
    })
  }

  // Seeded contacts join existing segments.
  await cds(
    'seed',
    '--tenant',
    tenant_id,
    '--contacts',
    '30',
    '--companies',
    '3',
    '--events',
    '800',
    '--days',
    '5',
    '--seed',
    '2',
  )
  await expect.poll(async () => Number((await read(beside.segment_id)).contact_count)).toBeGreaterThan(contact_count)
})
