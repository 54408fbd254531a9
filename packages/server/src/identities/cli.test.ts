import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CommandLine } from '../../test/command-line.ts'
import { hasDovecot } from '../../test/dovecot.ts'
import { type MailBench, startMailBench } from '../../test/mail.ts'
import { startReceiver } from '../../test/receiver.ts'
import { createTestTenant, type TestTenant } from '../../test/service.ts'

let bench: MailBench
let tenant: TestTenant
let directory: string
let authority: string
let commandLine: CommandLine

beforeAll(async () => {
  if (!hasDovecot) return
  bench = await startMailBench()
  tenant = await createTestTenant(bench.service)
  directory = await mkdtemp(join(tmpdir(), 'cds-cli-'))
  authority = join(directory, 'authority.pem')
  await writeFile(authority, bench.servers.certificate.certificate)
  commandLine = new CommandLine({
    CDS_DATA_DIR: bench.service.config.dataDirectory,
    DATABASE_URL: bench.service.config.databaseUrl ?? '',
    CDS_MAIL_ALLOW_PRIVATE: '1',
    NODE_EXTRA_CA_CERTS: authority,
  })
})
afterAll(async () => {
  await commandLine?.close()
  await bench?.close()
  if (directory) await rm(directory, { recursive: true, force: true })
})

/** Runs `cdsctl … --tenant` next to the running service. @returns the parsed result and the complete output. */
async function cds(words: string, options: Record<string, string>, environment: Record<string, string> = {}) {
  const args = Object.entries({ tenant: tenant.id, ...options }).flatMap(([name, value]) => [`--${name}`, value])
  const { stdout, stderr } = await commandLine.run([...words.split(' '), ...args], environment)
  return { result: JSON.parse(stdout), output: stdout + stderr }
}

test.skipIf(!hasDovecot)(
  'identities and their email accounts are managed from the command line',
  async () => {
    const { smtp, imap } = bench.servers
    const mailbox = await bench.servers.addMailbox('grace@mail.example')
    const names = { 'first-name': 'Grace', 'last-name': 'Hopper', role: 'sales' }
    const { result: created } = await cds('identity create', names)
    const made = created.identity
    const identity = { 'identity-id': made.identity_id }
    expect(made.identity_id).toMatch(/^[0-9a-f-]{36}$/)

    const file = join(directory, 'password')
    await writeFile(file, `${mailbox.password}\n`)
    const account = {
      ...identity,
      address: mailbox.user,
      'smtp-host': 'localhost',
      'smtp-port': String(smtp.port),
      'imap-host': 'localhost',
      'imap-port': String(imap.tlsPort),
      'daily-limit': '5',
    }
    const set = await cds('email-account set', { ...account, 'password-file': file })
    expect(set.result.email_account).toMatchObject({
      address: mailbox.user,
      connected: true,
      daily_limit: 5,
      imap: { security: 'tls' },
    })
    const check = await cds('email-account check', identity)
    expect(check.result.email_account).toMatchObject({ connected: true, error: null })
    expect(set.output + check.output).not.toContain(mailbox.password)
    expect((await tenant.call('GET', `/v1/identities/${made.identity_id}`)).body.identity).toMatchObject({
      firstName: 'Grace',
      email_account: { address: mailbox.user, connected: true },
    })

    const wrong = await cds('email-account set', { ...account, 'password-env': 'MY_SECRET' }, { MY_SECRET: 'hunter22' })
    expect(wrong.result.error).toMatchObject({
      code: 'mail_login_failed',
      message: expect.stringContaining('SMTP: 535'),
    })
    expect(wrong.output).not.toContain('hunter22')
    const token = { 'token-env': 'MY_SECRET' }
    expect(
      (await cds('email-account set', { ...account, ...token }, { MY_SECRET: mailbox.accessToken })).result
        .email_account,
    ).toMatchObject({
      smtp: { login: 'access_token' },
    })
    const endpoint = await startReceiver(bench.servers.certificate)
    endpoint.respond = (response) =>
      response.end(JSON.stringify({ access_token: mailbox.accessToken, expires_in: 3600 }))
    const client = { 'token-url': endpoint.url('/token', 'localhost'), 'client-id': 'c' }
    const renewed = { ...account, ...client, 'refresh-token-file': file, 'client-secret-env': 'MY_SECRET' }
    const renewing = await cds('email-account set', renewed, { MY_SECRET: 'hunter22' })
    await endpoint.close()
    expect(renewing.result.email_account).toMatchObject({
      connected: true,
      renewal: { client_id: 'c', token_url: client['token-url'] },
    })
    expect(String(endpoint.received[0]?.body)).toContain('client_secret=hunter22')
    expect(renewing.output).not.toMatch(/hunter22|password-of|token-of/)
    const unusable: [Record<string, string>, string][] = [
      [{ 'smtp-host': 'mail.example' }, 'validation_error'],
      [{ 'password-file': file, ...token, MY_SECRET: 'x' }, 'validation_error'],
      [{ 'password-file': file, 'password-env': 'PATH' }, 'invalid_option'],
      [{ 'password-file': '/nowhere' }, 'invalid_option'],
      [{ 'token-env': 'NOT_SET' }, 'invalid_option'],
      [{ password: mailbox.password }, 'wrong_call'],
    ]
    for (const [{ MY_SECRET = '', ...given }, code] of unusable) {
      const refused = await cds('email-account set', { ...account, ...given }, { MY_SECRET })
      expect(refused.result.error.code, Object.keys(given).join()).toBe(code)
    }
    expect((await cds('identity delete', { 'identity-id': 'x' })).result.error.code).toBe('not_found')
    const removed = await cds('email-account remove', identity)
    expect(removed.result).toEqual({ deleted: true, identity_id: made.identity_id })
    const titled = await cds('identity update', { ...identity, 'job-title': 'Admiral' })
    expect(titled.result.identity.jobTitle).toBe('Admiral')
    expect((await cds('identity connections', identity)).result.connections).toMatchObject({ email_account: null })
    const list = await cds('identity list', {})
    expect(list.result.identities).toMatchObject([{ email_account: { address: null, connected: false } }])
    expect((await cds('identity delete', identity)).result).toEqual({ identity_id: made.identity_id, deleted: true })
    const actors = await tenant.handle.db
      .selectFrom('audit_log')
      .select(['actor', 'action'])
      .orderBy('entry_id')
      .execute()
    expect(actors.map(({ action }) => action)).toEqual([
      'identity.created',
      'identity.email_set',
      'identity.email_set',
      'identity.email_set',
      'identity.email_removed',
      'identity.updated',
      'identity.deleted',
    ])
    expect(new Set(actors.map(({ actor }) => (actor as { kind: string }).kind))).toEqual(new Set(['command_line']))
    // A process for each command.
  },
  300_000,
)
