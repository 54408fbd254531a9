import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type Config, readConfig } from '../config.ts'
import { openTenant } from '../platform/tenant.ts'
import { systemClock } from '../platform/time.ts'
import { runService } from '../run.ts'
import { seedTenant } from '../seed/seed.ts'
import type { Service } from '../service.ts'
import { createApiKey } from '../tenants/api-keys.ts'
import { addDomain } from '../tenants/domains.ts'
import { createTenant } from '../tenants/tenants.ts'
import { serveDemoSite } from './site.ts'

/** The site whose visits the sample data shows; pages on localhost may send events too. */
const SITE = 'www.example.com'
const DOMAINS = ['example.com', 'localhost']

interface Demo {
  tenantId: string
  apiKey: string
}

await runService(
  // What a first-time reader wants to see is below, not the log.
  () => readConfig({ CDS_LOG_LEVEL: 'warn', ...process.env }),
  async (service, config) => {
    const file = join(resolve(config.dataDirectory), 'demo.json')
    const demo = (await rememberedDemo(service, file)) ?? (await makeDemo(service, file))
    console.log(welcome(service, config, demo))
  },
  serveDemoSite,
)

/** The tenant of an earlier start; its key is kept beside the data, readable by its owner only. */
async function rememberedDemo({ stores }: Service, file: string): Promise<Demo | null> {
  const text = await readFile(file, 'utf8').catch(() => null)
  if (text === null) return null
  const { tenantId, apiKey } = JSON.parse(text) as { tenantId: string; apiKey?: string }
  const tenant = await stores.database
    .selectFrom('tenants')
    .select('tenant_id')
    .where('tenant_id', '=', tenantId)
    .executeTakeFirst()
  if (tenant && apiKey) return { tenantId, apiKey }
  // The start that was making it was interrupted: it is made anew.
  await stores.database.deleteFrom('tenants').where('tenant_id', '=', tenantId).execute()
  return null
}

async function makeDemo({ stores, projector }: Service, file: string): Promise<Demo> {
  const now = systemClock()
  const tenantId = await createTenant(stores.database, 'Demo', now)
  await writeFile(file, JSON.stringify({ tenantId }), { mode: 0o600 })
  for (const domain of DOMAINS) await addDomain(stores.database, tenantId, domain, true, now)
  await seedTenant(openTenant(stores, tenantId), {
    contacts: 500,
    companies: 80,
    events: 20_000,
    days: 28,
    seed: 1,
    site: SITE,
    now,
    onProgress: (message) => console.error(`· ${message}`),
  })
  await projector.drain()
  const { apiKey } = await createApiKey(stores.database, tenantId, { name: 'Demo', scopes: ['all'] }, now)
  await writeFile(file, JSON.stringify({ tenantId, apiKey }), { mode: 0o600 })
  return { tenantId, apiKey }
}

function welcome({ url }: Service, { dataDirectory }: Config, { apiKey }: Demo): string {
  return `
The Customer Data Service is running with a demo tenant. Stop it with Ctrl-C; its data stays in ${dataDirectory}.

  API            ${url}/v1
  API reference  ${url}/docs
  A small shop   ${url}/demo-site/    (with the tracker on it: what you do there is recorded)
  API key        ${apiKey}

Record a page view as a browser would, and read it back:

  curl -s ${url}/track -H 'Origin: https://${SITE}' -H 'Content-Type: application/json' -d '{"events":[{"event":"page_view","url":"https://${SITE}/hello","title":"Hello"}]}'

  curl -s '${url}/v1/events?limit=1' -H 'Authorization: Bearer ${apiKey}'

Watch what you do in the shop arrive:

  watch -n1 "curl -s '${url}/v1/events?domain=localhost&limit=5' -H 'Authorization: Bearer ${apiKey}'"
`
}
