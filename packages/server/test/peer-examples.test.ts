import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OPERATIONS } from '../src/assembly/all-operations.ts'
import type { Values } from '../src/operations/declare.ts'
import { type ConnectedSystem, startConnectedSystem } from './connected-system.ts'
import { hasDovecot } from './dovecot.ts'
import { exampleWith, succeed, WITH_PEERS } from './examples.ts'
import { type HubSpot, startHubSpot, TOKEN } from './hubspot.ts'
import { type MailServers, startMailServers } from './mail-servers.ts'
import { type Browser, signedIn } from './people.ts'
import { makeCertificate } from './receiver.ts'
import { expectExample } from './recorded-examples.ts'
import { type ScriptedModel, startScriptedModel } from './scripted-model.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from './service.ts'
import { createIdentity } from './social.ts'

const WITHIN = { timeout: 20_000 }
/** What only a person may call. */
const OF_PERSONS: ReadonlySet<string> = new Set(['subscribeToDashboard'])

/** The examples of operations that call another system, each of which runs on loopback. */
describe('with the system that it calls', () => {
  let mail: MailServers | null
  let pipedrive: ConnectedSystem
  let hubspot: HubSpot
  let model: ScriptedModel
  let directory: string
  let service: TestService
  let tenant: TestTenant
  let owner: Browser

  beforeAll(async () => {
    mail = hasDovecot ? await startMailServers() : null
    const certificate = mail?.certificate ?? makeCertificate()
    pipedrive = await startConnectedSystem(certificate, ({ path }) => ({
      body: {
        success: true,
        data: path === '/api/v1/users/me' ? { id: 1, company_id: 77, company_name: 'Engines' } : [],
      },
    }))
    hubspot = await startHubSpot(certificate)
    model = await startScriptedModel()
    directory = await mkdtemp(join(tmpdir(), 'cds-examples-'))
    service = await startTestService(
      {
        CDS_PUBLIC_URL: 'https://cds.example',
        // No mail is sent before Monday.
        CDS_SMTP_URL: 'smtp://127.0.0.1:1',
        CDS_MAIL_FROM: 'cds@example.com',
        CDS_MAIL_ALLOW_PRIVATE: '1',
        CDS_WAREHOUSE_DIR: directory,
        CDS_LLM_ALLOW_PRIVATE: '1',
        CDS_LLM_BASE_URL: model.url,
        CDS_LLM_MODEL: 'scripted',
        CDS_LLM_PRICES: JSON.stringify({ scripted: { input: 1, output: 1 } }),
      },
      {
        outbound: { allowPrivate: true, ca: certificate.certificate },
        connectorUrls: { pipedrive: pipedrive.url, hubspot: hubspot.url },
        providerUrls: { hubspot: hubspot.url },
      },
    )
    tenant = await createTestTenant(service)
    owner = await signedIn(service, tenant.id, 'owner')
  })
  afterAll(async () => {
    await service?.close()
    await Promise.all([mail, pipedrive, hubspot, model].map((peer) => peer?.close()))
    await rm(directory, { recursive: true, force: true })
  })

  /** What replaces the values of an example, and the ids of its path. */
  const OWN: Record<(typeof WITH_PEERS)[number], () => Promise<Values>> = {
    ask: async () => {
      model.answer = () => ({ content: '5 contacts are from France.' })
      return {}
    },
    setEmailAccount: async () => ({ identity_id: await createIdentity(tenant), ...(await mailbox()) }),
    getEmailAccount: withMailbox,
    checkEmailAccount: withMailbox,
    removeEmailAccount: withMailbox,
    getMailbox: withReadMailbox,
    rereadMailbox: withReadMailbox,
    completeAuthorization: async () => {
      await made('PUT', '/v1/oauth-clients/hubspot', { client_id: 'client', client_secret: 'client-secret' })
      const purpose = { kind: 'connection', connector: 'hubspot', source: 'signed-in' }
      const started = await made('POST', '/v1/authorizations', { provider: 'hubspot', purpose })
      return { state: new URL(started.authorization_url).searchParams.get('state'), code: 'good-code' }
    },
    createConnection: async () => ({}),
    updateConnection: () => connected({ connector: 'pipedrive', credentials: { api_token: '0123456789abcdef' } }),
    setConnectionWriteBack: () => connected({ connector: 'hubspot', credentials: { token: TOKEN } }),
    writeContactsBack: async () => {
      const connection = await connected({ connector: 'hubspot', credentials: { token: TOKEN }, source: 'second-crm' })
      const properties = [{ property: 'jobtitle', target: 'jobtitle', conflict: 'newest' }]
      await made('PUT', `/v1/connections/${connection.connection_id}/write-back`, { properties })
      return { ...connection, contact_ids: [await tenant.contact('ada@example.com')] }
    },
    subscribeToDashboard: async () => {
      const { dashboard } = await made('POST', '/v1/dashboards', { name: 'Growth' })
      return { dashboard_id: dashboard.dashboard_id }
    },
    testWarehouseDestination: async () => {
      const { destination } = await made('POST', '/v1/warehouse', { name: 'Folder', type: 'folder' })
      return { destination_id: destination.destination_id }
    },
  }

  let count = 0

  async function made(method: string, path: string, body: unknown) {
    const response = await tenant.call(method, path, body)
    expect([response.status, response.body.error]).toEqual([expect.toSatisfy((status) => status < 300), undefined])
    return response.body
  }

  async function mailbox() {
    if (mail === null) throw new Error('There is no mail provider.')
    const { user, password } = await mail.addMailbox(`ada${++count}@mail.example`)
    const server = { host: 'localhost', user }
    const smtp = { ...server, port: mail.smtp.port, security: 'starttls' }
    const imap = { ...server, port: mail.imap.tlsPort, security: 'tls' }
    return { address: user, smtp, imap, password }
  }

  async function withMailbox() {
    const identity_id = await createIdentity(tenant)
    await made('PUT', `/v1/identities/${identity_id}/email-account`, await mailbox())
    return { identity_id }
  }

  /** Waits until the service reads the mailbox. */
  async function withReadMailbox() {
    const { identity_id } = await withMailbox()
    const read = async () => (await tenant.call('GET', '/v1/mailboxes')).body.mailboxes
    await expect.poll(read, WITHIN).toContainEqual(expect.objectContaining({ identity_id }))
    return { identity_id }
  }

  async function connected(body: object) {
    const { connection } = await made('POST', '/v1/connections', { ...body, source: `source-${++count}` })
    return { connection_id: connection.connection_id }
  }

  const isOfMail = (name: string) => /EmailAccount$|Mailbox$/.test(name)
  const possible = hasDovecot ? WITH_PEERS : WITH_PEERS.filter((name) => !isOfMail(name))
  test.each(possible)('%s returns its example with the declared fields', async (name) => {
    const operation = OPERATIONS.find((each) => each.name === name)
    if (!operation) throw new Error(`There is no operation ${name}.`)
    const own = await OWN[name]()
    const { body } = await succeed(OF_PERSONS.has(name) ? owner : tenant, operation, exampleWith(operation, own), own)
    await expectExample(name, body)
  })
})
