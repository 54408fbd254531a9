import { beforeAll, expect, test } from 'vitest'
import { commandSession } from '../../test/command-session.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { listAudit } from '../operations/audit-list.ts'
import type { Values } from './command.ts'
import { DATABASE_COMMANDS } from './commands.ts'
import type { Session } from './session.ts'

let service: TestService
let tenant: TestTenant
let session: Session

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  session = commandSession(service)
})

// biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
async function run(name: string, values: Values): Promise<any> {
  const command = DATABASE_COMMANDS[name]
  if (!command) throw new Error(`There is no command ${name}.`)
  return command.run(session, { tenant: tenant.id, ...values }, new Date())
}

test('contacts, companies and notes are created, read, changed and deleted by commands', async () => {
  const { company } = await run('company create', { name: 'Engines', properties: '{"industry":"Computing"}' })
  const companyId = { 'company-id': company.company_id }
  await run('company update', { ...companyId, domain: 'engines.example' })
  const created = await run('contact create', { email: 'ada@example.com', 'visitor-id': 'v', ...companyId })
  const named = { 'contact-id': created.contact.contact_id }
  expect(created.contact.company_id).toBe(company.company_id)
  expect((await run('company contacts', { ...companyId, limit: '1' })).contacts).toMatchObject([created.contact])
  const changed = await run('contact update', { ...named, properties: '{"city":"Paris"}', 'company-id': 'none' })
  expect(changed.contact).toMatchObject({ properties: { city: 'Paris' }, company_id: null })
  const { note } = await run('note create', { ...named, content: 'Asked for pricing.' })
  await run('note update', { ...named, 'note-id': note.note_id, content: 'Asked for a demo.' })
  expect((await run('note list', named)).notes).toMatchObject([{ content: 'Asked for a demo.' }])

  const found = await run('contact get', { ...named, include: 'provenance', 'events-limit': '1' })
  expect(found.contact).toMatchObject({ notes: [{ content: 'Asked for a demo.' }], properties_provenance: {} })
  expect((await run('contact list', { search: 'ada', limit: '5' })).contacts).toHaveLength(1)
  expect(await run('contact list', { 'has-event-type': 'none', 'count-only': 'true' })).toEqual({ count: 0 })
  expect((await run('company list', { domain: 'engines.example' })).companies).toHaveLength(1)
  const details = await run('batch details', { 'entity-type': 'companies', ids: [company.company_id] })
  expect(details.companies).toMatchObject([{ name: 'Engines' }])
  expect((await run('batch activity', { 'contact-ids': [named['contact-id']] })).contact_count).toBe(1)

  await run('note delete', { ...named, 'note-id': note.note_id })
  await run('company delete', companyId)
  await run('contact delete', named)
  await expect(run('contact get', named)).rejects.toMatchObject({ code: 'not_found' })
  await expect(run('company get', companyId)).rejects.toMatchObject({ code: 'not_found' })
})

test('contacts are merged and unmerged by commands, with an entry in the audit log', async () => {
  const [merged, into] = [await tenant.contact('old@example.com'), await tenant.contact('new@example.com')]
  await run('contact merge', { 'contact-id': merged, into })
  expect((await run('contact unmerge', { 'contact-id': merged })).unmerged_from).toBe(into)
  const { entries } = await listAudit(tenant.handle, {}, { page: 1, limit: 2 })
  expect(entries).toMatchObject([
    { action: 'contact.unmerged', subject_id: merged, actor: { kind: 'command_line' } },
    { action: 'contact.merged', subject_id: merged, details: { into }, actor: { kind: 'command_line' } },
  ])
})

test('the error for an invalid option names it', async () => {
  const wrong: [string, Values, string][] = [
    ['contact create', { email: 'x@example.com', properties: '{' }, '--properties'],
    ['contact list', { limit: '0' }, '--limit'],
    ['contact update', { 'contact-id': tenant.id, properties: '7' }, '--properties'],
    ['batch details', { 'entity-type': 'people', ids: ['x'] }, '--entity-type'],
  ]
  for (const [name, values, option] of wrong) {
    const message = expect.stringContaining(option)
    await expect(run(name, values), name).rejects.toMatchObject({ code: 'invalid_option', message })
  }
})
