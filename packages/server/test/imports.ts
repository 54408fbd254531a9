import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import type { Values } from '../src/cli/command.ts'
import { DATABASE_COMMANDS } from '../src/cli/commands.ts'
import type { ImportSummary } from '../src/cli/import-summary.ts'
import type { Import } from '../src/imports/import-object.ts'
import { commandSession } from './command-session.ts'
import type { TestService, TestTenant } from './service.ts'

/** Imports a file with `cdsctl import contacts`, beside the service. */
export async function importWithCommand(
  service: TestService,
  tenant: TestTenant,
  content: string | Uint8Array,
  options: Values = {},
): Promise<ImportSummary> {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
  const directory = await mkdtemp(join(tmpdir(), 'cds-import-'))
  try {
    const file = join(directory, 'contacts.csv')
    await writeFile(file, content)
    const values = { file, tenant: tenant.id, ...options }
    const summary = await DATABASE_COMMANDS['import contacts']?.run(commandSession(service), values, new Date())
    return summary as unknown as ImportSummary
  } finally {
    printed.mockRestore()
    await rm(directory, { recursive: true })
  }
}

/** Uploads a file that must be accepted. */
export async function uploaded(
  tenant: TestTenant,
  content: string | Uint8Array<ArrayBuffer>,
  name = 'contacts.csv',
): Promise<Import> {
  const { status, body } = await tenant.upload(content, { name })
  expect([status, body.error]).toEqual([201, undefined])
  return body.import
}

/** Reads an import. */
export async function importOf(tenant: TestTenant, importId: string): Promise<Import> {
  return (await tenant.call('GET', `/v1/imports/${importId}`)).body.import
}

/** Requests something of an import, and waits until it is in a state. */
export async function act(
  tenant: TestTenant,
  { import_id }: Pick<Import, 'import_id'>,
  action: 'preview' | 'start' | 'undo',
  state: Import['state'],
): Promise<Import> {
  const { status, body } = await tenant.call('POST', `/v1/imports/${import_id}/${action}`)
  expect([status, body.error]).toEqual([202, undefined])
  return ended(tenant, import_id, state)
}

/** Waits until an import is in a state. */
export async function ended(tenant: TestTenant, importId: string, state: Import['state']): Promise<Import> {
  await expect.poll(async () => (await importOf(tenant, importId)).state, { timeout: 120_000 }).toBe(state)
  return importOf(tenant, importId)
}
