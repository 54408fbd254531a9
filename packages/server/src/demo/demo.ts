import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureBuilt } from '../../../dashboard/ensure-built.ts'
import { createApiKey } from '../access/api-keys.ts'
import { addVerifiedDomain } from '../access/domains-of-tenant.ts'
import { createTenant, hasTenant } from '../access/tenants.ts'
import { createTenantUser, deleteUser } from '../access/users.ts'
import { placesOf, runService } from '../assembly/run.ts'
import type { Service } from '../assembly/service.ts'
import { deleteRowsOfTenant } from '../closing/delete-rows.ts'
import { type Config, readConfig } from '../config.ts'
import { enrichNow } from '../enrichment/on-demand.ts'
import { say } from '../platform/progress.ts'
import { openTenant, type Tenant } from '../platform/tenant.ts'
import { systemClock } from '../platform/time.ts'
import { seedTenant } from '../seed/seed.ts'
import { createSegment, type NewSegment } from '../segments/segments.ts'
import { connectSender, createDemoAgents } from './agents.ts'
import { answerMail } from './answer.ts'
import { createDeals } from './deals.ts'
import { createGrowthReports } from './growth.ts'
import { computeInterest } from './interest.ts'
import { openSandboxMailbox } from './mailbox.ts'
import { serveMailbox } from './mailbox-page.ts'
import { allowedBy, requireNoOthers, requireOwnMachine } from './refusals.ts'
import { serveDemoSite } from './site.ts'
import { createPeopleTwice } from './twice.ts'
import { receiveVisits } from './visits.ts'

/** Site of the visits in the sample data. Pages on localhost may send events too. */
const SITE = 'www.example.com'
const DOMAINS = ['example.com', 'localhost']

/** Enough for every range of the home page up to 28 days to have one before it. */
const DAYS = 90
const EVENTS = 45_000
const ENRICHED_AT_ONCE = 100

/** Without a browser's user agent, curl counts as a bot, which the figures leave out. */
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0'

/** The owner of the demo tenant. The password is public, so the demo is not for real data. */
const DEMO_PERSON = { email: 'demo@example.com', password: 'demo password', name: 'Demo' }

/** The service evaluates their members. */
const SEGMENTS: NewSegment[] = [
  {
    name: 'Leads in Europe',
    description: 'Leads and marketing-qualified leads in Germany, France, Spain and the United Kingdom',
    filter: {
      match: 'all',
      conditions: [
        { property: 'lifecyclestage', operator: 'in', value: ['lead', 'mql'] },
        { property: 'country', operator: 'in', value: ['Germany', 'France', 'Spain', 'United Kingdom'] },
      ],
    },
  },
  {
    name: 'Viewed pricing twice this week',
    description: 'At least two views of the pricing page in the last seven days, and not a customer yet',
    filter: {
      match: 'all',
      conditions: [
        { event: { type: 'page_view', url_contains: '/pricing', within_days: 7, min_count: 2 }, operator: 'did' },
        { property: 'lifecyclestage', operator: 'not_equals', value: 'customer' },
      ],
    },
  },
  {
    name: 'Decision makers without visits',
    description: 'Heads, VPs, chiefs and founders without a single event',
    filter: {
      match: 'all',
      conditions: [
        {
          match: 'any',
          conditions: ['head of', 'vp ', 'chief', 'founder'].map((value) => ({
            property: 'jobtitle',
            operator: 'contains',
            value,
          })),
        },
        { event: {}, operator: 'did_not' },
      ],
    },
  },
]

interface Demo {
  tenantId: string
  apiKey: string
  /** Writes the agents' messages. */
  identityId: string
}

/** Of the demo alone, so that `npm start` afterwards begins empty. */
const DATA_DIRECTORY = fileURLToPath(new URL('../../../../data-demo', import.meta.url))

const mailbox = await openSandboxMailbox()
const { host, port, user, password } = mailbox.smtp
const stopping = new AbortController()
/** Answers a mail of the sandbox. There is none before the demo is complete. */
let answer: Parameters<typeof serveMailbox>[2] = async () => {}

await runService(
  () => {
    const config = readConfig({
      // The welcome text below matters to new users, not the log.
      CDS_LOG_LEVEL: 'warn',
      CDS_DATA_DIR: DATA_DIRECTORY,
      // Invitations and agents' messages go to the sandbox, which is on this machine.
      CDS_SMTP_URL: `smtp://${user}:${password}@${host}:${port}`,
      CDS_MAIL_ALLOW_PRIVATE: 'on',
      ...process.env,
    })
    requireOwnMachine(config, allowedBy(process.argv.slice(2)))
    return config
  },
  async (service, config) => {
    const file = fileOf(config)
    const demo = (await storedDemo(service, file)) ?? (await createDemo(service, file))
    const tenant = openTenant(service.stores, demo.tenantId)
    await connectSender(tenant, service.mail, demo.identityId, mailbox, systemClock())
    answer = (mail, text) => answerMail(tenant, service.writing, demo.identityId, mail, text)
    console.log(welcome(service, config, demo))
    void receiveVisits(service.app, { tenantId: demo.tenantId, site: SITE }, stopping.signal)
  },
  {
    beforeChange: async (database, config) => {
      const earlier = await readDemo(fileOf(config))
      await requireNoOthers(database, config, earlier?.tenantId ?? null, allowedBy(process.argv.slice(2)))
    },
    beforeListen: (app) => {
      serveDemoSite(app)
      serveMailbox(app, mailbox, (mail, text) => answer(mail, text))
      app.addHook('preClose', async () => {
        stopping.abort()
        await mailbox.close()
      })
    },
  },
)
await ensureBuilt(say)

/** Where the demo of an earlier start is described. */
function fileOf({ dataDirectory }: Config): string {
  return join(resolve(dataDirectory), 'demo.json')
}

/** The demo of an earlier start, which may have been interrupted. */
async function readDemo(file: string): Promise<(Pick<Demo, 'tenantId'> & Partial<Demo>) | null> {
  const text = await readFile(file, 'utf8').catch(() => null)
  return text === null ? null : JSON.parse(text)
}

/** The demo of an earlier start. Its API key is stored in the data directory, readable only by the file's owner. */
async function storedDemo({ stores }: Service, file: string): Promise<Demo | null> {
  const earlier = await readDemo(file)
  if (earlier === null) return null
  const { tenantId, apiKey, identityId } = earlier
  const isComplete = apiKey !== undefined && identityId !== undefined
  if (isComplete && (await hasTenant(stores.database, tenantId))) return { tenantId, apiKey, identityId }
  // The earlier start was interrupted while creating the demo: create it again.
  await deleteUser(stores.database, DEMO_PERSON.email)
  await deleteRowsOfTenant(stores.database, tenantId)
  return null
}

async function createDemo(service: Service, file: string): Promise<Demo> {
  const { stores, projector, writing } = service
  const now = systemClock()
  const tenantId = await createTenant(stores, { name: 'Demo' }, { kind: 'command_line' }, now)
  await writeFile(file, JSON.stringify({ tenantId }), { mode: 0o600 })
  const tenant = openTenant(stores, tenantId)
  for (const domain of DOMAINS) await addVerifiedDomain(tenant, domain, now)
  const { contactIds } = await seedTenant(tenant, {
    contacts: 500,
    companies: 80,
    isLinked: false,
    events: EVENTS,
    days: DAYS,
    seed: 1,
    site: SITE,
    now,
    onProgress: say,
  })
  await enrichAll(tenant, writing, contactIds)
  await projector.drain()
  for (const segment of SEGMENTS) await createSegment(tenant, segment, now)
  await createTenantUser(stores, tenantId, { ...DEMO_PERSON, role: 'owner' }, { kind: 'command_line' }, now)
  const { apiKey } = await createApiKey(tenant, { name: 'Demo', scopes: ['all'] }, now)
  await computeInterest(service.app, apiKey)
  const identityId = await createDemoAgents(tenant, service, now)
  await createDeals(service.app, apiKey, now)
  await createGrowthReports(service.app, apiKey)
  await createPeopleTwice(service.app, apiKey)
  await writeFile(file, JSON.stringify({ tenantId, apiKey, identityId }), { mode: 0o600 })
  return { tenantId, apiKey, identityId }
}

/** Sample contacts are not written as contacts are that arrive, so they are enriched afterwards. */
async function enrichAll(tenant: Tenant, { writer }: Service['writing'], contactIds: readonly string[]): Promise<void> {
  for (let from = 0; from < contactIds.length; from += ENRICHED_AT_ONCE) {
    const ids = contactIds.slice(from, from + ENRICHED_AT_ONCE)
    await enrichNow(tenant, { writer }, new Map(ids.map((id) => [id, {}])))
  }
}

function welcome(service: Service, config: Config, { apiKey }: Demo): string {
  const { url } = service
  return `
The Customer Data Service is running with a demo workspace. Stop it with Ctrl-C; its data stays.
${placesOf(service, config)}
  Sandbox mailbox  ${url}/demo-site/mailbox    (mails that you approve arrive here and nowhere else)
  API              ${url}/v1
  API reference    ${url}/docs/api
  API key          ${apiKey}

Invented people visit ${SITE} until you stop the demo: watch them on the home page of the dashboard.

Record a page view as a browser would. It appears on the home page at once. Then read it back:

  curl -s ${url}/track -A '${BROWSER}' -H 'Origin: https://${SITE}' -H 'Content-Type: application/json' -d '{"events":[{"event":"page_view","url":"https://${SITE}/hello","title":"Hello"}]}'

  curl -s '${url}/v1/events?url_contains=/hello&limit=1' -H 'Authorization: Bearer ${apiKey}'

See three agents. /v1/agents/AGENT_ID/runs shows what one proposes, some of it waiting for your approval:

  curl -s ${url}/v1/agents -H 'Authorization: Bearer ${apiKey}'

Click around in the demo shop at ${url}/demo-site/, which has the tracker. Then see what you did:

  curl -s '${url}/v1/events?domain=localhost&limit=5' -H 'Authorization: Bearer ${apiKey}'

Start here: open ${url}/ and sign in as ${DEMO_PERSON.email} with the password ${DEMO_PERSON.password}
`
}
