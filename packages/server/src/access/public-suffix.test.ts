import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { commandSession } from '../../test/command-session.ts'
import { type Browser, signedIn } from '../../test/people.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { DATABASE_COMMANDS } from '../cli/commands.ts'

let service: TestService
let tenant: TestTenant
let admin: Browser

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  admin = await signedIn(service, tenant.id, 'admin')
})

const add = (domain: string) => admin.call('POST', '/v1/domains', { domain })

/** `cdsctl domain add`. */
const addByCommand = (domain: string, verified: boolean) => {
  const session = commandSession(service)
  return DATABASE_COMMANDS['domain add']?.run(session, { tenant: tenant.id, domain, verified }, new Date())
}

describe('a public suffix cannot be added as a domain', () => {
  test.each([
    ['com', 'example.com'],
    ['co.uk', 'example.co.uk'],
    ['CO.UK.', 'example.co.uk'],
    ['github.io', 'example.github.io'],
    ['s3.amazonaws.com', 'example.s3.amazonaws.com'],
    ['anything.ck', 'example.anything.ck'],
    ['рф', 'example.xn--p1ai'],
    ['公司.cn', 'example.xn--55qx5d.cn'],
  ])('%s', async (domain, below) => {
    const response = await add(domain)
    expect([response.status, response.body.error.code]).toEqual([400, 'invalid_domain'])
    expect(response.body.error.message).toContain(`like ${below}`)
    for (const verified of [true, false]) {
      await expect(addByCommand(domain, verified)).rejects.toMatchObject({ status: 400, code: 'invalid_domain' })
    }
    expect((await admin.call('GET', '/v1/domains?verified=false')).body.pagination.total_items).toBe(0)
    const page = { origin: `https://${below}` }
    const sent = await tenant.track({ events: [{ event: 'x' }] }, page)
    expect([sent.status, sent.body.error.code]).toEqual([403, 'domain_not_allowed'])
  })

  test.each([
    'example.co.uk',
    'alice.github.io',
    'www.ck',
    'пример.рф',
    'localhost',
    'intranet',
    'wiki.internal',
    '127.0.0.1',
  ])('%s can', async (domain) => {
    expect((await add(domain)).status).toBe(201)
  })
})
