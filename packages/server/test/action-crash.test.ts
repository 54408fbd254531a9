import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { QUEUES } from '../src/assembly/workers.ts'
import { readConfig } from '../src/config.ts'
import { setEmailAccount } from '../src/identities/email-accounts.ts'
import { createIdentity } from '../src/identities/identities.ts'
import { listAudit } from '../src/operations/audit-list.ts'
import type { ClickHouse } from '../src/platform/clickhouse/connect.ts'
import { openSecretBox } from '../src/platform/crypto/secret-key.ts'
import { createJobSender } from '../src/platform/jobs/jobs.ts'
import { createLog } from '../src/platform/log.ts'
import { createApiFetch } from '../src/platform/outbound/api-fetch.ts'
import { createConnector } from '../src/platform/outbound/connect.ts'
import { connectPostgres } from '../src/platform/postgres/connect.ts'
import type { DB } from '../src/platform/postgres/generated/tables.ts'
import type { ReadLanes } from '../src/platform/read-lanes.ts'
import { openTenant } from '../src/platform/tenant.ts'
import { MINUTE_MS, systemClock } from '../src/platform/time.ts'
import { actionOf, insertAgent, MAIL, NOTE, propose } from './actions.ts'
import { createDatabase } from './databases.ts'
import { hasDovecot } from './dovecot.ts'
import { KillableService, moveDatabaseClock, superviseJobs } from './killable.ts'
import { settingsOf, TESTER } from './mail.ts'
import { startMailServers } from './mail-servers.ts'
import { openDirectory } from './process.ts'
import { seededRandom } from './seed.ts'
import { insertTenant } from './service.ts'

/** When the process dies, relative to the mail server's steps. The mails of a kill are sent at once, by different people. */
const KILLS = [['after it, in Sent', 'after it', 'before the mail'], ['a moment later']] as const
const NOTES_A_MAIL = 4
/** Longer than any lease, so that the next process need not wait. */
const AHEAD_A_KILL_MS = 10 * MINUTE_MS

describe.skipIf(!hasDovecot)('killed while it executes actions', () => {
  /**
   * A mail is never sent twice. It is reported as executed if the server's response was recorded or the mail is in the
   * Sent folder; otherwise its outcome is reported as unknown, for a person to check. A note is written once.
   */
  test('no mail is sent twice, each note is written once, and every action reports its result', async () => {
    const directory = await openDirectory()
    const random = seededRandom()
    const servers = await startMailServers()
    const authority = join(directory, 'authority.pem')
    await writeFile(authority, servers.certificate.certificate)
    const databaseUrl = await createDatabase()
    const environment = {
      CDS_DATA_DIR: directory,
      DATABASE_URL: databaseUrl,
      CDS_MAIL_ALLOW_PRIVATE: '1',
      NODE_EXTRA_CA_CERTS: authority,
    }
    const postgres = connectPostgres<DB>({ connectionString: databaseUrl }, 4)
    const jobs = createJobSender({ connectionString: databaseUrl }, QUEUES, createLog('silent'))
    const service = new KillableService(environment)
    try {
      const { id: tenantId, key } = await insertTenant(postgres.db)
      const tenant = openTenant(
        {
          database: postgres.db,
          clickhouse: null as unknown as ClickHouse,
          reads: null as unknown as ReadLanes,
          barrier: async () => {},
          closed: new Set(),
        },
        tenantId,
      )
      const config = readConfig(environment)
      const secrets = await openSecretBox(config)
      const rules = { allowPrivate: true, ca: servers.certificate.certificate }
      const opened = { secrets, tokenApi: createApiFetch(rules), clock: systemClock }
      const providers = { ...opened, config, providerUrls: {} }
      const mail = { ...opened, connector: createConnector(rules), providers }
      const sender = async (name: string) => {
        const person = { firstName: name, lastName: 'Hopper', role: 'Sales' }
        const { identity_id: identityId } = await createIdentity(tenant, person, new Date())
        const mailbox = await servers.addMailbox(`${name}@mail.example`)
        const settings = { ...settingsOf(servers, mailbox), spacingSeconds: 0 }
        await setEmailAccount(tenant, mail, TESTER, identityId, settings, new Date())
        return { identityId, mailbox, agentId: await insertAgent(tenant, identityId) }
      }

      const mails: { death: (typeof KILLS)[number][number]; address: string; contactId: string; runId: string }[] = []
      for (const [kill, deaths] of KILLS.entries()) {
        const ahead = kill * AHEAD_A_KILL_MS
        const url = await service.start(ahead)
        const post = async (path: string, body?: object) => {
          const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
          const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body ?? {}) })
          expect(response.ok).toBe(true)
          return (await response.json()) as { contact: { contact_id: string } }
        }
        const killed = Promise.withResolvers<void>()
        const strike = () => service.kill().then(() => killed.resolve())
        for (const death of deaths) {
          const address = `contact${mails.length}@example.com`
          const contactId = (await post('/v1/contacts', { email: address })).contact.contact_id
          const { identityId, mailbox, agentId } = await sender(`grace${mails.length}`)
          const now = new Date(Date.now() + ahead)
          const { ref, path } = await propose(tenant, jobs, { contactId, identityId, agentId, ...MAIL, now })
          for (let index = 1; index <= NOTES_A_MAIL; index++) {
            await propose(tenant, jobs, { contactId, agentId, runId: ref.runId, actionIndex: index, ...NOTE, now })
          }
          mails.push({ death, address, contactId, runId: ref.runId })
          const reached = Promise.withResolvers<void>()
          servers.smtp.onRecipient = (recipient) => {
            if (recipient === address && death === 'before the mail') strike()
            return null
          }
          const { onMail } = servers.smtp
          servers.smtp.onMail = async (accepted) => {
            if (accepted.to[0] !== address) return onMail(accepted)
            if (death === 'after it, in Sent') await servers.imap.append(mailbox, accepted.raw, { folder: 'Sent' })
            if (death === 'a moment later') setTimeout(strike, random() * 60)
            reached.resolve()
            // Otherwise it never gets the response.
            if (death !== 'a moment later') await killed.promise
            return null
          }
          await post(`${path}/approve`)
          await Promise.race([reached.promise, killed.promise])
        }
        await killed.promise
      }

      // Jobs of dead processes are retried once their heartbeats have been missing for a while.
      await moveDatabaseClock(databaseUrl, KILLS.length * AHEAD_A_KILL_MS)
      await service.startLast(KILLS.length * AHEAD_A_KILL_MS)
      await superviseJobs(databaseUrl)
      const actions = () => tenant.db.selectFrom('agent_actions').select(['run_id', 'status', 'type']).execute()
      const isOpen = async () => (await actions()).some(({ status }) => status === 'approved')
      await expect.poll(isOpen, { timeout: 120_000, interval: 200 }).toBe(false)

      const outcomes: Record<string, string[]> = {}
      for (const { death, address, contactId, runId } of mails) {
        const mail = await actionOf(tenant, { runId, contactId, actionIndex: 0 })
        const arrived = servers.smtp.accepted.filter(({ to }) => to.includes(address)).length
        const error = mail.error as { code: string } | null
        const outcome = `${error?.code ?? mail.status}, arrived ${arrived}`
        outcomes[death] = [...(outcomes[death] ?? []), outcome]
        const notes = await tenant.db
          .selectFrom('notes')
          .select('note_id')
          .where('contact_id', '=', contactId)
          .execute()
        expect(notes).toHaveLength(NOTES_A_MAIL)
        for (let actionIndex = 0; actionIndex <= NOTES_A_MAIL; actionIndex++) {
          const subject_id = `${runId}/${contactId}/${actionIndex}`
          const { entries } = await listAudit(tenant, { subject_kind: 'action', subject_id }, { page: 1, limit: 10 })
          const ends = entries.filter(({ action }) => ['action.executed', 'action.failed'].includes(action))
          expect(ends).toHaveLength(1)
        }
      }
      expect((await actions()).filter(({ type, status }) => type === 'note' && status !== 'executed')).toEqual([])
      const unknown = 'mail_outcome_unknown'
      // Usually it has not arrived, but a signal between the two may come too late.
      for (const outcome of outcomes['before the mail'] ?? []) {
        expect([`${unknown}, arrived 0`, `${unknown}, arrived 1`]).toContain(outcome)
      }
      expect(outcomes['after it, in Sent']).toEqual(['executed, arrived 1'])
      expect(outcomes['after it']).toEqual([`${unknown}, arrived 1`])
      expect(outcomes['a moment later']).toHaveLength(1)
      for (const outcome of outcomes['a moment later'] ?? []) {
        expect(['executed, arrived 1', `${unknown}, arrived 1`]).toContain(outcome)
      }
    } finally {
      await service.close()
      await jobs.stop()
      await postgres.close()
      await servers.close()
      await rm(directory, { recursive: true, force: true })
    }
  }, 1_200_000)
})
