import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createDatabase } from '../../test/databases.ts'
import { openDirectory, startProcess } from '../../test/process.ts'
import { createTestTenant, startTestService, type TestService } from '../../test/service.ts'
import { ConfigError, readConfig } from '../config.ts'
import { newId } from '../platform/ids.ts'
import { allowedBy, requireNoOthers, requireOwnMachine } from './refusals.ts'

const DEMO = 'packages/server/src/demo/main.ts'

const cleanup: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo()
})

async function directoryOf(): Promise<string> {
  const directory = await openDirectory()
  cleanup.push(() => rm(directory, { recursive: true, force: true }))
  return directory
}

/** Starts the demo, which must refuse. @returns its exit code and what it printed. */
async function refused(environment: Record<string, string>, ...args: string[]): Promise<string> {
  return startProcess(DEMO, args, { PORT: '0', ...environment }, /Dashboard/).then(
    async (demo) => {
      await demo.end('SIGKILL')
      throw new Error('It started.')
    },
    ({ message }: Error) => message,
  )
}

describe('an address', () => {
  const at = (environment: Record<string, string>, args: string[] = []) => {
    const { host, publicUrl } = readConfig(environment)
    return () => requireOwnMachine({ host, publicUrl }, allowedBy(args))
  }

  test.each<Record<string, string>>([
    {},
    { HOST: '127.0.0.1' },
    { HOST: '::1' },
    { HOST: 'localhost', PORT: '9000' },
    { CDS_PUBLIC_URL: 'http://localhost:3000' },
  ])('of this machine is accepted: %j', (environment) => {
    expect(at(environment)).not.toThrow()
  })

  test.each([
    ['HOST', { HOST: '0.0.0.0' }],
    ['HOST', { HOST: '::' }],
    ['HOST', { HOST: '192.168.0.7' }],
    ['HOST', { HOST: 'cdp.internal' }],
    ['HOST', { HOST: '0.0.0.0', CDS_PUBLIC_URL: 'http://localhost:8080' }],
    ['CDS_PUBLIC_URL', { CDS_PUBLIC_URL: 'https://cdp.example.com' }],
    ['CDS_PUBLIC_URL', { CDS_PUBLIC_URL: 'https://localhost.example.com' }],
  ])('that others reach is refused by naming %s, unless it is allowed: %j', (name, environment) => {
    expect(at(environment as Record<string, string>)).toThrow(ConfigError)
    expect(at(environment as Record<string, string>)).toThrow(`but ${name} is `)
    expect(at(environment as Record<string, string>, ['--allow-network'])).not.toThrow()
    expect(at(environment as Record<string, string>, ['--allow-other-workspaces'])).toThrow(ConfigError)
  })
})

test('an unknown argument is refused', () => {
  expect(() => allowedBy(['--force'])).toThrow(/--allow-network and --allow-other-workspaces/)
})

describe('a database', () => {
  let service: TestService
  let own: string
  beforeAll(async () => {
    service = await startTestService()
    own = (await createTestTenant(service)).id
  })
  const check = (ownTenantId: string | null, args: string[] = []) =>
    requireNoOthers(service.stores.database, service.config, ownTenantId, allowedBy(args))

  test('with the tenant of an earlier start alone is accepted, and with any other it is refused', async () => {
    await expect(check(own)).resolves.toBeUndefined()
    await expect(check(null)).rejects.toThrow(ConfigError)
    await expect(check(newId())).rejects.toThrow(/The database has the workspace "Test"/)
    for (let more = 0; more < 4; more++) await createTestTenant(service)
    await expect(check(own)).rejects.toThrow(/has 4 other workspaces, among them "Test", "Test", "Test"\./)
    await expect(check('not an id')).rejects.toThrow(/has 5 other workspaces/)
    await expect(check(own, ['--allow-network'])).rejects.toThrow(/-- --allow-other-workspaces$/)
    await expect(check(own, ['--allow-other-workspaces'])).resolves.toBeUndefined()
    await service.close()
  })
})

test('a server with another workspace gets no public owner, and nothing is written', async () => {
  const CDS_DATA_DIR = await directoryOf()
  const DATABASE_URL = await createDatabase()
  const service = await startTestService({ DATABASE_URL })
  cleanup.push(() => service.close())
  const { id } = await createTestTenant(service)
  const output = await refused({ DATABASE_URL, CDS_DATA_DIR })
  expect(output).toMatch(
    /ended with 1:\n([^\n]*\n)*The database has the workspace "Test"\. .* Remove DATABASE_URL\. .*\n$/,
  )
  const { database } = service.stores
  expect(await database.selectFrom('tenants').select('tenant_id').execute()).toEqual([{ tenant_id: id }])
  expect(await database.selectFrom('users').select('id').execute()).toEqual([])
  expect(await readdir(CDS_DATA_DIR)).not.toContain('demo.json')
})

test('an address that others reach is refused before any file exists', async () => {
  const CDS_DATA_DIR = await directoryOf()
  const output = await refused({ CDS_DATA_DIR, HOST: '0.0.0.0' })
  expect(output).toMatch(/ended with 1:\nThe demo has an owner whose password is public, .* HOST is 0\.0\.0\.0\. .*\n$/)
  expect(await readdir(CDS_DATA_DIR)).toEqual([])
})

test('the data directory of an installation is refused, also with the file of another demo', async () => {
  const CDS_DATA_DIR = await directoryOf()
  const inDirectory = { DATABASE_URL: '', CDS_DATA_DIR }
  const installation = await startTestService(inDirectory)
  const { id } = await createTestTenant(installation)
  await installation.close()
  await writeFile(join(CDS_DATA_DIR, 'demo.json'), JSON.stringify({ tenantId: newId() }))
  const output = await refused({ CDS_DATA_DIR })
  expect(output).toContain('The database has the workspace "Test".')
  expect(output).toContain('Set CDS_DATA_DIR to a new directory.')
  const again = await startTestService(inDirectory)
  cleanup.push(again.close)
  const { database } = again.stores
  expect(await database.selectFrom('tenants').select('tenant_id').execute()).toEqual([{ tenant_id: id }])
  expect(await database.selectFrom('users').select('id').execute()).toEqual([])
})
